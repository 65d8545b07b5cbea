"""The public reports 15 to 20, on stores, subjects, embedders and runs.

As in ``test_reports``: the right answer comes back from the exact store, a thing that makes the very
mistake does not give it, and a named metric, or an outcome, says so.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray

from memrot import leaderboard, run
from memrot.cells import Cell, Terms
from memrot.embed.base import fingerprint
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.exact import Exact
from memrot.leaderboard.rows import Latency, Row, comparable, row
from memrot.memory import Place, Query, Where
from memrot.model import (
    ChangeEvent,
    EmbedderChanged,
    Fact,
    Instant,
    Question,
    Restarted,
    introduces,
)
from memrot.observations import EmbedderId, StackId, identity_of
from memrot.results import RunFolder, Scored
from memrot.run import Request
from memrot.stack import Embedders, Swap
from reports import Mishearing, Notes, Replay, Report, changed, stack
from running import tiny

# --- stores and subjects -----------------------------------------------------------------------


class Misaligned(Exact):
    """Opened again, it pairs each record with the vector of its neighbour."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        size = len(self._records)
        self._matrix[:size] = np.roll(self._matrix[:size], 1, axis=0)


@pytest.mark.parametrize("layers", ["all", "overwrite"])
def test_15_everything_alive_is_found_by_its_own_text_after_churn_and_a_restart(
    layers: str, tmp_path: Path
) -> None:
    count = 60
    report = Report()
    for n in range(count):
        report.add(0, f"f{n}", "motto", f"svc{n:02}", f"word {n * n} of {n}")
    for n in range(0, count, 4):
        report.revise(1, f"f{n}", f"g{n}", f"sentence {n * 7} and {n}")
    dropped = [n for n in range(count) if n % 5 in (1, 3)]
    for n in dropped:
        report.invalidate(2, f"f{n}" if n % 4 else f"g{n}")
    report.tell(3, Restarted)
    alive = {
        fact.id: fact
        for event in report.events
        if (fact := introduces(event)) is not None
        and int(fact.id[1:]) not in dropped
        and (fact.id.startswith("g") or int(fact.id[1:]) % 4)
    }
    asked = {
        report.ask("motto", each.subject, question=each.text, since=len(report.events)): id_
        for id_, each in alive.items()
    }
    right = Replay(report, stack(tmp_path, layers))
    torn = Replay(report, stack(tmp_path / "torn", layers, store=Misaligned))
    assert len(asked) == 36
    assert {probe: right.hits(3, probe)[0] for probe in asked} == asked
    assert right.cell["coverage"] == 1 > torn.cell["coverage"]
    assert torn.scores.misses["not found by the index"] > 0


class Unfiltering(Exact):
    """Runs no condition by itself: the post-filter does."""

    info = structs.replace(Exact.info, filters=frozenset())


class LateFiltering(Exact):
    """Says that it runs conditions, and runs them on the k nearest of all."""

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        kept = self._mask(where, len(self._records))
        nearest = super().search(queries, (), k)
        return [[(id_, near) for id_, near in hits if kept[self._row[id_]]] for hits in nearest]


def test_16_a_narrow_scope_is_searched_to_its_end(tmp_path: Path) -> None:
    report = Report(k=20)
    for n in range(5000):
        report.add(0, f"f{n}", "member", "guild", f"number {n * 7919 % 5003}", cardinality="many")
    live = [f"f{n}" for n in range(0, 5000, 167)]
    for n in range(5000):
        if f"f{n}" not in live:
            report.invalidate(1, f"f{n}")
    asked = report.ask("member", "guild", tests="sets", since=len(report.events))
    exact = Replay(report, stack(tmp_path, "all"))
    post = Replay(report, stack(tmp_path / "post", "all", store=Unfiltering))
    late = Replay(report, stack(tmp_path / "late", "all", store=LateFiltering))
    texts = [exact.timeline.facts[id_].text for id_ in live]
    question = Hashing().embed([exact.timeline.probes[0].question])[0].astype(np.float64)
    cosines = Hashing().embed(texts).astype(np.float64) @ question
    nearest = sorted(zip(-cosines, live, strict=True))[:20]
    assert len(live) == 30
    assert len(exact.hits(1, asked)) == 20
    assert exact.hits(1, asked) == post.hits(1, asked)
    assert {id_ for near, id_ in nearest if near < nearest[-1][0]} <= set(exact.hits(1, asked))
    assert exact.seen.head.stack.filters == "pre-filter"
    assert post.seen.head.stack.filters.startswith("post-filter")
    assert exact.cell["coverage"] == 20 / 30 > late.cell["coverage"]
    assert exact.scores.misses.keys() == {"outranked"}
    assert late.scores.misses["not found by the index"] > 0


