"""Hashed character n-grams: an embedder without a model, for tests.

It compares spelling, not meaning (``lexical``), so nothing measured with it is published. It
counts in whole numbers, and therefore gives the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memrot.embed.base import fingerprint, unit_rows

_VERSION = "hashing 1"
_SIZES = (3, 4, 5)
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


class Hashing:
    """Signed feature hashing (Weinberger et al. 2009) of the character 3-, 4- and 5-grams."""

    name = "hashing"
    dim = 256
    lexical = True
    fingerprint = fingerprint(_VERSION)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = np.zeros((len(texts), self.dim))
        for row, text in zip(counts, texts, strict=True):
            hashes = _ngrams(text)
            signs = np.where(hashes >> np.uint64(63), 1.0, -1.0)
            row[:] = np.bincount(
                (hashes >> np.uint64(32)) % np.uint64(self.dim), weights=signs, minlength=self.dim
            )
        return unit_rows(counts)


def _ngrams(text: str) -> NDArray[np.uint64]:
    """A 64-bit hash for each n-gram of the folded text, with its edges as characters."""
    folded = f"  {' '.join(text.casefold().split())}  "
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    hashes = []
    for size in _SIZES:
        rolling = np.full(max(codes.size - size + 1, 0), size, dtype=np.uint64)
        for offset in range(size):
            rolling = (rolling ^ codes[offset : offset + rolling.size]) * _BASE  # wraps modulo 2^64
        hashes.append((rolling ^ (rolling >> np.uint64(29))) * _MIX)
    return np.concatenate(hashes)
