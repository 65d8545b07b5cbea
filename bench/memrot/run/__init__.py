"""Runs: every stack over every timeline, in processes that may die, in a folder that resumes.

The parent generates the timelines and embeds every sentence; workers measure cells and the parent
takes over what they wrote. Whatever kills the run, the next one does only what is missing, and
nothing that depends on time or order reaches the scores.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import structs
from tqdm import tqdm

import memrot
from memrot import observations, registry
from memrot.cells import Cell, Kind, stack_name
from memrot.controls import CONTROLS
from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.errors import BadInput, Unavailable, Unsupported
from memrot.memory import Capability, Info, under_layers
from memrot.names import StackName
from memrot.observations import Outcome, StackId, identity_of
from memrot.results import (
    Manifest,
    RunFolder,
    Scored,
    decode,
    encode,
    file_digest,
    machine,
    unscored,
)
from memrot.run.elsewhere import Environments
from memrot.run.folder import check, chosen, forget_unknown, scratch, tidy
from memrot.run.inspection import inspected
from memrot.run.plan import Introduced, Plan, Request, introduced, planned, refuse_layers, versions
from memrot.run.pool import Died, Pool
from memrot.run.watch import hung_during
from memrot.run.worker import (
    Task,
    changes_to,
    described,
    forget,
    perform,
    sentences,
    without_measuring,
)
from memrot.timeline import Timeline

__all__ = ["Request", "run"]

Failure: TypeAlias = tuple[Outcome, str]
"""Why a stack cannot be measured at all: the outcome of its cells, and the reason."""


def run(request: Request) -> RunFolder:
    """Measure what is missing; returns the folder of the finished run.

    Raises BadInput where the request or the folder cannot be used, Unavailable where the embedder
    cannot be loaded. A backend that fails costs its cells, never the run.
    """
    embedder = registry.embedder(request.embedder)
    plan = planned(request, embedder)
    folder = chosen(request, plan.settings)
    with folder.locked() as run_id:
        check(folder, plan.settings, fresh=request.fresh)
        with scratch(run_id) as temporary, Pool(request.jobs, temporary) as pool:
            environments = Environments(pool, request.pythons, request.jobs, temporary)
            _Run(request, plan, folder, temporary, environments).go(embedder)
    return folder


class _Run:
    """One sitting: what several steps share."""

    def __init__(
        self, request: Request, plan: Plan, folder: RunFolder, scratch: Path, environments: Environments
    ) -> None:
        self.request = request
        self.plan = plan
        self.terms = plan.settings.terms
        self.folder = folder
        self.scratch = scratch
        self.environments = environments
        self.introduced = self._introduced()
        self.abandoned: list[Task] = []
        """Those whose worker died and that may have left something on a server."""

    def go(self, embedder: Embedder) -> None:
        began = time.monotonic()
        before = None if self.request.fresh or not self.folder.exists() else self.folder.manifest()
        stacks, failures, capabilities = self._identified(embedder, before)
        if self.request.fresh:
            self.folder.clear()
        tidy(self.folder)
        for exam in self.plan.exams:
            path = self.folder.timeline_path(identity_of(exam))
            if not path.exists():
                exam.write(path)
        manifest = Manifest(
            settings=self.plan.settings,
            cells=self._cells(stacks),
            versions=versions(self.introduced, self.request.pythons.keys()),
            machine=machine(),
            started=before.started if before else _now(),
            finished=before.finished if before else None,
            capabilities=capabilities,
            wall_s=before.wall_s if before else 0.0,
        )
        if before:
            forget_unknown(self.folder, before, manifest)
        done = self._done(manifest.cells)
        if all(cell.name in done for cell in manifest.cells) and manifest.finished is not None:
            return
        self.folder.write_manifest(structs.replace(manifest, finished=None))
        done |= self._rest([cell for cell in manifest.cells if cell.name not in done], failures, embedder)
        lines = [encode(done[cell.name]).decode() for cell in manifest.cells]
        self.folder.write_text("scores.jsonl", "\n".join(lines))
        took = round(manifest.wall_s + time.monotonic() - began, 1)
        self.folder.write_manifest(structs.replace(manifest, finished=_now(), wall_s=took))

    def _identified(
        self, embedder: Embedder, before: Manifest | None
    ) -> tuple[list[StackId], dict[StackName, Failure], dict[str, dict[str, Capability]]]:
        """What each backend says of itself, and which cannot be measured and why."""
        bases = list(dict.fromkeys(stack.opened for stack in self.plan.stacks))
        found = inspected(bases, embedder, self.environments, self.scratch)
        measured = {stack_name(cell.stack): cell.stack for cell in (before.cells if before else ())}
        stacks: list[StackId] = []
        failures: dict[StackName, Failure] = {}
        capabilities: dict[str, dict[str, Capability]] = {}
        for stack in self.plan.stacks:
            identity = StackId(adapter=stack.adapter, options=dict(stack.options), layers=stack.layers)
            match found[stack.opened]:
                case Info() as info:
                    identity = described(identity, info)
                    whole = self.introduced[stack.adapter].memory
                    capabilities[str(stack.opened)] = dict(info.capabilities if whole else under_layers(info))
                case BadInput() as error:
                    raise error
                case Unavailable() as error:
                    failures[stack] = ("unavailable", str(error))
                    identity = measured.get(stack, identity)  # what was measured of it stays measured
                case Unsupported() as error:
                    failures[stack] = ("unsupported", str(error))
                case how:
                    failures[stack] = ("errored", f"cannot be opened: {how}")
            stacks.append(identity)
        failed = sorted({stack.opened for stack in failures})
        asked = [(each.adapter,) for each in failed]
        for place, declared in self._spread(registry.capabilities, asked):
            if isinstance(declared, Mapping) and declared:
                capabilities[str(failed[place])] = dict(declared)
        return stacks, failures, capabilities

    def _introduced(self) -> dict[str, Introduced]:
        """What its environment knows of each adapter; raises BadInput for what cannot be asked for there."""
        known = dict(self.plan.introduced)
        asked = [(adapter,) for adapter in self.request.pythons]
        for place, result in self._spread(introduced, asked):
            if isinstance(result, Died):
                raise BadInput(f"--python: {result}", file=str(self.request.pythons[asked[place][0]]))
            if isinstance(result, BaseException):
                raise result
            known[asked[place][0]] = result
        for stack in self.plan.stacks:
            if stack.adapter in self.request.pythons:
                refuse_layers(stack, known[stack.adapter])
        return known

    def _spread(self, work: Callable[..., Any], tasks: Sequence[tuple[str]]) -> Iterator[tuple[int, Any]]:
        """Tasks that take the name of an adapter, each done where the adapter is."""
        return self.environments.run(work, tasks, [adapter for (adapter,) in tasks], lambda _: None)

    def _cells(self, stacks: Sequence[StackId]) -> tuple[Cell, ...]:
        """Timeline by timeline, so that the time left is estimated from a fair sample."""
        controls = [
            StackId(adapter=name, backend="control", version=memrot.__version__, deployment="in process")
            for name in CONTROLS
        ]
        rows: list[tuple[Kind, StackId]] = [("stack", stack) for stack in stacks]
        rows += [("control", stack) for stack in controls]
        return tuple(
            Cell.of(kind, stack, identity, self.terms)
            for identity in self.plan.settings.timelines
            for kind, stack in rows
        )

    def _rest(
        self, left: Sequence[Cell], failures: Mapping[StackName, Failure], embedder: Embedder
    ) -> dict[str, Scored]:
        """Measure what is left, or note why it cannot be."""
        done: dict[str, Scored] = {}
        for cell in left:
            failure = failures.get(stack_name(cell.stack))
            if failure is not None:
                done[cell.name] = self._given_up(cell, *failure)
        tasks = [cell for cell in left if cell.name not in done]
        if tasks:
            exams = self.plan.exams
            recalled = self._embedded(embedder, exams)
            swaps = {
                name: self._embedded(each, [exam for exam in exams if name in changes_to(exam)])
                for name, each in self.plan.embedders.items()
            }
            with tqdm(
                total=len(tasks), desc="measuring", unit="cell", dynamic_ncols=True, disable=None
            ) as bar:
                for scored in self._measured(tasks, recalled, swaps, bar):
                    done[scored.cell.name] = scored
        return done

    def _done(self, cells: Sequence[Cell]) -> dict[str, Scored]:
        """Cells with whole observations and scores, but those that are tried again."""
        known = self.folder.known()
        done = {}
        for cell in cells:
            scored, path = known.get(cell.name), self.folder.file_of(cell)
            if scored is None or _tried_again(cell, scored.outcome) or not path.exists():
                continue
            if scored.observed == file_digest(path):
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
        return footer is not None and not _tried_again(cell, footer.outcome)

    def _embedded(self, embedder: Embedder, exams: Sequence[Timeline]) -> Recalled:
        """Every sentence in the cache, for workers that only look them up."""
        texts = [text for exam in exams for text in sentences(exam)]
        with (
            Cache() as cache,
            tqdm(total=0, unit="sentence", desc="embedding", leave=False, delay=0.5, disable=None) as bar,
        ):

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            cache.embed(embedder, texts, progress)
            return Recalled.of(embedder, cache)

    def _measured(
        self, left: Sequence[Cell], recalled: Recalled, swaps: dict[str, Recalled], bar: tqdm[None]
    ) -> Iterator[Scored]:
        tasks = [self._task(cell, recalled, swaps) for cell in left]

        def tick(running: Sequence[int]) -> None:
            if running:
                bar.set_postfix_str(tasks[running[0]].cell.name.rpartition("--")[0], refresh=False)
            bar.refresh()

        adapters = [task.cell.stack.adapter for task in tasks]
        for place, result in self.environments.run(perform, [(task,) for task in tasks], adapters, tick):
            yield self._settled(tasks[place], result)
            bar.update()
        adapters = [task.cell.stack.adapter for task in self.abandoned]
        for _ in self.environments.run(
            forget, [(task,) for task in self.abandoned], adapters, lambda _: None
        ):
            pass  # what could not be removed is, before its cell is tried again

    def _task(self, cell: Cell, recalled: Recalled, swaps: dict[str, Recalled]) -> Task:
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
            model=self.request.embedder,
            swaps=swaps,
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
                if task.cell.stack.deployment == "server":
                    self.abandoned.append(task)
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


def _tried_again(cell: Cell, outcome: Outcome) -> bool:
    """Whether an outcome is not for good. Of a server that is not ours an error may be its network's or its
    operator's doing; one of the product's own comes back."""
    return outcome == "unavailable" or (outcome == "errored" and cell.stack.deployment == "server")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
