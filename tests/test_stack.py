"""A stack over the exact store: what it asserts, hedges, withholds, refuses and remembers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from memrot.embed.hashing import Hashing
from memrot.errors import Unsupported
from memrot.exact import Exact
from memrot.layers import parse
from memrot.layers.base import BANDS, Entry, Layer
from memrot.memory import Place
from memrot.model import (
    DAY,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Question,
    TimePassed,
)
from memrot.stack import LayeredMemory
from memrot.timeline import parse_instant

START = parse_instant("2026-01-01T09:00:00Z")
OWNER = "Who owns billing?"


class Stack:
    """A stack on one folder, told of one event a day."""

    def __init__(self, folder: Path, *layers: str) -> None:
        self.layers = parse(layers)
        self.place = Place("test", folder, Hashing().dim, 16)
        self.seq = 0
        self.memory = self.opened()

    def opened(self) -> LayeredMemory:
        self.store = Exact(self.place)
        return LayeredMemory(lambda: self.store, self.layers, Hashing())

    @property
    def at(self) -> int:
        return START + self.seq * DAY

    def tell(self, event: ChangeEvent) -> None:
        self.memory.apply([event], event.at)

    def add(self, id_: str, value: str, predicate: str = "owner", **changes: object) -> None:
        self.seq += 1
        self.tell(FactAdded(seq=self.seq, at=self.at, fact=self.fact(id_, value, predicate, **changes)))

    def revise(self, previous: str, id_: str, value: str) -> None:
        self.seq += 1
        self.tell(
            FactRevised(seq=self.seq, at=self.at, previous=previous, current=self.fact(id_, value, "owner"))
        )

    def invalidate(self, id_: str, reason: str = "obsolete") -> None:
        self.seq += 1
        self.tell(FactInvalidated(seq=self.seq, at=self.at, fact=id_, reason=reason))  # type: ignore[arg-type]

    def wait(self, days: int) -> None:
        self.seq += days
        self.tell(TimePassed(seq=self.seq, at=self.at))

    def fact(self, id_: str, value: str, predicate: str, **changes: object) -> Fact:
        fact = Fact(
            id=id_, subject="billing", predicate=predicate, value=value, domain="OWNERSHIP",
            text=f"The {predicate} of billing is {value}.", observed_at=self.at, valid_from=self.at,
        )  # fmt: skip
        return structs.replace(fact, **changes)

    def ask(self, text: str = OWNER, k: int = 5, **more: object) -> list[str]:
        """``a``, ``a?`` hedged, ``(a)`` withheld; ``-`` and the reason where it is unsupported."""
        answer = self.memory.answer([Question(text, k=k, **more)], self.at)[0]  # type: ignore[arg-type]
        if answer.unsupported:
            return ["-", answer.unsupported]
        shown = {"assert": "{}", "hedge": "{}?", "withhold": "({})"}
        return [shown[hit.band].format(hit.fact) for hit in answer.hits]


def test_bare_appends_and_asserts_what_was_revised_and_invalidated(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.add("a", "Eve")
    stack.revise("a", "b", "Max")
    stack.invalidate("b")
    assert sorted(stack.ask()) == ["a", "b"]
    assert stack.memory.filtering == "none"


def test_all_layers_answer_with_what_holds(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "all")
    stack.add("a", "Eve")
    stack.revise("a", "b", "Max")
    assert stack.ask() == ["b"]
    stack.wait(40)
    assert stack.ask() == ["b?"]
    stack.invalidate("b")
    assert stack.ask() == []
    assert stack.memory.filtering == "pre-filter"


def test_withheld_hits_are_replaced_and_shown_for_diagnosis_only(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    for i in range(9):
        stack.add(f"d{i}", "Eve", confidence=0.1)
    stack.add("b", "somebody else altogether", "approver")
    hits = stack.ask(k=1)
    assert [hit for hit in hits if not hit.startswith("(")] == ["b"]
    assert len(hits) == 10


def test_as_of_and_history(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "supersession", "propagation")
    stack.add("a", "Eve")
    stack.add("x", "Go", "language")
    stack.revise("a", "b", "Max")
    stack.revise("b", "c", "Eve")
    assert stack.ask(mode="history") == ["a", "b", "c"]
    assert [hit for hit in stack.ask(mode="as_of", as_of=START + 3 * DAY) if hit != "x"] == ["b"]
    assert [hit for hit in stack.ask(mode="as_of", as_of=START + 2 * DAY) if hit != "x"] == ["a"]
    stack.invalidate("c", "retracted")
    assert [hit for hit in stack.ask(mode="as_of", as_of=START + 4 * DAY) if hit != "x"] == []


def test_modes_that_a_stack_cannot_serve_are_unsupported_with_the_reason(tmp_path: Path) -> None:
    bare = Stack(tmp_path)
    bare.add("a", "Eve")
    assert bare.ask(mode="as_of", as_of=START) == ["-", "no layer records when a fact ended"]
    assert bare.ask(mode="history") == ["a"]
    overwriting = Stack(tmp_path / "o", "overwrite")
    assert overwriting.ask(mode="history")[1].startswith("a layer deletes")
    with pytest.raises(Unsupported):
        bare.memory.apply([EmbedderChanged(seq=9, at=START + 9 * DAY, embedder="other")], START + 9 * DAY)


def test_a_batch_of_mixed_questions_keeps_its_order(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.add("a", "Eve")
    stack.add("b", "Go", "language")
    questions = [
        Question("What is the language of billing?", k=1),
        Question(OWNER, mode="as_of", as_of=START),
        Question("The owner of billing is Eve.", k=1),
        Question(OWNER, mode="history"),
    ]
    answers = stack.memory.answer(questions, stack.at)
    assert [[hit.fact for hit in answer.hits] for answer in answers] == [["b"], [], ["a"], ["a"]]


def test_layers_survive_a_restart(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "ttl[hard]", "supersession", "propagation")
    stack.add("a", "Eve")
    stack.add("n", "Eve's team", "note", depends_on=("a",))
    stack.add("f", "Ada", valid_from=START + 20 * DAY, depends_on=())
    stack.memory.close()
    stack.memory = stack.opened()
    assert set(stack.ask()) == {"a", "n"}
    stack.wait(18)
    assert stack.ask() == ["f"]
    stack.wait(31)
    assert stack.ask() == []


def test_one_plan_an_instant(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "all")
    plans: list[tuple[list[str], list[str], list[str]]] = []
    write = stack.store.write
    stack.store.write = lambda put, patch, delete: (  # type: ignore[method-assign]  # recorded on the way
        plans.append(([record.id for record in put], list(patch), list(delete))) or write(put, patch, delete)  # type: ignore[func-returns-value]
    )
    stack.add("a", "Eve")
    stack.revise("a", "b", "Max")
    stack.invalidate("b", "erased")
    assert plans == [(["a"], [], []), (["b"], ["a"], []), ([], [], ["b"])]


def test_peek_says_why_a_fact_did_not_come_back(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "ttl[hard]", "supersession", "propagation")
    stack.add("old", "Eve", "approver")
    stack.wait(35)
    stack.add("a", "Eve")
    stack.revise("a", "b", "Max")
    stack.add("gone", "Bo", "reader")
    stack.invalidate("gone", "erased")
    stack.add("weak", "Bo", "writer", confidence=0.1)
    for i in range(3):
        stack.add(f"n{i}", f"owner {i}", f"owner{i}")
    question = Question(OWNER, k=1)
    stack.memory.answer([question], stack.at)
    ids = ["a", "old", "gone", "never", "weak", "n0"]
    causes = stack.memory.peek([(question, id_) for id_ in ids], stack.at)
    assert causes == ["tombstoned", "expired", "deleted", "never stored", "demoted", "outranked"]


def test_peek_tells_a_lossy_index_from_a_crowded_answer(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.add("a", "Eve")
    stack.add("b", "Go", "language")
    search = stack.store.search
    stack.store.search = lambda queries, where, k: [  # type: ignore[method-assign]  # an index that lost a record
        [hit for hit in hits if hit[0] != "a"] for hits in search(queries, where, k)
    ]
    question = Question(OWNER, k=1)
    answers = stack.memory.answer([question], stack.at)
    assert [hit.fact for hit in answers[0].hits] == ["b"]
    assert stack.memory.peek([(question, "a")], stack.at) == ["not found by the index"]


@pytest.mark.parametrize(
    ("confidence", "band"),
    [(1, "assert"), (0.65, "assert"), (0.649, "hedge"), (0.33, "hedge"), (0.329, "withhold")],
)
def test_bands(confidence: float, band: str) -> None:
    assert BANDS.of(confidence) == band


def test_marks_reach_the_hit(tmp_path: Path) -> None:
    class Doubting(Layer):
        name = "doubting"

        def judge(self, entries: Sequence[Entry], at: int) -> object:  # type: ignore[override]  # as declared, unspelled
            return [0.5] * len(entries), ["verify"] * len(entries)

    stack = Stack(tmp_path)
    stack.layers = (Doubting(),)
    stack.memory = stack.opened()
    stack.add("a", "Eve")
    hit = stack.memory.answer([Question(OWNER)], stack.at)[0].hits[0]
    assert (hit.confidence, hit.band, hit.mark) == (0.5, "hedge", "verify")
