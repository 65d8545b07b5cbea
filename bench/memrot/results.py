"""A run's folder: what was asked, what came back, and what follows from it.

``manifest.json`` and ``cells/`` (raw observations) are the transcript, ``timelines/`` is the exam
that was sat; the rest is derived and can be derived again. Scores are kept in ``scores.jsonl``
beside the SHA-256 of the observations they came from: a line whose file changed, or that was torn
by a kill, counts for nothing.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import platform
import secrets
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import msgspec
from msgspec import Struct

from memrot import observations, timeline
from memrot.cells import Cell, Terms, timeline_file
from memrot.erasure import Erased, erased
from memrot.errors import BadInput
from memrot.lines import refuse_newer, write_lines
from memrot.memory import Capability
from memrot.observations import Observations, Outcome, TimelineId
from memrot.score import Scores, score
from memrot.timeline import Timeline

FORMAT = 1
SCORING = 1
"""Moves when scoring changes a number; scores of another one are derived again."""


def published_scores(scoring: int) -> str:
    """The name of a release's scores: those of two scorings stand side by side."""
    return f"scores-{scoring}.jsonl.gz"


class Settings(Struct, frozen=True, kw_only=True):
    """What was asked: equal settings are one run, which may be taken up again."""

    stacks: tuple[str, ...]
    timelines: tuple[TimelineId, ...]
    terms: Terms
    memrot: str


class Manifest(Struct, frozen=True, kw_only=True, tag_field="type", tag="run"):
    format: int = FORMAT
    settings: Settings
    cells: tuple[Cell, ...]
    versions: dict[str, str | None]
    machine: dict[str, Any]
    started: str
    finished: str | None = None
    capabilities: dict[str, dict[str, Capability]] = {}
    """Of each backend, by what a stack's name begins with."""
    wall_s: float = 0.0
    """Seconds that the sittings took which came to their end."""


class Scored(Struct, frozen=True, kw_only=True):
    """One cell as every table sees it; ``scores`` is None where nothing was answered."""

    cell: Cell
    outcome: Outcome
    observed: str
    """SHA-256 of the observations' file."""
    reason: str | None = None
    scores: Scores | None = None
    erased: Erased | None = None
    """None: nothing was to be erased."""
    last_by_domain: dict[str, dict[str, float | None]] = {}
    """The last asked stage's metrics by domain."""
    question_ms: tuple[float, ...] = ()
    """Milliseconds a question, stage by stage."""
    scoring: int = SCORING


