"""Releases: small, whole, derived from what was observed; whoever edits one is found out."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from memrot import leaderboard, observations, publish, registry, run
from memrot.cells import Cell
from memrot.cli import exits
from memrot.errors import BadInput
from memrot.model import FactInvalidated
from memrot.publish.differences import differences, first_line
from memrot.publish.release import MOST_BYTES
from memrot.results import RunFolder, file_digest, published_scores
from memrot.run import Request
from memrot.timeline import Timeline
from running import inside, tiny

SCORES = published_scores(1)
STACKS = ("exact", "exact+all")


def measured(home: Path, *scenarios: str, stacks: tuple[str, ...] = STACKS) -> RunFolder:
    folder = run.run(
        Request(stacks=stacks, scenarios=scenarios, seeds=1, out=home / "run", embedder="hashing", jobs=2)
    )
    leaderboard.write(folder, leaderboard.of(folder))
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run over two tiny timelines, from files."""
    home = tmp_path_factory.mktemp("whole")
    for seed in (1, 2):
        tiny(seed).write(home / f"{seed}.timeline.jsonl")
    return measured(home, *(str(home / f"{seed}.timeline.jsonl") for seed in (1, 2)))


@pytest.fixture(scope="module")
def made(whole: RunFolder) -> Path:
    release = whole.path.parent / "results" / "1.0.0"
    publish.publish(whole, release)
    return release


@pytest.fixture
def release(made: Path, tmp_path: Path) -> RunFolder:
    """A copy to tamper with."""
    return RunFolder(Path(shutil.copytree(made, tmp_path / "release")))


def found(release: RunFolder) -> str:
    return "\n".join(publish.verify(release.path).findings)


# --- a release -------------------------------------------------------------------------------


def test_a_release_verifies_and_loses_nothing(whole: RunFolder, made: Path) -> None:
    report = publish.verify(made)
    assert report.findings == ()
    assert (report.cells, report.timelines) == (16, 2)
    assert {path.name for path in made.iterdir()} == {
        "manifest.json", "cells", "timelines", SCORES, "leaderboard.json", "LEADERBOARD.md",
    }  # fmt: skip
    for cell in whole.manifest().cells:
        assert RunFolder(made).file_of(cell).read_bytes() == whole.file_of(cell).read_bytes()
    assert RunFolder(made).scored() == whole.scored()
    assert len(RunFolder(made).known()) == 16, "its scores are read, not derived again"
    assert leaderboard.of(RunFolder(made)).table == leaderboard.of(whole).table


def test_a_run_verifies_as_it_is(whole: RunFolder) -> None:
    assert publish.verify(whole.path).findings == ()


def test_what_scenarios_installed_here_do_not_generate_is_said(made: Path) -> None:
    (note,) = publish.verify(made).notes
    assert "2 timelines are not of scenarios installed here (test/tiny revision 1 seed 1, ...)" in note


def test_a_release_is_never_overwritten(whole: RunFolder, made: Path) -> None:
    with pytest.raises(BadInput, match="a release is never overwritten"):
        publish.publish(whole, made)


def test_an_unfinished_or_broken_run_is_not_published(whole: RunFolder, tmp_path: Path) -> None:
    copy = RunFolder(Path(shutil.copytree(whole.path, tmp_path / "copy")))
    manifest = copy.manifest()
    copy.write_manifest(structs.replace(manifest, finished=None))
    with pytest.raises(BadInput, match="the run is not finished"):
        publish.publish(copy, tmp_path / "release")
    copy.write_manifest(
        structs.replace(
            manifest, cells=tuple(cell for cell in manifest.cells if cell.stack.adapter != "oracle")
        )
    )
    with pytest.raises(BadInput, match="the exam is broken: test/tiny seed 1: no scores of oracle"):
        publish.publish(copy, tmp_path / "release")
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}, "nothing is left behind"


