"""What a sentence says of time, before anything is resolved: which phrase bounds it, and how.

Only words that *state* a bound count ("until", "through", "from ... to", "for two weeks"): "I moved on
5 May" bounds nothing. A number is a time only where the words around it say so. What a phrase means
as a date is left to ``readings.py`` and its library.
"""

from __future__ import annotations

import re

from msgspec import Struct

from memrot.bounds.unsure import Unsure
from memrot.bounds.zones import ZONE


class Moment(Struct, frozen=True):
    """A phrase taken apart."""

    day: str = ""
    """What names a day or a longer span; empty: nothing does."""
    edge: str = ""
    """``start`` or ``end`` of it."""
    part: str = ""
    """Part of the day."""
    clock: str = ""
    zone: str = ""


class Stated(Struct, frozen=True):
    """The bounds that a sentence states."""

    start: Moment | None = None
    end: Moment | None = None
    length: str = ""
    """How long, in words ("two weeks"), from the start or from the message."""
    back: bool = False
    """Whether the length reaches back from the message."""
    since: bool = False
    """Whether the start lies in the past."""
    after: bool = False
    """Whether the start is only when the moment named is over."""
    includes_end: bool = True
    through: bool = False
    """Whether the last moment of a month or a year is meant where one is named as the end."""
    past: bool = False
    """Whether the sentence speaks of what is over."""


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:(?:this|next|last|coming) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?\b"
_YEAR = r"(?:19|20)\d\d\b"
_PART = r"(?:morning|afternoon|evening|night)\b"
_LENGTH = (
    r"(?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,4}) "
    r"(?:minute|hour|day|night|week|fortnight|month|year)s?)\b"
)
_VAGUE = r"(?:(?:a few|a couple of|some|several|many) (?:hour|day|week|month|year)s|a while|a bit)\b"
_CLOCK = r"(?:\d{1,2}(?:[:.]\d\d)? ?(?:am\b|pm\b|a\.m\.|p\.m\.)|\d{1,2}:\d\d(?!\d)|\bnoon\b|\bmidnight\b)"
_HOUR = rf"(?:{_CLOCK}|\d{{1,2}}\b)"
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b"
    rf"|(?:the )?{_NTH}(?: of)? {_MONTH}(?:,? {_YEAR})?|{_MONTH} {_NTH}(?:,? {_YEAR})?)"
)
_DAY = rf"(?:{_DATE}|(?:today|tonight|tomorrow|yesterday|now)\b|{_WEEKDAY}(?:,? {_DATE})?|the {_NTH})"
_SPAN = (
    rf"(?:q[1-4]\b(?: {_YEAR})?|(?:mid-)?{_MONTH}(?: {_YEAR})?|{_YEAR}"
    rf"|(?:the )?(?:(?:this|next|last|current) )?(?:week(?:end)?|month|quarter|year)\b)"
)
_POINT = (
    rf"(?:\d{{4}}-\d\d-\d\dt{_CLOCK}(?::\d\d)?{ZONE}"
    rf"|(?:the )?(?:end|start|beginning) of (?:the )?(?:{_DAY}|day\b|{_SPAN})|in {_LENGTH}"
    rf"|{_CLOCK}{ZONE}?(?:,? (?:on )?{_DAY})?{ZONE}?"
    rf"|{_DAY}(?: {_PART})?(?:,? (?:at )?{_CLOCK}{ZONE}?)?|{_SPAN})"
)
_TO = r"(?: ?[-\u2013] ?| (?:to|until|till|through|thru) )"
_NO_WORD = r"(?!,? ?\w)"


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_DAYS_OF_A_MONTH = (
    _pattern(rf"\b(?:from )?(?P<a>{_NTH}){_TO}(?P<b>{_NTH})(?: of)? (?P<month>{_MONTH}(?: {_YEAR})?)"),
    _pattern(rf"\bbetween (?P<a>{_NTH}) and (?P<b>{_NTH})(?: of)? (?P<month>{_MONTH}(?: {_YEAR})?)"),
    _pattern(rf"\b(?:from )?(?P<month>{_MONTH}) (?P<a>{_NTH}){_TO}(?P<b>{_NTH}){_NO_WORD}"),
)
_HOURS = rf"(?:from )?(?P<a>{_HOUR}){_TO}(?P<b>{_HOUR})(?P<zone>{ZONE}?)"
_HOURS_AND = rf"between (?P<a>{_HOUR}) and (?P<b>{_HOUR})(?P<zone>{ZONE}?)"
_HOURS_OF_A_DAY = (
    _pattern(rf"\b{_HOURS},? (?:on )?(?P<day>{_DAY})"),
    _pattern(rf"\b{_HOURS_AND},? (?:on )?(?P<day>{_DAY})"),
    _pattern(rf"\b(?P<day>{_DAY}),? {_HOURS}{_NO_WORD}"),
    _pattern(rf"\b(?P<day>{_DAY}),? {_HOURS_AND}{_NO_WORD}"),
)
_RANGES = (
    _pattern(rf"\b(?:from )?(?P<a>{_POINT}){_TO}(?P<b>{_POINT})"),
    _pattern(rf"\bbetween (?P<a>{_POINT}) and (?P<b>{_POINT})"),
)
_END = _pattern(
    rf"\b(?P<how>until|till|through|thru|up to|by|before|no later than|valid to|ending(?: on)?"
    r"|(?:expires|ends?|lapses|closes|stops|finishes|runs? out)(?: on| at)?) (?:and including )?"
    rf"(?P<end>{_POINT})"
)
_START = _pattern(
    rf"\b(?P<how>from|since|starts?(?: on)?|starting(?: on)?|as of|effective|after) (?P<start>{_POINT})"
)
_AHEAD = _pattern(
    rf"\b(?:for|within|lasts?)(?:(?: the)?(?: next| coming| following)?| another) (?P<length>{_LENGTH})"
    r"|\bfor the (?:next|coming) (?P<unit>(?:hour|day|week|month|year)\b)"
)
_BACK = _pattern(rf"\b(?:for|over|during) the (?:past|last|previous) (?P<length>{_LENGTH})")
_VAGUELY = _pattern(rf"\bfor(?: the)?(?: next)? {_VAGUE}")
_WHILE = _pattern(rf"\b(?:for|during|throughout|all day|all) (?!now\b)(?P<span>{_DAY}(?: {_PART})?|{_SPAN})")
_UNTIL = _pattern(rf"\b(?:until|till) (?:(?P<hour>\d{{1,2}}){_NO_WORD})?")

