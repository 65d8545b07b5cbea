"""Changes of a timeline of which it is known beforehand what they may do to a score.

Each returns a valid timeline; what must follow stands in ``test_metamorphic.py``. Sequence numbers are
spread first where events are to be added between others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from memrot.model import (
    DAY,
    NEVER,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Probe,
    Restarted,
    introduces,
    names,
)
from memrot.timeline import Timeline

SPREAD = 100
"""Between the sequence numbers of two events of a spread timeline."""
FILLER = "x"
"""What the ids of added facts begin with."""


def changed(
    timeline: Timeline,
    fact: Callable[[Fact], Fact] = lambda fact: fact,
    event: Callable[[ChangeEvent], ChangeEvent] = lambda event: event,
    probe: Callable[[Probe], Probe] = lambda probe: probe,
) -> Timeline:
    """Every event, fact and probe replaced by what is made of it."""

    def of(each: ChangeEvent) -> ChangeEvent:
        match event(each):
            case FactAdded() as added:
                return replace(added, fact=fact(added.fact))
            case FactRevised() as revised:
                return replace(revised, current=fact(revised.current))
            case other:
                return other

    return Timeline.of(timeline.header, map(of, timeline.events), map(probe, timeline.probes))


def renamed(timeline: Timeline) -> tuple[Timeline, dict[str, str]]:
    """Every subject has another name, wherever it is written; and new sentence -> old sentence."""
    subjects = sorted({fact.subject for fact in timeline.facts.values()}, key=len, reverse=True)
    new = {subject: f"{subject[::-1]}{n}" for n, subject in enumerate(subjects)}
    new |= {subject[0].upper() + subject[1:]: name for subject, name in new.items()}
    pattern = re.compile("|".join(map(re.escape, new)))

    def said(text: str) -> str:
        return pattern.sub(lambda found: new[found[0]], text)

    def fact(old: Fact) -> Fact:
        return replace(old, subject=said(old.subject), value=said(old.value), text=said(old.text))

    def probe(old: Probe) -> Probe:
        return replace(old, subject=said(old.subject), question=said(old.question))

    texts = {fact.text for fact in timeline.facts.values()} | {probe.question for probe in timeline.probes}
    before = {said(text): text for text in texts}
    assert len(before) == len(texts), "two sentences have become one"
    assert not any(subject in text for text in before for subject in subjects)
    return changed(timeline, fact, probe=probe), before


def shifted(timeline: Timeline, days: int) -> Timeline:
    """Everything happens so many days later; what sentences say of dates stays as it is."""
    by = days * DAY

    def fact(old: Fact) -> Fact:
        return replace(
            old,
            observed_at=old.observed_at + by,
            valid_from=old.valid_from + by,
            valid_to=old.valid_to if old.valid_to == NEVER else old.valid_to + by,
        )

    return changed(
        timeline,
        fact,
        lambda event: replace(event, at=event.at + by),
        lambda probe: probe if probe.as_of is None else replace(probe, as_of=probe.as_of + by),
    )


def permuted(timeline: Timeline) -> Timeline:
    """At every instant, groups of events that have nothing to do with each other in reverse order."""
    events: list[ChangeEvent] = []
    for stage in timeline.stages:
        order = list(stage.events)
        if not any(isinstance(event, Restarted | EmbedderChanged) for event in order):
            order = [event for group in reversed(_independent(timeline, order)) for event in group]
        events += [replace(event, seq=old.seq) for event, old in zip(order, stage.events, strict=True)]
    return Timeline.of(timeline.header, events, timeline.probes)


def _independent(timeline: Timeline, events: Sequence[ChangeEvent]) -> list[list[ChangeEvent]]:
    """The events in groups that share no key, no exclusive value and no support."""
    groups: list[tuple[set[object], list[ChangeEvent]]] = []
    for event in events:
        about = _about(timeline, event)
        joined = [group for group in groups if group[0] & about]
        groups = [group for group in groups if not group[0] & about]
        together = sorted((other for _, members in joined for other in members), key=lambda other: other.seq)
        groups.append((about.union(*(things for things, _ in joined)), [*together, event]))
    return [members for _, members in groups]


def _about(timeline: Timeline, event: ChangeEvent) -> set[object]:
    """Everything that an event may change: whatever stood on its facts falls with them."""
    about: set[object] = set()
    waiting = [timeline.facts[name] for name in names(event)]
    while waiting:
        fact = waiting.pop()
        if fact.id in about:
            continue
        about |= {fact.id, fact.key, (fact.predicate, fact.value)}
        waiting += [timeline.facts[name] for name in fact.depends_on]
        waiting += [other for other in timeline.facts.values() if fact.id in other.depends_on]
    return about


def spread(timeline: Timeline) -> Timeline:
    """The same timeline, with room between its sequence numbers."""

    def probe(old: Probe) -> Probe:
        until = None if old.until is None else old.until * SPREAD
        return replace(old, since=old.since * SPREAD, until=until)

    return changed(timeline, event=lambda event: replace(event, seq=event.seq * SPREAD), probe=probe)


def filled(timeline: Timeline) -> Timeline:
    """Of a spread timeline: with every change, something is told of which nobody ever asks."""
    added: list[ChangeEvent] = []
    domain = next(iter(timeline.header.domains))
    for event in timeline.events:
        if isinstance(event, FactAdded | FactRevised | FactInvalidated) and _first(timeline, event):
            n = len(added)
            fact = Fact(
                id=f"{FILLER}{n}", subject=f"quux {n}", predicate="zyzzyva", value=f"{n}", domain=domain,
                text=f"Quux {n} zyzzyva jukebox {n * n}.",
            )  # fmt: skip
            added.append(FactAdded(seq=event.seq - 1, at=event.at, fact=fact))
    return Timeline.of(timeline.header, [*timeline.events, *added], timeline.probes)


def _first(timeline: Timeline, event: ChangeEvent) -> bool:
    """Whether nothing of the event's instant comes before it."""
    return any(stage.events[0].seq == event.seq for stage in timeline.stages)


def doubled(timeline: Timeline) -> Timeline:
    """Every question is asked twice."""
    again = [replace(probe, id=f"{probe.id}'") for probe in timeline.probes]
    return Timeline.of(timeline.header, timeline.events, [*timeline.probes, *again])


def introduced(events: Iterable[ChangeEvent]) -> int:
    return sum(introduces(event) is not None for event in events)


def moved(before: Timeline, after: Timeline) -> int:
    """Events of which the place among all others is another one."""
    old, new = (
        [[names(event) for event in events] for _, events in groupby(timeline.events, lambda each: each.at)]
        for timeline in (before, after)
    )
    return sum(a != b for was, now in zip(old, new, strict=True) for a, b in zip(was, now, strict=True))
