"""Graphiti by its own means: what its edges say of now, of then, and of how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from graphs import falkordb, kuzu
from memrot.embed.hashing import Hashing
from memrot.errors import Unsupported
from memrot.memory import CAPABILITIES, Place
from memrot.model import (
    DAY,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Instant,
    Mode,
    Question,
    Reason,
    moment,
)
from memrot.testing import MemoryConformance
from memrot_adapters import graphiti_native

START = 1_767_603_600_000
"""2026-01-05T09:00:00Z"""
ASKED = "Who is the owner of billing?"


class TestGraphitiNative(MemoryConformance):
    open_memory = staticmethod(graphiti_native.open_memory)


@pytest.mark.usefixtures("falkordb")
class TestGraphitiNativeServer(MemoryConformance):
    open_memory = staticmethod(graphiti_native.open_memory)
    options = {"server": ""}


class Told:
    """A memory, and days instead of instants."""

    def __init__(self, place: Place, options: Mapping[str, str]) -> None:
        self._place = place
        self._options = options
        self.seq = 0
        self.open()

    def open(self) -> None:
        self.memory = graphiti_native.open_memory(self._place, self._options, Hashing())

    def tell(self, day: float, event: Callable[..., ChangeEvent], **what: Any) -> None:
        self.seq += 1
        self.memory.apply([event(seq=self.seq, at=on(day), **what)], on(day))

    def add(self, day: float, what: Fact) -> None:
        self.tell(day, FactAdded, fact=what)

    def revise(self, day: float, previous: str, what: Fact) -> None:
        self.tell(day, FactRevised, previous=previous, current=what)

    def end(self, day: float, id_: str, reason: Reason = "dropped") -> None:
        self.tell(day, FactInvalidated, fact=id_, reason=reason)

    def ask(self, day: float, mode: Mode = "current", then: float | None = None, k: int = 9) -> list[str]:
        as_of = None if then is None else on(then)
        answer = self.memory.answer([Question(ASKED, mode, as_of, k)], on(day))[0]
        assert answer.unsupported is None
        found = [hit.fact or "" for hit in answer.hits]
        return found if mode == "history" else sorted(found)

    def why(self, day: float, id_: str) -> str:
        return self.memory.peek([(Question(ASKED), id_)], on(day))[0]

    def edges(self) -> dict[str, Any]:
        graph = self.memory._graph
        return {edge.attributes["told"]: edge for edge in graph.run(graph.all())}


@pytest.fixture
def told(database: Mapping[str, str], tmp_path: Path) -> Iterator[Told]:
    told = Told(Place("memrotnative", tmp_path, Hashing.dim, 50), database)
    yield told
    told.memory.drop()
    assert list(tmp_path.iterdir()) == []


def on(day: float) -> Instant:
    return START + round(day * DAY)


def fact(id_: str, value: str, day: float, subject: str = "billing", **more: Any) -> Fact:
    """Valid from a day on; told whenever it is told."""
    return Fact(
        id=id_, subject=subject, value=value, domain="OWNERSHIP", text=f"The owner of {subject} is {value}.",
        observed_at=on(day), valid_from=on(day), **{"predicate": "owner", **more},
    )  # fmt: skip


@kuzu
def test_a_course_of_changes_is_known_as_of_every_day_and_by_heart(told: Told) -> None:
    """Changed twice, back to the first words, told of an earlier time, ended; beside another subject."""
    told.add(0, fact("g", "eve", 0, "search"))
    told.add(2, fact("a", "ada", 2))
    told.revise(4, "a", fact("b", "bob", 4))
    told.revise(6, "b", fact("a2", "ada", 6))
    told.add(7, fact("old", "cid", 1))
    told.end(8, "a2")
    truth = {
        0.5: [],
        1: ["old"],
        2: ["a"],
        3.99: ["a"],
        4: ["b"],
        5.99: ["b"],
        6: ["a2"],
        7.99: ["a2"],
        8: [],
    }
    assert {day: told.ask(9, "as_of", day) for day in truth} == {
        day: sorted(["g", *held]) for day, held in truth.items()
    }
    assert told.ask(9) == ["g"]
    assert told.ask(9, "history") == ["old", "a", "b", "a2"]
    assert told.ask(9, "history", k=2) == ["b", "a2"]
    assert [told.why(9, id_) for id_ in ("a", "b", "old", "g", "?")] == [
        "tombstoned", "tombstoned", "tombstoned", "outranked", "never stored",
    ]  # fmt: skip


@falkordb
def test_falkordb_shows_what_begins_only_later_unless_it_has_no_index(told: Told) -> None:
    """Its index takes no notice of ``<=`` between strings, as which Graphiti writes dates."""
    told.add(0, fact("a", "ada", 0))
    told.revise(4, "a", fact("b", "bob", 4))
    told.revise(5, "b", fact("c", "cid", 6))
    asked = ((5, "current", None), (5, "as_of", 2), (7, "as_of", 5), (7, "current", None))
    assert [told.ask(*each) for each in asked] == [["b", "c"], ["a", "b", "c"], ["b", "c"], ["c"]]
    assert told.ask(7, "history") == ["a", "b", "c"]
    graph = told.memory._graph
    graph.run(graph._driver.execute_query("DROP INDEX FOR ()-[e:RELATES_TO]-() ON (e.valid_at)"))
    assert [told.ask(*each) for each in asked] == [["b"], ["a"], ["b"], ["c"]]


def test_what_was_learned_when_is_kept_by_the_timelines_clock(told: Told) -> None:
    """Graphiti takes the time of the machine where it ends an edge; the row must not."""
    told.add(0, fact("a", "ada", 0))
    told.add(3, fact("b", "bob", 1))
    told.add(5, fact("old", "cid", 0.5))
    told.revise(7, "b", fact("c", "dan", 6))
    held = told.edges()
    learned = {id_: (edge.created_at, edge.expired_at) for id_, edge in held.items()}
    assert {
        id_: tuple(when and when.replace(tzinfo=UTC) for when in both) for id_, both in learned.items()
    } == {
        "a": (moment(on(0)), moment(on(3))),
        "b": (moment(on(3)), moment(on(7))),
        "old": (moment(on(5)), moment(on(5))),
        "c": (moment(on(7)), None),
    }


@kuzu
def test_a_late_fact_among_others_takes_its_place_between_them(told: Told) -> None:
    told.add(1, fact("first", "ada", 1))
    told.add(5, fact("last", "bob", 5))
    told.add(6, fact("middle", "cid", 3))
    assert [told.ask(6, "as_of", day) for day in (2, 4, 5)] == [["first"], ["middle"], ["last"]]
    assert told.ask(6) == ["last"]


@kuzu
def test_a_successor_that_begins_later_ends_its_predecessor_only_then(told: Told) -> None:
    told.add(0, fact("a", "ada", 0))
    told.revise(1, "a", fact("b", "bob", 5))
    assert [told.ask(day) for day in (1, 4.99, 5)] == [["a"], ["a"], ["b"]]
    assert told.why(1, "b") == "tombstoned"


def test_a_predecessor_stays_ended_though_its_successor_is_taken_back(told: Told) -> None:
    """Graphiti's dates know no way back: a limit of the row, and not of the harness."""
    told.add(0, fact("a", "ada", 0))
    told.revise(1, "a", fact("b", "bob", 5))
    told.end(2, "b")
    assert [told.ask(day) for day in (2, 6)] == [["a"], []]


