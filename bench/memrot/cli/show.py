"""``memrot leaderboard``, ``diagnose``, ``explain`` and ``score``: what follows from observations."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from memrot.errors import BadInput

By = Literal["domain", "scenario", "question", "layer", "reason", "lead", "links"]
Format = Literal["table", "markdown", "json"]
"""Both as in ``memrot.leaderboard``, which is not imported until it is needed."""

Run = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")]


def leaderboard(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs of the same exam.", metavar="RUN...")],
    shape: Annotated[Format, typer.Option("--format", help="How to print it.")] = "table",
    by: Annotated[
        By | None,
        typer.Option(
            "--by", help="Break the lifecycle score down instead; links: runs of several --links-told."
        ),
    ] = None,
    wide: Annotated[bool, typer.Option("--wide", help="Show every metric.")] = False,
) -> None:
    """Compare the stacks of one run, or of several runs of the same exam."""
    if by is not None and shape == "json":
        raise BadInput("--by prints a table or Markdown; the JSON has every row's metrics without it")

    from memrot import leaderboard as board
    from memrot.results import RunFolder

    if by == "links":
        typer.echo(board.by_links(board.of_shares(*(RunFolder(run) for run in runs)), shape))
        return
    table = board.of(*(RunFolder(run) for run in runs))
    typer.echo(board.broken_down(table, by, shape) if by else board.render(table, shape, wide=wide))


def diagnose(run: Run) -> None:
    """Show who leaks and who over-forgets: stale hits and misses, each charged to one cause."""
    from memrot import diagnose as diagnosis
    from memrot import leaderboard as board
    from memrot.results import RunFolder

    found = diagnosis.diagnose(board.scores_by_row(RunFolder(run).scored()))
    typer.echo("Leaks: stale hits, asserted / hedged, charged to the layer that should have stopped them")
    typer.echo(diagnosis.leak_table(found))
    typer.echo(
        "\nunknowable: nobody announced the end and no window had passed\n\n"
        "Misses: told, true, asked for, and not returned"
    )
    typer.echo(diagnosis.miss_table(found))
    typer.echo("\noutranked, re-embedded and not found by the index are failures of retrieval, not of memory")


def explain(
    run: Run,
    stack: Annotated[str, typer.Option("--stack", help="Which row of the leaderboard.")],
    probe: Annotated[str | None, typer.Option("--probe", help="Only this probe.")] = None,
    scenario: Annotated[str | None, typer.Option("--scenario", help="Only this scenario.")] = None,
    worst: Annotated[int, typer.Option("--worst", help="How many answers to show.", min=1)] = 3,
) -> None:
    """Show a stack's worst answers with the evidence: what it said, what was true, what ended the rest."""
    from memrot import explain as explanation
    from memrot import registry
    from memrot.cells import stack_name
    from memrot.names import parse
    from memrot.results import RunFolder

    folder = RunFolder(run)
    cells = folder.manifest().cells
    asked = str(parse(stack))
    known = dict.fromkeys(str(stack_name(cell.stack)) for cell in cells)
    if asked not in known:
        raise BadInput(f"stack {asked!r} is not in this run: expected one of {', '.join(known)}")
    wanted = None if scenario is None else registry.scenario_id(scenario)
    held = dict.fromkeys(cell.timeline.id for cell in cells)
    if wanted is not None and wanted not in held:
        raise BadInput(f"scenario {wanted!r} is not in this run: expected one of {', '.join(held)}")
    sat = [
        (cell, folder.timeline(cell.timeline))
        for cell in cells
        if str(stack_name(cell.stack)) == asked and wanted in (None, cell.timeline.id)
    ]
    having = [(cell, exam) for cell, exam in sat if any(probe in (None, each.id) for each in exam.probes)]
    found = []
    failed = []
    for cell, exam in having or sat[:1]:
        seen = folder.observations(cell)
        if seen.footer is not None and seen.footer.outcome != "answered":
            failed.append(f"{seen.footer.outcome}: {seen.footer.reason}")
        evidence = explanation.evidence(exam, seen, probe=probe, worst=worst)
        found += [(each, cell.timeline) for each in evidence]
    if not found:
        why = "no stale hit among its answers" if probe is None else f"probe {probe!r} was never asked"
        typer.echo(f"{asked}: {failed[0] if failed else why}")
        return
    found.sort(key=lambda pair: pair[0].badness, reverse=True)
    colour = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if colour else explanation.WIDTH
    typer.echo(explanation.LEGEND + "\n")
    for each, timeline in found[:worst]:
        typer.echo(f"{asked}  ·  {timeline.id} seed {timeline.seed}")
        typer.echo(explanation.render([each], colour=colour, width=width) + "\n")


def score(
    observations: Annotated[Path, typer.Argument(help="A file of observations.", metavar="OBSERVATIONS")],
    timeline: Annotated[Path, typer.Option("--timeline", help="The timeline that was replayed.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with every number.")] = False,
) -> None:
    """Recompute every number of a cell from its raw files."""
    import msgspec
    from tabulate import tabulate

    from memrot import observations as raw
    from memrot import score as scoring
    from memrot import timeline as exam

    sat, seen = exam.read(timeline), raw.read(observations)
    if seen.head.timeline.digest not in ("", sat.digest):
        raise BadInput(
            f"made with another timeline than {timeline}: the digests differ", file=str(observations)
        )
    if seen.footer is None:
        raise BadInput("no footer: the cell is incomplete", file=str(observations))
    scores = scoring.score(sat, seen)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(scores), indent=1).decode())
        return
    rows = [
        [name, "-" if value is None else f"{value:.4f}" if isinstance(value, float) else value]
        for name, value in scores.cell.items()
    ]
    typer.echo(tabulate(rows, ["metric", "cell"], disable_numparse=True, colalign=("left", "right")))
