"""What Milvus does to those who trust it, against the real thing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from memrot.errors import Unavailable
from memrot.memory import Clause, Compacting, Fields, Place, Query, Record
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import milvus


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.parquet") if "delta" not in path.name]


def test_rows_are_flushed_now_and_then(tmp_path: Path) -> None:
    """What is not flushed is looked through row by row."""
    store = milvus.open_store(Place("namespace", tmp_path, DIM, 300), {})
    store.write(records(milvus.EVERY - 1), {}, [])
    assert files(tmp_path) == []
    store.write([record(200)], {}, [])
    assert len(files(tmp_path)) == 1
    held = [*records(milvus.EVERY - 1), record(200)]
    for query, hits in zip(questions(), store.search(questions(), [], 5), strict=True):
        check_hits(hits, held, query, [], 5)
    store.drop()


def test_an_id_is_no_condition(tmp_path: Path) -> None:
    """Ids are written between quotes as they are: this one would name two others."""
    store = milvus.open_store(Place("namespace", tmp_path, DIM, 50), {})
    store.write(records(5), {}, [])
    names_two = "f1', 'f2"
    assert len(store._milvus.get("namespace", ids=["', '".join(map(milvus._key, ["f1", "f2"]))])) == 2
    assert list(store.get([names_two])) == []
    store.write([record(9, names_two)], {}, [])
    store.write([], {}, [names_two])
    check_records(store.scan(vectors=True), {each.id: each for each in records(5)})
    store.drop()


def test_a_member_that_is_absent_or_no_number_satisfies_nothing(tmp_path: Path) -> None:
    store = milvus.open_store(Place("namespace", tmp_path, DIM, 50), {})
    vector = record(1).vector
    fields: tuple[Fields, ...] = ({"n": 0}, {"n": "0"}, {"n": "x"}, {"m": 0}, {"n": 1})
    store.write([Record(f"f{n}", "", vector, each) for n, each in enumerate(fields)], {}, [])
    asked = [Query("", vector)]
    for clause, found in (
        (Clause("n", "eq", 0), {"f0"}),
        (Clause("n", "le", 0), {"f0"}),
        (Clause("n", "gt", -1), {"f0", "f4"}),
    ):
        assert {name for name, _ in store.search(asked, [clause], 5)[0]} == found
    store.drop()


def test_closing_ends_its_server_and_a_collection_is_loaded_when_opened_again(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    store = milvus.open_store(place, {})
    store.write(records(3), {}, [])
    servers = store._servers._servers
    assert len(servers) == 1
    store.close()
    assert servers == {}
    again = milvus.open_store(place, {})
    assert len(again.search(questions()[:1], [], 5)[0]) == 3
    again.drop()
    assert list(tmp_path.iterdir()) == []


def test_it_says_that_it_has_compacted_and_has_not(tmp_path: Path) -> None:
    """Which is why the adapter does not offer to compact."""
    store = milvus.open_store(Place("namespace", tmp_path, DIM, 50), {})
    store.write(records(9), {}, [])
    store._milvus.flush("namespace")
    store.write([], {}, ["f4"])
    store._milvus.flush("namespace")
    job = store._milvus.compact("namespace")
    assert store._milvus.get_compaction_state(job) == "Completed"
    erased = record(4).text.encode()
    assert any(erased in path.read_bytes() for path in files(tmp_path))
    assert not isinstance(store, Compacting)
    store.drop()


def test_a_server_that_refuses_keeps_its_address_and_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    with pytest.raises(Unavailable, match="set MEMROT_MILVUS_URL to the URL of a Milvus server"):
        milvus.open_store(place, {"server": ""})
    monkeypatch.setenv(milvus.URL, "http://ada:sk-planted-1@127.0.0.1:9")
    begun = time.monotonic()
    with pytest.raises(Unavailable, match="the Milvus server at MEMROT_MILVUS_URL gives Milvus") as refused:
        milvus.open_store(place, {"server": ""})
    assert time.monotonic() - begun < 20
    for secret in ("sk-planted-1", "127.0.0.1"):
        assert secret not in str(refused.value)
        assert secret not in caplog.text