_NARROWED = _pattern(
    r"t?[.:]?\d| (?:at )?\d| (?:in the|at) (?:morning|afternoon|evening|night)\b"
    r"| at (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
)
"""What follows a phrase and narrows it further, in words or figures that no pattern above takes."""

_NEGATED = _pattern(r"(?:\b(?:not|never|cannot)\b|n't\b)[^,;]*$")
_ENDING = _pattern(r"\b(?:end|expire|run out|lapse|finish|close|stop|leave)\b[^,;]*$")
_OVER = _pattern(
    r"\b(?:was|were|had|led|spent|took|ran|lasted|lived)\b"
    r"|\b(?:i|we|she|he|they|it|you) (?!need\b|feed\b)\w+ed\b"
)
_PERFECT = _pattern(r"(?:\b(?:has|have)|'ve|'s) (?:been\b|\w+(?:ed|en)\b)")


def stated(sentence: str) -> Stated | None:
    """What bounds a sentence states; None: none. Raises Unsure where it states one that has no date."""
    perfect = _PERFECT.search(sentence) is not None
    past = not perfect and _OVER.search(sentence) is not None
    if (match := _BACK.search(sentence)) is not None:
        return Stated(length=match["length"], back=True)
    if (both := _range(sentence)) is not None:
        return Stated(start=both[0], end=both[1], through=True, past=past)
    end, start, ahead = _END.search(sentence), _START.search(sentence), _AHEAD.search(sentence)
    _refuse_narrowed(end, start)
    if ahead is not None and end is None:
        if past:
            raise Unsure("unresolvable")
        begin = moment(start["start"]) if start is not None else None
        length = ahead["length"] or f"a {ahead['unit']}"
        return Stated(start=begin, length=length, back=perfect and begin is None)
    if end is not None or start is not None:
        how = "" if end is None else end["how"].lower()
        before = "" if end is None else sentence[: end.start()]
        denied = _NEGATED.search(before) is not None and _ENDING.search(before) is None
        return Stated(
            start=None if start is None else moment(start["start"]),
            end=None if end is None else moment(end["end"]),
            since=start is not None and start["how"].lower() == "since",
            after=start is not None and start["how"].lower() == "after",
            includes_end=how != "before" and not (denied and how in {"until", "till", "up to"}),
            through=how in {"through", "thru"},
            past=past,
        )
    if (match := _WHILE.search(sentence)) is not None:
        span = moment(match["span"])
        return Stated(start=span, end=span, through=True, past=past)
    until = _UNTIL.search(sentence)
    if until is not None and until["hour"]:
        raise Unsure("ambiguous")
    if until is not None or _VAGUELY.search(sentence) is not None:
        raise Unsure("unresolvable")
    return None


