"""Every adapter in every mode keeps the promises of a ``Store``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from milvus_lite.adapter.grpc.server import start_server_in_thread

from memrot import exact
from memrot.testing import StoreConformance
from memrot_adapters import (
    _langgraph,
    chroma,
    duckdb,
    faiss,
    graphiti,
    lancedb,
    langgraph,
    mem0,
    milvus,
    pgvector,
    qdrant,
    redis,
    sqlite_vec,
    usearch,
)
from memrot_adapters._postgres_server import PostgresServer


class TestExact(StoreConformance):
    open_store = staticmethod(exact.open_store)
    examples = 60


class TestChroma(StoreConformance):
    open_store = staticmethod(chroma.open_store)


class TestQdrantEdge(StoreConformance):
    open_store = staticmethod(qdrant.open_store)


class TestQdrantClient(StoreConformance):
    """The code of ``qdrant[server]``; no server can be had, and its client imitates one."""

    open_store = staticmethod(qdrant.open_store)
    options = {"memory": ""}


class TestRedisFt(StoreConformance):
    open_store = staticmethod(redis.open_store)


class TestRedisVset(StoreConformance):
    open_store = staticmethod(redis.open_store)
    options = {"mode": "vset"}


class TestRedisPlain(StoreConformance):
    open_store = staticmethod(redis.open_store)
    options = {"mode": "plain"}


class TestMem0(StoreConformance):
    open_store = staticmethod(mem0.open_store)


class TestSqliteVec(StoreConformance):
    open_store = staticmethod(sqlite_vec.open_store)


class TestLanceDB(StoreConformance):
    open_store = staticmethod(lancedb.open_store)


@pytest.fixture(scope="module")
def postgres() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        server = PostgresServer(psycopg, Path(folder) / "data")
        port = server.connection.info.port
        for variable in (pgvector.URL, _langgraph.URL):
            patch.setenv(variable, f"postgresql://postgres@127.0.0.1:{port}/postgres")
        yield
        server.stop()


@pytest.mark.usefixtures("postgres")
class TestPgVector(StoreConformance):
    """By URL: setting up a server for every test would take two minutes; the statements are the same."""

    open_store = staticmethod(pgvector.open_store)
    options = {"server": ""}


class TestLangGraph(StoreConformance):
    open_store = staticmethod(langgraph.open_store)


@pytest.mark.usefixtures("postgres")
class TestLangGraphPostgres(StoreConformance):
    """By URL, as above."""

    open_store = staticmethod(langgraph.open_store)
    options = {"server": ""}
    examples = 4


class TestFaiss(StoreConformance):
    open_store = staticmethod(faiss.open_store)


class TestGraphiti(StoreConformance):
    open_store = staticmethod(graphiti.open_store)
    examples = 1  # a graph is opened and closed in .2 s, and a question takes 8 ms


@pytest.mark.usefixtures("falkordb")
class TestGraphitiServer(StoreConformance):
    open_store = staticmethod(graphiti.open_store)
    options = {"server": ""}
    examples = 1


class TestUSearch(StoreConformance):
    open_store = staticmethod(usearch.open_store)


class TestDuckDB(StoreConformance):
    open_store = staticmethod(duckdb.open_store)


class TestMilvus(StoreConformance):
    open_store = staticmethod(milvus.open_store)


@pytest.fixture(scope="module")
def milvus_server() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        server, files, port = start_server_in_thread(folder)
        patch.setenv(milvus.URL, f"http://127.0.0.1:{port}")
        yield
        server.stop(0).wait()
        files.close()


@pytest.mark.usefixtures("milvus_server")
class TestMilvusServer(StoreConformance):
    """By URL: Milvus Lite speaks a server's protocol."""

    open_store = staticmethod(milvus.open_store)
    options = {"server": ""}
