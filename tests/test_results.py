"""Run folders: what cannot be read is said in one line, and nothing torn is believed."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from memrot.cells import Cell, Terms
from memrot.controls import CONTROLS
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.observations import EmbedderId, Footer, Head, StackId, identity_of, write
from memrot.results import (
    Manifest,
    RunFolder,
    Scored,
    Settings,
    decode,
    difference,
    encode,
    newest_incomplete,
    score_cell,
    unscored,
)
from running import tiny

TERMS = Terms(suite="1", embedder=EmbedderId(name="e", fingerprint="f"))


def kept(path: Path, *, finished: bool = True, seeds: int = 2) -> RunFolder:
    """A finished run of the listener over tiny timelines, made without processes."""
    folder = RunFolder(path)
    cells, exams = [], [tiny(seed) for seed in range(1, seeds + 1)]
    for exam in exams:
        identity = identity_of(exam)
        exam.write(folder.timeline_path(identity))
        cell = Cell.of("control", StackId(adapter="listener"), identity, TERMS)
        cells.append(cell)
        head = Head(timeline=identity, cell=cell.name, stack=cell.stack)
        write(folder.file_of(cell), observe(CONTROLS["listener"](exam), exam, head=head))
    settings = Settings(stacks=(), timelines=tuple(map(identity_of, exams)), terms=TERMS, memrot="1")
    folder.write_manifest(
        Manifest(
            settings=settings, cells=tuple(cells), versions={}, machine={}, started="2026-01-01T00:00:00Z",
            finished="2026-01-01T00:01:00Z" if finished else None,
        )
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return kept(tmp_path_factory.mktemp("run") / "a")


@pytest.fixture
def copy(run: RunFolder, tmp_path: Path) -> RunFolder:
    shutil.copytree(run.path, tmp_path / "copy")
    return RunFolder(tmp_path / "copy")


def test_scores_are_derived_and_a_kept_line_is_the_same(copy: RunFolder) -> None:
    derived = copy.scored()
    assert [each.outcome for each in derived] == ["answered", "answered"]
    assert derived[0].scores is not None
    assert derived[0].scores.cell["coverage"] == 1
    for each in derived:
        assert decode(encode(each)) == each
        copy.append(encode(each))
    assert copy.known() == {each.cell.name: each for each in derived}
    assert copy.scored() == derived


def test_a_kept_line_of_other_observations_counts_for_nothing(copy: RunFolder) -> None:
    first = copy.scored()[0]
    assert first.scores is not None
    copy.append(encode(structs.replace(first, scores=structs.replace(first.scores, cell={"coverage": 0.5}))))
    assert copy.scored()[0] != first, "believed while the file is the one it came from"
    seen = copy.observations(first.cell)
    write(copy.file_of(first.cell), structs.replace(seen, head=structs.replace(seen.head, started="later")))
    assert copy.scored()[0].scores == first.scores


def test_torn_lines_of_scores_are_left_out(copy: RunFolder) -> None:
    lines = [encode(each) for each in copy.scored()]
    (copy.path / "scores.jsonl").write_bytes(lines[0] + b"\n" + lines[1][:-30])
    copy.append(lines[1])
    assert len(copy.known()) == 2
    (copy.path / "scores.jsonl").write_bytes(b"\xff\x00{}\n[]\n" + lines[0])
    assert len(copy.known()) == 1
    (copy.path / "scores.jsonl").write_bytes(lines[0].replace(b'"scoring":1', b'"scoring":0'))
    assert copy.known() == {}


def test_missing_and_incomplete_cells(copy: RunFolder) -> None:
    cell = copy.manifest().cells[1]
    seen = copy.observations(cell)
    write(copy.file_of(cell), structs.replace(seen, footer=None))
    with pytest.raises(BadInput, match=rf"{cell.name}.*no footer: the cell is incomplete"):
        copy.scored()
    copy.file_of(cell).unlink()
    with pytest.raises(
        BadInput, match="1 of 2 cells are missing: the same memrot run with this --out goes on"
    ):
        copy.scored()


def test_another_cells_observations_are_refused(copy: RunFolder) -> None:
    first, second = copy.manifest().cells
    shutil.copy(copy.file_of(second), copy.file_of(first))
    with pytest.raises(BadInput, match="of another timeline"):
        copy.scored()


def test_another_timeline_is_refused(copy: RunFolder) -> None:
    first, second = copy.manifest().settings.timelines
    shutil.copy(copy.timeline_path(second), copy.timeline_path(first))
    with pytest.raises(BadInput, match="not the timeline that was sat"):
        copy.scored()


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_garbage_in_any_file_is_one_line(copy: RunFolder, garbage: bytes) -> None:
    manifest = copy.path / "manifest.json"
    files = [
        manifest,
        copy.file_of(copy.manifest().cells[0]),
        copy.timeline_path(copy.manifest().cells[0].timeline),
    ]
    for path in files:
        whole = path.read_bytes()
        try:
            path.write_bytes(garbage)
            with pytest.raises(BadInput) as caught:
                copy.scored()
            assert path.name in str(caught.value)
            assert len(str(caught.value).splitlines()) == 1
        finally:
            path.write_bytes(whole)


@given(cut=st.integers(1, 400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_a_truncated_file_is_one_line(copy: RunFolder, cut: int) -> None:
    for path in (copy.path / "manifest.json", copy.file_of(copy.manifest().cells[0])):
        whole = path.read_bytes()
        try:
            path.write_bytes(whole[: -min(cut, len(whole))])
            if path.suffix == ".json" and cut == 1:
                continue  # the last line's end
            with pytest.raises(BadInput, match=path.name):
                copy.scored()
        finally:
            path.write_bytes(whole)


def test_a_newer_manifest_is_refused(copy: RunFolder) -> None:
    manifest = copy.path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(BadInput, match="format 2 is newer than this memrot reads"):
        copy.manifest()


def test_the_newest_incomplete_run_of_the_same_settings(tmp_path: Path) -> None:
    assert newest_incomplete(
        tmp_path, kept(tmp_path / "2026-01-03", finished=False, seeds=1).manifest().settings
    )
    asked = kept(tmp_path / "2026-01-01", finished=False).manifest().settings
    assert kept(tmp_path / "2026-01-02", finished=False).manifest().settings == asked
    (tmp_path / "2026-01-05").mkdir()
    (tmp_path / "2026-01-05" / "manifest.json").write_text("{")
    found = newest_incomplete(tmp_path, asked)
    assert found is not None
    assert found.name == "2026-01-02"
    whole = kept(tmp_path / "2026-01-04")
    assert not whole.complete(), "measured, but its leaderboard is not written"
    whole.write_text("leaderboard.json", "{}")
    assert whole.complete()
    found = newest_incomplete(tmp_path, asked)
    assert found is not None
    assert found.name == "2026-01-02"


def test_differences_in_words(run: RunFolder) -> None:
    asked = run.manifest().settings
    assert difference(asked, asked) is None
    assert difference(asked, structs.replace(asked, memrot="2")) == "its memrot is 2, not 1"
    more = difference(structs.replace(asked, stacks=("a", "b")), structs.replace(asked, stacks=("b", "c")))
    assert more == "its stacks differ: without a; with c"


def test_an_outcome_without_answers(run: RunFolder, tmp_path: Path) -> None:
    cell = run.manifest().cells[0]
    path = tmp_path / "x.observations.jsonl.gz"
    seen = structs.replace(
        run.observations(cell), footer=Footer(outcome="errored", reason="it fell"), stages=()
    )
    write(path, seen)
    scored = unscored(cell, seen, path)
    assert (scored.outcome, scored.reason, scored.scores) == ("errored", "it fell", None)
    assert score_cell(cell, seen, run.timeline(cell.timeline), path) == scored
    assert msgspec.json.decode(encode(scored), type=Scored) == scored


def test_locked(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "new" / "deep")
    with (
        folder.locked(),
        pytest.raises(BadInput, match="another memrot run"),
        RunFolder(folder.path).locked(),
    ):
        pass
    assert not (tmp_path / "new").exists(), "a folder in which nothing was written is not left behind"
    with folder.locked():
        folder.write_text("manifest.json", "{}")
    assert folder.exists()
    (tmp_path / "file").write_text("")
    unwritable = RunFolder(tmp_path / "file" / "x")
    with pytest.raises(BadInput, match="cannot be written: Not a directory"), unwritable.locked():
        pass
