"""Conversations: the questions of a session, asked at its time, as a timeline that asks nothing else.

From a timeline's own sessions; drawn from its questions where it has none; or from a log of real
ones. The events stay as they are, so any memory can be examined with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from msgspec import Struct, structs

from memrot.errors import BadInput
from memrot.lines import convert, parse_instant, read_lines
from memrot.model import ChangeEvent, Instant, Probe, TimePassed
from memrot.timeline import Stage, Timeline

MOST_QUESTIONS = 3
"""Of a drawn conversation."""


class Logged(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a log: who asked what, when. Where subject and predicate are not given, the question
    is about what a timeline's question of the same words is about; failing that, about whatever the
    full store finds first."""

    time: Instant
    session: str
    question: str
    subject: str = ""
    predicate: str = ""


def read_log(path: Path) -> list[Logged]:
    """JSON Lines of time, session and question; raises BadInput."""
    logged = []
    for number, raw in read_lines(path):
        try:
            raw["time"] = parse_instant(raw.get("time"))
        except ValueError as error:
            raise BadInput(f"{error} - at `$.time`", file=str(path), line=number) from None
        logged.append(convert(raw, Logged, {}, file=str(path), line=number))
    if not logged:
        raise BadInput("expected a line of time, session and question, found none", file=str(path))
    return logged


def own(timeline: Timeline) -> Timeline | None:
    """Its sessions, each question at the first stage at which it is asked; None where it has none."""
    asked = [
        structs.replace(probe, since=stage.seq, until=stage.seq + 1)
        for probe in timeline.probes
        if probe.session is not None and probe.mode == "current"
        for stage in _first(timeline.stages, probe)
    ]
    return Timeline.of(timeline.header, timeline.events, asked) if asked else None


def drawn(timeline: Timeline, count: int) -> Timeline:
    """``count`` conversations of one to three of its questions, each at a stage at which they are asked;
    the same ones each time."""
    rng = Random(f"conversations/{timeline.digest}")
    questions = [probe for probe in timeline.probes if probe.mode == "current"]
    active = {
        stage.seq: asked
        for stage in timeline.stages
        if (asked := [probe for probe in questions if probe.active(stage.seq)])
    }
    if not active:
        raise BadInput(f"{timeline.header.id} asks no question of mode 'current'")
    probes: list[Probe] = []
    for number, seq in enumerate(rng.choices(list(active), k=count)):
        some = rng.sample(active[seq], min(rng.randint(1, MOST_QUESTIONS), len(active[seq])))
        probes += (
            structs.replace(probe, id=f"c{number}.{place}", since=seq, until=seq + 1, session=f"c{number}")
            for place, probe in enumerate(some)
        )
    return Timeline.of(timeline.header, timeline.events, probes)


def of(timelines: Sequence[Timeline], wanted: int) -> list[Timeline]:
    """Each timeline's own conversations; where it has none, as many drawn ones as the others have on
    average, so that scenarios weigh alike, and more where all of them hold fewer than ``wanted``."""
    found = [own(timeline) for timeline in timelines]
    talking = [count(each) for each in found if each is not None]
    silent = len(found) - len(talking)
    alike = round(sum(talking) / len(talking)) if talking else 0
    share = max(alike, -(-(wanted - sum(talking)) // silent), 1) if silent else 0
    return [
        drawn(timeline, share) if each is None else each
        for timeline, each in zip(timelines, found, strict=True)
    ]


def needed(timelines: Sequence[Timeline], wanted: int) -> float:
    """How many times these timelines it takes for ``wanted`` conversations, were none drawn beyond what
    is alike; 1 where they must all be drawn."""
    talking = [count(each) for each in map(own, timelines) if each is not None]
    return wanted / (sum(talking) / len(talking) * len(timelines)) if talking else 1.0


def count(timeline: Timeline) -> int:
    return len({probe.session for probe in timeline.probes if probe.session is not None})


def from_log(timeline: Timeline, log: Sequence[Logged]) -> Timeline:
    """The log's questions over a timeline's events; where nothing happened at a time, time passes."""
    known = {stage.at for stage in timeline.stages}
    passed = [TimePassed(seq=0, at=time) for time in sorted({line.time for line in log} - known)]
    merged: Iterable[ChangeEvent] = sorted([*timeline.events, *passed], key=lambda event: event.at)
    events = [structs.replace(event, seq=number) for number, event in enumerate(merged, start=1)]
    last = {event.at: event.seq for event in events}
    keys = {probe.question: probe.key for probe in timeline.probes}
    probes = []
    for number, line in enumerate(log):
        subject, predicate = keys.get(line.question, ("", ""))
        probes.append(
            Probe(
                id=f"l{number}",
                question=line.question,
                subject=line.subject or subject,
                predicate=line.predicate or predicate,
                tests="preservation",
                since=last[line.time],
                until=last[line.time] + 1,
                session=line.session,
            )
        )
    return Timeline.of(timeline.header, events, probes)


def _first(stages: Sequence[Stage], probe: Probe) -> Sequence[Stage]:
    return next(([stage] for stage in stages if probe.active(stage.seq)), [])
