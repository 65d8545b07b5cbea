"""METRICS.md §2-8: every score against ``reference.py`` on random answers, what honesty scores, and by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from memrot.errors import BadInput
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Hit,
    Probe,
    TimePassed,
)
from memrot.observations import Asked, Head, Observations, StageSeen, TimelineId
from memrot.score import SHARES, Scores, score
from memrot.timeline import Domain, Header, Timeline
from memrot.truth import GroundTruth
from random_timelines import random_observations, random_timeline, timelines
from reference import Reference


def close(value: Any) -> Any:
    """Equal to 1e-9, and None only to None."""
    return None if value is None else pytest.approx(value, rel=0, abs=1e-9)


# --- against the reference -------------------------------------------------------------------


@settings(max_examples=120, deadline=None)
@given(timelines(), st.integers(0, 1000), st.sampled_from([1, 1, 2, 3]))
def test_random_answers_agree_with_the_reference(timeline: Timeline, seed: int, ask_every: int) -> None:
    assert_agrees(timeline, random_observations(timeline, seed, ask_every=ask_every))


@pytest.mark.parametrize("seed", range(40))
def test_longer_timelines_agree_with_the_reference(seed: int) -> None:
    timeline = random_timeline(seed, events=40, probes=9)
    assert_agrees(timeline, random_observations(timeline, seed, ask_every=1 + seed % 3 // 2))


def assert_agrees(timeline: Timeline, seen: Observations) -> None:
    scores, reference = score(timeline, seen), Reference(timeline, seen)
    seqs = [stage.seq for stage in timeline.stages]
    assert [stage["seq"] for stage in scores.stages] == [seqs[stage] for stage in reference.asked]
    for place, stage in enumerate(reference.asked):
        assert_shares(scores.stages[place], reference, ("stage", stage))
    assert_shares(scores.cell, reference, ("cell", ""))
    forgetting, eligible, ineligible = reference.forgetting()
    assert scores.cell["forgetting"] == close(forgetting)
    assert (scores.cell["forgetting_eligible"], scores.cell["forgetting_ineligible"]) == (
        eligible,
        ineligible,
    )
    assert scores.cell["lifecycle"] == close(reference.lifecycle())
    assert scores.cell["resurrection"] == close(reference.resurrection())
    assert scores.cell["similarity_gap"] == close(reference.similarity_gap())
    assert scores.cell["grace"] == reference.over["grace", ("cell", "")]
    assert scores.lag_to_learn == reference.lag_to_learn()
    assert scores.lag_to_forget == reference.lag_to_forget()
    assert scores.misses == dict(reference.misses)
    if not reference.ambiguous:
        assert scores.leaks == dict(reference.leaks)
        assert scores.leaks_hedged == dict(reference.hedged)
    if not reference.torn_apart:
        assert scores.time_travel == {
            mode: {name: close(value) for name, value in row.items()}
            for mode, row in reference.time_travel().items()
        }
    for by, groups in scores.by.items():
        for name, metrics in groups.items():
            if by != "reason" or not reference.ambiguous:
                assert_shares(metrics, reference, (by, name))
                assert metrics["forgetting"] == close(reference.forgetting((by, name))[0])
                assert metrics["lifecycle"] == close(reference.lifecycle((by, name)))


def assert_shares(got: dict[str, Any], reference: Reference, group: tuple[str, Any]) -> None:
    for metric in SHARES:
        if metric == "forgetting_asked" and reference.ambiguous:
            continue
        assert got[metric] == close(reference.share(metric, group)), (metric, group)


# --- what must hold of any memory ----------------------------------------------------------------


def answered(timeline: Timeline, hits: Any, *, k: int = 50) -> Observations:
    """Observations of ``hits(probe, stage) -> hits`` at every stage."""
    return Observations(
        head=Head(timeline=TimelineId(id="t"), k=k),
        stages=tuple(
            StageSeen(
                seq=stage.seq,
                asked=tuple(
                    Asked(probe.id, tuple(hits(probe, stage.index)))
                    for probe in timeline.probes
                    if probe.active(stage.seq)
                ),
            )
            for stage in timeline.stages
        ),
    )


def oracle(timeline: Timeline) -> Observations:
    truth = GroundTruth.of(timeline)

    def hits(probe: Probe, stage: int) -> list[Hit]:
        fresh = truth.fresh_at(stage)
        return [
            Hit(truth.fact_ids[f], 0.9) if fresh[f] else Hit(truth.fact_ids[f], 0.9, 0.5, "hedge")
            for f in truth.true_of_key(probe.key, stage)
            if truth.told[f]
        ]

    return answered(timeline, hits)


@settings(max_examples=100, deadline=None)
@given(timelines())
def test_who_knows_the_truth_and_hedges_the_unfresh_scores_exactly_one(timeline: Timeline) -> None:
    assert_perfect(timeline)


@pytest.mark.parametrize("seed", range(20))
def test_so_it_does_on_longer_timelines(seed: int) -> None:
    assert_perfect(random_timeline(seed, events=60))


def assert_perfect(timeline: Timeline) -> None:
    scores = score(timeline, oracle(timeline))
    assert scores.cell["lifecycle"] in (1.0, None)
    for metric in (
        "consistency",
        "coverage",
        "coverage_key",
        "consistency_key",
        "freshness_key",
        "forgetting",
    ):
        assert scores.cell[metric] in (1.0, None)
    for metric in ("contamination", "divergence", "confidently_wrong", "wrong_evidence", "resurrection"):
        assert scores.cell[metric] in (0.0, None)
    assert scores.leaks == scores.leaks_hedged == scores.misses == {}
    assert set(scores.lag_to_forget.values()) <= {0}


@settings(max_examples=60, deadline=None)
@given(timelines(), st.integers(0, 1000))
def test_names_and_the_order_of_answers_mean_nothing(timeline: Timeline, seed: int) -> None:
    seen = random_observations(timeline, seed)
    fact_ids = {name: f"renamed {place}" for place, name in enumerate(sorted(timeline.facts, reverse=True))}
    probe_ids = {probe.id: f"z{9 - place}" for place, probe in enumerate(timeline.probes)}
    scores = score(renamed(timeline, fact_ids, probe_ids), renamed_seen(seen, fact_ids, probe_ids))
    before = score(timeline, seen)
    for name in ("stages", "cell", "worst", "leaks", "leaks_hedged", "misses", "by", "time_travel", "lead"):
        assert nearly(getattr(scores, name)) == nearly(getattr(before, name)), name
    assert scores.lag_to_forget == {fact_ids[f]: lag for f, lag in before.lag_to_forget.items()}


def nearly(value: Any) -> Any:
    """Rounded: sums may run in another order."""
    if isinstance(value, float):
        return round(value, 9) + 0.0
    if isinstance(value, dict):
        return {name: nearly(each) for name, each in value.items()}
    return [nearly(each) for each in value] if isinstance(value, list) else value


def renamed(timeline: Timeline, facts: dict[str, str], probes: dict[str, str]) -> Timeline:
    def fact(value: Fact) -> Fact:
        supports = tuple(facts[support] for support in value.depends_on)
        return structs.replace(value, id=facts[value.id], depends_on=supports)

    events: list[ChangeEvent] = []
    for event in timeline.events:
        match event:
            case FactAdded():
                events.append(structs.replace(event, fact=fact(event.fact)))
            case FactRevised():
                current = fact(event.current)
                events.append(structs.replace(event, previous=facts[event.previous], current=current))
            case FactInvalidated() | FactConfirmed() | FactMentioned():
                events.append(structs.replace(event, fact=facts[event.fact]))
            case _:
                events.append(event)
    return Timeline.of(
        timeline.header, events, [structs.replace(probe, id=probes[probe.id]) for probe in timeline.probes]
    )


def renamed_seen(seen: Observations, facts: dict[str, str], probes: dict[str, str]) -> Observations:
    def asked(each: Asked) -> Asked:
        name = "~" + facts[each.probe[1:]] if each.probe.startswith("~") else probes[each.probe]
        return Asked(name, tuple(structs.replace(h, fact=facts.get(h.fact or "", h.fact)) for h in each.hits))

    return structs.replace(
        seen,
        stages=tuple(
            structs.replace(
                stage,
                asked=tuple(map(asked, reversed(stage.asked))),
                unsupported={probes[name]: why for name, why in stage.unsupported.items()},
            )
            for stage in reversed(seen.stages)
        ),
        peeks=tuple(
            structs.replace(peek, facts={facts[name]: cause for name, cause in peek.facts.items()})
            for peek in seen.peeks
        ),
    )


# --- by hand -----------------------------------------------------------------------------------

AT = 1_767_600_000_000


def small_exam() -> Timeline:
    """A's value is x, then y from stage 1 on; four more change points follow."""

    def fact(name: str, value: str, subject: str = "A") -> Fact:
        return Fact(id=name, subject=subject, predicate="p", value=value, domain="D", text=name)

    more = [
        FactAdded(seq=3 + i, at=AT + (2 + i) * DAY, fact=fact(f"n{i}", "z", subject=f"N{i}"))
        for i in range(4)
    ]
    return Timeline.of(
        Header(id="small", domains={"D": Domain()}),
        [
            FactAdded(seq=1, at=AT, fact=fact("old", "x")),
            FactRevised(seq=2, at=AT + DAY, previous="old", current=fact("new", "y")),
            *more,
        ],
        [Probe(id="p", question="?", subject="A", predicate="p", tests="revision")],
    )


