"""For a while: facts of every kind that say how long they hold.

Provokes: the end is lost when the sentence is stored, and then the class's own lifetime is all that is
left: a subtenancy of six weeks is believed for two years like any address, a stand-in for a manager
like a friend. In life the end is said once, in the same breath as the fact, and nobody announces it
when it comes; the more lasting a class is otherwise, the longer a lost end is believed.

Bounds that the texts state: every fact that is for a while names its last day, "until 4 May 2024" or
"through 4 May 2024"; the day is a whole one. Addresses, diets, managers, tasks and bookings do.

The opposite failure: an address or a diet of somebody else, without an end, is given one; or a stated
end that is years away is anticipated.
"""

from __future__ import annotations

from memrot.model import DAY, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario

_GRACE = 8
"""Days after an end from which nothing excuses it."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    passing = [
        (one, "address"), (two, "diet"), (three, "manager"), (four, "task"), (one, "diet"), (two, "address"),
        (four, "manager"), (three, "booking"), (three, "task"),
    ][: 7 if area.small else 9]  # fmt: skip
    far = [(one, "manager"), (two, "booking"), (four, "address")]
    open_ended = [(calm[0], "address"), (calm[0], "diet"), (calm[1], "manager"), (calm[1], "address")]
    drifting = [
        (one, "email"), (two, "drink"), (three, "commute"), (four, "email"), (one, "commute"),
        (two, "email"), (three, "email"), (four, "drink"), (calm[0], "email"), (calm[1], "commute"),
        (one, "drink"), (two, "commute"), (three, "drink"), (calm[0], "drink"),
    ]  # fmt: skip
    dated = {*passing, *far}
    asked: dict[Key, Tests] = {
        **dict.fromkeys(open_ended, "over_forgetting"),
        **dict.fromkeys(drifting[:6], "revision"),
        **dict.fromkeys([(calm[0], "city"), (calm[1], "birthday"), (three, "city")], "preservation"),
    }
    usual = ("address", "diet", "manager", "email", "drink", "commute", "city", "birthday")
    lines = {person: [Line(name) for name in usual if (person, name) not in dated] for person in area.people}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 4),
        *(_passing(area, key, n) for n, key in enumerate(passing)),
        *(_far(area, key) for key in far),
        silently(area, (four, "city"), 0.3, 0.6),
        *background(area, drifting, 19 if area.small else 34),
        talking(area, [*drifting[:2], *passing, *far, *open_ended], 8),
    ]


def _passing(area: Area, key: Key, number: int) -> Story:
    """It holds for some weeks, is spoken of when it is over, and one day something like it is told."""
    yield within(area, 0.01 + 0.03 * number, 0.1 + 0.03 * number)
    first = area.add(*key, lasts=area.rng.randrange(15, 80), tended=False)
    area.ask(*key, "stated_end")
    yield (first.valid_to - first.valid_from) / DAY + _GRACE + around(area.rng, 50)
    if number % 2:
        area.mention(first)
    yield around(area.rng, 100)
    area.add(*key, lasts=area.rng.randrange(20, 90), tended=False)


def _far(area: Area, key: Key) -> Story:
    """Its last day is beyond everything that is asked here."""
    yield within(area, 0.01, 0.2)
    area.add(*key, lasts=area.horizon + area.rng.randrange(30, 90))
    area.ask(*key, "over_forgetting")


SCENARIO = Scenario(id="person/for-a-while", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
