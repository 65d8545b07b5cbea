"""The conformance kit: what a ``Store`` or a whole memory promises, as tests that an adapter's tests inherit.

    class TestMine(StoreConformance):
        open_store = staticmethod(mine.open_store)

    class TestMyMemory(MemoryConformance):
        open_memory = staticmethod(mine.open_memory)

It needs pytest and nothing else; nothing of memrot but ``memrot adapters check`` imports it.
"""

import pytest

# before they are imported, so that a promise that is broken shows the values that broke it
pytest.register_assert_rewrite(
    *(f"{__name__}.{module}" for module in ("comparing", "conformance", "machine", "memories"))
)

from memrot.testing.conformance import StoreConformance  # noqa: E402  after the registration above
from memrot.testing.memories import MemoryConformance  # noqa: E402  after the registration above

__all__ = ["MemoryConformance", "StoreConformance"]
