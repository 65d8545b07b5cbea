"""Runs that are killed: the same command finishes only the rest, and the result is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from running import alive, command, environment, exams, memrot

STACKS = [f"--stack=exact{layers}" for layers in ("", "+overwrite", "+ttl", "+supersession", "+all")]


def leaderboard(out: Path) -> bytes:
    """The bytes of ``leaderboard.json`` without its latencies."""
    table = json.loads((out / "leaderboard.json").read_bytes())
    for row in table["rows"]:
        del row["latency_ms"]
    return json.dumps(table).encode()


def cells(out: Path) -> dict[str, int]:
    """Cell -> when its file was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "cells").glob("[!.]*")}


def kill_when(process: subprocess.Popen[bytes], ready: Callable[[], bool], how: int) -> bool:
    """Send a signal once ``ready``; False: the process ended before."""
    while process.poll() is None:
        if ready():
            process.send_signal(how)
            process.wait(30)
            return True
        time.sleep(0.005)
    return False


def elapsed(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() >= until


def holding(out: Path, count: int) -> Callable[[], bool]:
    """Whether so many cells are there."""
    return lambda: len(cells(out)) >= count


def test_killed_at_random_it_finishes_what_is_missing(tmp_path: Path) -> None:
    """Kill after kill, each at another moment: while starting, embedding, measuring, writing."""
    env = environment(tmp_path, MEMROT_TEST_MARKER=str(tmp_path))
    asked: list[str | Path] = [
        "run",
        *STACKS,
        *exams(tmp_path, 3, rounds=8),
        "--embedder",
        "hashing",
        "--jobs",
        "2",
    ]
    whole = memrot(*asked, "--out", tmp_path / "whole", env=env)
    assert whole.returncode == 0, whole.stderr

    out = tmp_path / "killed"
    chance = random.Random("kills")
    moments = [0.0, chance.uniform(0.2, 0.6)]
    kills = 0
    for attempt in range(8):
        with subprocess.Popen(
            command(*asked, "--out", out), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            if attempt < len(moments):
                ready = elapsed(moments[attempt])
            else:
                ready = holding(out, len(cells(out)) + chance.randint(1, 5))
            kills += kill_when(process, ready, signal.SIGKILL)
        if len(cells(out)) > 25:
            break
    assert kills >= 4
    assert not (out / "leaderboard.json").exists()
    before = cells(out)
    assert before

    done = memrot(*asked, "--out", out, env=env)
    assert done.returncode == 0, done.stderr
    assert leaderboard(out) == leaderboard(tmp_path / "whole")
    after = cells(out)
    assert len(after) == 33
    assert {name for name in before if after[name] != before[name]} == set(), "measured twice"
    assert list((tmp_path / "tmp").iterdir()) == [], "stores of killed runs are removed"
    assert list((out / "cells").glob(".*")) == []
    deadline = time.monotonic() + 10
    while (left := alive(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left, "workers outlived their run"


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    env = environment(tmp_path)
    out = tmp_path / "out"
    asked: list[str | Path] = [
        "run",
        *STACKS,
        *exams(tmp_path, 3, rounds=8),
        "--embedder",
        "hashing",
        "--out",
        out,
    ]
    with subprocess.Popen(
        command(*asked), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while len(cells(out)) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process of the run
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.decode().strip().splitlines()[-1] == (
        "interrupted: the same command goes on where this one stopped"
    )
    assert "Traceback" not in stderr.decode()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_torn_cell_is_measured_again_and_a_complete_run_is_left_alone(tmp_path: Path) -> None:
    env = environment(tmp_path)
    out = tmp_path / "out"
    asked: list[str | Path] = [
        "run",
        "--stack=exact",
        *exams(tmp_path, 1),
        "--embedder",
        "hashing",
        "--out",
        out,
    ]
    assert memrot(*asked, env=env).returncode == 0
    first, before = leaderboard(out), cells(out)

    assert memrot(*asked, env=env).returncode == 0
    assert cells(out) == before

    torn = min(before)
    path = out / "cells" / torn
    path.write_bytes(path.read_bytes()[:-40])
    refused = memrot("leaderboard", out, env=env)
    assert refused.returncode == 2
    assert torn in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert memrot(*asked, env=env).returncode == 0
    assert {name for name, when in cells(out).items() if when != before[name]} == {torn}
    assert leaderboard(out) == first

    (out / "scores.jsonl").write_bytes((out / "scores.jsonl").read_bytes()[:-100])
    kept = cells(out)
    assert memrot(*asked, env=env).returncode == 0
    assert cells(out) == kept, "scores are derived again, nothing is measured"
    assert leaderboard(out) == first


def test_without_out_the_newest_incomplete_run_is_taken_up(tmp_path: Path) -> None:
    env = environment(tmp_path)
    asked: list[str | Path] = ["run", "--stack=exact", *exams(tmp_path, 1), "--embedder", "hashing"]
    assert memrot(*asked, env=env, cwd=tmp_path).returncode == 0
    (first,) = (tmp_path / "results").iterdir()
    (first / "leaderboard.json").unlink()  # as if it had been killed before its end
    assert memrot(*asked, env=env, cwd=tmp_path).returncode == 0
    assert list((tmp_path / "results").iterdir()) == [first]
    before = cells(first)
    time.sleep(1.1)  # a run's folder is named by the second
    assert memrot(*asked, env=env, cwd=tmp_path).returncode == 0
    assert len(list((tmp_path / "results").iterdir())) == 2, "a complete run is not taken up"
    assert memrot(*asked, "--fresh", "--out", first, env=env, cwd=tmp_path).returncode == 0
    assert all(when != before[name] for name, when in cells(first).items())


@pytest.mark.parametrize("option", [["--k", "3"], ["--forget-within", "2"], ["--stack", "exact+ttl"]])
def test_changed_settings_never_mix(tmp_path: Path, option: list[str]) -> None:
    env = environment(tmp_path)
    out = tmp_path / "out"
    asked: list[str | Path] = [
        "run",
        "--stack=exact",
        *exams(tmp_path, 1),
        "--embedder",
        "hashing",
        "--out",
        out,
    ]
    assert memrot(*asked, env=env).returncode == 0
    before = cells(out)
    other = memrot(*asked, *option, env=env)
    assert other.returncode == 2
    assert "this run was asked otherwise" in other.stderr
    assert cells(out) == before
