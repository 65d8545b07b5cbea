"""Services are rewritten, and what stood on the old version falls with it.

Provokes: the old language, database or region is still given as the answer, and so are the
framework, the driver and the backup scheme that made sense only with it. In life a rewrite is
announced once, in one sentence; nobody announces that the ORM of the old database is gone, and the
sentence about the new one looks just like that about the old one.

The opposite failure: the other services, whose pages use the same words, lose their facts, or a page
that mentions a rewritten service is thrown away with it.
"""

from __future__ import annotations

from memrot_scenarios.area import Area
from memrot_scenarios.stories import Line, Story, background, quiet, silently, writing
from memrot_scenarios.turns import rebuilt, remembered
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    *busy, calm, calmer = area.services
    rewritten = busy[:2] if area.small else busy[:3]
    migrated = busy[1:3] if area.small else busy[2:5]
    moved = busy[3:4] if area.small else busy[4:6]
    pages = {
        service: [
            Line("language", "revision" if service in rewritten else None),
            Line("framework", "cascade" if service in rewritten else None, on=("language",)),
            Line("test_runner", "cascade" if service in rewritten[:2] else None, on=("language",)),
            Line("database", "revision" if service in migrated else None),
            Line("driver", "cascade" if service in migrated[:1] else None, on=("database",)),
            Line("backup", "cascade" if service in migrated[1:] else None, on=("database",)),
            Line("region", "revision" if service in moved else None),
            Line("owner", "revision" if service in busy[:1] else None),
            Line("oncall", "revision" if service in busy[1:3] else None),
            Line("image", "revision" if service in busy[:1] else None),
            Line("latency", "preservation" if service in busy[2:3] else None),
        ]
        for service in busy
    }
    for service, other in ((calm, rewritten[0]), (calmer, rewritten[1])):
        pages[service] = [
            Line("language", "preservation"),
            Line("database", "preservation"),
            Line("region", "preservation" if service == calmer else None),
            Line("owner", "preservation" if service == calm else None),
            Line("auth"),
            Line("protocol"),
            Line("note", "over_propagation", value=other),
        ]
    return [
        writing(area, pages),
        quiet(area, 7 if area.small else 10),
        *(rebuilt(area, service, "language", ("framework", "test_runner"), 2) for service in rewritten),
        *(rebuilt(area, service, "database", ("driver", "backup"), 1) for service in migrated),
        *(_moved(area, service) for service in moved),
        silently(area, (busy[2], "image"), 0.3, 0.6),
        *background(
            area,
            [(busy[0], "image"), *((service, name) for service in busy for name in ("owner", "oncall"))],
            21 if area.small else 29,
        ),
        remembered(area, (rewritten[0], "language"), 0.5, 0.6),
    ]


def _moved(area: Area, service: str) -> Story:
    for share in (0.1, 0.5):
        yield area.horizon * share * (1 + 0.5 * area.rng.random())
        if (old := area.now(service, "region")) is not None:
            area.revise(old)


SCENARIO = Scenario(id="project/service-rewrite", revision=1, doc=__doc__ or "", script=_script)
