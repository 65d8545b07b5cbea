"""What a policy keeps, counted apart from what is true: rows, vectors and bytes.

Storage is not truth. A full disk is answered by tiering (cheaper places for what is seldom read),
never by a shorter lifetime.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from memrot.memory import Record
from memrot.model import DAY, introduces, is_announced
from memrot.timeline import Timeline

YEAR_DAYS = 365
MILLION = 1_000_000


class Cost(Struct, frozen=True, kw_only=True):
    """Of one store, or of several together."""

    told: int
    """Facts that it was told."""
    rows: int
    vectors: int
    bytes: int
    """Text, vector and fields, as plainly encoded as possible; no index."""
    told_lately: int
    rows_lately: int
    bytes_lately: int
    """Of facts told within the last year."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(**{name: getattr(self, name) + getattr(other, name) for name in Cost.__struct_fields__})

    def projected(self) -> tuple[int, int] | None:
        """Rows and bytes that are left at a year's end of a million facts told in its course; None
        where none was told."""
        if not self.told_lately:
            return None
        scale = MILLION / self.told_lately
        return round(self.rows_lately * scale), round(self.bytes_lately * scale)


def cost_of(records: Iterable[Record], timeline: Timeline) -> Cost:
    """Of what a store holds at a timeline's end."""
    told = {
        fact.id: event.at
        for event in timeline.events
        if is_announced(event) and (fact := introduces(event)) is not None
    }
    lately = timeline.events[-1].at - YEAR_DAYS * DAY if timeline.events else 0
    rows = vectors = total = rows_lately = bytes_lately = 0
    for record in records:
        size = len(record.text.encode()) + record.vector.nbytes + len(msgspec.json.encode(record.fields))
        rows += 1
        vectors += record.vector.size > 0
        total += size
        if told[record.id] > lately:
            rows_lately += 1
            bytes_lately += size
    return Cost(
        told=len(told),
        rows=rows,
        vectors=vectors,
        bytes=total,
        told_lately=sum(at > lately for at in told.values()),
        rows_lately=rows_lately,
        bytes_lately=bytes_lately,
    )
