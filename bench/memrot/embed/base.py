"""What an embedder is: a pure function from sentences to unit vectors, with a fingerprint.

Vectors lie on a grid of 2^-20, which float32 holds exactly: differences in the last bits between
batch shapes, and mostly between processors, are rounded away. Rows are of unit length to 1e-5.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

GRID = 2.0**20


class Embedder(Protocol):
    name: str
    fingerprint: str
    """Changes whenever any vector could; 16 hex digits."""
    dim: int
    lexical: bool
    """True for embedders that only compare characters: fit for tests, never published."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dim); rows of unit length."""
        ...


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows scaled to unit length and rounded to the grid; a zero row becomes the first axis."""
    rows = rows.copy()
    rows[~rows.any(axis=1), 0] = 1.0
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return (np.rint(rows * GRID) / GRID).astype(np.float32)


def fingerprint(*parts: str) -> str:
    """16 hex digits over everything that determines an embedder's vectors."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
