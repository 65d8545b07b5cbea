"""Records that the law lets nobody keep for longer than it says.

Provokes: a consent outlives its year, a diagnosis the day on which its deletion was demanded. In life
a lifetime is imposed from outside and nothing about the record changes when it is over: it reads as
true as before. What is withdrawn must be gone, not merely hidden behind what came after it.

Bounds that the texts state: consents name their last day, "until 4 May 2024" or "through 4 May 2024",
and end with it; diagnoses and passports state none and are erased on demand.

The opposite failure: records within their time go as well, or whatever else is known of a person whose
record was erased.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario

_TERM = 365
"""Days for which a consent is given."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    consents = [(one, "consent"), (two, "consent"), (three, "consent"), (four, "consent")]
    erased = [(one, "diagnosis"), (three, "passport"), (two, "diagnosis"), (four, "passport")]
    held = [(calm[0], "passport"), (calm[1], "diagnosis"), (calm[0], "diagnosis"), (two, "passport")]
    if area.small:
        consents, erased, held = consents[:3], erased[:3], held[:3]
    drifting = [
        (one, "phone"), (two, "drink"), (three, "commute"), (four, "phone"), (one, "commute"),
        (two, "phone"), (three, "phone"), (four, "drink"), (calm[0], "phone"), (calm[1], "commute"),
        (one, "drink"), (two, "commute"), (three, "drink"), (calm[0], "drink"), (calm[1], "phone"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(erased, "erasure"),
        **dict.fromkeys(held, "over_forgetting"),
        **dict.fromkeys(drifting[:9], "revision"),
        **dict.fromkeys(
            [(one, "city"), (three, "birthday"), (calm[1], "city"), (two, "birthday")], "preservation"
        ),
    }
    usual = ("diagnosis", "passport", "phone", "drink", "commute", "city", "birthday")
    lines = {person: [Line(name) for name in usual] for person in area.people}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 5 if area.small else 7),
        *(_consented(area, key, n) for n, key in enumerate(consents)),
        *(_erased(area, key, n) for n, key in enumerate(erased)),
        silently(area, (four, "city"), 0.3, 0.6),
        *background(area, drifting, 29 if area.small else 44),
        talking(area, [*drifting[:2], *consents, *erased, *held], 8),
    ]


def _consented(area: Area, key: Key, number: int) -> Story:
    """Given for a year, and used to the last day; one is withdrawn before."""
    yield within(area, 0.01 + 0.05 * number, 0.06 + 0.05 * number)
    given = area.add(*key, lasts=_TERM)
    area.ask(*key, "stated_end")
    yield around(area.rng, 150)
    if number == 1:
        area.drop(given, "erased")
        return
    while True:
        area.mention(given)
        yield around(area.rng, 280)


def _erased(area: Area, key: Key, number: int) -> Story:
    """Deletion is demanded, and another record of the kind comes to be; that one stays."""
    yield within(area, 0.1 + 0.12 * number, 0.25 + 0.12 * number)
    if (old := area.now(*key)) is None:
        return
    area.drop(old, "erased")
    if number % 2:
        yield around(area.rng, 0.2 * area.horizon)
        area.add(*key)


SCENARIO = Scenario(id="person/regulated-record", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
