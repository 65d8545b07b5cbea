"""An area of a world: a few services or people, and what a story can do to them.

Facts are *tended* or neglected: tended ones are confirmed every so often while they are true,
neglected ones never, as in life. Which is drawn when a fact is told, unless a story says so.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from memrot.model import (
    DAY,
    NEVER,
    Cause,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Instant,
    Key,
    Mode,
    Probe,
    Reason,
    Support,
    Tests,
    TimePassed,
    is_announced,
)
from memrot_scenarios.present import Present
from memrot_scenarios.setting import Cast, World

HOUR: int = DAY // 24

_TENDED = 0.65
"""Share of facts that somebody looks after."""
_CHECK = (0.3, 0.9)
"""When a tended fact is confirmed, in windows of its domain since it was last seen to be true."""
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_ABSENCE: frozenset[Tests] = frozenset(
    {"abstention", "forgetting", "cascade", "contradiction", "erasure", "unannounced", "stated_end"}
)
"""What a probe may go on testing after the last fact of its key has ended."""
_AFTER: dict[Cause, Tests] = {"elapsed": "stated_end", "cascaded": "cascade", "contradicted": "contradiction"}
"""What a question about a dead key tests from then on, by how the key died."""


class Log(Struct):
    """What all areas of a world write to."""

    at: Instant
    events: list[ChangeEvent] = []
    facts: int = 0
    sessions: int = 0

    @property
    def seq(self) -> int:
        """Of the next event."""
        return len(self.events) + 1


class Area:
    """Services, teams or people, what is true of them, and the questions about it.

    ``horizon``: days that the area's stories have. ``small``: a smoke-sized area. ``examined``:
    whether questions are asked about it.
    """

    def __init__(
        self,
        log: Log,
        rng: Random,
        *,
        world: World,
        cast: Cast,
        horizon: int,
        small: bool,
        examined: bool,
        exclusive: Sequence[str],
    ) -> None:
        self.log = log
        self.rng = rng
        self.world = world
        self.services = cast.services
        self.teams = cast.teams
        self.people = cast.people
        self.horizon = horizon
        self.small = small
        self.examined = examined
        self.present = Present(exclusive)
        self.probes: list[Probe] = []
        self._told: set[str] = set()
        self._used: dict[Key, list[str]] = {}
        """Key -> the values it had, the latest last."""
        self._texts: dict[tuple[str, str, str], str] = {}
        self._due: list[tuple[Instant, int, Fact]] = []

    # --- changes ------------------------------------------------------------------------------

    def add(
        self,
        subject: str,
        predicate: str,
        value: str | None = None,
        *,
        on: Iterable[Fact] = (),
        support: Support = "all",
        announced: bool = True,
        lasts: int | None = None,
        backdated: int = 0,
        confidence: float = 1.0,
        tended: bool | None = None,
        session: str | None = None,
    ) -> Fact:
        """Something becomes true, for ``lasts`` days where its end is stated; ``backdated`` days
        ago, where it is only now written down. Without a value: one that the key never had.
        ``session``: the conversation in which it is said."""
        shift = -backdated
        fact = self._fact(
            subject, predicate, value, on, support,
            lasts=lasts, shift=shift, confidence=confidence, session=session,
        )  # fmt: skip
        self.log.events.append(FactAdded(seq=self.log.seq, at=self.log.at, fact=fact, announced=announced))
        self._introduced(fact, None, announced, tended)
        return fact

    def revise(
        self,
        old: Fact,
        value: str | None = None,
        *,
        announced: bool = True,
        starts_in: int = 0,
        lasts: int | None = None,
        tended: bool | None = None,
        session: str | None = None,
    ) -> Fact:
        """A fact gives way to another of its key, ``starts_in`` days from now."""
        fact = self._fact(
            old.subject, old.predicate, value, (), "all",
            lasts=lasts, shift=starts_in, confidence=1.0, session=session,
        )  # fmt: skip
        self.log.events.append(
            FactRevised(seq=self.log.seq, at=self.log.at, previous=old.id, current=fact, announced=announced)
        )
        self._introduced(fact, old, announced, tended)
        return fact

    def drop(self, fact: Fact, reason: Reason, *, announced: bool = True) -> None:
        """A fact ends with nothing in its place; all that stood on it falls."""
        self.log.events.append(
            FactInvalidated(
                seq=self.log.seq, at=self.log.at, fact=fact.id, reason=reason, announced=announced
            )
        )
        self.present.end(fact, len(self.log.events), "invalidated")

    def mention(self, fact: Fact) -> None:
        """Somebody speaks of a fact, true or not, without having looked."""
        self.log.events.append(FactMentioned(seq=self.log.seq, at=self.log.at, fact=fact.id))

    def tend(self) -> bool:
        """Confirm the tended facts that are due and still true; whether there were any."""
        before = self.log.seq
        while self._due and self._due[0][0] <= self.log.at:
            fact = heapq.heappop(self._due)[2]
            if self.present.holds(fact):
                self.log.events.append(FactConfirmed(seq=self.log.seq, at=self.log.at, fact=fact.id))
                self._plan_check(fact)
        return self.log.seq > before

    # --- what is true -------------------------------------------------------------------------

    def now(self, subject: str, predicate: str) -> Fact | None:
        """The newest true fact of a key."""
        facts = self.present.of_key(subject, predicate)
        return facts[-1] if facts else None

    def told_now(self) -> list[Fact]:
        """Every true fact that the memory was told."""
        return [fact for fact in self.present.all() if fact.id in self._told]

    def death(self, key: Key) -> tuple[int, Tests]:
        """Of a key that nothing is true of any more: the seq with which its last fact ended, and what a
        question about it tests from then on."""
        ends = [self.present.ended[fact.id] for fact in self.present.facts.values() if fact.key == key]
        seq, cause = max(ends)
        if cause in _AFTER:
            return seq, _AFTER[cause]
        return seq, "forgetting" if is_announced(self.log.events[seq - 1]) else "unannounced"

    # --- questions ----------------------------------------------------------------------------

    def new_session(self) -> str:
        """The name of a conversation that begins now, for what is said and asked in it."""
        self.log.sessions += 1
        return f"s{self.log.sessions}"

    def ask(
        self,
        subject: str,
        predicate: str,
        tests: Tests,
        *,
        mode: Mode = "current",
        as_of: Instant | None = None,
        session: str | None = None,
    ) -> None:
        """Ask about a key from the last event on; ``as_of`` with the mode of that name. With a
        ``session``, only now, in that conversation; what was asked before may be asked again."""
        if not self.examined:
            return
        if session is not None and (not self.log.events or self.log.events[-1].at != self.log.at):
            self.log.events.append(TimePassed(seq=self.log.seq, at=self.log.at))
        known = self.world.predicates[predicate]
        asked = [probe.question for probe in self.probes if session is None and probe.session is None]
        templates = (known.past,) if mode == "history" else known.questions
        fresh = [text for template in templates if (text := template.format(s=subject)) not in asked]
        question = self.rng.choice(fresh)
        if as_of is not None:
            question = f"As of {_day(as_of)}: {question}"
        self.probes.append(
            Probe(
                id=f"p{len(self.probes) + 1:02}",
                question=question,
                subject=subject,
                predicate=predicate,
                tests=tests,
                mode=mode,
                as_of=as_of,
                since=len(self.log.events),
                session=session,
            )
        )

    def retire(self, key: Key) -> None:
        """Nobody asks what is so of a key any more, from the last event on."""
        for n in self._asked_now(key):
            self.probes[n] = replace(self.probes[n], until=len(self.log.events))

    def ask_anew(self, key: Key, tests: Tests) -> None:
        """From the last event on, ask what is so of a key in other words: a new version, which tests
        something else."""
        asked = [self.probes[n] for n in self._asked_now(key)]
        self.retire(key)
        self.probes += [
            self._successor(probe, tests, len(self.log.events), self._reworded(probe)) for probe in asked
        ]

    def finished_probes(self) -> list[Probe]:
        """The probes; one whose key died has a second version, which tests that nothing is said."""
        return [version for probe in self.probes for version in self._versions(probe)]

    # --- within -------------------------------------------------------------------------------

    def _fact(
        self, subject: str, predicate: str, value: str | None, on: Iterable[Fact], support: Support,
        *, lasts: int | None, shift: int, confidence: float, session: str | None,
    ) -> Fact:  # fmt: skip
        known = self.world.predicates[predicate]
        value = value or self._unused(subject, predicate)
        used = self._used.setdefault((subject, predicate), [])
        if value in used:
            used.remove(value)
        used.append(value)
        self.log.facts += 1
        begins = self.log.at + shift * DAY
        ends = NEVER if lasts is None else begins + lasts * DAY
        dated = known.dated if lasts is not None else ()
        if dated:  # the last day that a sentence names is a whole one
            ends += -ends % DAY
        return Fact(
            id=f"f{self.log.facts}",
            subject=subject,
            predicate=predicate,
            value=value,
            domain=known.domain,
            text=self._dated(dated, subject, value, ends) if dated else self._text(subject, predicate, value),
            cardinality="many" if known.many else "one",
            depends_on=tuple(fact.id for fact in on),
            support=support,
            confidence=confidence,
            observed_at=min(begins, self.log.at),
            valid_from=begins,
            valid_to=ends,
            fact_class=self.world.classes.get(known.domain),
            session=session,
        )

    def _unused(self, subject: str, predicate: str) -> str:
        """A value that the key never had; failing that, the one it had longest ago."""
        teams = tuple(f"team {team}" for team in self.teams)
        known = self.world.predicates[predicate].values or self.services or self.people
        pool = [value for value in (teams if predicate == "owner" else known) if value != subject]
        used = self._used.get((subject, predicate), [])
        fresh = [value for value in pool if value not in used]
        return self.rng.choice(fresh) if fresh else next(value for value in used if value in pool)

    def _text(self, subject: str, predicate: str, value: str) -> str:
        """The same words for the same statement: to say it again is to say it identically."""
        statement = (subject, predicate, value)
        if statement not in self._texts:
            text = self.rng.choice(self.world.predicates[predicate].texts)
            filled = text.format(s=subject, v=value)
            self._texts[statement] = filled[0].upper() + filled[1:] if text.startswith("{v}") else filled
        return self._texts[statement]

    def _dated(self, texts: Sequence[str], subject: str, value: str, ends: Instant) -> str:
        """A sentence that states the last day on which it holds."""
        return self.rng.choice(texts).format(s=subject, v=value, e=spoken_day(ends - DAY))

    def _introduced(self, fact: Fact, previous: Fact | None, announced: bool, tended: bool | None) -> None:
        self.present.introduce(fact, previous, len(self.log.events), self.log.at)
        if announced:
            self._told.add(fact.id)
            if self.rng.random() < _TENDED if tended is None else tended:
                self._plan_check(fact)

    def _plan_check(self, fact: Fact) -> None:
        window = self.world.domains[fact.domain].window_days
        if window is None:
            return
        least, most = _CHECK
        hours = round(window * 24 * (least + (most - least) * self.rng.random()))
        heapq.heappush(self._due, (max(self.log.at, fact.valid_from) + hours * HOUR, self.log.seq, fact))

    def _asked_now(self, key: Key) -> list[int]:
        """Places of the open questions about what is so of a key."""
        return [
            n
            for n, probe in enumerate(self.probes)
            if probe.key == key and probe.mode == "current" and probe.until is None
        ]

    def _reworded(self, probe: Probe) -> str:
        questions = [
            text.format(s=probe.subject) for text in self.world.predicates[probe.predicate].questions
        ]
        return next((text for text in questions if text != probe.question), probe.question)

    def _successor(self, probe: Probe, tests: Tests, since: int, question: str) -> Probe:
        revision = probe.revision + 1
        name = f"{probe.id.partition('.')[0]}.{revision}"
        return replace(probe, id=name, tests=tests, since=since, question=question, revision=revision)

    def _versions(self, probe: Probe) -> list[Probe]:
        if probe.session is not None:
            return [replace(probe, until=self._next_stage(probe.since))]
        if probe.until is not None or probe.tests in _ABSENCE or self.present.of_key(*probe.key):
            return [probe]
        seq, tests = self.death(probe.key)
        if probe.mode != "current" and seq <= probe.since:  # the past of what was over
            return [probe]
        versions = [replace(probe, until=seq)]
        if probe.mode == "current":
            versions.append(self._successor(probe, tests, seq, probe.question))
        return versions

    def _next_stage(self, seq: int) -> int | None:
        """The first event after the instant of the event ``seq``."""
        at = self.log.events[seq - 1].at
        return next((event.seq for event in self.log.events[seq:] if event.at > at), None)


def spoken_day(at: Instant) -> str:
    day = datetime.fromtimestamp(at / 1000, UTC)
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _day(at: Instant) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
