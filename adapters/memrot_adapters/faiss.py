"""FAISS in process: a flat index of inner products, which is exact. It knows vectors and numbers only.

Ids, texts and fields are kept beside it (``_beside.py``), and all conditions are post-filtered: FAISS
searches among ids at most (https://github.com/facebookresearch/faiss/wiki/Setting-search-parameters-for-one-query).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memrot.memory import Info, Place, Vector
from memrot_adapters._beside import Beside
from memrot_adapters._opening import backend, check_options


def open_store(place: Place, options: Mapping[str, str]) -> Beside:
    check_options("faiss", options, {})
    faiss = backend("faiss", "faiss")
    info = Info(name="faiss", backend="FAISS", version=faiss.__version__, deployment="in process")
    return Beside(info, place, _Flat(faiss, place.dim))


class _Flat:
    def __init__(self, faiss: Any, dim: int) -> None:
        self._faiss = faiss
        self._index = faiss.IndexIDMap2(faiss.IndexFlatIP(dim))

    def load(self, saved: NDArray[np.uint8]) -> None:
        self._index = self._faiss.deserialize_index(saved)

    def save(self) -> NDArray[np.uint8]:
        saved: NDArray[np.uint8] = self._faiss.serialize_index(self._index)
        return saved

    def add(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._index.add_with_ids(vectors, numbers)

    def remove(self, numbers: NDArray[np.int64]) -> None:
        self._index.remove_ids(numbers)

    def vector(self, number: int) -> Vector:
        vector: Vector = self._index.reconstruct(number)
        return vector

    def nearest(self, vectors: NDArray[np.float32], k: int) -> Iterator[Iterator[tuple[int, float]]]:
        cosines, numbers = self._index.search(vectors, k)
        for row, near in zip(numbers.tolist(), cosines.tolist(), strict=True):
            yield zip(row, near, strict=True)
