"""A product that speaks HTTP only, as a store of memrot's: its server is our own, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

from memrot.errors import BadInput
from memrot.memory import Fields, Info, Place, Query, Record, Where
from memrot_outside.child import PATIENCE_S, Child


def open_store(place: Place, options: Mapping[str, str]) -> HttpStore:
    if options:
        raise BadInput(f"outside-http: takes no options, got {sorted(options)}")
    return HttpStore(place)


class HttpStore:
    info = Info(
        name="outside-http",
        backend="outside's server",
        version="0.1.0",
        filters=frozenset({"gt", "le", "eq"}),
    )

    def __init__(self, place: Place) -> None:
        self._file = place.folder / f"{place.namespace}.json"
        self._server: Child | None = Child("memrot_outside.server", self._file)
        self._url = f"http://127.0.0.1:{int(self._server.hear())}"

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        whole = [
            {"id": r.id, "text": r.text, "vector": r.vector.tolist(), "fields": dict(r.fields)} for r in put
        ]
        self._post("write", put=whole, patch=dict(patch), delete=list(delete))

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return [_record(each, vectors=True) for each in self._post("get", ids=list(ids))]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for each in self._post("get", ids=None):
            yield _record(each, vectors=vectors)

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        conditions = [(clause.field, clause.op, clause.value) for clause in where]
        vectors = [query.vector.tolist() for query in queries]
        found = self._post("search", vectors=vectors, where=conditions, k=k)
        return [[(name, near) for name, near in hits] for hits in found]

    def drop(self) -> None:
        self._post("drop")
        self.close()
        self._file.unlink()

    def close(self) -> None:
        if self._server is not None:
            self._server.end()
            self._server = None

    def _post(self, what: str, **asked: Any) -> Any:
        request = Request(f"{self._url}/{what}", json.dumps(asked).encode())
        with urlopen(request, timeout=PATIENCE_S) as reply:
            return json.load(reply)


def _record(each: Mapping[str, Any], *, vectors: bool) -> Record:
    return Record(
        each["id"], each["text"], np.array(each["vector"] if vectors else [], np.float32), each["fields"]
    )
