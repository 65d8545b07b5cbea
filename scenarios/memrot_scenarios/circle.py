"""Who is who to whom moves in bursts, friends fall out, and the address book catches up weeks later.

The person world's counterpart of project/reorg: bosses and friends for owners and members.

Provokes: the former boss, sitter or emergency contact is named. In life one change at work gives
several people another boss in an afternoon, told beforehand for a day to come; who arranges their
diaries follows weeks later; an old address book is imported after the new one. Who falls out with
somebody also stops walking their dog and keeping their keys, and nobody lists it. That one person
left another for a third is told by naming the new couple only.

The opposite failure: a burst makes a memory doubt the bosses who stayed, or a new friend pushes out
the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import DAY, Fact
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import LAG_DAYS, around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import WRITTEN, Line, Story, background, quiet, silently, within, writing
from memrot_scenarios.turns import remembered
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    movable = area.people[: 3 if area.small else 5]
    steady = area.people[len(movable) :]
    first, second, *rest = steady
    pages: dict[str, Sequence[Line]] = {
        person: [
            Line("manager", "future_start" if person == movable[-1] else "revision"),
            Line("assistant", "revision"),
            Line("emergency", "revision" if person in movable[:2] else None),
            *(Line("friend", "sets" if n == 2 and person in movable[:2] else None) for n in range(3)),
            Line("flatmate"),
            Line("city"),
        ]
        for person in movable
    }
    for person in steady:
        pages[person] = [
            Line("manager", "preservation"),
            Line("assistant", "preservation" if person == first else None),
            Line("emergency", "preservation" if person in (first, second) else None),
            Line("flatmate"),
            Line("landlord"),
            Line("birthday", "preservation" if person == second else None),
        ]
    loved = {first: rest[0] if rest else movable[2], second: movable[0]}
    for person, partner in loved.items():
        pages[person] = [*pages[person], Line("partner", "contradiction", value=partner)]
    drifting = [
        *((person, "emergency") for person in movable),
        *((person, "flatmate") for person in area.people),
        *((person, "assistant") for person in steady[1:]),
        *((person, "landlord") for person in steady),
    ]
    bursts = (0.2, 0.6) if area.small else (0.12, 0.42, 0.74)
    return [
        writing(area, pages),
        quiet(area, 7 if area.small else 10),
        *(_burst(area, share, movable, ahead=n == 1) for n, share in enumerate(bursts)),
        *(_trusting(area, person) for person in movable[:2]),
        *(
            _fallen_out(area, person, share)
            for share, person in ((0.1, movable[0]), (0.3, movable[1]), (0.5, movable[0]), (0.7, movable[1]))
        ),
        *(
            _left_for(area, partner, person, share)
            for partner, person, share in zip(loved.values(), movable[1:], (0.25, 0.55), strict=False)
        ),
        _imported(area, movable[0]),
        silently(area, (movable[2], "assistant"), 0.5, 0.6),
        *background(area, drifting, 16 if area.small else 27),
        remembered(area, (movable[1], "manager"), 0.6, 0.65),
    ]


def _burst(area: Area, share: float, people: Sequence[str], *, ahead: bool) -> Story:
    """Bosses change in one instant (for a day ahead, where it is planned); assistants one by one."""
    yield within(area, share, share + 0.1)
    moving = [person for person in people if area.rng.random() < 0.8] or list(people)
    for person in moving:
        if (old := area.now(person, "manager")) is not None:
            area.revise(old, starts_in=14 if ahead else 0)
    yield LAG_DAYS / 2
    for person in moving:
        yield around(area.rng, LAG_DAYS) / 2
        if (old := area.now(person, "assistant")) is not None:
            area.revise(old)


def _trusting(area: Area, person: str) -> Story:
    """Friends walk the dog and keep the keys for as long as they are friends."""
    yield WRITTEN
    for friend, name in zip(area.present.of_key(person, "friend"), ("dog_sitter", "keys"), strict=False):
        area.add(person, name, friend.value, on=[friend])
        area.ask(person, name, "cascade")


def _fallen_out(area: Area, person: str, share: float) -> Story:
    """A friendship ends; a new friend is found later, and does what the old one did."""
    yield within(area, share, share + 0.15)
    friends = list(area.present.of_key(person, "friend"))
    if not friends:
        return
    lost = friends[0]
    done = [fact.predicate for fact in area.present.all() if lost.id in fact.depends_on]
    area.drop(lost, "reorganised")
    yield around(area.rng, 14)
    found = area.add(person, "friend")
    for name in done:
        yield around(area.rng, 10)
        if area.present.holds(found):
            area.add(person, name, found.value, on=[found])


def _left_for(area: Area, partner: str, person: str, share: float) -> Story:
    """Somebody is now the partner of another; the sentence does not name who was left."""
    yield within(area, share, share + 0.2)
    area.add(person, "partner", partner)


def _imported(area: Area, person: str) -> Story:
    """An outdated address book is imported after the fact: it never was true again."""
    yield within(area, 0.85, 0.9)
    bosses = _bosses(area, person)
    if len(bosses) > 1 and (now := area.now(person, "manager")) is not None:
        since = (area.log.at - now.valid_from) // DAY + 20
        area.add(person, "manager", bosses[0].value, backdated=since, tended=False)
        area.ask(person, "manager", "late_arrival")


def _bosses(area: Area, person: str) -> list[Fact]:
    return [fact for fact in area.present.facts.values() if fact.key == (person, "manager")]


SCENARIO = Scenario(
    id="person/circle", revision=1, doc=__doc__ or "", script=_script, exclusive=("partner",), world=PERSON
)
