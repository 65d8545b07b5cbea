"""Valid random timelines and answers, for property tests: small worlds in which everything collides.

A timeline is built from rows of eight bytes, one row an event; every row can be turned into a
valid event, so that hypothesis shrinks freely and a seed alone gives the same timeline anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar, get_args

from hypothesis import strategies as st

from memrot.model import (
    AT_EVENT,
    DAY,
    NEVER,
    Band,
    Cardinality,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Hit,
    Key,
    PeekCause,
    Probe,
    Reason,
    Restarted,
    Tests,
    TimePassed,
)
from memrot.observations import Asked, Head, Observations, PeekSeen, StageSeen, TimelineId
from memrot.timeline import Domain, Header, Timeline

DOMAINS = {
    "ALWAYS": Domain(),
    "SHORT": Domain(window_days=3),
    "GRACE": Domain(window_days=12, grace_days=4),
    "LONG": Domain(window_days=60, grace_days=0.5),
}
EXCLUSIVE = ("owns", "leads")
PREDICATES: tuple[tuple[str, Cardinality], ...] = (
    ("owner", "one"), ("uses", "many"), ("owns", "one"), ("leads", "many"),
)  # fmt: skip
SUBJECTS = ("ada", "bo", "cy")
VALUES = ("red", "blue", "green")
GAPS = (DAY, 0, 0, 3_600_000, 2 * DAY, 5 * DAY, 9 * DAY, 30 * DAY)
STARTS = (0, 0, 0, -DAY, -20 * DAY, 2 * DAY, 10 * DAY, -5 * DAY)
LASTS = (None,) * 11 + (3 * DAY, 12 * DAY, 1, 5 * DAY, 40 * DAY)
SUPPORTS = (0, 0, 0, 0, 0, 1, 1, 2)
RECENT = 6
START = 1_767_600_000_000

Row = bytes
T = TypeVar("T")


def timelines(
    *, max_events: int = 24, max_probes: int = 5, silent: bool = True
) -> st.SearchStrategy[Timeline]:
    """Timelines of one to ``max_events`` events; without silent events where ``silent`` is False."""
    return st.builds(
        lambda rows, probes: build(rows, probes, silent=silent),
        st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=max_events),
        st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=max_probes),
    )


def random_timeline(seed: int, *, events: int = 60, probes: int = 8, silent: bool = True) -> Timeline:
    """The timeline of a seed, as large as one likes."""
    rng = random.Random(f"timeline {seed}")
    return build(
        [rng.randbytes(8) for _ in range(events)], [rng.randbytes(8) for _ in range(probes)], silent=silent
    )


def build(rows: Sequence[Row], probes: Sequence[Row], *, silent: bool = True) -> Timeline:
    """The timeline of the rows: an event each, and a probe each."""
    world = _World(silent=silent)
    for row in rows:
        world.event(row)
    last = world.events[-1].seq
    return Timeline.of(
        Header(id="random", domains=dict(DOMAINS), exclusive=EXCLUSIVE, k=3),
        world.events,
        [_probe(f"p{number}", row, last) for number, row in enumerate(probes)],
    )


class _World:
    """What has been said so far: enough to say only valid things."""

    def __init__(self, *, silent: bool) -> None:
        self.silent = silent
        self.at = START
        self.events: list[ChangeEvent] = []
        self.facts: list[Fact] = []
        self.told: list[Fact] = []

    def event(self, row: Row) -> None:
        kind, gap, who, what, flags = row[0], row[1], row[2], row[3], row[7]
        if self.events:
            self.at += GAPS[gap % len(GAPS)]
        announced = not (self.silent and flags % 8 == 7)
        nameable = self.told if announced else self.facts
        kind %= 16
        # seq need not be dense
        place = {"seq": (self.events[-1].seq if self.events else 0) + 1 + (gap > 200), "at": self.at}
        event: ChangeEvent
        if kind <= 5:
            fact = self._fact(_key(who), VALUES[what % 3], row, announced)
            event = FactAdded(fact=fact, announced=announced, **place)
        elif kind <= 8 and self.facts:
            previous = _recent(self.facts, who)
            fact = self._fact(previous.key, VALUES[what % 3], row, announced)
            event = FactRevised(previous=previous.id, current=fact, announced=announced, **place)
        elif kind <= 10 and nameable:
            reason = get_args(Reason)[what % 6]
            event = FactInvalidated(
                fact=_recent(nameable, who).id, reason=reason, announced=announced, **place
            )
        elif kind <= 12 and self.told:
            event = FactConfirmed(fact=_recent(self.told, who).id, **place)
        elif kind == 13 and self.told:
            event = FactMentioned(fact=_recent(self.told, who).id, **place)
        elif what % 8 == 6:
            event = Restarted(**place)
        elif what % 8 == 7:
            event = EmbedderChanged(embedder="other", **place)
        else:
            event = TimePassed(**place)
        self.events.append(event)

    def _fact(self, key: Key, value: str, row: Row, announced: bool) -> Fact:
        _, _, _, _, start, last, support, flags = row
        subject, predicate = key
        cardinality = dict(PREDICATES)[predicate]
        offset, length = STARTS[start % len(STARTS)], LASTS[last % len(LASTS)]
        fact = Fact(
            id=f"f{len(self.facts) + 1}",
            subject=subject,
            predicate=predicate,
            value=value,
            domain=list(DOMAINS)[flags // 8 % 4],
            text=f"The {predicate} of {subject} is {value}.",
            cardinality=cardinality,
            depends_on=self._supports(key, cardinality, support, announced),
            support="any" if flags // 32 % 2 else "all",
            observed_at=self.at - 6 * DAY if flags // 64 == 3 else AT_EVENT,
            valid_from=self.at + offset if offset else AT_EVENT,
            valid_to=NEVER if length is None else self.at + offset + length,
        )
        self.facts.append(fact)
        if announced:
            self.told.append(fact)
        return fact

    def _supports(self, key: Key, cardinality: Cardinality, support: int, announced: bool) -> tuple[str, ...]:
        others = self.told if announced else self.facts
        allowed = [fact.id for fact in others if not (cardinality == "one" and fact.key == key)]
        wanted = SUPPORTS[support % 8] if allowed else 0
        return tuple(dict.fromkeys(_recent(allowed, support // 8 + 2 * i) for i in range(wanted)))


def _recent(items: Sequence[T], choice: int) -> T:
    return items[-1 - choice % min(len(items), RECENT)]


def _key(choice: int) -> Key:
    return SUBJECTS[choice % 3], PREDICATES[choice // 3 % 4][0]


def _probe(name: str, row: Row, last: int) -> Probe:
    who, tests, mode, since, until, length, session, _ = row
    subject, predicate = _key(who)
    first = 1 + since % last if since % 2 else 1
    as_of = START + (length % 64) * DAY if mode % 8 == 6 else None
    return Probe(
        id=name,
        question=f"What is the {predicate} of {subject}?",
        subject=subject,
        predicate=predicate,
        tests=get_args(Tests)[tests % len(get_args(Tests))],
        mode="as_of" if as_of is not None else "history" if mode % 8 == 7 else "current",
        as_of=as_of,
        since=first,
        until=first + 1 + length if until % 4 == 3 else None,
        session="s" if session % 4 == 3 else None,
    )


def random_observations(timeline: Timeline, seed: int, *, ask_every: int = 1) -> Observations:
    """Answers of a memory that has gone mad: right, stale, early, invented, silent, at random."""
    rng = random.Random(f"observations {seed}")
    facts = list(timeline.facts.values())
    rate = {key: rng.random() for key in ("own", "withhold", "hedge", "nothing", "echo")}
    k = rng.choice((1, 2, 3, 5))

    def hits(key: Key | None) -> tuple[Hit, ...]:
        own = [fact.id for fact in facts if fact.key == key]
        found: dict[str | None, Hit] = {}
        for _ in range(0 if rng.random() < rate["nothing"] / 3 else rng.randint(0, k + 2)):
            pool = own if own and rng.random() < rate["own"] else [fact.id for fact in facts] or ["?"]
            name = None if rng.random() < 0.05 else "invented" if rng.random() < 0.03 else rng.choice(pool)
            shown = sum(hit.band != "withhold" for hit in found.values())
            band: Band = (
                "withhold" if rng.random() < rate["withhold"] / 2 or shown == k
                else "hedge" if rng.random() < rate["hedge"]
                else "assert"
            )  # fmt: skip
            found.setdefault(name, Hit(name, rng.random(), rng.choice((0.0, 0.3, 0.5, 0.75, 1.0)), band))
        return tuple(found.values())

    stages, peeks = [], []
    for stage in timeline.stages:
        if stage.index % ask_every:
            continue
        active = [probe for probe in timeline.probes if probe.active(stage.seq)]
        asked = [
            Asked(probe.id, hits(probe.key))
            for i, probe in enumerate(active)
            if i == 0 or rng.random() < 0.97
        ]
        echoes = [fact for fact in facts if rng.random() < rate["echo"] / 2]
        asked += [Asked(f"~{fact.id}", hits(fact.key)) for fact in echoes]
        rng.shuffle(asked)
        refused = {probe.id: "cannot" for probe in active if probe.mode != "current" and rng.random() < 0.1}
        stages.append(StageSeen(seq=stage.seq, asked=tuple(asked), unsupported=refused))
        causes = {fact.id: rng.choice(get_args(PeekCause)) for fact in facts if rng.random() < 0.5}
        if causes:
            peeks.append(PeekSeen(seq=stage.seq, facts=causes))
    head = Head(timeline=TimelineId(id="random"), k=k, forget_within=rng.randint(1, 4))
    return Observations(head=head, stages=tuple(stages), peeks=tuple(peeks))
