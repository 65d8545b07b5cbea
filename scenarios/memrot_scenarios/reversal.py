"""Decisions are reversed, and reversed again: Kafka, SQS, Kafka.

Provokes: a memory that treats a value as dead once it was superseded drops it when it returns, or
its duplicate check swallows the sentence that brings it back; one that keeps everything answers with
both. In life some reversals take a day (an incident, a roll-back) and some a quarter (a trial that
failed); the words of the second decision for A are those of the first.

The opposite failure: the detour B stays, or the revived A is withheld for being a duplicate of
something dead. The history, asked in order, is A, B, A.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import REVERSAL_DAYS, around
from memrot_scenarios.statements import PREDICATES
from memrot_scenarios.stories import Line, Story, background, lasting, pages, quiet, silently, within, writing
from memrot_scenarios.turns import looked_up, remembered, said_again, taken_back, taken_up_again, turn
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    rapid = [(one, "broker"), (two, "auth"), (three, "rollout")][: 2 if area.small else 3]
    slow = [(two, "broker"), (three, "format"), (four, "auth"), (one, "owner")]
    deleted = [(three, "auth"), (four, "quota"), (one, "support")][: 2 if area.small else 3]
    repeated = [(four, "broker"), (two, "latency")]
    drifting = [
        (one, "design"), (two, "format"), (two, "oncall"), (four, "rollout"), (three, "oncall"),
        (three, "design"), (three, "owner"), (one, "oncall"), (four, "oncall"), (calm[0], "design"),
        (calm[0], "owner"), (calm[1], "owner"), (calm[0], "oncall"),
    ]  # fmt: skip
    gone = (four, "waiver")
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*rapid, *slow, *deleted, *repeated), "flip_flop"),
        **dict.fromkeys(drifting[:4], "revision"),
        **dict.fromkeys([(one, "consumer"), (two, "consumer")], "cascade"),
        **dict.fromkeys(
            [(calm[0], "broker"), (calm[1], "broker"), (calm[0], "auth"), (calm[0], "region")], "preservation"
        ),
        **dict.fromkeys([(calm[1], "format"), (calm[1], "oncall")], "preservation"),
        gone: "forgetting",
    }
    usual = ("broker", "auth", "rollout", "format", "design", "region", "owner", "oncall", "latency")
    extra = {one: ("support",), two: (), three: ("image",), four: ("quota", "waiver")}
    lines = {
        service: [
            *(Line(name) for name in (*usual, *extra.get(service, ("image",)))),
            Line("consumer", on=("broker",)),
        ]
        for service in area.services
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_rapid(area, key, n) for n, key in enumerate(rapid)),
        *(_slow(area, key) for key in slow),
        *(taken_up_again(area, key) for key in deleted),
        *(said_again(area, key) for key in repeated),
        taken_back(area, gone),
        silently(area, (three, "oncall"), 0.6, 0.8),
        *background(area, drifting, 14 if area.small else 26),
        remembered(area, rapid[0], 0.6, 0.65),
        remembered(area, slow[1], 0.8, 0.85),
        looked_up(area, slow[2]),
        looked_up(area, slow[3]),
    ]


def _rapid(area: Area, key: Key, number: int) -> Story:
    """A, B within days A again; much later C. Now and then the detour is taken twice."""
    yield within(area, 0.08 + 0.15 * number, 0.2 + 0.15 * number)
    first = area.now(*key)
    if first is None:
        return
    turn(area, key)
    yield 1 + 4 * area.rng.random()
    turn(area, key, first.value)
    if key[1] == "broker":
        yield 2 + 8 * area.rng.random()
        _consumed_again(area, key)
    yield area.horizon * (0.25 + 0.15 * area.rng.random())
    turn(area, key)


def _slow(area: Area, key: Key) -> Story:
    """A, B for as long as such detours last, A again."""
    yield within(area, 0.1, 0.5)
    first = area.now(*key)
    if first is None:
        return
    turn(area, key)
    if key[1] == "broker":
        yield 10 + 10 * area.rng.random()
        _consumed_again(area, key)
    yield from lasting(area, around(area.rng, REVERSAL_DAYS[PREDICATES[key[1]].domain]))
    turn(area, key, first.value)
    if key[1] == "broker":
        yield 10 + 10 * area.rng.random()
        _consumed_again(area, key)


def _consumed_again(area: Area, key: Key) -> None:
    if (broker := area.now(*key)) is not None:
        area.add(key[0], "consumer", on=[broker])


SCENARIO = Scenario(id="project/reversal", revision=1, doc=__doc__ or "", script=_script)
