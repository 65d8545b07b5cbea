"""A leaderboard as data: exactly what ``leaderboard.json`` holds (FORMATS.md).

A metric's mean is the mean of scenario means over answered cells; nothing in here depends on when,
where or in which order cells were measured, except the latencies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType

from memrot import stats
from memrot.cells import Kind, stack_name
from memrot.diagnose import total
from memrot.erasure import Erased, together
from memrot.observations import EmbedderId, Outcome, TimelineId
from memrot.results import Scored
from memrot.score.leaks import CHARGES

FORMAT = 1

METRICS = (
    "lifecycle", "confidently_wrong", "freshness", "consistency", "coverage", "forgetting", "contamination",
    "consistency_key", "freshness_key", "coverage_key", "recall", "divergence", "wrong", "false_abstention",
    "abstention", "wrong_evidence", "silent_contradiction", "resurrection",
)  # fmt: skip

LESS_IS_BETTER = frozenset(
    {
        "confidently_wrong", "contamination", "divergence", "wrong", "false_abstention", "wrong_evidence",
        "silent_contradiction", "resurrection",
    }
)  # fmt: skip

OUTCOMES: tuple[Outcome, ...] = ("answered", "errored", "unsupported", "unavailable", "skipped")

_WORST_FIRST: tuple[Outcome, ...] = ("errored", "unavailable", "unsupported", "skipped", "answered")


Pick: TypeAlias = Callable[[Scored], float | None]


class Estimate(Struct, frozen=True):
    """``low`` and ``high`` bound the 95% interval over new seeds; None where one seed cannot tell."""

    mean: float
    low: float | None
    high: float | None
    n: int


class Latency(Struct, frozen=True):
    p50: float | None
    p95: float | None


class Row(Struct, frozen=True, kw_only=True):
    stack: str
    kind: Kind
    adapter: str
    layers: tuple[str, ...]
    deployment: str
    version: str
    filters: str
    clock: str
    outcome: Outcome
    cells: dict[str, int]
    reason: str | None
    rank: tuple[int, int] | None
    metrics: dict[str, Estimate | None]
    leaks: dict[str, int]
    leaks_hedged: dict[str, int]
    latency_ms: Latency
    erased: Erased | UnsetType = UNSET
    """Only where something was to be erased."""


class Leaderboard(Struct, frozen=True, kw_only=True, tag_field="type", tag="leaderboard"):
    format: int = FORMAT
    suite: str
    scoring: int
    k: int
    forget_within: int
    embedder: EmbedderId
    links_told: float | UnsetType = UNSET
    """Only where not all were told."""
    timelines: tuple[TimelineId, ...]
    rows: tuple[Row, ...]


def encoded(table: Leaderboard) -> str:
    return msgspec.json.format(msgspec.json.encode(table), indent=1).decode()


def grouped(cells: Sequence[Scored]) -> dict[str, list[Scored]]:
    """Cells by row, in the order of the plan; two versions of a backend are two rows."""
    by_stack: dict[str, dict[tuple[str, str, str], list[Scored]]] = {}
    for cell in cells:
        stack = cell.cell.stack
        versions = by_stack.setdefault(str(stack_name(stack)), {})
        versions.setdefault((stack.backend, stack.version, stack.deployment), []).append(cell)
    rows: dict[str, list[Scored]] = {}
    for name, versions in by_stack.items():
        for (backend, version, deployment), found in versions.items():
            label = name if len(versions) == 1 else f"{name} ({backend} {version} {deployment})"
            rows[label] = found
    return rows


def row(label: str, cells: Sequence[Scored], rank: tuple[int, int] | None) -> Row:
    stack = cells[0].cell.stack
    counts = Counter(cell.outcome for cell in cells)
    outcome = next(each for each in _WORST_FIRST if counts[each])
    scores = [cell.scores for cell in cells if cell.scores is not None]
    return Row(
        stack=label,
        kind=cells[0].cell.kind,
        adapter=stack.adapter,
        layers=stack.layers,
        deployment=stack.deployment,
        version=stack.version,
        filters=_filters([cell.cell.stack.filters for cell in cells]),
        clock=stack.clock,
        outcome=outcome,
        cells={each: counts[each] for each in OUTCOMES},
        reason=next((cell.reason for cell in cells if cell.outcome == outcome), None),
        rank=rank,
        metrics={metric: estimate(cells, metric) for metric in METRICS},
        leaks=_charged(each.leaks for each in scores),
        leaks_hedged=_charged(each.leaks_hedged for each in scores),
        latency_ms=latency(cells),
        erased=_erased(cells),
    )


def estimate(cells: Sequence[Scored], metric: str) -> Estimate | None:
    """A metric over a row's cells; None where no answered cell defines it."""
    return estimate_of(cells, whole(metric))


