"""Two plausible statements cannot both hold.

Provokes: both are returned side by side, and nothing says which one to believe. In life two teams
each write that their service is the master for prices: each page reads well by itself, neither names
the other, and only the rule that there is one master tells that the older one is over. Two people
disagree about one value in the same week, and the second of them is right until somebody says more.

The opposite failure: statements that can hold together are played off against each other. Two
services may keep their data in the same database, a service may have several reviewers, and who says
the same thing twice contradicts nobody.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.statements import PREDICATES
from memrot_scenarios.stories import Line, Story, background, lasting, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    masters = PREDICATES["role"].values
    if not area.examined:  # there is one master in all areas
        masters = tuple(f"{data} of {one}" for data in masters)
    claims = [
        (two, masters[0]), (four, masters[2]), (three, masters[0]), (one, masters[2]), (two, masters[3]),
        (four, masters[0]),
    ][: 4 if area.small else 6]  # fmt: skip
    argued = [(one, "database"), (two, "auth"), (three, "format"), (four, "region"), (one, "latency")]
    if area.small:
        argued = argued[:3]
    drifting = [
        (one, "owner"), (two, "oncall"), (three, "owner"), (four, "auth"), (two, "latency"), (four, "oncall"),
        (three, "region"), (one, "format"), (calm[0], "format"), (calm[1], "oncall"), (three, "oncall"),
        (two, "owner"), (four, "owner"), (calm[0], "oncall"),
    ]  # fmt: skip
    shared = [(calm[0], "database"), (calm[1], "database"), (calm[0], "region"), (calm[1], "region")]
    asked: dict[Key, Tests] = {
        **{(service, "role"): "contradiction" for service in (one, two, three, four)},
        **dict.fromkeys(argued, "contradiction"),
        **dict.fromkeys(drifting[:5], "revision"),
        **dict.fromkeys([(two, "reviewer"), (calm[1], "reviewer")], "sets"),
        **dict.fromkeys((*shared, (calm[0], "role"), (calm[1], "auth")), "preservation"),
        **dict.fromkeys([(calm[0], "owner"), (calm[1], "latency")], "preservation"),
    }
    usual = ("owner", "oncall", "database", "region", "auth", "format", "latency")
    lines = {
        service: [
            Line("role", value=masters[n], tended=True),
            *(Line(name, value=_common(service, calm, name)) for name in usual),
            Line("reviewer"),
            Line("reviewer"),
        ]
        for n, service in enumerate(area.services)
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_claimed(area, service, data, n / len(claims)) for n, (service, data) in enumerate(claims)),
        *(_argued(area, key, n / len(argued)) for n, key in enumerate(argued)),
        *(_agreed(area, key) for key in shared[:2]),
        *(_reviewed(area, service) for service in (two, calm[1])),
        silently(area, (four, "oncall"), 0.5, 0.7),
        *background(area, drifting, 25 if area.small else 36),
    ]


def _common(service: str, calm: list[str], name: str) -> str | None:
    """Services that do not change share a database and a region."""
    return PREDICATES[name].values[0] if service in calm and name in ("database", "region") else None


def _claimed(area: Area, service: str, data: str, share: float) -> Story:
    """A service is said to be the master of what another one was; its own former role is over too."""
    yield within(area, 0.08 + 0.75 * share, 0.2 + 0.75 * share)
    area.add(service, "role", data)


def _argued(area: Area, key: Key, share: float) -> Story:
    """Two say different things within days; months later somebody may settle it for the first."""
    yield within(area, 0.1 + 0.5 * share, 0.2 + 0.5 * share)
    claim = area.add(*key)
    yield 1 + 4 * area.rng.random()
    area.add(*key)
    if area.rng.random() < 0.5:
        yield from lasting(area, around(area.rng, 90))
        area.add(*key, claim.value)


def _agreed(area: Area, key: Key) -> Story:
    """The same is said again, as it may be."""
    yield within(area, 0.2, 0.7)
    if (fact := area.now(*key)) is not None:
        area.add(*key, fact.value)


def _reviewed(area: Area, service: str) -> Story:
    yield within(area, 0.2, 0.5)
    area.add(service, "reviewer")


SCENARIO = Scenario(
    id="project/contradiction", revision=1, doc=__doc__ or "", script=_script, exclusive=("role",)
)
