"""``memrot run``: measure, then show what came out."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from memrot.cli import elsewhere, exits
from memrot.errors import BadInput

if TYPE_CHECKING:
    from memrot.leaderboard import Board


def run(  # noqa: PLR0917 - an option each
    profile: Annotated[
        str,
        Option(
            metavar="NAME",
            help="smoke (a minute), default (the leaderboard), full, retention, native or field.",
        ),
    ] = "default",
    stack: Annotated[
        list[str] | None,
        Option(
            metavar="STACK", help="Instead of the profile's, e.g. qdrant+ttl[hard]+supersession; repeatable."
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        Option(metavar="NAME|FILE", help="Instead of the profile's; a timeline file will do; repeatable."),
    ] = None,
    seeds: Annotated[int | None, Option(metavar="N", help="Timelines a scenario: seeds 1 to N.")] = None,
    k: Annotated[int | None, Option("--k", metavar="K", help="Hits asked for.")] = None,
    jobs: Annotated[
        int | None,
        Option(metavar="N", help="Cells measured at a time (default: the cores); changes no result."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            metavar="DIR", help="The run's folder (default: results/<date-time>); finished if interrupted."
        ),
    ] = None,
    forget_within: Annotated[
        int, Option(metavar="N", help="Change points after which an ended fact must be gone.")
    ] = 3,
    timeout: Annotated[float, Option(metavar="SECONDS", help="What one call of a memory may take.")] = 60.0,
    embedder: Annotated[
        str, Option(metavar="NAME", help="minilm, or hashing (lexical: for tests).")
    ] = "minilm",
    links_told: Annotated[
        float, Option(metavar="SHARE", help="Share of 'replaces' and 'stands on' that memories hear of.")
    ] = 1.0,
    ask_every: Annotated[int, Option(metavar="N", help="Ask after every so many events.")] = 1,
    fresh: Annotated[bool, Option("--fresh", help="Measure anew what was measured before.")] = False,
    fail_under: Annotated[
        list[str] | None,
        Option(metavar="METRIC=VALUE", help="Exit 1 if a stack's metric is lower; repeatable."),
    ] = None,
    llm_base_url: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Of an OpenAI-compatible server, for memories that use one (or MEMROT_LLM_URL); its key: "
            "MEMROT_LLM_API_KEY.",
        ),
    ] = None,
    python: Annotated[
        list[str] | None,
        Option(
            metavar="[NAME=]PATH",
            help="Measure the stacks of adapter NAME in another environment with memrot, for backends that "
            "exclude each other; repeatable. Without NAME: the whole run.",
        ),
    ] = None,
    metrics_file: Annotated[
        Path | None, Option(metavar="FILE", help="Write the framework's metrics as Prometheus gauges.")
    ] = None,
) -> None:
    """Replay timelines over stacks, score what comes back, and print the leaderboard.

    Interrupted, the same command finishes only what is missing.
    """
    pythons = elsewhere.pythons(python or (), "--python")
    bounds = [_bound(text) for text in fail_under or ()]
    if llm_base_url is not None:
        os.environ["MEMROT_LLM_URL"] = llm_base_url  # workers find it where adapters look for addresses

    from memrot import leaderboard
    from memrot.lines import refuse_unwritable
    from memrot.run import Request
    from memrot.run import run as measure

    if metrics_file is not None:
        refuse_unwritable(metrics_file)
    request = Request(
        profile=profile,
        stacks=tuple(stack or ()),
        scenarios=tuple(scenario or ()),
        seeds=seeds,
        k=k,
        jobs=_cores() if jobs is None else jobs,
        out=out,
        forget_within=forget_within,
        timeout=timeout,
        embedder=embedder,
        ask_every=ask_every,
        links_told=links_told,
        fresh=fresh,
        pythons=pythons,
    )
    try:
        folder = measure(request)
        board = leaderboard.of(folder)
        leaderboard.write(folder, board)
    except KeyboardInterrupt:
        typer.echo("interrupted: the same command goes on where this one stopped", err=True)
        raise typer.Exit(exits.INTERRUPTED) from None
    if metrics_file is not None:
        from memrot.cli import gauges

        gauges.write(metrics_file, board)
    typer.echo(leaderboard.render(board))
    typer.echo(f"\nKept in {folder.path}. Evidence: memrot explain {folder.path} --stack STACK")
    raise typer.Exit(_verdict(board, bounds))


def _cores() -> int:
    """The cores that this process may use; a container has fewer than its machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _bound(text: str) -> tuple[str, float]:
    from memrot.leaderboard.rows import LESS_IS_BETTER, METRICS

    known = [metric for metric in METRICS if metric not in LESS_IS_BETTER]
    metric, equals, value = text.partition("=")
    try:
        bound = float(value)
    except ValueError:
        bound = float("nan")
    if not equals or metric not in known or math.isnan(bound):
        raise BadInput(
            f"--fail-under: expected METRIC=VALUE with a metric of {', '.join(known)} (more is better), "
            f"got {text!r}"
        )
    return metric, bound


def _verdict(board: Board, bounds: list[tuple[str, float]]) -> int:
    """The exit code, and a line on standard error for each reason."""
    code = exits.OK
    stacks = [row for row in board.table.rows if row.kind == "stack"]
    for row in stacks:
        if row.outcome != "answered":
            _say(f"{row.stack}: {row.outcome}: {row.reason}")
            code = exits.MISSING
    for metric, bound in bounds:
        for row in (row for row in stacks if row.outcome == "answered"):
            estimate = row.metrics[metric]
            if estimate is None or estimate.mean < bound:
                got = "undefined" if estimate is None else f"{estimate.mean:.4f}"
                _say(f"{row.stack}: {metric} is {got}, under {bound:g}")
                code = exits.UNDER
    if board.broken:
        _say("the exam is broken: " + "; ".join(board.broken[:3]))
        code = exits.BROKEN_EXAM
    return code


def _say(line: str) -> None:
    typer.echo(line, err=True)
