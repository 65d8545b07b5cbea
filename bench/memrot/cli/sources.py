"""What the retention commands test on: policies, timelines with their conversations, instants."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from memrot.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memrot.layers.policy import Policy
    from memrot.timeline import Timeline

_MOST_SEEDS = 200


def policy_of(file: Path | None) -> Policy:
    from memrot.retention import policy

    return policy.DEFAULT if file is None else policy.read(file)


def exams(
    files: list[Path] | None, folder: Path | None, scenarios: list[str] | None, seeds: Sequence[int]
) -> list[Timeline]:
    """The timelines to test on: those given, a run's, or generated ones, seed by seed."""
    from memrot import registry, suite
    from memrot.results import RunFolder
    from memrot.timeline import read

    if (files is not None) + (folder is not None) + (scenarios is not None) > 1:
        raise BadInput("expected one of --timeline, --run and --scenario")
    if files is not None:
        return [read(file) for file in files]
    if folder is not None:
        run = RunFolder(folder)
        return [run.timeline(identity) for identity in run.manifest().settings.timelines]
    if not seeds:
        raise BadInput("--seeds: expected a number from 1")
    names = scenarios or suite.profile("retention").scenarios
    return [registry.scenario(name).generate(seed) for seed in seeds for name in names]


def conversing(
    files: list[Path] | None, folder: Path | None, scenarios: list[str] | None, seeds: int, wanted: int
) -> tuple[list[Timeline], list[Timeline]]:
    """The timelines, and their conversations: of generated ones as many more as it takes."""
    from memrot.retention.conversations import needed, of

    found = exams(files, folder, scenarios, range(1, seeds + 1))
    if files is None and folder is None:
        enough = min(math.ceil(seeds * needed(found, wanted)), _MOST_SEEDS)
        found += exams(None, None, scenarios, range(seeds + 1, enough + 1)) if enough > seeds else []
    return found, of(found, wanted)


def instant(text: str | None) -> int:
    from memrot.lines import parse_instant

    if text is None:
        raise BadInput("--facts: expected --at, the instant at which your store held them")
    try:
        return parse_instant(text)
    except ValueError as error:
        raise BadInput(f"--at: {error}") from None
