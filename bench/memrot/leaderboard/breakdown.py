"""The leaderboard broken down: by domain, scenario, question, layer or reason of invalidation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from memrot.cells import stack_name
from memrot.diagnose import LEAKS, total
from memrot.leaderboard.rows import Estimate, Pick, comparable, estimate_of, whole
from memrot.leaderboard.rows import part as part_of
from memrot.leaderboard.tables import heading, interval, number, ordered, table, title
from memrot.model import Reason
from memrot.results import Scored
from memrot.score import Scores
from memrot.stats import ranks_without_each_scenario

if TYPE_CHECKING:
    from memrot.leaderboard import Board
    from memrot.leaderboard.tables import Format

By: TypeAlias = Literal["domain", "scenario", "question", "layer", "reason"]

QUESTIONS: dict[str, Pick] = {
    "preservation": whole("preservation"),
    "revision": whole("revision"),
    "forgetting": whole("forgetting"),
    "non-contamination": lambda cell: _complement(whole("contamination")(cell)),
}
"""The four questions (METRICS.md §4)."""

PARTS = ("consistency_key", "freshness_key", "coverage_key", "forgetting", "confidently_wrong")
"""What a domain's or a reason's facts are shown by; a table each, where the scores hold it."""


def broken_down(board: Board, by: By, shape: Format = "table") -> str:
    match by:
        case "scenario":
            body = _scenarios(board, shape)
        case "question":
            body = _questions(board, shape)
        case "layer":
            body = _layers(board, shape)
        case "domain":
            names = sorted({name for cell in _answered(board) for name in cell.by.get("domain", {})})
            body = _parts(board, "domain", names, shape)
        case "reason":
            names = [
                name
                for name in get_args(Reason)
                if any(name in cell.by.get("reason", {}) for cell in _answered(board))
            ]
            body = _parts(board, "reason", names, shape)
    return "\n\n".join([title(board), body])


def _scenarios(board: Board, shape: Format) -> str:
    scenarios = list(dict.fromkeys(each.id for each in board.table.timelines))
    without = _ranks_without_each(board)
    body = [
        [
            row.stack,
            "-" if row.rank is None else f"{row.rank[0]}-{row.rank[1]}",
            without.get(row.stack, "-"),
            *(
                interval(
                    _lifecycle([cell for cell in board.cells[row.stack] if cell.cell.timeline.id == scenario])
                )
                for scenario in scenarios
            ),
        ]
        for row in ordered(board)
    ]
    short = [scenario.rpartition("/")[2] for scenario in scenarios]
    parts = [
        heading("Lifecycle score by scenario", shape),
        table(body, ["stack", "rank", "rank*", *short], shape),
        "*the widest range of ranks when any one scenario is left out",
    ]
    return "\n\n".join(parts)


def _ranks_without_each(board: Board) -> dict[str, str]:
    """Row -> the widest range of its ranks over all but one scenario (METRICS.md §11)."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    for group in comparable(board.cells):
        for ranks in ranks_without_each_scenario(group).values():
            for label, rank in ranks.items():
                ranges.setdefault(label, []).append(rank)
    return {
        label: f"{min(low for low, _ in found)}-{max(high for _, high in found)}"
        for label, found in ranges.items()
    }


def _questions(board: Board, shape: Format) -> str:
    body = [
        [row.stack, *(number(estimate_of(board.cells[row.stack], pick)) for pick in QUESTIONS.values())]
        for row in ordered(board)
    ]
    return (
        heading("The four questions: share that passes", shape)
        + "\n\n"
        + table(body, ["stack", *QUESTIONS], shape)
    )


def _layers(board: Board, shape: Format) -> str:
    """What each layer set does, over all backends that ran it."""
    sets: dict[str, list[Scored]] = {}
    for row in board.table.rows:
        if row.kind == "stack":
            name = stack_name(board.cells[row.stack][0].cell.stack)
            sets.setdefault(name.layer_set, []).extend(board.cells[row.stack])
    body = []
    for layers, cells in sets.items():
        scores = [cell.scores for cell in cells if cell.scores is not None]
        asserted = total(each.leaks for each in scores)
        hedged = total(each.leaks_hedged for each in scores)
        body.append([
            layers,
            str(len({str(stack_name(cell.cell.stack)) for cell in cells})),
            *(number(estimate_of(cells, whole(metric))) for metric in ("lifecycle", "confidently_wrong")),
            *(f"{asserted.get(layer, 0)} / {hedged.get(layer, 0)}" for layer in LEAKS),
        ])  # fmt: skip
    headings = ["layers", "stacks", "lifecycle", "conf. wrong", *LEAKS]
    return (
        heading("By layer set, over all backends; leaks asserted / hedged", shape)
        + "\n\n"
        + table(body, headings, shape)
    )


def _parts(board: Board, by: str, names: Sequence[str], shape: Format) -> str:
    """A table a metric: stacks down, domains or reasons across."""
    parts = []
    for part in PARTS:
        body = []
        for row in ordered(board):
            estimates = [estimate_of(board.cells[row.stack], part_of(by, name, part)) for name in names]
            body.append([row.stack, *map(number, estimates)])
        if any(cell != "-" for line in body for cell in line[1:]):
            parts.append(
                heading(f"{part.replace('_', ' ')} by {by}", shape)
                + "\n\n"
                + table(body, ["stack", *names], shape)
            )
    return "\n\n".join(parts) or f"no scores by {by}"


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _lifecycle(cells: Sequence[Scored]) -> Estimate | None:
    return estimate_of(cells, whole("lifecycle"))


def _answered(board: Board) -> list[Scores]:
    return [cell.scores for cells in board.cells.values() for cell in cells if cell.scores is not None]
