"""What a worker process does: open a backend to see what it is, or measure and score one cell.

A worker never decides whether its work counts: it writes observations under a name of its own and
the parent renames them. So a worker that outlives its run can do no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias, cast

from msgspec import Struct, structs

from memrot import erasure, layers, observations, registry
from memrot.cells import Cell, Terms, stack_name
from memrot.controls import CONTROLS
from memrot.embed.cache import Recalled
from memrot.errors import BadInput, BadOption, Unavailable, Unsupported
from memrot.evaluate import LifecycleEvaluator
from memrot.memory import Compacting, Info, MemoryService, Place, Store, well_typed
from memrot.model import EmbedderChanged, introduces, is_announced
from memrot.observations import (
    ErasureSeen,
    ErrorSeen,
    Footer,
    Head,
    Observations,
    Outcome,
    StackId,
    TimelineId,
)
from memrot.redact import redacted
from memrot.results import encode, machine, read_timeline, score_cell
from memrot.run.unforeseen import Unforeseen
from memrot.run.watch import Deadline, Watched
from memrot.stack import Embedders, LayeredMemory, Swap
from memrot.timeline import Timeline

_ORPHAN_CHECK_S = 0.5

Openers: TypeAlias = tuple[Callable[[], MemoryService], Callable[[], Store | MemoryService]]
"""What opens the memory of a cell, and what opens only what there is to drop."""


class Task(Struct, frozen=True, kw_only=True):
    """One cell's work. ``folder`` is the cell's own, for stores; it is gone afterwards."""

    cell: Cell
    terms: Terms
    timeline: Path
    observations: Path
    """Where the cell's observations are, or are to be written."""
    measured: bool
    """Whether they are there already, and only the scores are missing."""
    folder: Path
    timeout: float
    embedder: Recalled
    model: str
    """The name by which the embedder is installed."""
    swaps: dict[str, Recalled]
    """The embedders that the run's timelines change to, by the names that they use."""

    @property
    def last_words(self) -> Path:
        """What a hanging worker leaves behind."""
        return last_words(self.folder)


