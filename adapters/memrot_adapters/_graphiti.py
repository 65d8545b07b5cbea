"""A graph of Graphiti's, for the store and for the whole memory: edges of one group, in one of its databases.

Graphiti is asynchronous: every call runs to its end in one event loop, which belongs to the graph. Only
its graph is used, with vectors that are given: no model, embedder or reranker exists that could be asked.

A search looks at every edge of the group. Over 300 edges a question takes 10 ms, most of it in Kuzu; 15 ms by
way of FalkorDB, most of it in its client, to which every edge that is found comes with its vector as text.

An edge that is read comes without its vector, and one that is saved without it has none afterwards: edges
that are changed are read with ``vectors``. Instants may come back without their time zone, which is UTC.
"""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, TypeAlias, TypeVar

import numpy as np

from memrot.memory import Info, Place, Vector
from memrot.model import Instant, instant, moment
from memrot_adapters._graphiti_drivers import EXTRA, Database, embedded, served
from memrot_adapters._opening import backend, check_options

T = TypeVar("T")
Edge = Any
"""Graphiti's ``EntityEdge``."""

Asked: TypeAlias = tuple[Vector, int, Any]
"""A question's vector, how many edges at most, and Graphiti's ``SearchFilters``, or None."""

_NO_THRESHOLD = -2.0
"""Graphiti leaves out what is not nearer than its least score, .6 by default."""
_NAME_VECTOR = [1.0]
"""Of nodes, which Graphiti insists on; nothing here searches for nodes."""


def instant_read(when: datetime) -> Instant:
    """Of a ``datetime`` that was given back."""
    return instant(when.replace(tzinfo=when.tzinfo or UTC))


def opened(name: str, place: Place, options: Mapping[str, str]) -> Graph:
    """The graph of a place; raises Unavailable where Graphiti or the server is not to be had."""
    check_options(name, options, {"server": ("",)})
    # settled as it is imported: nothing is reported to its makers, and no .env above it is read
    os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", PYTHON_DOTENV_DISABLED="1")
    backend("graphiti_core", EXTRA)
    loop = asyncio.Runner()
    try:
        return Graph(loop, served(loop, place) if "server" in options else embedded(place), place)
    except BaseException:
        loop.close()
        raise


class Graph:
    """Edges of one group, and nothing of any other."""

    def __init__(self, loop: asyncio.Runner, database: Database, place: Place) -> None:
        self._loop = loop
        self._database = database
        self._driver = database.driver
        self._open = True
        self.group = place.namespace
        self._edges = backend("graphiti_core.edges", EXTRA)
        self._nodes = backend("graphiti_core.nodes", EXTRA)
        self._bulk = backend("graphiti_core.utils.bulk_utils", EXTRA)
        self._search = backend("graphiti_core.search.search", EXTRA)
        config = backend("graphiti_core.search.search_config", EXTRA)
        self._by_cosine = config.EdgeSearchConfig(
            search_methods=[config.EdgeSearchMethod.cosine_similarity], sim_min_score=_NO_THRESHOLD
        )
        self.filters = backend("graphiti_core.search.search_filters", EXTRA)
        self._everything = self.filters.SearchFilters()

    def info(self, name: str) -> Info:
        below = self._database
        return Info(
            name=name, backend="Graphiti", version=f"{version('graphiti-core')} ({below.product})",
            deployment=below.deployment, note=below.note, capabilities=below.otherwise,
        )  # fmt: skip

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def write(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work``, and keep all that it saves, or nothing where the database can do that."""
        return self._loop.run(self._database.written(work))

    def named(self, name: str) -> str:
        """Graphiti's id of what has this name in the group."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.group}/{name}"))

    def node(self, name: str, at: Instant) -> Any:
        return self._nodes.EntityNode(
            uuid=self.named(f"node/{name}"), name=name, group_id=self.group, created_at=moment(at),
            name_embedding=_NAME_VECTOR,
        )  # fmt: skip

    def edge(self, id_: str, text: str, vector: Vector, ends: tuple[Any, Any], **fields: Any) -> Edge:
        """An edge between two nodes; ``fields`` are Graphiti's."""
        source, target = ends
        return self._edges.EntityEdge(
            uuid=self.named(f"edge/{id_}"), fact=text, fact_embedding=vector.tolist(), group_id=self.group,
            source_node_uuid=source.uuid, target_node_uuid=target.uuid, **fields,
        )  # fmt: skip

    async def save(self, edges: Sequence[Edge], nodes: Sequence[Any] = ()) -> None:
        """Insert or replace; the edges have their vectors."""
        await self._bulk.add_nodes_and_edges_bulk(self._driver, [], [], list(nodes), list(edges), None)

    async def held(self, ids: Iterable[str], vectors: bool = False) -> list[Edge]:
        """The edges that exist among those with our ``ids``."""
        asked = [self.named(f"edge/{id_}") for id_ in ids]
        edges: list[Edge] = await self._edges.EntityEdge.get_by_uuids(self._driver, asked)
        if vectors:
            await self.load(edges)
        return edges

    async def load(self, edges: Sequence[Edge]) -> None:
        """Give edges that were read their vectors."""
        if edges:
            await self._driver.entity_edge_ops.load_embeddings_bulk(self._driver, list(edges))

    async def all(self, vectors: bool = False) -> list[Edge]:
        try:
            edges: list[Edge] = await self._edges.EntityEdge.get_by_group_ids(
                self._driver, [self.group], with_embeddings=vectors
            )
        except backend("graphiti_core.errors", EXTRA).GroupsEdgesNotFoundError:
            return []
        return edges

    async def of(self, node_uuid: str) -> list[Edge]:
        """The edges that begin at a node."""
        found = await self._edges.EntityEdge.get_by_node_uuid(self._driver, node_uuid)
        return [edge for edge in found if edge.source_node_uuid == node_uuid]

    async def delete(self, edges: Iterable[Edge]) -> None:
        await self._edges.EntityEdge.delete_by_uuids(self._driver, [edge.uuid for edge in edges])

    async def delete_nodes(self, uuids: Sequence[str]) -> None:
        await self._nodes.EntityNode.delete_by_uuids(self._driver, list(uuids))

    async def nearest(self, asked: Sequence[Asked]) -> list[list[tuple[Edge, float]]]:
        """Per question its edges with their cosines, most similar first.

        Graphiti says in which order they are, and not how near: its scores are of ranks, but for a
        reranker that compares every edge with every other. So the cosines are of the vectors that it holds.
        """
        found: list[list[Edge]] = []
        for vector, k, where in asked:
            edges, _ = await self._search.edge_search(
                self._driver, None, "", vector.tolist(), [self.group], self._by_cosine,
                where or self._everything, limit=k,
            )  # fmt: skip
            found.append(edges)
        held = {edge.uuid: edge for edges in found for edge in edges}
        await self.load(list(held.values()))
        vectors = {uuid_: np.array(edge.fact_embedding) for uuid_, edge in held.items()}
        return [
            [(edge, float(vectors[edge.uuid] @ vector)) for edge in edges]
            for (vector, _, _), edges in zip(asked, found, strict=True)
        ]

    def drop(self) -> None:
        self._end(self._database.drop())

    def close(self) -> None:
        if self._open:
            self._end(self._database.close())

    def _end(self, work: Coroutine[Any, Any, None]) -> None:
        self._open = False
        try:
            self._loop.run(work)
        finally:
            self._loop.close()
