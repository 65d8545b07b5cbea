"""``memrot publish``, ``verify`` and ``cite``: results that others can check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrot.cli import exits
from memrot.errors import BadInput

RESULTS = Path("results")


def publish(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.", metavar="RUN")],
    release: Annotated[
        Path | None,
        typer.Argument(
            help="The folder to make, e.g. results/1.0.0; without it RUN's own files are derived again.",
            metavar="[RELEASE]",
        ),
    ] = None,
) -> None:
    """Make a release folder of a finished run: small, whole, and verified."""
    from memrot import publish as publication
    from memrot.results import RunFolder

    folder = RunFolder(run)
    board = publication.derive(folder) if release is None else publication.publish(folder, release)
    if board.table.embedder.lexical:
        typer.echo("warning: the embedder is lexical: these numbers are for tests", err=True)
    target = release or run
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    cells = sum(map(len, board.cells.values()))
    typer.echo(f"{target}: {cells} cells, {size / 1e6:.1f} MB, scoring {board.table.scoring}")


def verify(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Releases, runs or contributed folders; without any: all that results/ publishes.",
            metavar="[FOLDER...]",
        ),
    ] = None,
    named: Annotated[str | None, typer.Option("--id", metavar="ID", help="The id that was cited.")] = None,
) -> None:
    """Derive everything again from observations and seeds; exit 1, a line for each difference."""
    from memrot import publish as publication

    found = folders or publication.published(RESULTS)
    if named is not None and len(found) != 1:
        raise BadInput(f"--id: expected one folder, got {len(found)}")
    if not found:
        typer.echo(f"nothing is published in {RESULTS}")
    differs = False
    for folder in found:
        report = publication.verify(folder)
        findings = [*report.findings]
        if named is not None and report.identity is not None and not report.identity.is_called(named):
            findings.append(f"{folder}: its id is {report.identity}, not {named}")
        for note in report.notes:
            typer.echo(f"note: {note}", err=True)
        for finding in findings:
            typer.echo(finding, err=True)
        differs = differs or bool(findings)
        if not findings:
            typer.echo(
                f"{folder}: {report.cells} cells and {report.timelines} timelines verified, {report.identity}"
            )
    raise typer.Exit(exits.UNDER if differs else exits.OK)


def cite(
    run: Annotated[
        Path | None,
        typer.Argument(
            help="A release or a run (default: the newest that results/ publishes, else your newest).",
            metavar="[RUN]",
        ),
    ] = None,
    stack: Annotated[str | None, typer.Option("--stack", metavar="STACK", help="One row.")] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", metavar="METRIC", help="Another than lifecycle.")
    ] = None,
) -> None:
    """Print a Markdown snippet and a BibTeX entry with a permanent id that a reader can verify."""
    from memrot import leaderboard
    from memrot import publish as publication
    from memrot.names import parse
    from memrot.publish.citation import cite as cited
    from memrot.results import RunFolder, newest_complete

    if run is not None:
        folder = RunFolder(run)
    else:
        releases = [RunFolder(path) for path in publication.published(RESULTS)]
        folder = max(releases, key=lambda each: each.manifest().finished or "", default=None) or (
            newest_complete(RESULTS)
        )
    board = leaderboard.of(folder)
    manifest = folder.manifest()
    observed = {each.cell.name: each.observed for cells in board.cells.values() for each in cells}
    identity = publication.identity(manifest, observed)
    asked = None if stack is None else str(parse(stack))
    typer.echo(cited(board, manifest, identity, stack=asked, metric=metric))
