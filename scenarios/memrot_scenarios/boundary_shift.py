"""A service disappears, and the boundaries of the others shift.

Provokes: dependants of what is gone are still told as true. In life one sentence retires a service;
that its feed, the export made from the feed, and the cache in front of it went too is left to the
reader. Dependants stand in chains, in diamonds, and on alternatives, of which one is enough.

The opposite failure: what has another support left, and what merely mentions the retired service,
is thrown away with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Fact, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import WRITTEN, Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    retired = area.services[: 2 if area.small else 3]
    chain, diamond, either, kept, *others = area.services[len(retired) :]
    first, second = retired[:2]
    drifting = [
        (chain, "oncall"), (diamond, "image"), (either, "owner"), (kept, "oncall"), (chain, "lead"),
        (diamond, "oncall"), (either, "oncall"), (kept, "latency"), (chain, "owner"), (diamond, "latency"),
        (either, "lead"), (kept, "lead"), (diamond, "owner"), (kept, "image"), (either, "latency"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **{(service, name): "cascade" for service in retired[:2] for name in ("role", "owner", "port")},
        **dict.fromkeys([(chain, "role"), (diamond, "role"), (kept, "role")], "preservation"),
        **dict.fromkeys([(chain, "language"), (either, "region"), (kept, "owner")], "preservation"),
        **dict.fromkeys([(either, "note"), (kept, "note")], "over_propagation"),
        **dict.fromkeys(drifting[:5], "revision"),
    }
    usual = ("role", "owner", "oncall", "region", "language", "lead", "image", "latency")
    lines = {
        service: [
            Line("role", tended=True),
            *(Line(name, on=("role",)) for name in ("owner", "oncall", "region", "port")),
            Line("language", on=("role",)),
        ]
        for service in retired
    } | {service: [Line(name) for name in usual] for service in (chain, diamond, either, kept, *others)}
    lines[either].append(Line("note", value=first))
    lines[kept].append(Line("note", value=second))
    return [
        writing(area, pages(lines, asked)),
        _connected(area, first, second, (chain, diamond, either, kept)),
        quiet(area, 7 if area.small else 10),
        *(_retired(area, service, n / len(retired)) for n, service in enumerate(retired)),
        *(_reconnected(area, service, n) for n, service in enumerate((chain, diamond, either))),
        *(_feed(area, service) for service in others),
        silently(area, (chain, "oncall"), 0.4, 0.6),
        *background(area, drifting, 24 if area.small else 37),
    ]


def _connected(area: Area, first: str, second: str, standing: Sequence[str]) -> Story:
    """What stands on the services that will go: a chain, a diamond, an alternative, and more."""
    chain, diamond, either, kept = standing
    yield WRITTEN
    one, two, stays = (area.now(service, "role") for service in (first, second, kept))
    if one is None or two is None or stays is None:
        return
    feed = area.add(chain, "upstream", first, on=[one])
    export = area.add(chain, "export", on=[feed])
    area.add(chain, "backup", on=[export])
    yield 1
    left = area.add(diamond, "upstream", first, on=[one])
    right = area.add(diamond, "cache", on=[one])
    area.add(diamond, "export", on=[left, right])
    yield 1
    via = area.add(either, "upstream", second, on=[two])
    area.add(either, "export", on=[feed, via], support="any")
    yield 1
    kept_feed = area.add(kept, "upstream", first, on=[one])
    area.add(kept, "export", on=[kept_feed, stays], support="any")
    for service, name in (
        (chain, "upstream"),
        (chain, "export"),
        (chain, "backup"),
        (diamond, "export"),
        (diamond, "cache"),
    ):
        area.ask(service, name, "cascade")
    area.ask(either, "export", "cascade")
    area.ask(kept, "export", "over_propagation")


def _retired(area: Area, service: str, share: float) -> Story:
    """One sentence retires a service."""
    yield within(area, 0.12 + 0.75 * share, 0.25 + 0.75 * share)
    if (role := area.now(service, "role")) is not None:
        area.drop(role, "obsolete")


def _reconnected(area: Area, service: str, number: int) -> Story:
    """Whoever lost its feed finds another one, some weeks later, and builds on it again."""
    yield within(area, 0.3, 0.32)
    while True:
        yield 12 + 5 * number
        if area.now(service, "upstream") is None:
            feed = _fed(area, service)
            yield around(area.rng, 20)
            if area.now(service, "export") is None and area.present.holds(feed):
                area.add(service, "export", on=[feed])


def _feed(area: Area, service: str) -> Story:
    """A feed is set up, is built upon, ends, and is set up again: small boundaries shift often."""
    yield within(area, 0.05, 0.15)
    asked = False
    while True:
        feed = _fed(area, service)
        yield 10 + 10 * area.rng.random()
        if area.present.holds(feed):
            area.add(service, "export", on=[feed])
            if not asked:
                area.ask(service, "export", "cascade")
                asked = True
        yield around(area.rng, 150)
        if area.present.holds(feed):
            area.drop(feed, "reorganised")
        yield around(area.rng, 45)


def _fed(area: Area, service: str) -> Fact:
    """The service gets a feed from one that still masters its data, and stands on that."""
    roles = [area.now(other, "role") for other in area.services if other != service]
    role = area.rng.choice([role for role in roles if role is not None])
    return area.add(service, "upstream", role.subject, on=[role])


SCENARIO = Scenario(id="project/boundary-shift", revision=1, doc=__doc__ or "", script=_script)
