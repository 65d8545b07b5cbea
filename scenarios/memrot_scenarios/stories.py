"""Stories that every scenario tells: pages are written, time passes, facts outlive their truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from memrot.model import Key, Tests, TimePassed
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import HOURS, Kind, churn

Story: TypeAlias = Iterator[float]
"""Changes an area, then yields the days to wait until its next step."""

WRITTEN = 15
"""Days after which every page of an area has been written."""
_NEWS = 6
"""Facts that are told meanwhile, at least, before a value may return: it was missed."""


class Line(Struct, frozen=True):
    """What a page says: a predicate, what a question about it tests (None: nobody asks), the
    predicates of the same page that it stands on, its value (None: any)."""

    predicate: str
    tests: Tests | None = None
    on: tuple[str, ...] = ()
    value: str | None = None
    tended: bool | None = None


Pages: TypeAlias = Mapping[str, Sequence[Line]]
"""Subject -> its lines."""


def writing(area: Area, pages: Pages) -> Story:
    """The pages are written in the first days, each at one sitting."""
    for subject, lines in pages.items():
        for line in lines:
            supports = [fact for name in line.on if (fact := area.now(subject, name)) is not None]
            area.add(subject, line.predicate, line.value, on=supports, tended=line.tended)
            if line.tests is not None:
                area.ask(subject, line.predicate, line.tests)
        yield (WRITTEN - 2) / len(pages)


def quiet(area: Area, moments: int) -> Story:
    """Now and then nothing changes: somebody confirms what was due, speaks of something, or neither.

    The last moment is the area's last: what ended shortly before can still be asked about.
    """
    yield WRITTEN
    gap = (area.horizon - WRITTEN) / moments
    for moment in range(1, moments + 1):
        pause = gap * (area.rng.random() if moment < moments else 0.99)
        yield pause
        if not area.tend():
            if area.rng.random() < 0.5:
                area.mention(area.rng.choice(area.told_now()))
            else:
                area.log.events.append(TimePassed(seq=area.log.seq, at=area.log.at))
        yield gap - pause


def background(area: Area, keys: Sequence[tuple[str, str]], changes: int) -> list[Story]:
    """Facts of these single-valued keys are revised, each when its lifetime is over."""
    kinds: list[Kind] = [area.world.predicates[predicate].holds for _, predicate in keys]
    gaps = churn(area.rng, kinds, changes, 0.97 * (area.horizon - WRITTEN))
    return [_renewed(area, key, of_key) for key, of_key in zip(keys, gaps, strict=True)]


def silently(area: Area, key: Key, least: float, most: float) -> Story:
    """Between two shares of the horizon a fact is replaced, and the memory is not told."""
    yield within(area, least, most)
    if (old := area.now(*key)) is not None:
        area.revise(old, announced=False)


def lasting(area: Area, days: float) -> Story:
    """A detour, or an absence: so many days, and longer where little else is told meanwhile."""
    known = area.log.facts
    yield days
    while area.log.facts < known + _NEWS:
        yield 3


def within(area: Area, least: float, most: float) -> float:
    """Days from an area's opening to a moment between two shares of its horizon."""
    return WRITTEN + (area.horizon - WRITTEN) * (least + (most - least) * area.rng.random())


def _renewed(area: Area, key: tuple[str, str], gaps: Sequence[int]) -> Story:
    yield WRITTEN
    for gap in gaps:
        yield gap / HOURS
        fact = area.now(*key)
        if fact is not None:
            area.revise(fact)


def pages(lines: Pages, asked: Mapping[Key, Tests]) -> Pages:
    """The pages, with what is asked about them filled in; every question must find its line."""
    missing = [key for key in asked if key[1] not in [line.predicate for line in lines.get(key[0], ())]]
    if missing:
        raise LookupError(f"asked about what no page says: {missing}")
    return {
        subject: [
            replace(line, tests=asked.get((subject, line.predicate), line.tests)) for line in of_subject
        ]
        for subject, of_subject in lines.items()
    }
