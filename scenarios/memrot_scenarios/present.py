"""What is true in a world while it is being written: METRICS.md §1, an event at a time.

A script must not confirm what has ended, nor ask for ever about what is gone. This keeps the present
incrementally, for worlds in which nobody ends a fact that has not begun; the binding truth is
``memrot.truth``, and a test compares the two at the end of every scenario.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator

from memrot.model import NEVER, Cause, Fact, Instant, Key


class Present:
    """Facts that are true now, by key, in the order in which they began."""

    def __init__(self, exclusive: Collection[str]) -> None:
        self.exclusive = exclusive
        self.facts: dict[str, Fact] = {}
        self.ended: dict[str, tuple[int, Cause]] = {}
        """Fact id -> sequence number of the event that ended it, and how."""
        self._true: dict[Key, list[Fact]] = {}
        self._holders: dict[tuple[str, str], dict[str, None]] = {}
        self._dependants: dict[str, list[str]] = {}
        self._begins: list[tuple[Instant, int, str, str | None]] = []
        self._elapses: list[tuple[Instant, int, str]] = []

    def of_key(self, subject: str, predicate: str) -> list[Fact]:
        return self._true.get((subject, predicate), [])

    def holds(self, fact: Fact) -> bool:
        return fact in self.of_key(*fact.key)

    def all(self) -> Iterator[Fact]:
        """Every true fact, in the order of keys."""
        for facts in self._true.values():
            yield from facts

    def introduce(self, fact: Fact, previous: Fact | None, seq: int, at: Instant) -> None:
        """Take in a new fact; one whose ``valid_from`` is still to come waits for ``pass_to``."""
        self.facts[fact.id] = fact
        for support in fact.depends_on:
            self._dependants.setdefault(support, []).append(fact.id)
        if fact.valid_to < NEVER:
            heapq.heappush(self._elapses, (fact.valid_to, len(self.facts), fact.id))
        if fact.valid_from > at:
            waiting = (fact.valid_from, len(self.facts), fact.id, previous.id if previous else None)
            heapq.heappush(self._begins, waiting)
        else:
            self._begin(fact, previous, seq)

    def pass_to(self, at: Instant, seq: int) -> None:
        """Let what is due at ``at`` elapse and begin."""
        while self._elapses and self._elapses[0][0] <= at:
            self.end(self.facts[heapq.heappop(self._elapses)[2]], seq, "elapsed")
        while self._begins and self._begins[0][0] <= at:
            _, _, fact, previous = heapq.heappop(self._begins)
            self._begin(self.facts[fact], self.facts[previous] if previous else None, seq)

    def end(self, fact: Fact, seq: int, cause: Cause) -> None:
        """End a fact and all that stood on it; ended facts stay as they are."""
        falling: list[tuple[Fact, Cause]] = [(fact, cause)]
        while falling:
            fact, cause = falling.pop()
            if fact.id in self.ended:
                continue
            self.ended[fact.id] = (seq, cause)
            if self.holds(fact):
                self._true[fact.key].remove(fact)
                self._holders.get((fact.predicate, fact.value), {}).pop(fact.id, None)
            dependants = [self.facts[name] for name in self._dependants.get(fact.id, ())]
            falling += [(dependant, "cascaded") for dependant in dependants if self._unsupported(dependant)]

    def _unsupported(self, fact: Fact) -> bool:
        ended = [support in self.ended for support in fact.depends_on]
        return bool(ended) and (all(ended) if fact.support == "any" else any(ended))

    def _begin(self, fact: Fact, previous: Fact | None, seq: int) -> None:
        if fact.id in self.ended:
            return
        if self._unsupported(fact):
            self.end(fact, seq, "cascaded")
            return
        if previous is not None:
            self.end(previous, seq, "superseded")
        rivals: list[Fact] = []
        if fact.cardinality == "one":
            rivals += [other for other in self.of_key(*fact.key) if other.value != fact.value]
        if fact.predicate in self.exclusive:
            holders = self._holders.setdefault((fact.predicate, fact.value), {})
            rivals += [self.facts[name] for name in holders if self.facts[name].subject != fact.subject]
        if any(other.valid_from > fact.valid_from for other in rivals):
            self.end(fact, seq, "contradicted")
            return
        self._true.setdefault(fact.key, []).append(fact)
        if fact.predicate in self.exclusive:
            holders[fact.id] = None
        for other in rivals:
            self.end(other, seq, "contradicted")
