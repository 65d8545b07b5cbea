"""A customer file is read in, two years old.

Provokes: values from long ago arrive today and are believed like news, since their rows were written
this morning: the address of a flat that was left, the boss of a former job. In life an import brings
hundreds at once, unsure of themselves and observed years before; nothing in them says that they are
over, and some stand against what a person told in the meantime.

Bounds that the texts state: none; when they were observed stands beside them.

The opposite failure: all of it is thrown away for its age, though half of it still holds and nothing
newer is known; or an old value displaces a newer one.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario

_AGE = (690, 770)
"""Least and most days between the observation and the import."""
_SURE = 0.6
"""Confidence of what is imported."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    outdated = [(one, "address"), (two, "manager"), (three, "bank"), (four, "doctor")]
    holding = [
        (one, "doctor"), (two, "address"), (three, "manager"), (four, "bank"), (calm[0], "address"),
        (calm[1], "doctor"),
    ]  # fmt: skip
    known = [(two, "bank"), (three, "address"), (four, "manager"), (one, "bank"), (calm[0], "doctor")]
    if area.small:
        outdated, holding, known = outdated[:3], holding[:5], known[:4]
    imported = {*outdated, *holding}
    drifting = [
        (one, "phone"), (two, "email"), (three, "phone"), (four, "email"), (one, "email"),
        (two, "phone"), (three, "commute"), (four, "phone"), (calm[0], "email"), (calm[1], "phone"),
        (calm[0], "commute"), (one, "commute"), (two, "commute"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(known, "late_arrival"),
        **dict.fromkeys(drifting[:7], "revision"),
        **dict.fromkeys([(calm[1], "city"), (calm[0], "birthday"), (three, "email")], "preservation"),
    }
    usual = ("address", "manager", "bank", "doctor", "phone", "email", "commute", "city", "birthday")
    lines = {
        person: [Line(name) for name in usual if (person, name) not in imported] for person in area.people
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 5 if area.small else 7),
        *(_outdated(area, key, n) for n, key in enumerate(outdated)),
        *(_holding(area, key, n) for n, key in enumerate(holding)),
        *(_known(area, key, n) for n, key in enumerate(known)),
        silently(area, (four, "commute"), 0.3, 0.6),
        *background(area, drifting, 16 if area.small else 28),
        talking(area, [*drifting[:2], *outdated, *holding, *known], 8),
    ]


def _imported(area: Area, key: Key) -> None:
    area.add(*key, backdated=area.rng.randrange(*_AGE), confidence=_SURE, tended=False)


def _outdated(area: Area, key: Key, number: int) -> Story:
    """What the file says was over long before; some of it is put right months later."""
    yield within(area, 0.04 * number, 0.1 + 0.04 * number)
    present = area.add(*key, announced=False)
    yield 2 + 10 * area.rng.random()
    _imported(area, key)
    area.ask(*key, "unannounced")
    yield around(area.rng, 0.4 * area.horizon)
    if number % 2:
        area.add(*key, present.value)


def _holding(area: Area, key: Key, number: int) -> Story:
    """What the file says still holds; nobody has looked."""
    yield within(area, 0.03 * number, 0.1 + 0.03 * number)
    _imported(area, key)
    area.ask(*key, "over_forgetting")
    yield around(area.rng, 0.45 * area.horizon)
    if number % 3 == 0 and (old := area.now(*key)) is not None:
        area.revise(old)


def _known(area: Area, key: Key, number: int) -> Story:
    """The file has an old value of what the person told since."""
    yield within(area, 0.1 + 0.05 * number, 0.2 + 0.05 * number)
    _imported(area, key)
    yield around(area.rng, 0.4 * area.horizon)
    if (old := area.now(*key)) is not None:
        area.revise(old)


SCENARIO = Scenario(id="person/backfill", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
