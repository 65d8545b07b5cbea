"""What every ``Store`` promises, each promise a test; see the package's docstring for how to use it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from memrot.errors import BadInput
from memrot.exact import Exact
from memrot.memory import Clause, Fields, Op, Place, Query, Record, Store
from memrot.model import NEVER
from memrot.postfilter import PostFilter
from memrot.testing.base import Suite
from memrot.testing.comparing import check_hits, check_records, matches, sibling
from memrot.testing.corpus import DIM, questions, record, records, sentence, vector
from memrot.testing.machine import check_any_history
from memrot.testing.resources import check_released

STRANGE_IDS = (
    *(
        "a b",
        "it's",
        'say "hi"',
        "back\\slash",
        "{curly}",
        "[square]",
        "a:b",
        "a-b|c",
        "*",
        "?",
        "%s",
        "@x",
        "$y",
    ),
    *("#", "~", "-", "0", "1e3", "None", "line\nbreak", "tab\t", "Zürich", "東京", "ключ", "🦊", "e\u0301"),
    "long" * 100,
)


class StoreConformance(Suite, standard=True):
    """Subclass it, name ``open_store``, and collect with pytest."""

    examples: ClassVar[int] = 8
    """Histories that the last of the tests tries."""

    @staticmethod
    def open_store(place: Place, options: Mapping[str, str]) -> Store:
        raise NotImplementedError

    def open(self, place: Place) -> Store:
        return self.open_store(place, self.options)

    @pytest.fixture
    def store(self, place: Place) -> Iterator[Store]:
        store = self.open(place)
        yield store
        store.drop()
        store.close()

    @staticmethod
    def pushed(store: Store, *clauses: Clause) -> list[Clause]:
        return [clause for clause in clauses if clause.op in store.info.filters]

    def check(self, store: Store, held: Mapping[str, Record], *clauses: Clause, k: int = 7) -> None:
        """Search without a filter, and with each of ``clauses`` that the store runs or memrot does."""
        asked: list[Query] = [*questions()[:4], *questions([each.text for each in held.values()][:3])]
        for clause in (None, *clauses):
            where = [] if clause is None else [clause]
            pushed = self.pushed(store, *where)
            for query, hits in zip(asked, store.search(asked, pushed, k), strict=True):
                check_hits(hits, held.values(), query, pushed, k)
            found = PostFilter(store).search(asked, where, k, lambda name, each: matches(held[name], [each]))
            for query, first in zip(asked, found, strict=True):
                check_hits(first, held.values(), query, where, k)

    # --- writing -----------------------------------------------------------------------------

    def test_upsert_replaces_the_record_and_all_its_metadata(self, store: Store) -> None:
        store.write([record(1, "a", extra=7, note="old"), record(2)], {}, [])
        new = Record("a", sentence(3), vector(sentence(3)), {"tenant": 5})
        store.write([new], {}, [])
        check_records(store.scan(vectors=True), {"a": new, "f2": record(2)})
        query = questions([sentence(1)])[0]
        for clause in self.pushed(store, Clause("extra", "eq", 7), Clause("expires_at", "gt", 0)):
            check_hits(store.search([query], [clause], 5)[0], [new, record(2)], query, [clause], 5)

    def test_patch_changes_its_fields_and_keeps_the_vector(self, store: Store) -> None:
        store.write(records(5), {}, [])
        store.write([], {"f1": {"expires_at": 3}, "f2": {"tenant": 9, "label": "new"}}, [])
        held = {each.id: each for each in records(5)}
        held["f1"] = record(1, expires_at=3)
        held["f2"] = record(2, tenant=9, label="new")
        check_records(store.scan(vectors=True), held)
        self.check(store, held, Clause("expires_at", "le", 3), Clause("tenant", "eq", 9))

    def test_one_plan_may_put_patch_and_delete(self, store: Store) -> None:
        store.write(records(6), {}, [])
        store.write([record(9), record(7, "f0")], {"f1": {"tenant": 4}}, ["f2", "f3"])
        held = {
            each.id: each for each in (record(7, "f0"), record(1, tenant=4), record(4), record(5), record(9))
        }
        check_records(store.get([f"f{number}" for number in range(10)]), held)
        self.check(store, held, Clause("tenant", "eq", 4))

    def test_delete_is_idempotent(self, store: Store) -> None:
        guarded = PostFilter(store)
        guarded.write(records(4), {}, [])
        for _ in range(2):
            guarded.write([], {}, ["f1", "never held"])
        held = {each.id: each for each in records(4) if each.id != "f1"}
        check_records(store.scan(vectors=True), held)
        self.check(store, held)

    def test_deleted_record_can_be_added_again(self, store: Store) -> None:
        store.write(records(4), {}, [])
        store.write([], {}, ["f1", "f2"])
        store.write([record(8, "f1")], {}, [])
        held = {"f0": record(0), "f1": record(8, "f1"), "f3": record(3)}
        check_records(store.scan(vectors=True), held)
        self.check(store, held)

    def test_same_text_may_be_stored_under_two_ids(self, store: Store) -> None:
        one, two = (
            Record(name, "the same", vector(sentence(n)), {"tenant": n}) for n, name in enumerate("ab")
        )
        store.write([one], {}, [])
        store.write([two], {}, [])
        check_records(store.scan(vectors=True), {"a": one, "b": two})
        self.check(store, {"a": one, "b": two})

    def test_nan_is_refused_and_nothing_is_written(self, store: Store) -> None:
        guarded = PostFilter(store)
        guarded.write([record(0)], {}, [])
        for bad in (
            np.full(DIM, np.nan, np.float32),
            np.full(DIM, np.inf, np.float32),
            np.zeros(DIM, np.float32),
        ):
            with pytest.raises(ValueError, match="bad"):
                guarded.write([record(1), Record("bad", "bad", bad, {"tenant": 1})], {}, [])
        for value in (float("nan"), float("inf"), True, None):
            wrong: Any = {"tenant": value}
            with pytest.raises(ValueError, match="bad"):
                guarded.write([record(1), Record("bad", "bad", vector("bad"), wrong)], {}, [])
        check_records(store.scan(vectors=True), {"f0": record(0)})

    # --- reading -----------------------------------------------------------------------------

    def test_get_leaves_out_what_is_absent(self, store: Store) -> None:
        assert list(store.get(["f1"])) == []
        store.write(records(3), {}, [])
        check_records(store.get(["f2", "absent", "f0"]), {"f0": record(0), "f2": record(2)})
        assert list(store.get(["absent", "nor this"])) == []

    def test_scan_gives_vectors_only_when_asked(self, store: Store) -> None:
        held = {each.id: each for each in records(7)}
        store.write(list(held.values()), {}, [])
        check_records(store.scan(), held, vectors=False)
        check_records(store.scan(vectors=True), held)

    def test_numbers_keep_their_type(self, store: Store) -> None:
        numbers = {"zero": 0, "one": 1, "minus": -5, "most": 1 << 53, "least": -(1 << 53), "never": NEVER}
        texts = {"empty": "", "digit": "1", "word": "true", "equals": "=x", "null": "null", "float": "1.0"}
        held = {
            "a": record(0, "a", **numbers, **texts),
            "b": record(1, "b", **{**numbers, "one": 0}, **texts),
        }
        store.write(list(held.values()), {}, [])
        check_records(store.get(["a", "b"]), held)
        check_records(store.scan(), held, vectors=False)
        self.check(
            store, held, Clause("one", "eq", 1), Clause("one", "eq", 0), Clause("most", "gt", (1 << 53) - 1)
        )

    def test_fields_may_be_called_as_the_backend_calls_its_own(self, store: Store) -> None:
        names = ("id", "text", "vector", "data", "document", "distance", "score", "hash", "user_id", "record")
        held = {
            f"f{n}": _patched(record(n), {**dict.fromkeys(names, n), "expiration_date": "2020-01-01"})
            for n in range(6)
        }
        store.write(list(held.values()), {}, [])
        store.write([], {"f0": {"id": 9, "data": 9}}, [])
        held["f0"] = _patched(held["f0"], {"id": 9, "data": 9})
        check_records(store.scan(vectors=True), held)
        self.check(store, held, *(Clause(name, "gt", 2) for name in names))

    def test_unicode_strange_and_long_ids(self, store: Store) -> None:
        held = {name: record(number, name, label=name) for number, name in enumerate(STRANGE_IDS)}
        store.write(list(held.values()), {}, [])
        check_records(store.get(list(held)), held)
        check_records(store.scan(vectors=True), held)
        self.check(store, held)
        store.write([], {name: {"tenant": 8} for name in held}, [])
        store.write([], {}, [name for name in held if name != "🦊"])
        check_records(
            store.scan(vectors=True), {"🦊": record(STRANGE_IDS.index("🦊"), "🦊", label="🦊", tenant=8)}
        )

    # --- searching ---------------------------------------------------------------------------

    def test_empty_store_finds_nothing(self, store: Store) -> None:
        asked = questions()[:3]
        for where in ([], self.pushed(store, Clause("tenant", "gt", 0))):
            assert [list(hits) for hits in store.search(asked, where, 5)] == [[], [], []]
        assert list(store.scan()) == []
        store.write(records(2), {}, [])
        store.write([], {}, ["f0", "f1"])
        assert [list(hits) for hits in store.search(asked, [], 5)] == [[], [], []]

    def test_search_agrees_with_exact(self, store: Store) -> None:
        held = {each.id: each for each in records(300)}
        for start in range(0, 300, 60):
            store.write(records(300)[start : start + 60], {}, [])
        for k in (1, 5, 40):
            self.check(store, held, k=k)

    def test_more_asked_for_than_there_is(self, store: Store) -> None:
        held = {each.id: each for each in records(30)}
        store.write(list(held.values()), {}, [])
        self.check(store, held, Clause("tenant", "gt", 0), Clause("tenant", "gt", 5), k=1000)

    def test_batch_gives_what_singles_give(self, store: Store) -> None:
        store.write(records(60), {}, [])
        asked = [*questions(), questions()[0]]
        where = self.pushed(store, Clause("expires_at", "gt", 10))
        batch = PostFilter(store).search(asked, where, 5, _never)
        singles = [PostFilter(store).search([query], where, 5, _never)[0] for query in asked]
        for together, alone in zip(batch, singles, strict=True):
            assert [name for name, _ in together] == [name for name, _ in alone]
            np.testing.assert_allclose([s for _, s in together], [s for _, s in alone], rtol=0, atol=1e-6)

    def test_negative_similarities_are_found(self, store: Store) -> None:
        away = Record("away", "away", -vector(sentence(1)), {"tenant": 0})
        store.write([record(1), away], {}, [])
        self.check(store, {"f1": record(1), "away": away})

    def test_filters_hold_on_both_sides_of_a_bound(self, store: Store) -> None:
        values = (-1, 0, 1, 2, 1_700_000_000_000, 1_700_000_000_001, NEVER - 1, NEVER)
        held = {
            f"v{value}": record(number, f"v{value}", expires_at=value) for number, value in enumerate(values)
        }
        store.write(list(held.values()), {}, [])
        ops: tuple[Op, ...] = ("gt", "le", "eq")
        self.check(store, held, *(Clause("expires_at", op, value) for op in ops for value in values))
        both = self.pushed(store, Clause("expires_at", "gt", 0), Clause("expires_at", "le", NEVER - 1))
        query = questions()[0]
        check_hits(store.search([query], both, 20)[0], held.values(), query, both, 20)

    def test_filters_never_match_a_missing_field(self, store: Store) -> None:
        without = Record("without", sentence(1), vector(sentence(1)), {"tenant": 1})
        held = {"without": without, "f1": record(1, since=0), "f2": record(2, since=5)}
        store.write(list(held.values()), {}, [])
        ops: tuple[Op, ...] = ("gt", "le", "eq")
        self.check(store, held, *(Clause(name, op, 0) for name in ("since", "nowhere") for op in ops))
        store.write([Record("f2", sentence(1), vector(sentence(1)), {"tenant": 1})], {}, [])
        held["f2"] = Record("f2", sentence(1), vector(sentence(1)), {"tenant": 1})
        self.check(store, held, Clause("since", "gt", -1), Clause("since", "le", 9))

    def test_ties_come_in_the_same_order_as_in_exact(self, store: Store, place: Place) -> None:
        same = [record(number % 3, f"tie {number}") for number in range(40)]
        reference = Exact(sibling(place))
        reference.write(same, {}, [])
        store.write(same[20:], {}, [])
        store.write(same[:20], {}, [])
        query = questions([sentence(1)])
        for k in (1, 5, 13, 14, 39):
            lists = [PostFilter(each).search(query, [], k, _never)[0] for each in (store, reference)]
            assert [name for name, _ in lists[0]] == [name for name, _ in lists[1]]

    def test_live_records_are_found_among_90_percent_tombstoned(self, store: Store) -> None:
        held = {each.id: each for each in records(300)}
        store.write(list(held.values()), {}, [])
        store.write([], {f"f{n}": {"expires_at": 1} for n in range(300) if n % 10}, [])
        held = {
            name: _patched(each, {"expires_at": 1}) if int(name[1:]) % 10 else each
            for name, each in held.items()
        }
        self.check(store, held, Clause("expires_at", "gt", 1))
        store.write([], {}, [name for name in held if int(name[1:]) % 10])
        self.check(store, {name: each for name, each in held.items() if not int(name[1:]) % 10}, k=30)

    # --- lifetime ----------------------------------------------------------------------------

    def test_reopened_store_finds_its_records_and_takes_more(self, place: Place) -> None:
        store = self.open(place)
        if not store.info.persists:
            store.drop()
            pytest.skip("says that it does not persist")
        store.write(records(40), {}, [])
        store.write([], {"f3": {"tenant": 6}}, ["f4"])
        store.close()
        store = self.open(place)
        held = {each.id: each for each in records(40) if each.id != "f4"}
        held["f3"] = record(3, tenant=6)
        check_records(store.scan(vectors=True), held)
        self.check(store, held, Clause("tenant", "eq", 6))
        store.write([record(50), record(51, "f5")], {"f3": {"tenant": 7}}, ["f6"])
        held |= {"f50": record(50), "f5": record(51, "f5"), "f3": record(3, tenant=7)}
        del held["f6"]
        self.check(store, held, Clause("tenant", "eq", 7))
        store.drop()
        store.close()

    def test_drop_removes_its_own_namespace_only(self, place: Place) -> None:
        one, other = self.open(place), self.open(sibling(place))
        for store in (one, other):
            store.write(records(5), {}, [])
        one.drop()
        one.close()
        check_records(other.scan(vectors=True), {each.id: each for each in records(5)})
        self.check(other, {each.id: each for each in records(5)})
        other.drop()
        other.close()
        again = self.open(place)
        assert list(again.scan()) == []
        again.drop()
        again.close()

    def test_close_is_idempotent_and_releases_everything(self, place: Place) -> None:
        def lifetime() -> None:
            store = self.open(place)
            store.write(records(3), {}, [])
            store.search(questions()[:1], [], 2)
            store.close()
            store.close()

        check_released(lifetime)
        self.open(place).drop()

    def test_unknown_option_is_refused(self, place: Place) -> None:
        with pytest.raises(BadInput):
            self.open_store(place, {**self.options, "no-such-option": ""})

    def test_any_history_agrees_with_exact(self) -> None:
        check_any_history(self.open, examples=self.examples, steps=12)


def _never(name: str, clause: Clause) -> bool:
    raise AssertionError(f"asked to post-filter {name} by {clause}")


def _patched(record: Record, fields: Fields) -> Record:
    return Record(record.id, record.text, record.vector, {**record.fields, **fields})
