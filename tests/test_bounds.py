"""Bounds are extracted right or not at all: the table, its own soundness, and whatever else is said."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from typer.testing import CliRunner

from memrot.bounds import Bounds, extract, filled, named_zone
from memrot.bounds.libraries import CHOSEN, Dateparser, Recognizers, installed, library
from memrot.bounds.table import Sentence, Table, alone, columns, guarded, read, rows
from memrot.cli import app
from memrot.errors import BadInput
from memrot.lines import parse_instant
from memrot.model import NEVER, Fact

ROOT = Path(__file__).parent.parent
FILES = ("bounds.jsonl", "bounds-unseen.jsonl")
AT = parse_instant("2026-03-18T10:00:00Z")
"""A Wednesday."""

KNOWN = {
    "The bus goes by 12 May Street.": "wrong",
    "Half price through the first week of November.": "silent",
    "Reception is unattended until half past two.": "silent",
    "The babysitter stays until late tomorrow night.": "silent",
}
UNSEEN = {
    "Applications close on 30 June.": "silent",
    "Leave the side gate unlocked until 8 tomorrow morning.": "silent",
    "Lift inspections are suspended for the rest of the year.": "silent",
    "The code is valid until 2027/07/04.": "silent",
}


def table(name: str) -> Table:
    return read(Path(__file__).parent / "data" / name)


@pytest.mark.parametrize(("name", "known"), [("bounds.jsonl", KNOWN), ("bounds-unseen.jsonl", UNSEEN)])
def test_every_sentence_is_right_but_the_known_ones(name: str, known: dict[str, str]) -> None:
    outcomes = {each.text: guarded(each, library()) for each in table(name).sentences}
    assert {text: outcome for text, outcome in outcomes.items() if outcome != "right"} == known


def test_the_table_is_large_and_its_answers_are_spread() -> None:
    sentences = table("bounds.jsonl").sentences
    kinds = Counter(each.kind for each in sentences)
    assert len(sentences) >= 120
    assert len(kinds) >= 15
    assert min(kinds.values()) >= 6
    assert len({(each.text, each.at) for each in sentences}) == len(sentences)
    flags = Counter(each.flag for each in sentences)
    assert set(flags) >= {"ambiguous", "unresolvable", "end before start", "unknown zone", "no such time"}
    assert flags[None] > len(sentences) / 2
    seen = {each.text for each in sentences}
    assert not seen & {each.text for each in table("bounds-unseen.jsonl").sentences}


@pytest.mark.parametrize("name", FILES)
def test_answers_carry_the_offset_that_is_in_force(name: str) -> None:
    for each in table(name).sentences:
        named = re.search(r"(?:PST|CET|EDT|UTC|Eastern|Pacific|Mountain)|\w+/\w+", each.text)
        if named:  # the answer is in the zone that the sentence names
            continue
        for text in (each.valid_from, each.valid_to):
            if text is not None:
                moment = datetime.fromisoformat(text)
                assert moment.utcoffset() == moment.astimezone(ZoneInfo(each.zone)).utcoffset(), each.text


WORDS = (
    "until", "till", "through", "from", "to", "for", "the", "next", "last", "two", "weeks", "not", "31",
    "February", "May", "12", "2026", "Friday", "end of", "Q3", "month", "tomorrow", "night", "9", "9:30",
    "25:61", "pm", "noon", "midnight", "CET", "CST", "Europe/Lisbon", "No/Where", "UTC+99", "5/6/2026",
    "2026-13-40", "was", "has been", "in", "9999 years", "between", "and", "before", "since", "a few days", "-",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8),
    at=st.integers(parse_instant("1995-01-01T00:00:00Z"), parse_instant("2035-01-01T00:00:00Z")),
    zone=st.sampled_from(("UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland")),
)
def test_whatever_is_said_is_bounded_flagged_or_left(words: list[str], at: int, zone: str) -> None:
    found = extract(" ".join(words), at, named_zone(zone))
    if found.flag is not None:
        assert found == Bounds(flag=found.flag)
    elif found.valid_to is not None and found.valid_from is not None:
        assert found.valid_from < found.valid_to


@given(day=st.dates(datetime(2026, 3, 19, tzinfo=UTC).date(), datetime(2027, 3, 17, tzinfo=UTC).date()))
@settings(max_examples=40, deadline=None)
def test_a_day_within_a_year_ends_with_its_last_moment(day: object) -> None:
    zone = ZoneInfo("Europe/Berlin")
    found = extract(f"The flat is ours until {day:%d %B}.", AT, zone)
    if f"{day:%m-%d}" == "02-29":
        return
    assert found.valid_to is not None
    last = datetime.fromtimestamp(found.valid_to / 1000 - 1, zone)
    assert last.date() == day
    assert datetime.fromtimestamp(found.valid_to / 1000, zone).strftime("%H:%M") == "00:00"


def test_a_fact_is_given_the_end_that_its_text_states() -> None:
    fact = Fact(
        id="f1", subject="Ida", predicate="stay", value="the Lodge", domain="COMMITMENT",
        text="Ida stays at the Lodge until 12 April.", valid_from=AT,
    )  # fmt: skip
    end = parse_instant("2026-04-13T00:00:00Z")
    assert filled(fact, AT, UTC) == replace(fact, valid_to=end)
    assert filled(replace(fact, valid_to=end + 1), AT, UTC).valid_to == end + 1, "what is known is kept"
    assert filled(replace(fact, text="Ida stays until next Friday."), AT, UTC).valid_to == NEVER
    assert filled(replace(fact, valid_from=end), AT, UTC).valid_to == NEVER, "an end before the start"


@pytest.mark.parametrize(
    "end",
    [
        "2026-04-12T10:00+02:00", "12 April 10.30", "12 April 1500h", "12 April at ten", "Friday at 5",
        "12 April in the morning", "12 April 2126",
    ],
)  # fmt: skip
def test_a_day_that_is_narrowed_by_what_was_not_understood_is_no_day(end: str) -> None:
    assert extract(f"The flat is ours until {end}.", AT, UTC) == Bounds(flag="unresolvable")


def test_an_instant_without_seconds() -> None:
    found = extract("Ours from 2026-04-01T08:00Z to 2026-04-12T10:00Z.", AT, UTC)
    assert found == Bounds(parse_instant("2026-04-01T08:00:00Z"), parse_instant("2026-04-12T10:00:00Z"))


# --- the score -------------------------------------------------------------------------------

ANSWERED = Sentence(
    kind="date", text="Mine until 12 April.", at="2026-03-18T10:00:00Z", valid_to="2026-04-13T00:00:00Z"
)


def test_outcomes_tell_right_from_silent_from_wrong() -> None:
    chosen = library()
    assert guarded(ANSWERED, chosen) == "right"
    assert guarded(replace(ANSWERED, valid_to="2026-04-12T00:00:00Z"), chosen) == "wrong"
    assert guarded(replace(ANSWERED, valid_to=None), chosen) == "wrong"
    assert guarded(replace(ANSWERED, text="Mine until the rain stops."), chosen) == "silent"
    assert (
        guarded(replace(ANSWERED, text="Mine until May.", valid_to=None, flag="unresolvable"), chosen)
        == "silent"
    )


def test_a_library_alone_may_give_the_last_day_by_its_own_midnight() -> None:
    chosen = Dateparser()
    assert alone(ANSWERED, chosen) == "right"
    assert alone(replace(ANSWERED, valid_to="2026-04-14T00:00:00Z"), chosen) == "wrong"
    assert alone(replace(ANSWERED, text="Mine until the rain stops."), chosen) == "silent"
    assert alone(replace(ANSWERED, valid_to=None, flag="ambiguous"), chosen) == "wrong"


@pytest.mark.skipif(not installed("recognizers"), reason="pip install recognizers-text-suite 'emoji<2'")
def test_the_other_library_reads_the_same_phrases() -> None:
    outcomes = Counter(guarded(each, Recognizers()) for each in table("bounds-unseen.jsonl").sentences)
    assert 0.75 < outcomes["right"] / outcomes.total() < 1


def test_the_page_says_what_the_chosen_library_scores_now() -> None:
    page = (ROOT / "docs" / "bounds.md").read_text()
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in page.splitlines()
        if line.startswith("| ")
    ]
    published = [(row[0], row[1], row[2]) for row in cells if row[0] not in {"kind", "---"}]
    now = []
    for name in FILES:
        outcomes = columns(table(name).sentences, [library()])
        now += [(row[0], row[1], row[2]) for row in rows({CHOSEN: outcomes[CHOSEN]})[1]]
    assert published == now
    command = re.search(r"`memrot (bounds --table .*)`", page)
    assert command is not None
    assert all((ROOT / word).is_file() for word in command[1].split() if "/" in word)


# --- the command line ------------------------------------------------------------------------


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["bounds", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_a_sentence_at_an_instant() -> None:
    shown = run("Mine until 12 April.", "--at", "2026-03-18T10:00:00Z", "--zone", "Europe/Lisbon")
    assert "valid_to    2026-04-12T23:00:00Z  Mon 13 Apr 2026 00:00" in shown
    assert "valid_from  -" in shown
    flagged = run("Mine until next Friday.", "--at", "2026-03-18T10:00:00Z")
    assert "flagged     ambiguous" in flagged
    assert "valid_to    -" in flagged


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Mine until Friday."], "--at INSTANT"),
        ([], "--at INSTANT"),
        (["Mine until Friday.", "--at", "2026-03-18"], "RFC 3339"),
        (["Mine until Friday.", "--at", "2026-03-18T10:00:00Z", "--zone", "Mars/Olympus"], "unknown zone"),
        (["Mine until Friday.", "--table", "x.jsonl"], "got both"),
        (["Mine until Friday.", "--at", "2026-03-18T10:00:00Z", "--out", "x.md"], "--out: expected --table"),
        (["--table", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        run(*arguments)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['{"type":"timeline"}'], "expected a header"),
        (['{"type":"bounds","format":2}'], "newer"),
        (['{"type":"bounds","format":1}'], "at least one sentence"),
        (['{"type":"bounds","format":1}', '{"kind":"a","text":"b","at":"today"}'], "2: expected an RFC 3339"),
        (
            [
                '{"type":"bounds","format":1}',
                '{"kind":"a","text":"b","at":"2026-03-18T10:00:00Z","flag":"odd"}',
            ],
            "2: Invalid enum value",
        ),
        (
            [
                '{"type":"bounds","format":1}',
                '{"kind":"a","text":"b","at":"2026-03-18T10:00:00Z","flag":"ambiguous","valid_to":"2026-03-19T10:00:00Z"}',
            ],
            "got both",
        ),
    ],
)
def test_a_table_is_read_strictly(tmp_path: Path, lines: list[str], said: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput, match=said):
        read(path)
