"""METRICS.md 2-8: every score against ``reference.py`` on random answers, what honesty scores, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrot.observations import Observations
from memrot.score import SHARES, score
from memrot.timeline import Timeline
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
