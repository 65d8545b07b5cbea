"""Whole runs: same results for any number of jobs, and a faulty backend costs its own cells only."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from running import environment, exams, memrot

HASHING = ("--embedder", "hashing")
ONE_TASK = """
import sys, tempfile
from pathlib import Path
from memrot.run.pool import Pool

if __name__ == "__main__":
    with Pool(8, Path(tempfile.gettempdir())) as pool:
        print(*pool.run(len, [("ab",)], lambda _: None))
"""
FAULTY = ("raising", "hanging", "dying", "stillborn", "missing", "unreachable")


def rows(out: Path) -> dict[str, dict[str, Any]]:
    return {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}


def without_latency(out: Path) -> str:
    table = json.loads((out / "leaderboard.json").read_bytes())
    for row in table["rows"]:
        del row["latency_ms"]
    return json.dumps(table)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """One run in which everything goes wrong beside a backend that works."""
    folder = tmp_path_factory.mktemp("faulty")
    secret = "redis://alice:hunter22@cache.internal.example:6379/0"
    stacks = [f"--stack={name}" for name in ("exact+all", *FAULTY)]
    done = memrot(
        "run", *stacks, *exams(folder), *HASHING, "--timeout", "2", "--jobs", "2", "--out", folder / "out",
        env=environment(folder, MEMROT_FAULTY_URL=secret),
    )  # fmt: skip
    return folder, done


def test_a_faulty_backend_costs_its_own_cells(faulty: tuple[Path, Any]) -> None:
    folder, done = faulty
    found = rows(folder / "out")
    assert done.returncode == 4, done.stderr
    assert found["exact+all"]["outcome"] == "answered"
    assert found["exact+all"]["rank"] == [1, 1]
    assert {name: found[name]["outcome"] for name in FAULTY} == {
        "raising": "errored", "hanging": "errored", "dying": "errored", "stillborn": "errored",
        "missing": "unavailable", "unreachable": "unavailable",
    }  # fmt: skip
    for name in FAULTY:
        assert found[name]["rank"] is None
        assert sum(found[name]["cells"].values()) == 2, "errors keep their place in every count"
        assert all(value is None for value in found[name]["metrics"].values())
    assert found["hanging"]["reason"] == "no reply within 2 s (answer)"
    assert found["dying"]["reason"] == "the worker was ended by SIGKILL"
    assert (
        found["missing"]["reason"] == "faulty cannot be loaded: No module named 'a_backend_that_is_not_there'"
    )
    assert found["unreachable"]["reason"].startswith("set MEMROT_FAULTY_URL")
    assert "errored: no reply within 2 s" in done.stdout
    assert "raising" in done.stderr


def test_evidence_of_what_never_answered_is_why(faulty: tuple[Path, Any]) -> None:
    folder, _ = faulty
    done = memrot("explain", folder / "out", "--stack", "dying")
    assert done.stdout == "dying: errored: the worker was ended by SIGKILL\n"


def test_nothing_secret_is_written_or_shown(faulty: tuple[Path, Any]) -> None:
    import gzip

    folder, done = faulty
    assert rows(folder / "out")["raising"]["reason"] == "ConnectionError: no reply from <redacted>"
    texts = [done.stdout, done.stderr]
    for path in (folder / "out").rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            texts.append((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode())
    for text in texts:
        for secret in ("hunter22", "alice", "cache.internal", "6379"):
            assert secret not in text


def test_nothing_temporary_is_left(faulty: tuple[Path, Any]) -> None:
    folder, _ = faulty
    assert list((folder / "tmp").iterdir()) == []
    assert list((folder / "out" / "cells").glob(".*")) == []


def test_what_was_unavailable_is_tried_again(faulty: tuple[Path, Any]) -> None:
    folder, _ = faulty
    out = folder / "out"
    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    stacks = [f"--stack={name}" for name in ("exact+all", *FAULTY)]
    done = memrot("run", *stacks, *exams(folder), *HASHING, "--out", out, env=environment(folder))
    assert done.returncode == 4
    again = {path.name.partition("--")[0] for path, was in kept.items() if path.stat().st_mtime_ns != was}
    assert again == {"missing", "unreachable"}


def test_results_are_the_same_for_any_jobs(tmp_path: Path) -> None:
    env = environment(tmp_path)
    asked = (
        "--stack",
        "exact",
        "--stack",
        "exact+all",
        "--stack",
        "exact+overwrite",
        *exams(tmp_path),
        *HASHING,
    )
    outs = []
    for jobs in ("1", "3"):
        out = tmp_path / jobs
        done = memrot("run", *asked, "--jobs", jobs, "--out", out, env=env)
        assert done.returncode == 0, done.stderr + done.stdout
        outs.append(without_latency(out))
    assert outs[0] == outs[1]
    other = memrot("run", *asked, "--k", "1", "--out", tmp_path / "1", env=env)
    assert other.returncode == 2
    assert "its k is 5, not 1" in other.stderr
    assert len(other.stderr.splitlines()) == 1


def test_two_runs_cannot_write_one_folder(tmp_path: Path) -> None:
    import fcntl

    out = tmp_path / "out"
    out.mkdir()
    with (out / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = memrot(
            "run", "--stack", "exact", *exams(tmp_path, 1), *HASHING, "--out", out, env=environment(tmp_path)
        )
    assert done.returncode == 2
    assert "another memrot run is writing here" in done.stderr
    assert [path.name for path in out.iterdir()] == [".lock"]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    done = memrot(
        "run", "--stack", "exact", *exams(tmp_path, 1), *HASHING, "--out", out, env=environment(tmp_path)
    )
    assert done.returncode == 2
    assert "neither empty nor the folder of a run" in done.stderr
    assert (out / "thesis.txt").read_text() == "years of work"


def test_a_given_server_is_left_as_it_was_and_never_named(tmp_path: Path) -> None:
    """Each cell has a namespace of its own on the server, and takes it away again."""
    redis = pytest.importorskip("redis")
    from memrot_adapters._redis_server import RedisServer

    server = RedisServer(redis, tmp_path / "server", search=True)
    try:
        port = server.connection.connection_pool.connection_kwargs["port"]
        server.connection.mset({f"theirs:{number}": number for number in range(50)})
        url = f"redis://127.0.0.1:{port}/0"
        env = environment(tmp_path, MEMROT_REDIS_URL=url)
        done = memrot(
            "run", "--stack=redis[server]", "--stack=redis[server]+all", "--stack=exact", "--stack=exact+all",
            *exams(tmp_path), *HASHING, "--out", tmp_path / "out", env=env,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = rows(tmp_path / "out")
        assert found["redis[server]"]["deployment"] == "server"
        for layers in ("", "+all"):
            ours, reference = found["redis[server]" + layers], found["exact" + layers]
            assert ours["metrics"] == reference["metrics"], "exact stores tie"
        assert sorted(server.connection.keys("*")) == sorted(
            f"theirs:{number}".encode() for number in range(50)
        )
        assert server.connection.execute_command("FT._LIST") == []
        for path in (tmp_path / "out").rglob("*"):
            if path.suffix in (".json", ".jsonl", ".md"):
                assert f":{port}" not in path.read_text()
    finally:
        server.stop()


def test_workers_that_are_still_starting_end_in_silence(tmp_path: Path) -> None:
    script = tmp_path / "one_task.py"
    script.write_text(ONE_TASK)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("(0, 2)\n", "")