def test_17_one_name_in_two_unicode_forms_is_one_subject(tmp_path: Path) -> None:
    def decomposed(event: ChangeEvent) -> ChangeEvent:
        fact = introduces(event)
        if fact is None or fact.id != "f2":
            return event
        return changed(event, subject=unicodedata.normalize("NFD", fact.subject))

    report = Report()
    name = "caf\u00e9"
    report.add(0, "f1", "owner", name, "red")
    report.add(5, "f2", "owner", unicodedata.normalize("NFD", name), "blue")
    report.wait(6)
    asked = report.ask("owner", unicodedata.normalize("NFD", name), tests="contradiction")
    right = Replay(report, stack(tmp_path, "all"))
    bytewise = Replay(report, Mishearing(stack(tmp_path / "bytes", "all"), decomposed))
    assert {fact.subject for fact in right.timeline.facts.values()} == {name}
    assert right.answer(6, asked) == ["f2"]
    assert sorted(bytewise.answer(6, asked)) == ["f1", "f2"]
    assert right.cell["silent_contradiction"] == 0 < bytewise.cell["silent_contradiction"]
    assert right.leaks["supersession"] == 0 < bytewise.leaks["supersession"]


class Rotated(Hashing):
    """Another model with as many dimensions: nothing fails when its vectors meet the old ones."""

    name = "rotated"
    fingerprint = fingerprint("rotated 1")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(super().embed(texts), 97, axis=1)


def test_18_a_swapped_embedder_is_refused_or_nothing_is_lost_by_it(tmp_path: Path) -> None:
    """With the real models and whole runs: tests/test_swap.py."""
    report = Report(k=2)
    *names, last = ("billing", "checkout", "ledger", "catalog", "search", "refunds", "loyalty")
    for name in names:
        report.add(0, name, "owner", name, f"the {name} crew")
    report.revise(1, "refunds", "refunds 2", "nobody")
    report.tell(2, EmbedderChanged, embedder="rotated")
    report.add(3, last, "owner", last, f"the {last} crew")
    asked = {report.ask("owner", name, tests="embedder_change"): name for name in names[:5]}

    def with_swap(swap: Swap) -> Replay:
        embedders = Embedders(Hashing(), {"rotated": Rotated()})
        return Replay(report, stack(tmp_path / swap, "all", embedders=embedders, swap=swap))

    refused, renewed, silent = (with_swap(swap) for swap in ("refuse", "reembed", "keep"))
    assert refused.outcome == "unsupported"
    assert "another embedder" in str(refused.reason)
    assert {probe: renewed.hits(3, probe)[0] for probe in asked} == asked
    assert silent.outcome == "answered"
    assert renewed.cell["coverage"] == 1 > silent.cell["coverage"]
    assert silent.scores.misses.keys() == {"re-embedded"}


# --- runs --------------------------------------------------------------------------------------


