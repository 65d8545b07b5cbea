"""The only post-filter: between every store and everything above it.

It splits a condition into what the store runs (pre-filter) and what is left (post-filter),
over-fetches until k acceptable hits are certain, puts ties into one order for all stores, and
guards adapters from empty, missing, duplicate and non-finite input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from operator import sub

import numpy as np

from memrot.errors import MemoryFault
from memrot.memory import Clause, Fields, Query, Record, Store, Where

TIE = 2e-6
"""Neighbours closer than this are ties: stores differ by rounding, not by ranking."""

_SLACK = 4
"""Hits fetched beyond k, so that a few ties or withheld hits need no second search."""

Hits = Sequence[tuple[str, float]]
Accept = Callable[[str], bool]


class PostFilter:
    """A store whose searches return exactly the first k, in the same order everywhere."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._ids = {record.id for record in store.scan()}
        self._fetched = 0
        self._wanted = 0
        self._post = False

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        """One plan; ids that do not exist are left out of patches and deletes.

        Raises ValueError for a vector or number that no store can be trusted with.
        """
        records = {record.id: record for record in put}
        for record in records.values():
            _check(record)
        leaving = set(delete)
        patches = {
            id_: new
            for id_, new in patch.items()
            if new and id_ in self._ids and id_ not in leaving and id_ not in records
        }
        gone = [id_ for id_ in dict.fromkeys(delete) if id_ in self._ids and id_ not in records]
        if records or patches or gone:
            self.store.write(list(records.values()), patches, gone)
        self._ids.update(records)
        self._ids.difference_update(gone)

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """The stored records among ``ids``, by id."""
        asked = list(dict.fromkeys(ids))
        return {record.id: record for record in self.store.get(asked)} if asked else {}

    def search(
        self,
        queries: Sequence[Query],
        where: Where,
        k: int,
        holds: Callable[[str, Clause], bool],
        counts: Accept | None = None,
    ) -> list[Hits]:
        """Per query its first hits: ``k`` that count, and those before the last of them that do not.

        ``holds`` decides a clause for an id (the post-filter); ``counts`` says which acceptable hits
        count against ``k`` (default: all).
        """
        if not self._ids or not queries:
            return [[] for _ in queries]
        pushed = [clause for clause in where if clause.op in self.store.info.filters]
        left = [clause for clause in where if clause.op not in self.store.info.filters]
        self._post |= bool(left)
        found: list[Hits] = [[] for _ in queries]
        open_ = list(range(len(queries)))
        fetch = min(k + _SLACK, len(self._ids))
        all_count = not left and counts is None
        while open_:
            answers = self.store.search([queries[i] for i in open_], pushed, fetch)
            unsettled: list[int] = []
            for i, raw in zip(open_, answers, strict=True):
                if all_count and _is_clear(raw, k):
                    found[i] = raw[:k]
                else:
                    exhausted = len(raw) < fetch or fetch >= len(self._ids)
                    accepted = raw
                    if left:
                        accepted = [hit for hit in raw if all(holds(hit[0], clause) for clause in left)]
                    ranked, settled = _ranked(accepted, raw, exhausted=exhausted)
                    taken = _take(ranked, settled, k, counts)
                    if taken is None and not exhausted:
                        unsettled.append(i)
                        continue
                    found[i] = ranked[:taken]
                self._fetched += len(raw)
                self._wanted += min(k, len(found[i])) or 1
            open_ = unsettled
            fetch = min(fetch * 2, len(self._ids))
        return found

    @property
    def filtering(self) -> str:
        """How conditions were run so far: ``none``, ``pre-filter`` or ``post-filter ×n``."""
        if self._post:
            return f"post-filter ×{self._fetched / self._wanted:.1f}"
        return "pre-filter"


def _check(record: Record) -> None:
    if not record.id:
        raise ValueError("a record needs an id that is not empty")
    if not 0 < np.dot(record.vector, record.vector) < np.inf:
        raise ValueError(f"record {record.id!r}: expected a vector whose length is finite and not zero")
    for name, value in record.fields.items():
        storable = type(value) is str or (type(value) is int and -(1 << 53) <= value <= 1 << 53)
        if not storable:
            raise ValueError(f"record {record.id!r}: {name!r} must be a str or a 53-bit int, got {value!r}")


def _is_clear(raw: Hits, k: int) -> bool:
    """Whether more than k hits are there and no tie among them, as nearly always: then the first k it is."""
    nearness = [similarity for _, similarity in raw]
    return len(nearness) > k and min(map(sub, nearness, nearness[1:]), default=TIE) >= TIE


def _ranked(accepted: Hits, raw: Hits, *, exhausted: bool) -> tuple[Hits, int]:
    """Accepted hits with ties in the order of their ids' hashes, and how many of them are settled.

    Hits in the tie that the fetch ended in are not settled: more of it may be unfetched.
    """
    nearness = list(dict(accepted).values())
    if len(nearness) != len(accepted):
        raise MemoryFault("the store returned a record twice for one query")
    tied = min(map(sub, nearness, nearness[1:]), default=TIE) < TIE
    hits = _break_ties(accepted) if tied else accepted
    settled = len(hits)
    if not exhausted:
        edge = _edge(raw)
        while settled and hits[settled - 1][1] <= edge:
            settled -= 1
    return hits, settled


def _edge(raw: Hits) -> float:
    """The similarity of the first hit in the tie that a fetch ended in."""
    edge = raw[-1][1]
    for _, similarity in reversed(raw):
        if similarity - edge >= TIE:
            break
        edge = similarity
    return edge


def _break_ties(hits: Hits) -> Hits:
    ordered: list[tuple[str, float]] = []
    group: list[tuple[str, float]] = []
    for hit in sorted(hits, key=lambda hit: -hit[1]):
        if group and group[-1][1] - hit[1] >= TIE:
            ordered += sorted(group, key=_tie_key)
            group = []
        group.append(hit)
    return ordered + sorted(group, key=_tie_key)


def _tie_key(hit: tuple[str, float]) -> bytes:
    # by hash: the order of ids would favour old facts
    return hashlib.blake2b(hit[0].encode(), digest_size=8).digest()


def _take(ranked: Hits, settled: int, k: int, counts: Accept | None) -> int | None:
    """How many settled hits hold k that count; None where there are not so many."""
    if counts is None:
        return k if settled >= k else None
    counted = 0
    for position in range(settled):
        counted += counts(ranked[position][0])
        if counted == k:
            return position + 1
    return None
