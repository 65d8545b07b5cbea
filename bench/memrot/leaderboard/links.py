"""What layers are worth when only a share of the links is told: runs that differ in that alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memrot import stats
from memrot.cells import stack_name
from memrot.errors import BadInput
from memrot.leaderboard.rows import Estimate, estimate_of, whole
from memrot.leaderboard.tables import Format, heading, interval, ordered, table, title
from memrot.names import ALL
from memrot.results import Scored

if TYPE_CHECKING:
    from memrot.leaderboard import Board

Cells = Mapping[str, Sequence[Scored]]
"""Row label -> its cells."""


def by_links(boards: Mapping[float, Board], shape: Format = "table") -> str:
    """``boards``: share of links told -> the leaderboard of the runs that told so much."""
    if len(boards) < 2:
        raise BadInput("--by links compares runs: name some with another --links-told")
    shares = sorted(boards, reverse=True)
    headings = [f"{share:g} told" for share in shares]
    stacks = dict.fromkeys(
        row.stack for share in shares for row in ordered(boards[share]) if row.kind == "stack"
    )
    rows = [
        [stack, *(_lifecycle(boards[share].cells.get(stack, ())) for share in shares)] for stack in stacks
    ]
    layers = [[layer, *(interval(worth(boards[share].cells, layer)) for share in shares)] for layer in ALL]
    return "\n\n".join([
        title(boards[shares[0]]),
        heading("Lifecycle score by the share of links that is told", shape),
        table(rows, ["stack", *headings], shape),
        heading("What a layer adds to it, over all stacks measured with and without it", shape),
        table(layers, ["layer", *headings], shape),
    ])  # fmt: skip


def worth(cells: Cells, layer: str) -> Estimate | None:
    """The mean gain in lifecycle score, over pairs of rows that differ in the layer alone."""
    known = {}
    for found in cells.values():
        if found[0].cell.kind == "stack":
            name = stack_name(found[0].cell.stack)
            known[name.base, frozenset(name.layers)] = _by_timeline(found)
    gains: dict[str, dict[str, list[float]]] = {}
    for (base, layers), without in known.items():
        for timeline, (scenario, score) in known.get((base, layers | {layer}), {}).items():
            if layer not in layers and timeline in without:
                gains.setdefault(scenario, {}).setdefault(timeline, []).append(score - without[timeline][1])
    if not gains:
        return None
    means = [[sum(each) / len(each) for each in timelines.values()] for timelines in gains.values()]
    found_in = stats.interval(means)
    return Estimate(found_in.mean, found_in.low, found_in.high, sum(map(len, means)))


def _by_timeline(cells: Sequence[Scored]) -> dict[str, tuple[str, float]]:
    """Digest -> scenario and lifecycle score, where it is defined."""
    found = {cell.cell.timeline: whole("lifecycle")(cell) for cell in cells}
    return {identity.digest: (identity.id, score) for identity, score in found.items() if score is not None}


def _lifecycle(cells: Sequence[Scored]) -> str:
    return interval(estimate_of(cells, whole("lifecycle")))