def last_words(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.hung")


def start(parent: int, scratch: str) -> None:
    """Prepare a worker: silent, deaf to Ctrl-C (the parent hears it), and gone when its parent is.

    What vendors leave in temporary folders goes to ``scratch``, and with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_ORPHAN_CHECK_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def inspect(
    adapter: str, options: dict[str, str], folder: Path, embedder: Recalled, timeout: float
) -> Info | Unavailable | Unsupported | str:
    """What a backend says of itself, by opening it empty; or why it cannot be opened."""
    try:
        with Deadline(timeout, last_words(folder)):
            info = _introduced(adapter, options, folder, embedder)
    except (Unavailable, Unsupported) as error:
        return type(error)(redacted(str(error)))
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a backend raises is its outcome
        return redacted(f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return info


def options(adapter: str, folder: Path, embedder: Recalled) -> Mapping[str, tuple[str, ...]] | None:
    """The options of an adapter, as it names them when it refuses another; None: it does not say."""
    try:
        _introduced(adapter, {"no-such-option": ""}, folder, embedder)
    except BadOption as error:
        return error.known
    except Exception:  # noqa: BLE001 - whatever else it does with one, it does not say
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None


def sentences(exam: Timeline) -> list[str]:
    """Everything of a timeline that is ever embedded; echoes are facts' own texts."""
    return [*(fact.text for fact in exam.facts.values()), *(probe.question for probe in exam.probes)]


def changes_to(exam: Timeline) -> set[str]:
    """The embedders that a timeline changes to."""
    return {event.embedder for event in exam.events if isinstance(event, EmbedderChanged)}


def perform(task: Task) -> bytes:
    """Measure a cell, unless it is measured, and score it; returns its line of ``scores.jsonl``."""
    evaluator = _evaluator(task.timeline, task.cell.timeline, task.terms)
    seen = observations.read(task.observations) if task.measured else _kept(task, _measured(task, evaluator))
    return encode(score_cell(task.cell, seen, evaluator.timeline, task.observations))


def forget(task: Task) -> None:
    """Remove what a cell on a server left there as its worker died; a server that is gone keeps it."""
    task.folder.mkdir(parents=True, exist_ok=True)
    try:
        with Deadline(task.timeout, task.last_words), contextlib.suppress(Exception):
            _drop(_opened(task, read_timeline(task.timeline, task.cell.timeline))[1])
    finally:
        shutil.rmtree(task.folder, ignore_errors=True)


def without_measuring(
    cell: Cell, terms: Terms, outcome: Outcome, reason: str, during: str = "open"
) -> Observations:
    """The observations of a cell in which nothing was asked, and why."""
    return Observations(
        head=_head(cell, terms),
        errors=(ErrorSeen(seq=0, during=during, error=reason),) if outcome == "errored" else (),
        footer=Footer(outcome=outcome, reason=reason, finished=_now()),
    )


def described(stack: StackId, info: Info) -> StackId:
    """A stack's identity with what its backend said of itself: one that embeds by itself is labelled."""
    own = ("embedder of its own",) if info.embeds else ()
    return structs.replace(
        stack,
        backend=info.backend,
        version=info.version,
        deployment=info.deployment,
        clock=info.clock,
        note="; ".join(filter(None, (info.note, *own))),
    )


def _introduced(adapter: str, asked: dict[str, str], folder: Path, embedder: Recalled) -> Info:
    place = Place(
        namespace=_namespace(folder.name, folder.parent),
        folder=folder / "store",
        dim=embedder.dim,
        expected=1,
    )
    folder.mkdir(parents=True, exist_ok=True)
    opened: Store | MemoryService
    if registry.is_memory(adapter):
        opened = registry.memory(adapter)(place, asked, embedder)
    else:
        opened = registry.adapter(adapter)(place, asked)
    info = opened.info
    opened.drop()
    opened.close()
    return well_typed(info)


def _measured(task: Task, evaluator: LifecycleEvaluator) -> Observations:
    task.folder.mkdir(parents=True, exist_ok=True)
    head = _head(task.cell, task.terms)
    try:
        with Deadline(task.timeout, task.last_words) as deadline:
            if task.cell.kind == "control":
                control = CONTROLS[task.cell.stack.adapter]
                return _finished(
                    evaluator.observe(_watched(lambda: control(evaluator.timeline), deadline), head)
                )
            open_memory, open_bare = _opened(task, evaluator.timeline)
            served = task.cell.stack.deployment == "server"
            if served:
                _drop(open_bare)  # what a killed run may have left on the server
            seen = evaluator.observe(_watched(open_memory, deadline), head)
            if served:
                deadline.renew()
                _drop(open_bare)  # unavailable by now: whatever was seen is of a server that went away
            elif seen.erasure is not None:
                deadline.renew()
                left = _left(task, evaluator.timeline, seen.erasure, open_bare)
                seen = structs.replace(seen, erasure=left)
            return _finished(seen)
    except Unavailable as error:
        return without_measuring(task.cell, task.terms, "unavailable", redacted(str(error)))
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a backend raises while it is opened or dropped is its outcome
        reason = redacted(f"{type(error).__name__}: {error}")
        return without_measuring(task.cell, task.terms, "errored", reason)
    finally:
        shutil.rmtree(task.folder, ignore_errors=True)


def _kept(task: Task, seen: Observations) -> Observations:
    """Written; of a memory of others read back too, since what it returns may be of any type."""
    try:
        observations.write(task.observations, seen)
    except (TypeError, UnicodeError) as error:
        reason = str(error)
    else:
        if not registry.is_memory(task.cell.stack.adapter):
            return seen
        try:
            return observations.read(task.observations)
        except BadInput as error:
            reason = str(error).removeprefix(f"{task.observations}:")
    reason = redacted(f"what was returned cannot be written down: {reason}")
    seen = without_measuring(task.cell, task.terms, "errored", reason, "answer")
    observations.write(task.observations, seen)
    return seen


def _left(
    task: Task, exam: Timeline, seen: ErasureSeen, open_bare: Callable[[], Store | MemoryService]
) -> ErasureSeen:
    """What is left in the closed store's files, and after its own compaction."""
    changed = (task.swaps[name] for name in sorted(changes_to(exam)))
    embed = [_recalled(each).embed for each in (task.embedder, *changed)]
    wanted = erasure.canaries(exam, erasure.told_to_erase(exam), embed)
    stays = erasure.canaries(exam, erasure.still_stored(exam), embed)
    closed, live = erasure.traces(task.folder, wanted, stays)
    compacted = None
    if closed.facts:
        store = open_bare()
        if isinstance(store, Compacting):
            store.compact()
            (compacted,) = erasure.traces(task.folder, wanted)
        else:
            store.close()
    legible = bool(live.text and live.vector) or not task.folder.joinpath("store").exists()
    return structs.replace(seen, closed=closed, compacted=compacted, legible=legible)


def _watched(open_memory: Callable[[], MemoryService], deadline: Deadline) -> Callable[[], MemoryService]:
    return lambda: Watched(open_memory, deadline)


def _opened(task: Task, exam: Timeline) -> Openers:
    is_memory = registry.is_memory(task.cell.stack.adapter)
    return (_opened_memory if is_memory else _opened_stack)(task, exam)


def _opened_stack(task: Task, exam: Timeline) -> Openers:
    open_store = registry.adapter(task.cell.stack.adapter)
    place, name = _place(task, exam), stack_name(task.cell.stack)
    policies = layers.parse(name.layers, exam.header.exclusive, _told(exam))
    embedders = _embedders(task, exam)

    def open_bare() -> Store:
        return open_store(place, name.adapter_options)

    return lambda: LayeredMemory(open_bare, policies, embedders, cast(Swap, name.option("swap"))), open_bare


def _opened_memory(task: Task, exam: Timeline) -> Openers:
    open_memory = registry.memory(task.cell.stack.adapter)
    place, options = _place(task, exam), stack_name(task.cell.stack).adapter_options
    _embedders(task, exam)  # what is known beforehand is looked up now
    embedder = Unforeseen(_recalled(task.embedder), task.model)

    def open_whole() -> MemoryService:
        return open_memory(place, options, embedder)

    return open_whole, open_whole


def _place(task: Task, exam: Timeline) -> Place:
    return Place(
        namespace=_namespace(task.cell.name, task.folder.parent),
        folder=task.folder / "store",
        dim=task.embedder.dim,
        expected=_told(exam),
    )


def _told(exam: Timeline) -> int:
    """How many facts a timeline tells."""
    return sum(is_announced(event) and introduces(event) is not None for event in exam.events)


def _drop(open_bare: Callable[[], Store | MemoryService]) -> None:
    left = open_bare()
    left.drop()
    left.close()


def _finished(seen: Observations) -> Observations:
    """Stamped, and with nothing in its reasons that must not be published."""
    errors = tuple(structs.replace(error, error=redacted(error.error)) for error in seen.errors)
    footer = seen.footer and structs.replace(
        seen.footer, reason=seen.footer.reason and redacted(seen.footer.reason), finished=_now()
    )
    return structs.replace(seen, errors=errors, footer=footer)


def _head(cell: Cell, terms: Terms) -> Head:
    return Head(
        timeline=cell.timeline,
        cell=cell.name,
        suite=terms.suite,
        stack=cell.stack,
        embedder=terms.embedder,
        k=terms.k,
        forget_within=terms.forget_within,
        links_told=terms.links_told,
        machine={**machine(), "python": sys.version.split()[0]},
        started=_now(),
    )


def _namespace(name: str, folder: Path) -> str:
    """The cell's own, and the run's own: two runs may share a server."""
    return "memrot" + hashlib.sha256(f"{folder.name.rpartition('-')[0]}/{name}".encode()).hexdigest()[:24]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _embedders(task: Task, exam: Timeline) -> Embedders:
    """With every sentence looked up now, so that no call waits for it."""
    first = _recalled(task.embedder)
    others = {name: _recalled(task.swaps[name]) for name in sorted(changes_to(exam))}
    for embedder in (first, *others.values()):
        embedder.embed(sentences(exam))
    return Embedders(first, others)


_EMBEDDERS: dict[str, Recalled] = {}


def _recalled(sent: Recalled) -> Recalled:
    """The worker's own embedder, which keeps what earlier cells looked up."""
    return _EMBEDDERS.setdefault(sent.fingerprint, sent)


@lru_cache(maxsize=4)
def _evaluator(path: Path, identity: TimelineId, terms: Terms) -> LifecycleEvaluator:
    """Cells come timeline by timeline, so a worker reads and prepares each of them once."""
    return LifecycleEvaluator(
        read_timeline(path, identity),
        terms.k,
        terms.forget_within,
        terms.ask_every,
        terms.links_told,
        peek=True,
    )
