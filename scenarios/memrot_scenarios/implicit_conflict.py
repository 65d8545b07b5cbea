"""A newer fact contradicts an older one without naming it.

Provokes: both are kept, and the older one, said more often, is found first. In life nobody writes
"this replaces what was said in March": a page states the new region, a ticket the new owner. The old
value may stand in five places and the new one in one; five sources are not five votes, since the
newer statement is about a later world.

The opposite failure: what is said beside an older fact is taken for its successor. A second reviewer
does not replace the first, and a value that is stated again is not a change.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_SOURCES = 5
"""Places in which an old value stands."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    restated = [(one, "region"), (two, "database"), (three, "protocol")][: 2 if area.small else 3]
    unnamed = [
        (one, "owner"), (two, "image"), (three, "lead"), (four, "database"), (two, "protocol"),
        (four, "region"), (three, "cache"), (one, "oncall"),
    ][: 5 if area.small else 8]  # fmt: skip
    drifting = [
        (one, "cache"), (two, "oncall"), (three, "owner"), (four, "lead"), (two, "lead"), (four, "image"),
        (three, "image"), (calm[0], "oncall"), (one, "lead"), (four, "owner"),
    ]  # fmt: skip
    repeated = [(calm[0], "region"), (calm[1], "protocol")]
    sets = [(one, "reviewer"), (three, "reviewer"), (calm[1], "reviewer")]
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*restated, *unnamed), "contradiction"),
        **dict.fromkeys(sets, "sets"),
        **dict.fromkeys(drifting[:5], "revision"),
        **dict.fromkeys((*repeated, (calm[0], "owner"), (calm[1], "database")), "preservation"),
        **dict.fromkeys([(calm[0], "image"), (calm[1], "oncall")], "preservation"),
    }
    usual = ("owner", "oncall", "lead", "region", "database", "cache", "image", "protocol")
    lines = {
        service: [*(Line(name) for name in usual), Line("reviewer"), Line("reviewer")]
        for service in area.services
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_outvoted(area, key) for key in restated),
        *(_unnamed(area, key, n / len(unnamed)) for n, key in enumerate(unnamed)),
        *(_joined(area, *key) for key in sets),
        *(_repeated(area, key) for key in repeated),
        silently(area, (four, "image"), 0.5, 0.7),
        *background(area, drifting, 12 if area.small else 19),
    ]


def _outvoted(area: Area, key: Key) -> Story:
    """The old value is written down in further places, then the new one in a single place."""
    yield within(area, 0.08, 0.2)
    old = area.now(*key)
    if old is None:
        return
    for _ in range(_SOURCES - 1):
        area.add(*key, old.value, tended=False)
        yield around(area.rng, 20)
    yield area.horizon * (0.1 + 0.2 * area.rng.random())
    area.add(*key)


def _unnamed(area: Area, key: Key, share: float) -> Story:
    """A new value, and later another one; neither sentence names what it replaces."""
    yield within(area, 0.05 + 0.4 * share, 0.15 + 0.4 * share)
    area.add(*key)
    yield area.horizon * (0.2 + 0.2 * area.rng.random())
    area.add(*key)


def _joined(area: Area, subject: str, predicate: str) -> Story:
    """The set grows, and shrinks by one who is named."""
    yield within(area, 0.15, 0.4)
    area.add(subject, predicate)
    yield around(area.rng, 120)
    area.drop(area.present.of_key(subject, predicate)[0], "reorganised")


def _repeated(area: Area, key: Key) -> Story:
    """What holds is stated again in the same words."""
    yield within(area, 0.2, 0.6)
    if (old := area.now(*key)) is not None:
        area.add(*key, old.value)


SCENARIO = Scenario(id="project/implicit-conflict", revision=1, doc=__doc__ or "", script=_script)
