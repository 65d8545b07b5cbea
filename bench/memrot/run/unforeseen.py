"""Sentences that no timeline holds: a memory that writes its own needs vectors of them too.

What a run embeds beforehand is looked up, as ever. The rest is embedded in the worker, once in the life of
a machine, by the model that the parent uses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memrot import registry
from memrot.embed.cache import Cache, Recalled
from memrot.memory import Embedder


class Unforeseen:
    """An embedder like ``recalled``, installed under ``model``, which also embeds what was never seen."""

    def __init__(self, recalled: Recalled, model: str) -> None:
        self._recalled = recalled
        self._model = model
        self._loaded: Embedder | None = None
        self.name = recalled.name
        self.fingerprint = recalled.fingerprint
        self.dim = recalled.dim
        self.lexical = recalled.lexical

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return self._recalled.embed(texts)
        except KeyError:
            self._loaded = self._loaded or registry.embedder(self._model)
            with Cache(self._recalled.path) as cache:
                cache.embed(self._loaded, texts)
            return self._recalled.embed(texts)
