"""Facts end, and nobody says so.

Provokes: a memory goes on asserting what it was told long ago. In life most changes reach no
memory: a pager is handed over, an image is bumped, a limit is lifted, and the page stays. Only time
can make a memory doubt such a fact. People go on mentioning it, which proves nothing; some of the
changes become known months later.

The opposite failure: eager expiry forgets what is old, still true, and was confirmed again and again.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.stories import Line, Story, background, pages, quiet, writing
from memrot_scenarios.turns import ended_unsaid, learnt_late
from memrot_scenarios.world import Scenario

_TECH = ("image", "region", "database", "cache", "toolchain")


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    revised = [(one, "oncall"), (two, "image"), (three, "owner"), (four, "cache"), (one, "toolchain")]
    ended = [(one, "quota"), (two, "cache"), (three, "channel"), (four, "payload")]
    learnt = [(two, "oncall"), (three, "image"), (four, "lead"), (one, "region"), (two, "latency")]
    if area.small:
        revised, ended, learnt = revised[:4], ended[:3], learnt[:3]
    confirmed = [
        (calm[0], "oncall"),
        (calm[0], "owner"),
        (calm[0], "image"),
        (calm[1], "owner"),
        (calm[1], "lead"),
        (calm[1], "region"),
    ]
    announced = [
        (one, "owner"), (two, "owner"), (four, "oncall"), (three, "lead"), (four, "owner"), (three, "region"),
        (one, "lead"), (two, "lead"), (calm[0], "lead"), (calm[0], "channel"), (calm[1], "oncall"),
        (calm[1], "channel"), (one, "channel"), (two, "region"), (three, "oncall"), (four, "region"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*revised, *ended, *learnt), "unannounced"),
        **dict.fromkeys(confirmed, "over_forgetting"),
        **dict.fromkeys(announced[:8], "revision"),
        **dict.fromkeys([(calm[0], "latency"), (calm[1], "quota")], "preservation"),
    }
    usual = ("owner", "oncall", "lead", "channel", *_TECH, "latency", "quota", "payload")
    looked_after = {**dict.fromkeys(confirmed, True), **dict.fromkeys((*revised, *ended), False)}
    lines = {
        service: [Line(name, tended=looked_after.get((service, name))) for name in usual]
        for service in area.services
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(ended_unsaid(area, key, replaced=True) for key in revised),
        *(ended_unsaid(area, key, replaced=False) for key in ended),
        *(learnt_late(area, key) for key in learnt),
        *background(area, announced, 26 if area.small else 38),
    ]


SCENARIO = Scenario(id="project/unannounced", revision=1, doc=__doc__ or "", script=_script)
