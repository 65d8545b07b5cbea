"""Graphiti as a store: an edge a record, with our vector; ``graphiti[server]`` at ``MEMROT_GRAPHITI_URL``.

Embedded it is kept in Kuzu. A URL's scheme says which server there is: ``falkor`` FalkorDB, ``neo4j`` or
``bolt`` Neo4j.

Searches are Graphiti's own, by cosine alone: its hybrid ones need full-text indexes, which its driver for
Kuzu does not make (https://github.com/getzep/graphiti/issues/1258). They are exact.

Graphiti filters edges by their four dates, their names and their ends. A filter on attributes can be
written down (``SearchFilters.property_filters``) and does nothing: conditions on fields are post-filtered.
Fields are one attribute, in JSON, where none can take the name of a property of Graphiti's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import structs

from memrot.memory import Capability, Fields, Place, Query, Record, Where
from memrot.model import moment
from memrot_adapters._graphiti import Edge, Graph, opened

NOTES = ("graphiti[server]: verified over FalkorDB; over Neo4j its URL path is not verified.",)
"""For the listing of adapters: of Neo4j no server could be had."""

UNFILTERED = Capability("layered", "a search filters by dates, names and ends; property_filters are ignored")


def open_store(place: Place, options: Mapping[str, str]) -> Graphiti:
    return Graphiti(opened("graphiti", place, options))


class Graphiti:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._ends = (graph.node("memory", 0), graph.node("record", 0))
        self._connected = False
        self.info = structs.replace(graph.info("graphiti"), capabilities={"filter": UNFILTERED})

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        self._graph.write(self._write(put, patch, delete))
        self._connected = True

    async def _write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        patched = await self._graph.held(patch, vectors=True) if patch else []
        for edge in patched:
            edge.attributes = _attributes(_id(edge), {**_fields(edge), **patch[_id(edge)]})
        new = [
            self._graph.edge(
                record.id, record.text, record.vector, self._ends, name="RECORD", created_at=moment(0),
                attributes=_attributes(record.id, record.fields),
            )
            for record in put
        ]  # fmt: skip
        await self._graph.save([*new, *patched], () if self._connected else self._ends)
        if delete:
            await self._graph.delete(await self._graph.held(delete))

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        return [_record(edge) for edge in self._graph.run(self._graph.held(ids, vectors=True))]

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        yield from (_record(edge) for edge in self._graph.run(self._graph.all(vectors)))

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        found = self._graph.run(self._graph.nearest([(query.vector, k, None) for query in queries]))
        return [[(_id(edge), near) for edge, near in hits] for hits in found]

    def drop(self) -> None:
        self._graph.drop()

    def close(self) -> None:
        self._graph.close()


def _attributes(id_: str, fields: Fields) -> dict[str, str]:
    return {"record": id_, "fields": json.dumps(dict(fields))}


def _id(edge: Edge) -> str:
    id_: str = edge.attributes["record"]
    return id_


def _fields(edge: Edge) -> Fields:
    fields: Fields = json.loads(edge.attributes["fields"])
    return fields


def _record(edge: Edge) -> Record:
    return Record(_id(edge), edge.fact, np.array(edge.fact_embedding or [], np.float32), _fields(edge))
