"""Runs: every stack over every timeline, in processes that may die, in a folder that resumes.

The parent generates the timelines and embeds every sentence; workers measure cells and the parent
takes over what they wrote. Whatever kills the run, the next one does only what is missing, and
nothing that depends on time or order reaches the scores.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs
from tqdm import tqdm

from memrot import observations, registry
from memrot.cells import Cell, stack_name
from memrot.controls import CONTROLS
from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.errors import BadInput, Unavailable
from memrot.memory import Info
from memrot.names import StackName
from memrot.observations import Outcome, StackId
from memrot.redact import redacted
from memrot.results import (
    Manifest,
    RunFolder,
    Scored,
    decode,
    difference,
    encode,
    file_digest,
    identity_of,
    machine,
    newest_incomplete,
    unscored,
)
from memrot.run.plan import Plan, Request, planned, versions
from memrot.run.pool import Died, Pool
from memrot.run.watch import hung_during
from memrot.run.worker import Task, described, inspect, last_words, perform, sentences, without_measuring

__all__ = ["Request", "run"]

_INSPECTION_S = 120.0
"""A backend's first start may be slow: imports, a server."""


def run(request: Request) -> RunFolder:
    """Measure what is missing; returns the folder of the finished run.

    Raises BadInput where the request or the folder cannot be used, Unavailable where the embedder
    cannot be loaded. A backend that fails costs its cells, never the run.
    """
    embedder = registry.embedder(request.embedder)
    plan = planned(request, embedder)
    folder = _folder(request, plan)
    with folder.locked():
        _take_up(folder, plan, fresh=request.fresh)
        with _scratch(folder) as scratch, Pool(request.jobs, scratch) as pool:
            _Run(request, plan, folder, scratch, pool).go(embedder)
    return folder


