"""``memrot compare`` and ``ablate``: which differences are real, and which layer makes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memrot.cli import exits
from memrot.cli.publish import RESULTS
from memrot.errors import BadInput

if TYPE_CHECKING:
    from memrot.compare import Comparison
    from memrot.results import RunFolder, Scored

Shape = Literal["table", "markdown"]


def compare(
    what: Annotated[
        list[str],
        typer.Argument(
            help="Two runs; or a run (default: the newest in results/) and two of its stacks.",
            metavar="[RUN] A B",
        ),
    ],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="METRIC<VALUE",
            help="Exit 1 if the difference (B less A) is beyond it, e.g. 'consistency<-0.02'; repeatable.",
        ),
    ] = None,
    shape: Annotated[Shape, typer.Option("--format", help="How to print it.")] = "table",
) -> None:
    """Compare two stacks of a run, or the stacks that two runs share: what differs, where, and why."""
    from memrot import compare as comparing

    bounds = [comparing.Bound.parse(text) for text in fail_on or ()]
    code = exits.OK
    for name, found in _compared(what).items():
        typer.echo(f"{name}\n" if name else "", nl=False)
        typer.echo(comparing.render(found, shape) + "\n")
        for bound in bounds:
            broken = bound.broken_by(found)
            if broken is not None:
                typer.echo(f"{name or found.second}: {broken}", err=True)
                code = exits.UNDER
    raise typer.Exit(code)


def _compared(what: list[str]) -> dict[str, Comparison]:
    """Stack -> its comparison in two runs; ``""`` for two stacks of one run."""
    from memrot import compare as comparing
    from memrot.leaderboard import of
    from memrot.results import RunFolder, newest_complete

    runs = [text for text in what if (Path(text) / "manifest.json").exists()]
    match what:
        case [_, _] if len(runs) == 2:
            return _runs(RunFolder(Path(what[0])), RunFolder(Path(what[1])))
        case [first, second] if not runs:
            folder = newest_complete(RESULTS)
        case [run, first, second]:
            folder = RunFolder(Path(run))
        case _:
            raise BadInput(f"expected two runs, or two stacks, or a run and two stacks, got {' '.join(what)}")
    rows = of(folder).cells
    a, b = (_row(rows, text, folder) for text in (first, second))
    return {"": comparing.compare(a, rows[a], b, rows[b])}


def _runs(first: RunFolder, second: RunFolder) -> dict[str, Comparison]:
    from memrot import compare as comparing
    from memrot.leaderboard import of, refuse_other

    refuse_other(first, second)
    ours, theirs = of(first).cells, of(second).cells
    shared = [name for name in ours if name in theirs and ours[name][0].cell.kind == "stack"]
    if not shared:
        raise BadInput(f"{first.path} and {second.path} have no stack in common")
    return {
        name: comparing.compare(str(first.path), ours[name], str(second.path), theirs[name])
        for name in shared
    }


def _row(rows: dict[str, list[Scored]], text: str, folder: RunFolder) -> str:
    from memrot.names import parse

    name = text if text in rows else str(parse(text))
    if name not in rows:
        raise BadInput(
            f"stack {name!r} is not in {folder.path}: expected one of {', '.join(rows)}; "
            f"memrot run --stack {name} measures it"
        )
    return name


def ablate(
    run: Annotated[
        Path | None, typer.Argument(help="A run (default: the newest in results/).", metavar="[RUN]")
    ] = None,
    adapter: Annotated[
        str, typer.Option("--adapter", metavar="NAME", help="Whose eight sets of layers to compare.")
    ] = "exact",
    shape: Annotated[Shape, typer.Option("--format", help="How to print it.")] = "table",
) -> None:
    """Show what each layer is worth, alone and together, from every set of the three layers."""
    from memrot import ablation
    from memrot.names import parse
    from memrot.results import RunFolder, newest_complete

    name = parse(adapter)
    if name.layers:
        raise BadInput(f"--adapter: expected an adapter without layers, got {adapter!r}")
    folder = RunFolder(run) if run is not None else newest_complete(RESULTS)
    found = ablation.ablate(ablation.factorial(folder.scored(), name.base))
    typer.echo(ablation.render(found, shape))
