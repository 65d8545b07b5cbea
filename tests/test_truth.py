"""METRICS.md §1: when facts begin and end, and why; held against ``reference.py`` on random timelines."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings

from memrot import course
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Probe,
    TimePassed,
)
from memrot.timeline import Domain, Header, Timeline
from memrot.truth import Due, GroundTruth, forgetting_schedule, leaking_probes
from random_timelines import random_timeline, timelines
from reference_truth import NEVER, is_fresh, lives_of

START = 1_767_600_000_000


def day(number: float) -> int:
    return START + int(number * DAY)


def fact(name: str, value: str = "x", *, on: str = "s", **more: Any) -> Fact:
    return Fact(
        id=name, subject=on, predicate=more.pop("predicate", "p"), value=value, domain="D", text=name, **more
    )


def exam(events: Iterable[ChangeEvent], probes: Iterable[Probe] = (), **domain: Any) -> Timeline:
    header = Header(id="t", domains={"D": Domain(**domain)}, exclusive=("owns",))
    return Timeline.of(header, events, probes)


def history(truth: GroundTruth) -> dict[str, tuple[int | None, int | None, str | None]]:
    """Fact -> stages of begin and end, and the cause."""
    never = truth.never
    return {
        name: (begin if begin < never else None, end if end < never else None, cause)
        for name, begin, end, cause in zip(
            truth.fact_ids, truth.begins.tolist(), truth.ends.tolist(), truth.causes, strict=True
        )
    }


# --- against the reference -------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(timelines())
def test_random_timelines_agree_with_the_reference(timeline: Timeline) -> None:
    assert_agrees(timeline)


@pytest.mark.parametrize("seed", range(60))
def test_longer_timelines_agree_with_the_reference(seed: int) -> None:
    assert_agrees(random_timeline(seed, events=45))


def assert_agrees(timeline: Timeline) -> None:
    whole = GroundTruth.of(timeline)
    for announced_only in (False, True):
        truth = GroundTruth.of(timeline, announced_only=announced_only)
        lives = lives_of(timeline, announced_only=announced_only)
        never = truth.never
        for f, name in enumerate(truth.fact_ids):
            life = lives.get(name)
            if life is None:
                assert (truth.introduced[f], truth.begins[f], truth.ends[f]) == (never, never, never)
                assert not truth.told[f]
                continue
            expected = [never if stage == NEVER else stage for stage in (life.begins, life.end)]
            assert [truth.introduced[f], truth.begins[f], truth.ends[f]] == [life.introduced, *expected]
            assert truth.causes[f] == life.cause
            assert truth.fact_ids[truth.roots[f]] in {root.fact.id for root in life.roots()}
            if all(len(support.fell_with) < 2 for support in lives.values()):
                assert truth.holds_until[f] == life.until()
    for stage in range(whole.never):
        fresh = whole.fresh_at(stage)
        for f, life in enumerate(lives_of(timeline, announced_only=False).values()):
            if life.introduced <= stage:
                assert fresh[f] == is_fresh(timeline, life, stage)


# --- by hand -----------------------------------------------------------------------------------


def test_a_backfilled_old_fact_never_displaces_a_newer_one() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("new", "a")),
            FactAdded(seq=2, at=day(1), fact=fact("old", "b", valid_from=day(-9))),
            FactInvalidated(seq=3, at=day(2), fact="new", reason="obsolete"),
            FactAdded(seq=4, at=day(3), fact=fact("older", "c", valid_from=day(-20))),
        ]
    )
    truth = GroundTruth.of(timeline)
    assert history(truth) == {
        "new": (0, 2, "invalidated"),
        "old": (None, 1, "contradicted"),
        "older": (None, 3, "contradicted"),
    }
    assert truth.ended_by == (3, 1, 1)
    assert [truth.ended_through[f] for f in (1, 2)] == [0, 0]
    # in the world the old ones held until the next one did
    assert truth.holds_until.tolist() == [day(2), day(0), day(0)]


def test_a_scheduled_revision_ends_the_old_fact_when_it_begins_and_a_cancelled_one_never() -> None:
    events: list[ChangeEvent] = [
        FactAdded(seq=1, at=day(0), fact=fact("a", "a")),
        FactRevised(seq=2, at=day(1), previous="a", current=fact("b", "b", valid_from=day(4))),
        TimePassed(seq=4, at=day(5)),
    ]
    assert history(GroundTruth.of(exam(events))) == {"a": (0, 2, "superseded"), "b": (2, None, None)}
    cancelled: list[ChangeEvent] = [*events, FactInvalidated(seq=3, at=day(2), fact="b", reason="reversed")]
    assert history(GroundTruth.of(exam(cancelled))) == {"a": (0, None, None), "b": (None, 2, "invalidated")}


def test_a_revision_is_never_older_than_what_it_revises() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a", "a")),
            FactRevised(seq=2, at=day(1), previous="a", current=fact("b", "b", valid_from=day(-30))),
            FactAdded(seq=3, at=day(2), fact=fact("c", "c", valid_from=day(-5))),
        ]
    )
    assert history(GroundTruth.of(timeline)) == {
        "a": (0, 1, "superseded"),
        "b": (1, None, None),
        "c": (None, 2, "contradicted"),
    }


def test_a_restatement_contradicts_nothing_but_falls_with_the_next_value() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a", "a")),
            FactAdded(seq=2, at=day(1), fact=fact("again", "a")),
            FactAdded(seq=3, at=day(2), fact=fact("b", "b")),
        ]
    )
    truth = GroundTruth.of(timeline)
    assert truth.true_of_key(("s", "p"), 1) == [0, 1]
    assert truth.true_of_key(("s", "p"), 2) == [2]
    assert truth.true_of_key(("s", "q"), 2) == []


def test_an_exclusive_value_has_one_subject_and_other_sets_have_many() -> None:
    owns = {"predicate": "owns", "cardinality": "many"}
    uses = {"predicate": "uses", "cardinality": "many"}
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("x-a", "a", on="x", **owns)),
            FactAdded(seq=2, at=day(1), fact=fact("x-b", "b", on="x", **owns)),
            FactAdded(seq=3, at=day(2), fact=fact("y-a", "a", on="y", **owns)),
            FactAdded(seq=4, at=day(3), fact=fact("x-u", "a", on="x", **uses)),
            FactAdded(seq=5, at=day(4), fact=fact("y-u", "a", on="y", **uses)),
        ]
    )
    truth = GroundTruth.of(timeline)
    assert [truth.fact_ids[f] for f in truth.true_at(4).nonzero()[0]] == ["x-b", "y-a", "x-u", "y-u"]


def test_every_kind_of_end_cascades_and_names_its_root() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("root", on="r", valid_to=day(3))),
            FactAdded(seq=2, at=day(1), fact=fact("other", on="o")),
            FactAdded(seq=3, at=day(2), fact=fact("both", on="1", depends_on=("root", "other"))),
            FactAdded(
                seq=4, at=day(2), fact=fact("any", on="2", depends_on=("root", "other"), support="any")
            ),
            FactAdded(seq=5, at=day(2), fact=fact("far", on="3", depends_on=("both",))),
            TimePassed(seq=6, at=day(4)),
            FactInvalidated(seq=7, at=day(5), fact="other", reason="dropped"),
            FactAdded(seq=8, at=day(6), fact=fact("late", on="4", depends_on=("far",))),
        ]
    )
    truth = GroundTruth.of(timeline)
    assert history(truth) == {
        "root": (0, 3, "elapsed"),
        "other": (1, 4, "invalidated"),
        "both": (2, 3, "cascaded"),
        "any": (2, 4, "cascaded"),
        "far": (2, 3, "cascaded"),
        "late": (None, 5, "cascaded"),
    }
    assert [truth.fact_ids[f] for f in truth.roots] == ["root", "other", "root", "other", "root", "root"]
    assert truth.ended_by == (None, 7, None, 7, None, None)
    assert truth.holds_until.tolist() == [day(3), day(5), day(3), day(5), day(3), day(3)]


def test_a_retracted_fact_never_held() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a")),
            FactInvalidated(seq=2, at=day(3), fact="a", reason="retracted"),
        ]
    )
    truth = GroundTruth.of(timeline)
    assert (truth.holds_from[0], truth.holds_until[0]) == (day(0), day(0))


def test_silence_changes_the_truth_and_not_what_is_told() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a", "a")),
            FactRevised(seq=2, at=day(1), previous="a", current=fact("b", "b"), announced=False),
            FactRevised(seq=3, at=day(2), previous="b", current=fact("c", "c")),
        ]
    )
    truth, told = GroundTruth.of(timeline), GroundTruth.of(timeline, announced_only=True)
    assert history(truth) == {"a": (0, 1, "superseded"), "b": (1, 2, "superseded"), "c": (2, None, None)}
    assert truth.told.tolist() == [True, False, True]
    # the revision of a fact that nobody told only introduces, and contradicts like any newer fact
    assert history(told) == {"a": (0, 2, "contradicted"), "b": (None, None, None), "c": (2, None, None)}


def test_only_confirmations_of_what_has_not_ended_validate() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a", observed_at=day(-1))),
            FactMentioned(seq=2, at=day(2), fact="a"),
            FactConfirmed(seq=3, at=day(3), fact="a"),
            TimePassed(seq=4, at=day(5)),
            FactInvalidated(seq=5, at=day(6), fact="a", reason="dropped", announced=False),
            FactConfirmed(seq=6, at=day(7), fact="a"),
        ],
        window_days=2,
    )
    truth = GroundTruth.of(timeline)
    assert [bool(truth.fresh_at(stage)[0]) for stage in range(6)] == [True, False, True, True, False, False]


# --- what is asked, and when -------------------------------------------------------------------


def probe(**more: Any) -> Probe:
    fields = {"id": "p", "question": "?", "subject": "s", "predicate": "p", "tests": "revision"} | more
    return Probe(**fields)


def test_an_ended_fact_is_asked_back_after_n_change_points_at_the_next_asked_stage() -> None:
    changes: list[ChangeEvent] = [
        FactAdded(seq=10 + i, at=day(10 + i), fact=fact(f"n{i}", on=f"n{i}")) for i in range(4)
    ]
    events: list[ChangeEvent] = [
        FactAdded(seq=1, at=day(0), fact=fact("a", valid_to=day(2))),
        FactAdded(seq=2, at=day(1), fact=fact("quiet", on="z", valid_to=day(2))),
        TimePassed(seq=3, at=day(3)),
        TimePassed(seq=4, at=day(9)),
        *changes,
    ]
    timeline = exam(events, [probe()], grace_days=5)
    truth, told = GroundTruth.of(timeline), GroundTruth.of(timeline, announced_only=True)
    everything = range(truth.never)
    # stage 2 is the end, stage 3 that of the grace; changes follow at the stages 4, 5, 6, 7
    assert forgetting_schedule(truth, told, timeline, everything, 3) == {
        "a": Due(ended=3, asked_back=6),
        "quiet": Due(ended=3, asked_back=None),
    }
    assert forgetting_schedule(truth, told, timeline, [0, 5, 7], 3)["a"].asked_back == 7
    assert forgetting_schedule(truth, told, timeline, [0, 5], 3)["a"].asked_back is None
    assert forgetting_schedule(truth, told, timeline, everything, 5)["a"].asked_back is None


def test_leaking_probes_go_on_after_the_last_fact_or_have_none() -> None:
    timeline = exam(
        [
            FactAdded(seq=1, at=day(0), fact=fact("a")),
            FactInvalidated(seq=2, at=day(1), fact="a", reason="dropped"),
            TimePassed(seq=3, at=day(2)),
        ],
        [
            probe(id="goes on"),
            probe(id="stops in time", until=2),
            probe(id="tests absence", tests="forgetting"),
            probe(id="history", mode="history"),
            probe(id="of nothing", subject="nobody", tests="forgetting"),
        ],
    )
    assert leaking_probes(timeline, GroundTruth.of(timeline)) == ["goes on", "of nothing"]


# --- cost ------------------------------------------------------------------------------------


def lines_run(timeline: Timeline) -> int:
    """How many lines of ``course.py`` one pass executes: work that no busy machine can change."""
    _ = timeline.stages, timeline.facts
    count = 0

    def local(_frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return local

    def trace(frame: FrameType, _event: str, _arg: object) -> Any:
        return local if frame.f_code.co_filename == course.__file__ else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        GroundTruth.of(timeline)
    finally:
        sys.settrace(before)
    return count


def chain(length: int) -> Timeline:
    """A cascade through a chain, and one fact that all stand on."""
    events: list[ChangeEvent] = [FactAdded(seq=1, at=day(0), fact=fact("0", on="0"))]
    for i in range(1, length):
        supports = ("0", str(i - 1)) if i > 1 else ("0",)
        events.append(FactAdded(seq=i + 1, at=day(i), fact=fact(str(i), on=str(i), depends_on=supports)))
    events.append(FactInvalidated(seq=length + 1, at=day(length), fact="1", reason="dropped"))
    return exam(events)


def restatements(length: int) -> Timeline:
    """One key, the same value again and again, and plans that never come true."""
    return exam(
        FactAdded(
            seq=i + 1,
            at=day(i),
            fact=fact(str(i), "same" if i % 2 else f"v{i}", valid_from=day(i if i % 2 else 9999)),
        )
        for i in range(length)
    )


@pytest.mark.parametrize("make", [chain, restatements, lambda n: random_timeline(1, events=n)])
def test_work_grows_with_facts_and_events_not_with_their_product(make: Any) -> None:
    small, large = lines_run(make(250)), lines_run(make(1000))
    assert large < 5 * small