def test_a_release_is_small(whole: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 10_000_000
    monkeypatch.setattr("memrot.publish.release.MOST_BYTES", 10_000)
    with pytest.raises(BadInput, match=r"MB: a release takes at most 0\.01 MB"):
        publish.publish(whole, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


# --- edits -----------------------------------------------------------------------------------


def edit_json(path: Path, edit: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value, indent=1) + "\n")


def edit_scores(release: RunFolder, edit: Callable[[list[Any]], object]) -> None:
    path = release.path / SCORES
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    edit(lines)
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


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


def edit_mean(table: Any) -> None:
    table["rows"][0]["metrics"]["lifecycle"]["mean"] += 0.001


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


# --- scorings, ids, the command line ---------------------------------------------------------


def test_two_scorings_are_kept_apart(release: RunFolder) -> None:
    """As if the release had been made before the definitions changed."""
    (release.path / SCORES).rename(release.path / published_scores(0))
    edit_json(release.path / "leaderboard.json", lambda table: table.update(scoring=0))
    old = (release.path / "leaderboard.json").read_text()
    assert "leaderboard.json: the header: scoring is 0, expected 1" in found(release)
    publish.derive(release)
    assert (release.path / "leaderboard-0.json").read_text() == old
    assert {path.name for path in release.path.glob("*-0*")} == {
        "leaderboard-0.json", "LEADERBOARD-0.md", published_scores(0),
    }  # fmt: skip
    report = publish.verify(release.path)
    assert report.findings == ()
    assert any(
        "scores-0.jsonl.gz: of a scoring that this memrot does not compute" in note for note in report.notes
    )


def test_the_command_line(
    whole: RunFolder, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = inside("verify")
    assert (done.returncode, done.stdout) == (exits.OK, "nothing is published in results\n")
    done = inside("publish", whole.path, "results/1.0.0")
    assert done.returncode == exits.OK, done.stderr
    assert "16 cells, 0.1 MB, scoring 1" in done.stdout
    assert "lexical" in done.stderr
    shutil.copytree(made, tmp_path / "results" / "contributed" / "theirs")
    (tmp_path / "results" / "2026-11-30-171234").mkdir()
    done = inside("verify")
    assert done.returncode == exits.OK
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "results/1.0.0", "results/contributed/theirs",
    ]  # fmt: skip
    edit_json(tmp_path / "results" / "1.0.0" / "leaderboard.json", edit_mean)
    done = inside("verify")
    assert done.returncode == exits.UNDER
    assert "results/1.0.0/leaderboard.json: row exact: " in done.stderr
    (tmp_path / "results" / "half").mkdir()
    done = inside("verify")
    assert (done.returncode, done.stderr) == (
        exits.BAD_INPUT, "error: results/half: expected the folder of a run, with its manifest.json\n",
    )  # fmt: skip


def test_what_is_published_is_cited_before_what_is_newer(
    whole: RunFolder, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no finished run here" in inside("cite").stderr
    mine = RunFolder(Path(shutil.copytree(whole.path, tmp_path / "results" / "2026-11-30-171234")))
    edit_json(mine.path / "manifest.json", lambda manifest: manifest["settings"].update(memrot="9.9"))
    assert "version = {9.9}" in inside("cite").stdout
    shutil.copytree(made, tmp_path / "results" / "1.0.0")
    assert "version = {1.0.0}" in inside("cite").stdout


def test_citations_can_be_checked(made: Path) -> None:
    done = inside("cite", made, "--stack", "exact+propagation+supersession+ttl", "--metric", "coverage")
    assert done.returncode == exits.OK, done.stderr
    name = str(publish.verify(made).identity)
    (row,) = [
        row
        for row in json.loads((made / "leaderboard.json").read_text())["rows"]
        if row["stack"] == "exact+all"
    ]
    assert f"coverage {row['metrics']['coverage']['mean']:.3f} (95% interval" in done.stdout
    assert f"`memrot verify FOLDER --id {name}`" in done.stdout
    assert f"@misc{{{name.rpartition('.')[0]}," in done.stdout
    assert inside("verify", made, "--id", name).returncode == exits.OK
    assert inside("verify", made, "--id", name.rpartition(".")[0]).returncode == exits.OK
    done = inside("verify", made, "--id", "memrot-1.0.0-0123456789ab")
    assert done.returncode == exits.UNDER
    assert f"its id is {name}, not memrot-1.0.0-0123456789ab" in done.stderr
    assert "expected one of lifecycle" in inside("cite", made, "--metric", "speed").stderr
    assert "expected one of exact, exact+all, oracle" in inside("cite", made, "--stack", "chroma").stderr


def test_the_same_work_has_the_same_exam_and_another_transcript(whole: RunFolder) -> None:
    manifest = whole.manifest()
    observed = {cell.name: file_digest(whole.file_of(cell)) for cell in manifest.cells}
    first = publish.identity(manifest, observed)
    again = publish.identity(
        structs.replace(manifest, started="later", finished="later", machine={}),
        {name: digest[::-1] for name, digest in observed.items()},
    )
    assert first.exam == again.exam
    assert first.transcript != again.transcript
    newer = tuple(
        structs.replace(cell, stack=structs.replace(cell.stack, version="9.9")) for cell in manifest.cells
    )
    assert publish.identity(structs.replace(manifest, cells=newer), observed).exam != first.exam


def test_an_id_stays_what_it_was_when_terms_are_added(
    whole: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = whole.manifest()
    known = publish.identity(manifest, {})
    terms = manifest.settings.terms
    told = structs.replace(manifest.settings, terms=structs.replace(terms, links_told=0.5))
    assert publish.identity(structs.replace(manifest, settings=told), {}).exam != known.exam
    fields = structs.fields(terms)
    before = [field for field in fields if field.name not in ("swaps", "links_told")]
    monkeypatch.setattr("msgspec.structs.fields", lambda _: before)
    assert publish.identity(manifest, {}).exam == known.exam


def test_texts_part_where_it_is_said() -> None:
    line = "a long line that both texts begin with, then "
    assert first_line(["x", line + "one"], ["x", line + "two"]) == (
        'line 2 is "ts begin with, then one", expected "ts begin with, then two"'
    )
    assert first_line(["x"], ["x", "y"]) == "has 1 lines, expected 2"


def test_differences_are_named_by_their_place() -> None:
    kept = {"a": [1, 2.0, {"b": None}], "c": "x", "d": 1}
    assert list(differences("", kept, kept)) == []
    assert list(differences("", kept, {**kept, "a": [1, 2.0 + 1e-12, {"b": None}]})) == []
    derived = {"a": [1, 2.1, {"b": 0}], "c": "y", "e": True}
    assert list(differences("", kept, derived)) == [
        "a[1] is 2.0, expected 2.1", "a[2].b is null, expected 0", 'c is "x", expected "y"',
        'e is "nothing", expected true', 'd is 1, expected "nothing"',
    ]  # fmt: skip
    assert list(differences("", [1], [1, 2])) == [" is [1], expected [1,2]"]
    assert list(differences("n", True, 1.0)) == ["n is true, expected 1.0"]
