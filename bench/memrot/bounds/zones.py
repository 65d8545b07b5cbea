"""Zones as sentences name them, and the instants of local times.

A name that several zones share (CST) is ambiguous, one that no database has is unknown: both are
refused rather than guessed. So is a stated clock time that a change of clocks skips or repeats.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from memrot import model
from memrot.bounds.unsure import Unsure
from memrot.model import Instant

ZONE = (
    r"(?: ?\b(?:utc|gmt)[+-]\d{1,2}(?::\d\d)?| [a-z]{2,}/[a-z_]{2,}(?:/[a-z_]+)?"
    r"| (?:eastern|central|mountain|pacific) time\b| (?-i:[A-Z]{3,4})\b|Z\b)"
)
"""What may name a zone after a clock time; for patterns that ignore case."""

_SPOKEN = {
    "eastern time": "America/New_York",
    "central time": "America/Chicago",
    "mountain time": "America/Denver",
    "pacific time": "America/Los_Angeles",
}
_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "EST": -5, "EDT": -4, "CDT": -5, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9, "AEST": 10, "NZST": 12,
}  # fmt: skip
_SHARED = frozenset({"CST", "IST", "BST", "AST", "MST", "SST", "AMT", "GST"})
_OFFSET = re.compile(r"(?:utc|gmt)([+-]\d{1,2})(?::(\d\d))?", re.IGNORECASE)


def zone_of(name: str) -> tzinfo:
    """A zone from its name in a sentence or in the time-zone database; raises Unsure."""
    name = name.strip()
    if (offset := _OFFSET.fullmatch(name)) is not None:
        hours, minutes = int(offset[1]), int(offset[2] or 0)
        if abs(hours) > 14 or minutes > 59:
            raise Unsure("unknown zone")
        return timezone(timedelta(hours=hours, minutes=minutes if hours >= 0 else -minutes))
    if name in _HOURS:
        return timezone(timedelta(hours=_HOURS[name]))
    if name in _SHARED:
        raise Unsure("ambiguous")
    try:
        return ZoneInfo(_SPOKEN.get(name.lower(), name))
    except (KeyError, ValueError, OSError):
        raise Unsure("unknown zone") from None


def local(at: Instant, zone: tzinfo) -> datetime:
    """The clock on the wall of a zone, without the zone."""
    return model.moment(at).astimezone(zone).replace(tzinfo=None)


def instant(wall: datetime, zone: tzinfo, *, stated: bool) -> Instant:
    """Of a local time. ``stated``: somebody named this clock time, so that it must exist, and once;
    a day, on the other hand, begins when it begins."""
    first, second = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if stated and first.utcoffset() != second.utcoffset():
        exists = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == wall
        raise Unsure("ambiguous" if exists else "no such time")
    return model.instant(first)
