"""A graph of Graphiti's, for the store and for the whole memory: in a file of Kuzu's, or in a Neo4j server.

Graphiti is asynchronous: every call runs to its end in one event loop, which belongs to the graph. Only
its graph is used, with vectors that are given: no model, embedder or reranker exists that could be asked.

A file rather than Kuzu's memory, which would lose everything on a restart. What is written together is one
transaction, since each on its own waits for the disk (45 edges a second, and 400 in one transaction). A
search looks at every edge of the group: 8 ms a question over 300 edges, most of it in Kuzu.

What was deleted stays in Kuzu's file, also after its checkpoint: of 18 facts to be erased all 18 could still
be read there.

An edge that is read comes without its vector, and one that is saved without it has none afterwards: edges
that are changed are read with ``vectors``. Kuzu gives instants back without their time zone, which is UTC.
"""

from __future__ import annotations

import asyncio
import os
import uuid
import warnings
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

import numpy as np

from memrot.memory import Info, Place, Vector
from memrot.model import Instant, instant, moment
from memrot_adapters._opening import address, backend, check_options, reaching

URL = "MEMROT_NEO4J_URL"
"""``neo4j://user:password@host:7687``"""

EXTRA = "graphiti"

NOTE = "over Kuzu, which Graphiti is about to give up"
"""https://github.com/getzep/graphiti/pull/1548"""

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
    """Of a ``datetime`` that Kuzu gave back."""
    return instant(when.replace(tzinfo=when.tzinfo or UTC))


def opened(name: str, place: Place, options: Mapping[str, str]) -> Graph:
    """The graph of a place; raises Unavailable where Graphiti or the server is not to be had."""
    check_options(name, options, {"server": ("",)})
    # settled as it is imported: nothing is reported to its makers, and no .env above it is read
    os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", PYTHON_DOTENV_DISABLED="1")
    backend("graphiti_core", EXTRA)
    loop = asyncio.Runner()
    try:
        if "server" in options:
            return Graph(loop, _neo4j(loop), place, None)
        file = place.folder / f"{place.namespace}.kuzu"
        return Graph(loop, _kuzu(file), place, file)
    except BaseException:
        loop.close()
        raise


def _kuzu(file: Path) -> Any:
    backend("kuzu", EXTRA)
    kuzu_driver = backend("graphiti_core.driver.kuzu_driver", EXTRA)
    file.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the note of every row says it
        return kuzu_driver.KuzuDriver(db=str(file))


def _neo4j(loop: asyncio.Runner) -> Any:
    """A driver that has been answered; made outside of the loop, where it would start work of its own."""
    url = urlsplit(address(URL, "Neo4j"))
    where = url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()
    module = backend("graphiti_core.driver.neo4j_driver", EXTRA)
    with reaching(URL, "Neo4j"):
        driver = module.Neo4jDriver(where, unquote(url.username or ""), unquote(url.password or ""))
        try:
            loop.run(driver.client.verify_connectivity())
            loop.run(driver.build_indices_and_constraints())
        except BaseException:
            loop.run(driver.close())
            raise
    return driver


class Graph:
    """Edges of one group, and nothing of any other; ``file`` is Kuzu's, None for a server."""

    def __init__(self, loop: asyncio.Runner, driver: Any, place: Place, file: Path | None) -> None:
        self._loop = loop
        self._driver = driver
        self._file = file
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
        below = f"Kuzu {version('kuzu')}" if self._file else "Neo4j"
        return Info(
            name=name, backend="Graphiti", version=f"{version('graphiti-core')} ({below})",
            deployment="embedded" if self._file else "server", note=NOTE if self._file else "",
        )  # fmt: skip

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def write(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work``, and keep all that it saves, or nothing (in Neo4j: each save on its own)."""
        return self._loop.run(self._whole(work) if self._file else work)

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
        if self._file is None:
            self._loop.run(self._nodes.EntityNode.delete_by_group_id(self._driver, self.group))
        self.close()
        if self._file is not None:
            for left in self._file.parent.glob(f"{self._file.name}*"):
                left.unlink()

    def close(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._file is None:
            self._loop.run(self._driver.close())
        else:
            self._driver.client.close()  # Graphiti's own close leaves this to the garbage collector
            self._driver.db.close()
        self._loop.close()

    async def _whole(self, work: Coroutine[Any, Any, T]) -> T:
        await self._driver.execute_query("BEGIN TRANSACTION")
        try:
            result = await work
        except BaseException:
            with suppress(RuntimeError):  # Kuzu has ended it where a statement failed
                await self._driver.execute_query("ROLLBACK")
            raise
        await self._driver.execute_query("COMMIT")
        return result
