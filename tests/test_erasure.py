"""What was told to be erased is looked for in answers, in the store, and in the bytes of its files."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from memrot import observations
from memrot.embed.hashing import Hashing
from memrot.erasure import Erased, canaries, erased, still_stored, together, told_to_erase, traces
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.memory import Fields, Place, Query, Record, Vector, Where
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Mode,
    Probe,
    TimePassed,
)
from memrot.observations import ErasureSeen, Traces
from memrot.stack import LayeredMemory
from memrot.timeline import Domain, Header, Timeline
from running import START, memrot

WHO = ("ada", "bo", "cy", "dee")


def fact(who: str, number: int, **more: object) -> Fact:
    digits = f"{WHO.index(who)}{number}" + "0736158294"
    base = Fact(
        id=f"{who}{number}", subject=who, predicate="phone", value=digits, domain="D",
        text=f"The private number of {who} is {digits}.",
    )  # fmt: skip
    return structs.replace(base, **more)


@pytest.fixture(scope="module")
def exam() -> Timeline:
    """Two people of four are erased, with the numbers that they had before."""
    told: list[Callable[[int, int], ChangeEvent]] = [
        *(lambda seq, at, who=who: FactAdded(seq=seq, at=at, fact=fact(who, 1)) for who in WHO),
        lambda seq, at: FactRevised(seq=seq, at=at, previous="ada1", current=fact("ada", 2)),
        lambda seq, at: FactRevised(seq=seq, at=at, previous="cy1", current=fact("cy", 2)),
        *(
            lambda seq, at, id_=id_: FactInvalidated(seq=seq, at=at, fact=id_, reason="erased")
            for id_ in ("ada1", "ada2", "bo1")
        ),
        lambda seq, at: TimePassed(seq=seq, at=at),
    ]
    events = [each(place + 1, START + place * DAY) for place, each in enumerate(told)]
    modes: tuple[tuple[Mode, int | None], ...] = (
        ("current", None),
        ("history", None),
        ("as_of", START + DAY),
    )
    probes = [
        Probe(
            id=f"{who}-{mode}", question=f"What is the private number of {who}?", subject=who, predicate="phone",
            tests="erasure", mode=mode, as_of=as_of,
        )
        for who in WHO
        for mode, as_of in modes
    ]  # fmt: skip
    return Timeline.of(Header(id="test/erasure", domains={"D": Domain()}), events, probes)


def seen_by(exam: Timeline, folder: Path, *layers: str) -> observations.Observations:
    place = Place("cell", folder, Hashing.dim, 16)
    return observe(lambda: LayeredMemory(lambda: Exact(place), parse(layers), Hashing()), exam)


def left(exam: Timeline, folder: Path) -> Traces:
    (found,) = traces(folder, canaries(exam, told_to_erase(exam), [Hashing().embed]))
    return found


def test_what_had_ended_before_is_erased_too(exam: Timeline, tmp_path: Path) -> None:
    assert list(told_to_erase(exam)) == ["ada1", "ada2", "bo1"]
    seen = seen_by(exam, tmp_path, "all")
    assert seen.erasure == ErasureSeen(facts=3, stored=0)
    told = {hit.fact for stage in seen.stages[-2:] for asked in stage.asked for hit in asked.hits}
    assert told == {"cy1", "cy2", "dee1"}, "in any mode, and nobody else is gone"
    assert erased(exam, seen) == Erased("yes", "yes", "unknown")
    assert left(exam, tmp_path) == Traces(facts=0, text=0, vector=0)


@pytest.mark.parametrize("layers", [(), ("supersession",), ("ttl[hard]",)])
def test_what_is_only_hidden_is_not_gone(exam: Timeline, tmp_path: Path, layers: tuple[str, ...]) -> None:
    seen = seen_by(exam, tmp_path, *layers)
    assert seen.erasure is not None
    assert seen.erasure.stored == 3
    verdict = erased(exam, seen)
    assert verdict is not None
    assert (verdict.answers, verdict.store) == ("no", "no")
    assert left(exam, tmp_path) == Traces(facts=3, text=3, vector=3)


def test_a_store_that_keeps_what_it_was_told_to_delete_is_found_out(exam: Timeline, tmp_path: Path) -> None:
    """The answers are clean, since the stack has forgotten the record; the store has not."""

    class Hiding(Exact):
        hidden: frozenset[str] = frozenset()

        def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
            self.hidden |= {*delete}
            super().write(put, patch, [])

        def search(
            self, queries: Sequence[Query], where: Where, k: int
        ) -> Sequence[Sequence[tuple[str, float]]]:
            found = super().search(queries, where, k)
            return [[hit for hit in hits if hit[0] not in self.hidden] for hits in found]

    place = Place("cell", tmp_path, Hashing.dim, 16)
    seen = observe(lambda: LayeredMemory(lambda: Hiding(place), parse(["all"]), Hashing()), exam)
    assert erased(exam, seen) == Erased("yes", "no", "unknown")


def test_nothing_to_erase_gives_no_verdict(exam: Timeline, tmp_path: Path) -> None:
    kept = [event for event in exam.events if not isinstance(event, FactInvalidated)]
    calm = Timeline.of(exam.header, kept, exam.probes)
    seen = seen_by(calm, tmp_path, "all")
    assert seen.erasure is None
    assert erased(calm, seen) is None


# --- bytes -----------------------------------------------------------------------------------

VECTOR = Hashing().embed([fact("bo", 1).text])[0]


@pytest.mark.parametrize(
    "spelled",
    [
        lambda vector: vector.astype("<f4").tobytes(),
        lambda vector: (vector / np.linalg.norm(vector.astype("f8"))).astype("<f4").tobytes(),
        lambda vector: vector.astype("<f8").tobytes(),
        lambda vector: pickle.dumps(vector.tolist()),
        lambda vector: b"\x98" + b"".join(b"\xfa" + struct.pack(">f", each) for each in vector.tolist()),
        lambda vector: b"\x98" + b"".join(b"\xfb" + struct.pack(">d", each) for each in vector.tolist()),
    ],
    ids=["single", "scaled", "double", "pickle", "cbor single", "cbor double"],
)
@pytest.mark.parametrize("offset", [0, 1, 2, 3, 5000])
def test_a_vector_is_found_in_every_encoding_at_any_byte(
    exam: Timeline, tmp_path: Path, spelled: Callable[[Vector], bytes], offset: int
) -> None:
    noise = np.random.default_rng(offset).integers(1, 255, offset, np.uint8).tobytes()
    (tmp_path / "deep").mkdir()
    file = tmp_path / "deep" / "segment.dat"
    file.write_bytes(noise + spelled(VECTOR) + b"\0" * 100_000)
    assert left(exam, tmp_path) == Traces(facts=1, text=0, vector=1)
    file.write_bytes(noise + spelled(Hashing().embed([fact("dee", 1).text])[0]))
    assert left(exam, tmp_path) == Traces(facts=0, text=0, vector=0)


def test_a_vector_that_a_page_splits_is_found(exam: Timeline, tmp_path: Path) -> None:
    whole = VECTOR.astype("<f4").tobytes()
    (tmp_path / "f").write_bytes(b"\1" * 4090 + whole[:500] + b"page" + whole[500:])
    assert left(exam, tmp_path).vector == 1


def test_a_value_alone_gives_a_fact_away(exam: Timeline, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\0" * 9000 + fact("ada", 1).value.encode() + b"\n")
    assert left(exam, tmp_path) == Traces(facts=1, text=1, vector=0)


def test_what_may_stay_is_not_looked_for(tmp_path: Path) -> None:
    """Another fact says the same sentence: its bytes prove nothing."""
    twin = fact("bo", 1, id="twin", subject="bo again")
    events: list[ChangeEvent] = [
        FactAdded(seq=1, at=START, fact=fact("bo", 1)),
        FactAdded(seq=2, at=START, fact=twin),
        FactInvalidated(seq=3, at=START + DAY, fact="bo1", reason="erased"),
    ]
    exam = Timeline.of(Header(id="test/twin", domains={"D": Domain()}), events, [])
    seen_by(exam, tmp_path, "all")
    assert left(exam, tmp_path) == Traces(facts=0, text=0, vector=0)
    assert still_stored(exam) == ["twin"]


# --- verdicts --------------------------------------------------------------------------------


NONE, SOME = Traces(facts=0, text=0, vector=0), Traces(facts=2, text=2, vector=1)


@pytest.mark.parametrize(
    ("looked", "verdict"),
    [
        ({}, "unknown"),
        ({"closed": NONE}, "yes"),
        ({"closed": NONE, "legible": False}, "unknown"),
        ({"closed": SOME}, "no"),
        ({"closed": SOME, "compacted": SOME}, "no"),
        ({"closed": SOME, "compacted": NONE}, "compacted"),
    ],
)
def test_verdicts_on_files(exam: Timeline, tmp_path: Path, looked: dict[str, Any], verdict: str) -> None:
    looked_at = ErasureSeen(facts=3, stored=0, **looked)
    seen = structs.replace(seen_by(exam, tmp_path, "all"), erasure=looked_at)
    found = erased(exam, seen)
    assert found is not None
    assert found.files == verdict
    path = tmp_path / "x.observations.jsonl"
    observations.write(path, seen)
    assert observations.read(path) == seen
    path.write_text(path.read_text().replace('{"type":"erasure"', '{"type":"erasure","more":1'))
    with pytest.raises(BadInput, match="more"):
        observations.read(path)


def test_a_row_is_as_bad_as_its_worst_cell() -> None:
    cells = [Erased("yes", "yes", "compacted"), Erased("no", "yes", "yes"), Erased("yes", "unknown", "yes")]
    assert together(cells) == Erased("no", "unknown", "compacted")
    assert together([]) is None


def test_a_run_shows_what_stays_in_whose_files(exam: Timeline, tmp_path: Path) -> None:
    """What was measured of each backend: a difference is news, for better or worse."""
    path, out = tmp_path / "erasure.timeline.jsonl", tmp_path / "out"
    exam.write(path)
    stacks = ("exact", "exact+all", "chroma+all", "qdrant+all", "redis+all", "mem0+all")
    asked = ("--embedder", "hashing", "--out", out)
    done = memrot("run", *(f"--stack={each}" for each in stacks), "--scenario", path, *asked)
    assert done.returncode == 3, "a tiny timeline gauges no controls"
    table = json.loads((out / "leaderboard.json").read_bytes())
    found = {row["stack"]: "/".join(row["erased"].values()) for row in table["rows"] if "erased" in row}
    assert found == {
        "exact": "no/no/no",
        "exact+all": "yes/yes/yes",
        "chroma+all": "yes/yes/no",
        "qdrant+all": "yes/yes/no",
        "redis+all": "yes/yes/compacted",
        "mem0+all": "yes/yes/yes",
    }
    assert "erased**" in (out / "LEADERBOARD.md").read_text()
