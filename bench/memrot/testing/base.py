"""What a conformance suite is made of: which store, which differences, and the check of a search.

Standard tests can be neither removed nor replaced. A store that cannot keep a promise declares the
difference, the test's name with the reason or an upstream link, and the test must then fail.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from memrot.memory import Clause, Place, Query, Record, Store
from memrot.postfilter import PostFilter
from memrot.testing.comparing import check_hits, matches
from memrot.testing.corpus import DIM, questions

MOST_DIFFERENCES = 2


class Suite:
    """Tests of a subclass's store; its methods named ``test_`` are the promises."""

    @staticmethod
    def open_store(place: Place, options: Mapping[str, str]) -> Store:
        raise NotImplementedError

    options: ClassVar[Mapping[str, str]] = {}
    differences: ClassVar[Mapping[str, str]] = {}
    """Name of a test -> why this store fails it: a measured reason or an upstream link."""
    examples: ClassVar[int] = 8
    """Histories that the stateful test tries."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        standard = {name for base in cls.__mro__[1:] for name in vars(base) if name.startswith("test_")}
        replaced = standard & vars(cls).keys()
        if replaced:
            raise TypeError(f"{cls.__name__} replaces standard tests: {sorted(replaced)}")
        unknown = cls.differences.keys() - standard
        if unknown:
            raise TypeError(f"{cls.__name__} declares differences that are no tests: {sorted(unknown)}")
        if len(cls.differences) > MOST_DIFFERENCES:
            raise TypeError(f"{cls.__name__} declares more than {MOST_DIFFERENCES} differences")
        for name, reason in vars(cls).get("differences", {}).items():
            setattr(cls, name, _expected_to_fail(getattr(cls, name), reason))

    def open(self, place: Place) -> Store:
        return self.open_store(place, self.options)

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Place("conformance", tmp_path / "cell", DIM, 300)

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


def _expected_to_fail(test: Callable[..., None], reason: str) -> Callable[..., None]:
    @functools.wraps(test)
    def declared(*args: Any, **kwargs: Any) -> None:
        test(*args, **kwargs)

    marked: Callable[..., None] = pytest.mark.xfail(strict=True, reason=reason)(declared)
    return marked
