"""The reference store against a search that cannot be wrong."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrot.errors import BadInput
from memrot.exact import Exact, open_store
from memrot.memory import Clause, Op, Place, Query, Record

DIM = 4
VECTORS = st.lists(st.integers(-3, 3), min_size=DIM, max_size=DIM).filter(any)
STEPS = st.lists(
    st.tuples(st.sampled_from("pmd"), st.integers(0, 9), VECTORS, st.integers(0, 5)), max_size=40
)


@given(steps=STEPS, bound=st.integers(0, 5), k=st.integers(1, 12))
@settings(max_examples=150, deadline=None)
def test_search_equals_a_plain_scan(steps: list[tuple[str, int, list[int], int]], bound: int, k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _check_search(open_store(Place("test", Path(folder), DIM, 2), {}), steps, bound, k)


def _check_search(store: Exact, steps: list[tuple[str, int, list[int], int]], bound: int, k: int) -> None:
    kept: dict[str, tuple[list[int], int]] = {}
    for step, number, vector, n in steps:
        id_ = f"r{number}"
        if step == "p":
            store.write([Record(id_, id_, np.array(vector, np.float32), {"n": n})], {}, [])
            kept[id_] = (vector, n)
        elif id_ in kept and step == "m":
            store.write([], {id_: {"n": n}}, [])
            kept[id_] = (kept[id_][0], n)
        elif id_ in kept:
            store.write([], {}, [id_])
            del kept[id_]
    query = np.array([1, 2, 0, 1], np.float32)
    matching: dict[Op, set[str]] = {
        "gt": {id_ for id_, (_, n) in kept.items() if n > bound},
        "le": {id_ for id_, (_, n) in kept.items() if n <= bound},
        "eq": {id_ for id_, (_, n) in kept.items() if n == bound},
    }
    for op, ids in matching.items():
        found = store.search([Query("q", query)], [Clause("n", op, bound)], k)[0]
        cosines = {
            id_: float(query @ np.array(v) / np.linalg.norm(query) / np.linalg.norm(v))
            for id_, (v, _) in kept.items()
            if id_ in ids
        }
        assert [near for _, near in found] == pytest.approx(sorted(cosines.values(), reverse=True)[:k])
        assert all(cosines[id_] == pytest.approx(near) for id_, near in found)
    assert {r.id: r.fields["n"] for r in store.scan()} == {id_: n for id_, (_, n) in kept.items()}


def test_records_survive_closing_and_drop_leaves_nothing(tmp_path: Path) -> None:
    where = Place("test", tmp_path / "cell", DIM, 4)
    store = open_store(where, {})
    record = Record("é", "text", np.array([1, 0, 0, 2], np.float32), {"n": 1, "s": "x"})
    store.write([record], {}, [])
    store.close()
    again = open_store(where, {})
    kept = next(again.scan(vectors=True))
    assert (kept.id, kept.text, dict(kept.fields)) == ("é", "text", {"n": 1, "s": "x"})
    assert kept.vector.tolist() == record.vector.tolist()
    again.drop()
    again.close()
    assert not where.folder.exists()
    assert list(open_store(where, {}).scan()) == []


@pytest.mark.parametrize("torn", [0, 1, 3, 5, 20, 42])
def test_a_plan_that_a_kill_tore_counts_for_nothing(tmp_path: Path, torn: int) -> None:
    """The log is read as a kill leaves it: nobody closed the store."""
    where = Place("test", tmp_path / "cell", DIM, 4)
    store = open_store(where, {})
    records = [
        Record(id_, f"text {id_}", np.array([1, 0, n, 2], np.float32), {"n": n})
        for n, id_ in enumerate("abc")
    ]
    store.write(records[:2], {}, [])
    store.write([], {"a": {"n": 7}}, ["b"])
    (log,) = where.folder.iterdir()
    before = log.stat().st_size
    store.write([records[2]], {}, ["a"])
    if torn:
        content = log.read_bytes()
        assert before + torn <= len(content)
        log.write_bytes(content[: before + torn - 1])
    again = open_store(where, {})
    held = {record.id: record.fields["n"] for record in again.scan()}
    assert held == ({"a": 7} if torn else {"c": 2})
    again.write([records[1]], {}, [])
    assert {record.id for record in open_store(where, {}).scan()} == {*held, "b"}


def test_closing_leaves_nothing_of_what_was_deleted(tmp_path: Path) -> None:
    where = Place("test", tmp_path / "cell", DIM, 4)
    store = open_store(where, {})
    for id_, text in (("a", "kept"), ("b", "canary")):
        store.write([Record(id_, text, np.ones(DIM, np.float32), {"n": 1})], {}, [])
    store.write([], {}, ["b"])
    (log,) = where.folder.iterdir()
    assert b"canary" in log.read_bytes(), "a log remembers until it is closed"
    store.close()
    assert b"canary" not in log.read_bytes()
    assert b"kept" in log.read_bytes()


def test_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="takes no options"):
        open_store(Place("test", tmp_path, DIM, 4), {"mode": "x"})
