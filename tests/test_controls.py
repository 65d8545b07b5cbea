"""Memories of known quality score what they deserve, and no cheat beats the honest stack under it."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings

from memories import ADVERSARIES
from memrot import layers, registry
from memrot.controls import CONTROLS, violations
from memrot.embed.cache import Cache, Recalled
from memrot.evaluate import observe
from memrot.exact import open_store
from memrot.memory import Memory, Place, Store
from memrot.score import Scores, score
from memrot.stack import LayeredMemory
from memrot.suite import SCENARIOS
from memrot.timeline import Timeline
from random_timelines import timelines


@pytest.fixture(scope="module", params=SCENARIOS)
def timeline(request: pytest.FixtureRequest) -> Timeline:
    return exam(request.param)


@cache
def exam(scenario: str) -> Timeline:
    generated: Timeline = registry.scenario(scenario).generate(1)
    return generated


def embedded(timeline: Timeline) -> Recalled:
    minilm = registry.embedder("minilm")
    texts = [*(fact.text for fact in timeline.facts.values()), *(probe.question for probe in timeline.probes)]
    with Cache() as vectors:
        vectors.embed(minilm, texts)
        embedder = Recalled.of(minilm, vectors)
    embedder.embed(texts)
    return embedder


def scored(timeline: Timeline, memory: Memory) -> Scores:
    return score(timeline, observe(memory, timeline, peek=False))


def lifecycle(timeline: Timeline, memory: Memory) -> float:
    seen = observe(memory, timeline, peek=False)
    assert seen.footer is not None
    if seen.footer.outcome == "errored":
        return 0.0
    value = score(timeline, seen).cell["lifecycle"]
    assert value is not None
    return value


def all_leaks(scores: Scores) -> dict[str, int]:
    return {layer: scores.leaks.get(layer, 0) + scores.leaks_hedged.get(layer, 0) for layer in
            (*scores.leaks, *scores.leaks_hedged)}  # fmt: skip


def test_controls_score_what_they_must(timeline: Timeline) -> None:
    scores = {name: scored(timeline, control(timeline)) for name, control in CONTROLS.items()}
    cells = {name: scores[name].cell for name in scores}
    leaks = {name: all_leaks(scores[name]) for name in scores}
    assert violations(cells, leaks, change_points=99) == []
    assert cells["oracle"]["lifecycle"] == 1
    assert 0 < cells["listener"]["lifecycle"] < 1 or timeline.header.id != "project/unannounced"  # type: ignore[operator]  # defined


@given(timeline=timelines(max_events=40))
@settings(max_examples=60, deadline=None)
def test_the_oracle_is_never_wrong(timeline: Timeline) -> None:
    oracle = scored(timeline, CONTROLS["oracle"](timeline))
    assert oracle.cell["lifecycle"] in (1, None)
    assert oracle.cell["consistency"] in (1, None)
    assert not all_leaks(oracle)


@given(timeline=timelines(max_events=40, silent=False))
@settings(max_examples=60, deadline=None)
def test_the_listener_misses_nothing_that_is_announced(timeline: Timeline) -> None:
    listener = scored(timeline, CONTROLS["listener"](timeline))
    assert not all_leaks(listener)
    assert listener.cell["consistency"] in (1, None)


@pytest.mark.parametrize("names", [(), ("all",)], ids=["bare", "all"])
def test_no_cheat_beats_the_honest_stack(names: tuple[str, ...], tmp_path: Path) -> None:
    """Means over the scenarios, as on the leaderboard."""
    scores: dict[str, list[float]] = {name: [] for name in ("honest", *ADVERSARIES)}
    for scenario in SCENARIOS:
        timeline = exam(scenario)
        embedder = embedded(timeline)
        parsed = layers.parse(names, timeline.header.exclusive)
        for name, values in scores.items():
            place = Place("test", tmp_path / name, embedder.dim, len(timeline.facts))
            store = open_store(place, {})
            honest = LayeredMemory(partial(_same, store), parsed, embedder)
            memory = ADVERSARIES[name](honest, timeline) if name in ADVERSARIES else honest
            values.append(lifecycle(timeline, memory))
            store.drop()
    means = {name: fmean(values) for name, values in scores.items()}
    honest_mean = means.pop("honest")
    bound = 0.25 if honest_mean < 0.2 else honest_mean + 0.02
    assert {name: value for name, value in means.items() if value > bound} == {}


def _same(store: Store) -> Store:
    return store


def test_violations_name_the_control_and_the_bound() -> None:
    sound = {
        "oracle": {"lifecycle": 1.0, "consistency": 1.0}, "listener": {"coverage": 1.0, "coverage_key": 1.0},
        "hoarder": {"forgetting": 0.0, "lifecycle": 0.0}, "amnesiac": {"coverage": 0.0, "lifecycle": 0.0},
        "over-deleter": {"coverage_key": 0.5}, "newest": {"lifecycle": 0.3},
    }  # fmt: skip
    no_leaks: dict[str, dict[str, int]] = {name: {} for name in sound}
    assert violations(sound, no_leaks, 60) == []
    for control, metric, value, said in [
        ("oracle", "lifecycle", 0.99, "oracle: expected lifecycle = 1, got 0.9900"),
        ("oracle", "consistency", 0.99, "oracle: expected consistency = 1"),
        ("listener", "coverage", 0.9, "listener: expected coverage = 1"),
        ("amnesiac", "coverage", 0.1, "amnesiac: expected coverage = 0"),
        ("amnesiac", "lifecycle", 0.1, "amnesiac: expected lifecycle = 0"),
        ("hoarder", "forgetting", 0.2, "hoarder: expected forgetting <= .1"),
        ("hoarder", "lifecycle", 0.3, "hoarder: expected lifecycle <= .2"),
        ("newest", "lifecycle", 0.5, "newest: expected lifecycle < .5"),
        ("over-deleter", "coverage_key", 0.8, "over-deleter: expected coverage_key < 0.8000"),
    ]:
        broken = {**sound, control: {**sound[control], metric: value}}
        assert [message for message in violations(broken, no_leaks, 60) if message.startswith(said)], said
    assert violations(sound, {**no_leaks, "listener": {"propagation": 1, "unknowable": 3}}, 60) == [
        "listener: expected no leaks, got {'propagation': 1}"
    ]
    young = {**sound, "hoarder": {"forgetting": 1.0, "lifecycle": 0.9}}
    assert violations(young, no_leaks, 39) == []


def test_controls_follow_the_timeline_after_a_restart(timeline: Timeline) -> None:
    half = len(timeline.stages) // 2
    for control in CONTROLS.values():
        through, late = control(timeline), control(timeline)
        for stage in timeline.stages[: half + 1]:
            through.apply(stage.announced(), stage.at)
        late.apply(timeline.stages[half].announced(), timeline.stages[half].at)
        assert (through.told, through.stage) == (late.told, late.stage)
