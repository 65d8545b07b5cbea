"""Timelines are completed, ordered, normalised; what is read is written and digested alike."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot import timeline
from memrot.errors import BadInput
from memrot.lines import format_instant, parse_instant
from memrot.model import DAY, NEVER, Fact, FactAdded, FactInvalidated, Probe, TimePassed
from memrot.timeline import Domain, Header, Timeline
from random_timelines import timelines
from timeline_lines import day, fact, lines, refusal, written

GOLDEN = Path(__file__).parent / "golden"


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    read = timeline.read(written(tmp_path / "t.jsonl", lines()))
    first, last = read.facts["f1"], read.facts["f3"]
    assert first.observed_at == first.valid_from == read.events[0].at == parse_instant(day(1))
    assert (first.valid_to, first.cardinality, first.support, first.confidence) == (NEVER, "one", "all", 1.0)
    assert (last.observed_at, last.valid_from, last.valid_to) == tuple(
        map(parse_instant, (day(1), day(2), day(20)))
    )
    assert list(read.facts) == ["f1", "f2", "f3", "f4"]
    assert [probe.id for probe in read.probes] == ["p0", "p1"]


def test_events_of_an_instant_are_one_stage(tmp_path: Path) -> None:
    read = timeline.read(written(tmp_path / "t.jsonl", lines()))
    assert [(stage.seq, len(stage.events)) for stage in read.stages] == [
        (1, 1),
        (3, 2),
        (5, 2),
        (6, 1),
        (7, 1),
        (10, 3),
    ]
    silent = read.stages[3]
    assert silent.announced() == (TimePassed(seq=6, at=silent.at),)
    assert read.stages[1].announced() == read.stages[1].events


def test_the_order_of_lines_is_that_of_seq(tmp_path: Path) -> None:
    content = lines()
    shuffled = timeline.read(written(tmp_path / "s.jsonl", [content[0], *reversed(content[1:])]))
    assert shuffled.digest == timeline.read(written(tmp_path / "t.jsonl", content)).digest


def test_domains_may_bear_any_name(tmp_path: Path) -> None:
    content = lines()
    content[0]["domains"] |= {"at": {"window_days": 1}, "fact": {}, "valid_to": {"grace_days": 2.5}}
    read = timeline.read(written(tmp_path / "t.jsonl", content))
    assert read.header.domains["at"] == Domain(window_days=1)
    read.write(tmp_path / "again.jsonl")
    assert timeline.read(tmp_path / "again.jsonl").header == read.header


def test_blank_lines_count_but_say_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", lines())
    path.write_bytes(b"\n" + path.read_bytes().replace(b"\n", b"\n\n") + b'{"type":"x"}')
    assert refusal(path, timeline.read).startswith(f"{path}:28: ")


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00.001z", 1),
        ("1970-01-01 01:00:00.120000+01:00", 120),
        ("1969-12-31T23:59:59.999-00:00", -1),
        ("9999-12-31T23:59:59Z", NEVER),
    ],
)
def test_instants_are_rfc_3339(text: str, ms: int) -> None:
    assert parse_instant(text) == ms
    assert parse_instant(format_instant(ms)) == ms


@given(st.integers(-62_135_596_800_000, NEVER))
def test_instants_go_round(ms: int) -> None:
    assert parse_instant(format_instant(ms)) == ms


# --- round trips and digests -----------------------------------------------------------------


@given(timelines())
def test_what_is_written_is_read_alike(tmp_path_factory: pytest.TempPathFactory, made: Timeline) -> None:
    folder = tmp_path_factory.mktemp("round")
    for name in ("t.timeline.jsonl", "t.timeline.jsonl.gz"):
        made.write(folder / name)
        read = timeline.read(folder / name)
        assert (read.header, read.events, read.probes) == (made.header, made.events, made.probes)
        assert read.digest == made.digest
    assert len(list(folder.iterdir())) == 2


@given(timelines(max_events=6))
def test_every_change_changes_the_digest(made: Timeline) -> None:
    header = msgspec.structs.replace(made.header, seed=made.header.seed + 1)
    assert Timeline.of(header, made.events, made.probes).digest != made.digest
    last = msgspec.structs.replace(made.events[-1], at=made.events[-1].at + DAY)
    later = [*made.events[:-1], last]
    assert Timeline.of(made.header, later, made.probes).digest != made.digest


PINNED = {
    "amnesiac": "c3cd3b00b58c",
    "cascade": "9606e7173f00",
    "flip-flop": "69eee76c6d4a",
    "hoarder": "7926519a7d3d",
    "oracle": "2a8ec8b7395c",
    "order": "b7787981023d",
    "silence": "537663f3325d",
}


def test_digests_stay_as_they_are() -> None:
    read = {path.parent.name: timeline.read(path).digest[:12] for path in GOLDEN.glob("*/timeline.jsonl")}
    assert read == PINNED


def test_the_digest_is_that_of_the_canonical_form() -> None:
    """The form is spelled out here, so that others can compute it."""
    made = Timeline.of(
        Header(id="t", domains={"D": Domain(window_days=2.0)}),
        [
            FactAdded(seq=1, at=0, fact=Fact("f", "s", "p", "é", "D", "text", valid_to=86_400_000)),
            FactInvalidated(seq=2, at=1500, fact="f", reason="dropped", announced=False),
        ],
        [Probe(id=name, question="?", subject="s", predicate="p", tests="forgetting") for name in "ba"],
    )
    canonical = (
        '{"domains":{"D":{"window_days":2}},"format":1,"id":"t","type":"timeline"}\n'
        '{"at":"1970-01-01T00:00:00Z","fact":{"domain":"D","id":"f","predicate":"p","subject":"s","text":"text",'
        '"valid_to":"1970-01-02T00:00:00Z","value":"é"},"seq":1,"type":"fact_added"}\n'
        '{"announced":false,"at":"1970-01-01T00:00:01.500Z","fact":"f","reason":"dropped","seq":2,'
        '"type":"fact_invalidated"}\n'
        '{"id":"a","predicate":"p","question":"?","subject":"s","tests":"forgetting","type":"probe"}\n'
        '{"id":"b","predicate":"p","question":"?","subject":"s","tests":"forgetting","type":"probe"}\n'
    )
    assert made.digest == hashlib.sha256(canonical.encode()).hexdigest()


def test_spelling_does_not_move_the_digest(tmp_path: Path) -> None:
    content = lines()
    plain = timeline.read(written(tmp_path / "plain.jsonl", content)).digest
    content[0]["domains"]["OWNERSHIP"] = {"grace_days": 0.0, "window_days": 45.0}
    del content[0]["source"]
    content[1]["fact"] |= {
        "confidence": 1,
        "cardinality": "one",
        "support": "all",
        "fact_class": None,
        "depends_on": [],
        "observed_at": "2026-01-01T10:00:00.000+01:00",
    }
    content[1]["fact"]["valid_to"] = content[1]["fact"]["valid_from"] = None
    content[1]["announced"] = True
    assert timeline.read(written(tmp_path / "spelled.jsonl", content)).digest == plain


def test_strings_are_compared_in_nfc(tmp_path: Path) -> None:
    content = lines()
    content[2]["current"] = fact("f2", subject="Zu\u0308rich")
    content[1]["fact"] = fact("f1", subject="Z\u00fcrich")
    escaped = timeline.read(written(tmp_path / "escaped.jsonl", content))
    raw = tmp_path / "raw.jsonl"
    raw.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in content), encoding="utf-8")
    assert timeline.read(raw).digest == escaped.digest
    assert escaped.facts["f1"].key == escaped.facts["f2"].key
    built = Timeline.of(escaped.header, [
        FactAdded(seq=1, at=0, fact=Fact("f", "Zu\u0308rich", "p", "v", "OWNERSHIP", "t")),
    ], [])  # fmt: skip
    assert built.facts["f"].subject == "Z\u00fcrich"
    assert built.facts["f"].valid_from == 0


# --- writing ---------------------------------------------------------------------------------


def made() -> Timeline:
    added = FactAdded(seq=1, at=0, fact=Fact("f", "s", "p", "v", "D", "text"))
    return Timeline.of(Header(id="t", domains={"D": Domain()}), [added], [])


def test_the_same_timeline_gives_the_same_bytes(tmp_path: Path) -> None:
    made().write(tmp_path / "a.jsonl.gz")
    made().write(tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"t\.jsonl: cannot be written: Not a directory"):
        made().write(tmp_path / "file" / "t.jsonl")
    (tmp_path / "t.jsonl").mkdir()
    with pytest.raises(BadInput, match="cannot be written"):
        made().write(tmp_path / "t.jsonl")
    with pytest.raises(BadInput, match=r"^\.: cannot be written: Is a directory$"):
        made().write(Path())
    assert {path.name for path in tmp_path.iterdir()} == {"file", "t.jsonl"}