def _range(sentence: str) -> tuple[Moment, Moment] | None:
    for pattern in _DAYS_OF_A_MONTH:
        if (match := pattern.search(sentence)) is not None:
            return moment(f"{match['a']} {match['month']}"), moment(f"{match['b']} {match['month']}")
    for pattern in _HOURS_OF_A_DAY:
        if (match := pattern.search(sentence)) is not None:
            first, last = _hours(match["a"], match["b"])
            day = moment(match["day"]).day
            zone = match["zone"].strip()
            return Moment(day, clock=first, zone=zone), Moment(day, clock=last, zone=zone)
    for pattern in _RANGES:
        if (match := pattern.search(sentence)) is not None:
            _refuse_narrowed(match)
            return moment(match["a"]), moment(match["b"])
    return None


def _refuse_narrowed(*matches: re.Match[str] | None) -> None:
    """A phrase of which only the beginning was understood ("12 April 10.30") is not a shorter phrase."""
    if any(match is not None and _NARROWED.match(match.string, match.end()) for match in matches):
        raise Unsure("unresolvable")


def _hours(first: str, last: str) -> tuple[str, str]:
    """Two clock times of one day: a bare hour is of the 24-hour clock, or shares the other's half of
    the day where it then comes first."""
    first, last = _plain(first), _plain(last)
    half = last[-2:] if last.endswith(("am", "pm")) else ""
    if half and first.isdigit():
        earlier = int(first) % 12 < int(re.split(r"\D", last)[0]) % 12
        first += half if earlier else {"pm": "am", "am": "pm"}[half]
    return first + ":00" * first.isdigit(), last + ":00" * last.isdigit()


def moment(phrase: str) -> Moment:
    """Take a phrase that a pattern of this module matched apart."""
    text = phrase.strip()
    edge = re.match(r"(?:the )?(end|start|beginning) of (?:the )?", text, re.IGNORECASE)
    if edge is not None:
        name = text[edge.end() :].lower()
        return Moment("today" if name == "day" else name, "end" if edge[1].lower() == "end" else "start")
    clock = zone = part = ""
    if re.match(r"in ", text, re.IGNORECASE) is None:
        text = re.sub(r"^(\d{4}-\d\d-\d\d)t", r"\1 ", text, flags=re.IGNORECASE)
        if (found := _pattern(rf"{_CLOCK}(?::\d\d)?").search(text)) is not None:
            clock, after = _plain(found[0]), text[found.end() :]
            named = re.search(ZONE, after, re.IGNORECASE)
            zone = named[0].strip() if named else ""
            text = text[: found.start()] + (after.replace(named[0], "", 1) if named else after)
        text, part = _parted(text)
    day = re.sub(r"^\W*(?:on )?|(?:,? at)?\W*$", "", text, flags=re.IGNORECASE)
    return Moment(day.lower(), part=part, clock=clock, zone=zone)


def _parted(text: str) -> tuple[str, str]:
    text = re.sub(r"\btonight\b", "today night", text, flags=re.IGNORECASE)
    found = _pattern(rf" ({_PART})").search(text)
    return (text, "") if found is None else (text.replace(found[0], "", 1), found[1].lower())


def _plain(clock: str) -> str:
    return clock.lower().replace("p.m.", "pm").replace("a.m.", "am").replace(" ", "")
