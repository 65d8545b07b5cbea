"""Questions outlive what they ask about.

Provokes: a question about a service that is gone is answered with what once was. In life dashboards
and bookmarked queries go on asking, and a test suite goes on counting the old answer as the expected
one: the exam itself has rotted. So questions here have versions. When a service disappears, some of
its questions are retired and never asked again, some are asked on, and "I don't know" is right from
then on; when it returns under its old name, with other facts, a further version asks about those.

The opposite failure: a memory that has learnt to say nothing about a name says nothing when it is in
use again, or about the services that never left.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_RETIRED = ("region", "port")
"""Questions that are asked no more when their service is gone."""
_ASKED_ON = ("role", "owner", "oncall")


def _script(area: Area) -> list[Story]:
    gone, back, *calm = area.services if area.small else (*area.services[:2], *area.services[3:])
    also_gone = area.services[2]
    going = [gone, back] if area.small else [gone, back, also_gone]
    others = [service for service in calm if service not in going]
    drifting = [
        (others[0], "oncall"), (others[1], "owner"), (others[2], "oncall"), (others[0], "image"),
        (others[1], "latency"), (others[2], "image"), (others[0], "owner"), (others[1], "image"),
        (others[2], "latency"), (others[0], "latency"), (others[1], "oncall"), (others[2], "owner"),
        (others[0], "region"), (others[1], "port"), (others[2], "port"), (others[0], "port"),
    ]  # fmt: skip
    reworded = drifting[:4]
    asked: dict[Key, Tests] = {
        **{(service, name): "abstention" for service in going[2:] for name in _ASKED_ON},
        **{(service, name): "preservation" for service in going[:2] for name in (*_ASKED_ON, *_RETIRED)},
        **dict.fromkeys(drifting[:7], "revision"),
        **dict.fromkeys([(others[0], "role"), (others[1], "role"), (others[2], "region")], "preservation"),
        **dict.fromkeys([(others[0], "language"), (others[1], "region")], "preservation"),
    }
    usual = ("role", "owner", "oncall", "region", "port", "language", "image", "latency")
    lines = {
        service: [
            Line("role", tended=True),
            *(Line(name, on=("role",) if service in going else ()) for name in usual[1:]),
        ]
        for service in (*going, *others)
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        _gone(area, gone),
        _back(area, back),
        *(_gone(area, service) for service in going[2:]),
        *(_reworded(area, key) for key in reworded),
        silently(area, (others[0], "image"), 0.4, 0.6),
        *background(area, drifting, 30 if area.small else 46),
    ]


def _gone(area: Area, service: str) -> Story:
    """The service disappears: some questions are retired, the others test that nothing is said."""
    yield within(area, 0.2, 0.6)
    _vanish(area, service)


def _back(area: Area, service: str) -> Story:
    """It disappears, and months later another service takes its name."""
    yield within(area, 0.15, 0.35)
    _vanish(area, service)
    yield around(area.rng, 120)
    role = area.add(service, "role", tended=True)
    area.ask_anew((service, "role"), "revision")
    for name in (*_ASKED_ON[1:], *_RETIRED):
        yield around(area.rng, 4)
        area.add(service, name, on=[role])
        if name in _ASKED_ON:
            area.ask_anew((service, name), "revision")


def _vanish(area: Area, service: str) -> None:
    if (role := area.now(service, "role")) is None:
        return
    area.drop(role, "obsolete")
    for name in _RETIRED:
        area.retire((service, name))
    for name in _ASKED_ON:
        area.ask_anew((service, name), "forgetting" if name == "role" else "cascade")


def _reworded(area: Area, key: Key) -> Story:
    """The value changes, and so do the words in which people ask for it."""
    yield within(area, 0.3, 0.7)
    if (old := area.now(*key)) is not None:
        area.revise(old)
        area.ask_anew(key, "revision")


SCENARIO = Scenario(id="project/probe-leakage", revision=1, doc=__doc__ or "", script=_script)