def constant(*hits: Hit) -> Observations:
    return answered(
        small_exam(), lambda _probe, stage: [hit for hit in hits if stage or hit.fact != "new"], k=5
    )


def test_lags_summarise_censored_ones_as_longer_than_all() -> None:
    scores = score(small_exam(), constant(Hit("old", 0.9)))
    assert scores.lag_to_learn == {"old": 0, "new": None}
    assert scores.lag_to_forget == {"old": None}
    learn = scores.lags["learn"]
    assert (learn["n"], learn["censored"]) == (2, 0.5)
    assert (learn["median_stages"], learn["p95_stages"]) == (0, None)
    assert scores.lags["forget"]["median_days"] is None


def test_a_slow_learner_lags_in_stages_and_days() -> None:
    timeline = small_exam()
    seen = answered(timeline, lambda _probe, stage: [Hit("new" if stage > 2 else "old", 0.9)])
    scores = score(timeline, seen)
    assert (scores.lag_to_learn["new"], scores.lag_to_forget["old"]) == (2, 2)
    assert scores.lags["forget"]["median_days"] == 2.0
    assert scores.cell["divergence"] == pytest.approx(2 / 5)
    # stages 1 to 5 diverge as 1, 1, 0, 0, 0
    assert scores.cell["divergence_slope"] == pytest.approx(-30)
    assert scores.lead[0] == pytest.approx(-1.0)


