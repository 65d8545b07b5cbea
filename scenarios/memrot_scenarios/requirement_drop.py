"""Requirements are dropped, and nothing takes their place.

Provokes: the old constraint is still enforced. In life a requirement is dropped in a meeting: there
is no new value whose arrival could push the old one out, so that a memory which only ever replaces
keeps it for ever; what existed for its sake (the audit log's target, the pager rota of an uptime
promise) goes with it. "I don't know" is then the right answer. Exemptions end by a date they state.

The opposite failure: constraints that are in force are dropped with their neighbours, and the
service breaks one of them.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.turns import dropped_for_good, imposed_anew
from memrot_scenarios.world import Scenario

_STANDING = (("audit", "logs"), ("uptime", "oncall"), ("retention", "backup"))
"""A requirement, and what exists for its sake."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    dropped = [
        (one, "audit"), (two, "uptime"), (three, "retention"), (one, "quota"), (two, "payload"),
        (three, "latency"), (four, "residency"), (four, "accessibility"), (one, "encryption"),
        (two, "support"), (three, "audit"), (four, "retention"), (calm[0], "accessibility"),
    ][: 9 if area.small else 13]  # fmt: skip
    revived = [(three, "quota"), (two, "residency")]
    tightened = [
        (one, "latency"), (two, "encryption"), (three, "payload"), (four, "quota"), (one, "support"),
        (two, "latency"), (three, "encryption"), (four, "uptime"), (one, "owner"), (two, "owner"),
        (four, "oncall"), (three, "owner"), (four, "owner"), (calm[0], "owner"), (calm[1], "owner"),
        (calm[1], "oncall"), (calm[0], "payload"),
    ]  # fmt: skip
    fallen = [(one, "logs"), (two, "oncall"), (three, "backup")]
    asked: dict[Key, Tests] = {
        **dict.fromkeys(dropped[:6], "abstention"),
        **dict.fromkeys(dropped[6:9], "forgetting"),
        **dict.fromkeys(revived, "flip_flop"),
        **dict.fromkeys(fallen, "cascade"),
        **dict.fromkeys(tightened[:4], "revision"),
        **dict.fromkeys(((one, "owner"), (four, "oncall")), "revision"),
        **{(calm[0], name): "preservation" for name in ("audit", "latency", "oncall")},
        **{(calm[1], name): "preservation" for name in ("quota", "payload", "uptime")},
    }
    lines = {
        service: [
            *(Line(name) for name in ("audit", "uptime", "retention", "quota", "payload", "latency")),
            *(
                Line(name)
                for name in (("residency", "accessibility") if n % 2 else ("encryption", "support"))
            ),
            *(Line(name, on=(root,)) for root, name in _STANDING),
            Line("owner"),
        ]
        for n, service in enumerate(area.services)
    }
    for service, name in (*dropped, *revived, *tightened):
        if name not in [line.predicate for line in lines[service]]:
            lines[service].append(Line(name))
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(dropped_for_good(area, key, n / len(dropped)) for n, key in enumerate(dropped)),
        *(imposed_anew(area, key) for key in revived),
        *(_exempt(area, service) for service in (three, calm[0])),
        _never_so(area, calm[1]),
        silently(area, (four, "oncall"), 0.4, 0.6),
        *background(area, tightened, 23 if area.small else 38),
    ]


def _exempt(area: Area, service: str) -> Story:
    """An exemption for some months, with its end stated from the start."""
    yield within(area, 0.1, 0.5)
    area.add(service, "waiver", lasts=area.rng.randrange(45, 120))
    area.ask(service, "waiver", "stated_end")


def _never_so(area: Area, service: str) -> Story:
    """A requirement was written down by mistake, and is taken back."""
    yield within(area, 0.2, 0.4)
    mistaken = area.add(service, "encryption" if area.now(service, "encryption") is None else "residency")
    area.ask(*mistaken.key, "forgetting")
    yield around(area.rng, 30)
    if area.present.holds(mistaken):
        area.drop(mistaken, "retracted")


SCENARIO = Scenario(id="project/requirement-drop", revision=1, doc=__doc__ or "", script=_script)
