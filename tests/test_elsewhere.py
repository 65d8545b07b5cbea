"""``--python``: the same command in another environment, if memrot is there in this version."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from running import environment, exams, inside, memrot


def test_the_command_goes_on_under_the_other_python(tmp_path: Path) -> None:
    other = tmp_path / "other-python"
    other.write_text(f'#!/bin/sh\necho went >> "{tmp_path}/marks"\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    out = tmp_path / "out"
    done = memrot(
        "run", "--python", other, "--stack", "exact", *exams(tmp_path, count=1), "--embedder", "hashing",
        "--out", out, env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "marks").read_text().split() == ["went", "went"], (
        "for its version, then for the command"
    )
    assert "exact" in done.stdout
    assert json.loads((out / "manifest.json").read_bytes())["settings"]["stacks"] == ["exact"]
    done = memrot("run", f"--python={other}", "--stack", "no-such", env=environment(tmp_path))
    assert done.returncode == 2, "what the other one says is what is said"
    assert "unknown adapter 'no-such'" in done.stderr


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("exit 1", "found none"),
        ("echo 0.0.1", "found memrot 0.0.1"),
        ("true", "found none"),
        (None, "No such file"),
    ],
)
def test_a_python_without_this_memrot_is_refused(script: str | None, found: str, tmp_path: Path) -> None:
    other = tmp_path / "python"
    if script is not None:
        other.write_text(f"#!/bin/sh\n{script}\n")
        other.chmod(0o755)
    done = inside("run", "--python", other, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert found in done.stderr
    assert "--python" in done.stderr
    assert not (tmp_path / "out").exists()
