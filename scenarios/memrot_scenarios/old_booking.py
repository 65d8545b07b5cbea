"""A booking had an end date, and is spoken of after it.

Provokes: a stay, a rental or a duty that said how long it lasts is still believed when it is over,
because somebody mentions it again: "thank you for the tip about the hotel", weeks after checking out,
and the mention is taken for news. In life the end stands in the sentence that made the promise, and
nobody announces it once more. Some promises never said when they end; they, too, are over some day.

Bounds that the texts state: every dated promise names its last day in words, "until 4 May 2024" or
"through 4 May 2024"; that day is a whole one, and the promise ends with it. Undated promises state
none and end in silence.

The opposite failure: a promise whose last day is far off is dropped because it is old and nobody
spoke of it; or one that was extended is dropped on the first of its two days.
"""

from __future__ import annotations

from memrot.model import DAY, Fact, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario

_GRACE = 7
"""Days for which an overdue promise is excused."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    over = [(one, "booking"), (two, "booking"), (three, "pass"), (four, "pass"), (one, "pass")]
    extended = [(four, "booking")]
    undated = [(three, "booking"), (two, "pass")]
    lasting = [(calm[0], "booking"), (calm[0], "pass"), (calm[1], "booking"), (calm[1], "pass")]
    if area.small:
        over = over[:4]
    else:
        extended.append((calm[2], "pass"))
        undated.append((calm[3], "booking"))
    drifting = [
        (one, "phone"), (two, "phone"), (three, "drink"), (four, "commute"), (one, "drink"),
        (two, "commute"), (three, "phone"), (four, "phone"), (calm[0], "phone"), (calm[1], "drink"),
        (one, "commute"), (four, "drink"), (two, "drink"), (three, "commute"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(drifting[:7], "revision"),
        **dict.fromkeys(
            [(calm[0], "city"), (calm[1], "birthday"), (calm[0], "employer"), (four, "hobby")], "preservation"
        ),
    }
    usual = ("phone", "drink", "commute", "city", "birthday", "employer", "hobby")
    lines = {person: [Line(name) for name in usual] for person in area.people}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 4),
        *(_over(area, key, n) for n, key in enumerate(over)),
        *(_extended(area, key) for key in extended),
        *(_undated(area, key) for key in undated),
        *(_lasting(area, key) for key in lasting),
        silently(area, (four, "city"), 0.3, 0.6),
        *background(area, drifting, 17 if area.small else 30),
        talking(area, [*drifting[:3], *over, *extended, *undated, *lasting], 8),
    ]


def _over(area: Area, key: Key, number: int) -> Story:
    """Two promises of one kind, one after the other; each is spoken of when it is long over."""
    yield within(area, 0.01 + 0.04 * number, 0.1 + 0.04 * number)
    first = area.add(*key, lasts=area.rng.randrange(6, 45))
    area.ask(*key, "stated_end")
    yield _days(first) + _GRACE + around(area.rng, 40)
    area.mention(first)
    yield around(area.rng, 60)
    second = area.add(*key, lasts=area.rng.randrange(10, 60))
    yield _days(second) + _GRACE + around(area.rng, 30)
    area.mention(second)


def _extended(area: Area, key: Key) -> Story:
    """The last day is moved while the promise runs; both days are stated."""
    yield within(area, 0.1, 0.4)
    first = area.add(*key, lasts=area.rng.randrange(40, 70))
    area.ask(*key, "over_forgetting")
    yield _days(first) * (0.4 + 0.4 * area.rng.random())
    if area.present.holds(first):
        area.revise(first, first.value, lasts=area.rng.randrange(90, 150))


def _undated(area: Area, key: Key) -> Story:
    """Nobody said how long; it is over within weeks, and spoken of as before."""
    yield within(area, 0.05, 0.5)
    promise = area.add(*key)
    area.ask(*key, "unannounced")
    yield around(area.rng, 40)
    area.drop(promise, "obsolete", announced=False)
    yield around(area.rng, 100)
    area.mention(promise)


def _lasting(area: Area, key: Key) -> Story:
    """Its last day is beyond everything that is asked here, and nobody speaks of it."""
    yield within(area, 0.01, 0.2)
    area.add(*key, lasts=area.horizon + area.rng.randrange(30, 90))
    area.ask(*key, "over_forgetting")


def _days(promise: Fact) -> float:
    return (promise.valid_to - promise.valid_from) / DAY


SCENARIO = Scenario(id="person/old-booking", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
