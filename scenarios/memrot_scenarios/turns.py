"""Stories of single facts, told in both worlds: they turn, return, end, told or not, and are asked after."""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Key, Reason
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.stories import Story, lasting, within

_DROPPED: tuple[Reason, ...] = ("dropped", "dropped", "obsolete")


def turn(area: Area, key: Key, value: str | None = None) -> None:
    """The key changes to a value (None: one that it never had), where it has one."""
    if (old := area.now(*key)) is not None:
        area.revise(old, value)


def rebuilt(area: Area, subject: str, root: str, standing: Sequence[str], times: int) -> Story:
    """The root changes, what stood on it falls, and successors are told bit by bit, most of them."""
    yield within(area, 0.05, 0.3)
    for _ in range(times):
        old = area.now(subject, root)
        if old is None:
            return
        new = area.revise(old)
        for name in standing:
            yield 3 + 30 * area.rng.random()
            if area.rng.random() < 0.8:
                area.add(subject, name, on=[new])
        yield area.horizon * (0.2 + 0.2 * area.rng.random())


def said_again(area: Area, key: Key) -> Story:
    """The same is said again in the same words while it is true; later it changes."""
    yield within(area, 0.2, 0.4)
    old = area.now(*key)
    if old is None:
        return
    area.add(*key, old.value)
    yield area.horizon * (0.25 + 0.1 * area.rng.random())
    turn(area, key)


def taken_back(area: Area, key: Key) -> Story:
    """Withdrawn for good."""
    yield within(area, 0.3, 0.5)
    if (old := area.now(*key)) is not None:
        area.drop(old, "reversed")


def taken_up_again(area: Area, key: Key) -> Story:
    """Withdrawn, and deliberately told again in the same words."""
    yield within(area, 0.15, 0.5)
    old = area.now(*key)
    if old is None:
        return
    area.drop(old, "reversed")
    yield from lasting(area, around(area.rng, 90))
    area.add(*key, old.value)


def dropped_for_good(area: Area, key: Key, share: float) -> Story:
    """Dropped for good, with nothing in its place; a higher ``share`` (0 to 1) is later."""
    yield within(area, 0.04 + 0.75 * share, 0.16 + 0.75 * share)
    if (old := area.now(*key)) is not None:
        area.drop(old, area.rng.choice(_DROPPED))


def imposed_anew(area: Area, key: Key) -> Story:
    """Dropped, and months later there again, with another value."""
    yield within(area, 0.1, 0.3)
    if (old := area.now(*key)) is not None:
        area.drop(old, "dropped")
        yield around(area.rng, 120)
        area.add(*key)


def ended_unsaid(area: Area, key: Key, *, replaced: bool, latest: float = 0.7) -> Story:
    """A fact ends in silence, by a share of the horizon; people speak of it as before."""
    yield within(area, 0.1, latest)
    old = area.now(*key)
    if old is None:
        return
    if replaced:
        area.revise(old, announced=False)
    else:
        area.drop(old, "obsolete", announced=False)
    while True:
        yield around(area.rng, 300)
        area.mention(old)


def learnt_late(area: Area, key: Key) -> Story:
    """A fact is replaced in silence; months later the memory is told what holds instead."""
    yield within(area, 0.1, 0.5)
    old = area.now(*key)
    if old is None:
        return
    new = area.revise(old, announced=False)
    yield around(area.rng, 100)
    area.add(*key, new.value)


def remembered(area: Area, key: Key, least: float, most: float) -> Story:
    """Between two shares of the horizon the history is asked for, in order."""
    yield within(area, least, most)
    area.ask(*key, "history", mode="history")


def looked_up(area: Area, key: Key) -> Story:
    """What held in the middle of a detour is asked for after it."""
    yield within(area, 0.8, 0.9)
    begins = [fact.valid_from for fact in area.present.facts.values() if fact.key == key]
    if len(begins) > 2:
        area.ask(*key, "history", mode="as_of", as_of=(begins[1] + begins[2]) // 2)
