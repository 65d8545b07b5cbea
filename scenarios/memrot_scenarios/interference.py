"""One key has fifty values, and its neighbours have almost its name.

Provokes: of forty-nine sentences that differ in a number, an old one is given as the answer, or the
dead ones fill the first k and crowd out the current one. In life a release number changes every
fortnight, each change leaves a sentence behind that reads like all the others, and services are
numbered: what is said of number 71 reads like what is said of number 7.

The opposite failure: a memory that cleans up behind the busy key, or takes two look-alike names for
one, loses what still holds for the neighbour.
"""

from __future__ import annotations

from msgspec.structs import replace

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.project import PROJECT
from memrot_scenarios.setting import Predicate
from memrot_scenarios.statements import PREDICATES
from memrot_scenarios.stories import WRITTEN, Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_VALUES = 49
"""Values of the busy key in a timeline of the default size."""
_VALUES_SMALL = 30
_RELEASE = Predicate(
    "TECH", "pin", tuple(f"4.{n}" for n in range(1, _VALUES + 20)),
    ("{s} runs release {v} in production.", "Release {v} of {s} is live.", "Customers of {s} are on {v}."),
    ("Which version should I see deployed for {s} right now?", "What is the version number of {s} today?"),
)  # fmt: skip
_WORLD = replace(PROJECT, predicates={**PREDICATES, "release": _RELEASE})


def _script(area: Area) -> list[Story]:
    one, two, three, *calm = area.services
    busy, *alike = (f"{one}-{number}" for number in ("7", "71", "17"))
    twins = (f"{two}-1", f"{two}-11")
    named = [busy, *alike, *twins, three, *calm[: 1 if area.small else 2]]
    drifting = [
        (alike[0], "owner"), (twins[0], "region"), (alike[1], "image"), (twins[0], "oncall"),
        (three, "owner"), (alike[0], "image"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **{(name, "release"): "interference" for name in (busy, *alike, *twins)},
        **{(name, "owner"): "interference" for name in (busy, *alike, *twins)},
        **{(name, "region"): "preservation" for name in (busy, *alike, twins[1])},
        **dict.fromkeys([(busy, "language"), (alike[0], "oncall"), (twins[1], "oncall")], "preservation"),
        **dict.fromkeys(
            [(alike[1], "image"), (alike[0], "image"), (twins[0], "region"), (three, "owner")], "revision"
        ),
        **dict.fromkeys([(calm[0], "language"), (calm[0], "latency"), (busy, "latency")], "preservation"),
    }
    usual = ("owner", "oncall", "region", "language", "image", "latency")
    lines = {
        name: [
            *((Line("release", value="4.1", tended=False),) if name in (busy, *alike, *twins) else ()),
            *(Line(predicate) for predicate in usual),
        ]
        for name in named
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        _released(area, busy, _VALUES_SMALL if area.small else _VALUES),
        *(_followed(area, name) for name in (alike[0], twins[1])),
        silently(area, (twins[0], "oncall"), 0.4, 0.6),
        *background(area, drifting, 5 if area.small else 7),
    ]


def _released(area: Area, service: str, values: int) -> Story:
    """Release after release, at about the same distance, the last near the end."""
    yield WRITTEN
    pause = 0.94 * (area.horizon - WRITTEN) / (values - 1)
    for number in range(2, values + 1):
        late = pause * 0.8 * area.rng.random()
        yield late
        if (old := area.now(service, "release")) is not None:
            area.revise(old, f"4.{number}", tended=False)
        yield pause - late


def _followed(area: Area, service: str) -> Story:
    """A look-alike moves now and then to a number that the busy service has had or is yet to have."""
    yield within(area, 0.1, 0.4)
    first = area.rng.randrange(5, 15)
    for number in (first, first + area.rng.randrange(3, 12)):
        if (old := area.now(service, "release")) is not None:
            area.revise(old, f"4.{number}", tended=True)
        yield around(area.rng, 150)


SCENARIO = Scenario(id="project/interference", revision=1, doc=__doc__ or "", script=_script, world=_WORLD)