def test_what_makes_the_lifecycle_score_nothing_and_what_leaves_it_undefined() -> None:
    assert score(small_exam(), constant()).cell["lifecycle"] == 0.0
    assert score(small_exam(), constant(Hit("new", 0.9))).cell["lifecycle"] == 1.0
    assert score(small_exam(), constant(Hit("old", 0.9), Hit("new", 0.9))).cell["lifecycle"] == 0.0
    nobody = Timeline.of(
        Header(id="t", domains={"D": Domain()}),
        [TimePassed(seq=1, at=AT)],
        [Probe(id="p", question="?", subject="A", predicate="p", tests="abstention")],
    )
    scores = score(nobody, answered(nobody, lambda _probe, _stage: []))
    assert (scores.cell["lifecycle"], scores.cell["abstention"], scores.cell["divergence"]) == (
        None,
        1.0,
        0.0,
    )


def test_the_worst_stage_is_the_worst_also_where_more_is_worse() -> None:
    timeline = small_exam()
    probes = [
        Probe(id=f"p{i}", question="?", subject="A", predicate="p", tests="revision") for i in range(20)
    ]
    timeline = Timeline.of(timeline.header, timeline.events, probes)
    seen = answered(
        timeline, lambda _probe, stage: [Hit("old" if stage == 3 else "new", 0.9)] if stage else []
    )
    scores = score(timeline, seen)
    assert (scores.worst["contamination"], scores.worst["consistency"]) == (1.0, 0.0)
    assert (scores.last["seq"], scores.last["contamination"]) == (timeline.stages[-1].seq, 0.0)
    assert score(small_exam(), constant(Hit("old", 0.9))).worst["contamination"] is None


