"""Redis, a database in memory: a server of our own, or ``redis[server]`` at ``MEMROT_REDIS_URL``.

A hash a fact, in one of three modes: ``ft`` searches with the Query Engine (RediSearch), ``vset`` with vector
sets, ``plain`` (any Redis or Valkey) reads the hashes and ranks with NumPy. The first of these that the
server can do is taken unless ``mode`` names one. All are exact: the index is flat (its approximate one found
7 of 100 nearest neighbours among random vectors), and vector sets are told to compare with every vector.

RediSearch comes in a wheel of its own, and there is none for ARM Linux (aarch64): there the row is
``redis[mode=vset]``, and ``redis/native`` is unavailable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memrot.errors import Unavailable
from memrot.memory import Place
from memrot_adapters._opening import address, backend, check_options, reaching
from memrot_adapters._redis_hashes import Hashes, Plain
from memrot_adapters._redis_search import Ft, Vset
from memrot_adapters._redis_server import RedisServer

URL = "MEMROT_REDIS_URL"
MODES: dict[str, type[Hashes]] = {"ft": Ft, "vset": Vset, "plain": Plain}


def open_store(place: Place, options: Mapping[str, str]) -> Hashes:
    check_options("redis", options, {"server": ("",), "mode": tuple(MODES)})
    redis = backend("redis", "redis")
    asked = options.get("mode")
    if "server" in options:
        return _store(redis, _connect(redis), asked, place, None)
    server = RedisServer(redis, place.folder / place.namespace, search=asked in (None, "ft"))
    try:
        return _store(redis, server.connection, asked, place, server)
    except BaseException:
        server.stop()
        raise


def _connect(redis: Any) -> Any:
    url = address(URL, "Redis")
    with reaching(URL, "Redis"):
        connection = redis.Redis.from_url(url, protocol=2)
        connection.ping()
        return connection


def _store(
    redis: Any, connection: Any, asked: str | None, place: Place, server: RedisServer | None
) -> Hashes:
    def can(kind: type[Hashes]) -> bool:
        try:
            connection.execute_command(*kind.probe)
        except redis.exceptions.ResponseError:
            return False
        return True

    for mode, kind in MODES.items():
        if asked in (None, mode) and can(kind):
            return kind(connection, place, server)
    raise Unavailable(f"this Redis server cannot do mode={asked}")
