"""The conformance kit: what a ``Store`` promises, as tests that an adapter's tests inherit.

    class TestMine(StoreConformance):
        open_store = staticmethod(mine.open_store)

Nothing here is imported by memrot itself; it needs pytest and hypothesis.
"""

from memrot.testing.conformance import StoreConformance

__all__ = ["StoreConformance"]
