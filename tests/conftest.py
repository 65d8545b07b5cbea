"""Settings of every test.

Hypothesis draws the same examples each time and has no deadline; embeddings are kept beside pytest's
own cache, so that no test touches the user's. What tests start can be interrupted, also where they are run
in the background of a shell, which has its jobs ignore that. Two test processes share two cores: threads
of a linear algebra library would only wait for each other, and make small searches ten times slower.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from graphs import FALKORDB, KUZU

if TYPE_CHECKING:
    from faults.servers import Falkor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is first imported
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parent.parent / ".pytest_cache" / "user")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("memrot", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("memrot")

collect_ignore = ["outside"]
"""A distribution of its own: ``test_outside.py`` installs it, and its tests, elsewhere."""


@pytest.fixture(scope="session")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a PostgreSQL that nobody has used."""
    import psycopg

    from memrot_adapters._postgres_server import PostgresServer

    folder = tmp_path_factory.mktemp("postgres") / "data"
    PostgresServer(psycopg, folder).stop()
    return folder


@pytest.fixture
def set_up_once(initialised: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each server of a test has a copy: to set one up takes longer than all that a test does with it."""
    from memrot_adapters._postgres_server import PostgresServer

    def copied(_server: PostgresServer, new: Path) -> None:
        subprocess.run(["cp", "-a", f"{initialised}/.", str(new)], check=True)

    monkeypatch.setattr(PostgresServer, "_set_up", copied)


@pytest.fixture(scope="module")
def falkordb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Falkor]:
    """A server for ``graphiti[server]``."""
    from faults.servers import Falkor
    from memrot_adapters._graphiti_drivers import URL

    server = Falkor(tmp_path_factory.mktemp("falkordb"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(URL, server.url(server.port))
        yield server
    server.kill()


@pytest.fixture(params=[KUZU, FALKORDB], ids=["kuzu", "falkordb"])
def database(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """The options of a stack of Graphiti's, whose server is there where they ask for one."""
    if request.param == FALKORDB:
        request.getfixturevalue("falkordb")
    options: Mapping[str, str] = request.param
    return options
