"""LangGraph by its own means: ``langgraph/native`` in ``PostgresStore``, with its TTL by the server's clock.

The embedded server's clock is moved to each instant of the timeline (libfaketime), so that ``NOW()`` is what
the timeline says; a server given by its URL runs by the wall clock, with which no timeline can be replayed.

By default a read starts the TTL of what it finds anew, and what has expired is shown until it is swept, every
five minutes at best. Both are set otherwise, as the configuration allows: ``refresh_on_read`` is off, since a
question confirms nothing, and ``omit_expired`` is on. The sweep is done at every instant instead of by a
thread in real time, of which next to none passes between two instants of a replay. A fact that was confirmed
after it had expired stays gone: a confirmation names it and does not say it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memrot.errors import Unsupported
from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import NEVER, Instant, moment
from memrot_adapters import langgraph_native
from memrot_adapters._clock import Clock
from memrot_adapters._langgraph import EXTRA, ISSUES, REFERENCE, Postgres, Vectors
from memrot_adapters._native import NOTE
from memrot_adapters._opening import check_options

WALL_CLOCK = "wall clock: items of a server that is not ours expire in real time"
MINUTE = 60_000
TTL = {"refresh_on_read": False, "omit_expired": True}

CAPABILITIES = {
    **langgraph_native.CAPABILITIES,
    "filter": Capability(
        "native", "operators of search, which compare text: valid_from is an ISO date", f"{ISSUES}/7684"
    ),
    "expiry": Capability(
        "native",
        "put(ttl=...) with omit_expired, by the server's clock, which is moved; by URL: wall-clock",
        "https://github.com/langchain-ai/langgraph/pull/8354",
    ),
    "renewal": Capability(
        "native",
        "put with a new ttl and index=False; a confirmation does not find what has expired",
        f"{REFERENCE}/PutOp/ttl",
    ),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> LangGraphNativePostgres:
    check_options("langgraph/native-postgres", options, {"server": ("",)})
    if "server" in options:
        raise Unsupported(WALL_CLOCK)
    clock, vectors = Clock(place.folder / f"{place.namespace}.clock", EXTRA), Vectors()
    postgres = Postgres(place, vectors, langgraph_native.TEXT, clock=clock, ttl=TTL)
    return LangGraphNativePostgres(place, embedder, vectors, postgres, clock)


class LangGraphNativePostgres(langgraph_native.LangGraphNative):
    def __init__(
        self, place: Place, embedder: Embedder, vectors: Vectors, postgres: Postgres, clock: Clock
    ) -> None:
        super().__init__(place, embedder, vectors, postgres.store)
        self._postgres = postgres
        self._clock = clock
        self._at = 0
        self.info = Info(
            name="langgraph/native-postgres",
            backend="LangGraph PostgresStore",
            version=postgres.version,
            clock="moved",
            note=NOTE,
            capabilities=CAPABILITIES,
        )

    def arrive(self, at: Instant) -> None:
        self._clock.move(at, self._postgres.now)
        self._at = at
        self._store.sweep_ttl()

    def drop(self) -> None:
        self._postgres.drop()
        self._clock.remove()

    def close(self) -> None:
        self._postgres.close()

    def compact(self) -> None:
        self._postgres.compact()

    def _live(self, at: Instant) -> dict[str, Any]:
        return {"since": {"$lte": _iso(at)}}

    def _write(self, key: str, value: Mapping[str, Any], **how: Any) -> None:
        expires_at = value["expires_at"]
        ttl = None if expires_at == NEVER else (expires_at - self._at) / MINUTE
        super()._write(key, {**value, "since": _iso(value["valid_from"])}, ttl=ttl, **how)


def _iso(at: Instant) -> str:
    """In whose order texts are in the order of time."""
    return moment(at).isoformat(timespec="milliseconds")
