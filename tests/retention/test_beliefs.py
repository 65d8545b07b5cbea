"""What the full store believes, and how long silence could be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from memrot.layers.policy import DEFAULT, ClassPolicy
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    TimePassed,
)
from memrot.retention.beliefs import Belief, Spell, beliefs, spells
from memrot.timeline import Domain, Header, Timeline

START = 1_700_000_000_000


def fact(id_: str, value: str = "x", domain: str = "PREFERENCE", **changes: int) -> Fact:
    known = Fact(id=id_, subject=id_[0], predicate="p", value=value, domain=domain, text=f"{id_} is {value}")
    return structs.replace(known, **changes)


Make = Callable[[int, int], ChangeEvent]


def tell(what: Fact) -> Make:
    return lambda seq, at: FactAdded(seq=seq, at=at, fact=what)


def revise(previous: str, current: Fact, *, announced: bool) -> Make:
    return lambda seq, at: FactRevised(
        seq=seq, at=at, previous=previous, current=current, announced=announced
    )


def end(id_: str, *, announced: bool) -> Make:
    return lambda seq, at: FactInvalidated(seq=seq, at=at, fact=id_, reason="obsolete", announced=announced)


def confirm(id_: str) -> Make:
    return lambda seq, at: FactConfirmed(seq=seq, at=at, fact=id_)


def mention(id_: str) -> Make:
    return lambda seq, at: FactMentioned(seq=seq, at=at, fact=id_)


def passes(seq: int, at: int) -> ChangeEvent:
    return TimePassed(seq=seq, at=at)


def timeline(events: Sequence[tuple[float, Make]]) -> Timeline:
    built = [make(seq, START + round(day * DAY)) for seq, (day, make) in enumerate(events, start=1)]
    domains = {name: Domain() for name in ("PREFERENCE", "EPISODE", "COMMITMENT")}
    return Timeline.of(Header(id="t", domains=domains), built, [])


def days(belief: Belief) -> tuple[float, float]:
    return (belief.at - belief.observed_at) / DAY, (belief.at - belief.last_confirmed_at) / DAY


def test_the_full_store_believes_what_it_was_not_told_to_have_ended() -> None:
    first: list[tuple[float, Make]] = [
        (0, tell(fact("a"))),
        (0, tell(fact("b"))),
        (0, tell(fact("c"))),
        (0, tell(fact("d", valid_to=START + 20 * DAY))),
    ]
    exam = timeline(
        [
            *first,
            (5, revise("b", fact("b2", "y"), announced=False)),
            (6, revise("c", fact("c2", "y"), announced=True)),
            (7, end("a", announced=True)),
            (10, tell(fact("e", observed_at=START - 90 * DAY))),
            (30, passes),
        ]
    )
    found = {belief.id: belief for belief in beliefs(exam)}
    assert {id_: belief.true for id_, belief in found.items()} == {"b": False, "c2": True, "e": True}
    assert days(found["e"]) == (120, 120)
    early = {belief.id: belief.true for belief in beliefs(timeline(first))}
    assert early == {"a": True, "b": True, "c": True, "d": True}


def test_a_value_that_holds_again_is_true() -> None:
    exam = timeline(
        [
            (0, tell(fact("a"))),
            (1, revise("a", fact("a2", "y"), announced=False)),
            (2, revise("a2", fact("a3", "x"), announced=False)),
            (3, passes),
        ]
    )
    assert [belief.true for belief in beliefs(exam)] == [True]


def test_confirmations_and_mentions_move_their_timestamps() -> None:
    exam = timeline([(0, tell(fact("a"))), (10, confirm("a")), (30, mention("a")), (40, passes)])
    (belief,) = beliefs(exam)
    assert days(belief) == (30, 10)
    assert belief.age_days(ClassPolicy(half_life_days=9)) == 30
    assert belief.age_days(ClassPolicy(ttl_days=9)) == 10


def test_spells_end_in_silence_or_are_cut_short() -> None:
    exam = timeline(
        [
            (0, tell(fact("a"))),
            (0, tell(fact("b"))),
            (0, tell(fact("c"))),
            (0, tell(fact("e", domain="EPISODE"))),
            (10, confirm("a")),
            (15, mention("a")),
            (20, mention("e")),
            (25, end("a", announced=False)),
            (26, end("b", announced=True)),
            (27, mention("a")),
            (40, passes),
        ]
    )
    found = [(spell.fact_class, spell.days, spell.ended) for spell in spells(exam, DEFAULT.classes)]
    assert sorted(found) == [
        ("episode", 20, False),  # until it is mentioned
        ("episode", 20, False),  # until the timeline ends
        ("preference", 10, False),  # a, until it is confirmed
        ("preference", 15, True),  # a, from then on: in silence
        ("preference", 26, False),  # b: an end that is told is no silence
        ("preference", 40, False),  # c
    ]


def test_stated_ends_are_noted() -> None:
    exam = timeline([(0, tell(fact("a", domain="COMMITMENT", valid_to=START + 9 * DAY))), (20, passes)])
    assert spells(exam, DEFAULT.classes) == [Spell("commitment", dated=True, days=9, ended=False)]
