"""A release folder: made from a finished run, found among results, derived again in its place."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from memrot import leaderboard
from memrot.errors import BadInput
from memrot.leaderboard import Board
from memrot.lines import write_lines
from memrot.publish.verify import verify
from memrot.results import SCORING, RunFolder, Scored, encode, published_scores

MOST_BYTES = 10_000_000
"""Of a whole release: results live in the repository."""

_DATED = re.compile(r"\d{4}-\d\d-\d\d-\d{6}")
"""Folders named by date and time are somebody's own runs."""


def publish(run: RunFolder, release: Path) -> Board:
    """Make a release of a finished run, whole or not at all; raises BadInput saying why it cannot be.

    Nothing is published whose controls failed, that is too large, or that does not verify.
    """
    if release.exists() and (not release.is_dir() or any(release.iterdir())):
        raise BadInput("there is something here already: a release is never overwritten", file=str(release))
    manifest = run.manifest()
    if manifest.finished is None:
        raise BadInput("the run is not finished: the same memrot run goes on with it", file=str(run.path))
    scored = run.scored()
    temporary = release.with_name(f".{release.name}.{os.getpid()}.tmp")
    try:
        board = _written(run, RunFolder(temporary), scored)
        _refuse_unfit(temporary, release)
        release.parent.mkdir(parents=True, exist_ok=True)
        if release.exists():
            release.rmdir()
        temporary.replace(release)
    except BadInput as error:
        # what is wrong with the copy is wrong with the run, and the copy will be gone
        raise BadInput(str(error).replace(str(temporary), str(run.path))) from None
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}", file=str(release)) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return board


def derive(release: RunFolder) -> Board:
    """Derive a release's files again; what another scoring said is kept under that scoring's number."""
    kept = release.path / "leaderboard.json"
    try:
        scoring = json.loads(kept.read_bytes())["scoring"] if kept.exists() else SCORING
    except (ValueError, KeyError, TypeError):
        raise BadInput("expected a leaderboard with its scoring", file=str(kept)) from None
    if scoring != SCORING:
        for name in ("leaderboard.json", "LEADERBOARD.md"):
            file = release.path / name
            file.replace(file.with_name(f"{file.stem}-{scoring}{file.suffix}"))
    return _derived(release, release.scored())


def published(results: Path) -> list[Path]:
    """Every folder below ``results`` that is published, contributed ones too; raises BadInput for a
    folder that is neither a run's nor holds one."""
    found: list[Path] = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()) if results.is_dir() else ():
        if folder.name.startswith(".") or _DATED.fullmatch(folder.name):
            continue
        within = [folder] if (folder / "manifest.json").exists() else published(folder)
        if not within:
            raise BadInput("expected the folder of a run, with its manifest.json", file=str(folder))
        found += within
    return found


def _written(run: RunFolder, release: RunFolder, scored: Sequence[Scored]) -> Board:
    manifest = run.manifest()
    for identity in manifest.settings.timelines:
        _copy(run.timeline_path(identity), release.timeline_path(identity))
    for cell in manifest.cells:
        _copy(run.file_of(cell), release.file_of(cell))
    _copy(run.path / "manifest.json", release.path / "manifest.json")
    return _derived(release, scored)


def _derived(release: RunFolder, scored: Sequence[Scored]) -> Board:
    board = leaderboard.of_cells(release, release.manifest().settings, scored)
    if board.broken:
        raise BadInput(f"the exam is broken: {board.broken[0]}", file=str(release.path))
    write_lines(release.path / published_scores(SCORING), (encode(each).decode() for each in scored))
    leaderboard.write(release, board)
    return board


def _refuse_unfit(folder: Path, release: Path) -> None:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        raise BadInput(
            f"{size / 1e6:.1f} MB: a release takes at most {MOST_BYTES / 1e6:g} MB", file=str(release)
        )
    findings = verify(folder).findings
    if findings:
        raise BadInput(f"does not verify: {findings[0]}", file=str(release))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