class _Run:
    """One sitting: what several steps share."""

    def __init__(self, request: Request, plan: Plan, folder: RunFolder, scratch: Path, pool: Pool) -> None:
        self.request = request
        self.plan = plan
        self.terms = plan.settings.terms
        self.folder = folder
        self.scratch = scratch
        self.pool = pool

    def go(self, embedder: Embedder) -> None:
        began = time.monotonic()
        before = self.folder.manifest() if self.folder.exists() else None
        stacks, failures = self._identified(embedder.dim)
        for exam in self.plan.exams:
            path = self.folder.timeline_path(identity_of(exam))
            if not path.exists():
                exam.write(path)
        cells = self._cells(stacks)
        manifest = Manifest(
            settings=self.plan.settings,
            cells=cells,
            versions=versions(self.plan.stacks),
            machine=machine(),
            started=before.started if before else _now(),
            wall_s=before.wall_s if before else 0.0,
        )
        self.folder.write_manifest(manifest)
        done = self._done(cells)
        for cell in cells:
            failure = failures.get(stack_name(cell.stack))
            if failure is not None and cell.name not in done:
                done[cell.name] = self._given_up(cell, *failure)
        left = [cell for cell in cells if cell.name not in done]
        if left:
            recalled = self._embedded(embedder)
            with tqdm(
                total=len(cells),
                initial=len(done),
                unit="cell",
                desc="measuring",
                dynamic_ncols=True,
                disable=None,
            ) as bar:
                for scored in self._measured(left, recalled, bar):
                    done[scored.cell.name] = scored
        self.folder.write_text("scores.jsonl", "\n".join(encode(done[cell.name]).decode() for cell in cells))
        if before is None or before.finished is None or left:
            self.folder.write_manifest(
                structs.replace(
                    manifest, finished=_now(), wall_s=round(manifest.wall_s + time.monotonic() - began, 1)
                )
            )
        else:
            self.folder.write_manifest(structs.replace(manifest, finished=before.finished))

    def _identified(self, dim: int) -> tuple[list[StackId], dict[StackName, tuple[Outcome, str]]]:
        """What each backend says of itself, and which cannot be measured and why."""
        bases = list(dict.fromkeys(StackName(stack.adapter, stack.options) for stack in self.plan.stacks))
        tasks = [
            (base.adapter, dict(base.options), self.scratch / f"inspect{place}", dim, _INSPECTION_S)
            for place, base in enumerate(bases)
        ]
        infos: dict[StackName, Info] = {}
        failed: dict[StackName, tuple[Outcome, str]] = {}
        for place, result in self.pool.run(inspect, tasks, lambda _: None):
            match result:
                case Info():
                    infos[bases[place]] = result
                case BadInput():
                    raise result
                case Unavailable():
                    failed[bases[place]] = ("unavailable", str(result))
                case _:
                    hung = hung_during(last_words(self.scratch / f"inspect{place}"))
                    reason = (
                        f"not open within {_INSPECTION_S:g} s"
                        if hung
                        else f"{type(result).__name__}: {result}"
                    )
                    failed[bases[place]] = ("errored", redacted(reason))
        stacks: list[StackId] = []
        failures: dict[StackName, tuple[Outcome, str]] = {}
        for stack in self.plan.stacks:
            base = StackName(stack.adapter, stack.options)
            identity = StackId(adapter=stack.adapter, options=dict(stack.options), layers=stack.layers)
            stacks.append(described(identity, infos[base]) if base in infos else identity)
            if base in failed:
                failures[stack] = failed[base]
        return stacks, failures

    def _cells(self, stacks: Sequence[StackId]) -> tuple[Cell, ...]:
        """Timeline by timeline, so that the time left is estimated from a fair sample."""
        cells = []
        for exam in self.plan.exams:
            identity = identity_of(exam)
            cells += [Cell.of("stack", stack, identity, self.terms) for stack in stacks]
            for name, control in CONTROLS.items():
                stack = described(StackId(adapter=name), control(exam).info)
                cells.append(Cell.of("control", stack, identity, self.terms))
        return tuple(cells)

    def _done(self, cells: Sequence[Cell]) -> dict[str, Scored]:
        """Cells with whole observations and scores; what was unavailable is tried again."""
        known = self.folder.known()
        done = {}
        for cell in cells:
            scored = known.get(cell.name)
            path = self.folder.file_of(cell)
            if (
                scored
                and scored.outcome != "unavailable"
                and path.exists()
                and scored.observed == file_digest(path)
            ):
                done[cell.name] = scored
        return done

    def _whole(self, cell: Cell) -> bool:
        """Whether a cell's observations are there, though perhaps not its scores."""
        path = self.folder.file_of(cell)
        if not path.exists():
            return False
        try:
            footer = self.folder.observations(cell).footer
        except BadInput:
            return False  # torn: measured again
        return footer is not None and footer.outcome != "unavailable"

    def _embedded(self, embedder: Embedder) -> Recalled:
        """Every sentence in the cache, for workers that only look them up."""
        texts = [text for exam in self.plan.exams for text in sentences(exam)]
        with (
            Cache() as cache,
            tqdm(total=0, unit="sentence", desc="embedding", leave=False, delay=0.5, disable=None) as bar,
        ):

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            cache.embed(embedder, texts, progress)
            return Recalled.of(embedder, cache)

    def _measured(self, left: Sequence[Cell], recalled: Recalled, bar: tqdm[None]) -> Iterator[Scored]:
        tasks = [self._task(cell, recalled) for cell in left]

        def tick(running: Sequence[int]) -> None:
            if running:
                bar.set_postfix_str(tasks[running[0]].cell.name.rpartition("--")[0], refresh=False)
            bar.refresh()

        for place, result in self.pool.run(perform, [(task,) for task in tasks], tick):
            yield self._settled(tasks[place], result)
            bar.update()

    def _task(self, cell: Cell, recalled: Recalled) -> Task:
        measured = self._whole(cell)
        final = self.folder.file_of(cell)
        return Task(
            cell=cell,
            terms=self.terms,
            timeline=self.folder.timeline_path(cell.timeline),
            observations=final if measured else final.with_name(f".{os.getpid()}.{final.name}"),
            measured=measured,
            folder=self.scratch / cell.name.rpartition("--")[2],
            timeout=self.request.timeout,
            embedder=recalled,
        )

    def _settled(self, task: Task, result: object) -> Scored:
        """Take over what a worker wrote, or note how it failed."""
        match result:
            case bytes():
                if not task.measured:
                    task.observations.replace(self.folder.file_of(task.cell))
                self.folder.append(result)
                return decode(result)
            case Died():
                during = hung_during(task.last_words)
                reason = f"no reply within {self.request.timeout:g} s ({during})" if during else str(result)
                shutil.rmtree(task.folder, ignore_errors=True)
                return self._given_up(task.cell, "errored", reason, during or "measuring")
            case BaseException():
                raise result
        raise AssertionError(result)

    def _given_up(self, cell: Cell, outcome: Outcome, reason: str, during: str = "open") -> Scored:
        seen = without_measuring(cell, self.terms, outcome, reason, during)
        path = self.folder.file_of(cell)
        observations.write(path, seen)
        scored = unscored(cell, seen, path)
        self.folder.append(encode(scored))
        return scored


def _folder(request: Request, plan: Plan) -> RunFolder:
    """Where the run goes: as asked, or the newest one that was interrupted, or a new one."""
    if request.out is not None:
        return RunFolder(request.out)
    if not request.fresh:
        interrupted = newest_incomplete(request.results, plan.settings)
        if interrupted is not None:
            return interrupted
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    return RunFolder(request.results / stamp)


def _take_up(folder: RunFolder, plan: Plan, *, fresh: bool) -> None:
    """Make sure that a folder is ours to write: empty, or of the same settings."""
    if not folder.exists():
        if any(
            not entry.name.startswith(".") and entry.name != "timelines" for entry in folder.path.iterdir()
        ):
            raise BadInput(
                "neither empty nor the folder of a run: choose another --out", file=str(folder.path)
            )
        return
    if fresh:
        folder.clear()
        return
    differs = difference(plan.settings, folder.manifest().settings)
    if differs is not None:
        raise BadInput(
            f"this run was asked otherwise: {differs}; choose another --out, or --fresh to measure anew",
            file=str(folder.path),
        )
    for part in folder.path.glob("cells/.*"):
        part.unlink(missing_ok=True)


@contextmanager
def _scratch(folder: RunFolder) -> Iterator[Path]:
    """A temporary folder for stores; those of killed sittings of the same run are removed."""
    run_id = hashlib.sha256(str(folder.path.resolve()).encode()).hexdigest()[:8]
    root = Path(tempfile.gettempdir())
    for stale in root.glob(f"memrot-{run_id}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    scratch = root / f"memrot-{run_id}-{os.getpid()}"
    scratch.mkdir(mode=0o700)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
