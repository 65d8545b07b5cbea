"""What Chroma does to those who trust it, against the real thing."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memrot.errors import Unavailable
from memrot.memory import Place, Query, Record, Store
from memrot.testing import StoreConformance
from memrot.testing.corpus import DIM, record
from memrot_adapters import chroma


def clustered(count: int, draw: np.random.Generator) -> NDArray[np.float32]:
    """Rows of unit length in a few clusters, each a sum of sparse directions, as topics are of words."""
    directions = np.zeros((200, DIM), np.float32)
    for direction in directions:
        direction[draw.choice(DIM, 12, replace=False)] = draw.choice([-1, 1], 12)
    centres = np.stack([directions[draw.choice(200, 3, replace=False)].sum(0) for _ in range(17)])
    own = np.stack([directions[draw.choice(200, 2, replace=False)].sum(0) for _ in range(count)])
    rows: NDArray[np.float32] = centres[draw.integers(0, 17, count)] + np.float32(0.4) * own
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def test_live_records_stay_reachable_while_vectors_are_replaced(tmp_path: Path) -> None:
    """With Chroma's defaults and ``upsert``, 1 to 11 of 1,000 were not found by their own vector."""
    store = chroma.open_store(Place("overwrites", tmp_path, DIM, 1000), {})
    draw = np.random.default_rng(2)
    vectors = clustered(2500, draw)
    held = {f"f{n}": Record(f"f{n}", "", vectors[n], {"number": n}) for n in range(1000)}
    store.write(list(held.values()), {}, [])
    for start in range(1000, 2500, 100):
        moved = draw.choice(1000, 100, replace=False)
        held |= {
            f"f{n}": Record(f"f{n}", "", vectors[start + i], {"number": int(n)}) for i, n in enumerate(moved)
        }
        store.write([held[f"f{n}"] for n in moved], {}, [])
    live = list(held.values())
    found = store.search([Query("", each.vector) for each in live], [], 10)
    cosines = np.stack([each.vector for each in live]) @ np.stack([each.vector for each in live]).T
    best = -np.sort(-cosines, axis=1)[:, :10]
    np.testing.assert_allclose([[near for _, near in hits] for hits in found], best, rtol=0, atol=1e-5)
    store.drop()


def test_more_records_than_a_call_may_have(tmp_path: Path) -> None:
    store = chroma.open_store(Place("manyrecords", tmp_path, 4, 6000), {})
    many = [
        Record(f"f{n}", f"{n}", np.array([1, n / 1000, n % 7, 0], np.float32), {"number": n})
        for n in range(5600)
    ]
    store.write(many, {}, [])
    assert len({each.id for each in store.scan()}) == 5600
    assert len(store.get([each.id for each in many])) == 5600
    store.write([], {each.id: {"number": -1} for each in many}, [])
    assert {each.fields["number"] for each in store.scan()} == {-1}
    store.write(many[:10], {}, [each.id for each in many[10:]])
    assert {each.id for each in store.scan()} == {each.id for each in many[:10]}
    store.drop()


def test_stores_of_one_process_share_nothing_and_send_nothing(tmp_path: Path) -> None:
    one = chroma.open_store(Place("samename", tmp_path / "one", DIM, 10), {})
    two = chroma.open_store(Place("samename", tmp_path / "two", DIM, 10), {})
    one.write([record(1)], {}, [])
    assert list(two.scan()) == []
    assert not one._client.get_settings().anonymized_telemetry
    for store in (one, two):
        store.drop()


@pytest.fixture(scope="class")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real ``chroma run``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    program = Path(sys.executable).with_name("chroma")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, "run", "--path", folder / "data", "--host", "127.0.0.1", "--port", str(port)],
            stdout=log, stderr=log,
        )  # fmt: skip
    try:
        _await_port(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("chroma run did not start")


class TestChromaServer(StoreConformance):
    open_store = staticmethod(chroma.open_store)
    options = {"server": ""}
    examples = 5

    @pytest.fixture(autouse=True)
    def _url(self, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(chroma.URL, server)

    def test_row_says_that_it_is_a_server(self, store: Store) -> None:
        assert (store.info.deployment, store.info.version[:2]) == ("server", "1.")


def test_server_that_does_not_answer_is_named_without_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place("noserver", tmp_path, DIM, 10)
    monkeypatch.delenv(chroma.URL, raising=False)
    with pytest.raises(Unavailable, match=chroma.URL):
        chroma.open_store(place, {"server": ""})
    monkeypatch.setenv(chroma.URL, "http://someone:secret@127.0.0.1:9")
    with pytest.raises(Unavailable) as refused:
        chroma.open_store(place, {"server": ""})
    assert "\n" not in str(refused.value)
    assert not any(word in str(refused.value) for word in ("someone", "secret", "127.0.0.1"))
