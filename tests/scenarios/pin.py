"""Pin the digests of all scenarios: ``python tests/scenarios/pin.py``.

One revision of a scenario stands for one output for ever: published results name no more than that.
A changed digest under the same revision is therefore refused, here and by the tests.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("digests.json")
SEEDS = (1, 2, 17)
SIZES = ("smoke", "default", "large:1000")


def scenarios() -> list[Any]:
    """Our own scenarios, through their entry points."""
    found = sorted(entry_points(group="memrot.scenarios"), key=lambda entry: entry.name)
    return [entry.load() for entry in found if entry.value.startswith("memrot_scenarios.")]


def digests() -> dict[str, dict[str, Any]]:
    """By scenario: its revision, and the digest of each size and seed."""
    return {
        scenario.id: {
            "revision": scenario.revision,
            "digests": {
                f"{size}/{seed}": scenario.generate(seed, size).digest for size in SIZES for seed in SEEDS
            },
        }
        for scenario in scenarios()
    }


def refusals(pinned: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]]) -> list[str]:
    """Scenarios whose output changed under the same revision."""
    return [
        f"{name}: output changed, but its revision is still {now[name]['revision']}: raise it"
        for name, pin in pinned.items()
        if name in now and pin["revision"] == now[name]["revision"] and pin["digests"] != now[name]["digests"]
    ]


def main() -> int:
    now = digests()
    refused = refusals(json.loads(PINS.read_text()) if PINS.exists() else {}, now)
    if refused:
        sys.stderr.write("\n".join(refused) + "\n")
        return 2
    PINS.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
