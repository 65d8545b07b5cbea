"""What Graphiti keeps a graph in: a file of Kuzu's, or a server of FalkorDB's or of Neo4j's, by its URL.

Each opens Graphiti's own driver with the indexes that Graphiti wants, and takes away all that it put there.
Drivers are made outside of the event loop, where they would start work of their own.

**Kuzu.** A file rather than Kuzu's memory, which would lose everything on a restart. What is written together
is one transaction, since each on its own waits for the disk (45 edges a second, and 400 in one transaction).
What was deleted stays in the file, also after its checkpoint: of 18 facts to be erased all 18 could still be
read there.

**FalkorDB.** A graph of its own for each namespace. Its client's constructor is left out: it asks over a
connection of its own, patiently, whether there is a cluster (four seconds until a server is missed), and
breaks with redis 8.1 (https://github.com/FalkorDB/falkordb-py/issues/261). Strings lose their NUL bytes. The
last thousand queries, with every text in them, stay in a stream beside the graph until that is deleted.
"""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from asyncio import Runner
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from memrot.errors import Unavailable
from memrot.memory import Capability, Place
from memrot_adapters._opening import address, backend, reaching

URL = "MEMROT_GRAPHITI_URL"
"""``falkor://user:password@host:6379`` or ``neo4j://user:password@host:7687``."""

EXTRA = "graphiti"

T = TypeVar("T")


class Database(ABC):
    """Where the graph of a place is, which was opened, and answered."""

    driver: Any
    product: str
    """With its version."""

    deployment: Literal["embedded", "server"] = "server"
    note = ""
    otherwise: Mapping[str, Capability] = MappingProxyType({})
    """Of what Graphiti can do by itself, what it does differently here."""

    async def written(self, work: Coroutine[Any, Any, T]) -> T:
        """What ``work`` saves, all or nothing where that can be had; else each save on its own."""
        return await work

    @abstractmethod
    async def drop(self) -> None:
        """Delete the graph; then it is closed."""

    async def close(self) -> None:
        await self.driver.close()


def embedded(place: Place) -> Database:
    return Kuzu(place.folder / f"{place.namespace}.kuzu")


def served(loop: Runner, place: Place) -> Database:
    """At the URL, whose scheme says which product is there; raises Unavailable where none answers."""
    url = address(URL, "FalkorDB or Neo4j")
    scheme = url.partition("://")[0]
    kind = next((kind for kind in (Falkor, Neo4j) if scheme in kind.schemes), None)
    if kind is None:
        known = ", ".join((*Falkor.schemes, *Neo4j.schemes))
        raise Unavailable(f"{URL}: expected the scheme of a FalkorDB or Neo4j server: {known}")
    module = backend(kind.module, EXTRA)
    logging.getLogger(kind.module).setLevel(logging.CRITICAL)  # it logs what it raises, vectors and all
    with reaching(URL, kind.server):
        server = kind(module, url, place.namespace)
        try:
            loop.run(server.reach())
        except BaseException:
            loop.run(server.close())
            raise
    return server


class Kuzu(Database):
    deployment = "embedded"
    note = "over Kuzu, which Graphiti is about to give up"
    """https://github.com/getzep/graphiti/pull/1548"""

    def __init__(self, file: Path) -> None:
        backend("kuzu", EXTRA)
        module = backend("graphiti_core.driver.kuzu_driver", EXTRA)
        self._file = file
        file.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the note of every row says it
            self.driver = module.KuzuDriver(db=str(file))
        for connection in self.driver.client.connections:
            connection.set_max_threads_for_exec(1)  # several put what is equally near in an order of chance
        self.product = f"Kuzu {version('kuzu')}"

    async def written(self, work: Coroutine[Any, Any, T]) -> T:
        await self.driver.execute_query("BEGIN TRANSACTION")
        try:
            result = await work
        except BaseException:
            with suppress(RuntimeError):  # Kuzu has ended it where a statement failed
                await self.driver.execute_query("ROLLBACK")
            raise
        await self.driver.execute_query("COMMIT")
        return result

    async def drop(self) -> None:
        await self.close()
        for left in self._file.parent.glob(f"{self._file.name}*"):
            left.unlink()

    async def close(self) -> None:
        self.driver.client.close()  # Graphiti's own close leaves this to the garbage collector
        self.driver.db.close()


class Server(Database):
    """One of several products, told apart by the scheme of a URL."""

    server: str
    schemes: tuple[str, ...]
    module: str
    """Graphiti's, with its driver."""

    @abstractmethod
    def __init__(self, module: Any, url: str, namespace: str) -> None: ...

    async def reach(self) -> None:
        """A first answer, and the indexes that Graphiti wants."""
        await self.driver.build_indices_and_constraints()

    async def drop(self) -> None:
        try:
            await self.delete()
        finally:
            await self.close()

    @abstractmethod
    async def delete(self) -> None: ...


class Falkor(Server):
    server = "FalkorDB"
    schemes = ("falkor", "falkors")
    module = "graphiti_core.driver.falkordb_driver"
    otherwise = MappingProxyType(
        {
            "as_of": Capability(
                "native",
                "SearchFilters: valid_at <= T < invalid_at, but its index takes no notice of valid_at <= T",
                "https://github.com/FalkorDB/FalkorDB/issues/2239",
            )
        }
    )

    def __init__(self, module: Any, url: str, namespace: str) -> None:
        redis = backend("redis.asyncio", EXTRA)
        # a slow answer is not a wrong one: who asks has patience of its own
        self._redis = redis.from_url(
            f"redis{url.removeprefix('falkor')}", decode_responses=True, protocol=2, socket_timeout=None
        )
        self.driver = module.FalkorDriver(falkor_db=_Connected(self._redis), database=namespace)
        self._namespace = namespace

    async def reach(self) -> None:
        await self._redis.execute_command("GRAPH.LIST")  # a Redis without FalkorDB does not know it
        modules = (await self._redis.info("modules"))["modules"]
        number = next(module["ver"] for module in modules if module["name"] == "graph")
        self.product = f"FalkorDB {number // 10000}.{number // 100 % 100}.{number % 100}"
        await super().reach()

    async def delete(self) -> None:
        await self._redis.execute_command("GRAPH.DELETE", self._namespace)


class _Connected:
    """What Graphiti asks of FalkorDB's client."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.execute_command = connection.execute_command

    def select_graph(self, name: str) -> Any:
        return backend("falkordb.asyncio.graph", EXTRA).AsyncGraph(self, name)


class Neo4j(Server):
    """All namespaces are in one database, told apart by the group of their nodes."""

    server = "Neo4j"
    schemes = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
    module = "graphiti_core.driver.neo4j_driver"
    product = "Neo4j"
    note = "URL path not verified"

    def __init__(self, module: Any, url: str, namespace: str) -> None:
        parts = urlsplit(url)
        where = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self.driver = module.Neo4jDriver(where, unquote(parts.username or ""), unquote(parts.password or ""))
        self._group = namespace

    async def reach(self) -> None:
        await self.driver.client.verify_connectivity()
        await super().reach()

    async def delete(self) -> None:
        nodes = backend("graphiti_core.nodes", EXTRA)
        await nodes.EntityNode.delete_by_group_id(self.driver, self._group)
