"""Diagnosis reads what came back, never what a stack is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from memrot import layers, registry
from memrot.diagnose import diagnose, leak_table, miss_table
from memrot.embed.hashing import Hashing
from memrot.evaluate import observe
from memrot.exact import open_store
from memrot.memory import Place
from memrot.model import Answer, ChangeEvent, FactAdded, FactRevised, Instant, Question
from memrot.observations import Head, Observations, StackId
from memrot.score import score
from memrot.stack import LayeredMemory
from memrot.timeline import Timeline

ALL = ("ttl", "supersession", "propagation")


class Relabelled:
    """A stack that hears other supports than the truth has: ``depends_on`` of another fact."""

    def __init__(self, memory: LayeredMemory, supports: Mapping[str, tuple[str, ...]]) -> None:
        self._memory = memory
        self._supports = supports
        self.info = memory.info

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self._memory.apply([self._heard(event) for event in events], at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return self._memory.answer(questions, at)

    def close(self) -> None:
        self._memory.close()

    def _heard(self, event: ChangeEvent) -> ChangeEvent:
        match event:
            case FactAdded(fact=fact) if fact.id in self._supports:
                return structs.replace(event, fact=structs.replace(fact, depends_on=self._supports[fact.id]))
            case FactRevised(current=fact) if fact.id in self._supports:
                return structs.replace(
                    event, current=structs.replace(fact, depends_on=self._supports[fact.id])
                )
            case _:
                return event


@pytest.fixture(scope="module")
def exam() -> Timeline:
    return registry.scenario("boundary-shift").generate(1, "smoke")


def stack(exam: Timeline, folder: Path, names: Sequence[str]) -> LayeredMemory:
    place = Place("cell", folder, Hashing.dim, len(exam.facts))
    return LayeredMemory(lambda: open_store(place, {}), layers.parse(names, exam.header.exclusive), Hashing())


def leaks(exam: Timeline, seen: Observations, name: str = "x") -> dict[str, int]:
    (found,) = diagnose({name: [score(exam, seen)]})
    assert found.stack == name
    return {layer: found.leaks.get(layer, 0) + found.hedged.get(layer, 0) for layer in (*ALL, "unknowable")}


def test_each_layer_stops_its_own_leaks(exam: Timeline, tmp_path: Path) -> None:
    bare = leaks(exam, observe(stack(exam, tmp_path / "a", ()), exam))
    assert all(bare[layer] for layer in ("supersession", "propagation"))
    superseding = leaks(exam, observe(stack(exam, tmp_path / "b", ("supersession",)), exam))
    assert superseding["supersession"] == 0 < superseding["propagation"]
    propagating = leaks(exam, observe(stack(exam, tmp_path / "c", ("propagation",)), exam))
    assert propagating["propagation"] == 0 < propagating["supersession"]
    everything = leaks(exam, observe(stack(exam, tmp_path / "d", ALL), exam))
    assert everything["supersession"] == everything["propagation"] == 0


def test_a_stacks_name_changes_nothing(exam: Timeline, tmp_path: Path) -> None:
    seen = observe(stack(exam, tmp_path, ()), exam)
    for adapter, names in (("exact", ALL), ("oracle", ()), ("", ("ttl[hard]",))):
        renamed = structs.replace(seen.head, stack=StackId(adapter=adapter, layers=names))
        assert leaks(exam, structs.replace(seen, head=renamed), adapter) == leaks(exam, seen)


def test_a_layer_switched_off_behind_the_name_is_found(exam: Timeline, tmp_path: Path) -> None:
    head = Head(timeline=observe(stack(exam, tmp_path / "a", ALL), exam).head.timeline,
                stack=StackId(adapter="exact", layers=ALL))  # fmt: skip
    seen = observe(stack(exam, tmp_path / "b", ("ttl", "propagation")), exam, head=head)
    assert seen.head.stack.layers == ALL
    assert leaks(exam, seen, "exact+all")["supersession"] > 0


def test_shuffled_supports_bring_the_leaks_back(exam: Timeline, tmp_path: Path) -> None:
    """The memory hears each fact's supports from another fact introduced after both."""
    supported = [fact for fact in exam.facts.values() if fact.depends_on]
    order = {fact: place for place, fact in enumerate(exam.facts)}
    shuffled = {}
    for fact in supported:
        others = [
            other.depends_on
            for other in supported
            if other.depends_on != fact.depends_on
            and max(order[support] for support in other.depends_on) < order[fact.id]
        ]
        if others:
            shuffled[fact.id] = others[0]
    assert len(shuffled) >= len(supported) / 2
    right = Relabelled(stack(exam, tmp_path / "a", ALL), {})
    wrong = Relabelled(stack(exam, tmp_path / "b", ALL), shuffled)
    assert leaks(exam, observe(right, exam))["propagation"] == 0
    assert leaks(exam, observe(wrong, exam))["propagation"] > 0


def test_misses_are_charged_by_cause(exam: Timeline, tmp_path: Path) -> None:
    def misses(folder: str, names: Sequence[str]) -> dict[str, int]:
        (found,) = diagnose({"x": [score(exam, observe(stack(exam, tmp_path / folder, names), exam))]})
        return found.misses

    assert set(misses("a", ())) <= {"outranked"}
    assert misses("b", ("ttl[hard]",))["expired"] > 0
    assert "expired" not in misses("c", ("ttl",))


def test_misses_of_a_memory_that_cannot_be_looked_into_are_shown(exam: Timeline, tmp_path: Path) -> None:
    closed = Relabelled(stack(exam, tmp_path, ("ttl[hard]",)), {})
    found = diagnose({"closed": [score(exam, observe(closed, exam))]})
    assert found[0].misses.keys() == {"not examined"}
    assert miss_table(found).split()[-3:] == ["closed", "1", str(found[0].misses["not examined"])]


def test_tables(exam: Timeline, tmp_path: Path) -> None:
    scores = score(exam, observe(stack(exam, tmp_path, ()), exam))
    made_up = structs.replace(scores, leaks={"ttl": 2}, leaks_hedged={"ttl": 1}, misses={"outranked": 7})
    found = diagnose({"a": [made_up, made_up], "b": []})
    assert [each.leaks for each in found] == [{"ttl": 4}, {}]
    assert leak_table(found).splitlines()[2].split() == ["a", "2", "4", "/", "2", *("0", "/", "0") * 3]
    assert leak_table(found).splitlines()[3].split() == ["b", "0", "-", "-", "-", "-"], (
        "nothing answered is no zero"
    )
    assert miss_table(found).splitlines()[2].split() == ["a", "2", "14"]
    assert miss_table(found[1:]) == "nothing was missed"
