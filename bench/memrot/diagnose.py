"""Who leaks, and who over-forgets: each stale hit and each miss charged to one cause (METRICS.md §7).

It counts what the scores of a stack's cells hold; a stack's name is only a label here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from tabulate import tabulate

from memrot.score import Scores
from memrot.score.leaks import CHARGES, NOT_EXAMINED, PEEK_CAUSES

MISSES: tuple[str, ...] = (*PEEK_CAUSES, NOT_EXAMINED)


class Diagnosis(Struct, frozen=True, kw_only=True):
    """Counts over the answered cells of one stack; ``leaks`` are asserted, ``hedged`` were flagged."""

    stack: str
    cells: int
    leaks: dict[str, int]
    hedged: dict[str, int]
    misses: dict[str, int]


def diagnose(stacks: Mapping[str, Sequence[Scores]]) -> list[Diagnosis]:
    """One diagnosis a stack, in the order given."""
    return [
        Diagnosis(
            stack=stack,
            cells=len(cells),
            leaks=total(cell.leaks for cell in cells),
            hedged=total(cell.leaks_hedged for cell in cells),
            misses=total(cell.misses for cell in cells),
        )
        for stack, cells in stacks.items()
    ]


def total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    summed: Counter[str] = Counter()
    for each in counts:
        summed.update(each)
    return {name: summed[name] for name in sorted(summed) if summed[name]}


def leak_table(found: Sequence[Diagnosis]) -> str:
    """Asserted / hedged; a stack that answered nothing has dashes, not zeros."""
    return _table(
        found, CHARGES, lambda each, layer: f"{each.leaks.get(layer, 0)} / {each.hedged.get(layer, 0)}"
    )


def miss_table(found: Sequence[Diagnosis]) -> str:
    """Only the causes that occur have a column; a memory that cannot be looked into is not examined."""
    causes = [cause for cause in MISSES if any(cause in each.misses for each in found)]
    if not causes:
        return "nothing was missed"
    return _table(found, causes, lambda each, cause: str(each.misses.get(cause, 0)))


def _table(found: Sequence[Diagnosis], columns: Sequence[str], cell: Callable[[Diagnosis, str], str]) -> str:
    rows = [
        [each.stack, each.cells, *(cell(each, column) if each.cells else "-" for column in columns)]
        for each in found
    ]
    headings = ["stack", "answered", *columns]
    text: str = tabulate(rows, headings, colalign=("left", *("right",) * (len(headings) - 1)))
    return text
