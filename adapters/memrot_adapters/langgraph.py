"""LangGraph: ``InMemoryStore`` in process by default; with ``mode=postgres`` ``PostgresStore`` on a server of
our own, with ``langgraph[server]`` on one at ``MEMROT_LANGGRAPH_URL``, or else at ``DATABASE_URL``.

An item a record, under the record's id. What it embeds is a handle that stands for the vector, not the text:
``InMemoryStore`` refuses a batch in which two items say the same
(https://github.com/langchain-ai/langgraph/issues/8822). A patch puts the item again and leaves its
vector as it is (``index=False``). Both search exactly; neither gives a vector back, so that they are kept
beside the one and read from the other's tables.

Numbers that conditions are about are kept twice, under names of their own. ``InMemoryStore`` compares what is
missing or a text by raising an error, unless a test that fails comes first (``$ne``). ``PostgresStore``
compares texts, in whose order 9 is above 10: there a number is written in 17 digits.

What was deleted leaves the tables with ``VACUUM FULL``, but not the server's write-ahead log: facts to be
erased can still be read there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from memrot.memory import Capability, Fields, Info, Place, Query, Record, Vector, Where
from memrot_adapters._langgraph import EVERY, EXTRA, ISSUES, Postgres, Vectors, in_memory, versions
from memrot_adapters._opening import backend, check_options

CHUNK = 5000
"""Items a batch: a statement of PostgreSQL takes 65,535 values, and an item is five."""

HANDLE = "vector"
"""The field that is embedded."""

LEAST = 1 << 53
"""What is added to a number before it is written: no field is below minus this."""

MISSING = Capability(
    "native", "operators of search; a field that is missing is an error, and is tested for", f"{ISSUES}/7880"
)
AS_TEXT = Capability(
    "native", "operators of search; they compare text, so numbers are written in 17 digits", f"{ISSUES}/7684"
)


def open_store(place: Place, options: Mapping[str, str]) -> LangGraph:
    check_options("langgraph", options, {"mode": ("postgres",), "server": ("",)})
    if options:
        return OnPostgres(place, at_url="server" in options)
    return LangGraph(place)


class LangGraph:
    """Over ``InMemoryStore``, which ends with its process."""

    def __init__(self, place: Place) -> None:
        self._ops = backend("langgraph.store.base", EXTRA)
        self._namespace = (place.namespace,)
        self._vectors = Vectors()
        self._store = self._opened(place)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        held = {item.key: item.value for item in self._items(list(patch))}
        plan = [self._put(new.id, new.text, new.fields) for new in put]
        for name, fields in patch.items():
            plan.append(self._put(name, held[name]["text"], {**held[name]["fields"], **fields}, index=False))
        plan += [self._ops.PutOp(self._namespace, name, None) for name in delete]
        self._vectors.update({_handle(new.id): new.vector for new in put})
        for start in range(0, len(plan), CHUNK):
            self._store.batch(plan[start : start + CHUNK])
        for name in delete:
            self._vectors.pop(_handle(name), None)

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        known = self._known(ids)
        return [_record(item, known[_handle(item.key)]) for item in self._items(ids)]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        items = self._store.search(self._namespace, limit=EVERY, refresh_ttl=False)
        known = self._known([item.key for item in items]) if vectors else {}
        for item in items:
            yield _record(item, known.get(_handle(item.key), _NO_VECTOR))

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        asked = {f"?{number}": query.vector for number, query in enumerate(queries)}
        self._vectors.update(asked)
        tests = tests_of(where, self._number)
        plan = [
            self._ops.SearchOp(self._namespace, tests, k, query=handle, refresh_ttl=False) for handle in asked
        ]
        return [[(item.key, item.score) for item in found] for found in self._store.batch(plan)]

    def drop(self) -> None:
        """Nothing outlives the object."""

    def close(self) -> None:
        """Nothing is held open."""

    # --- where the two differ ----------------------------------------------------------------

    def _opened(self, place: Place) -> Any:
        self.info = Info(
            name="langgraph",
            backend="LangGraph InMemoryStore",
            version=versions("checkpoint"),
            deployment="in process",
            filters=frozenset({"gt", "le", "eq"}),
            persists=False,
            capabilities={"filter": MISSING},
        )
        return in_memory(place, self._vectors, HANDLE)

    def _number(self, value: int) -> int | str:
        return value

    def _known(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of these records at least, by their handles."""
        return self._vectors

    # --- items -------------------------------------------------------------------------------

    def _items(self, ids: Sequence[str]) -> list[Any]:
        plan = [self._ops.GetOp(self._namespace, name, refresh_ttl=False) for name in ids]
        return [item for item in self._store.batch(plan) if item is not None]

    def _put(self, name: str, text: str, fields: Fields, *, index: Literal[False] | None = None) -> Any:
        numbers = {f"#{field}": self._number(each) for field, each in fields.items() if isinstance(each, int)}
        value = {HANDLE: _handle(name), "text": text, "fields": dict(fields), **numbers}
        return self._ops.PutOp(self._namespace, name, value, index)


class OnPostgres(LangGraph):
    """Over ``PostgresStore``."""

    def __init__(self, place: Place, *, at_url: bool) -> None:
        self._at_url = at_url
        super().__init__(place)

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        with self._postgres.connection.transaction():
            super().write(put, patch, delete)
        self._vectors.clear()

    def drop(self) -> None:
        self._postgres.drop()

    def close(self) -> None:
        self._postgres.close()

    def compact(self) -> None:
        self._postgres.compact()

    def _opened(self, place: Place) -> Any:
        self._postgres = Postgres(place, self._vectors, HANDLE, at_url=self._at_url)
        self.info = Info(
            name="langgraph",
            backend="LangGraph PostgresStore",
            version=self._postgres.version,
            deployment=self._postgres.deployment,
            filters=frozenset({"gt", "le", "eq"}),
            capabilities={"filter": AS_TEXT},
        )
        return self._postgres.store

    def _number(self, value: int) -> str:
        return f"{value + LEAST:017d}"

    def _known(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        return {_handle(name): vector for name, vector in self._postgres.vectors(ids).items()}


def tests_of(where: Where, number: Callable[[int], int | str]) -> dict[str, Any] | None:
    """Conditions as langgraph's: one test of a kind a field, so that the stricter of two is left."""
    tests: dict[str, Any] = {}
    for clause in where:
        value = number(clause.value)
        test = tests.setdefault(f"#{clause.field}", {"$ne": None})
        if clause.op == "gt":
            test["$gt"] = max(value, test.get("$gt", value))
        else:
            test["$lte"] = min(value, test.get("$lte", value))
        if clause.op == "eq":
            test["$gte"] = max(value, test.get("$gte", value))
    return tests or None


def _handle(record_id: str) -> str:
    return f"={record_id}"


def _record(item: Any, vector: Vector) -> Record:
    return Record(item.key, item.value["text"], vector, item.value["fields"])


_NO_VECTOR = np.empty(0, np.float32)
