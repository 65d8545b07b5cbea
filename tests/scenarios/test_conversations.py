"""The scenarios of silence speak of every fact class, and hold enough conversations to replay."""

from __future__ import annotations

from collections import Counter

import pytest

from memrot import registry, suite
from memrot.model import NEVER
from memrot.timeline import Timeline
from memrot.truth import GroundTruth
from memrot_scenarios.person import CLASSES

OF_CLASS = {
    "person/old-booking": "commitment",
    "person/named-once": "identity",
    "person/new-taste": "preference",
    "person/quiet-ticket": "working_context",
    "person/that-one": "session",
    "person/backfill": "slow_attribute",
    "person/regulated-record": "regulated",
    "person/for-a-while": "relationship",
}
"""The class that a scenario is about; ``person/for-a-while`` is about five, the manager among them."""


@pytest.fixture(scope="module")
def timelines() -> dict[str, list[Timeline]]:
    return {name: [registry.scenario(name).generate(seed) for seed in range(1, 21)] for name in suite.SILENCE}


def test_every_fact_class_has_its_scenario() -> None:
    assert set(OF_CLASS) == set(suite.SILENCE)
    assert set(CLASSES.values()) - set(OF_CLASS.values()) == {"episode"}  # holidays: person/named-once


def test_twenty_seeds_hold_a_thousand_conversations(timelines: dict[str, list[Timeline]]) -> None:
    sessions = Counter(
        name
        for name, of_seeds in timelines.items()
        for timeline in of_seeds
        for _ in {probe.session for probe in timeline.probes if probe.session}
    )
    assert sessions.total() >= 1000
    assert min(sessions.values()) >= 100


def test_a_conversation_is_asked_once_at_its_time(timelines: dict[str, list[Timeline]]) -> None:
    for of_seeds in timelines.values():
        for timeline in of_seeds:
            stages: dict[str, set[int]] = {}
            for probe in timeline.probes:
                if probe.session is not None:
                    active = [stage.index for stage in timeline.stages if probe.active(stage.seq)]
                    assert len(active) == 1, probe.id
                    stages.setdefault(probe.session, set()).update(active)
            assert all(len(at) == 1 for at in stages.values())


ONE_WAY = {"person/named-once": "gone", "person/that-one": "kept"}
"""Who somebody is does not end, and what a conversation pointed at does not last: the opposite failure
is one of another class there."""


@pytest.mark.parametrize("name", OF_CLASS)
def test_every_class_is_asked_about_in_both_directions(
    name: str, timelines: dict[str, list[Timeline]]
) -> None:
    """What is true must be kept, what ended must be let go."""
    found = Counter[str]()
    for timeline in timelines[name][:5]:
        truth = GroundTruth.of(timeline)
        asked = {probe.key for probe in timeline.probes}
        for f, fact in enumerate(truth.facts):
            if fact.fact_class == OF_CLASS[name] and fact.key in asked and truth.told[f]:
                found["kept" if truth.ends[f] == truth.never else "gone"] += 1
    assert {end for end in ("kept", "gone") if found[end] >= 5} == {"kept", "gone"} - {ONE_WAY.get(name)}


def test_what_a_conversation_points_at_is_known_in_it(timelines: dict[str, list[Timeline]]) -> None:
    for timeline in timelines["person/that-one"]:
        truth = GroundTruth.of(timeline)
        told_in = {fact.session for fact in timeline.facts.values() if fact.predicate == "that_one"}
        known = [
            bool(truth.true_of_key(probe.key, stage.index))
            for probe in timeline.probes
            if probe.predicate == "that_one" and probe.session in told_in
            for stage in timeline.stages
            if probe.active(stage.seq)
        ]
        assert len(known) >= 10
        assert all(known)


@pytest.mark.parametrize("name", suite.SILENCE)
def test_a_scenario_says_which_bounds_its_texts_state(name: str) -> None:
    assert "Bounds that the texts state:" in registry.scenario(name).doc


def test_who_states_an_end_says_so_in_words(timelines: dict[str, list[Timeline]]) -> None:
    for name in ("person/old-booking", "person/regulated-record", "person/for-a-while"):
        for timeline in timelines[name][:3]:
            dated = [fact for fact in timeline.facts.values() if fact.valid_to < NEVER]
            assert len(dated) >= 3
            assert all(" until " in fact.text or " through " in fact.text for fact in dated)
