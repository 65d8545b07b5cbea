"""What the rows of LangGraph share: its two stores, opened over vectors that are known beforehand.

Both embed by calling a function with texts, ``InMemoryStore`` for questions from threads of its own. Here
that function looks up what it was told in time: nothing is embedded twice, or by another thread.
``PostgresStore`` names its tables itself, and their vectors have one length: ours are in a schema of our own,
and what else a server holds is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from memrot.memory import Place, Vector
from memrot_adapters._clock import Clock
from memrot_adapters._opening import backend
from memrot_adapters._postgres_server import PostgresServer, connected, extended

EXTRA = "langgraph"
URL = "MEMROT_LANGGRAPH_URL"
ISSUES = "https://github.com/langchain-ai/langgraph/issues"
REFERENCE = "https://reference.langchain.com/python/langgraph.store/base"
EVERY = 2**31 - 1
"""A limit that is none: without one a search gives ten items."""


class Vectors(dict[str, Vector]):
    """By what will be embedded."""

    def arrays(self, texts: Sequence[str]) -> list[Any]:
        return [self[text].astype(np.float64) for text in texts]

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """For a database, which knows no arrays."""
        return [self[text].tolist() for text in texts]


def in_memory(place: Place, vectors: Vectors, field: str) -> Any:
    """An ``InMemoryStore`` that embeds this field of every value."""
    index = {"dims": place.dim, "embed": vectors.arrays, "fields": [field]}
    return backend("langgraph.store.memory", EXTRA).InMemoryStore(index=index)


def versions(part: str) -> str:
    """Of LangGraph, and of the part that holds the store."""
    return f"{version('langgraph')}, {part} {version(f'langgraph-{part}')}"


class Postgres:
    """A ``PostgresStore`` in a schema of the place's name, with what must be released after it."""

    def __init__(
        self,
        place: Place,
        vectors: Vectors,
        field: str,
        *,
        at_url: bool = False,
        clock: Clock | None = None,
        ttl: Mapping[str, Any] | None = None,
    ) -> None:
        module = backend("langgraph.store.postgres", EXTRA)
        psycopg = backend("psycopg", EXTRA)
        self._schema = f'"{place.namespace}"'
        self._server: PostgresServer | None = None
        if at_url:
            self.connection = connected(psycopg, URL)
        else:
            self._server = PostgresServer(psycopg, place.folder / place.namespace, EXTRA, clock)
            self.connection = self._server.connection
        self.deployment: Literal["embedded", "server"] = "embedded" if self._server else "server"
        index = {
            "dims": place.dim,
            "embed": vectors.lists,
            "fields": [field],
            # no index, so that searches are exact: one takes its candidates before a condition is applied
            "ann_index_config": {"kind": "flat"},
        }
        try:
            pgvector = extended(psycopg, self.connection)
            self.version = f"{versions('checkpoint-postgres')}, pgvector {pgvector}"
            self._enter()
            self.store = module.PostgresStore(self.connection, index=index, ttl=ttl)
            self.store.setup()
        except BaseException:
            self.close()
            raise

    def now(self) -> int:
        """The server's, in milliseconds."""
        asked = "SELECT floor(extract(epoch FROM now()) * 1000)::bigint"
        return int(self.connection.execute(asked).fetchone()[0])

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """By key: langgraph gives none back."""
        held = "SELECT key, embedding::real[] FROM store_vectors WHERE key = ANY(%s)"
        rows = self.connection.execute(held, (list(keys),))
        return {key: np.array(vector, np.float32) for key, vector in rows}

    def drop(self) -> None:
        self.connection.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")
        self.close()
        if self._server is not None:
            self._server.remove()

    def close(self) -> None:
        self.connection.close()
        if self._server is not None:
            self._server.stop()

    def compact(self) -> None:
        """``VACUUM FULL``: the tables are written anew without what was deleted; the log keeps it."""
        for table in ("store", "store_vectors"):
            self.connection.execute(f"VACUUM FULL {table}")
        self.close()

    def _enter(self) -> None:
        """Make the schema the first; pgvector's own, which is not ours to drop, stays in reach."""
        self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        of_pgvector = "SELECT quote_ident(nspname) FROM pg_extension"
        of_pgvector += " JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
        beside = self.connection.execute(of_pgvector).fetchone()[0]
        self.connection.execute(f"SET search_path TO {self._schema}, {beside}")
