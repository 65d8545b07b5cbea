"""Leaderboards: the comparative table of one run, or of several runs of the same exam.

``of`` reads and checks, ``write`` keeps, ``render`` and ``broken_down`` print.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, structs

from memrot import controls
from memrot.errors import BadInput
from memrot.leaderboard.breakdown import By, broken_down
from memrot.leaderboard.capabilities import Declared
from memrot.leaderboard.links import by_links
from memrot.leaderboard.repeats import Repeat, repeated
from memrot.leaderboard.rows import Leaderboard, comparable, encoded, grouped, row
from memrot.leaderboard.tables import Format, markdown, render
from memrot.observations import TimelineId
from memrot.results import SCORING, RunFolder, Scored, Settings
from memrot.score import Scores
from memrot.stats import ranks
from memrot.truth import GroundTruth, leaking_probes

__all__ = [
    "Board", "By", "Format", "broken_down", "by_links", "files", "of", "of_cells", "of_shares",
    "refuse_other", "render", "scores_by_row", "write",
]  # fmt: skip


class Board(Struct, frozen=True, kw_only=True):
    """A leaderboard with what its tables say beside it."""

    table: Leaderboard
    cells: dict[str, list[Scored]]
    """Row label -> its cells."""
    broken: list[str]
    """What the controls should have scored and did not; empty: the exam is sound."""
    leaking: int
    """Probes that go on after the last fact of their key has ended (FORMATS.md)."""
    repeats: tuple[Repeat, ...] = ()
    """Rows of which several runs measured the same cells; the first measurement is the one shown."""
    capabilities: Declared = {}


def of(*folders: RunFolder) -> Board:
    """The leaderboard of finished runs; raises BadInput where they are not of the same exam."""
    for folder in folders[1:]:
        refuse_other(folders[0], folder)
    settings = folders[0].manifest().settings
    cells: dict[str, list[Scored]] = {}
    for folder in folders:
        for scored in folder.scored():
            cells.setdefault(scored.cell.name, []).append(scored)
    board = of_cells(folders[0], settings, [first for first, *_ in cells.values()])
    declared = [folder.manifest().capabilities for folder in folders]
    repeats = [
        repeated(label, [cells[each.cell.name] for each in found])
        for label, found in board.cells.items()
        if found[0].cell.kind == "stack"
    ]
    return structs.replace(
        board,
        capabilities={name: each for run in declared for name, each in run.items()},
        repeats=tuple(each for each in repeats if each is not None),
    )


def of_cells(folder: RunFolder, settings: Settings, cells: Sequence[Scored]) -> Board:
    """The leaderboard of scored cells, each measured once; the folder holds the timelines that were sat."""
    rows = grouped(cells)
    places = {label: rank for group in comparable(rows) for label, rank in ranks(group).items()}
    broken, leaking = _controlled(folder, cells, settings.timelines)
    return Board(
        table=Leaderboard(
            suite=settings.terms.suite,
            scoring=SCORING,
            k=settings.terms.k,
            forget_within=settings.terms.forget_within,
            embedder=settings.terms.embedder,
            links_told=UNSET if settings.terms.links_told == 1 else settings.terms.links_told,
            timelines=settings.timelines,
            rows=tuple(row(label, found, places.get(label)) for label, found in rows.items()),
        ),
        cells=rows,
        broken=broken,
        leaking=leaking,
        capabilities=folder.manifest().capabilities,
    )


def of_shares(*folders: RunFolder) -> dict[float, Board]:
    """Share of links told -> the leaderboard of the runs that told so much, and are else of one exam."""
    groups: dict[float, list[RunFolder]] = {}
    for folder in folders:
        refuse_other(folders[0], folder, but_for="links-told")
        groups.setdefault(folder.manifest().settings.terms.links_told, []).append(folder)
    return {share: of(*found) for share, found in groups.items()}


def write(folder: RunFolder, board: Board) -> None:
    """Keep a leaderboard in a run's folder."""
    for name, text in files(board).items():
        folder.write_text(name, text)


def files(board: Board) -> dict[str, str]:
    """Name -> text of what is kept of a leaderboard."""
    return {"leaderboard.json": encoded(board.table), "LEADERBOARD.md": markdown(board)}


def scores_by_row(cells: Sequence[Scored]) -> dict[str, list[Scores]]:
    """Row label -> scores of its answered cells."""
    return {
        label: [each.scores for each in found if each.scores is not None]
        for label, found in grouped(cells).items()
    }


def refuse_other(first: RunFolder, other: RunFolder, but_for: str = "") -> None:
    """Raise BadInput unless two runs sat the same exam under the same terms, one of them excepted."""
    mine, its = first.manifest().settings, other.manifest().settings
    reasons = [
        ("timelines", {each.digest for each in mine.timelines}, {each.digest for each in its.timelines}),
        ("embedder", mine.terms.embedder, its.terms.embedder),
        ("k", mine.terms.k, its.terms.k),
        ("forget-within", mine.terms.forget_within, its.terms.forget_within),
        ("ask-every", mine.terms.ask_every, its.terms.ask_every),
        ("suite", mine.terms.suite, its.terms.suite),
        ("links-told", mine.terms.links_told, its.terms.links_told),
    ]
    for what, here, there in reasons:
        if here != there and what != but_for:
            detail = (
                f"{len(here - there)} only in the first, {len(there - here)} only in the second"
                if isinstance(here, set) and isinstance(there, set)
                else f"{_short(here)} and {_short(there)}"
            )
            raise BadInput(
                f"{first.path} and {other.path} cannot be compared: their {what} differ ({detail})"
            )


def _short(value: object) -> str:
    name = getattr(value, "name", None)
    return str(value) if name is None else f"{name} {getattr(value, 'fingerprint', '')}"


def _controlled(
    folder: RunFolder, cells: Sequence[Scored], timelines: Sequence[TimelineId]
) -> tuple[list[str], int]:
    """What the controls broke, and how many probes leak."""
    by_timeline: dict[str, dict[str, Scored]] = {}
    for scored in cells:
        if scored.cell.kind == "control":
            by_timeline.setdefault(scored.cell.timeline.digest, {})[scored.cell.stack.adapter] = scored
    broken: list[str] = []
    leaking = 0
    for identity in timelines:
        exam = folder.timeline(identity)
        truth = GroundTruth.of(exam)
        leaking += len(leaking_probes(exam, truth))
        where = f"{identity.id} seed {identity.seed}"
        scores = {name: each.scores for name, each in by_timeline.get(identity.digest, {}).items()}
        failed = sorted(set(controls.CONTROLS) - {name for name, each in scores.items() if each is not None})
        if failed:
            broken.append(f"{where}: no scores of {', '.join(failed)}")
            continue
        known = {name: each for name, each in scores.items() if each is not None}
        broken += [
            f"{where}: {violation}"
            for violation in controls.violations(
                {name: each.cell for name, each in known.items()},
                {name: _all_leaks(each) for name, each in known.items()},
                len(truth.change_points),
            )
        ]
    return broken, leaking


def _all_leaks(scores: Scores) -> dict[str, int]:
    return {
        layer: scores.leaks.get(layer, 0) + scores.leaks_hedged.get(layer, 0)
        for layer in {*scores.leaks, *scores.leaks_hedged}
    }
