"""How a leaderboard is cited: a sentence in Markdown and a BibTeX entry, both with the permanent id."""

from __future__ import annotations

from memrot.errors import BadInput
from memrot.leaderboard import Board
from memrot.leaderboard.rows import METRICS, Row
from memrot.leaderboard.tables import ordered
from memrot.publish.identity import Identity
from memrot.results import Manifest


def cite(
    board: Board,
    manifest: Manifest,
    identity: Identity,
    *,
    stack: str | None = None,
    metric: str | None = None,
) -> str:
    """What to paste; raises BadInput for a row or a metric that is not on the leaderboard."""
    rows = ordered(board)
    if stack is not None:
        rows = [row for row in rows if row.stack == stack]
        if not rows:
            known = ", ".join(row.stack for row in board.table.rows)
            raise BadInput(f"stack {stack!r} is not on this leaderboard: expected one of {known}")
    if metric is not None and metric not in METRICS:
        raise BadInput(f"unknown metric {metric!r}: expected one of {', '.join(METRICS)}")
    claims = [_claim(row, metric or "lifecycle") for row in rows] if stack or metric else []
    markdown = "\n".join(
        [*(f"- {claim}" for claim in claims), *([""] if claims else []), _source(board, identity)]
    )
    return f"{markdown}\n\n{_bibtex(manifest, identity, claims if stack else [])}"


def _claim(row: Row, metric: str) -> str:
    """One number with all that a reader needs to doubt it."""
    estimate = row.metrics[metric]
    answered, all_cells = row.cells["answered"], sum(row.cells.values())
    shown = "undefined" if estimate is None else f"{estimate.mean:.3f}"
    parts = []
    if estimate is not None and estimate.low is not None and estimate.high is not None:
        parts.append(f"95% interval over new seeds {estimate.low:.3f} to {estimate.high:.3f}")
    if row.rank is not None and metric == "lifecycle":
        parts.append(f"rank {row.rank[0]}-{row.rank[1]}")
    parts.append(f"{answered} of {all_cells} cells answered")
    version = f" ({row.adapter} {row.version}, {row.deployment})" if row.kind == "stack" else " (control)"
    return f"{row.stack}{version}: {metric} {shown} ({'; '.join(parts)})"


def _source(board: Board, identity: Identity) -> str:
    table = board.table
    scenarios = len({each.id for each in table.timelines})
    lexical = ", LEXICAL" if table.embedder.lexical else ""
    return (
        f"memrot leaderboard, suite {table.suite}, scoring {table.scoring}, {scenarios} scenarios, "
        f"{len(table.timelines)} timelines, k = {table.k}, embedder {table.embedder.name} "
        f"({table.embedder.fingerprint}){lexical}. Id `{identity}`; check it with "
        f"`memrot verify FOLDER --id {identity}`."
    )


def _bibtex(manifest: Manifest, identity: Identity, claims: list[str]) -> str:
    note = "; ".join([str(identity), *claims])
    fields = {
        "title": f"memrot leaderboard, suite {identity.suite}: how AI memories rot",
        "author": "{The memrot developers}",
        "year": (manifest.finished or manifest.started)[:4],
        "version": manifest.settings.memrot,
        "note": note,
    }
    lines = [f"  {name:<7} = {{{_escaped(value)}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{identity.exam_id},", *lines, "}"])


def _escaped(text: str) -> str:
    """Names of stacks hold what BibTeX reads as its own."""
    return text.replace("_", r"\_").replace("%", r"\%").replace("&", r"\&").replace("#", r"\#")
