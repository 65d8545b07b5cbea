"""A backend's own server dies in the middle of a cell, its disk runs full: each costs that cell and no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from faults import hook
from memrot import registry
from running import alive, command, environment, exams

CELLS = 3
SERVERS = {"redis", "redis/native", "pgvector"}
"""Some that have a server of their own; whoever else has one is found by looking."""

DISK = "192m"
"""Room for one PostgreSQL; nothing else comes near it."""


def small_disk(folder: Path) -> tuple[str, ...]:
    """What puts a command's temporary files on a disk that can be filled; empty where none can be made."""
    apart = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    mounted = (*apart, "sh", "-c", f'mount -t tmpfs -o size={DISK} none "$0" && exec "$@"', str(folder))
    try:
        made = subprocess.run([*mounted, "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return ()
    return mounted if made.returncode == 0 else ()


def cells(out: Path) -> dict[str, list[dict[str, Any]]]:
    """By adapter, in the order in which they were measured."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in (out / "scores.jsonl").read_text().splitlines():
        scored = json.loads(line)
        if scored["cell"]["kind"] == "stack":
            found.setdefault(scored["cell"]["stack"]["adapter"], []).append(scored)
    return found


def test_a_server_that_dies_and_a_disk_that_is_full_cost_a_cell_each(tmp_path: Path) -> None:
    marks, out = tmp_path / "marks", tmp_path / "out"
    marks.mkdir()
    env = environment(tmp_path)
    disk = small_disk(tmp_path / "tmp")
    env |= {hook.MARKS: str(marks), hook.DISK: "small" if disk else ""}
    shutil.copy(hook.__file__, tmp_path / "site" / "sitecustomize.py")
    stacks = [f"--stack={name}" for name in registry.examinees() if registry.installed(name)]
    asked = command("run", *stacks, *exams(tmp_path, CELLS, rounds=2), "--embedder", "hashing", "--jobs", "1",
                    "--timeout", "20", "--out", out)  # fmt: skip
    done = subprocess.run([*disk, *asked], capture_output=True, text=True, env=env, timeout=280, check=False)

    assert "Traceback" not in done.stderr
    struck = {path.name for path in marks.iterdir() if path.read_text() == "struck"}
    measured = cells(out)
    for name, (killed, filled, spared) in measured.items():
        assert all(len((each["reason"] or "").splitlines()) <= 1 for each in (killed, filled, spared))
        if spared["outcome"] in {"unavailable", "unsupported"}:
            continue  # and why is its row
        assert spared["outcome"] == "answered", (name, spared["reason"])
        died = f"{name.replace('/', '-')}.kill" in struck
        assert died or name not in SERVERS
        assert killed["outcome"] == ("errored" if died else "answered"), (name, killed["reason"])
        kept_in_memory = spared["cell"]["stack"]["deployment"] == "in process"
        expected = {"errored"} if disk else {"answered"}
        assert filled["outcome"] in expected | ({"answered"} if kept_in_memory else set()), (
            name,
            filled["reason"],
        )
    assert bool(disk) == any(mark.endswith(".fill") for mark in struck)
    assert not alive(str(marks)), "a server outlived its run"
