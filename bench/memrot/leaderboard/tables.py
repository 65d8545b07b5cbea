"""Leaderboards for people: text for a terminal, Markdown for a page.

First a grid of what was asked first of all, backend by layer set; then a row a stack with how good
it is; then how each of them ran. ``wide`` puts everything into one row a stack.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import UNSET
from tabulate import tabulate

from memrot.cells import stack_name
from memrot.layers.policy import DEFAULT, lifetimes
from memrot.leaderboard.capabilities import Declared, matrix, reasons
from memrot.leaderboard.rows import METRICS, Estimate, Row, comparable, encoded
from memrot.leaderboard.stability import in_words, stability
from memrot.memory import TTL_DAYS
from memrot.names import StackName

if TYPE_CHECKING:
    from memrot.leaderboard import Board

Format: TypeAlias = Literal["table", "markdown", "json"]

HEADINGS = {
    "lifecycle": "lifecycle",
    "confidently_wrong": "conf. wrong",
    "freshness": "fresh",
    "consistency": "consist.",
    "coverage": "cover.",
    "forgetting": "forget@{n}",
    "contamination": "contam.",
    "recall": "recall*",
}
"""The metrics of the narrow table, in order; the wide one adds the rest."""


def render(board: Board, shape: Format = "table", *, wide: bool = False) -> str:
    """The whole leaderboard as text, Markdown or JSON."""
    if shape == "json":
        return encoded(board.table)
    parts = [title(board), heading("Lifecycle score, backend by layer set", shape), grid(board, shape)]
    parts += [heading("Every stack", shape), quality(board, shape, METRICS if wide else tuple(HEADINGS))]
    parts += [heading("How they ran", shape), circumstances(board, shape), notes(board, shape)]
    if board.repeats:
        parts += [heading("Measured more than once", shape), repeats(board, shape)]
    if board.capabilities:
        parts += [heading("Who does what", shape), capabilities(board.capabilities, shape)]
    parts += [heading("Timelines, by seed and digest", shape), timelines(board, shape)]
    return "\n\n".join(part for part in parts if part)


def markdown(board: Board) -> str:
    return f"# Leaderboard\n\n{render(board, 'markdown')}"


def title(board: Board) -> str:
    made = board.table
    scenarios = {each.id for each in made.timelines}
    embedder = made.embedder.name
    if made.embedder.lexical:
        embedder += " (LEXICAL: compares spelling only; not for publication)"
    return (
        f"suite {made.suite}, {len(scenarios)} scenario{'s' * (len(scenarios) > 1)}, "
        f"{len(made.timelines)} timeline{'s' * (len(made.timelines) > 1)}, k = {made.k}, embedder {embedder}"
        + ("" if made.links_told is UNSET else f", links told {made.links_told:g}")
    )


def grid(board: Board, shape: Format) -> str:
    """Layer sets down, backends across."""
    names = {row.stack: stack_name(board.cells[row.stack][0].cell.stack) for row in _stacks(board)}
    backends = list(dict.fromkeys(_backend(row, names[row.stack]) for row in _stacks(board)))
    sets = list(dict.fromkeys(names[row.stack].layer_set for row in _stacks(board)))
    cells = {
        (names[row.stack].layer_set, _backend(row, names[row.stack])): _lifecycle(row)
        for row in _stacks(board)
    }
    body = [[layers, *(cells.get((layers, backend), "") for backend in backends)] for layers in sets]
    return table(body, ["layers", *backends], shape)


def quality(board: Board, shape: Format, metrics: Sequence[str]) -> str:
    """A row a stack, best first, then the controls."""
    headings = [
        HEADINGS.get(metric, metric.replace("_", " ")).format(n=board.table.forget_within)
        for metric in metrics
    ]
    erasing = any(row.erased is not UNSET for row in board.table.rows)
    body = []
    for row in ordered(board):
        rank = (
            "control"
            if row.kind == "control"
            else "-"
            if row.rank is None
            else f"{row.rank[0]}-{row.rank[1]}"
        )
        if all(estimate is None for estimate in row.metrics.values()):
            body.append([row.stack, rank, row.outcome, *[""] * (len(metrics) - 1), _answered(row)])
            continue
        shown = [
            interval(row.metrics[metric]) if metric == "lifecycle" else number(row.metrics[metric])
            for metric in metrics
        ]
        body.append([row.stack, rank, *shown, _answered(row), *([_erased(row)] if erasing else [])])
    headings += ["answered", *(["erased**"] if erasing else [])]
    return table(body, ["stack", "rank", *headings], shape)


def circumstances(board: Board, shape: Format) -> str:
    """How each stack ran: where, which version, how filters ran, how fast, and what became of its cells."""
    body = [
        [
            row.stack,
            f"{board.cells[row.stack][0].cell.stack.backend} {row.version}".strip(),
            row.deployment,
            row.filters,
            "" if row.latency_ms.p50 is None else f"{row.latency_ms.p50:.2f}",
            "" if row.latency_ms.p95 is None else f"{row.latency_ms.p95:.2f}",
            _outcomes(row),
            board.cells[row.stack][0].cell.stack.note,
        ]
        for row in ordered(board)
        if row.kind == "stack"
    ]
    return table(
        body,
        ["stack", "backend", "deployment", "filters", "p50 ms", "p95 ms", "cells", "note"],
        shape,
        numbers=False,
    )


def capabilities(declared: Declared, shape: Format) -> str:
    """A row a backend, a column a capability; then the reasons."""
    headings, body = matrix(declared, linked=shape == "markdown")
    return f"{table(body, headings, shape, numbers=False)}\n\n{_lines(reasons(declared), shape)}"


def repeats(board: Board, shape: Format) -> str:
    """How far a second measurement of the same cells differs, row by row."""
    body = [
        [
            each.stack,
            f"{each.cells} × {each.times}",
            str(each.differing),
            "-" if each.spread is None else f"{each.spread:.4f}",
        ]
        for each in board.repeats
    ]
    return table(body, ["stack", "cells × times", "cells that differ", "largest lifecycle difference"], shape)


def notes(board: Board, shape: Format) -> str:
    """What a reader must know to read the numbers."""
    ttls = ", ".join(f"{domain} {days:g} d" for domain, days in TTL_DAYS.items())
    lines = [
        "Within a layer set exact stores should tie; a difference is a finding.",
        "lifecycle: 1 is perfect; ±: 95% interval over new seeds. conf. wrong, contam.: less is better.",
        "rank: the places that the differences allow (95%, Holm); a stack with an error has none.",
        "*recall: share of all facts ever told that were returned, true or not: hoarding wins it.",
        "answered: cells of the exam; ranks are only between rows that answered the same ones.",
        f"ttl: facts last {ttls}. p50, p95: milliseconds a question, without embedding.",
    ]
    if any(layer.startswith("retention") for row in board.table.rows for layer in row.layers):
        lines.append(f"retention: facts last {lifetimes(DEFAULT)}.")
    if any(row.erased is not UNSET for row in board.table.rows):
        lines.append(
            "**erased, where told to: from the answers / from the store / from its files once closed "
            "(compacted: once the store's own compaction had run)."
        )
    stable = stability(comparable(board.cells))
    if stable is not None:
        lines.append(in_words(stable))
    if board.leaking:
        lines.append(f"{board.leaking} leaking probes go on after the last fact of their key has ended.")
    lines += [
        f"{row.stack}: {row.outcome}: {row.reason}" for row in board.table.rows if row.outcome != "answered"
    ]
    if board.broken:
        lines.append(
            "THE EXAM IS BROKEN, no number above can be trusted. Controls did not score what they must:"
        )
        lines += board.broken
    else:
        lines.append("Controls score what they must: the exam is sound.")
    return _lines(lines, shape)


def timelines(board: Board, shape: Format) -> str:
    """Which exam was sat: the first 12 digits of each timeline's digest (FORMATS.md)."""
    sat: dict[str, list[str]] = {}
    for each in board.table.timelines:
        sat.setdefault(f"{each.id} r{each.revision}", []).append(f"{each.seed} {each.digest[:12]}")
    lines = [f"{scenario}: {', '.join(seeds)}" for scenario, seeds in sat.items()]
    return "\n".join(f"- {line}" for line in lines) if shape == "markdown" else "\n".join(lines)


