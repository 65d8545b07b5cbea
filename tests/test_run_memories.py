"""Whole memories sit the same exam as stacks: by entry point, without layers, each in its own place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memrot import registry
from memrot.errors import BadInput
from running import environment, exams, memrot


@pytest.fixture(scope="module")
def sat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    stacks = [f"--stack={name}" for name in ("exact", "faulty/newest", "faulty/wall")]
    done = memrot(
        "run", *stacks, *exams(folder, count=1), "--embedder", "hashing", "--jobs", "1", "--out", folder / "out",
        env=environment(folder),
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    return folder / "out"


def test_a_memory_of_another_package_is_a_row_of_its_own(sat: Path) -> None:
    rows = {row["stack"]: row for row in json.loads((sat / "leaderboard.json").read_bytes())["rows"]}
    newest, wall = rows["faulty/newest"], rows["faulty/wall"]
    assert (newest["outcome"], newest["layers"], newest["adapter"]) == ("answered", [], "faulty/newest")
    # it returns what the control of that name returns
    assert newest["metrics"]["lifecycle"]["mean"] == rows["newest"]["metrics"]["lifecycle"]["mean"]
    assert (wall["outcome"], wall["reason"]) == ("unsupported", "wall clock")


@pytest.mark.parametrize("stack", ["faulty/newest+all", "faulty/newest[swap=reembed]"])
def test_a_memory_takes_no_layers(stack: str, tmp_path: Path) -> None:
    done = memrot("run", "--stack", stack, "--out", tmp_path / "out", env=environment(tmp_path))
    assert done.returncode == 2
    assert "is a whole memory, which takes neither layers nor options of a stack" in done.stderr


def test_a_name_is_of_an_adapter_or_of_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    point = registry.find("adapters", "exact")
    monkeypatch.setattr(registry, "found", lambda _: {"exact": point})
    with pytest.raises(BadInput, match="'exact' is claimed as an adapter and as a memory"):
        registry.examinees()
