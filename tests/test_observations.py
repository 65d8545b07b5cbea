"""Observation files: what is written is read alike, and anything else is refused in one line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot import observations
from memrot.model import BANDS, Hit
from memrot.observations import (
    Asked,
    EmbedderId,
    ErrorSeen,
    Footer,
    Head,
    Observations,
    PeekSeen,
    StackId,
    StageSeen,
    TimelineId,
)
from timeline_lines import Line, refusal, refuses_or_reads, written

GOLDEN = Path(__file__).parent / "golden"


def lines() -> list[Line]:
    """The example of FORMATS.md, and one line of each further kind."""
    return [
        {
            "type": "observations", "format": 1, "cell": "c", "suite": "1.0.0",
            "stack": {"adapter": "chroma", "backend": "chromadb", "version": "1.5.9", "deployment": "embedded",
                      "layers": ["ttl", "supersession"], "options": {}},
            "timeline": {"id": "t", "revision": 3, "seed": 17, "digest": "d"},
            "embedder": {"name": "e", "fingerprint": "f"}, "k": 5, "forget_within": 3,
            "machine": {"cores": 2}, "started": "2026-01-05T09:00:00Z",
        },
        {
            "type": "stage", "seq": 2, "apply_ms": 0.8, "answer_ms": 2.1,
            "asked": [
                ["p1", [["f2", 0.93, 1.0, "assert"], ["f9", 0.41, 0.5, "hedge", "verify"]]],
                ["p2", []],
                ["~f1", [[None, 0.9, 1.0, "withhold", None]]],
            ],
        },
        {"type": "peek", "seq": 2, "facts": {"f3": "outranked"}},
        {"type": "stage", "seq": 5, "asked": [], "unsupported": {"p3": "no history"}},
        {"type": "error", "seq": 7, "during": "answer", "error": "it broke"},
        {"type": "footer", "stages": 2, "asked": 3, "outcome": "errored", "finished": "2026-01-05T09:00:01Z"},
    ]  # fmt: skip


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    seen = observations.read(written(tmp_path / "c.observations.jsonl", lines()))
    assert seen.head.stack.layers == ("ttl", "supersession")
    assert seen.head.machine == {"cores": 2}
    assert seen.stages[0] == StageSeen(
        seq=2,
        asked=(
            Asked("p1", (Hit("f2", 0.93), Hit("f9", 0.41, 0.5, "hedge", "verify"))),
            Asked("p2", ()),
            Asked("~f1", (Hit(None, 0.9, 1.0, "withhold"),)),
        ),
        apply_ms=0.8,
        answer_ms=2.1,
    )
    assert seen.stages[1].unsupported == {"p3": "no history"}
    assert seen.peeks == (PeekSeen(seq=2, facts={"f3": "outranked"}),)
    assert seen.errors == (ErrorSeen(seq=7, during="answer", error="it broke"),)
    assert seen.footer == Footer(outcome="errored", stages=2, asked=3, finished="2026-01-05T09:00:01Z")


def test_without_a_footer_a_cell_is_incomplete(tmp_path: Path) -> None:
    assert observations.read(written(tmp_path / "c.jsonl", lines()[:-1])).footer is None


def test_hits_are_written_as_formats_says(tmp_path: Path) -> None:
    hits = (Hit("f1", 0.5), Hit(None, 0.25, 0.5, "hedge", "archived"))
    stage = StageSeen(seq=1, asked=(Asked("p", hits),))
    observations.write(
        tmp_path / "c.jsonl", Observations(head=Head(timeline=TimelineId(id="t")), stages=(stage,))
    )
    header, line = (tmp_path / "c.jsonl").read_text().splitlines()
    assert json.loads(header)["type"] == "observations"
    assert json.loads(line)["asked"] == [
        ["p", [["f1", 0.5, 1.0, "assert"], [None, 0.25, 0.5, "hedge", "archived"]]]
    ]


words = st.text(st.characters(max_codepoint=0x17F), max_size=5)
floats = st.floats(allow_nan=False, allow_infinity=False)
hits = st.builds(
    Hit,
    st.none() | words,
    floats,
    st.floats(0, 1),
    st.sampled_from(BANDS),
    st.sampled_from([None, "verify", "archived"]),
)
asked = st.lists(st.tuples(words, st.lists(hits, max_size=3).map(tuple)), unique_by=lambda pair: pair[0])
stages = st.builds(
    lambda seqs, asked: tuple(
        StageSeen(seq=seq, asked=tuple(Asked(probe, hits) for probe, hits in asked)) for seq in sorted(seqs)
    ),
    st.sets(st.integers(1, 10**6), max_size=4),
    asked,
)


@given(
    st.builds(
        Observations,
        head=st.builds(
            Head,
            timeline=st.builds(TimelineId, id=words, seed=st.integers(0, 9)),
            stack=st.builds(StackId, adapter=words, options=st.dictionaries(words, words, max_size=2)),
            embedder=st.builds(EmbedderId, lexical=st.booleans()),
            k=st.integers(1, 50),
        ),
        stages=stages,
        footer=st.none()
        | st.builds(Footer, outcome=st.sampled_from(["answered", "skipped"]), reason=st.none() | words),
    )
)
def test_what_is_written_is_read_alike(tmp_path_factory: pytest.TempPathFactory, seen: Observations) -> None:
    folder = tmp_path_factory.mktemp("round")
    for name in ("c.observations.jsonl", "c.observations.jsonl.gz"):
        observations.write(folder / name, seen)
        assert observations.read(folder / name) == seen


def test_golden_files_are_read() -> None:
    paths = sorted(GOLDEN.glob("*/observations.jsonl"))
    assert len(paths) >= 7
    for path in paths:
        seen = observations.read(path)
        assert seen.stages
        assert seen.footer is not None


# --- what is refused -------------------------------------------------------------------------


def put(number: int, **changes: Any) -> Callable[[list[Line]], object]:
    return lambda content: content[number - 1].update(changes)


def hit(*values: Any) -> Callable[[list[Line]], object]:
    return put(2, asked=[["p1", [list(values)]]])


REFUSALS: dict[str, tuple[int, Callable[[list[Line]], object], str]] = {
    "no header": (1, lambda content: content.pop(0), "no header: expected a first line of type 'observations'"),
    "a timeline": (1, put(1, type="timeline"), "no header: expected a first line of type 'observations'"),
    "a second header": (3, lambda content: content.insert(2, content[0]), "expected one of stage, error, peek, erasure, footer"),
    "a newer format": (1, put(1, format=9), "format 9 is newer than this memrot reads (1): upgrade memrot"),
    "no timeline": (1, lambda content: content[0].pop("timeline"), "missing required field `timeline`"),
    "an unknown key of a header": (1, put(1, host="me"), "unknown field `host`"),
    "an unknown key of a stack": (1, put(1, stack={"adaptor": "x"}), "unknown field `adaptor`"),
    "an unknown key of a stage": (2, put(2, score=1), "unknown field `score`"),
    "k of 0": (1, put(1, k=0), "Expected `int` >= 1 - at `$.k`"),
    "a line after the footer": (7, lambda content: content.append(content[1]), "a line after the footer"),
    "an unknown type": (3, put(3, type="note"), "'note' - at `$.type`, expected one of stage, error, peek, erasure, footer"),
    "a stage twice": (4, put(4, seq=2), "stage 2 after stage 2: expected the order of 'seq'"),
    "a probe asked twice": (2, put(2, asked=[["p1", []], ["p1", []]]), "a probe is asked twice at stage 2"),
    "a hit without a band": (2, hit("f", 0.5, 1.0), "Expected `array` of at least length 4, got 3"),
    "a hit with too much": (2, hit("f", 0.5, 1.0, "assert", None, 1), "Expected `array` of at most length 5, got 6"),
    "an unknown band": (2, hit("f", 0.5, 1.0, "sure"), "Invalid enum value 'sure' - at `$.asked[0][1][0][3]`, expected one of assert, hedge, withhold"),
    "an unknown mark": (2, hit("f", 0.5, 1.0, "assert", "new"), "expected one of verify, archived"),
    "a confidence above 1": (2, hit("f", 0.5, 1.5, "assert"), "Expected `float` <= 1.0"),
    "a confidence below 0": (2, hit("f", 0.5, -0.1, "assert"), "Expected `float` >= 0.0"),
    "a similarity that is none": (2, hit("f", None, 1.0, "assert"), "Expected `float`, got `null`"),
    "NaN": (2, hit("f", float("nan"), 1.0, "assert"), "NaN and infinity are refused"),
    "a number for a fact": (2, hit(3, 0.5, 1.0, "assert"), "Expected `str | null`, got `int`"),
    "hits that are none": (2, put(2, asked=[["p1", None]]), "Expected `array`, got `null`"),
    "a probe without hits": (2, put(2, asked=[["p1"]]), "at least length 2, got 1"),
    "asked that is none": (2, put(2, asked=7), "Expected `array`, got `int`"),
    "an unknown cause": (3, put(3, facts={"f3": "eaten"}), "expected one of never stored, deleted, tombstoned"),
    "an unknown outcome": (6, put(6, outcome="fine"), "expected one of answered, errored, unsupported"),
}  # fmt: skip


@pytest.mark.parametrize(("line", "change", "message"), REFUSALS.values(), ids=REFUSALS)
def test_each_refusal_names_file_line_and_what_was_expected(
    tmp_path: Path, line: int, change: Callable[[list[Line]], object], message: str
) -> None:
    content = lines()
    change(content)
    path = written(tmp_path / "c.observations.jsonl", content)
    said = refusal(path, observations.read)
    assert said.startswith(f"{path}:{line}: ")
    assert message in said


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b"")
    assert "found an empty file" in refusal(tmp_path / "c.jsonl", observations.read)


# --- garbage ---------------------------------------------------------------------------------

VALID = "".join(json.dumps(line) + "\n" for line in lines()).encode()


@given(st.binary(max_size=300), st.sampled_from([".jsonl", ".jsonl.gz"]))
def test_garbage_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("garbage") / f"c{suffix}"
    path.write_bytes(garbage)
    refuses_or_reads(path, observations.read)


@given(st.integers(0, len(VALID) - 1), st.integers(0, 8), st.binary(max_size=8))
def test_a_mutated_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int, by: bytes
) -> None:
    path = tmp_path_factory.mktemp("mutated") / "c.jsonl"
    path.write_bytes(VALID[:start] + by + VALID[start + length :])
    refuses_or_reads(path, observations.read)


@given(st.integers(0, 100))
def test_a_torn_file_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "c.jsonl.gz"
    path.write_bytes(gzip.compress(VALID, mtime=0)[: -1 - cut])
    assert "damaged or truncated gzip" in refusal(path, observations.read)
