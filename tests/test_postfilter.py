"""The post-filter returns the same first k over any store, however it filters, ties and truncates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrot.errors import MemoryFault
from memrot.exact import Exact
from memrot.memory import Clause, Fields, Info, Op, Place, Query, Record, Where
from memrot.postfilter import TIE, PostFilter

DIM = 8


def place(folder: Path) -> Place:
    return Place("test", folder, DIM, 16)


def unit(angle: float) -> np.typing.NDArray[np.float32]:
    """Cosine with the query is ``cos(angle)``."""
    vector = np.zeros(DIM, np.float32)
    vector[0], vector[1] = np.cos(angle), np.sin(angle)
    return vector


QUERY = Query("q", unit(0))


class Poor(Exact):
    """A store that runs no filter and returns ties in the order of insertion, newest first."""

    def __init__(self, place: Place, filters: frozenset[Op] = frozenset()) -> None:
        super().__init__(place)
        self.info = Info(name="poor", backend="NumPy", version="0", filters=filters)
        self.fetches: list[int] = []
        self.writes: list[tuple[int, int, int]] = []

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self.writes.append((len(put), len(patch), len(delete)))
        super().write(put, patch, delete)

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        assert all(clause.op in self.info.filters for clause in where)
        self.fetches.append(k)
        return super().search(queries, where, k)


def filled(store: Exact, records: Mapping[str, tuple[float, int]]) -> PostFilter:
    """Id -> (angle to the query, field n)."""
    store.write([Record(id_, id_, unit(angle), {"n": n}) for id_, (angle, n) in records.items()], {}, [])
    return PostFilter(store)


def holds(records: Mapping[str, tuple[float, int]]) -> Callable[[str, Clause], bool]:
    def decide(id_: str, clause: Clause) -> bool:
        value = records[id_][1]
        return value > clause.value if clause.op == "gt" else value <= clause.value

    return decide


ANGLES = st.sampled_from([i / 40 for i in range(40)])  # few: ties are common
RECORDS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3), st.tuples(ANGLES, st.integers(0, 3)), min_size=1, max_size=40
)


@given(
    records=RECORDS,
    k=st.integers(1, 8),
    bound=st.integers(0, 3),
    weak=st.just(set()) | st.sets(st.text("abcdef", max_size=2)),
)
@settings(max_examples=200, deadline=None)
def test_pre_and_post_filter_give_the_same_list(
    tmp_path_factory: pytest.TempPathFactory,
    records: dict[str, tuple[float, int]],
    k: int,
    bound: int,
    weak: set[str],
) -> None:
    where = [Clause("n", "gt", bound)]
    lists = []
    for filters in (frozenset[Op](), frozenset[Op]({"gt"})):
        searcher = filled(Poor(place(tmp_path_factory.mktemp("store")), filters), records)
        lists.append(searcher.search([QUERY], where, k, holds(records), lambda id_: id_ not in weak))
        if not weak:  # that all count need not be asked hit by hit
            lists.append(searcher.search([QUERY], where, k, holds(records)))
        searcher.store.drop()
    assert all(each == lists[0] for each in lists)
    ids = [id_ for id_, _ in lists[0][0]]
    matching = {id_ for id_, (_, n) in records.items() if n > bound}
    counting = [id_ for id_ in ids if id_ not in weak]
    assert set(ids) <= matching
    assert len(counting) == min(k, len(matching - weak))
    worst = max((records[id_][0] for id_ in counting), default=0)
    assert all(records[id_][0] >= worst for id_ in matching - set(ids) - weak)


def test_ties_do_not_depend_on_k_or_on_the_order_of_insertion(tmp_path: Path) -> None:
    records = {f"r{i}": (0.5, 0) for i in range(30)}
    forth = filled(Poor(place(tmp_path)), records)
    back = filled(Poor(place(tmp_path)), dict(reversed(records.items())))
    long = forth.search([QUERY], [], 20, holds(records))[0]
    assert len({similarity for _, similarity in long}) == 1
    for k in (1, 5, 19):
        for searcher in (forth, back):
            assert searcher.search([QUERY], [], k, holds(records))[0] == long[:k]


def test_differences_below_the_tie_are_ties_and_above_are_not(tmp_path: Path) -> None:
    close, far = np.arccos(0.5 + TIE / 4), np.arccos(0.5 + TIE * 4)
    records = {f"r{i}": (float(close if i % 2 else np.arccos(0.5)), 0) for i in range(12)} | {
        "first": (float(far), 0)
    }
    ranked = [
        id_ for id_, _ in filled(Poor(place(tmp_path)), records).search([QUERY], [], 13, holds(records))[0]
    ]
    same = {id_: (1.0, 0) for id_ in records if id_ != "first"}
    tied = [id_ for id_, _ in filled(Poor(place(tmp_path)), same).search([QUERY], [], 12, holds(same))[0]]
    assert ranked == ["first", *tied]


def test_filtering_says_how_conditions_ran(tmp_path: Path) -> None:
    records = {f"r{i}": (i / 100, i % 2) for i in range(100)}
    for filters, said in ((frozenset[Op]({"gt"}), "pre-filter"), (frozenset[Op](), "post-filter ×")):
        searcher = filled(Poor(place(tmp_path), filters), records)
        searcher.search([QUERY], [Clause("n", "gt", 0)], 20, holds(records))
        assert searcher.filtering.startswith(said)


def test_an_adapter_is_never_called_with_nothing(tmp_path: Path) -> None:
    store = Poor(place(tmp_path))
    guarded = PostFilter(store)
    guarded.write([], {"gone": {"n": 1}}, ["gone"])
    assert guarded.search([QUERY], [], 5, holds({})) == [[]]
    assert guarded.get([]) == {}
    assert (store.writes, store.fetches) == ([], [])
    guarded.write([Record("a", "a", unit(0), {"n": 1})], {}, [])
    guarded.write([], {"a": {"n": 2}, "b": {"n": 2}}, ["b", "a", "a"])
    assert store.writes == [(1, 0, 0), (0, 0, 1)]


def test_a_store_that_repeats_a_record_is_at_fault(tmp_path: Path) -> None:
    class Twice(Poor):
        def search(
            self, queries: Sequence[Query], where: Where, k: int
        ) -> Sequence[Sequence[tuple[str, float]]]:
            return [[*hits[:1], *hits] for hits in super().search(queries, where, k - 1)]

    searcher = filled(Twice(place(tmp_path)), {"a": (0.1, 0), "b": (0.2, 0)})
    with pytest.raises(MemoryFault, match="twice"):
        searcher.search([QUERY], [], 2, holds({}))


def bad_records() -> Iterator[Record]:
    nan = np.full(DIM, np.nan, np.float32)
    yield Record("", "t", unit(0), {})
    yield Record("a", "t", nan, {})
    yield Record("a", "t", np.zeros(DIM, np.float32), {})
    for value in (float("nan"), 0.5, True, None, 1 << 60):
        yield Record("a", "t", unit(0), {"n": value})  # type: ignore[dict-item]  # what is refused


@pytest.mark.parametrize("record", list(bad_records()), ids=lambda record: f"{record.id}-{record.fields}")
def test_what_no_store_can_be_trusted_with_is_refused(tmp_path: Path, record: Record) -> None:
    store = Poor(place(tmp_path))
    with pytest.raises(ValueError, match=r"expected|needs|must be"):
        PostFilter(store).write([record], {}, [])
    assert store.writes == []
