"""Every native memory keeps the promises of a ``MemoryService``, and does what it says it does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memrot import extractor, layers, registry
from memrot.embed.hashing import Hashing
from memrot.evaluate import observe
from memrot.exact import open_store
from memrot.memory import Place
from memrot.observations import Observations
from memrot.stack import LayeredMemory
from memrot.testing import MemoryConformance
from memrot_adapters import (
    chroma_native,
    langgraph_native,
    langgraph_native_postgres,
    mem0_infer,
    mem0_native,
    qdrant_native,
    redis_native,
    redis_ttl_only,
)


class TestChromaNative(MemoryConformance):
    open_memory = staticmethod(chroma_native.open_memory)


class TestQdrantNative(MemoryConformance):
    open_memory = staticmethod(qdrant_native.open_memory)


class TestRedisNative(MemoryConformance):
    open_memory = staticmethod(redis_native.open_memory)


class TestRedisTtlOnly(MemoryConformance):
    open_memory = staticmethod(redis_ttl_only.open_memory)


class TestMem0Native(MemoryConformance):
    open_memory = staticmethod(mem0_native.open_memory)


class TestLangGraphNative(MemoryConformance):
    open_memory = staticmethod(langgraph_native.open_memory)


@pytest.mark.usefixtures("set_up_once")
class TestLangGraphNativePostgres(MemoryConformance):
    open_memory = staticmethod(langgraph_native_postgres.open_memory)


class TestMem0Infer(MemoryConformance):
    open_memory = staticmethod(mem0_infer.open_memory)

    @pytest.fixture(autouse=True)
    def served(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with extractor.server() as listening:
            thread = threading.Thread(target=listening.serve_forever)
            thread.start()
            monkeypatch.setenv("MEMROT_LLM_URL", extractor.address(listening))
            yield
            listening.shutdown()
            thread.join()


def nearness(seen: Observations) -> list[tuple[str, list[float]]]:
    """By probe, how near each hit was: which of two facts that are as near comes first is nobody's promise."""
    assert seen.footer is not None
    assert seen.footer.outcome == "answered", seen.footer.reason
    return [
        (asked.probe, [hit.similarity for hit in asked.hits if hit.band != "withhold"])
        for stage in seen.stages
        for asked in stage.asked
    ]


def check_same(ours: Observations, theirs: Observations) -> None:
    one, other = nearness(ours), nearness(theirs)
    assert {len(near) for _, near in one} >= {0, 5}, "the exam must be able to tell"
    assert [(probe, len(near)) for probe, near in other] == [(probe, len(near)) for probe, near in one]
    for (_, expected), (_, got) in zip(one, other, strict=True):
        assert got == pytest.approx(expected, abs=5e-6)


@pytest.mark.parametrize("native", [qdrant_native, langgraph_native])
def test_one_record_a_key_and_a_filter_are_what_our_layers_call_overwrite_and_hard_expiry(
    native: Any, tmp_path: Path
) -> None:
    """Two ways to the same: by a backend's own means, and as layers over the exact store."""
    exam = registry.scenario("project/reorg").generate(1)
    embedder, place = Hashing(), Place("memrotnative", tmp_path, Hashing.dim, len(exam.facts))
    own = observe(lambda: native.open_memory(place, {}, embedder), exam, peek=False)
    policies = layers.parse(("ttl[hard]", "overwrite"))
    layered = observe(
        lambda: LayeredMemory(lambda: open_store(place, {}), policies, embedder), exam, peek=False
    )
    check_same(layered, own)


@pytest.mark.usefixtures("set_up_once")
def test_one_record_a_key_that_expires_by_a_moved_clock_is_the_same_in_two_servers(tmp_path: Path) -> None:
    exam = registry.scenario("project/reorg").generate(1)
    seen = []
    for native in (redis_native, langgraph_native_postgres):
        place = Place("memrotnative", tmp_path / native.__name__, Hashing.dim, len(exam.facts))
        opened: Any = partial(native.open_memory, place, {}, Hashing())
        seen.append(observe(opened, exam, peek=False))
    check_same(*seen)
