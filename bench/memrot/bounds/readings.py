"""The edge guard: every span that a moment may mean, and the one that is meant, or none.

A library reads plain phrases; here its readings are checked against the phrase (a 31 February that
came back as another day is refused), completed where the library sees one of several (the year, the
week), and put into half-open spans, so that an inclusive end becomes an exclusive instant. Times are
local, without a zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from typing import TypeAlias

from msgspec import Struct

from memrot.bounds.grammar import Moment
from memrot.bounds.libraries import Library
from memrot.bounds.unsure import Unsure

_DAY = timedelta(days=1)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_PARTS = {"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24)}
"""Hours: a convention, since no library agrees with another; a night ends with its day."""
_NEAR = timedelta(days=366)
"""A date without a year is the last or the next of its kind, never one further away."""


class Span(Struct, frozen=True, order=True):
    """From ``start`` to before ``end``; equal for an instant."""

    start: datetime
    end: datetime
    whole: bool = True
    """Whether it is a day or shorter, or an edge: "until" such a span leaves nothing open."""

    @classmethod
    def day(cls, day: date) -> Span:
        start = datetime.combine(day, time())
        return cls(start, start + _DAY)


Fits: TypeAlias = Callable[[Span], bool]


def spans(moment: Moment, now: datetime, library: Library) -> list[Span]:
    """What a moment may mean, in order; several only where something is left open, such as the year.
    Raises Unsure where it means nothing, or more than the present can decide."""
    days = _days(moment.day, now, library) if moment.day else _around(now)
    if moment.edge:
        edges = [span.end if moment.edge == "end" else span.start for span in days]
        return sorted(Span(edge, edge) for edge in edges)
    if moment.clock:
        return sorted(_at(span, moment, library) for span in days)
    if moment.part:
        first, last = (timedelta(hours=hour) for hour in _PARTS[moment.part])
        return sorted(Span(span.start + first, span.start + last) for span in days)
    return sorted(set(days), key=lambda span: span.start)


def earliest(found: Iterable[Span], fits: Fits) -> Span:
    return _first(sorted(found), fits)


def latest(found: Iterable[Span], fits: Fits) -> Span:
    return _first(sorted(found, reverse=True), fits)


def _first(found: Iterable[Span], fits: Fits) -> Span:
    found = list(found)
    fitting = [span for span in found if fits(span)]
    # what has one meaning has it whatever the tense says
    chosen = fitting[0] if fitting else found[0] if len(found) == 1 else None
    if chosen is None:
        raise Unsure("unresolvable")
    return chosen


def lasting(length: str, begin: datetime, library: Library, *, back: bool = False) -> datetime:
    """The moment that lies a length ("two weeks") after another, or before it; raises Unsure."""
    count, _, unit = length.lower().partition(" ")
    number = {"a": "1", "an": "1", "one": "1"}.get(count, count)
    if unit.startswith("fortnight"):
        if number != "1":
            raise Unsure("unresolvable")
        number, unit = "2", "weeks"
    phrase = f"{number} {unit.replace('night', 'day')}"
    moment = library.read(f"{phrase} ago" if back else f"in {phrase}", begin)
    if moment is None or (moment >= begin) == back:
        raise Unsure("unresolvable")
    return moment


def _around(now: datetime) -> list[Span]:
    return [Span.day(now.date() + shift * _DAY) for shift in (-1, 0, 1)]


def _at(span: Span, moment: Moment, library: Library) -> Span:
    if span.end - span.start != _DAY:
        raise Unsure("unresolvable")
    if moment.clock == "midnight":
        # the end of a day that is not named by its date; of a date either end may be meant
        if moment.day not in {"", "today", "tonight"}:
            raise Unsure("ambiguous")
        return Span(span.end, span.end)
    phrase = {"noon": "12:00"}.get(moment.clock, moment.clock.replace(".", ":"))
    read = library.read(phrase, span.start)
    if read is None:
        raise Unsure("unresolvable")
    clock = datetime.combine(span.start.date(), read.time())
    return Span(clock, clock)


def _days(day: str, now: datetime, library: Library) -> list[Span]:
    for pattern, read in _KINDS:
        if (match := pattern.fullmatch(day)) is not None:
            return read(match, now, library)
    found = library.read(day, now)
    if found is None:
        raise Unsure("unresolvable")
    return [Span.day(found.date())]


def _length_ahead(match: re.Match[str], now: datetime, library: Library) -> list[Span]:
    end = lasting(match[1], now, library)
    return [Span(end, end)]


def _quarters(match: re.Match[str], now: datetime, _: Library) -> list[Span]:
    years = [int(match[2])] if match[2] else [now.year - 1, now.year, now.year + 1]
    return [_months(year, 3 * int(match[1]) - 2, 3) for year in years]


def _numbered(match: re.Match[str], now: datetime, library: Library) -> list[Span]:
    """A date in numbers: as ISO has it, with dots the day first, with slashes either way."""
    text = match[0]
    if match[2]:
        day, month = int(match[2]), int(match[4])
        if match[3] == "/" and day != month and day <= 12 and month <= 12:
            raise Unsure("ambiguous")
        if match[3] == "/" and month > 12:
            day, month = month, day
        text = f"{match[5]}-{month:02}-{day:02}"
    read = library.read(text, now)
    if read is None or read.date().isoformat() != text:
        raise Unsure("unresolvable")
    return [Span.day(read.date())]


def _months(year: int, month: int, count: int) -> Span:
    after = year * 12 + month - 1 + count
    first, last = date(year, month, 1), date(after // 12, after % 12 + 1, 1)
    return Span(datetime.combine(first, time()), datetime.combine(last, time()), whole=False)


def _unit(match: re.Match[str], now: datetime, _: Library) -> list[Span]:
    """The week (from Monday), month, quarter or year of now, or the one after or before it."""
    unit, shift = match[2], {"next": 1, "last": -1}.get(match[1] or "", 0)
    if unit.startswith("week"):
        monday = datetime.combine(now.date(), time()) + (7 * shift - now.weekday()) * _DAY
        first = monday + 5 * _DAY if unit == "weekend" else monday
        return [Span(first, monday + 7 * _DAY, whole=False)]
    count = {"month": 1, "quarter": 3, "year": 12}[unit]
    months = now.year * 12 + (now.month - 1) // count * count + count * shift
    return [_months(months // 12, months % 12 + 1, count)]


def _named(named: re.Match[str], now: datetime, library: Library) -> list[Span]:
    """A day of a month, or a whole month; without a year the last and the next such."""
    number, month, year = named[1] or named[3], named[2], named[4]
    read = library.read(f"{number or 1} {month} {year or ''}".strip(), now)
    if read is None or read.month != _MONTHS.index(month) + 1 or read.day != int(number or 1):
        raise Unsure("unresolvable")
    years = [read.year] if year else [now.year - 1, now.year, now.year + 1]
    found = []
    for each in years:
        if number is None:
            found.append(_months(each, read.month, 1))
        elif (day := _date(each, read.month, read.day)) is not None:
            found.append(Span.day(day))
    near = [span for span in found if year or abs(span.start - now) <= _NEAR]
    if not near:
        raise Unsure("unresolvable")
    return near


def _nth(match: re.Match[str], now: datetime, library: Library) -> list[Span]:
    """A day of an unnamed month: of the last, this, or the next one that has it."""
    number, found = int(match[1]), []
    for shift in (-1, 0, 1):
        month = (now.month - 1 + shift) % 12
        year = now.year + (now.month - 1 + shift) // 12
        read = library.read(f"{number} {_MONTHS[month]} {year}", now)
        if read is not None and (read.day, read.month) == (number, month + 1):
            found.append(Span.day(read.date()))
    if not found:
        raise Unsure("unresolvable")
    return found


def _weekday(match: re.Match[str], now: datetime, library: Library) -> list[Span]:
    """A weekday, with the date that it must fall on where one is named. Without, it is the one before
    or after today; "next" and "last" are told only where no two days may be meant."""
    which, name, dated = match.groups()
    read = library.read(name, now)
    if read is None or not name.startswith(_WEEKDAYS[read.weekday()]):
        raise Unsure("unresolvable")
    if dated:
        fitting = [span for span in _days(dated, now, library) if span.start.weekday() == read.weekday()]
        if not fitting:
            raise Unsure("ambiguous")
        return fitting
    today = now.date()
    ahead = today + ((read.weekday() - today.weekday() - 1) % 7 + 1) * _DAY
    behind = today - ((today.weekday() - read.weekday() - 1) % 7 + 1) * _DAY
    of_week = today + (read.weekday() - today.weekday()) * _DAY
    readings = {
        "next": {ahead, of_week + 7 * _DAY},
        "last": {behind, of_week - 7 * _DAY},
        "this": {of_week},
        "coming": {ahead},
    }.get(which or "")
    if readings is None:
        if of_week == today:  # today, or a week from now
            raise Unsure("ambiguous")
        return [Span.day(behind), Span.day(ahead)]
    if len(readings) > 1:
        raise Unsure("ambiguous")
    return [Span.day(day) for day in readings]


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_KINDS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime, Library], list[Span]]], ...] = (
    (re.compile(r"now"), lambda _match, now, _library: [Span(now, now)]),
    (re.compile(r"in (.+)"), _length_ahead),
    (
        re.compile(r"(?:the )?(?:(this|next|last|current) )?(weekend|week|month|quarter|year)"),
        _unit,
    ),
    (re.compile(r"q([1-4])(?: (\d{4}))?"), _quarters),
    (re.compile(r"\d{4}"), lambda match, _now, _library: [_months(int(match[0]), 1, 12)]),
    (
        re.compile(r"(?:(this|next|last|coming) )?((?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:,? (.+))?"),
        _weekday,
    ),
    (re.compile(r"the (\d{1,2})(?:st|nd|rd|th)?"), _nth),
    (
        re.compile(
            rf"(?:the )?(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?({'|'.join(_MONTHS)})[a-z]*\.?"
            r"(?: (\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:,? (\d{4}))?"
        ),
        _named,
    ),
    (re.compile(r"(\d{4}-\d\d-\d\d)|(\d{1,2})([/.])(\d{1,2})[/.](\d{4})"), _numbered),
)
"""How each kind of phrase is read; what is of none ("tomorrow") is the library's alone."""