def estimate_of(cells: Sequence[Scored], pick: Pick) -> Estimate | None:
    by_scenario = values(cells, pick)
    if not by_scenario:
        return None
    interval = stats.interval(list(by_scenario.values()))
    return Estimate(interval.mean, interval.low, interval.high, sum(map(len, by_scenario.values())))


def values(cells: Sequence[Scored], pick: Pick) -> dict[str, list[float]]:
    """Scenario -> a value of each cell; undefined ones are left out."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        value = pick(cell)
        if value is not None:
            found.setdefault(cell.cell.timeline.id, []).append(float(value))
    return found


def comparable(rows: Mapping[str, Sequence[Scored]]) -> list[dict[str, stats.Values]]:
    """Lifecycle scores of the stacks that may be ranked, in groups that answered the same timelines.

    A stack with a cell that was not answered is in no group (METRICS.md §11), nor one of which no
    timeline defines the score.
    """
    groups: dict[tuple[str, ...], dict[str, stats.Values]] = {}
    for label, cells in rows.items():
        if cells[0].cell.kind == "stack" and all(cell.outcome == "answered" for cell in cells):
            defined = [cell for cell in cells if whole("lifecycle")(cell) is not None]
            timelines = tuple(sorted(cell.cell.timeline.digest for cell in defined))
            if defined:
                groups.setdefault(timelines, {})[label] = values(defined, whole("lifecycle"))
    return list(groups.values())


def whole(metric: str) -> Pick:
    """A metric of the whole cell."""
    return lambda cell: None if cell.scores is None else cell.scores.cell.get(metric)


def part(by: str, name: str, metric: str) -> Pick:
    """A metric of one domain, ``tests`` tag or reason."""
    return lambda cell: None if cell.scores is None else cell.scores.by[by].get(name, {}).get(metric)


def last(metric: str, domain: str | None = None) -> Pick:
    """A metric of the cell's last asked stage, of all or of one domain."""
    if domain is None:
        return lambda cell: None if cell.scores is None else cell.scores.last.get(metric)
    return lambda cell: cell.last_by_domain.get(domain, {}).get(metric)


def latency(cells: Sequence[Scored]) -> Latency:
    """Milliseconds a question, over all stages of all cells; embedding and layers' writes excluded."""
    taken = [ms for cell in cells for ms in cell.question_ms]
    if not taken:
        return Latency(None, None)
    return Latency(*(round(float(value), 3) for value in np.percentile(taken, [50, 95])))


def _charged(leaks: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Every charge, zeros too; nothing of a row that answered nothing, which is no zero."""
    counts = list(leaks)
    summed = total(counts)
    return {charge: summed.get(charge, 0) for charge in CHARGES} if counts else {}


def _erased(cells: Sequence[Scored]) -> Erased | UnsetType:
    """Of a control nothing: it stores nothing, and knows what it knows."""
    if cells[0].cell.kind == "control":
        return UNSET
    return together(cell.erased for cell in cells if cell.erased is not None) or UNSET


def _filters(found: Sequence[str]) -> str:
    """How filters ran over a row's cells; of over-fetches the largest."""
    kinds: dict[str, float] = {}
    for text in found:
        kind, _, factor = text.partition(" ×")
        if kind:
            kinds[kind] = max(kinds.get(kind, 0.0), float(factor or 0))
    return ", ".join(f"{kind} ×{factor:.1f}" if factor else kind for kind, factor in sorted(kinds.items()))
