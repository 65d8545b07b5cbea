"""The leaderboard broken down: by domain, scenario, question, layer, reason of invalidation, or lag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from memrot.cells import stack_name
from memrot.diagnose import total
from memrot.leaderboard import lead
from memrot.leaderboard.rows import Estimate, Pick, comparable, estimate_of, whole
from memrot.leaderboard.rows import part as part_of
from memrot.leaderboard.tables import heading, interval, number, ordered, table, title
from memrot.model import Reason
from memrot.results import Scored
from memrot.score import Scores
from memrot.score.leaks import CHARGES
from memrot.stats import ranks_without_each_scenario

if TYPE_CHECKING:
    from memrot.leaderboard import Board
    from memrot.leaderboard.tables import Format

By: TypeAlias = Literal["domain", "scenario", "question", "layer", "reason", "lead"]

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
        case "lead":
            body = _lead(board, shape)
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
    body = [
        [
            row.stack,
            _rank(row.rank),
            *(
                interval(
                    _lifecycle([cell for cell in board.cells[row.stack] if cell.cell.timeline.id == scenario])
                )
                for scenario in scenarios
            ),
        ]
        for row in ordered(board)
    ]
    without = _ranks_without_each(board)
    left_out = [
        [
            row.stack,
            _rank(row.rank),
            *(_rank(without.get(scenario, {}).get(row.stack)) for scenario in scenarios),
        ]
        for row in ordered(board)
        if row.kind == "stack"
    ]
    headings = ["stack", "rank", *(scenario.rpartition("/")[2] for scenario in scenarios)]
    parts = [heading("Lifecycle score by scenario", shape), table(body, headings, shape)]
    if len(scenarios) > 1:
        parts += [heading("Ranks without one scenario", shape), table(left_out, headings, shape)]
    return "\n\n".join(parts)


def _ranks_without_each(board: Board) -> dict[str, dict[str, tuple[int, int]]]:
    """Scenario left out -> row -> its rank over the others (METRICS.md §11)."""
    without: dict[str, dict[str, tuple[int, int]]] = {}
    for group in comparable(board.cells):
        for scenario, ranks in ranks_without_each_scenario(group).items():
            without.setdefault(scenario, {}).update(ranks)
    return without


def _lead(board: Board, shape: Format) -> str:
    """Contamination against consistency some stages later, stack by stack."""
    rows = [(row.stack, lead.by_lag(board.cells[row.stack])) for row in ordered(board) if row.kind == "stack"]
    body = [
        [label, *("-" if each is None else f"{each.mean:+.2f}" for each in found)] for label, found in rows
    ]
    said = lead.in_words(rows)
    return "\n\n".join([
        heading("Contamination against consistency, by how many asked stages later", shape),
        table(body, ["stack", *map(str, lead.LAGS)], shape),
        "\n".join(f"- {line}" if shape == "markdown" else line for line in said),
    ])  # fmt: skip


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
            *(f"{asserted.get(layer, 0)} / {hedged.get(layer, 0)}" for layer in CHARGES),
        ])  # fmt: skip
    headings = ["layers", "stacks", "lifecycle", "conf. wrong", *CHARGES]
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


def _rank(rank: tuple[int, int] | None) -> str:
    return "-" if rank is None else f"{rank[0]}-{rank[1]}"


def _complement(share: float | None) -> float | None:
    return None if share is None else 1 - share


def _lifecycle(cells: Sequence[Scored]) -> Estimate | None:
    return estimate_of(cells, whole("lifecycle"))


def _answered(board: Board) -> list[Scores]:
    return [cell.scores for cells in board.cells.values() for cell in cells if cell.scores is not None]
