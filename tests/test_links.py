"""Links that are not told: what the memory hears changes, and nothing else does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest
from msgspec import structs

from memories import Dict
from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.leaderboard import by_links, of_shares
from memrot.leaderboard.links import worth
from memrot.links import heard
from memrot.memory import Place
from memrot.model import ChangeEvent, FactAdded, FactRevised, Instant, introduces, is_announced
from memrot.results import RunFolder
from memrot.score import score
from memrot.stack import LayeredMemory
from memrot.timeline import Timeline
from running import exams, inside, memrot


@pytest.fixture(scope="module")
def exam() -> Timeline:
    return registry.scenario("boundary-shift").generate(1, "smoke")


def links(exam: Timeline) -> tuple[int, int]:
    revisions = sum(isinstance(event, FactRevised) for event in exam.events)
    return revisions, sum(len(fact.depends_on) for fact in exam.facts.values())


def told(exam: Timeline, share: float) -> tuple[set[int], set[tuple[str, str]]]:
    """Which revisions still name what they replace, and which dependences are told."""
    events = [heard(exam, share).get(event.seq, event) for event in exam.events]
    facts = [fact for event in events if (fact := introduces(event)) is not None]
    return (
        {event.seq for event in events if isinstance(event, FactRevised)},
        {(fact.id, on) for fact in facts for on in fact.depends_on},
    )


def test_nothing_is_withheld_of_all_and_everything_of_none(exam: Timeline) -> None:
    assert heard(exam, 1) == {}
    assert told(exam, 0) == (set(), set())
    named, stated = told(exam, 1)
    assert (len(named), len(stated)) == links(exam)


def test_a_share_is_told_at_random_and_the_same_each_time(exam: Timeline) -> None:
    revisions, dependences = links(exam)
    assert min(revisions, dependences) > 20
    for share in (0.8, 0.5):
        named, stated = told(exam, share)
        assert heard(exam, share) == heard(exam, share)
        assert len(named) / revisions == pytest.approx(share, abs=0.25)
        assert len(stated) / dependences == pytest.approx(share, abs=0.25)
    other = registry.scenario("boundary-shift").generate(2, "smoke")
    assert heard(exam, 0.5).keys() != heard(other, 0.5).keys()


def test_what_a_smaller_share_tells_a_larger_one_tells_too(exam: Timeline) -> None:
    shares = [told(exam, share) for share in (0, 0.2, 0.5, 0.8, 1)]
    for (few, less), (many, more) in pairwise(shares):
        assert few < many
        assert less < more


def test_only_links_go(exam: Timeline) -> None:
    changed = heard(exam, 0.5)
    for event in exam.events:
        new = changed.get(event.seq, event)
        before, after = introduces(event), introduces(new)
        assert (new.seq, new.at, is_announced(new)) == (event.seq, event.at, is_announced(event))
        if before is None or after is None:
            assert new == event
            continue
        assert structs.replace(after, depends_on=()) == structs.replace(before, depends_on=())
        assert set(after.depends_on) <= set(before.depends_on)


class Noting(Dict):
    """Notes what it hears."""

    heard: ClassVar[list[ChangeEvent]] = []

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.heard.extend(events)
        super().apply(events, at)


def test_the_memory_hears_less_and_is_scored_by_the_same_truth(exam: Timeline) -> None:
    Noting.heard.clear()
    seen = observe(Noting, exam, links_told=0)
    assert seen.head.links_told == 0
    assert seen.head.timeline.digest == exam.digest
    assert not any(isinstance(event, FactRevised) for event in Noting.heard)
    assert not any(fact.depends_on for event in Noting.heard if (fact := introduces(event)))
    announced = [event for event in exam.events if is_announced(event)]
    assert sum(isinstance(event, FactAdded) for event in Noting.heard) == sum(
        introduces(event) is not None for event in announced
    )
    whole = score(exam, observe(Noting, exam))
    assert score(exam, seen).ends == whole.ends
    assert score(exam, seen).cell == whole.cell, "one that uses no links misses none"


def test_propagation_lives_on_what_it_is_told(exam: Timeline, tmp_path: Path) -> None:
    def leaks(share: float) -> int:
        place = Place("links", tmp_path / str(share), Hashing.dim, len(exam.facts))
        memory = LayeredMemory(lambda: Exact(place), parse(["all"], exam.header.exclusive), Hashing())
        found = score(exam, observe(memory, exam, links_told=share))
        return found.leaks.get("propagation", 0) + found.leaks_hedged.get("propagation", 0)

    assert leaks(1) == 0 < leaks(0.5) < leaks(0)


def test_runs_of_two_shares_stand_side_by_side_and_are_never_merged(tmp_path: Path) -> None:
    stacks = ("exact", "exact+supersession", "exact+propagation", "exact+supersession+propagation")
    asked = ["run", *(f"--stack={each}" for each in stacks), *exams(tmp_path, 2), "--embedder=hashing"]
    outs = {share: tmp_path / f"told-{share}" for share in ("1", "0")}
    for share, out in outs.items():
        memrot(*asked, "--links-told", share, "--out", out)
    names = [{cell.name for cell in RunFolder(out).manifest().cells} for out in outs.values()]
    assert not names[0] & names[1], "cells of two shares are not the same work"
    refused = inside("leaderboard", *outs.values())
    assert refused.returncode == 2
    assert "their links-told differ (1.0 and 0.0)" in refused.stderr
    assert "links told 0" in (outs["0"] / "LEADERBOARD.md").read_text()
    assert "links told" not in (outs["1"] / "LEADERBOARD.md").read_text()
    shown = inside("leaderboard", "--by", "links", *outs.values()).stdout
    assert "1 told" in shown
    assert "exact+supersession+propagation" in shown
    memrot("run", "--stack=exact+ttl", *exams(tmp_path, 2), "--embedder=hashing", "--links-told=.5",
           "--out", tmp_path / "half")  # fmt: skip
    mixed = inside("leaderboard", "--by", "links", *outs.values(), tmp_path / "half").stdout
    assert re.search(r"^exact\+ttl +- +0\.\d+[^-]* -$", mixed, re.MULTILINE), (
        "a row of one run alone is shown"
    )
    boards = of_shares(*(RunFolder(out) for out in outs.values()))
    cells = boards[1.0].cells

    def mean(stack: str) -> float:
        row = next(row for row in boards[1.0].table.rows if row.stack == stack)
        estimate = row.metrics["lifecycle"]
        assert estimate is not None
        return estimate.mean

    gain = worth(cells, "supersession")
    assert gain is not None
    assert gain.mean == pytest.approx(
        (mean(stacks[1]) - mean(stacks[0]) + mean(stacks[3]) - mean(stacks[2])) / 2
    )
    assert worth(cells, "ttl") is None
    with pytest.raises(BadInput, match="name some with another --links-told"):
        by_links({1.0: boards[1.0]})
    again = memrot(*asked, "--links-told", "0", "--out", outs["1"])
    assert again.returncode == 2
    assert "its links_told is 1.0, not 0.0" in again.stderr
    wrong = memrot(*asked, "--links-told", "1.5", "--out", tmp_path / "x")
    assert "--links-told: expected a share from 0 to 1, got 1.5" in wrong.stderr