class RunFolder:
    """One run on disk. Everything in it is written under a temporary name and renamed when whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        return self.path.name

    def exists(self) -> bool:
        return (self.path / "manifest.json").exists()

    def complete(self) -> bool:
        """Whether everything was measured, and the leaderboard written."""
        return self.manifest().finished is not None and (self.path / "leaderboard.json").exists()

    def manifest(self) -> Manifest:
        file = self.path / "manifest.json"
        try:
            raw = msgspec.json.decode(file.read_bytes())
            if isinstance(raw, dict):
                refuse_newer(raw, FORMAT, file=str(file), line=1)
            return msgspec.convert(raw, Manifest)
        except FileNotFoundError:
            raise BadInput("not the folder of a run: expected a manifest.json", file=str(self.path)) from None
        except OSError as error:
            raise BadInput(f"cannot be read: {error.strerror}", file=str(file)) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"expected the manifest of a run: {error}", file=str(file)) from None

    def write_manifest(self, manifest: Manifest) -> None:
        self.write_text(
            "manifest.json", msgspec.json.format(msgspec.json.encode(manifest), indent=1).decode()
        )

    def write_text(self, name: str, text: str) -> None:
        write_lines(self.path / name, [text.rstrip("\n")])

    def file_of(self, cell: Cell) -> Path:
        return self.path / "cells" / f"{cell.name}.observations.jsonl.gz"

    def timeline_path(self, identity: TimelineId) -> Path:
        return self.path / "timelines" / timeline_file(identity)

    def timeline(self, identity: TimelineId) -> Timeline:
        return read_timeline(self.timeline_path(identity), identity)

    def observations(self, cell: Cell) -> Observations:
        """A finished cell's observations; raises BadInput where they are torn or of other work."""
        path = self.file_of(cell)
        seen = observations.read(path)
        if seen.footer is None:
            raise BadInput("no footer: the cell is incomplete", file=str(path))
        if seen.head.timeline.digest != cell.timeline.digest:
            raise BadInput("the observations are of another timeline than the manifest says", file=str(path))
        return seen

    def known(self) -> dict[str, Scored]:
        """Cell name -> what is kept of its scores; lines that cannot be used are left out."""
        known = {}
        published = self.path / published_scores(SCORING)
        try:
            kept = (
                gzip.decompress(published.read_bytes())
                if published.exists()
                else (self.path / "scores.jsonl").read_bytes()
            )
        except (OSError, EOFError, zlib.error):
            return {}
        for line in kept.splitlines():
            try:
                scored = msgspec.json.decode(line, type=Scored)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            if scored.scoring == SCORING:
                known[scored.cell.name] = scored
        return known

    def append(self, line: bytes) -> None:
        """Add a line to ``scores.jsonl``; a torn one before it stays alone on its line."""
        file = self.path / "scores.jsonl"
        try:
            with file.open("ab") as stream:
                stream.write((b"\n" if stream.tell() else b"") + line)
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(file)) from None

    def scored(self) -> list[Scored]:
        """Every cell of a finished run, in the order of the plan; raises BadInput naming what is torn."""
        cells = self.manifest().cells
        missing = sum(not self.file_of(cell).exists() for cell in cells)
        if missing:
            raise BadInput(
                f"{missing} of {len(cells)} cells are missing: the same memrot run with this --out goes on",
                file=str(self.path),
            )
        known, exams = self.known(), dict[TimelineId, Timeline]()
        rows = []
        for cell in cells:
            scored = known.get(cell.name)
            if scored is None or scored.observed != file_digest(self.file_of(cell)):
                if cell.timeline not in exams:
                    exams[cell.timeline] = self.timeline(cell.timeline)
                scored = score_cell(cell, self.observations(cell), exams[cell.timeline], self.file_of(cell))
            rows.append(scored)
        return rows

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Keep other runs out of the folder; the lock ends with the process, however it ends.

        Yields the run's own name on servers that it shares with others: drawn once and kept in the lock,
        since two machines may have folders of one path. A folder in which nothing else was written is not
        left behind.
        """
        new = [path for path in (self.path, *self.path.parents) if not path.exists()]
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            stream = (self.path / ".lock").open("a+")
        except OSError as error:
            raise BadInput(f"cannot be written: {error.strerror}", file=str(self.path)) from None
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadInput("another memrot run is writing here", file=str(self.path)) from None
            try:
                yield _drawn_once(stream)
            finally:
                if new and [path.name for path in self.path.iterdir()] == [".lock"]:
                    (self.path / ".lock").unlink()
                    for path in new:
                        path.rmdir()

    def clear(self) -> None:
        """Forget everything that was measured here."""
        for name in ("cells", "timelines"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("manifest.json", "scores.jsonl", "leaderboard.json", "LEADERBOARD.md"):
            (self.path / name).unlink(missing_ok=True)


def score_cell(cell: Cell, seen: Observations, exam: Timeline, path: Path) -> Scored:
    """Score a finished cell whose observations are in ``path``."""
    if _outcome(seen) != "answered":
        return unscored(cell, seen, path)
    last = score(exam, msgspec.structs.replace(seen, stages=seen.stages[-1:], peeks=()))
    return msgspec.structs.replace(
        unscored(cell, seen, path),
        scores=msgspec.structs.replace(score(exam, seen), stages=[]),
        erased=erased(exam, seen),
        last_by_domain=last.by["domain"],
    )


def unscored(cell: Cell, seen: Observations, path: Path) -> Scored:
    """A finished cell as it is without its scores."""
    return Scored(
        cell=msgspec.structs.replace(cell, stack=seen.head.stack),
        outcome=_outcome(seen),
        observed=file_digest(path),
        reason=(seen.footer and seen.footer.reason) or next((error.error for error in seen.errors), None),
        question_ms=tuple(
            round(stage.answer_ms / len(stage.asked), 4)
            for stage in seen.stages
            if stage.answer_ms is not None and stage.asked
        ),
    )


def encode(scored: Scored) -> bytes:
    return msgspec.json.encode(scored)


def decode(line: bytes) -> Scored:
    return msgspec.json.decode(line, type=Scored)


def read_timeline(path: Path, identity: TimelineId) -> Timeline:
    """A kept timeline; raises BadInput where it is not the one that was sat."""
    exam = timeline.read(path)
    if exam.digest != identity.digest:
        raise BadInput(
            f"not the timeline that was sat: expected the digest {identity.digest[:12]}", file=str(path)
        )
    return exam


def file_digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None


def _drawn_once(lock: TextIO) -> str:
    lock.seek(0)
    known = lock.read().strip()
    if known:
        return known
    try:
        lock.write(drawn := secrets.token_hex(8))
        lock.flush()
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=lock.name) from None
    return drawn


def _outcome(seen: Observations) -> Outcome:
    return "errored" if seen.footer is None else seen.footer.outcome


def machine() -> dict[str, Any]:
    """The kind of machine, without its name or its user's."""
    return {"cpus": os.cpu_count(), "arch": platform.machine(), "os": platform.system()}