def test_what_was_retracted_never_was_and_what_was_erased_is_gone(told: Told) -> None:
    told.add(0, fact("a", "ada", 0))
    told.add(0, fact("g", "eve", 0, "search"))
    told.add(0, fact("h", "ada", 0, "ledger"))
    told.end(2, "a", "retracted")
    assert told.ask(3, "as_of", 1) == ["g", "h"]
    assert told.ask(3, "history") == ["a"]
    told.end(4, "a", "erased")
    told.end(4, "g", "erased")
    assert told.ask(5, "as_of", 1) == ["h"]
    assert (told.why(5, "a"), told.why(5, "h")) == ("deleted", "outranked")
    rows, _, _ = told.memory._graph.run(
        told.memory._graph._driver.execute_query("MATCH (n:Entity) RETURN n.name AS name")
    )
    assert sorted(row["name"] for row in rows) == ["ada", "ledger"], "a name that nobody needs is left"


def test_a_stated_end_hides_and_nothing_else_expires(told: Told) -> None:
    told.add(0, fact("a", "ada", 0, valid_to=on(9)))
    told.add(0, fact("g", "eve", 0, "search"))
    told.tell(5, FactConfirmed, fact="a")
    assert [told.ask(day) for day in (8.99, 9, 4000)] == [["a", "g"], ["g"], ["g"]]
    assert told.why(9, "a") == "expired"


