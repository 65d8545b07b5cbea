"""Temporal bounds: from when to when a sentence says that it holds (METRICS.md §12).

``extract`` never guesses. What a sentence states it gives as instants (an inclusive end becomes the
exclusive instant after it); what cannot be told for certain it flags. "Until" a day includes the day,
"not until" a day excludes it: the sentence is over when the day begins. A date library reads the
phrases (``libraries.py``); which one, and how well, stands in docs/bounds.md.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from memrot.bounds.grammar import Moment, Stated, stated
from memrot.bounds.libraries import CHOSEN, Library, library
from memrot.bounds.readings import Span, earliest, lasting, latest, spans
from memrot.bounds.unsure import Flag, Unsure
from memrot.bounds.zones import instant, local, zone_of
from memrot.errors import BadInput
from memrot.model import NEVER, Fact, Instant

__all__ = ["Bounds", "Flag", "extract", "filled", "named_zone"]

_HALF_A_YEAR = timedelta(days=183)
"""An end that comes before its start rolls over into the next year only within this."""


class Bounds(Struct, frozen=True):
    """None: not stated. ``flag``: something is stated, and cannot be told; both are then None."""

    valid_from: Instant | None = None
    valid_to: Instant | None = None
    """Exclusive."""
    flag: Flag | None = None


def named_zone(name: str) -> tzinfo:
    """The zone of a person who writes; raises BadInput."""
    try:
        return zone_of(name)
    except Unsure as error:
        raise BadInput(f"zone {name!r}: {error.flag}: expected a name such as Europe/Lisbon or UTC") from None


def extract(sentence: str, at: Instant, zone: tzinfo, reader: Library | None = None) -> Bounds:
    """The bounds of a sentence written at an instant in a zone."""
    try:
        found = stated(sentence)
        return Bounds() if found is None else _Told(found, at, zone, reader or library(CHOSEN)).bounds()
    except Unsure as error:
        return Bounds(flag=error.flag)


def filled(fact: Fact, at: Instant, zone: tzinfo) -> Fact:
    """A fact with the end that its text states, where it carries none and the text is clear."""
    found = extract(fact.text, at, zone)
    if fact.valid_to != NEVER or found.valid_to is None or found.valid_to <= fact.valid_from:
        return fact
    return replace(fact, valid_to=found.valid_to)


class _Told:
    """What was stated, in the light of when and where."""

    def __init__(self, said: Stated, at: Instant, zone: tzinfo, reader: Library) -> None:
        self.said = said
        named = {moment.zone for moment in (said.start, said.end) if moment is not None and moment.zone}
        if len(named) > 1:
            raise Unsure("ambiguous")
        self.at = at
        self.zone = zone_of(named.pop()) if named else zone
        self.reader = reader
        self.now = local(at, self.zone)

    def bounds(self) -> Bounds:
        said = self.said
        start = None if said.start is None else (said.start, spans(said.start, self.now, self.reader))
        end = None if said.end is None else (said.end, spans(said.end, self.now, self.reader))
        if said.length:
            return self._lasting(None if start is None else self._start(start[1]).start)
        last = None if end is None else self._end(end[1])
        first = None
        if start is not None:
            first = self._start(start[1]) if last is None else self._start_before(start[1], last)
        valid_from = valid_to = None
        if start is not None and first is not None:
            valid_from = self._instant(first.end if said.after else first.start, start[0])
        if end is not None and last is not None:
            if said.includes_end and not (last.whole or said.through):
                raise Unsure("ambiguous")
            valid_to = self._instant(last.end if said.includes_end else last.start, end[0])
            least = self.at if valid_from is None and not said.past else valid_from
            if least is not None and valid_to <= least:
                raise Unsure("end before start")
        return Bounds(valid_from, valid_to)

    def _end(self, found: list[Span]) -> Span:
        if self.said.past:
            return latest(found, lambda span: span.end <= self.now)
        if self.said.includes_end:
            return earliest(found, lambda span: span.end > self.now)
        return earliest(found, lambda span: span.start > self.now)

    def _start(self, found: list[Span]) -> Span:
        if self.said.past or self.said.since:
            return latest(found, lambda span: span.start <= self.now)
        return earliest(found, lambda span: span.start.date() >= self.now.date())

    def _start_before(self, found: list[Span], end: Span) -> Span:
        """The last start that the end allows; a range of weekdays that is under way may be the next."""
        fitting = [span for span in found if span.start < max(end.end, end.start + timedelta(milliseconds=1))]
        if not fitting or (len(found) > 1 and end.end - max(fitting).start > _HALF_A_YEAR):
            raise Unsure("end before start")
        chosen = max(fitting)
        weekday = self.said.start is not None and self.said.start.day.endswith("day") and len(found) > 1
        if weekday and not self.said.past and chosen.start.date() < self.now.date():
            raise Unsure("ambiguous")
        return chosen

    def _lasting(self, begin: datetime | None) -> Bounds:
        """A length from a start or from the message, or back from it. Days and longer go by the
        calendar, hours and minutes pass, whatever the clocks do."""
        said, passing = self.said, re.search(r"hour|minute", self.said.length) is not None
        if said.back:
            return Bounds(valid_from=self._back(passing))
        valid_from = None if begin is None else instant(begin, self.zone, stated=False)
        if passing:
            after = lasting(
                said.length, local(self.at if valid_from is None else valid_from, UTC), self.reader
            )
            return Bounds(valid_from, instant(after, UTC, stated=False))
        after = lasting(said.length, self.now if begin is None else begin, self.reader)
        return Bounds(valid_from, instant(after, self.zone, stated=begin is None))

    def _back(self, passing: bool) -> Instant:
        zone = UTC if passing else self.zone
        return instant(
            lasting(self.said.length, local(self.at, zone), self.reader, back=True), zone, stated=False
        )

    def _instant(self, wall: datetime, moment: Moment) -> Instant:
        return instant(wall, self.zone, stated=bool(moment.clock) and moment.clock != "midnight")
