"""What DuckDB does to those who trust it, against the real thing."""

from __future__ import annotations

from pathlib import Path

import duckdb as real
import pytest

from memrot.memory import Clause, Fields, Place, Query, Record
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import duckdb


def test_questions_of_a_batch_are_one_statement_and_do_not_mix(tmp_path: Path) -> None:
    store = duckdb.open_store(Place("namespace", tmp_path, DIM, 300), {})
    store.write(records(300), {}, [])
    asked = [query for query in questions() for _ in range(3)]
    where = [Clause("tenant", "gt", 0)]
    for query, hits in zip(asked, store.search(asked, where, 9), strict=True):
        check_hits(hits, records(300), query, where, 9)
    store.drop()


def test_a_text_that_looks_like_a_number_is_none(tmp_path: Path) -> None:
    """Cast as it stands, the text "1" would be one, and "x" an error in whatever order tests are run."""
    store = duckdb.open_store(Place("namespace", tmp_path, DIM, 50), {})
    vector = record(1).vector
    fields: tuple[Fields, ...] = ({"n": 1}, {"n": "1"}, {"n": "x"}, {"m": 1}, {"n": 1 << 53}, {'"n"': 1})
    store.write([Record(f"f{n}", "", vector, each) for n, each in enumerate(fields)], {}, [])
    asked = [Query("", vector)]
    for clause, found in ((Clause("n", "eq", 1), {"f0"}), (Clause("n", "gt", 1), {"f4"})):
        assert {name for name, _ in store.search(asked, [clause], 9)[0]} == found
    with pytest.raises(real.ConversionException):
        store._db.execute("SELECT CAST(json_extract(fields, '$.n') AS BIGINT) FROM records").fetchall()
    store.drop()


def test_a_record_may_be_deleted_and_put_again_at_once(tmp_path: Path) -> None:
    """Its index checks keys too early where one plan deletes and inserts the same one many times."""
    store = duckdb.open_store(Place("namespace", tmp_path, DIM, 50), {})
    for number in range(20):
        store.write([record(number, "a")], {}, [])
        store.write([record(number + 1, "a"), record(number)], {}, [])
        store.write([record(30)], {"a": {"tenant": number}}, [f"f{number}"])
        store.write([], {}, ["a"])
    check_records(store.scan(vectors=True), {"f30": record(30)})
    store.drop()
    assert list(tmp_path.iterdir()) == []


def test_a_plan_that_fails_leaves_nothing_behind_and_no_transaction(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    store = duckdb.open_store(place, {})
    store.write(records(3), {}, [])
    short = Record("bad", "bad", record(1).vector[:4], {"tenant": 1})
    with pytest.raises(real.Error):
        store.write([record(7), short], {}, ["f1"])
    check_records(store.scan(vectors=True), {each.id: each for each in records(3)})
    store.write([record(7)], {}, ["f1"])
    store.close()
    store = duckdb.open_store(place, {})
    check_records(store.scan(vectors=True), {each.id: each for each in (record(0), record(2), record(7))})
    store.drop()


def test_what_was_deleted_stays_in_the_file_until_it_is_compacted(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path / "it's", DIM, 50)
    store = duckdb.open_store(place, {})
    store.write(records(9), {}, [])
    store.write([], {}, ["f4"])
    store._db.execute("CHECKPOINT")
    store._db.execute("VACUUM")
    store.close()
    (file,) = place.folder.iterdir()
    erased, kept = record(4).text.encode(), record(5).text.encode()
    assert kept in file.read_bytes()
    assert erased in file.read_bytes()
    duckdb.open_store(place, {}).compact()
    assert kept in file.read_bytes()
    assert erased not in file.read_bytes()
    store = duckdb.open_store(place, {})
    held = {each.id: each for each in records(9) if each.id != "f4"}
    check_records(store.scan(vectors=True), held)
    store.write([record(20, "f5")], {}, ["f6"])
    assert len(list(store.scan())) == 7
    store.drop()
    assert list(place.folder.iterdir()) == []
