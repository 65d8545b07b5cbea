"""USearch in process, asked for exact searches, with vectors in single precision.

Unless told otherwise it takes the format that the machine is quickest with, here bfloat16, in which
cosines are off by 0.002, and its graph finds most neighbours but not all. Ids, texts and fields are
kept beside it (``_beside.py``), and all conditions are post-filtered. A vector that was removed stays in
the index until its place is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memrot.memory import Info, Place, Vector
from memrot_adapters._beside import Beside
from memrot_adapters._opening import backend, check_options


def open_store(place: Place, options: Mapping[str, str]) -> USearch:
    check_options("usearch", options, {})
    return USearch(backend("usearch.index", "usearch"), backend("usearch", "usearch").__version__, place)


class USearch(Beside):
    def __init__(self, usearch: Any, version: str, place: Place) -> None:
        self._exact = _Exact(usearch, place.dim)
        info = Info(name="usearch", backend="USearch", version=version, deployment="in process")
        super().__init__(info, place, self._exact)

    def compact(self) -> None:
        """The index is made anew of the vectors that it holds, as USearch advises after many removals."""
        self._exact.rebuild(np.array(list(self._held), np.int64))
        self._save()


class _Exact:
    def __init__(self, usearch: Any, dim: int) -> None:
        self._usearch = usearch
        self._dim = dim
        self._index = self._made()

    def load(self, saved: NDArray[np.uint8]) -> None:
        self._index.load(bytes(saved))

    def save(self) -> NDArray[np.uint8]:
        return np.frombuffer(self._index.save(), np.uint8)

    def add(self, numbers: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        self._index.add(numbers, vectors)

    def remove(self, numbers: NDArray[np.int64]) -> None:
        self._index.remove(numbers)

    def vector(self, number: int) -> Vector:
        vector: Vector = self._index.get(number)
        return vector

    def nearest(self, vectors: NDArray[np.float32], k: int) -> Iterator[Iterator[tuple[int, float]]]:
        found = self._index.search(vectors, k, exact=True)
        # a batch of one comes back flat
        numbers, distances = np.atleast_2d(found.keys), np.atleast_2d(found.distances)
        for row, away in zip(numbers.tolist(), distances.tolist(), strict=True):
            yield zip(row, (1.0 - each for each in away), strict=True)

    def rebuild(self, numbers: NDArray[np.int64]) -> None:
        held, self._index = self._index, self._made()
        if len(numbers):
            self.add(numbers, np.stack(held.get(numbers)))

    def _made(self) -> Any:
        return self._usearch.Index(ndim=self._dim, metric="ip", dtype="f32")
