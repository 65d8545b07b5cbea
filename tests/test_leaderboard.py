"""Leaderboards: exactly the format, honest about what failed, and never of two different exams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from memrot import leaderboard, run
from memrot.errors import BadInput
from memrot.leaderboard import Board
from memrot.leaderboard.rows import METRICS, OUTCOMES, Leaderboard, comparable, grouped
from memrot.leaderboard.rows import row as row_of
from memrot.leaderboard.tables import Format, ordered
from memrot.results import RunFolder
from memrot.run import Request
from running import tiny

STACKS = ("exact", "exact+supersession", "exact+all", "exact+overwrite")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    home = tmp_path_factory.mktemp("run")
    return measured(home, "whole", *STACKS)


@pytest.fixture(scope="module")
def board(folder: RunFolder) -> Board:
    return leaderboard.of(folder)


def measured(home: Path, name: str, *stacks: str, **asked: Any) -> RunFolder:
    exams = []
    for seed in (1, 2):
        exams.append(home / f"tiny-{seed}.timeline.jsonl")
        tiny(seed).write(exams[-1])
    request = Request(
        stacks=stacks, scenarios=tuple(map(str, exams)), out=home / name, embedder="hashing", jobs=2, **asked
    )
    return run.run(request)


def test_the_format(board: Board) -> None:
    """FORMATS.md, leaderboard.json: these keys and no others."""
    table = json.loads(leaderboard.render(board, "json"))
    assert list(table)[:4] == ["type", "format", "suite", "scoring"]
    assert set(table) == {
        "type",
        "format",
        "suite",
        "scoring",
        "k",
        "forget_within",
        "embedder",
        "timelines",
        "rows",
    }
    assert (table["type"], table["format"], table["k"], table["forget_within"]) == ("leaderboard", 1, 5, 3)
    assert table["embedder"].keys() == {"name", "fingerprint", "lexical"}
    assert [each["seed"] for each in table["timelines"]] == [1, 2]
    assert all(each.keys() == {"id", "revision", "seed", "digest"} for each in table["timelines"])
    for row in table["rows"]:
        assert set(row) == {
            "stack", "kind", "adapter", "layers", "deployment", "version", "filters", "clock", "outcome", "cells",
            "reason", "rank", "metrics", "leaks", "leaks_hedged", "latency_ms",
        }  # fmt: skip
        assert set(row["metrics"]) == set(METRICS)
        assert set(row["cells"]) == set(OUTCOMES)
        assert set(row["latency_ms"]) == {"p50", "p95"}
        for leaks in (row["leaks"], row["leaks_hedged"]):
            assert list(leaks) == ["ttl", "supersession", "propagation", "unknowable"]
        for estimate in filter(None, row["metrics"].values()):
            assert set(estimate) == {"mean", "low", "high", "n"}
    everything = next(row for row in table["rows"] if row["stack"] == "exact+all")
    assert everything["layers"] == ["ttl", "supersession", "propagation"]
    assert everything["filters"] == "pre-filter"
    kinds = {row["stack"]: row["kind"] for row in table["rows"]}
    assert {name for name, kind in kinds.items() if kind == "control"} == {
        "oracle", "listener", "hoarder", "amnesiac", "over-deleter", "newest",
    }  # fmt: skip
    assert msgspec.convert(table, Leaderboard) == board.table


def test_what_is_written_is_what_is_printed(folder: RunFolder, board: Board) -> None:
    leaderboard.write(folder, board)
    assert (folder.path / "leaderboard.json").read_text() == leaderboard.render(board, "json") + "\n"
    assert leaderboard.render(board, "markdown") in (folder.path / "LEADERBOARD.md").read_text()


def test_text_and_markdown_say_what_a_reader_must_know(board: Board) -> None:
    shapes: tuple[Format, ...] = ("table", "markdown")
    for shape in shapes:
        text = leaderboard.render(board, shape)
        assert "exact stores should tie; a difference is a finding" in text
        assert "hoarding wins it" in text
        assert "LEXICAL" in text
        assert "OWNERSHIP 30 d" in text
        assert f"test/tiny r1: 1 {board.table.timelines[0].digest[:12]}, 2 " in text
        assert "the exam is sound" in text
        assert text.index("backend by layer set") < text.index("Every stack")
        for row in board.table.rows:
            assert row.stack in text
    narrow, wide = leaderboard.render(board), leaderboard.render(board, wide=True)
    assert "silent contradiction" not in narrow
    assert "silent contradiction" in wide


def test_the_best_comes_first_and_controls_last(board: Board) -> None:
    rows = ordered(board)
    stacks = [row for row in rows if row.kind == "stack"]
    assert rows[: len(stacks)] == stacks
    means = [row.metrics["lifecycle"].mean for row in stacks if row.metrics["lifecycle"]]
    assert means == sorted(means, reverse=True)
    assert stacks[-1].stack == "exact"


@pytest.mark.parametrize("by", ["domain", "scenario", "question", "layer", "reason"])
def test_breakdowns(board: Board, by: leaderboard.By) -> None:
    text = leaderboard.broken_down(board, by)
    if by == "layer":
        assert "supersession" in text
        assert "exact+all" not in text
    else:
        assert "exact+all" in text
    expected = {
        "domain": "TECH",
        "scenario": "tiny",
        "question": "non-contamination",
        "layer": "bare",
        "reason": "dropped",
    }
    assert expected[by] in text
    assert "|" in leaderboard.broken_down(board, by, "markdown")


def test_an_error_takes_the_rank_and_nothing_else(folder: RunFolder) -> None:
    """A row with an error keeps its metrics over what it answered, its counts, and no rank."""
    cells = folder.scored()
    failing = next(cell for cell in cells if grouped([cell]).keys() == {"exact+all"})
    failed = [
        structs.replace(cell, outcome="errored", reason="it fell", scores=None) if cell is failing else cell
        for cell in cells
    ]
    rows = grouped(failed)
    (group,) = comparable(rows)
    assert set(group) == {"exact", "exact+supersession", "exact+overwrite"}
    row = row_of("exact+all", rows["exact+all"], None)
    assert (row.outcome, row.reason, row.rank) == ("errored", "it fell", None)
    assert row.cells == {"answered": 1, "errored": 1, "unsupported": 0, "unavailable": 0, "skipped": 0}
    assert row.metrics["lifecycle"] is not None
    assert row.metrics["lifecycle"].n == 1
    nothing = row_of("exact+all", [cell for cell in rows["exact+all"] if cell.outcome == "errored"], None)
    assert nothing.leaks == nothing.leaks_hedged == {}, "no answer is no zero"


def test_two_versions_of_a_backend_are_two_rows(folder: RunFolder) -> None:
    cells = [
        cell for cell in folder.scored() if cell.cell.stack.adapter == "exact" and not cell.cell.stack.layers
    ]
    newer = [
        structs.replace(
            cell, cell=structs.replace(cell.cell, stack=structs.replace(cell.cell.stack, version="9.9"))
        )
        for cell in cells
    ]
    assert list(grouped([*cells, *newer])) == [
        f"exact (NumPy {cells[0].cell.stack.version} in process)", "exact (NumPy 9.9 in process)",
    ]  # fmt: skip


def test_runs_of_one_exam_are_merged(folder: RunFolder, tmp_path: Path) -> None:
    other = measured(tmp_path, "other", "exact+ttl", "exact")
    merged = leaderboard.of(folder, other)
    names = [row.stack for row in merged.table.rows]
    assert set(names) == {row.stack for row in leaderboard.of(folder).table.rows} | {"exact+ttl"}
    assert len(names) == len(set(names)), "controls and shared stacks stand once"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"k": 2}, r"their k differ \(5 and 2\)"),
        ({"forget_within": 1}, r"their forget-within differ \(3 and 1\)"),
    ],
)
def test_runs_of_different_exams_are_refused(
    folder: RunFolder, tmp_path: Path, asked: dict[str, Any], reason: str
) -> None:
    other = measured(tmp_path, "other", "exact", **asked)
    with pytest.raises(BadInput, match=reason):
        leaderboard.of(folder, other)


def test_runs_of_different_timelines_or_embedders_are_refused(folder: RunFolder, tmp_path: Path) -> None:
    exam = tmp_path / "x.timeline.jsonl"
    tiny(7).write(exam)
    other = run.run(
        Request(stacks=("exact",), scenarios=(str(exam),), out=tmp_path / "a", embedder="hashing", jobs=1)
    )
    with pytest.raises(
        BadInput, match=r"their timelines differ \(2 only in the first, 1 only in the second\)"
    ):
        leaderboard.of(folder, other)
    manifest = other.manifest()
    settings = folder.manifest().settings
    terms = structs.replace(
        settings.terms, embedder=structs.replace(settings.terms.embedder, fingerprint="other")
    )
    other.write_manifest(structs.replace(manifest, settings=structs.replace(settings, terms=terms)))
    with pytest.raises(BadInput, match="their embedder differ"):
        leaderboard.of(folder, other)


def test_a_broken_exam_is_said(folder: RunFolder) -> None:
    cells = folder.scored()
    broken = []
    for cell in cells:
        if cell.cell.stack.adapter == "oracle" and cell.scores is not None:
            scores = structs.replace(cell.scores, cell={**cell.scores.cell, "lifecycle": 0.9})
            broken.append(structs.replace(cell, scores=scores))
        elif cell.cell.stack.adapter != "newest":
            broken.append(cell)
    said, _ = leaderboard._controlled(folder, broken, folder.manifest().settings.timelines)
    assert said == ["test/tiny seed 1: no scores of newest", "test/tiny seed 2: no scores of newest"]
    whole = [*broken, *(cell for cell in cells if cell.cell.stack.adapter == "newest")]
    said, _ = leaderboard._controlled(folder, whole, folder.manifest().settings.timelines)
    assert said[0] == "test/tiny seed 1: oracle: expected lifecycle = 1, got 0.9000"
    board = leaderboard.of(folder)
    text = leaderboard.render(Board(table=board.table, cells=board.cells, broken=said, leaking=3))
    assert "THE EXAM IS BROKEN" in text
    assert "3 leaking probes" in text
