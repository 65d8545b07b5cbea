"""Releases: small, whole, derived from what was observed, and cited by an id that can be checked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from memrot import leaderboard, publish
from memrot.cli import exits
from memrot.errors import BadInput
from memrot.publish.differences import differences, first_line
from memrot.publish.release import MOST_BYTES
from memrot.results import RunFolder, file_digest, published_scores
from releases import SCORES, edit_json, edit_mean, found, tiny_run
from running import inside


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return tiny_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def made(whole: RunFolder) -> Path:
    release = whole.path.parent / "results" / "1.0.0"
    publish.publish(whole, release)
    return release


@pytest.fixture
def release(made: Path, tmp_path: Path) -> RunFolder:
    """A copy to tamper with."""
    return RunFolder(Path(shutil.copytree(made, tmp_path / "release")))


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
    copy.write_manifest(manifest)
    torn = copy.timeline_path(manifest.settings.timelines[0])
    torn.write_bytes(b"torn")
    with pytest.raises(BadInput, match=re.escape(f"{torn}:1: damaged or truncated gzip")):
        publish.publish(copy, tmp_path / "release")
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}, "nothing is left behind"


def test_a_release_is_small(whole: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_BYTES == 10_000_000
    monkeypatch.setattr("memrot.publish.release.MOST_BYTES", 10_000)
    with pytest.raises(BadInput, match=r"MB: a release takes at most 0\.01 MB"):
        publish.publish(whole, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


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