def ordered(board: Board) -> list[Row]:
    """Stacks by lifecycle, best first, those without at the end; then the controls as they come."""

    def place(row: Row) -> tuple[bool, bool, float]:
        lifecycle = row.metrics["lifecycle"]
        return (row.kind == "control", lifecycle is None, 0.0 if lifecycle is None else -lifecycle.mean)

    return sorted(board.table.rows, key=place)


def number(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate.mean:.3f}"


def interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return number(estimate)
    return f"{estimate.mean:.3f} ±{(estimate.high - estimate.low) / 2:.3f}"


def table(
    body: Sequence[Sequence[str]], headings: Sequence[str], shape: Format, *, numbers: bool = True
) -> str:
    align = ("left", *("right" if numbers else "left",) * (len(headings) - 1))
    pipe = "\\|" if shape == "markdown" else "|"
    text: str = tabulate(
        [[" ".join(cell.split()).replace("|", pipe) for cell in row] for row in body],
        headings,
        tablefmt="github" if shape == "markdown" else "simple",
        colalign=align if body else None,
        disable_numparse=True,
    )
    return text


def heading(text: str, shape: Format) -> str:
    return f"## {text}" if shape == "markdown" else f"{text}\n{'=' * len(text)}"


def _lines(lines: Sequence[str], shape: Format) -> str:
    if shape == "markdown":
        return "\n".join(f"- {line}" for line in lines)
    return "\n".join(textwrap.fill(line, 110, subsequent_indent="  ") for line in lines)


def _stacks(board: Board) -> list[Row]:
    return [row for row in board.table.rows if row.kind == "stack"]


def _backend(row: Row, name: StackName) -> str:
    """A column of the grid: the adapter, and its version where a leaderboard holds two."""
    return name.base + row.stack.removeprefix(str(name))


def _lifecycle(row: Row) -> str:
    estimate = row.metrics["lifecycle"]
    return (
        row.outcome if estimate is None else interval(estimate) + ("!" if row.outcome != "answered" else "")
    )


def _erased(row: Row) -> str:
    if row.erased is UNSET:
        return "-"
    return f"{row.erased.answers} / {row.erased.store} / {row.erased.files}"


def _answered(row: Row) -> str:
    return f"{row.cells['answered']}/{sum(row.cells.values())}"


def _outcomes(row: Row) -> str:
    counts = {outcome: count for outcome, count in row.cells.items() if count}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
