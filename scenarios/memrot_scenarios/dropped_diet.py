"""A constraint of a person is dropped, with nothing in its place.

The person world's counterpart of project/requirement-drop: diets, budgets and quiet hours for requirements.

Provokes: the old constraint is still obeyed, and the guest gets the salad. In life "I eat everything
again" brings no new value whose arrival could push the old one out, so that a memory which only ever
replaces keeps it for ever; what existed for its sake (the meals that suited the diet, the alert that
watched the budget, the recording for quiet hours) goes with it. "I don't know of any" is then the
right answer. Promises for a while end on the day that they state.

The opposite failure: constraints that are in force, allergies among them, are dropped with their
neighbours, and somebody is harmed.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.turns import dropped_for_good, imposed_anew
from memrot_scenarios.world import Scenario

_STANDING = (("diet", "meal_plan"), ("curfew", "auto_reply"), ("budget", "price_alert"))
"""A constraint, and what exists for its sake."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    dropped = [
        (one, "diet"), (two, "curfew"), (three, "budget"), (one, "seat"), (two, "theme"),
        (three, "reply_style"), (four, "hotel_wish"), (four, "drink"), (one, "hotel_wish"),
        (two, "drink"), (three, "diet"), (four, "budget"), (calm[0], "drink"),
    ][: 9 if area.small else 13]  # fmt: skip
    revived = [(three, "seat"), (two, "hotel_wish")]
    tightened = [
        (one, "reply_style"), (two, "music"), (three, "theme"), (four, "seat"), (one, "drink"),
        (two, "reply_style"), (three, "music"), (four, "curfew"), (one, "phone"), (two, "phone"),
        (four, "commute"), (three, "phone"), (four, "phone"), (calm[0], "phone"), (calm[1], "phone"),
        (calm[1], "commute"), (calm[0], "theme"),
    ]  # fmt: skip
    fallen = [(one, "meal_plan"), (two, "auto_reply"), (three, "price_alert")]
    asked: dict[Key, Tests] = {
        **dict.fromkeys(dropped[:6], "abstention"),
        **dict.fromkeys(dropped[6:9], "forgetting"),
        **dict.fromkeys(revived, "flip_flop"),
        **dict.fromkeys(fallen, "cascade"),
        **dict.fromkeys(tightened[:4], "revision"),
        **dict.fromkeys(((one, "phone"), (four, "commute")), "revision"),
        **{(calm[0], name): "preservation" for name in ("diet", "reply_style", "allergy")},
        **{(calm[1], name): "preservation" for name in ("seat", "theme", "curfew")},
    }
    lines = {
        person: [
            *(Line(name) for name in ("diet", "curfew", "budget", "seat", "theme", "reply_style")),
            *(Line(name) for name in (("hotel_wish", "drink") if n % 2 else ("music", "allergy"))),
            *(Line(name, on=(root,)) for root, name in _STANDING),
            Line("phone"),
        ]
        for n, person in enumerate(area.people)
    }
    for person, name in (*dropped, *revived, *tightened):
        if name not in [line.predicate for line in lines[person]]:
            lines[person].append(Line(name))
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(dropped_for_good(area, key, n / len(dropped)) for n, key in enumerate(dropped)),
        *(imposed_anew(area, key) for key in revived),
        *(_promised(area, person) for person in (three, calm[0])),
        _never_so(area, calm[1]),
        silently(area, (four, "commute"), 0.4, 0.6),
        *background(area, tightened, 23 if area.small else 38),
    ]


def _promised(area: Area, person: str) -> Story:
    """A duty for some months, with its last day stated from the start, in words too."""
    yield within(area, 0.1, 0.5)
    area.add(person, "cover", lasts=area.rng.randrange(45, 120))
    area.ask(person, "cover", "stated_end")


def _never_so(area: Area, person: str) -> Story:
    """A wish was misheard, and is taken back."""
    yield within(area, 0.2, 0.4)
    mistaken = area.add(person, "music" if area.now(person, "music") is None else "hotel_wish")
    area.ask(*mistaken.key, "forgetting")
    yield around(area.rng, 30)
    if area.present.holds(mistaken):
        area.drop(mistaken, "retracted")


SCENARIO = Scenario(id="person/dropped-diet", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
