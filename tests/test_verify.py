"""Verification: whoever edits one observation, one score, one row or one digest is found out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from memrot import observations, publish, registry
from memrot.cells import Cell
from memrot.errors import BadInput
from memrot.model import FactInvalidated
from memrot.results import RunFolder, file_digest
from memrot.timeline import Timeline
from releases import SCORES, edit_json, edit_mean, edit_scores, found, measured, tiny_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("made")
    publish.publish(tiny_run(home), home / "release")
    return home / "release"


@pytest.fixture
def release(made: Path, tmp_path: Path) -> RunFolder:
    """A copy to tamper with."""
    return RunFolder(Path(shutil.copytree(made, tmp_path / "release")))


def cell_of(release: RunFolder, stack: str = "exact") -> Cell:
    return next(cell for cell in release.manifest().cells if cell.name.startswith(f"{stack}--"))


def edit_observations(release: RunFolder, **changed: Any) -> Path:
    path = release.file_of(cell_of(release))
    seen = observations.read(path)
    observations.write(path, structs.replace(seen, **changed))
    return path


def last_stage(release: RunFolder) -> tuple[tuple[observations.StageSeen, ...], observations.StageSeen]:
    seen = observations.read(release.file_of(cell_of(release)))
    return seen.stages[:-1], seen.stages[-1]


def test_one_edited_observation(release: RunFolder) -> None:
    before, last = last_stage(release)
    probe = next(each for each in last.asked if len(each.hits) > 1)
    better = structs.replace(probe, hits=probe.hits[1:])  # one stale hit less
    asked = tuple(better if each is probe else each for each in last.asked)
    path = edit_observations(release, stages=(*before, structs.replace(last, asked=asked)))
    assert f"{SCORES}: {path.name.partition('.')[0]}: observed is " in found(release)
    name, digest = cell_of(release).name, file_digest(path)
    edit_scores(
        release,
        lambda lines: [each.update(observed=digest) for each in lines if each["cell"]["name"] == name],
    )
    said = found(release)
    assert f"{SCORES}: {name}: scores.cell." in said, "also where the digest was put right"
    assert "leaderboard.json: row exact: metrics." in said


def test_one_edited_score(release: RunFolder) -> None:
    def edit(lines: list[Any]) -> None:
        lines[1]["scores"]["cell"]["lifecycle"] += 1e-6

    edit_scores(release, edit)
    (only,) = publish.verify(release.path).findings
    assert f"{SCORES}: exact+all--test-tiny-s1" in only
    assert "scores.cell.lifecycle is 1.000001, expected 1.0" in only


def test_what_later_versions_add_and_leave_empty_is_no_edit(release: RunFolder) -> None:
    edit_scores(release, lambda lines: [line.pop("erased") for line in lines])
    assert found(release) == ""


def drop_a_row(table: Any) -> None:
    del table["rows"][0]


def add_a_row(table: Any) -> None:
    table["rows"].append({**table["rows"][0], "stack": "ours"})


def edit_outcomes(table: Any) -> None:
    table["rows"][1]["cells"]["answered"] -= 1


def edit_k(table: Any) -> None:
    table["k"] = 10


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (edit_mean, "row exact: metrics.lifecycle.mean is "),
        (drop_a_row, "row exact is missing"),
        (add_a_row, "row ours: no cell of it is here"),
        (edit_outcomes, "row exact+all: cells.answered is 1, expected 2"),
        (edit_k, "the header: k is 10, expected 5"),
    ],
)
def test_one_edited_row(release: RunFolder, edit: Callable[[Any], None], said: str) -> None:
    edit_json(release.path / "leaderboard.json", edit)
    (only,) = publish.verify(release.path).findings
    assert f"leaderboard.json: {said}" in only


def test_one_edited_line_of_the_page(release: RunFolder) -> None:
    page = release.path / "LEADERBOARD.md"
    lines = page.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("| exact+all"))
    lines[place] = lines[place].replace("0.", "1.", 1)
    page.write_text("\n".join(lines) + "\n")
    (only,) = publish.verify(release.path).findings
    assert f"LEADERBOARD.md: line {place + 1} is " in only


def edit_timeline_digest(manifest: Any) -> None:
    manifest["settings"]["timelines"][0]["digest"] = "0" * 64


def edit_cell_digest(manifest: Any) -> None:
    manifest["cells"][0]["timeline"]["digest"] = "0" * 64


def edit_fingerprint(manifest: Any) -> None:
    manifest["settings"]["terms"]["embedder"]["fingerprint"] = "better"


def edit_version(manifest: Any) -> None:
    manifest["cells"][0]["stack"]["version"] = "9.9"


def edit_note(manifest: Any) -> None:
    manifest["cells"][0]["stack"]["note"] = "certified"


def drop_a_cell(manifest: Any) -> None:
    del manifest["cells"][0]


def drop_all_cells_of_a_stack(manifest: Any) -> None:
    manifest["cells"] = [cell for cell in manifest["cells"] if cell["stack"]["layers"]]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (edit_timeline_digest, "row exact: sat other timelines than were asked for"),
        (edit_cell_digest, "its name should be exact--test-tiny-s1--"),
        (edit_fingerprint, "its header differs from the manifest's terms"),
        (edit_version, "its name should be exact--test-tiny-s1--"),
        (edit_note, "its header describes another stack than the manifest"),
        (drop_a_cell, "row exact: has 1 cells, expected one for each of the 2 timelines"),
        (drop_all_cells_of_a_stack, "row exact: has 0 cells"),
    ],
)
def test_one_edited_digest_or_name_of_the_manifest(
    release: RunFolder, edit: Callable[[Any], None], said: str
) -> None:
    edit_json(release.path / "manifest.json", edit)
    assert said in found(release)


def test_one_edited_digest_of_the_scores(release: RunFolder) -> None:
    edit_scores(release, lambda lines: lines[0].update(observed="0" * 64))
    (only,) = publish.verify(release.path).findings
    assert 'observed is "00000000' in only


def test_one_edited_digest_of_the_observations(release: RunFolder) -> None:
    head = observations.read(release.file_of(cell_of(release))).head
    other = structs.replace(head.timeline, digest="0" * 64)
    path = edit_observations(release, head=structs.replace(head, timeline=other))
    assert f"{path}: the observations are of another timeline" in found(release)


def test_what_was_not_asked_or_answered_is_found(release: RunFolder) -> None:
    before, last = last_stage(release)
    path = edit_observations(release, stages=before)
    said = found(release)
    assert f"{path}: answers {len(before)} stages, expected {len(before) + 1}" in said
    assert f"{path}: its footer counts {len(before) + 1} stages" in said
    edit_observations(release, stages=(*before, structs.replace(last, asked=last.asked[1:])))
    assert f"{path}: stage {last.seq}: the questions are not those of the exam" in found(release)


def test_files_that_vanish_are_torn_or_are_too_many(release: RunFolder) -> None:
    path = release.file_of(cell_of(release))
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert f"{path}:" in found(release)
    path.rename(path.with_name("mine.observations.jsonl.gz"))
    said = found(release)
    assert f"{path}: cannot be read" in said
    assert "cells/mine.observations.jsonl.gz: not in the manifest" in said
    path.with_name("mine.observations.jsonl.gz").unlink()
    path.write_bytes(whole)
    assert found(release) == ""
    for name in (SCORES, "leaderboard.json", "LEADERBOARD.md"):
        kept = (release.path / name).read_bytes()
        (release.path / name).unlink()
        assert "cannot be read" in found(release)
        (release.path / name).write_bytes(kept)
    edit_scores(release, lambda lines: lines.pop())
    assert "holds 15 lines, expected 16: one for each cell" in found(release)
    (release.path / "manifest.json").write_text("{}")
    (only,) = publish.verify(release.path).findings
    assert "expected the manifest of a run" in only


def eased(exam: Timeline) -> Timeline:
    """The same exam without its first invalidation."""
    dropped = next(event for event in exam.events if isinstance(event, FactInvalidated))
    return Timeline.of(exam.header, [event for event in exam.events if event is not dropped], exam.probes)


def test_an_eased_exam_is_found_by_its_seed(tmp_path: Path) -> None:
    """Also where every digest and every name is right: another timeline, honestly measured. The genuine
    one beside it gives no finding."""
    genuine = registry.scenario("project/boundary-shift").generate(1)
    easy = eased(genuine)
    easy.write(tmp_path / "eased.timeline.jsonl")
    folder = measured(
        tmp_path, "project/boundary-shift", str(tmp_path / "eased.timeline.jsonl"), stacks=("exact",)
    )
    report = publish.verify(folder.path)
    said = f"its seed gives the digest {genuine.digest[:12]}, not {easy.digest[:12]}"
    assert [finding.partition(": ")[2] for finding in report.findings] == [
        f"timeline project/boundary-shift seed 1: {said}"
    ]
    assert report.notes == ()
    assert (report.cells, report.timelines) == (7, 1)


def test_a_folder_that_is_not_there_has_claimed_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected a folder of results"):
        publish.verify(tmp_path / "resluts")
