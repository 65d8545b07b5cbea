"""Redis by its own means: a key a fact, overwritten by its key, the server's expiry, and a filter by it.

The embedded server's clock is moved to each instant of the timeline, so that keys expire when the
timeline says; a server given by its URL runs by the wall clock, with which no timeline can be replayed.
A key dies when the server's time is past its expiry: a fact that ends at T has the expiry T - 1 ms.
A fact that was confirmed after its key had died stays gone: a confirmation names it and does not say it.

RediSearch learns of an expired key when the server's sweep deletes it; until then a search returns its
row empty, in one of the k places, unless a filter leaves it out. The sweep runs in real time, of which
next to none passes between two instants of a replay: it is switched off, so that every run sees the
same, a search before the sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from memrot.errors import Unsupported
from memrot.memory import Capability, Clause, Embedder, Place, Record
from memrot.model import Fact, Instant
from memrot_adapters._clock import Clock
from memrot_adapters._native import BY_KEY, NO_CASCADE, NO_PAST, NOTE, Fields, Native, fields, record_id
from memrot_adapters._opening import backend, check_options
from memrot_adapters._redis_search import DISTANCE, Ft
from memrot_adapters._redis_server import RedisServer

WALL_CLOCK = "wall clock: keys of a server that is not ours expire in real time"

EXPIRE = "https://github.com/redis/redis-doc/blob/master/commands/expire.md"
CAPABILITIES = {
    "filter": Capability(
        "native",
        "numeric ranges in FT.SEARCH",
        "https://redis.io/docs/interact/search-and-query/query/range",
    ),
    "expiry": Capability(
        "native", "PEXPIREAT, by the server's clock, which is moved; by URL: wall-clock", EXPIRE
    ),
    "overwrite": BY_KEY,
    "renewal": Capability(
        "native", "PEXPIREAT; a key that has expired is gone, and a confirmation finds nothing", EXPIRE
    ),
    "invalidate": Capability("emulated", "a search for the fact's key, then DEL"),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("not_yet", "a script on the server could compare before it writes"),
    "as_of": NO_PAST,
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> RedisNative:
    memory = opened("redis/native", place, options, embedder, filters=True)
    memory.info = structs.replace(memory.info, name="redis/native", note=NOTE, capabilities=CAPABILITIES)
    return memory


def opened(
    name: str, place: Place, options: Mapping[str, str], embedder: Embedder, *, filters: bool
) -> RedisNative:
    """On a server whose clock is ours; raises Unsupported for one that is not."""
    check_options(name, options, {"server": ("",)})
    redis = backend("redis", "redis")
    if "server" in options:
        raise Unsupported(WALL_CLOCK)
    folder = place.folder / place.namespace
    clock = Clock(folder / "clock", "redis")
    server = RedisServer(redis, folder, search=True, clock=clock)
    try:
        return RedisNative(server, place, embedder, clock, filters=filters)
    except BaseException:
        server.stop()
        raise


class RedisNative(Native, Ft):
    def __init__(
        self, server: RedisServer, place: Place, embedder: Embedder, clock: Clock, *, filters: bool
    ) -> None:
        Native.__init__(self, embedder)
        Ft.__init__(self, server.connection, place, server)
        self.info = structs.replace(self.info, clock="moved")
        self._clock = clock
        self._filters = filters
        self._redis.execute_command("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        self._holders = f"{self._prefix}holder:"
        """Prefix of the keys that say, by fact, under which id its record is."""

    def arrive(self, at: Instant) -> None:
        self._clock.move(at, self._now)

    def put(self, fact: Fact) -> None:
        vector = self.embedder.embed([fact.text])[0]
        known, id_ = fields(fact), record_id(fact)
        plan = self._plan([Record(id_, fact.text, vector, known)], {}, [])
        last = int(known["expires_at"]) - 1
        plan.pexpireat(self._records + id_, last)
        plan.set(self._holders + fact.id, id_, pxat=last)
        plan.execute()

    def delete(self, fact_id: str) -> None:
        id_ = self._holder(fact_id)
        if id_ is not None:
            self.write([], {}, [id_])

    def held(self, fact_id: str) -> Fields | None:
        id_ = self._holder(fact_id)
        return dict(self.get([id_])[0].fields) if id_ is not None else None

    def renew(self, fact_id: str, expires_at: Instant) -> None:
        id_ = self._holder(fact_id)
        if id_ is not None:
            plan = self._plan([], {id_: {"expires_at": expires_at}}, [])
            plan.pexpireat(self._records + id_, expires_at - 1)
            plan.pexpireat(self._holders + fact_id, expires_at - 1)
            plan.execute()

    def nearest(self, texts: Sequence[str], k: int, at: Instant) -> Sequence[Sequence[tuple[str, float]]]:
        live = [Clause("valid_from", "le", at), Clause("expires_at", "gt", at)] if self._filters else []
        return [
            [(row[3].decode()[1:], 1.0 - float(row[1])) for _, row in rows if row]
            for rows in self._nearest(self.embedder.embed(texts), live, k, DISTANCE, "fact")
        ]

    def _holder(self, fact_id: str) -> str | None:
        """The id under which a fact's record is, unless the record holds another by now."""
        raw = self._redis.get(self._holders + fact_id)
        if raw is None or self._redis.hget(self._records + raw.decode(), "fact") != f"={fact_id}".encode():
            return None
        return str(raw.decode())

    def _now(self) -> Instant:
        seconds, microseconds = self._redis.time()
        return int(seconds) * 1000 + int(microseconds) // 1000
