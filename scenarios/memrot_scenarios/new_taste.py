"""Tastes change, and few say so.

Provokes: "she is a vegan" is served for years after the last lentil. In life a taste is announced when
it is taken up and fades without a word; friends go on quoting it, menus go on obeying it, and the
sentence is confirmed by nobody who looked. Some changes are told, some are found out at dinner, months
late, and some never.

Bounds that the texts state: none.

The opposite failure: a taste that is kept up, and said again now and then, is dropped because it is a
year old; or an allergy, which is no taste, is dropped with the diet.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.turns import ended_unsaid
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    faded = [(one, "diet"), (two, "drink"), (three, "hobby"), (four, "music")]
    lapsed = [(two, "diet"), (four, "hobby"), (one, "seat")][: 2 if area.small else 3]
    found_out = [(three, "diet"), (four, "drink"), (one, "theme"), (two, "music")]
    kept = [(calm[0], "diet"), (calm[0], "hobby"), (calm[1], "drink"), (calm[1], "seat"), (four, "diet")]
    if area.small:
        faded, found_out = faded[:3], found_out[:3]
    drifting = [
        (one, "drink"), (two, "theme"), (three, "music"), (four, "theme"), (three, "drink"),
        (one, "music"), (two, "seat"), (three, "seat"), (four, "seat"), (calm[0], "theme"),
        (calm[1], "music"), (calm[0], "drink"), (calm[1], "theme"), (calm[0], "music"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*faded, *lapsed, *found_out), "unannounced"),
        **dict.fromkeys(kept, "over_forgetting"),
        **dict.fromkeys(drifting[:6], "revision"),
        **dict.fromkeys([(one, "allergy"), (two, "allergy"), (three, "allergy")], "preservation"),
    }
    usual = ("diet", "drink", "hobby", "music", "seat", "theme", "allergy", "city")
    looked_after = {**dict.fromkeys(kept, True), **dict.fromkeys((*faded, *lapsed), False)}
    lines = {
        person: [Line(name, tended=looked_after.get((person, name))) for name in usual]
        for person in area.people
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 5 if area.small else 7),
        *(ended_unsaid(area, key, replaced=True, latest=0.6) for key in faded),
        *(ended_unsaid(area, key, replaced=False, latest=0.6) for key in lapsed),
        *(_found_out(area, key) for key in found_out),
        *background(area, drifting, 27 if area.small else 40),
        talking(area, [*faded, *lapsed, *found_out, *kept], 8),
    ]


def _found_out(area: Area, key: Key) -> Story:
    """Months after a taste changed, somebody notices."""
    yield within(area, 0.1, 0.5)
    old = area.now(*key)
    if old is None:
        return
    new = area.revise(old, announced=False)
    yield around(area.rng, 130)
    if area.present.holds(new):
        area.add(*key, new.value)


SCENARIO = Scenario(id="person/new-taste", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
