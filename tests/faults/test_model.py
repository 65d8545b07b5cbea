"""A language model's endpoint that fails: what a memory loses by that is no answer of the memory's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from faults.proxy import Proxy
from faults.servers import TOKEN
from faults.test_servers import began, kept, no_secret, rows, same_scores, whole
from memrot import extractor
from running import environment, exams, memrot

STACK = "mem0/infer"


@pytest.fixture(scope="module")
def wire() -> Iterator[Proxy]:
    """To the scripted extractor, for whoever knows the token."""
    with extractor.server() as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield Proxy(int(listening.server_address[1]), TOKEN)
        listening.shutdown()


def run(wire: Proxy, folder: Path, out: Path, key: str = TOKEN) -> CompletedProcess[str]:
    asked = [
        "--stack=exact",
        f"--stack={STACK}",
        "--embedder=hashing",
        "--jobs=1",
        *exams(folder, 2, rounds=1),
    ]
    url = f"http://127.0.0.1:{wire.port}/v1"
    env = environment(folder, MEMROT_LLM_API_KEY=key)
    done = memrot("run", *asked, "--llm-base-url", url, "--out", out, env=env)
    no_secret(out, done.stdout + done.stderr)
    whole(out)
    return done


@pytest.fixture(scope="module")
def undisturbed(wire: Proxy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    assert run(wire, folder, folder / "out").returncode == 0
    return folder / "out"


def test_a_wrong_key(wire: Proxy, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(wire, tmp_path, out, key="wr0ng").returncode == 4
    row = rows(out)[STACK]
    assert row["outcome"] == "unavailable"
    assert "MEMROT_LLM_URL" in row["reason"]
    assert rows(out)["exact"]["outcome"] == "answered"


def test_gone_in_the_middle_of_a_cell(wire: Proxy, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wire.armed, wire.disturb = began(out), partial(wire.away)
    done = run(wire, tmp_path, out)
    assert wire.happened
    assert done.returncode == 4, rows(out)[STACK]
    assert rows(out)[STACK]["cells"]["answered"] == 0
    assert len(rows(out)[STACK]["reason"].splitlines()) == 1
    before = kept(out)
    wire.calm()
    assert run(wire, tmp_path, out).returncode == 0
    assert {name for name, when in kept(out).items() if before.get(name) != when} == {
        name for name in before if name.startswith("mem0")
    }
    same_scores(out, undisturbed)


def test_slow_is_not_wrong(wire: Proxy, undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    wire.armed, wire.slow, wire.latency = began(out), 2, 2.0
    try:
        assert run(wire, tmp_path, out).returncode == 0
        assert wire.happened == 2
    finally:
        wire.calm()
    same_scores(out, undisturbed)
