"""Every scenario: valid, the same everywhere, of the size it says, and asking in both directions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from memrot.errors import BadInput
from memrot.model import DAY, FactAdded, FactConfirmed, FactInvalidated, FactRevised
from memrot.timeline import Timeline, read
from memrot.truth import GroundTruth, leaking_probes
from memrot_scenarios.world import Scenario
from scenarios.pin import PINS, digests, refusals, scenarios

SCENARIOS = {scenario.id: scenario for scenario in scenarios()}
SEEDS = range(6)
CHANGES = (FactAdded, FactRevised, FactInvalidated)

PROVOKED = {
    "project/service-rewrite": {"revision", "cascade"},
    "project/reorg": {"revision", "contradiction", "late_arrival", "future_start"},
    "project/reversal": {"flip_flop", "history"},
    "project/requirement-drop": {"abstention", "forgetting", "stated_end"},
    "project/boundary-shift": {"cascade"},
    "project/unannounced": {"unannounced"},
    "project/interference": {"interference", "revision"},
    "project/implicit-conflict": {"contradiction", "revision"},
    "project/late-arrival": {"late_arrival", "future_start"},
    "project/stated-end": {"stated_end", "forgetting", "history"},
    "project/contradiction": {"contradiction"},
    "project/tenancy": {"tenancy", "abstention"},
    "project/probe-leakage": {"forgetting", "cascade"},
    "project/embedder-change": {"embedder_change"},
    "project/erasure": {"erasure"},
    "project/durability": {"durability", "forgetting", "cascade"},
    "person/move": {"revision", "cascade", "history"},
    "person/circle": {"revision", "cascade", "contradiction", "late_arrival", "future_start"},
    "person/change-of-mind": {"flip_flop", "history"},
    "person/dropped-diet": {"abstention", "forgetting", "cascade", "stated_end"},
    "person/job-left": {"cascade"},
    "person/silent-move": {"unannounced"},
    "person/old-booking": {"stated_end", "unannounced"},
    "person/named-once": {"over_forgetting"},
    "person/new-taste": {"unannounced"},
    "person/quiet-ticket": {"unannounced"},
    "person/that-one": {"unannounced"},
    "person/backfill": {"unannounced", "late_arrival"},
    "person/regulated-record": {"erasure", "stated_end"},
    "person/for-a-while": {"stated_end"},
}
OPPOSITE = {
    "project/service-rewrite": {"preservation", "over_propagation"},
    "project/reorg": {"preservation", "sets"},
    "project/reversal": {"preservation"},
    "project/requirement-drop": {"preservation"},
    "project/boundary-shift": {"preservation", "over_propagation"},
    "project/unannounced": {"preservation", "over_forgetting"},
    "project/interference": {"preservation"},
    "project/implicit-conflict": {"preservation", "sets"},
    "project/late-arrival": {"preservation", "revision"},
    "project/stated-end": {"preservation", "over_forgetting"},
    "project/contradiction": {"preservation", "sets"},
    "project/tenancy": {"preservation", "revision"},
    "project/probe-leakage": {"preservation", "revision"},
    "project/embedder-change": {"preservation", "forgetting"},
    "project/erasure": {"preservation", "history"},
    "project/durability": {"preservation"},
    "person/move": {"preservation", "over_propagation"},
    "person/circle": {"preservation", "sets"},
    "person/change-of-mind": {"preservation"},
    "person/dropped-diet": {"preservation"},
    "person/job-left": {"preservation", "over_propagation"},
    "person/silent-move": {"preservation", "over_forgetting"},
    "person/old-booking": {"preservation", "over_forgetting"},
    "person/named-once": {"preservation", "unannounced", "revision"},
    "person/new-taste": {"preservation", "over_forgetting"},
    "person/quiet-ticket": {"preservation", "over_forgetting"},
    "person/that-one": {"preservation", "over_forgetting"},
    "person/backfill": {"preservation", "over_forgetting"},
    "person/regulated-record": {"preservation", "over_forgetting"},
    "person/for-a-while": {"preservation", "over_forgetting"},
}

each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda scenario: scenario.id)
each_size = pytest.mark.parametrize("size", ["smoke", "default"])


def change_points(timeline: Timeline) -> int:
    return sum(any(isinstance(event, CHANGES) for event in stage.events) for stage in timeline.stages)


def test_every_scenario_is_found_by_name() -> None:
    assert set(SCENARIOS) == set(PROVOKED)


@each_scenario
def test_says_what_it_provokes(scenario: Scenario) -> None:
    assert "Provokes:" in scenario.doc
    assert "The opposite failure" in scenario.doc


@each_scenario
@each_size
def test_has_the_size_it_says(scenario: Scenario, size: str) -> None:
    for seed in SEEDS:
        timeline = scenario.generate(seed, size)
        asked = sum(probe.revision == 1 and probe.session is None for probe in timeline.probes)
        days = (timeline.stages[-1].at - timeline.stages[0].at) / DAY
        assert 1.4 * 365 <= days <= 3 * 365
        if size == "smoke":
            assert 40 <= change_points(timeline) <= 60
            assert 16 <= asked <= 30
        else:
            assert 60 <= change_points(timeline) <= 75
            assert len(timeline.stages) <= 95
            assert 24 <= asked <= 30


@each_scenario
@each_size
def test_asks_in_both_directions(scenario: Scenario, size: str) -> None:
    tests = Counter(probe.tests for probe in scenario.generate(3, size).probes)
    assert PROVOKED[scenario.id] <= set(tests)
    assert OPPOSITE[scenario.id] <= set(tests)


@each_scenario
def test_no_probe_leaks_and_no_question_is_asked_twice(scenario: Scenario) -> None:
    for seed in SEEDS:
        timeline = scenario.generate(seed)
        assert leaking_probes(timeline, GroundTruth.of(timeline)) == []
        assert leaking_probes(timeline, GroundTruth.of(timeline, announced_only=True)) == []
        lasting = [probe for probe in timeline.probes if probe.revision == 1 and probe.session is None]
        questions = Counter(probe.question for probe in lasting)
        assert max(questions.values()) == 1


@each_scenario
@each_size
def test_the_present_that_stories_see_is_the_truth(scenario: Scenario, size: str) -> None:
    for seed in SEEDS:
        timeline = scenario.generate(seed, size)
        truth = GroundTruth.of(timeline)
        _, log, (area,) = scenario.write(seed, size)
        last = len(timeline.stages) - 1
        expected = {truth.fact_ids[f] for f in truth.true_at(last).nonzero()[0]}
        area.present.pass_to(timeline.stages[-1].at, log.seq)
        assert {fact.id for fact in area.present.all()} == expected


@each_scenario
def test_only_true_facts_are_confirmed_and_some_are_never(scenario: Scenario) -> None:
    timeline = scenario.generate(5)
    truth = GroundTruth.of(timeline)
    stage_of = {event.seq: stage.index for stage in timeline.stages for event in stage.events}
    confirmed = [event for event in timeline.events if isinstance(event, FactConfirmed)]
    for event in confirmed:
        f = truth.index[event.fact]
        assert truth.begins[f] <= stage_of[event.seq] < truth.ends[f]
    share = len({event.fact for event in confirmed}) / len(timeline.facts)
    assert 0.15 < share < 0.85


@each_scenario
def test_sets_never_outgrow_k(scenario: Scenario) -> None:
    timeline = scenario.generate(7)
    truth = GroundTruth.of(timeline)
    for probe in timeline.probes:
        for stage in timeline.stages:
            assert len(truth.true_of_key(probe.key, stage.index)) <= timeline.header.k


@each_scenario
def test_survives_its_file(scenario: Scenario, tmp_path: Path) -> None:
    timeline = scenario.generate(2)
    timeline.write(tmp_path / "t.jsonl.gz")
    assert read(tmp_path / "t.jsonl.gz").digest == timeline.digest


@each_scenario
def test_large_has_exactly_the_events_asked_for(scenario: Scenario) -> None:
    timeline = scenario.generate(1, "large:3000")
    assert len(timeline.events) == 3000
    assert len(timeline.probes) >= 20
    assert scenario.generate(1, "3000").digest == timeline.digest
    assert leaking_probes(timeline, GroundTruth.of(timeline)) == []


@pytest.mark.parametrize("size", ["", "big", "large:", "large:9", "-1", "1e5", "٣٠٠٠"])
def test_refuses_other_sizes(size: str) -> None:
    with pytest.raises(BadInput, match="smoke, default"):
        SCENARIOS["project/reorg"].generate(1, size)


def test_seeds_differ_and_sizes_differ() -> None:
    scenario = SCENARIOS["project/reversal"]
    digests_ = {scenario.generate(seed, size).digest for seed in range(4) for size in ("smoke", "default")}
    assert len(digests_) == 8


def test_output_is_pinned_to_the_revision() -> None:
    pinned, now = json.loads(PINS.read_text()), digests()
    assert refusals(pinned, now) == []
    assert pinned == now, "pin the new revision: python tests/scenarios/pin.py"


def test_a_changed_digest_without_a_new_revision_is_refused() -> None:
    pin = {"a": {"revision": 1, "digests": {"smoke/1": "x"}}}
    assert refusals(pin, {"a": {"revision": 1, "digests": {"smoke/1": "y"}}})
    assert not refusals(pin, {"a": {"revision": 2, "digests": {"smoke/1": "y"}}})


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_another_process_with_another_hash_seed_writes_the_same(hash_seed: str) -> None:
    code = "import json; from scenarios.pin import digests; print(json.dumps(digests()))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(PINS.read_text())