def test_calibration_counts_every_scored_hit_in_its_bin() -> None:
    scores = score(small_exam(), constant(Hit("old", 0.9, 0.05), Hit("new", 0.9, 1.0)))
    assert scores.calibration[0] == {"hits": 5, "confidence": close(0.05), "consistent": 0.0}
    assert scores.calibration[9] == {"hits": 5, "confidence": 1.0, "consistent": 1.0}


def test_a_line_of_a_stage_at_which_nothing_was_asked_is_no_answer() -> None:
    timeline = small_exam()
    seen = constant(Hit("new", 0.9))
    pruned = structs.replace(seen, stages=(*seen.stages[:3], structs.replace(seen.stages[3], asked=())))
    assert [stage["seq"] for stage in score(timeline, pruned).stages] == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda stage: structs.replace(stage, seq=99), "seq 99, which is no stage"),
        (lambda stage: structs.replace(stage, asked=(Asked("q", ()),)), "probe 'q', which the timeline"),
        (lambda stage: structs.replace(stage, asked=stage.asked * 2), "two answers for probe 'p' at seq 2"),
        (
            lambda stage: structs.replace(stage, asked=(Asked("p", (Hit("old", 0.9),) * 2),)),
            "a fact twice for probe 'p' at seq 2",
        ),
        (
            lambda stage: structs.replace(stage, asked=(Asked("p", (Hit(None, 0.9),) * 6),)),
            "more than k = 5 hits for probe 'p' at seq 2",
        ),
    ],
)
def test_observations_that_cannot_be_are_refused(change: Any, message: str) -> None:
    seen = constant()
    stages = (seen.stages[0], change(seen.stages[1]), *seen.stages[2:])
    with pytest.raises(BadInput, match=message):
        score(small_exam(), structs.replace(seen, stages=stages))


def test_observations_of_another_timeline_are_refused() -> None:
    seen = constant()
    other = structs.replace(seen, head=Head(timeline=TimelineId(id="other", digest="0" * 64)))
    with pytest.raises(BadInput, match="of timeline 'other' with digest 000000000000"):
        score(small_exam(), other)
    with pytest.raises(BadInput, match="two stages of seq 1"):
        score(small_exam(), structs.replace(seen, stages=(seen.stages[0], *seen.stages)))


def test_scores_are_plain_json() -> None:
    timeline = random_timeline(3, events=40)
    scores = score(timeline, random_observations(timeline, 3))
    assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(scores)), Scores) == scores


@pytest.mark.parametrize("events", [0, 1, 5])
@pytest.mark.parametrize("probes", [0, 2])
@pytest.mark.parametrize("stages", [0, 3])
def test_little_to_score_is_scored_too(events: int, probes: int, stages: int) -> None:
    """Nothing happened, nothing was asked, or the memory fell at once: no number, and no crash."""
    whole = small_exam()
    timeline = Timeline.of(
        whole.header,
        whole.events[:events],
        [structs.replace(whole.probes[0], id=f"p{i}") for i in range(probes)],
    )
    seen = answered(timeline, lambda _probe, _stage: [Hit("old", 0.9)])
    scores = score(timeline, structs.replace(seen, stages=seen.stages[:stages]))
    assert len(scores.stages) == min(stages, events)
    nothing = not (probes and stages and events)
    assert (scores.cell["consistency"] is None) == (scores.cell["lifecycle"] is None) == nothing
