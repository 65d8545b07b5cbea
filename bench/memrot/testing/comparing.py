"""When two stores' answers are the same: up to rounding, and up to the order of ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from memrot.memory import Clause, Place, Query, Record, Where
from memrot.testing.corpus import cosine

ROUNDING = 1e-5
"""Between cosines computed in single precision, in whatever order."""

Hits = Sequence[tuple[str, float]]


def matches(record: Record, where: Where) -> bool:
    """What a filter means: a field that is absent, or no number, satisfies nothing."""
    return all(_holds(record.fields.get(clause.field), clause) for clause in where)


def _holds(value: int | str | None, clause: Clause) -> bool:
    if not isinstance(value, int):
        return False
    return {"gt": value > clause.value, "le": value <= clause.value, "eq": value == clause.value}[clause.op]


def check_hits(hits: Hits, held: Iterable[Record], query: Query, where: Where, k: int) -> None:
    """Assert that ``hits`` are the k most similar of ``held`` that match, and say so truthfully."""
    true = {record.id: cosine(query.vector, record.vector) for record in held if matches(record, where)}
    ids = [record_id for record_id, _ in hits]
    assert len(set(ids)) == len(ids), "a record came back twice"
    assert set(ids) <= true.keys(), f"not held or not matching: {set(ids) - true.keys()}"
    assert len(ids) == min(k, len(true)), f"{len(ids)} hits, where {len(true)} match and k is {k}"
    found = np.array([similarity for _, similarity in hits])
    best = np.sort(np.array(list(true.values())))[::-1][:k]
    np.testing.assert_allclose(found, best, rtol=0, atol=ROUNDING, err_msg="not the most similar, in order")
    np.testing.assert_allclose(found, [true[record_id] for record_id in ids], rtol=0, atol=ROUNDING)


def check_records(found: Iterable[Record], expected: Mapping[str, Record], *, vectors: bool = True) -> None:
    """Assert that ``found`` are the expected records, whole, with each field's type."""
    by_id = {}
    for record in found:
        assert record.id not in by_id, f"record {record.id!r} came back twice"
        by_id[record.id] = record
    assert by_id.keys() == expected.keys()
    for record_id, record in expected.items():
        same = by_id[record_id]
        assert same.text == record.text
        assert dict(same.fields) == dict(record.fields)
        assert {n: type(v) for n, v in same.fields.items()} == {n: type(v) for n, v in record.fields.items()}
        if vectors:
            np.testing.assert_allclose(same.vector, record.vector, rtol=0, atol=ROUNDING)
        else:
            assert same.vector.shape == (0,)


def sibling(place: Place) -> Place:
    """Another namespace, side by side with that of ``place``."""
    return Place(f"{place.namespace}2", place.folder, place.dim, place.expected)
