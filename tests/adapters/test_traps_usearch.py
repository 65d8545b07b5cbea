"""What USearch does to those who trust it, against the real thing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from usearch.index import Index

from memrot.memory import Place
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import usearch


def test_cosines_are_in_single_precision(tmp_path: Path) -> None:
    """By default vectors lose half of their digits, and neighbours change places."""
    store = usearch.open_store(Place("namespace", tmp_path, DIM, 300), {})
    store.write(records(300), {}, [])
    vectors = np.stack([each.vector for each in records(300)])
    true = np.stack([query.vector for query in questions()]).astype(np.float64) @ vectors.T
    found = np.array([[near for _, near in sorted(hits)] for hits in store.search(questions(), [], 300)])
    np.testing.assert_allclose(found, true[:, np.argsort([each.id for each in records(300)])], atol=1e-6)
    halved = Index(ndim=DIM, metric="ip", dtype="bf16")
    halved.add(np.arange(300), vectors)
    rough = halved.search(questions()[0].vector, 300, exact=True)
    assert np.abs(1 - rough.distances - true[0, rough.keys.astype(int)]).max() > 1e-4
    store.drop()


def test_what_was_deleted_stays_in_the_file_until_it_is_compacted(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 50)
    store = usearch.open_store(place, {})
    store.write(records(9), {}, [])
    store.write([], {}, ["f4"])
    store.close()
    (file,) = tmp_path.iterdir()
    erased, kept = record(4).vector.tobytes(), record(5).vector.tobytes()
    assert kept in file.read_bytes()
    assert erased in file.read_bytes()
    usearch.open_store(place, {}).compact()
    assert kept in file.read_bytes()
    assert erased not in file.read_bytes()
    store = usearch.open_store(place, {})
    held = {each.id: each for each in records(9) if each.id != "f4"}
    check_records(store.scan(vectors=True), held)
    for query, hits in zip(questions(), store.search(questions(), [], 5), strict=True):
        check_hits(hits, held.values(), query, [], 5)
    store.write([], {}, list(held))
    store.compact()
    assert list(store.scan()) == []
    store.write([record(4)], {}, [])
    check_records(store.scan(vectors=True), {"f4": record(4)})
    store.drop()
    assert list(tmp_path.iterdir()) == []