def test_19_a_broken_run_goes_on_where_it_broke_and_mixes_with_no_other(tmp_path: Path) -> None:
    """With runs that are really killed, at any moment: tests/test_resume.py."""
    exams = []
    for seed in (1, 2):
        exams.append(str(tmp_path / f"tiny-{seed}.timeline.jsonl"))
        tiny(seed).write(Path(exams[-1]))

    def sat(name: str, k: int = 5) -> RunFolder:
        stacks = ("exact", "exact+all")
        asked = Request(stacks=stacks, scenarios=tuple(exams), out=tmp_path / name, embedder="hashing", k=k)
        return run.run(structs.replace(asked, jobs=2))

    def table(folder: RunFolder) -> list[Row]:
        unmeasured = Latency(p50=None, p95=None)
        return [structs.replace(row, latency_ms=unmeasured) for row in leaderboard.of(folder).table.rows]

    whole = sat("whole")
    shutil.copytree(whole.path, tmp_path / "broken")
    kept = sorted((tmp_path / "broken" / "cells").iterdir())
    for path in [kept.pop(place) for place in (12, 9, 6, 3, 0)]:
        path.unlink()
    torn = kept.pop()
    torn.write_bytes(torn.read_bytes()[:-40])
    before = {path: path.stat().st_mtime_ns for path in kept}
    resumed = sat("broken")
    assert table(resumed) == table(whole)
    assert {path: path.stat().st_mtime_ns for path in kept} == before

    with pytest.raises(BadInput, match="asked otherwise"):
        sat("broken", k=2)
    # what a mix would do: the cells of the other setting have other names, and another score
    other = sat("other", k=2)
    assert not {cell.cell.name for cell in other.scored()} & {cell.cell.name for cell in whole.scored()}
    bare, narrow = (
        next(row for row in table(folder) if row.stack == "exact").metrics["contamination"]
        for folder in (whole, other)
    )
    assert bare is not None
    assert narrow is not None
    assert bare.mean > narrow.mean


def test_20_a_crash_counts_as_an_error_and_silence_is_no_knowledge(tmp_path: Path) -> None:
    class Fainting(Notes):
        """Falls at its third question."""

        asked = 0

        def found(self, question: Question, at: Instant) -> Sequence[Fact]:
            self.asked += 1
            if self.asked == 3:
                raise ConnectionError("no reply")
            return super().found(question, at)

    class Silent(Notes):
        """Never says anything, which is right where nothing is true."""

        def found(self, question: Question, at: Instant) -> Sequence[Fact]:
            return []

    report = Report()
    report.add(0, "f1", "owner", "svcK", "red")
    report.add(0, "f2", "quota", "svcK", "9")
    report.invalidate(2, "f2", "dropped")
    report.wait(3, 4)
    owner = report.ask("owner", "svcK", tests="preservation")
    quota = report.ask("quota", "svcK", tests="abstention")
    right, silent, fainting = (
        Replay(report, memory) for memory in (stack(tmp_path, "all"), Silent(), Fainting())
    )
    assert (right.answer(4, owner), right.answer(4, quota)) == (["f1"], [])
    assert right.cell["abstention"] == silent.cell["abstention"] == 1
    assert right.cell["false_abstention"] == 0 < silent.cell["false_abstention"]
    assert right.cell["divergence"] == 0 < silent.cell["divergence"]

    assert (right.outcome, fainting.outcome) == ("answered", "errored")
    assert "no reply" in str(fainting.reason)
    names = {"right": right, "fainting": fainting}
    rows = {name: [as_cell(name, replay)] for name, replay in names.items()}
    (ranked,) = comparable(rows)
    assert ranked.keys() == {"right"}
    failed = row("fainting", rows["fainting"], None)
    assert failed.cells == {"answered": 0, "errored": 1, "unsupported": 0, "unavailable": 0, "skipped": 0}
    assert (failed.outcome, failed.rank) == ("errored", None)


def as_cell(name: str, replay: Replay) -> Scored:
    """A replay as the one cell of a leaderboard's row."""
    terms = Terms(suite="1", embedder=EmbedderId())
    cell = Cell.of("stack", StackId(adapter=name), identity_of(replay.timeline), terms)
    answered = replay.scores if replay.outcome == "answered" else None
    return Scored(cell=cell, outcome=replay.outcome, observed="", reason=replay.reason, scores=answered)
