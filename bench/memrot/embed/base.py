"""What an embedder is: a pure function from sentences to unit vectors, with a fingerprint.

Vectors lie on a grid of 2^-20, which float32 holds exactly: differences in the last bits between
batch shapes, and mostly between processors, are rounded away. Rows are of unit length to 1e-5.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from memrot.memory import Embedder

__all__ = ["GRID", "Embedder", "fingerprint", "unit_rows"]

GRID = 2.0**20


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows scaled to unit length and rounded to the grid; a zero row becomes the first axis."""
    rows = rows.copy()
    rows[~rows.any(axis=1), 0] = 1.0
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return (np.rint(rows * GRID) / GRID).astype(np.float32)


def fingerprint(*parts: str) -> str:
    """16 hex digits over everything that determines an embedder's vectors."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
