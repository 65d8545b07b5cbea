"""People change their minds, and change them back: coffee, tea, coffee.

The person world's counterpart of project/reversal: tastes for decisions.

Provokes: a memory that treats a taste as dead once it was superseded drops it when it returns, or its
duplicate check swallows the sentence that brings it back; one that keeps everything answers with
both. In life some changes of mind take days (a resolution) and some a season (a fashion); the second
"I like coffee" is worded as the first was.

The opposite failure: the passing taste stays, or the old one that returned is withheld for being a
duplicate of something dead. The history, asked in order, is A, B, A.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, lasting, pages, quiet, silently, within, writing
from memrot_scenarios.turns import looked_up, remembered, said_again, taken_back, taken_up_again, turn
from memrot_scenarios.world import Scenario

_SEASON = 70
"""Days that a slow detour lasts, about; assumed."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    rapid = [(one, "diet"), (two, "theme"), (three, "seat")][: 2 if area.small else 3]
    slow = [(two, "diet"), (three, "music"), (four, "theme"), (one, "reply_style")]
    deleted = [(three, "theme"), (four, "budget"), (one, "curfew")][: 2 if area.small else 3]
    repeated = [(four, "diet"), (two, "drink")]
    drifting = [
        (one, "hobby"), (two, "music"), (two, "phone"), (four, "seat"), (three, "phone"),
        (three, "hobby"), (three, "reply_style"), (one, "phone"), (four, "phone"), (calm[0], "hobby"),
        (calm[0], "reply_style"), (calm[1], "reply_style"), (calm[0], "phone"),
    ]  # fmt: skip
    gone = (four, "hotel_wish")
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*rapid, *slow, *deleted, *repeated), "flip_flop"),
        **dict.fromkeys(drifting[:4], "revision"),
        **dict.fromkeys([(one, "meal_plan"), (two, "meal_plan")], "cascade"),
        **dict.fromkeys(
            [(calm[0], "diet"), (calm[1], "diet"), (calm[0], "theme"), (calm[0], "drink")], "preservation"
        ),
        **dict.fromkeys([(calm[1], "music"), (calm[1], "phone")], "preservation"),
        gone: "forgetting",
    }
    usual = ("diet", "theme", "seat", "music", "hobby", "drink", "reply_style", "phone")
    extra = {one: ("curfew",), four: ("budget", "hotel_wish")}
    lines = {
        person: [
            *(Line(name) for name in (*usual, *extra.get(person, ("birthday",)))),
            Line("meal_plan", on=("diet",)),
        ]
        for person in area.people
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_rapid(area, key, n) for n, key in enumerate(rapid)),
        *(_slow(area, key) for key in slow),
        *(taken_up_again(area, key) for key in deleted),
        *(said_again(area, key) for key in repeated),
        taken_back(area, gone),
        silently(area, (three, "phone"), 0.6, 0.8),
        *background(area, drifting, 16 if area.small else 26),
        remembered(area, rapid[1], 0.6, 0.65),
        remembered(area, slow[1], 0.8, 0.85),
        looked_up(area, slow[2]),
        looked_up(area, slow[3]),
    ]


def _rapid(area: Area, key: Key, number: int) -> Story:
    """A, B within days A again; much later C."""
    yield within(area, 0.08 + 0.15 * number, 0.2 + 0.15 * number)
    first = area.now(*key)
    if first is None:
        return
    turn(area, key)
    yield 1 + 4 * area.rng.random()
    turn(area, key, first.value)
    yield from _fed_again(area, key, 2 + 8 * area.rng.random())
    yield area.horizon * (0.25 + 0.15 * area.rng.random())
    turn(area, key)


def _slow(area: Area, key: Key) -> Story:
    """A, B for a season, A again."""
    yield within(area, 0.1, 0.5)
    first = area.now(*key)
    if first is None:
        return
    turn(area, key)
    yield from _fed_again(area, key, 10 + 10 * area.rng.random())
    yield from lasting(area, around(area.rng, _SEASON))
    turn(area, key, first.value)
    yield from _fed_again(area, key, 10 + 10 * area.rng.random())


def _fed_again(area: Area, key: Key, days: float) -> Story:
    """Some days after a change of diet, meals that suit it are ordered."""
    person, name = key
    if name != "diet":
        return
    yield days
    if (diet := area.now(person, name)) is not None:
        area.add(person, "meal_plan", on=[diet])


SCENARIO = Scenario(id="person/change-of-mind", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
