"""Verification: whether a folder of results says what follows from its observations, and only that.

Timelines are generated again from their seeds, names of cells are derived again from what determines
them, every question that the exam asks must have been asked, and every derived file is derived again
and compared.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs
from tqdm import tqdm

from memrot import leaderboard, registry
from memrot.cells import Cell, Kind, stack_name
from memrot.errors import BadInput, Unavailable
from memrot.evaluate import LifecycleEvaluator
from memrot.observations import Observations, TimelineId, identity_of
from memrot.publish.differences import differences, first_line
from memrot.publish.identity import Identity, identity
from memrot.results import (
    SCORING,
    Manifest,
    RunFolder,
    Scored,
    decode,
    encode,
    published_scores,
    score_cell,
)
from memrot.timeline import Timeline


class Report(Struct, frozen=True, kw_only=True):
    """What was checked and what was found; no findings: the folder verifies."""

    folder: Path
    findings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What could not be checked here, and why."""
    cells: int = 0
    timelines: int = 0
    identity: Identity | None = None


def verify(path: Path) -> Report:
    """Check a release, a run or a contributed folder; reads it, and writes nothing.

    Raises BadInput where there is no such folder: nothing was claimed there.
    """
    if not path.is_dir():
        raise BadInput("expected a folder of results", file=str(path))
    folder = RunFolder(path)
    try:
        manifest = folder.manifest()
    except BadInput as error:
        return Report(folder=path, findings=(str(error),))
    return _Check(folder, manifest).report()


