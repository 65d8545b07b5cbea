"""What tests of releases share: a run to publish, and ways to edit what was published."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memrot import leaderboard, publish, run
from memrot.results import RunFolder, published_scores
from memrot.run import Request
from running import tiny

SCORES = published_scores(1)
STACKS = ("exact", "exact+all")


def measured(home: Path, *scenarios: str, stacks: tuple[str, ...] = STACKS) -> RunFolder:
    folder = run.run(
        Request(stacks=stacks, scenarios=scenarios, seeds=1, out=home / "run", embedder="hashing", jobs=2)
    )
    leaderboard.write(folder, leaderboard.of(folder))
    return folder


def tiny_run(home: Path) -> RunFolder:
    """A finished run over two tiny timelines, from files."""
    for seed in (1, 2):
        tiny(seed).write(home / f"{seed}.timeline.jsonl")
    return measured(home, *(str(home / f"{seed}.timeline.jsonl") for seed in (1, 2)))


def found(release: RunFolder) -> str:
    return "\n".join(publish.verify(release.path).findings)


def edit_json(path: Path, edit: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text())
    edit(value)
    path.write_text(json.dumps(value, indent=1) + "\n")


def edit_scores(release: RunFolder, edit: Callable[[list[Any]], object]) -> None:
    path = release.path / SCORES
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    edit(lines)
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def edit_mean(table: Any) -> None:
    table["rows"][0]["metrics"]["lifecycle"]["mean"] += 0.001
