"""Links: what a memory is told of what changed what, when only a share of it is told.

Timelines say which fact a revision replaces and what a fact stands on; in life somebody has to find
out. A withheld revision arrives as a plain new fact, a withheld dependence not at all. The truth and
the scores stay as they are: only what the memory hears changes. Which links are withheld is decided
link by link from the timeline's digest, so that what is told of a share is told of any larger one.
"""

from __future__ import annotations

import hashlib

from msgspec.structs import replace

from memrot.model import ChangeEvent, Fact, FactAdded, FactRevised
from memrot.timeline import Timeline


def heard(timeline: Timeline, share: float) -> dict[int, ChangeEvent]:
    """``seq`` -> the event as it is told, for those that lose a link."""
    if share >= 1:
        return {}
    told = _Told(timeline.digest, share)
    changed: dict[int, ChangeEvent] = {}
    for event in timeline.events:
        as_told = told.event(event)
        if as_told != event:
            changed[event.seq] = as_told
    return changed


class _Told:
    def __init__(self, seed: str, share: float) -> None:
        self.seed = seed
        self.share = share

    def event(self, event: ChangeEvent) -> ChangeEvent:
        match event:
            case FactAdded(fact=fact):
                return replace(event, fact=self.fact(fact))
            case FactRevised(previous=previous, current=fact) if self.link(fact.id, "replaces", previous):
                return replace(event, current=self.fact(fact))
            case FactRevised(seq=seq, at=at, current=fact, announced=announced):
                return FactAdded(seq=seq, at=at, fact=self.fact(fact), announced=announced)
            case _:
                return event

    def fact(self, fact: Fact) -> Fact:
        told = tuple(on for on in fact.depends_on if self.link(fact.id, "stands on", on))
        return replace(fact, depends_on=told)

    def link(self, fact: str, how: str, other: str) -> bool:
        drawn = hashlib.sha256(f"{self.seed}\n{fact}\n{how}\n{other}".encode()).digest()
        return int.from_bytes(drawn[:8]) < self.share * 2**64
