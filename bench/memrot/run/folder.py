"""Where a run goes, whether it may go there, and where its stores keep their data meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from memrot.errors import BadInput
from memrot.results import Manifest, RunFolder, Settings, difference, newest_incomplete
from memrot.run.plan import Request


def chosen(request: Request, settings: Settings) -> RunFolder:
    """The folder that was asked for, else the newest run that was interrupted, else a new one."""
    if request.out is not None:
        return RunFolder(request.out)
    interrupted = None if request.fresh else newest_incomplete(request.results, settings)
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    return interrupted or RunFolder(request.results / stamp)


def check(folder: RunFolder, settings: Settings, *, fresh: bool) -> None:
    """Raise BadInput unless a (locked) folder is empty or of the same settings; nothing is changed."""
    if not folder.exists():
        if any(not path.name.startswith(".") and path.name != "timelines" for path in folder.path.iterdir()):
            raise BadInput(
                "neither empty nor the folder of a run: choose another --out", file=str(folder.path)
            )
        return
    differs = None if fresh else difference(settings, folder.manifest().settings)
    if differs is not None:
        raise BadInput(
            f"this run was asked otherwise: {differs}; choose another --out, or --fresh to measure anew",
            file=str(folder.path),
        )


def tidy(folder: RunFolder) -> None:
    """Remove what killed sittings left half written."""
    for part in folder.path.rglob(".*"):
        if part.name != ".lock":
            part.unlink(missing_ok=True)


def forget_unknown(folder: RunFolder, before: Manifest, now: Manifest) -> None:
    """Remove cells of stacks that could not be opened then and were now: what they are is in the name."""
    names = {cell.name for cell in now.cells}
    for cell in before.cells:
        if not cell.stack.backend and cell.name not in names:
            folder.file_of(cell).unlink(missing_ok=True)


@contextmanager
def scratch(run_id: str) -> Iterator[Path]:
    """A temporary folder for stores; those of killed sittings of the same run are removed."""
    root = Path(tempfile.gettempdir())
    for stale in root.glob(f"memrot-{run_id}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    mine = root / f"memrot-{run_id}-{os.getpid()}"
    try:
        mine.mkdir(mode=0o700)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(root)) from None
    try:
        yield mine
    finally:
        shutil.rmtree(mine, ignore_errors=True)
