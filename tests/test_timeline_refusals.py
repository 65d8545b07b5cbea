"""Each refusal of FORMATS.md has its own message with file and line; garbage is refused in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot import timeline
from memrot.errors import BadInput
from memrot.model import Fact, FactAdded
from memrot.timeline import Domain, Header, Timeline
from timeline_lines import Line, day, fact, lines, refusal, refuses_or_reads, written

Change = Callable[[list[Line]], object]


def put(number: int, **changes: Any) -> Change:
    """Change keys of the line with this number (the header is line 1)."""
    return lambda content: content[number - 1].update(changes)


def put_fact(number: int, **changes: Any) -> Change:
    def change(content: list[Line]) -> None:
        line = content[number - 1]
        line["current" if "current" in line else "fact"].update(changes)

    return change


def insert(number: int, line: Line) -> Change:
    return lambda content: content.insert(number - 1, line)


def drop(number: int, key: str) -> Change:
    def change(content: list[Line]) -> None:
        del content[number - 1][key]

    return change


SILENT = {"type": "fact_added", "seq": 11, "at": day(7)}
REFUSALS: dict[str, tuple[int, Change, str]] = {
    "a seq used twice": (5, put(5, seq=3), "sequence number 3 is used twice"),
    "a seq below 1": (2, put(2, seq=0), "expected a sequence number from 1 to 2^53, got 0"),
    "a huge seq": (11, put(11, seq=2**60), "expected a sequence number from 1 to 2^53"),
    "a seq out of order with at": (6, put(6, at=day(1)), "seq 5 is out of order with 'at': it is earlier than seq 4"),
    "a fact id used twice": (4, put_fact(4, id="f1"), "fact id 'f1' is used twice"),
    "an empty fact id": (2, put_fact(2, id=""), "expected a fact id that is not empty"),
    "a probe id used twice": (13, put(13, id="p1"), "probe id 'p1' is used twice"),
    "a probe id like an echo": (12, put(12, id="~f1"), "does not begin with '~', got '~f1'"),
    "an unknown id confirmed": (5, put(5, fact="nobody"), "fact 'nobody' was never introduced before seq 4"),
    "an unknown id mentioned": (6, put(6, fact="nobody"), "fact 'nobody' was never introduced before seq 5"),
    "an unknown id invalidated": (8, put(8, fact="nobody"), "fact 'nobody' was never introduced before seq 7"),
    "an unknown id revised": (3, put(3, previous="nobody"), "fact 'nobody' was never introduced before seq 2"),
    "a fact that revises itself": (3, put(3, previous="f2"), "fact 'f2' was never introduced before seq 2"),
    "a later id confirmed": (5, put(5, fact="f4"), "fact 'f4' was never introduced before seq 4"),
    "a fact never told, invalidated": (8, put(8, fact="f4"), "names fact 'f4', which the memory was never told"),
    "a fact never told, confirmed": (
        10, put(10, type="fact_confirmed", fact="f4"), "names fact 'f4', which the memory was never told",
    ),
    "a fact never told, depended on": (
        12, insert(12, {**SILENT, "fact": fact("f5", subject="x", depends_on=["f4"])}),
        "fact 'f5' depends on 'f4', which the memory was never told, though the event is announced",
    ),
    "depends_on of a later fact": (
        2, put_fact(2, depends_on=["f3"]), "fact 'f1' depends on 'f3', which was not introduced before it",
    ),
    "depends_on of itself": (2, put_fact(2, depends_on=["f1"]), "depends on 'f1', which was not introduced before"),
    "depends_on of its own key": (
        3, put_fact(3, depends_on=["f1"]), "fact 'f2' depends on 'f1' of its own single-valued key",
    ),
    "a revision that changes the key": (
        3, put_fact(3, subject="search"),
        "a revision must keep the key: 'f1' is about ('billing', 'owner'), 'f2' about ('search', 'owner')",
    ),
    "two cardinalities in one key": (
        3, put_fact(3, cardinality="many"), "key ('billing', 'owner') has two cardinalities: 'one' and 'many'",
    ),
    "a silent confirmation": (5, put(5, announced=False), "only fact_added, fact_revised, fact_invalidated may carry"),
    "an announced passage of time": (9, put(9, announced=True), "may carry 'announced', not 'time_passed'"),
    "an announced probe": (12, put(12, announced=True), "may carry 'announced', not 'probe'"),
    "an unlisted domain": (
        2, put_fact(2, domain="WEATHER"),
        "domain 'WEATHER' is not listed by the header: ['COMMITMENT', 'OWNERSHIP']",
    ),
    "a confidence above 1": (2, put_fact(2, confidence=1.01), "expected a confidence from 0 to 1, got 1.01"),
    "a confidence below 0": (2, put_fact(2, confidence=-0.5), "expected a confidence from 0 to 1, got -0.5"),
    "NaN": (2, put_fact(2, confidence=float("nan")), "expected one JSON object: NaN and infinity are refused"),
    "infinity": (1, put(1, domains={"OWNERSHIP": {"window_days": float("inf")}}), "NaN and infinity are refused"),
    "valid_to before valid_from": (4, put_fact(4, valid_to=day(1)), "fact 'f3': expected valid_to after valid_from"),
    "valid_to equal to valid_from": (4, put_fact(4, valid_to=day(2)), "expected valid_to after valid_from"),
    "valid_to before the event": (3, put_fact(3, valid_to=day(1)), "expected valid_to after valid_from"),
    "an unknown tests": (12, put(12, tests="luck"), "'luck' - at `$.tests`, expected one of preservation, revision"),
    "an unknown mode": (12, put(12, mode="past"), "'past' - at `$.mode`, expected one of current, as_of, history"),
    "an unknown reason": (8, put(8, reason="bored"), "'bored' - at `$.reason`, expected one of retracted, obsolete"),
    "an unknown support": (4, put_fact(4, support="most"), "at `$.fact.support`, expected one of all, any"),
    "an unknown cardinality": (2, put_fact(2, cardinality="two"), "expected one of one, many"),
    "an unknown type": (9, put(9, type="fact_eaten"), "'fact_eaten' - at `$.type`, expected one of fact_added"),
    "no type": (9, drop(9, "type"), "missing required field `type`"),
    "no seq": (9, drop(9, "seq"), "missing required field `seq`"),
    "no text": (3, lambda content: content[2]["current"].pop("text"), "missing required field `text`"),
    "an unknown key": (2, put(2, actor="me"), "unknown field `actor`"),
    "an unknown key of a fact": (2, put_fact(2, colour="red"), "unknown field `colour`"),
    "an unknown key of a header": (1, put(1, author="me"), "unknown field `author`"),
    "an unknown key of a domain": (1, put(1, domains={"OWNERSHIP": {"window": 1}}), "unknown field `window`"),
    "a timestamp without a zone": (
        2, put(2, at="2026-01-01T09:00:00"),
        "such as 2026-01-05T09:00:00Z, got '2026-01-01T09:00:00' (it has no zone) - at `$.at`",
    ),
    "a date": (4, put_fact(4, valid_from="2026-01-01"), "got '2026-01-01' - at `$.fact.valid_from`"),
    "a number for an instant": (2, put(2, at=1767258000000), "expected an RFC 3339 instant"),
    "the 30th of February": (2, put(2, at="2026-02-30T09:00:00Z"), "expected an RFC 3339 instant"),
    "microseconds": (2, put(2, at="2026-01-01T09:00:00.000001Z"), "expected at most milliseconds"),
    "a tenth of a microsecond": (2, put(2, at="2026-01-01T09:00:00.0000001Z"), "expected at most milliseconds"),
    "before the year 1": (2, put(2, at="0001-01-01T00:00:00+01:00"), "expected an instant from 0001-01-01"),
    "after never": (4, put_fact(4, valid_to="9999-12-31T23:59:59-10:00"), "to 9999-12-31T23:59:59Z"),
    "a text for a number": (2, put(2, seq="1"), "Expected `int`, got `str`"),
    "a boolean for a number": (2, put(2, seq=True), "Expected `int`, got `bool`"),
    "as_of without an instant": (13, drop(13, "as_of"), "expected 'as_of' with mode 'as_of', and only there"),
    "an instant without as_of": (12, put(12, as_of=day(1)), "expected 'as_of' with mode 'as_of', and only there"),
    "until before since": (13, put(13, until=1), "probe 'p0': expected 'until' after 'since'"),
    "no header": (1, lambda content: content.pop(0), "no header: expected a first line of type 'timeline'"),
    "a second header": (5, lambda content: content.insert(4, content[0]), "a second header: expected one line"),
    "a newer format": (1, put(1, format=2), "format 2 is newer than this memrot reads (1): upgrade memrot"),
    "a format that is none": (1, put(1, format="1"), "expected 'format' to be a whole number from 1, got '1'"),
    "k of 0": (1, put(1, k=0), "expected k to be at least 1, got 0"),
    "a negative window": (1, put(1, domains={"OWNERSHIP": {"window_days": -1}}), "expected days from 0 to 3652059"),
    "an endless window": (1, put(1, domains={"OWNERSHIP": {"window_days": 1e300}}), "expected days from 0 to"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "change", "message"), REFUSALS.values(), ids=REFUSALS)
def test_each_refusal_names_file_line_and_what_was_expected(
    tmp_path: Path, line: int, change: Change, message: str
) -> None:
    content = lines()
    change(content)
    path = written(tmp_path / "t.timeline.jsonl", content)
    said = refusal(path, timeline.read)
    assert said.startswith(f"{path}:{line}: ")
    assert message in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no header: expected a first line of type 'timeline', found an empty file"),
        (b"\n\n", "found an empty file"),
        (b"[]\n", ":1: expected one JSON object, got list"),
        (b"{", ":1: expected one JSON object"),
        (b"\xff\xfe", ":1: expected one JSON object"),
        (b"\n" + b"[" * 5000, ":2: expected one JSON object"),
        (b'{"type":"timeline","id":"\xff","domains":{}}', ":1: expected one JSON object"),
        (b'{"type":"timeline","id":"\\ud800","domains":{}}', ":1: expected one JSON object"),
        (b'{"type":"timeline","id":"x","domains":{},"seed":' + b"9" * 5000 + b"}", ":1: "),
        (b'{"type":"timeline","id":"x","domains":{},"k":1e999}', ":1: "),
    ],
)
def test_what_is_no_json_lines_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    assert message in refusal(path, timeline.read)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    assert (
        refusal(tmp_path / "absent.jsonl", timeline.read)
        == f"{tmp_path / 'absent.jsonl'}: cannot be read: No such file or directory"
    )
    (tmp_path / "folder.jsonl").mkdir()
    assert "cannot be read" in refusal(tmp_path / "folder.jsonl", timeline.read)


def test_what_a_program_builds_is_refused_alike() -> None:
    added = FactAdded(seq=1, at=0, fact=Fact("f", "s", "p", "v", "D", "text", confidence=float("nan")))
    with pytest.raises(BadInput, match=r"^expected a confidence from 0 to 1, got nan$"):
        Timeline.of(Header(id="x", domains={"D": Domain()}), [added], [])


# --- garbage ---------------------------------------------------------------------------------


@given(st.binary(max_size=300), st.sampled_from([".jsonl", ".jsonl.gz"]))
def test_garbage_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("garbage") / f"t{suffix}"
    path.write_bytes(garbage)
    refuses_or_reads(path, timeline.read)


VALID = "".join(json.dumps(line) + "\n" for line in lines()).encode()
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.integers(0, len(VALID) - 1), st.integers(0, 8), st.binary(max_size=8))
def test_a_mutated_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int, by: bytes
) -> None:
    path = tmp_path_factory.mktemp("mutated") / "t.jsonl"
    path.write_bytes(VALID[:start] + by + VALID[start + length :])
    refuses_or_reads(path, timeline.read)


@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = lines()
    line = data.draw(st.sampled_from(content))
    inner = line.get("current", line.get("fact", line))
    target = data.draw(st.sampled_from([line, inner if isinstance(inner, dict) else line]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(json_values)
    refuses_or_reads(written(tmp_path_factory.mktemp("placed") / "t.jsonl", content), timeline.read)


@given(st.integers(0, 200))
def test_truncated_gzip_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("gz") / "t.jsonl.gz"
    whole = gzip.compress(VALID, mtime=0)
    path.write_bytes(whole[: max(1, len(whole) - 1 - cut)])
    said = refusal(path, timeline.read)
    assert "damaged or truncated gzip" in said
    assert said.startswith(f"{path}:")


def test_what_only_claims_to_be_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(VALID)
    assert "damaged or truncated gzip" in refusal(path, timeline.read)
    whole = bytearray(gzip.compress(VALID, mtime=0))
    whole[-6] ^= 0xFF
    path.write_bytes(whole)
    assert "damaged or truncated gzip" in refusal(path, timeline.read)