class _Check:
    """One folder's verification: findings are collected, so that one fault does not hide another."""

    def __init__(self, folder: RunFolder, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.terms = manifest.settings.terms
        self.findings: list[str] = []
        self.notes: list[str] = []

    def report(self) -> Report:
        self._plan()
        self._files()
        sat = self._timelines()
        cells = [cell for cell in self.manifest.cells if cell.timeline in sat]
        scored = list(self._scored(cells, sat))
        self._scores(scored)
        if len(scored) == len(self.manifest.cells):
            self._leaderboard(scored)
        return Report(
            folder=self.folder.path,
            findings=tuple(self.findings),
            notes=tuple(self.notes),
            cells=len(scored),
            timelines=len(sat),
            identity=identity(self.manifest, {each.cell.name: each.observed for each in scored}),
        )

    def _say(self, file: str, what: str) -> None:
        self.findings.append(f"{self.folder.path / file}: {what}")

    def _plan(self) -> None:
        """The manifest lists every row over every timeline, each under the name that follows."""
        settings, cells = self.manifest.settings, self.manifest.cells
        if self.manifest.finished is None:
            self._say("manifest.json", "the run is not finished")
        for cell in cells:
            derived = Cell.of(cell.kind, cell.stack, cell.timeline, self.terms).name
            if derived != cell.name:
                self._say("manifest.json", f"cell {cell.name}: its name should be {derived}")
        self._rows_sat("stack", settings.stacks)
        self._rows_sat("control", None)

    def _rows_sat(self, kind: Kind, asked: Sequence[str] | None) -> None:
        """Every row of a kind, and only those that were asked for, sat every timeline once."""
        timelines = self.manifest.settings.timelines
        rows: dict[str, list[TimelineId]] = {name: [] for name in asked or ()}
        for cell in self.manifest.cells:
            if cell.kind == kind:
                rows.setdefault(str(stack_name(cell.stack)), []).append(cell.timeline)
        for name, sat in rows.items():
            if asked is not None and name not in asked:
                self._say("manifest.json", f"row {name}: nobody asked for it")
            if len(sat) != len(timelines):
                what = f"has {len(sat)} cells, expected one for each of the {len(timelines)} timelines"
                self._say("manifest.json", f"row {name}: {what}")
            elif set(sat) != set(timelines):
                self._say("manifest.json", f"row {name}: sat other timelines than were asked for")

    def _files(self) -> None:
        """Nothing stands beside what the manifest lists: it would look like evidence."""
        root = self.folder.path
        expected = {
            root / "manifest.json",
            *(self.folder.file_of(cell) for cell in self.manifest.cells),
            *(self.folder.timeline_path(each) for each in self.manifest.settings.timelines),
        }
        parts = [root / "cells", root / "timelines"]
        for file in sorted(path for part in parts if part.is_dir() for path in part.iterdir()):
            if file not in expected:
                self._say(str(file.relative_to(root)), "not in the manifest")
        for file in sorted(root.glob("scores-*.jsonl.gz")):
            if file.name != published_scores(SCORING):
                self.notes.append(f"{file}: of a scoring that this memrot does not compute: not compared")

    def _timelines(self) -> dict[TimelineId, Timeline]:
        """Those that could be read, or else generated."""
        sat: dict[TimelineId, Timeline] = {}
        elsewhere: list[str] = []
        for each in self.manifest.settings.timelines:
            generated = self._generated(each)
            if generated is None:
                elsewhere.append(f"{each.id} revision {each.revision} seed {each.seed}")
            elif identity_of(generated) != each:
                where = f"timeline {each.id} seed {each.seed}"
                self._say(
                    "manifest.json",
                    f"{where}: its seed gives the digest {generated.digest[:12]}, not {each.digest[:12]}",
                )
                continue
            try:
                sat[each] = self.folder.timeline(each)
            except BadInput as error:
                self.findings.append(str(error))
        if elsewhere:
            self.notes.append(
                f"{self.folder.path}: {len(elsewhere)} timelines are not of scenarios installed here "
                f"({elsewhere[0]}{', ...' if len(elsewhere) > 1 else ''}): their digests were compared"
            )
        return sat

    @staticmethod
    def _generated(each: TimelineId) -> Timeline | None:
        if each.id not in registry.found("scenarios"):
            return None
        try:
            scenario = registry.scenario(each.id)
        except Unavailable:
            return None
        return scenario.generate(each.seed) if scenario.revision == each.revision else None

    def _scored(self, cells: Sequence[Cell], sat: dict[TimelineId, Timeline]) -> Iterator[Scored]:
        """Cells whose observations can be used, scored anew."""
        exams: dict[TimelineId, _Exam] = {}
        for cell in tqdm(cells, desc="verifying", unit="cell", dynamic_ncols=True, leave=False, disable=None):
            if cell.timeline not in exams:
                exams[cell.timeline] = _Exam(sat[cell.timeline], self.manifest)
            path = self.folder.file_of(cell)
            name = str(path.relative_to(self.folder.path))
            try:
                seen = self.folder.observations(cell)
                for fault in _faults(cell, seen, self.manifest, exams[cell.timeline]):
                    self._say(name, fault)
                yield score_cell(cell, seen, sat[cell.timeline], path)
            except BadInput as error:
                text = str(error)
                self.findings.append(text if text.startswith(str(path)) else f"{path}: {text}")

    def _scores(self, scored: Sequence[Scored]) -> None:
        """The kept scores are those that follow, one line a cell, in the order of the manifest."""
        file, lines = self._kept_scores()
        if lines is None:
            return
        kept: dict[str, Any] = {}
        for line in lines:
            try:
                each = decode(line.encode())  # fills in what later versions added and leave empty
                kept[each.cell.name] = json.loads(encode(each))
            except msgspec.MsgspecError:
                self._say(file, "expected a cell's scores on every line")
        names = [cell.name for cell in self.manifest.cells]
        if len(lines) != len(names):
            self._say(file, f"holds {len(lines)} lines, expected {len(names)}: one for each cell")
        for name in sorted(kept.keys() - set(names)):
            self._say(file, f"{name}: not in the manifest")
        for each in scored:
            name = each.cell.name
            if name not in kept:
                self._say(file, f"{name}: no scores")
                continue
            self._compare(file, name, kept[name], json.loads(encode(each)))

    def _kept_scores(self) -> tuple[str, list[str] | None]:
        file = published_scores(SCORING)
        path = self.folder.path / file
        if not path.exists():
            file = "scores.jsonl"
        try:
            raw = (self.folder.path / file).read_bytes()
            return file, (gzip.decompress(raw) if file.endswith(".gz") else raw).decode().splitlines()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            self._say(file, f"cannot be read: {error}")
            return file, None

    def _leaderboard(self, scored: Sequence[Scored]) -> None:
        board = leaderboard.of_cells(self.folder, self.manifest.settings, scored)
        for fault in board.broken:
            self._say("cells", f"the exam is broken: {fault}")
        for file, text in leaderboard.files(board).items():
            try:
                kept = (self.folder.path / file).read_text()
            except (OSError, UnicodeDecodeError) as error:
                self._say(file, f"cannot be read: {error}")
                continue
            if file.endswith(".json"):
                self._rows(file, kept, json.loads(text))
            elif kept.rstrip("\n") != text.rstrip("\n"):
                where = first_line(kept.splitlines(), text.splitlines())
                self._say(file, f"{where} (memrot publish {self.folder.path} derives it again)")

    def _rows(self, file: str, kept_text: str, derived: dict[str, Any]) -> None:
        try:
            kept = json.loads(kept_text)
            theirs = {row["stack"]: row for row in kept.pop("rows")}
        except (ValueError, KeyError, TypeError, AttributeError):
            self._say(file, "expected a leaderboard")
            return
        ours = {row["stack"]: row for row in derived.pop("rows")}
        self._compare(file, "the header", kept, derived)
        for name in sorted(ours.keys() - theirs.keys()):
            self._say(file, f"row {name} is missing")
        for name in sorted(theirs.keys() - ours.keys()):
            self._say(file, f"row {name}: no cell of it is here")
        for name in sorted(ours.keys() & theirs.keys()):
            self._compare(file, f"row {name}", theirs[name], ours[name])

    def _compare(self, file: str, what: str, kept: Any, derived: Any) -> None:
        found = list(differences("", kept, derived))
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            self._say(file, f"{what}: {found[0]}{more}")


class _Exam:
    """What one timeline asks, stage by stage."""

    def __init__(self, timeline: Timeline, manifest: Manifest) -> None:
        terms = manifest.settings.terms
        evaluator = LifecycleEvaluator(timeline, terms.k, terms.forget_within, terms.ask_every, peek=False)
        self.asked = [
            (stage.seq, tuple(evaluator.questions(stage)))
            for stage in timeline.stages
            if stage.index in evaluator.asked
        ]


def _faults(cell: Cell, seen: Observations, manifest: Manifest, exam: _Exam) -> Iterator[str]:
    """What observations say of themselves that does not agree with the manifest and the exam."""
    head, footer, terms = seen.head, seen.footer, manifest.settings.terms
    named = Cell.of(cell.kind, head.stack, head.timeline, terms).name
    if (head.cell, named) != (cell.name, cell.name):
        yield f"its header is that of {named if head.cell == cell.name else head.cell or 'no cell'}"
    if structs.replace(head.stack, filters="") != structs.replace(cell.stack, filters=""):
        yield "its header describes another stack than the manifest"  # filters are only known afterwards
    said = (head.suite, head.embedder, head.k, head.forget_within, head.links_told)
    if said != (terms.suite, terms.embedder, terms.k, terms.forget_within, terms.links_told):
        yield "its header differs from the manifest's terms"
    asked = [(stage.seq, tuple(each.probe for each in stage.asked)) for stage in seen.stages]
    if footer is None:  # refused when it was read
        return
    if footer.outcome == "answered" and len(asked) != len(exam.asked):
        yield f"answers {len(asked)} stages, expected {len(exam.asked)}"
    for mine, theirs in zip(asked, exam.asked, strict=False):
        if mine != theirs:
            yield f"stage {mine[0]}: the questions are not those of the exam at stage {theirs[0]}"
            break
    counts = (len(asked), sum(len(probes) for _, probes in asked))
    if (footer.stages, footer.asked) != counts:
        yield (
            f"its footer counts {footer.stages} stages and {footer.asked} answers, there are "
            f"{counts[0]} and {counts[1]}"
        )
