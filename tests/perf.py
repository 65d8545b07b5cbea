"""What memrot itself costs, as ratios measured in one run (``make perf``). Not a timed test.

    make perf                         all parts
    make perf ARGS=overhead           wall time of a cell over the same store calls made bare
    make perf ARGS=scoring            hits scored a second
    make perf ARGS=scale              a timeline of 100,000 events on exact+all

Absolute times on shared machines are noise; each line says what it divides by what.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from memrot import layers, registry
from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.evaluate import LifecycleEvaluator
from memrot.layers.base import Layer
from memrot.memory import Fields, Place, Query, Record, Store, Where
from memrot.observations import Observations
from memrot.score import score
from memrot.stack import LayeredMemory
from memrot.suite import SCENARIOS
from memrot.timeline import Timeline

BOUNDS = {"exact": None, "redis": None, "qdrant": 1.2, "chroma": 1.15}
"""Harness over bare calls, at most; ``exact`` is bounded in µs a question instead."""
EXACT_BOUND_US = 15.0
ROUNDS = 3

Call = tuple[str, tuple[Any, ...]]


class Recorder:
    """A store that notes every call on its way to the real one."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.info = store.info
        self.calls: list[Call] = []

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self._call("write", put, patch, delete)

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return self._call("get", ids)  # type: ignore[no-any-return]  # whatever the store returns

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        return iter(list(self._call("scan", vectors)))

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        return self._call("search", queries, where, k)  # type: ignore[no-any-return]  # see above

    def drop(self) -> None:
        self._call("drop")

    def close(self) -> None:
        self._call("close")

    def _call(self, name: str, *arguments: Any) -> Any:
        self.calls.append((name, arguments))
        return getattr(self.store, name)(*arguments)


def replayed(store: Store, calls: Sequence[Call]) -> None:
    for name, arguments in calls:
        result = getattr(store, name)(*arguments)
        if name == "scan":
            list(result)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def overhead() -> None:
    """All scenarios of the default profile together, a seed each; the median of some rounds."""
    exams: list[Timeline] = [registry.scenario(name).generate(1) for name in SCENARIOS]
    embedder = registry.embedder("minilm")
    texts = [
        text
        for exam in exams
        for text in (*(fact.text for fact in exam.facts.values()), *(probe.question for probe in exam.probes))
    ]
    with Cache() as cache:
        cache.embed(embedder, texts)
        recalled = Recalled.of(embedder, cache)
    recalled.embed(texts)
    rows = []
    for name, bound in BOUNDS.items():
        ratios, extra = [], []
        for _ in range(ROUNDS):
            measured = [_measured(name, exam, recalled) for exam in exams]
            cell, bare, asked = (sum(part) for part in zip(*measured, strict=True))
            ratios.append(cell / bare)
            extra.append((cell - bare) / asked * 1e6)
        limit = (
            f"<= {EXACT_BOUND_US:.0f} µs a question" if name == "exact" else f"<= {bound}" if bound else ""
        )
        rows.append((name, sorted(ratios)[ROUNDS // 2], sorted(extra)[ROUNDS // 2], limit))
    print(tabulate(rows, ("store", "cell ÷ bare calls", "harness, µs a question", "bound"), floatfmt=".2f"))


def _measured(name: str, exam: Timeline, embedder: Recalled) -> tuple[float, float, int]:
    """Seconds of a cell, seconds of its store's calls made bare, and questions."""
    evaluator = LifecycleEvaluator(exam, 5, 3, 1, peek=False)
    stack = layers.parse(["all"], exam.header.exclusive)
    with tempfile.TemporaryDirectory() as folder:
        stores = [
            registry.adapter(name)(
                Place(f"perf{n}", Path(folder) / str(n), embedder.dim, len(exam.facts)), {}
            )
            for n in range(3)
        ]
        recorder = Recorder(stores[0])
        seen = evaluator.observe(LayeredMemory(partial(_same, recorder), stack, embedder))
        assert seen.footer is not None
        assert seen.footer.outcome == "answered", seen.footer
        cell = timed(partial(_cell, evaluator, stores[1], stack, embedder))
        bare = timed(partial(replayed, stores[2], recorder.calls))
    return cell, bare, seen.footer.asked


def _cell(
    evaluator: LifecycleEvaluator, store: Store, stack: Sequence[Layer], embedder: Embedder
) -> Observations:
    return evaluator.observe(LayeredMemory(partial(_same, store), stack, embedder))


def _same(store: Store) -> Store:
    return store


def scoring() -> None:
    """With many hits a question, so that what a cell costs once does not hide what a hit costs."""
    timeline: Timeline = registry.scenario("project/reorg").generate(1)
    embedder = registry.embedder("hashing")
    evaluator = LifecycleEvaluator(timeline, 50, 3, 1, peek=False)
    with tempfile.TemporaryDirectory() as folder:
        store = registry.adapter("exact")(Place("perf", Path(folder), embedder.dim, 1000), {})
        seen = _cell(evaluator, store, (), embedder)
    hits = sum(len(asked.hits) for stage in seen.stages for asked in stage.asked)
    rates = sorted(hits / timed(partial(score, timeline, seen)) for _ in range(3))
    print(f"scoring: {rates[1] / 1e6:.2f} million hits a second over {hits} hits (bound: >= 1)")


def scale() -> None:
    embedder = registry.embedder("hashing")
    rows: list[tuple[int, float, float, float]] = []
    for events in (25_000, 50_000, 100_000):
        timeline: Timeline = registry.scenario("project/reorg").generate(1, str(events))
        began = time.perf_counter()
        evaluator = LifecycleEvaluator(timeline, 5, 3, 1000, peek=True)
        stack = layers.parse(["all"], timeline.header.exclusive)
        with tempfile.TemporaryDirectory() as folder:
            place = Place("perf", Path(folder), embedder.dim, len(timeline.facts))
            store = registry.adapter("exact")(place, {})
            seen = _cell(evaluator, store, stack, embedder)
        assert seen.footer is not None
        assert seen.footer.outcome == "answered", seen.footer
        replay = time.perf_counter() - began
        scores = timed(partial(score, timeline, seen))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((events, (replay + scores) / events, scores / (replay + scores), peak))
    base = rows[0][1]
    print(
        tabulate(
            [(events, each / base, share, peak) for events, each, share, peak in rows],
            (
                "events",
                "time an event ÷ that at 25,000",
                "share of scoring",
                "peak memory, MB (bound: 2,000)",
            ),
            floatfmt=(".0f", ".2f", ".3f", ".0f"),
        )
    )


PARTS = {"overhead": overhead, "scoring": scoring, "scale": scale}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
