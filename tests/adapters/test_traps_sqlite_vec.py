"""What sqlite-vec does to those who trust it, against the real thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memrot.memory import Clause, Place, Query, Record
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import sqlite_vec

PLACE = "namespace"


def test_a_condition_holds_before_the_first_k_are_taken(tmp_path: Path) -> None:
    """Through a join it would be applied to the first k alone: k = 1 then finds nothing."""
    store = sqlite_vec.open_store(Place(PLACE, tmp_path, DIM, 50), {})
    store.write(records(50), {}, [])
    query = questions([record(0).text])[0]
    assert [name for name, _ in store.search([query], [], 1)[0]] == ["f0"]
    joined = (
        "SELECT id FROM vectors JOIN records ON row = rowid"
        " WHERE vector MATCH ? AND k = 1 AND json_extract(fields, '$.tenant') > 0"
    )
    assert store._db.execute(joined, (query.vector.tobytes(),)).fetchall() == []
    ((found, _),) = store.search([query], [Clause("tenant", "gt", 0)], 1)[0]
    assert int(found[1:]) % 2 == 1
    store.drop()


def test_more_can_be_asked_for_than_the_index_gives(tmp_path: Path) -> None:
    store = sqlite_vec.open_store(Place(PLACE, tmp_path, 2, 50), {})
    angles = np.linspace(0, np.pi, sqlite_vec.MOST + 2)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    store.write([Record(f"f{n}", "", vector, {"n": n}) for n, vector in enumerate(vectors)], {}, [])
    asked = [Query("", vectors[0])]
    for k in (sqlite_vec.MOST, sqlite_vec.MOST + 1, sqlite_vec.MOST + 9):
        hits = store.search(asked, [], k)[0]
        assert len(hits) == min(k, len(vectors))
        assert [near for _, near in hits] == sorted((near for _, near in hits), reverse=True)
        most = [Clause("n", "gt", 0)]
        assert len(store.search(asked, most, k)[0]) == min(k, len(vectors) - 1)
    store.drop()


def test_what_was_deleted_stays_in_the_file_until_it_is_compacted(tmp_path: Path) -> None:
    place = Place(PLACE, tmp_path, DIM, 50)
    store = sqlite_vec.open_store(place, {})
    store.write(records(9), {}, [])
    store.write([], {}, ["f4"])
    store.close()
    (file,) = tmp_path.iterdir()
    erased, kept = record(4).vector.tobytes(), record(5).vector.tobytes()
    assert kept in file.read_bytes()
    sqlite_vec.open_store(place, {}).compact()
    assert kept in file.read_bytes()
    assert erased not in file.read_bytes()
    sqlite_vec.open_store(place, {}).drop()
    assert list(tmp_path.iterdir()) == []
