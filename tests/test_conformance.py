"""The conformance kit catches what it is there to catch: stores that are wrong in one way each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from memrot import exact
from memrot.exact import Exact
from memrot.memory import Fields, Place, Query, Record, Store, Where
from memrot.testing import StoreConformance
from memrot.testing.corpus import DIM

Hits = Sequence[Sequence[tuple[str, float]]]


class MergesMetadata(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        old = {record.id: record.fields for record in self.get([record.id for record in put])}
        merged = [structs.replace(new, fields={**old.get(new.id, {}), **new.fields}) for new in put]
        super().write(merged, patch, delete)


class ForgetsVectorsOnPatch(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        lost = [structs.replace(old, vector=np.roll(old.vector, 1)) for old in self.get(list(patch))]
        super().write([*put, *lost], patch, delete)


class TakesBoundsIn(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        wider = [structs.replace(c, value=c.value - 1) if c.op == "gt" else c for c in where]
        return super().search(queries, wider, k)


class MatchesWhatIsMissing(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return super().search(queries, [c for c in where if c.field in self._columns], k)


class FiltersAfterwards(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        matching = {name for name, _ in super().search(queries[:1], where, len(self._records))[0]}
        return [[hit for hit in hits if hit[0] in matching] for hits in super().search(queries, [], k)]


class HidesNegatives(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [[hit for hit in hits if hit[1] >= 0] for hits in super().search(queries, where, k)]


class AnswersTheFirstQuestionOnly(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [*super().search(queries[:1], where, k)] * len(queries)


class MissesOneInAHundred(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [
            [hit for hit in hits if not hit[0].endswith("77")] for hits in super().search(queries, where, k)
        ]


class StoresNumbersAsText(Exact):
    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for record in super().scan(vectors):
            yield structs.replace(record, fields={name: str(value) for name, value in record.fields.items()})


class FoldsIds(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        super().write([structs.replace(new, id=new.id.strip()[:255]) for new in put], patch, delete)


class ForgetsOnClose(Exact):
    def close(self) -> None:
        self._records.clear()
        super().close()


WRONG: dict[type[Exact], str] = {
    MergesMetadata: "upsert_replaces_the_record_and_all_its_metadata",
    ForgetsVectorsOnPatch: "patch_changes_its_fields_and_keeps_the_vector",
    TakesBoundsIn: "filters_hold_on_both_sides_of_a_bound",
    MatchesWhatIsMissing: "filters_never_match_a_missing_field",
    FiltersAfterwards: "live_records_are_found_among_90_percent_tombstoned",
    HidesNegatives: "negative_similarities_are_found",
    AnswersTheFirstQuestionOnly: "batch_gives_what_singles_give",
    MissesOneInAHundred: "search_agrees_with_exact",
    StoresNumbersAsText: "numbers_keep_their_type",
    FoldsIds: "unicode_strange_and_long_ids",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_each_wrong_store_fails_the_test_that_is_about_it(wrong: type[Exact], tmp_path: Path) -> None:
    kit: Any = StoreConformance()
    with pytest.raises(AssertionError):
        getattr(kit, f"test_{WRONG[wrong]}")(wrong(Place("wrong", tmp_path, DIM, 300)))
    getattr(kit, f"test_{WRONG[wrong]}")(Exact(Place("right", tmp_path, DIM, 300)))


def kit(store: type[Exact], **more: Any) -> Any:
    def open_store(place: Place, options: Mapping[str, str]) -> Store:
        return exact.open_store(place, options) if options else store(place)

    return type("Kit", (StoreConformance,), {"open_store": staticmethod(open_store), **more})


@pytest.mark.parametrize(
    "wrong",
    [MergesMetadata, ForgetsVectorsOnPatch, TakesBoundsIn, FiltersAfterwards, HidesNegatives,
     AnswersTheFirstQuestionOnly, StoresNumbersAsText, ForgetsOnClose],
    ids=lambda wrong: wrong.__name__,
)  # fmt: skip
def test_any_history_finds_wrong_stores(wrong: type[Exact]) -> None:
    with pytest.raises((AssertionError, KeyError)):
        kit(wrong)().test_any_history_agrees_with_exact()


def test_store_that_forgets_on_close_is_not_one_that_persists(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        kit(ForgetsOnClose)().test_reopened_store_finds_its_records_and_takes_more(
            Place("wrong", tmp_path, DIM, 300)
        )


def test_standard_tests_can_be_neither_replaced_nor_excused_beyond_reason() -> None:
    with pytest.raises(TypeError, match="replaces standard tests"):
        kit(Exact, test_numbers_keep_their_type=None)
    with pytest.raises(TypeError, match="no tests"):
        kit(Exact, differences={"test_nothing": "a reason"})
    some = [name for name in vars(StoreConformance) if name.startswith("test_")][:3]
    with pytest.raises(TypeError, match="more than 2"):
        kit(Exact, differences=dict.fromkeys(some, "a reason"))


TestDeclaredDifference = kit(
    FoldsIds, differences={"test_unicode_strange_and_long_ids": "a miniature that cuts ids"}
)
"""Its one difference is expected to fail, strictly; all else passes."""
