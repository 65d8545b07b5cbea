"""What the README says is what happens, and what pages quote is what a command prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

import blocks
from memrot import registry

TEXT = blocks.README.read_text()
BLOCKS = [block for page in blocks.PAGES for block in blocks.BLOCK.finditer(page.read_text())]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["command"])
def test_generated_blocks_are_what_their_command_prints(block: re.Match[str]) -> None:
    assert block["text"] == blocks.output(block)


def test_there_are_generated_blocks_for_the_leaderboard_and_the_leaks() -> None:
    commands = " ".join(block["command"] for block in blocks.BLOCK.finditer(TEXT))
    assert "memrot leaderboard results/" in commands
    assert "memrot diagnose results/" in commands
    assert "memrot explain results/" in commands


def test_the_example_scores_a_memory_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    registry.scenario("reorg").generate(1).write(tmp_path / "reorg.timeline.jsonl")
    [example] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {"__name__": "example"})
    consistency, contamination = map(float, printed.getvalue().split())
    assert 0 < contamination < 1
    assert 0 < consistency <= 1


def test_the_two_commands_come_first() -> None:
    [first, *_] = re.findall(r"```\n(.*?)```", TEXT, re.DOTALL)
    assert [line.split("#")[0].split() for line in first.splitlines()] == [
        ["make", "bench"],
        ["make", "test"],
    ]
