"""What LanceDB does to those who trust it, against the real thing."""

from __future__ import annotations

from pathlib import Path

from memrot.memory import Clause, Place
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import lancedb


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("data/*") if path.is_file()]


def test_files_are_merged_now_and_then(tmp_path: Path) -> None:
    store = lancedb.open_store(Place("namespace", tmp_path, DIM, 50), {})
    for each in records(lancedb.EVERY - 1):
        store.write([each], {}, [])
    assert len(files(tmp_path)) >= lancedb.EVERY - 1
    store.write([record(90)], {}, [])
    assert len(files(tmp_path)) <= 2
    held = [*records(lancedb.EVERY - 1), record(90)]
    for query, hits in zip(questions(), store.search(questions(), [], 5), strict=True):
        check_hits(hits, held, query, [], 5)
    store.drop()


def test_one_id_is_one_record_also_through_another_connection(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    one, other = lancedb.open_store(place, {}), lancedb.open_store(place, {})
    one.write([record(1, "a")], {}, [])
    other.write([record(2, "a")], {}, [])
    check_records(one.scan(vectors=True), {"a": record(2, "a")})
    one.write([record(3, "a", extra=1)], {}, [])
    check_records(other.scan(vectors=True), {"a": record(3, "a", extra=1)})
    (hit,) = other.search(questions()[:1], [Clause("extra", "eq", 1)], 5)[0]
    assert hit[0] == "a"
    one.drop()


def test_what_was_deleted_stays_in_old_versions_until_they_are_dropped(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    store = lancedb.open_store(place, {})
    store.write(records(9), {}, [])
    store.write([], {}, ["f4"])
    erased, kept = record(4).vector.tobytes(), record(5).vector.tobytes()

    def held(trace: bytes) -> bool:
        return any(trace in path.read_bytes() for path in files(tmp_path))

    assert held(kept)
    assert held(erased)
    store.compact()
    assert held(kept)
    assert not held(erased)
    store.drop()
