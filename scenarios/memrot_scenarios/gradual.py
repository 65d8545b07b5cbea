"""Team sizes and latencies: never invalidated, slowly less true.

Provokes: a value that was right when it was told, and that nothing ever corrects. In life a note says
that a team has six people or that a page takes 180 ms; a year later it is ten, or 420 ms, and no event
said so. Readings arrive elsewhere, in a sheet or on a dashboard.

The opposite failure: some quantities only seem to move. Latencies scatter from reading to reading, and
now and then an incident doubles one for a day; whoever believes each reading revises all the time, for
noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from memrot.model import DAY, Instant, Key, Reading
from memrot_scenarios.words import SERVICES, TEAMS

_START = 19_730 * DAY + 9 * DAY // 24
"""2024-01-08T09:00:00Z."""
_DAYS = 540
_SPIKE = 0.03
"""Share of latency readings that fall on an incident."""


class Gradual(Struct, frozen=True, kw_only=True):
    """A seeded generator of readings. A revision stands for one output for every seed."""

    id: str
    revision: int
    doc: str

    def generate(self, seed: int) -> tuple[Reading, ...]:
        rng = Random(f"{self.id}/{self.revision}/{seed}")
        teams, services = rng.sample(TEAMS, 6), rng.sample(SERVICES, 6)
        found = [reading for n, team in enumerate(teams) for reading in _sizes(rng, team, moves=n < 4)]
        for n, service in enumerate(services):
            found += _latencies(rng, service, moves=n < 3)
        return tuple(sorted(found, key=lambda reading: (reading.at, reading.key)))


def _sizes(rng: Random, team: str, *, moves: bool) -> Iterator[Reading]:
    """Counted monthly, exactly; a team that moves grows or shrinks by one now and then."""
    key, size, up = (team, "team_size"), 4 + rng.randrange(8), rng.random() < 0.7
    for day in range(0, _DAYS, 30):
        if day and moves and rng.random() < 0.45:
            size += 1 if (rng.random() < 0.85) is up else -1
        size = max(size, 2)
        yield Reading(key, float(size), _at(rng, day), 0.15)


def _latencies(rng: Random, service: str, *, moves: bool) -> Iterator[Reading]:
    """Measured every other day, with noise and incidents; one that moves creeps up, and falls after a fix."""
    key: Key = (service, "p95_latency_ms")
    level, creep = 60.0 + rng.randrange(300), 1 + (0.0015 + 0.002 * rng.random() if moves else 0)
    fixed = rng.randrange(_DAYS // 2, _DAYS)
    for day in range(0, _DAYS, 2):
        level *= creep**2
        if moves and fixed <= day < fixed + 2:
            level *= 0.6
        noise = 1 + 0.04 * (sum(rng.random() for _ in range(12)) - 6)  # near enough to a normal draw
        spike = 1.5 + rng.random() if rng.random() < _SPIKE else 1
        yield Reading(key, round(level * max(noise, 0.8) * spike, 1), _at(rng, day), 0.15)


def _at(rng: Random, day: int) -> Instant:
    return _START + day * DAY + rng.randrange(8) * DAY // 24


READINGS = Gradual(id="project/gradual", revision=1, doc=__doc__ or "")
