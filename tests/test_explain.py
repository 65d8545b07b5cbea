"""The evidence: the worst first, said in a terminal's width, with what ended each stale hit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from memrot import layers
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.exact import open_store
from memrot.explain import LEGEND, NARROW, WIDTH, Case, evidence, render
from memrot.memory import Place
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Probe,
    TimePassed,
)
from memrot.observations import Asked, Head, Observations, StageSeen, TimelineId
from memrot.stack import LayeredMemory
from memrot.timeline import Domain, Header, Timeline
from running import tiny

T0 = 1_767_603_600_000


def fact(ident: str, predicate: str, value: str, **more: Any) -> Fact:
    text = f"svc {predicate} {value}"
    return Fact(id=ident, subject="svc", predicate=predicate, value=value, domain="TECH", text=text, **more)


@pytest.fixture
def exam() -> Timeline:
    """Every way in which a fact can end."""
    events: list[ChangeEvent] = [
        FactAdded(seq=1, at=T0, fact=fact("old", "owner", "red")),
        FactAdded(seq=2, at=T0 + DAY, fact=fact("base", "host", "alpha")),
        FactAdded(seq=3, at=T0 + 2 * DAY, fact=fact("stands", "port", "80", depends_on=("base",))),
        FactAdded(seq=4, at=T0 + 3 * DAY, fact=fact("dated", "freeze", "yes", valid_to=T0 + 5 * DAY)),
        FactRevised(seq=5, at=T0 + 4 * DAY, previous="old", current=fact("new", "owner", "blue")),
        TimePassed(seq=6, at=T0 + 6 * DAY),
        FactInvalidated(seq=7, at=T0 + 7 * DAY, fact="base", reason="dropped"),
        FactAdded(seq=8, at=T0 + 8 * DAY, fact=fact("rival", "owner", "green"), announced=False),
        FactAdded(seq=9, at=T0 + 9 * DAY, fact=fact("later", "owner", "white", valid_from=T0 + 30 * DAY)),
    ]
    probes = [Probe(id="p", question="Who owns svc?", subject="svc", predicate="owner", tests="revision")]
    return Timeline.of(Header(id="x", domains={"TECH": Domain(window_days=90)}), events, probes)


def seen(*answers: tuple[int, tuple[Hit, ...]]) -> Observations:
    stages = tuple(StageSeen(seq=seq, asked=(Asked("p", hits),)) for seq, hits in answers)
    return Observations(head=Head(timeline=TimelineId(id="x")), stages=stages)


def test_what_ended_each_stale_hit(exam: Timeline) -> None:
    hits = tuple(Hit(name, 0.9) for name in ("old", "stands", "dated", "base", "new"))
    (found,) = evidence(exam, seen((9, hits)))
    ends = {each.hit.fact: each.end for each in found.hits}
    assert ends == {
        "old": "superseded 2026-01-09 (seq 5) by new: svc owner blue",
        "stands": "fell 2026-01-12 (seq 7) with its support base: svc host alpha",
        "dated": "reached its stated end 2026-01-11",
        "base": "invalidated 2026-01-12 (seq 7): dropped",
        "new": "contradicted 2026-01-13 (seq 8) by rival: svc owner green [the memory was not told]",
    }
    assert found.truth == ("svc owner green  (rival, since 2026-01-13, never announced)",)


def test_states(exam: Timeline) -> None:
    case = Case(exam)
    probe = exam.probes[0]

    def state(name: str | None, stage: int) -> str:
        return case.hit(probe, stage, Hit(name, 0.5)).state

    assert state("old", 0) == "current"
    assert state("old", 4) == "stale"
    assert state("later", 8) == "early"
    assert state("later", 0) == state(None, 8) == state("no such fact", 8) == "unattributed"


def test_the_worst_comes_first_and_once(exam: Timeline) -> None:
    wrong, half, right = (Hit("old", 0.9),), (Hit("new", 0.9), Hit("old", 0.8)), (Hit("new", 0.9),)
    both = (Hit("old", 0.9), Hit("base", 0.8))
    found = evidence(exam, seen((5, half), (6, wrong), (7, wrong), (8, both)))
    assert [(each.seq, each.stages) for each in found] == [(8, 1), (6, 3)]
    hedged = (Hit("old", 0.9, 0.5, "hedge"),)
    assert [each.seq for each in evidence(exam, seen((5, hedged), (6, wrong)))] == [6]
    assert evidence(exam, seen((5, right))) == []
    assert [each.seq for each in evidence(exam, seen((5, right)), probe="p")] == [5]
    assert len(evidence(exam, seen((5, half), (8, both)), worst=1)) == 1


def test_an_unknown_probe_lists_the_known_ones(exam: Timeline) -> None:
    with pytest.raises(BadInput, match="unknown probe 'q': expected one of p"):
        evidence(exam, seen(), probe="q")


def test_it_fits_a_terminal_and_colours_only_if_asked(tmp_path: Path) -> None:
    place = Place("cell", tmp_path, Hashing.dim, 50)
    sat = tiny(rounds=6)
    stack = LayeredMemory(lambda: open_store(place, {}), layers.parse(()), Hashing())
    found = evidence(sat, observe(stack, sat), worst=10)
    assert len(found) == 10
    long = structs.replace(found[0], truth=("word " * 60, "unbroken" * 30))
    text = render([*found, long])
    assert max(map(len, text.splitlines())) <= WIDTH
    narrow = f"{LEGEND}\n{render([*found, long], width=40)}"
    assert max(map(len, narrow.splitlines())) <= NARROW
    assert render(found, width=NARROW).split() == render(found).split()
    assert "\\x1b" not in text
    coloured = render(found, colour=True)
    assert "\x1b[31m" in coloured
    for part in ("asked", "truth", "answer", "✗", "superseded"):
        assert part in text


def test_an_answer_of_nothing_and_a_truth_of_nothing(exam: Timeline) -> None:
    text = render(evidence(exam, seen((7, ())), probe="p"))
    assert "answer   nothing" in text
    ended = Timeline.of(
        exam.header,
        [*exam.events, FactInvalidated(seq=10, at=T0 + 10 * DAY, fact="new", reason="dropped"),
         FactInvalidated(seq=11, at=T0 + 11 * DAY, fact="rival", reason="dropped", announced=False)],
        exam.probes,
    )  # fmt: skip
    assert "I don't know" in render(evidence(ended, seen((11, ())), probe="p"))
