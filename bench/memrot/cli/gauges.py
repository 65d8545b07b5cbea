"""``--metrics-file``: the framework's metrics as Prometheus gauges, for whoever watches them over time."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from memrot.leaderboard import Board
from memrot.leaderboard.rows import estimate_of, last, part, whole
from memrot.lines import write_lines

GAUGES = {
    "freshness": "share of hits that were validated within their domain's window",
    "consistency": "share of hits that do not contradict the truth",
    "coverage": "share of the true facts asked for that were returned",
    "contamination": "share of answers that hold a stale hit",
    "forgetting": "share of ended facts that stay away in time",
}


def write(path: Path, board: Board) -> None:
    """One sample a stack, domain (``all`` too) and scope (``last`` stage, ``whole``), where defined."""
    registry = CollectorRegistry()
    for metric, what in GAUGES.items():
        gauge = Gauge(f"memory_{metric}", what, ["stack", "domain", "scope"], registry=registry)
        for row in board.table.rows:
            cells = board.cells[row.stack]
            domains = sorted(
                {name for cell in cells if cell.scores for name in cell.scores.by.get("domain", {})}
            )
            samples = [("all", "whole", whole(metric)), ("all", "last", last(metric))]
            for domain in domains:
                samples.append((domain, "whole", part("domain", domain, metric)))
                samples.append((domain, "last", last(metric, domain)))
            for domain, scope, pick in samples:
                estimate = estimate_of(cells, pick)
                if estimate is not None:
                    gauge.labels(row.stack, domain, scope).set(estimate.mean)
    write_lines(path, generate_latest(registry).decode().splitlines())
