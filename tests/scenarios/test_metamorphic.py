"""What a change of the exam must do to its scores, written down beforehand (``metamorphoses.py``).

| change | the same to the last bit | may move |
|---|---|---|
| every subject renamed | every number, of every memory that reads sentences by their meaning | |
| all times shifted by whole days | every number | |
| independent events of one instant permuted | every number of those that answer by key or by likeness | what is newest, and what is deleted as a neighbour |
| unrelated facts added | every number of those that answer by key | nearest facts: only out, so that coverage, recall, contamination and leaks fall or stay |
| every question asked twice | every share and lag; counts of answers double | the worst stage, of which more have enough hits; means, in the last bits |

The embedder of the renamed timeline reads the old name for each new one: a meaning has no spelling.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from memrot import layers
from memrot.controls import CONTROLS
from memrot.embed.hashing import Hashing
from memrot.evaluate import observe
from memrot.exact import open_store
from memrot.memory import Place
from memrot.observations import ECHO, Observations
from memrot.score import score
from memrot.stack import Embedders, LayeredMemory
from memrot.timeline import Timeline
from memrot_scenarios.world import Scenario
from scenarios.metamorphoses import (
    FILLER,
    SPREAD,
    doubled,
    filled,
    introduced,
    moved,
    permuted,
    renamed,
    shifted,
    spread,
)
from scenarios.pin import scenarios

SEED = 1
STACKS: Mapping[str, tuple[str, ...]] = {"exact": (), "exact+all": ("ttl", "supersession", "propagation")}
MEMORIES = ("oracle", "hoarder", "over-deleter", *STACKS)
EVERY = 4
"""Events between two stages that are asked at: every number is still there, in a third of the time."""
COUNTS = frozenset({"hits", "probes", "grace", "n", "unsupported"})
"""Doubled with the questions; also all leaks and misses."""
MEANS = ("similarity_gap", "brier", "calibration", "slope", "lead")
"""Sums of many terms, in another order when each term stands twice."""

each_scenario = pytest.mark.parametrize("name", [scenario.id for scenario in scenarios()])


class Reading:
    """The hashing embedder, for sentences whose names have changed; each is embedded once."""

    name, dim, lexical = "reading", Hashing.dim, True
    known: dict[tuple[str, str], NDArray[np.float32]] = {}

    def __init__(self, old: Mapping[str, str], turn: int = 0) -> None:
        self.old = old
        self.turn = turn
        self.fingerprint = f"{Hashing.fingerprint}{turn or ''}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._vector(self.old.get(text, text)) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        place = (self.fingerprint, text)
        if place not in self.known:
            self.known[place] = np.roll(Hashing().embed([text])[0], self.turn)
        return self.known[place]


def seen(
    timeline: Timeline, memory: str, old: Mapping[str, str] | None = None, *, every: int = EVERY
) -> Observations:
    """What a memory answers; ``old``: sentence -> what the embedder reads."""
    if memory in CONTROLS:
        return observe(lambda: CONTROLS[memory](timeline), timeline, ask_every=every, peek=False)
    with tempfile.TemporaryDirectory() as folder:
        place = Place("cell", Path(folder), Hashing.dim, len(timeline.facts))
        policies = layers.parse(STACKS[memory], timeline.header.exclusive)
        embedders = Embedders(Reading(old or {}), {"minilm-l3": Reading(old or {}, turn=1)})
        found = observe(
            lambda: LayeredMemory(lambda: open_store(place, {}), policies, embedders),
            timeline,
            ask_every=every,
            peek=False,
        )
    assert found.footer is not None
    assert found.footer.outcome == "answered", found.footer.reason
    return found


def numbers(timeline: Timeline, observations: Observations) -> dict[str, Any]:
    """Every number of a cell, by its path."""
    flat: dict[str, Any] = {}

    def walk(path: str, value: Any) -> None:
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            for name, each in pairs:
                walk(f"{path}/{name}", each)
        else:
            flat[path] = value

    walk("", msgspec.to_builtins(score(timeline, observations)))
    return flat


@cache
def original(name: str) -> Timeline:
    (scenario,) = (scenario for scenario in scenarios() if scenario.id == name)
    exam: Scenario = scenario
    return exam.generate(SEED, "smoke")


@cache
def before(name: str, memory: str) -> dict[str, Any]:
    timeline = original(name)
    return numbers(timeline, seen(timeline, memory))


def differing(expected: dict[str, Any], got: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    paths = dict.fromkeys([*expected, *got])
    pairs = {path: (expected.get(path), got.get(path)) for path in paths}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}


@each_scenario
def test_names_mean_nothing(name: str) -> None:
    timeline, old = renamed(original(name))
    for memory in MEMORIES:
        assert differing(before(name, memory), numbers(timeline, seen(timeline, memory, old))) == {}, memory


@each_scenario
@pytest.mark.parametrize("days", [-37, 1000])
def test_dates_mean_nothing(name: str, days: int) -> None:
    timeline = shifted(original(name), days)
    for memory in ("oracle", "exact+all"):
        assert differing(before(name, memory), numbers(timeline, seen(timeline, memory))) == {}, memory


@each_scenario
def test_the_order_of_independent_news_means_nothing(name: str) -> None:
    timeline = permuted(original(name))
    assert moved(original(name), timeline) > 20
    for memory in MEMORIES:
        if memory != "over-deleter":
            assert differing(before(name, memory), numbers(timeline, seen(timeline, memory))) == {}, memory


@each_scenario
def test_unrelated_facts_change_no_answer_by_key_and_only_crowd_out_others(name: str) -> None:
    base = spread(original(name))
    timeline = filled(base)
    assert introduced(timeline.events) - introduced(base.events) >= 30
    for memory in ("listener", "over-deleter", "newest", "exact+all"):
        answered = seen(base, memory, every=1), seen(timeline, memory, every=1)
        alone, among = (numbers(t, found) for t, found in zip((base, timeline), answered, strict=True))
        told = {path: value for path, value in among.items() if f"/{FILLER}" not in path}
        if memory in CONTROLS and memory != "newest":
            assert differing(alone, told) == {}, memory
            continue
        for hits, fewer in zip(*map(_by_question, answered), strict=True):
            assert {fact for fact in fewer if not fact.startswith(FILLER)} <= hits, memory
        for path in ("/cell/coverage", "/cell/recall", "/cell/contamination"):
            assert among[path] <= alone[path], (memory, path)
        for path in alone:
            if path.startswith("/leaks"):
                assert among.get(path, 0) <= alone[path], (memory, path)
            elif path.startswith(("/ends", "/begins")):
                assert among[path] == alone[path], (memory, path)


def _by_question(observations: Observations) -> list[set[str]]:
    """Of every question about now, the facts that came back."""
    return [
        {hit.fact for hit in asked.hits if hit.fact is not None}
        for stage in observations.stages
        for asked in stage.asked
        if not asked.probe.startswith(ECHO)
    ]


@each_scenario
def test_asking_twice_doubles_counts_and_moves_no_share(name: str) -> None:
    timeline = doubled(original(name))
    for memory in MEMORIES:
        expected = {
            path: value if value is None else _twice(path)(value)
            for path, value in before(name, memory).items()
        }
        got = numbers(timeline, seen(timeline, memory))
        wrong = {
            path: pair
            for path, pair in differing(expected, got).items()
            if not path.startswith("/worst") and not (_is_mean(path) and _near(*pair))
        }
        assert wrong == {}, memory


def _twice(path: str) -> Callable[[Any], Any]:
    counted = path.rpartition("/")[2] in COUNTS and "/lags/" not in path
    return (
        (lambda value: 2 * value)
        if counted or path.startswith(("/leaks", "/misses"))
        else lambda value: value
    )


def _is_mean(path: str) -> bool:
    return any(name in path for name in MEANS)


def _near(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def test_a_spread_timeline_is_the_same_but_for_its_numbers() -> None:
    name = "project/reorg"
    timeline = spread(original(name))
    for memory in MEMORIES:
        got = numbers(timeline, seen(timeline, memory))
        for path, value in before(name, memory).items():
            sequence = path.endswith(("/seq", "/told")) or path.startswith("/begins")
            assert got[path] == (value * SPREAD if sequence and value is not None else value), path
