"""In a conversation "that one" is said, and meant for it alone.

Provokes: weeks later "that one" is still the blue sofa. A conversation points at things, and what it
points at is nobody's business when it is over; nothing ends it but the end of the talk. Stored beside
what lasts, it turns up in every later question about the same person.

Bounds that the texts state: none; the end of a conversation is the end of what it pointed at.

The opposite failure: what was told in a conversation and lasts (a new number, a drink, a friend's
name) is thrown away with it; and while people still talk, "that one" must be known.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import WRITTEN, Line, Story, background, pages, quiet, silently, writing
from memrot_scenarios.talk import discuss, talking
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    pointing = [one, two, three, four, calm[0], calm[1]][: 4 if area.small else 6]
    told = [
        (one, "phone"), (two, "drink"), (three, "friend"), (four, "phone"), (one, "music"), (two, "seat"),
    ][: 5 if area.small else 6]  # fmt: skip
    drifting = [
        (three, "drink"), (four, "drink"), (one, "commute"), (two, "commute"), (calm[0], "phone"),
        (three, "commute"), (four, "commute"), (calm[1], "phone"), (calm[0], "drink"),
        (calm[1], "commute"), (one, "drink"), (three, "phone"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(drifting[:7], "revision"),
        **dict.fromkeys(
            [(calm[0], "city"), (calm[1], "birthday"), (three, "city"), (two, "birthday"), (four, "city")],
            "preservation",
        ),
    }
    usual = ("phone", "drink", "commute", "city", "birthday", "music", "hobby", "seat")
    spoken = dict.fromkeys(told)
    lines = {person: [Line(name) for name in usual if (person, name) not in spoken] for person in area.people}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 4 if area.small else 5),
        *(_pointing(area, person, n, 2) for n, person in enumerate(pointing)),
        *(_told(area, key, n) for n, key in enumerate(told)),
        silently(area, (four, "hobby"), 0.3, 0.6),
        *background(area, drifting, 16 if area.small else 27),
        talking(area, [*drifting[:2], *told, *((person, "that_one") for person in pointing)], 4),
    ]


def _pointing(area: Area, person: str, number: int, times: int) -> Story:
    """Somebody points at something, is asked about it there and then, and the talk ends."""
    key = (person, "that_one")
    yield WRITTEN + 12 * number + 30 * area.rng.random()
    for turn in range(times):
        session = area.new_session()
        meant = area.add(*key, tended=False, session=session)
        discuss(area, [key], session)
        if not turn:
            area.ask(*key, "unannounced")
        yield 0.1 + 0.2 * area.rng.random()
        area.drop(meant, "obsolete", announced=False)
        yield around(area.rng, area.horizon / 3.5)


def _told(area: Area, key: Key, number: int) -> Story:
    """Something that lasts is told in a conversation, once."""
    yield WRITTEN + 25 * number + 40 * area.rng.random()
    area.add(*key, tended=False, session=area.new_session())
    area.ask(*key, "over_forgetting")


SCENARIO = Scenario(id="person/that-one", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
