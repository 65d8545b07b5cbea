"""What memrot expects of stores and memories, held against both."""

from memrot.testing import MemoryConformance, StoreConformance
from memrot_outside.http_store import open_store
from memrot_outside.program_memory import open_memory


class TestHttpStore(StoreConformance):
    open_store = staticmethod(open_store)


class TestProgramMemory(MemoryConformance):
    open_memory = staticmethod(open_memory)