def newest_incomplete(results: Path, settings: Settings) -> RunFolder | None:
    """The newest run of the same settings that was interrupted."""
    folders = sorted((path for path in results.glob("*/manifest.json")), reverse=True)
    for path in folders:
        folder = RunFolder(path.parent)
        try:
            manifest = folder.manifest()
        except BadInput:
            continue  # another version's, or damaged: not one to take up
        if manifest.settings == settings and not folder.complete():
            return folder
    return None


def newest_complete(results: Path) -> RunFolder:
    """The run that finished last of those directly below ``results``; raises BadInput where none did."""
    finished: list[tuple[str, Path]] = []
    for path in results.glob("*/manifest.json"):
        folder = RunFolder(path.parent)
        try:
            if folder.complete():
                finished.append((folder.manifest().finished or "", folder.path))
        except BadInput:
            continue  # another version's, or damaged: not one to show
    if not finished:
        raise BadInput("no finished run here: name the folder of one", file=str(results))
    return RunFolder(max(finished)[1])


def difference(asked: Settings, there: Settings) -> str | None:
    """How two runs' settings differ, in words; None where they are equal."""

    def flat(settings: Settings) -> Mapping[str, Any]:
        terms = settings.terms
        return {
            "stacks": list(settings.stacks),
            "timelines": [f"{t.id}@{t.seed}:{t.digest[:12]}" for t in settings.timelines],
            "embedder": f"{terms.embedder.name} {terms.embedder.fingerprint}",
            "k": terms.k,
            "forget_within": terms.forget_within,
            "ask_every": terms.ask_every,
            "links_told": terms.links_told,
            "suite": terms.suite,
            "memrot": settings.memrot,
        }

    ours, theirs = flat(asked), flat(there)
    for name, value in ours.items():
        if value != theirs[name]:
            if not isinstance(value, list):
                return f"its {name} is {theirs[name]}, not {value}"
            added = sorted(set(value) - set(theirs[name]))
            missing = sorted(set(theirs[name]) - set(value))
            return f"its {name} differ: " + "; ".join(
                f"{what} {', '.join(items[:3])}{' ...' if len(items) > 3 else ''}"
                for what, items in (("without", added), ("with", missing))
                if items
            )
    return None
