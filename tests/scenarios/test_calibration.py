"""The controls score what they must on every scenario (METRICS.md §10), whatever the seed."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial

import pytest

from memrot.controls import CONTROLS, violations
from memrot.evaluate import LifecycleEvaluator, observe
from memrot.model import FactAdded, FactInvalidated, FactRevised
from memrot.score import score
from memrot_scenarios.world import Scenario
from scenarios.pin import scenarios

FORGET_WITHIN = 3
SEEDS = {"default": range(int(os.environ.get("MEMROT_SEEDS", "20"))), "smoke": range(100, 106)}
"""``make seeds`` tries 200, which takes half an hour."""


@pytest.mark.parametrize("size", SEEDS)
@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario.id)
def test_controls_hold(scenario: Scenario, size: str) -> None:
    for seed in SEEDS[size]:
        timeline = scenario.generate(seed, size)
        evaluator = LifecycleEvaluator(timeline, timeline.header.k, FORGET_WITHIN, 1, peek=False)
        scores = {
            name: score(timeline, evaluator.observe(partial(control, timeline)))
            for name, control in CONTROLS.items()
        }
        leaks = {name: Counter(of.leaks) + Counter(of.leaks_hedged) for name, of in scores.items()}
        changes = sum(
            any(isinstance(event, FactAdded | FactRevised | FactInvalidated) for event in stage.events)
            for stage in timeline.stages
        )
        broken = violations({name: of.cell for name, of in scores.items()}, leaks, changes)
        assert broken == [], f"seed {seed}"


def test_who_never_forgets_leaks_in_every_way() -> None:
    leaks: Counter[str] = Counter()
    for scenario in scenarios():
        timeline = scenario.generate(1)
        scores = score(timeline, observe(partial(CONTROLS["hoarder"], timeline), timeline, peek=False))
        leaks.update(scores.leaks)
    assert min(leaks[layer] for layer in ("ttl", "supersession", "propagation")) >= 50
