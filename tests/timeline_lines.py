"""A valid timeline file as its lines, for tests that break one thing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memrot.errors import BadInput

Line = dict[str, Any]


def fact(name: str, **others: Any) -> Line:
    return {
        "id": name, "subject": "billing", "predicate": "owner", "value": name, "domain": "OWNERSHIP",
        "text": f"{name} owns billing.", **others,
    }  # fmt: skip


def day(number: int) -> str:
    return f"2026-01-{number:02}T09:00:00Z"


def lines() -> list[Line]:
    """A valid timeline with one line of most kinds; the tests below break one thing each."""
    return [
        {
            "type": "timeline", "format": 1, "id": "test/all", "revision": 3, "seed": 17, "k": 5,
            "domains": {"OWNERSHIP": {"window_days": 45}, "COMMITMENT": {"window_days": None, "grace_days": 7}},
            "exclusive": ["owns"], "source": "synthetic", "note": "",
        },
        {"type": "fact_added", "seq": 1, "at": day(1), "fact": fact("f1")},
        {"type": "fact_revised", "seq": 2, "at": day(2), "previous": "f1", "current": fact("f2")},
        {"type": "fact_added", "seq": 3, "at": day(2), "fact": fact(
            "f3", predicate="uses", cardinality="many", depends_on=["f2"], support="any", confidence=0.5,
            observed_at=day(1), valid_from=day(2), valid_to=day(20), fact_class="plan", session="s1",
        )},
        {"type": "fact_confirmed", "seq": 4, "at": day(3), "fact": "f2"},
        {"type": "fact_mentioned", "seq": 5, "at": day(3), "fact": "f2"},
        {"type": "fact_added", "seq": 6, "at": day(4), "fact": fact("f4", subject="search"), "announced": False},
        {"type": "fact_invalidated", "seq": 7, "at": day(5), "fact": "f2", "reason": "obsolete"},
        {"type": "time_passed", "seq": 8, "at": day(6)},
        {"type": "restarted", "seq": 9, "at": day(6)},
        {"type": "embedder_changed", "seq": 10, "at": day(6), "embedder": "hashing"},
        {
            "type": "probe", "id": "p1", "question": "Who owns billing?", "subject": "billing",
            "predicate": "owner", "mode": "current", "tests": "revision", "since": 1, "until": None, "revision": 1,
        },
        {
            "type": "probe", "id": "p0", "question": "Who owned billing?", "subject": "billing",
            "predicate": "owner", "mode": "as_of", "as_of": day(1), "tests": "history", "until": 7, "session": "s1",
        },
    ]  # fmt: skip


def written(path: Path, content: list[Line]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in content), encoding="utf-8")
    return path


def refusal(path: Path, read: Callable[[Path], object]) -> str:
    """The one line with which a reader refuses a file, leaving everything as it was."""
    before = set(path.parent.iterdir())
    with pytest.raises(BadInput) as refused:
        read(path)
    assert set(path.parent.iterdir()) == before
    assert "\n" not in str(refused.value)
    return str(refused.value)


def refuses_or_reads(path: Path, read: Callable[[Path], object]) -> None:
    """Whatever stands in the file, a reader reads it, or refuses it in one line."""
    try:
        read(path)
    except BadInput as refused:
        said = str(refused)
    else:
        said = f"{path}: read"
    assert said.startswith(f"{path}:")
    assert "\n" not in said
    assert list(path.parent.iterdir()) == [path]
