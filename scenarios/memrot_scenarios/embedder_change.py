"""The embedding model is swapped for another one of the same dimension.

Provokes: from one day on, some old sentences are no longer found, and nothing fails: vectors of the
two models have the same length and agree in part of their meaning, so that old facts come back with
lower similarities, behind newer ones, or not at all. In life a model is upgraded in a dependency
bump. What was true is still true and still stored; it is retrieval that has changed, and a diagnosis
that calls it forgetting sends people looking in the wrong place.

The opposite failure: whoever embeds everything anew writes everything anew, and what had been ended,
dropped, or replaced by then comes back to life.
"""

from __future__ import annotations

from memrot.model import EmbedderChanged, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_SUCCESSOR = "minilm-l3"
"""The embedder that follows: the dimension and the vocabulary of the default one, other weights."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    ended = [(one, "quota"), (two, "payload"), (three, "quota"), (four, "payload"), (two, "quota")]
    if area.small:
        ended = ended[:3]
    drifting = [
        (one, "owner"), (two, "image"), (three, "oncall"), (four, "owner"), (one, "database"),
        (two, "oncall"), (three, "owner"), (four, "image"), (one, "image"), (two, "owner"), (three, "image"),
        (four, "oncall"), (one, "oncall"), (four, "database"), (two, "region"), (three, "region"),
        (four, "region"), (calm[0], "image"), (calm[1], "image"),
    ]  # fmt: skip
    untouched = [
        (one, "region"), (two, "latency"), (three, "database"), (four, "language"), (calm[0], "owner"),
        (calm[1], "region"), (calm[0], "language"), (calm[1], "latency"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(untouched[: 5 if area.small else 8], "embedder_change"),
        **dict.fromkeys(drifting[: 6 if area.small else 9], "revision"),
        **dict.fromkeys(ended, "forgetting"),
        **dict.fromkeys([(calm[0], "oncall"), (calm[1], "database"), (calm[1], "owner")], "preservation"),
    }
    usual = ("owner", "oncall", "database", "region", "language", "image", "latency", "quota", "payload")
    lines = {service: [Line(name) for name in usual] for service in area.services}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        _swapped(area),
        *(_ended(area, key, n / len(ended)) for n, key in enumerate(ended)),
        silently(area, (one, "image"), 0.6, 0.8),
        *background(area, drifting, 37 if area.small else 54),
    ]


def _swapped(area: Area) -> Story:
    """Half-way, between two ordinary changes."""
    yield within(area, 0.45, 0.55)
    area.log.events.append(EmbedderChanged(seq=area.log.seq, at=area.log.at, embedder=_SUCCESSOR))


def _ended(area: Area, key: Key, share: float) -> Story:
    """Dropped before the swap, most of them, and some after it."""
    yield within(area, 0.08 + 0.6 * share, 0.18 + 0.6 * share)
    if (old := area.now(*key)) is not None:
        area.drop(old, "dropped")


SCENARIO = Scenario(id="project/embedder-change", revision=1, doc=__doc__ or "", script=_script)
