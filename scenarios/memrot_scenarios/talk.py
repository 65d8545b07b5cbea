"""Conversations: what people ask an assistant now and then, whatever has become of it since.

Each is a session of its own, asked once at its time, so that a retention policy can be replayed on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.stories import WRITTEN, Story

_QUESTIONS = 2
"""A conversation."""


def talking(area: Area, keys: Sequence[Key], times: int) -> Story:
    """So many conversations, spread over the area's time, about some of these keys each: of those of
    which anything was ever told, so two must stand on the pages."""
    yield WRITTEN
    gap = (area.horizon - WRITTEN) / times
    for _ in range(times):
        pause = gap * (0.1 + 0.8 * area.rng.random())
        yield pause
        known = {fact.key for fact in area.present.facts.values()}
        discuss(area, area.rng.sample([key for key in keys if key in known], _QUESTIONS))
        yield gap - pause


def discuss(area: Area, keys: Sequence[Key], session: str | None = None) -> None:
    """Ask about these keys now, in one conversation."""
    session = session or area.new_session()
    for key in keys:
        area.ask(*key, tested_now(area, key), session=session)


def tested_now(area: Area, key: Key) -> Tests:
    """What a question about a key tests at this moment: whether the memory keeps what is true, or lets
    go of what it was never told the end of."""
    fact = area.now(*key)
    if fact is None:
        return area.death(key)[1]
    return "over_forgetting" if fact in area.told_now() else "unannounced"
