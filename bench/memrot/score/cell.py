"""All scores of one cell, put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from memrot.errors import BadInput
from memrot.observations import Observations
from memrot.score.answers import read
from memrot.score.groups import BREAKDOWNS, Grouping, Groupings
from memrot.score.judged import Judged
from memrot.score.leaks import leaks, misses
from memrot.score.lives import Lives, trace
from memrot.score.series import calibration, lead, similarity_gap, slope
from memrot.score.shares import SHARES, Share, Shares, share
from memrot.score.travel import Travel, time_travel
from memrot.score.world import World
from memrot.timeline import Timeline
from memrot.truth import Bools, leaking_probes

Metrics: TypeAlias = dict[str, Share]

HIGHER_IS_WORSE = frozenset(
    {
        "contamination", "confidently_wrong", "off_topic", "reasserted", "divergence", "wrong",
        "false_abstention", "wrong_evidence", "silent_contradiction", "brier",
    }
)  # fmt: skip
ENOUGH_HITS = 20
"""A stage with fewer hits is not shown as the worst one."""


class Scores(Struct, frozen=True, kw_only=True):
    """What ``memrot score --json`` prints (FORMATS.md)."""

    stages: list[dict[str, Any]]
    """Per asked stage its ``seq`` and metrics, also before the first end."""
    cell: Metrics
    last: dict[str, Any]
    """The last asked stage."""
    worst: Metrics
    """Per metric its worst value over scored stages with at least 20 hits."""
    leaks: dict[str, int]
    leaks_hedged: dict[str, int]
    misses: dict[str, int]
    ends: dict[str, dict[str, Any]]
    begins: dict[str, int]
    lag_to_learn: dict[str, int | None]
    lag_to_forget: dict[str, int | None]
    lags: dict[str, Metrics]
    """``learn`` and ``forget``: median, p95, censored share, in stages and days."""
    by: dict[str, dict[str, Metrics]]
    """``domain``, ``tests``, ``reason`` -> name -> metrics; groups of which nothing was asked are absent."""
    time_travel: Travel
    calibration: list[Metrics]
    """Ten bins of confidence: hits, mean confidence, share consistent."""
    lead: list[Share]
    """Correlation of contamination with consistency 0 to 10 asked stages later."""


def score(timeline: Timeline, seen: Observations) -> Scores:
    """All scores of one cell; raises BadInput where the observations are of another timeline."""
    digest = seen.head.timeline.digest
    if digest and digest != timeline.digest:
        raise BadInput(
            f"the observations are of timeline {seen.head.timeline.id!r} with digest {digest[:12]}, "
            f"not of {timeline.header.id!r} with digest {timeline.digest[:12]}"
        )
    world = World(timeline)
    answered = read(timeline, seen, world.truth)
    judged = Judged(world, answered.current)
    groups = Groupings(judged)
    shares = Shares(judged, groups, seen.head.k)
    lives = trace(judged, answered, seen.head.forget_within)
    stages = _stages(judged, shares)
    scored = [
        stage for stage, at in zip(stages, judged.answers.asked, strict=True) if at >= world.first_scored
    ]
    asserted, hedged = leaks(judged)
    seqs, truth = world.truth.seqs, world.truth
    return Scores(
        stages=stages,
        cell=_cell(judged, groups, shares, lives),
        last=stages[-1] if stages else {},
        worst=_worst(scored),
        leaks=asserted,
        leaks_hedged=hedged,
        misses=misses(judged, seen),
        begins={
            fact: seqs[i] for fact, i in zip(truth.fact_ids, truth.begins, strict=True) if i < world.never
        },
        ends=_ends(world),
        lag_to_learn=lives.to_learn.stages,
        lag_to_forget=lives.to_forget.stages,
        lags={"learn": lives.to_learn.summary(), "forget": lives.to_forget.summary()},
        by=_breakdowns(shares, groups, lives),
        time_travel=time_travel(world, answered.travel),
        calibration=calibration(judged, _scored_hits(judged)),
        lead=lead([stage["contamination"] for stage in scored], [stage["consistency"] for stage in scored]),
    )


def lifecycle(metrics: Mapping[str, Share]) -> Share:
    """METRICS.md §3, from coverage_key, consistency_key, freshness_key and forgetting. None where no
    told value was ever true; what only the timeline leaves undefined (forgetting) is left out."""
    coverage, forgetting = metrics["coverage_key"], metrics["forgetting"]
    if coverage is None:
        return None
    parts = [metrics["consistency_key"] or 0.0, metrics["freshness_key"] or 0.0]
    parts += [] if forgetting is None else [forgetting]
    if not coverage or not all(parts):
        return 0.0
    return 2 / (1 / coverage + sum(1 / part for part in parts) / len(parts))


def _stages(judged: Judged, shares: Shares) -> list[dict[str, Any]]:
    seqs = judged.world.truth.seqs
    stages = zip(
        judged.answers.asked.tolist(),
        shares.of("stage"),
        shares.sums["hits"]["stage"].tolist(),
        shares.sums["grace"]["stage"].tolist(),
        strict=True,
    )
    return [
        {"seq": seqs[stage], **metrics, "hits": int(hits), "grace": int(grace)}
        for stage, metrics, hits, grace in stages
    ]


def _cell(judged: Judged, groups: Groupings, shares: Shares, lives: Lives) -> Metrics:
    world = judged.world
    asked = judged.answers.asked
    scored = np.flatnonzero(asked >= world.first_scored)
    diverging, probes = (shares.sums[name]["stage"][scored] for name in ("diverging", "probes"))
    divergence = [share(over, under) for over, under in zip(diverging.tolist(), probes.tolist(), strict=True)]
    return {
        **_grouped(shares, groups, lives, "cell")[0],
        "hits": int(shares.sums["hits"]["cell"][0]),
        "probes": int(shares.sums["probes"]["cell"][0]),
        "similarity_gap": similarity_gap(judged, _scored_hits(judged)),
        "divergence_slope": slope(asked[scored].tolist(), divergence),
        "leaking_probes": len(leaking_probes(world.timeline, world.truth)),
    }


def _grouped(shares: Shares, groups: Groupings, lives: Lives, by: Grouping) -> list[Metrics]:
    """Per group its shares, what became of its facts, and its lifecycle score."""
    eligible, ineligible, forgotten = (
        groups.of_facts(column, lives.due)[by].tolist()
        for column in (lives.eligible, ~lives.eligible, lives.eligible & lives.forgotten)
    )
    vanished, resurrected = (
        groups.of_facts(column, lives.vanished)[by].tolist()
        for column in (np.ones(len(lives.vanished)), lives.resurrected)
    )
    grace = shares.sums["grace"][by].tolist()
    grouped = []
    for group, metrics in enumerate(shares.of(by)):
        metrics |= {
            "grace": int(grace[group]),
            "forgetting": share(forgotten[group], eligible[group]),
            "forgetting_eligible": int(eligible[group]),
            "forgetting_ineligible": int(ineligible[group]),
            "resurrection": share(resurrected[group], vanished[group]),
        }
        grouped.append(metrics | {"lifecycle": lifecycle(metrics)})
    return grouped


def _breakdowns(shares: Shares, groups: Groupings, lives: Lives) -> dict[str, dict[str, Metrics]]:
    def asked(by: Grouping, group: int) -> bool:
        return any(shares.sums[column][by][group] for column in ("probes", "hits", "pairs"))

    return {
        by: {
            name: metrics
            for group, (name, metrics) in enumerate(
                zip(groups.names[by], _grouped(shares, groups, lives, by), strict=True)
            )
            if asked(by, group)
        }
        for by in BREAKDOWNS
    }


def _worst(stages: Sequence[dict[str, Any]]) -> Metrics:
    worst: Metrics = {}
    for metric in SHARES:
        values = [
            stage[metric] for stage in stages if stage["hits"] >= ENOUGH_HITS and stage[metric] is not None
        ]
        worst[metric] = None if not values else max(values) if metric in HIGHER_IS_WORSE else min(values)
    return worst


def _ends(world: World) -> dict[str, dict[str, Any]]:
    truth, told, seqs = world.truth, world.told_truth, (*world.truth.seqs, None)
    return {
        fact: {"seq": seqs[end], "cause": cause, "told": seqs[told_end]}
        for fact, end, cause, told_end in zip(
            truth.fact_ids, truth.ends.tolist(), truth.causes, told.ends.tolist(), strict=True
        )
        if end < world.never
    }


def _scored_hits(judged: Judged) -> Bools:
    scored: Bools = judged.stage >= judged.world.first_scored
    return scored
