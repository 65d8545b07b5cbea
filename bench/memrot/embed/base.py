"""What an embedder is: a pure function from sentences to unit vectors, with a fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


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
