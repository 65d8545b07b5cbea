"""The golden cases: every number that is stated must come out (METRICS.md, first paragraph)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from memrot import observations, timeline
from memrot.score import score

CASES = sorted(path.name for path in (Path(__file__).parent / "golden").iterdir() if path.is_dir())


@pytest.mark.parametrize("case", CASES)
def test_every_stated_number_comes_out(case: str) -> None:
    folder = Path(__file__).parent / "golden" / case
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    scores = score(timeline.read(folder / "timeline.jsonl"), observations.read(folder / "observations.jsonl"))
    computed = msgspec.to_builtins(scores)
    assert [stage["seq"] for stage in computed["stages"]] == [stage["seq"] for stage in expected["stages"]]
    for got, wanted in zip(computed.pop("stages"), expected.pop("stages"), strict=True):
        assert_stated(got, wanted, f"stage {wanted['seq']}")
    assert_stated(computed.pop("cell"), expected.pop("cell"), "cell")
    assert {name: computed[name] for name in expected} == expected


def assert_stated(got: dict[str, Any], wanted: dict[str, Any], where: str) -> None:
    """Every stated number; a metric that is not stated is undefined or no metric of the golden files."""
    for name, value in wanted.items():
        assert name in got, f"{where}: {name} is missing"
        if value is None:
            assert got[name] is None, f"{where}: {name}"
        else:
            assert got[name] == pytest.approx(value, rel=0, abs=1e-9), f"{where}: {name}"
