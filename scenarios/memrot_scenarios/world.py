"""Worlds: areas of a few services or people each, whose stories write one timeline.

A *story* is a generator over an ``Area``: it changes things, then yields the days until its next
step. One queue orders the steps of all stories, so that a timeline reads like a log. The
cost of a step does not depend on the size of the world; a bigger world has more areas, opened one
after another. Only ``random.Random`` seeded from a string decides anything, and instants are whole
hours: the same seed gives the same bytes everywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from random import Random

from msgspec import Struct

from memrot.errors import BadInput
from memrot.model import DAY
from memrot.timeline import Header, Timeline
from memrot_scenarios.area import HOUR, Area, Log
from memrot_scenarios.project import PROJECT
from memrot_scenarios.setting import World
from memrot_scenarios.stories import Story

_START = 19_730 * DAY + 9 * HOUR
"""2024-01-08T09:00:00Z, a Monday."""
_HORIZON = (580, 880)
"""Least and most days that the stories of an area have."""
_OPENING = 5
"""Days between the openings of two areas of a large world."""
_EVENTS_AN_AREA = 150
"""Fewer than the events that any scenario's area has."""
_LEAST = 1000
"""Events of the smallest large world."""


class Scenario(Struct, frozen=True, kw_only=True):
    """A seeded generator of timelines. A revision stands for one output for every seed and size."""

    id: str
    revision: int
    doc: str
    """Which failure it provokes, why that happens in life, and what the opposite failure is."""
    script: Callable[[Area], Iterable[Story]]
    """The stories of one area."""
    exclusive: tuple[str, ...] = ()
    world: World = PROJECT

    def generate(self, seed: int, size: str = "default") -> Timeline:
        """``size``: "smoke", "default", or a number of events (also "large:N"). Raises BadInput."""
        events, log, areas = self.write(seed, size)
        header = Header(
            id=self.id,
            revision=self.revision,
            seed=seed,
            domains=dict(self.world.domains),
            exclusive=self.exclusive,
            note=f"size {events or size}",
        )
        return Timeline.of(header, log.events[:events], areas[0].finished_probes())

    def write(self, seed: int, size: str) -> tuple[int | None, Log, list[Area]]:
        """How many events are wanted, what was written, and the areas as they are at the end."""
        events = _events(size)
        rng = Random(f"{self.id}/{self.revision}/{seed}/{size if events is None else events}")
        log = Log(at=_START + rng.randrange(365) * DAY)
        count = 1 if events is None else events // _EVENTS_AN_AREA + 1
        areas = [self._area(rng, log, number, size) for number in range(count)]
        _run(log, [(n * _OPENING * 24, area, self.script(area)) for n, area in enumerate(areas)], events)
        return events, log, areas

    def _area(self, rng: Random, log: Log, number: int, size: str) -> Area:
        small = size == "smoke"
        cast = self.world.cast(rng, number, small)
        return Area(
            log, rng, world=self.world, cast=cast, horizon=rng.randrange(*_HORIZON),
            small=small, examined=not number, exclusive=self.exclusive,
        )  # fmt: skip


def _events(size: str) -> int | None:
    if size in ("smoke", "default"):
        return None
    number = size.removeprefix("large:")
    if not number.isascii() or not number.isdigit() or int(number) < _LEAST:
        raise BadInput(f"expected smoke, default, or a number of events from {_LEAST}, got {size!r}")
    return int(number)


def _run(log: Log, openings: Sequence[tuple[int, Area, Iterable[Story]]], events: int | None) -> None:
    """Take the steps of all stories in the order of their time until no story of any area is left
    within its horizon, or ``events`` have happened."""
    start = log.at
    queue: list[tuple[int, int, int, Area, Story]] = []
    for hour, area, stories in openings:
        for story in stories:
            heapq.heappush(queue, (hour, len(queue), hour + area.horizon * 24, area, story))
    while queue and (events is None or len(log.events) < events):
        hour, order, last, area, story = queue[0]
        log.at = start + hour * HOUR
        area.present.pass_to(log.at, log.seq)
        before = log.seq
        wait = next(story, None)
        if log.seq > before:
            area.tend()
        if wait is None or hour + round(wait * 24) > last:
            heapq.heappop(queue)
        else:
            heapq.heapreplace(queue, (hour + max(1, round(wait * 24)), order, last, area, story))
