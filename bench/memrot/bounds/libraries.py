"""The libraries that can read a date phrase, each loaded when it is used.

``read`` resolves one plain phrase ("12 april", "monday", "17:00", "in 2 weeks") for the guard;
``alone`` is what a library makes of a whole sentence by itself, for the table in docs/bounds.md.
Local times without a zone go in and come out.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol, TypeAlias

from memrot.errors import BadInput, Unavailable

Ends: TypeAlias = tuple[datetime | None, datetime | None]


class Library(Protocol):
    name: str

    def read(self, phrase: str, now: datetime) -> datetime | None:
        """One instant that the phrase may mean, in any year where it names none; None: no date."""
        ...

    def alone(self, sentence: str, now: datetime) -> Ends:
        """From when to when, by the library's own means."""
        ...


class Dateparser:
    """Phrases in many formats; no ranges, no connectives: of a sentence's dates the last is the end."""

    name = "dateparser"

    def __init__(self) -> None:
        from dateparser.date import DateDataParser
        from dateparser.search import search_dates

        self._parser = DateDataParser
        self._search = search_dates

    def read(self, phrase: str, now: datetime) -> datetime | None:
        return _naive(
            self._parser(languages=["en"], settings=self._settings(now)).get_date_data(phrase).date_obj
        )

    def alone(self, sentence: str, now: datetime) -> Ends:
        found = self._search(sentence, languages=["en"], settings=self._settings(now)) or []
        dates = [_naive(date) for _, date in found]
        return (dates[0] if len(dates) > 1 else None), (dates[-1] if dates else None)

    def _settings(self, now: datetime) -> dict[str, Any]:
        return {"RELATIVE_BASE": now, "PREFER_DATES_FROM": "future", "RETURN_AS_TIMEZONE_AWARE": False}


class Recognizers:
    """Ranges and connectives are understood; two readings (last, next) where the year is open."""

    name = "recognizers"

    def __init__(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from recognizers_date_time import recognize_datetime
        except ImportError as error:
            raise Unavailable(f"{_INSTALL['recognizers']} ({error})") from None
        self._recognize: Callable[..., Any] = recognize_datetime

    def read(self, phrase: str, now: datetime) -> datetime | None:
        length = re.fullmatch(r"in (.+)|(.+) ago", phrase)
        values = self._values((length[1] or length[2]) if length else phrase, now)
        if not values:
            return None
        if length:  # its own "in two weeks" forgets the hour
            seconds = timedelta(seconds=float(values[0].get("value", "nan")))
            return now + seconds if length[1] else now - seconds
        # of a time the first reading is that of the 24-hour clock, of a date the last is the next one
        return _moment(values[0 if values[0]["type"] == "time" else -1].get("value"), now)

    def alone(self, sentence: str, now: datetime) -> Ends:
        values = self._values(sentence, now)
        if not values:
            return None, None
        last = values[-1]
        return _moment(last.get("start"), now), _moment(last.get("end") or last.get("value"), now)

    def _values(self, text: str, now: datetime) -> list[dict[str, str]]:
        found = self._recognize(text, "en-us", reference=now)
        return list(found[-1].resolution["values"]) if found and found[-1].resolution else []


_INSTALL = {
    "dateparser": "pip install 'memrot[bounds]'",
    "recognizers": "pip install recognizers-text-suite 'emoji<2'",
}
_PACKAGES = {"dateparser": "dateparser", "recognizers": "recognizers-text-suite"}
_MODULES = {"dateparser": "dateparser", "recognizers": "recognizers_date_time"}
_LIBRARIES: Mapping[str, Callable[[], Library]] = {"dateparser": Dateparser, "recognizers": Recognizers}

CHOSEN = "dateparser"
"""Why: docs/bounds.md."""
NAMES = tuple(_LIBRARIES)


def installed(name: str) -> bool:
    return importlib.util.find_spec(_MODULES[name]) is not None


def released(name: str) -> str:
    """The version that a score speaks of."""
    return f"{_PACKAGES[name]} {version(_PACKAGES[name])}"


@cache
def library(name: str = CHOSEN) -> Library:
    """Raises BadInput for a name that is none, Unavailable where it is not installed."""
    if name not in _LIBRARIES:
        raise BadInput(f"unknown library {name!r}: expected one of {', '.join(NAMES)}")
    if not installed(name):
        raise Unavailable(_INSTALL[name])
    return _LIBRARIES[name]()


def _naive(date: datetime | None) -> datetime | None:
    return None if date is None else date.replace(tzinfo=None)


def _moment(text: str | None, now: datetime) -> datetime | None:
    """Of an ISO date, time, or both; anything else (a length in seconds) is no moment."""
    try:
        if text and len(text) == len("17:00:00"):
            return datetime.combine(now.date(), datetime.fromisoformat(f"2000-01-01T{text}").time())
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
