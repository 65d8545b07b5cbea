"""The person world: every class of facts, conversations, and ends that are stated in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memrot.model import DAY, NEVER, FactAdded
from memrot.timeline import Timeline
from memrot_scenarios.area import Area
from memrot_scenarios.person import CLASSES, PERSON
from memrot_scenarios.stories import Story
from memrot_scenarios.world import Scenario
from scenarios.pin import scenarios

CLASSED = [
    "identity", "slow_attribute", "preference", "relationship", "working_context", "commitment", "episode",
    "session", "regulated",
]  # fmt: skip


def told(story: Callable[[Area], Story]) -> Timeline:
    """The timeline of one story."""
    scenario = Scenario(id="test/person", revision=1, doc="", script=lambda area: [story(area)], world=PERSON)
    return scenario.generate(1)


def test_every_class_of_facts_has_predicates_and_domains() -> None:
    assert list(CLASSES.values()) == CLASSED
    assert {known.domain for known in PERSON.predicates.values()} == set(PERSON.domains) == set(CLASSES)


@pytest.mark.parametrize(
    "scenario", [each for each in scenarios() if each.world.classes], ids=lambda each: each.id
)
def test_facts_say_their_class(scenario: Scenario) -> None:
    for fact in scenario.generate(4).facts.values():
        assert fact.fact_class == CLASSES[fact.domain]


def test_what_is_asked_in_a_conversation_is_asked_once_and_may_be_asked_again() -> None:
    def talk(area: Area) -> Story:
        person = area.people[0]
        area.add(person, "city", "Ghent")
        for _ in range(3):
            yield 1
            session = area.new_session()
            area.add(person, "that_one", session=session)
            area.ask(person, "that_one", "preservation", session=session)
            area.ask(person, "city", "preservation", session=session)
        yield 1
        area.add(person, "drink")

    timeline = told(talk)
    stages = [[probe for probe in timeline.probes if probe.active(stage.seq)] for stage in timeline.stages]
    assert [{probe.session for probe in probes} for probes in stages] == [
        set(),
        {"s1"},
        {"s2"},
        {"s3"},
        set(),
    ]
    assert [len(probes) for probes in stages] == [0, 2, 2, 2, 0]
    sessions = {fact.value: fact.session for fact in timeline.facts.values() if fact.predicate == "that_one"}
    assert set(sessions.values()) == {"s1", "s2", "s3"}


def test_a_conversation_in_which_nothing_is_said_has_a_stage_of_its_own() -> None:
    def talk(area: Area) -> Story:
        area.add(area.people[0], "city")
        yield 2
        area.ask(area.people[0], "city", "preservation", session=area.new_session())

    timeline = told(talk)
    assert len(timeline.stages) == 2
    assert [probe.active(stage.seq) for probe in timeline.probes for stage in timeline.stages] == [
        False,
        True,
    ]


def test_a_stated_last_day_is_a_whole_one() -> None:
    def plans(area: Area) -> Story:
        for person in area.people:
            area.add(person, "booking", lasts=9)
            area.add(person, "cover")
            yield 0.3

    for event in told(plans).events:
        assert isinstance(event, FactAdded)
        fact = event.fact
        if fact.predicate == "cover":
            assert fact.valid_to == NEVER
            continue
        last = datetime.fromtimestamp((fact.valid_to - 1) / 1000, UTC)
        assert fact.valid_to % DAY == 0
        assert 9 * DAY <= fact.valid_to - event.at < 10 * DAY
        assert f" {last:%d %B %Y}".replace(" 0", " ") in fact.text
