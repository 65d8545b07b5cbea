"""The memory is closed and opened again, several times.

Provokes: what was ended before a restart is back after it, what was told shortly before is gone, or
what was announced for a day to come never happens. In life processes are redeployed every week, and
whatever a layer kept in its own head (which fact fell with which, what is due next month) is lost
unless the store holds it. A log that is replayed on start tells everything a second time.

The opposite failure: whoever rebuilds from what is live alone loses the past, and whoever trusts
nothing after a restart loses what stood still.
"""

from __future__ import annotations

from memrot.model import Key, Restarted, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    restarts = 3 if area.small else 5
    dropped = [(one, "quota"), (two, "payload"), (three, "quota"), (four, "quota")][: 3 if area.small else 4]
    ahead = [(two, "database"), (three, "region")]
    fallen = [(one, "framework"), (four, "framework"), (one, "test_runner")]
    drifting = [
        (one, "owner"), (two, "oncall"), (three, "owner"), (four, "image"), (one, "oncall"), (two, "image"),
        (three, "oncall"), (four, "owner"), (one, "image"), (two, "owner"), (four, "oncall"),
        (calm[0], "image"), (two, "region"), (three, "image"), (calm[1], "image"), (calm[1], "owner"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(drifting[: 4 if area.small else 6], "durability"),
        **dict.fromkeys(dropped, "forgetting"),
        **dict.fromkeys(ahead, "durability"),
        **dict.fromkeys(fallen, "cascade"),
        **dict.fromkeys([(calm[0], "owner"), (calm[0], "region"), (calm[1], "oncall")], "preservation"),
        **dict.fromkeys([(calm[1], "database"), (calm[1], "language"), (one, "region")], "preservation"),
        **dict.fromkeys([(one, "language"), (four, "language")], "revision"),
    }
    usual = ("owner", "oncall", "database", "region", "language", "image", "quota", "payload")
    lines = {
        service: [
            *(Line(name) for name in usual),
            Line("framework", on=("language",)),
            Line("test_runner", on=("language",)),
        ]
        for service in area.services
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        _restarted(area, restarts),
        *(_dropped(area, key, n / len(dropped)) for n, key in enumerate(dropped)),
        *(_ahead(area, key) for key in ahead),
        *(_rewritten(area, service) for service in (one, four)),
        *(_exempt(area, service) for service in (two, calm[0])),
        silently(area, (calm[0], "image"), 0.4, 0.6),
        _remembered(area, (two, "owner")),
        *background(area, drifting, 28 if area.small else 46),
    ]


def _restarted(area: Area, times: int) -> Story:
    """Restarts by themselves, and one in the instant of a change: first it reopens, then it hears."""
    yield within(area, 0.15, 0.25)
    for n in range(times):
        area.log.events.append(Restarted(seq=area.log.seq, at=area.log.at))
        if n == 1:
            fact = area.rng.choice([fact for fact in area.told_now() if fact.predicate == "image"])
            area.revise(fact)
        yield 0.72 * area.horizon / times * (0.8 + 0.3 * area.rng.random())


def _dropped(area: Area, key: Key, share: float) -> Story:
    yield within(area, 0.06 + 0.7 * share, 0.16 + 0.7 * share)
    if (old := area.now(*key)) is not None:
        area.drop(old, "dropped")


def _ahead(area: Area, key: Key) -> Story:
    """Announced long before its day, so that a restart lies between."""
    yield within(area, 0.15, 0.5)
    if (old := area.now(*key)) is not None:
        area.revise(old, starts_in=area.rng.randrange(150, 200))


def _rewritten(area: Area, service: str) -> Story:
    """The language changes, and what stood on the old one falls; its successor comes later."""
    yield within(area, 0.3, 0.6)
    old = area.now(service, "language")
    if old is None:
        return
    new = area.revise(old)
    yield around(area.rng, 60)
    area.add(service, "framework", on=[new])


def _exempt(area: Area, service: str) -> Story:
    """Until a stated day, beyond the next restart."""
    yield within(area, 0.1, 0.3)
    area.add(service, "waiver", lasts=area.rng.randrange(150, 220))
    area.ask(service, "waiver", "stated_end")


def _remembered(area: Area, key: Key) -> Story:
    yield within(area, 0.8, 0.85)
    area.ask(*key, "history", mode="history")


SCENARIO = Scenario(id="project/durability", revision=1, doc=__doc__ or "", script=_script)
