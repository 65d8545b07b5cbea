"""Facts arrive late, out of order, at one instant, or before their time.

Provokes: what arrives last is taken for what holds. In life old pages are imported after new ones, a
backlog is worked off from its newest entry, two people report a change in the same minute, and a
change is announced weeks before its day. A fact has two times, when it holds and when it is told,
and only the first one orders values.

The opposite failure: whoever distrusts late news also holds back what is both late and newest, or
forgets that the old value held then, when it is asked about then.
"""

from __future__ import annotations

from memrot.model import DAY, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    imported = [(one, "region"), (two, "database"), (three, "owner"), (four, "auth")]
    if area.small:
        imported = imported[:3]
    scrambled = [(two, "broker"), (four, "image"), (one, "protocol")][: 2 if area.small else 3]
    tied = [(three, "lead"), (one, "cache"), (four, "database")][: 2 if area.small else 3]
    ahead = [(two, "owner"), (three, "region"), (four, "latency")][: 2 if area.small else 3]
    delayed = [(one, "owner"), (two, "cache")]
    drifting = [
        (one, "oncall"), (two, "image"), (three, "oncall"), (four, "owner"), (one, "lead"), (two, "lead"),
        (three, "image"), (four, "oncall"), (calm[0], "lead"), (calm[1], "cache"), (calm[0], "oncall"),
        (calm[1], "image"), (three, "cache"), (four, "protocol"), (two, "protocol"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*imported, *scrambled, *tied, *delayed), "late_arrival"),
        **dict.fromkeys(ahead, "future_start"),
        **dict.fromkeys(drifting[:5], "revision"),
        **dict.fromkeys([(calm[0], "region"), (calm[1], "broker"), (calm[0], "owner")], "preservation"),
        **dict.fromkeys([(calm[1], "database"), (calm[1], "lead")], "preservation"),
    }
    usual = (
        "owner", "oncall", "lead", "region", "database", "cache", "image", "protocol", "broker", "auth",
        "latency",
    )  # fmt: skip
    lines = {service: [Line(name) for name in usual] for service in area.services}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_imported(area, key, looked_up=n < 3) for n, key in enumerate(imported)),
        *(_scrambled(area, key, looked_up=n == 0) for n, key in enumerate(scrambled)),
        *(_tied(area, key) for key in tied),
        *(_ahead(area, key) for key in ahead),
        *(_delayed(area, key) for key in delayed),
        silently(area, (four, "oncall"), 0.3, 0.5),
        *background(area, drifting, 25 if area.small else 38),
    ]


def _imported(area: Area, key: Key, *, looked_up: bool) -> Story:
    """A page from before all others is imported: it says what held then, and never holds again."""
    yield within(area, 0.3, 0.7)
    if (now := area.now(*key)) is None:
        return
    before = (area.log.at - now.valid_from) // DAY + area.rng.randrange(100, 300)
    old = area.add(*key, backdated=before, tended=False)
    if looked_up:
        area.ask(*key, "late_arrival", mode="as_of", as_of=(old.valid_from + now.valid_from) // 2)


def _scrambled(area: Area, key: Key, *, looked_up: bool) -> Story:
    """Three changes are told in the wrong order, the newest first."""
    yield within(area, 0.5, 0.6)
    if (now := area.now(*key)) is None:
        return
    passed = (area.log.at - now.valid_from) // DAY
    newest = area.add(*key, backdated=passed // 8)
    yield around(area.rng, 10)
    first = area.add(*key, backdated=passed // 2, tended=False)
    yield around(area.rng, 10)
    between = area.add(*key, backdated=passed // 4, tended=False)
    if looked_up:
        area.ask(*key, "late_arrival", mode="as_of", as_of=(first.valid_from + between.valid_from) // 2)
        area.ask(*key, "late_arrival", mode="as_of", as_of=(between.valid_from + newest.valid_from) // 2)


def _tied(area: Area, key: Key) -> Story:
    """Two changes of one key bear the same time: the later one in the log holds."""
    yield within(area, 0.15, 0.6)
    if (old := area.now(*key)) is None:
        return
    middle = area.revise(old, tended=False)
    if area.rng.random() < 0.5:
        area.revise(middle)
    else:
        area.add(*key)


def _ahead(area: Area, key: Key) -> Story:
    """A change is announced for a day to come; until then the old value holds."""
    yield within(area, 0.15, 0.6)
    if (old := area.now(*key)) is not None:
        area.revise(old, starts_in=area.rng.randrange(25, 60))


def _delayed(area: Area, key: Key) -> Story:
    """A change is told weeks after its day: late, but the newest there is."""
    yield within(area, 0.3, 0.6)
    if (old := area.now(*key)) is not None:
        age = (area.log.at - old.valid_from) // DAY
        area.add(*key, backdated=min(area.rng.randrange(10, 40), age // 2))


SCENARIO = Scenario(id="project/late-arrival", revision=1, doc=__doc__ or "", script=_script)
