"""What Redis does to those who trust it, and what we promise whoever lends us theirs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from memrot.errors import BadInput, Unavailable
from memrot.memory import Clause, Place
from memrot.testing import StoreConformance
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import redis as adapter
from memrot_adapters._redis_server import RedisServer

MODES = ("ft", "vset", "plain")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """Somebody's Redis, that can do all three modes."""
    running = RedisServer(redis, tmp_path_factory.mktemp("redis"), search=True)
    yield running
    running.stop()


def url(server: RedisServer, credentials: str = "") -> str:
    return f"redis://{credentials}127.0.0.1:{server.connection.connection_pool.connection_kwargs['port']}"


@pytest.fixture
def lent(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> RedisServer:
    monkeypatch.setenv(adapter.URL, url(server))
    return server


def place(folder: Path, namespace: str = "namespace") -> Place:
    return Place(namespace, folder, DIM, 100)


def everything(connection: Any) -> dict[bytes, tuple[bytes, int]]:
    """Every key of the server with its value, serialised, and when it expires."""
    return {
        key: (connection.dump(key), connection.expiretime(key)) for key in connection.scan_iter(count=1000)
    }


@pytest.mark.parametrize("mode", MODES)
def test_foreign_keys_stay_as_they_are(lent: RedisServer, tmp_path: Path, mode: str) -> None:
    theirs = lent.connection
    theirs.flushall()
    for prefix in ("", "namespace", "namespace2:", "namespace:", "Namespace:", "name*:"):
        theirs.set(f"{prefix}text", "theirs", ex=100_000)
        theirs.hset(f"{prefix}record", mapping={"text": "theirs", "tenant": 1})
        theirs.sadd(f"{prefix}set", "f1", "f2")
        theirs.execute_command("VADD", f"{prefix}vset", "VALUES", 2, "1", "0.5", "f1")
    theirs.execute_command("FT.CREATE", "theirs", "PREFIX", 1, "namespace2:", "SCHEMA", "tenant", "NUMERIC")
    before = everything(theirs)
    store = adapter.open_store(place(tmp_path), {"server": "", "mode": mode})
    store.write(records(40), {}, [])
    store.write([record(50, "f1")], {"f2": {"tenant": 7}}, ["f3"])
    store.search(questions(), [Clause("tenant", "gt", 0)] if store.info.filters else [], 5)
    assert len(list(store.scan())) == 39
    assert {key: value for key, value in everything(theirs).items() if key in before} == before
    store.drop()
    assert everything(theirs) == before
    assert theirs.execute_command("FT._LIST") == [b"theirs"]
    theirs.execute_command("FT.DROPINDEX", "theirs")


class TestRedisServer(StoreConformance):
    open_store = staticmethod(adapter.open_store)
    options = {"server": ""}

    @pytest.fixture(autouse=True)
    def _lent(self, lent: RedisServer) -> None:
        """Every test of the class finds the server's address in the environment."""


@pytest.mark.parametrize(
    ("refused", "best"), [((), "ft"), (("-ft._list",), "vset"), (("-ft._list", "-vcard"), "plain")]
)
def test_best_mode_that_the_server_can_do_is_taken(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: tuple[str, ...], best: str
) -> None:
    server.connection.execute_command(
        "ACL", "SETUSER", "some", "reset", "on", ">some", "~*", "+@all", *refused
    )
    monkeypatch.setenv(adapter.URL, url(server, "some:some@"))
    store = adapter.open_store(place(tmp_path), {"server": ""})
    assert (store.info.backend, store.info.version, store.info.deployment) == (
        f"redis {best}",
        "8.2.3",
        "server",
    )
    store.drop()
    for mode in MODES[: MODES.index(best)]:
        with pytest.raises(Unavailable, match=f"mode={mode}"):
            adapter.open_store(place(tmp_path), {"server": "", "mode": mode})


def test_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ft or vset or plain"):
        adapter.open_store(place(tmp_path), {"mode": "fast"})


def test_field_met_late_is_found_and_an_unknown_one_finds_nothing(tmp_path: Path) -> None:
    """RediSearch answers a filter on a field that its index does not know with nothing, silently."""
    store = adapter.open_store(place(tmp_path), {})
    store.write([record(1), record(2, later=3)], {}, [])
    asked = questions()[:1]
    assert [name for name, _ in store.search(asked, [Clause("later", "gt", 2)], 5)[0]] == ["f2"]
    assert store.search(asked, [Clause("nowhere", "gt", 2)], 5) == [[]]
    store.close()
    store = adapter.open_store(place(tmp_path), {})
    assert [name for name, _ in store.search(asked, [Clause("later", "le", 3)], 5)[0]] == ["f2"]
    store.drop()


def test_search_gives_the_same_every_time(tmp_path: Path) -> None:
    """Without TRUTH three identical runs over a vector set gave three different results."""
    store = adapter.open_store(place(tmp_path), {"mode": "vset"})
    store.write(records(300), {}, [])
    first = store.search(questions(), [Clause("tenant", "eq", 1)], 20)
    assert all(store.search(questions(), [Clause("tenant", "eq", 1)], 20) == first for _ in range(3))
    store.drop()


def test_server_that_refuses_is_named_without_address_or_secret(
    server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(adapter.URL, raising=False)
    with pytest.raises(Unavailable, match=adapter.URL):
        adapter.open_store(place(tmp_path), {"server": ""})
    wrong = ("redis://someone:secret@127.0.0.1:9", url(server, "someone:secret@"), "secret@127.0.0.1")
    for address in wrong:
        monkeypatch.setenv(adapter.URL, address)
        with pytest.raises(Unavailable) as refused:
            adapter.open_store(place(tmp_path), {"server": ""})
        assert "\n" not in str(refused.value)
        assert not any(word in str(refused.value) for word in ("someone", "secret", "127.0.0.1"))


def test_embedded_server_listens_on_loopback_only(tmp_path: Path) -> None:
    store = adapter.open_store(place(tmp_path), {})
    assert store._redis.config_get("bind") == {"bind": "127.0.0.1"}
    store.drop()


_WORKER = """
import pathlib, sys, time
from memrot.memory import Place
from memrot_adapters import redis
store = redis.open_store(Place("namespace", pathlib.Path(sys.argv[1]), 4, 10), {})
print(store._redis.info()["process_id"], flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_embedded_server_ends_with_its_worker(tmp_path: Path, ending: signal.Signals) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert worker.stdout is not None
    server = Path("/proc") / worker.stdout.readline().decode().strip()
    assert server.exists()
    worker.send_signal(ending)
    worker.communicate()
    deadline = time.monotonic() + 20
    while server.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not server.exists()