def test_of_two_that_begin_at_one_instant_neither_ends_the_other(told: Told) -> None:
    """Graphiti compares dates and knows no order within one: another limit of the row."""
    told.add(0, fact("a", "ada", 0))
    told.add(0, fact("b", "bob", 0))
    told.revise(0, "b", fact("c", "cid", 0))
    assert told.ask(1) == ["a", "b", "c"]
    told.revise(1, "c", fact("d", "dan", 1))
    assert told.ask(2) == ["d"]


def test_the_same_value_told_again_stands_beside_the_first(told: Told) -> None:
    told.add(0, fact("a", "ada", 0))
    told.add(1, fact("a2", "ada", 1))
    assert told.ask(2) == ["a", "a2"]
    told.add(3, fact("b", "bob", 3))
    assert told.ask(3) == ["b"]


def test_a_key_with_several_values_loses_only_what_is_named(told: Told) -> None:
    told.add(0, fact("m1", "ada", 0, cardinality="many"))
    told.add(1, fact("m2", "bob", 1, cardinality="many"))
    told.revise(2, "m1", fact("m3", "cid", 2, cardinality="many"))
    assert told.ask(3) == ["m2", "m3"]
    assert told.ask(3, "history") == ["m1", "m2", "m3"]


def test_names_that_differ_in_their_composition_only_are_one(told: Told) -> None:
    told.add(0, fact("a", "Zo\u00eb", 0))
    told.add(1, fact("a2", "Zoe\u0308", 1))
    assert told.ask(2) == ["a", "a2"]
    told.add(2, fact("c", "new", 2, predicate="caf\u00e9"))
    told.add(3, fact("c2", "old", 3, predicate="cafe\u0301"))
    assert told.ask(4) == ["a", "a2", "c2"]


def test_what_was_told_is_known_after_a_restart(told: Told) -> None:
    told.add(0, fact("a", "ada", 0))
    told.revise(1, "a", fact("b", "bob", 1))
    told.memory.close()
    told.open()
    told.revise(2, "b", fact("c", "cid", 2))
    assert told.ask(3) == ["c"]
    assert told.ask(3, "history") == ["a", "b", "c"]


def test_graphitis_own_search_for_duplicates_would_take_a_return_for_the_past(told: Told) -> None:
    """Why the row leaves it out: in the same words again, it is the first edge, which has ended."""
    told.add(0, fact("a", "ada", 0))
    told.revise(1, "a", fact("b", "bob", 1))
    memory, graph = told.memory, told.memory._graph
    told.revise(2, "b", fact("a2", "ada", 2))
    held = told.edges()
    again, episode = held["a2"], memory._nodes.EpisodicNode(
        name="", group_id=graph.group, source="text", source_description="", content="", valid_at=moment(on(2))
    )  # fmt: skip
    resolved, ended, _ = graph.run(
        memory._resolve.resolve_extracted_edge(None, again, [held["a"]], [held["b"]], episode)
    )
    assert resolved.attributes["told"] == "a"
    assert resolved.invalid_at.replace(tzinfo=UTC) == moment(on(1))
    assert ended == []


def test_what_it_does_it_declares_and_what_it_cannot_it_says(told: Told) -> None:
    declared = told.memory.info.capabilities
    assert set(declared) == set(CAPABILITIES)
    assert ("takes no notice" in declared["as_of"].why) == (told.memory.info.deployment == "server")
    assert all(each.why for each in declared.values())
    assert told.memory.info.clock == "argument"
    with pytest.raises(Unsupported, match="keeps the one it began with"):
        told.tell(1, EmbedderChanged, embedder="minilm-l3")


def test_what_leads_from_a_name_to_itself_is_told_once(told: Told) -> None:
    told.add(0, fact("a", "billing", 0))
    told.revise(1, "a", fact("b", "ada", 1))
    told.revise(2, "b", fact("c", "billing", 2))
    assert told.ask(3, "history") == ["a", "b", "c"]
    assert told.ask(3) == ["c"]
