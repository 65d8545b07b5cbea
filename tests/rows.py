"""Rows of a leaderboard made by hand: cells with chosen scores, for what is derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memrot.cells import Cell, Terms
from memrot.names import parse
from memrot.observations import EmbedderId, StackId, TimelineId
from memrot.results import Scored
from memrot.score import Scores

TERMS = Terms(suite="1.0.0", embedder=EmbedderId(name="hashing", fingerprint="f", lexical=True))


def cell(
    stack: str,
    scenario: str = "test/a",
    seed: int = 1,
    *,
    metrics: Mapping[str, float | None] | None = None,
    leaks: Mapping[str, int] | None = None,
    hedged: Mapping[str, int] | None = None,
    misses: Mapping[str, int] | None = None,
    lead: Sequence[float | None] = (),
) -> Scored:
    """An answered cell that scores as given and nothing else."""
    name = parse(stack)
    timeline = TimelineId(id=scenario, seed=seed, digest=f"{scenario}-{seed}")
    identity = StackId(adapter=name.adapter, version="1", layers=name.layers, options=dict(name.options))
    return Scored(
        cell=Cell.of("stack", identity, timeline, TERMS),
        outcome="answered",
        observed="",
        scores=Scores(
            stages=[], cell=dict(metrics or {}), last={}, worst={}, leaks=dict(leaks or {}),
            leaks_hedged=dict(hedged or {}), misses=dict(misses or {}), ends={}, begins={}, lag_to_learn={},
            lag_to_forget={}, lags={}, by={}, time_travel={}, calibration=[], lead=list(lead),
        ),
    )  # fmt: skip


def failed(stack: str, scenario: str = "test/a", seed: int = 1) -> Scored:
    """A cell that its backend failed."""
    answered = cell(stack, scenario, seed)
    return Scored(cell=answered.cell, outcome="errored", observed="", reason="it fell")
