"""A child's name was said once, on a holiday.

Provokes: what was said in passing goes with the occasion on which it was said. The trip is over, its
photographs are sorted, and with the episode a memory drops the one sentence that named the child, or
the allergy that came up at dinner; nobody repeats what everybody knows. In life names and birthdays
are told once, and true for good.

Bounds that the texts state: none. A holiday is the latest one until the next.

The opposite failure: the occasions themselves are kept for ever, and last year's holiday, or an outing
of which nobody spoke again, is told as the latest.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    named = [
        (one, "child"), (two, "allergy"), (three, "birthday"), (four, "child"), (calm[0], "mother_tongue"),
        (calm[1], "birthplace"), (two, "child"), (three, "birthplace"),
    ][: 6 if area.small else 8]  # fmt: skip
    trips = [(person, "holiday") for person in (one, two, three, four)]
    outings = [(one, "outing"), (two, "outing"), (three, "outing")][: 2 if area.small else 3]
    drifting = [
        (one, "drink"), (two, "phone"), (three, "music"), (four, "phone"), (one, "phone"),
        (two, "drink"), (three, "phone"), (four, "music"), (calm[0], "phone"), (calm[1], "drink"),
        (calm[0], "music"), (calm[1], "phone"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(trips, "revision"),
        **dict.fromkeys(outings, "unannounced"),
        **dict.fromkeys(drifting[:6], "revision"),
        **dict.fromkeys(
            [(calm[0], "hobby"), (calm[1], "city"), (three, "hobby"), (one, "city")], "preservation"
        ),
    }
    usual = ("holiday", "outing", "drink", "phone", "music", "hobby", "city")
    lines = {
        person: [Line(name, tended=False if name == "outing" else None) for name in usual]
        for person in area.people
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 5 if area.small else 7),
        *(_named(area, key, n / len(named)) for n, key in enumerate(named)),
        *(_travelled(area, key, 1 if area.small else 2) for key in trips),
        *(_forgotten(area, key) for key in outings),
        silently(area, (four, "drink"), 0.3, 0.6),
        *background(area, drifting, 24 if area.small else 35),
        talking(area, [*named, *trips, *outings], 8),
    ]


def _named(area: Area, key: Key, share: float) -> Story:
    """On a holiday, in one conversation, something is said that stays true; nobody repeats it."""
    yield within(area, 0.02 + 0.3 * share, 0.1 + 0.3 * share)
    session = area.new_session()
    trip = (key[0], "holiday")
    if (last := area.now(*trip)) is not None:
        area.revise(last, tended=False, session=session)
    area.add(*key, tended=False, session=session)
    area.ask(*key, "over_forgetting")


def _travelled(area: Area, key: Key, times: int) -> Story:
    """The next holidays, each the latest until the one after it."""
    yield within(area, 0.5, 0.7)
    for _ in range(times):
        if (last := area.now(*key)) is not None:
            area.revise(last, tended=False)
        yield around(area.rng, 110)


def _forgotten(area: Area, key: Key) -> Story:
    """Another outing, of which the assistant hears nothing; the old one is spoken of."""
    yield within(area, 0.1, 0.5)
    old = area.now(*key)
    if old is None:
        return
    area.revise(old, announced=False)
    while True:
        yield around(area.rng, 260)
        area.mention(old)


SCENARIO = Scenario(id="person/named-once", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
