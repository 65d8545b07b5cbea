"""What each layer is worth: effects and pairwise interactions from a full 2x2x2 factorial.

With eight rows, one for every set of the three layers, an effect is the mean over the four pairs of
sets that differ in that layer alone; an interaction is how much larger a layer's effect is where the
other layer is there than where it is not. Both are taken timeline by timeline, so that their intervals
are those of paired differences (METRICS.md §11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

from msgspec import Struct
from tabulate import tabulate

from memrot import stats
from memrot.cells import stack_name
from memrot.errors import BadInput
from memrot.leaderboard.rows import METRICS, Pick, whole
from memrot.names import ALL, StackName
from memrot.results import Scored
from memrot.score.leaks import CHARGES
from memrot.stats import LEVEL, Interval

Layers: TypeAlias = frozenset[str]
Factorial: TypeAlias = Mapping[Layers, Sequence[Scored]]
"""Set of layers -> the cells of its row."""

SETS: tuple[Layers, ...] = tuple(
    frozenset(layers) for size in range(len(ALL) + 1) for layers in combinations(ALL, size)
)
TERMS: tuple[tuple[str, ...], ...] = (*((layer,) for layer in ALL), *combinations(ALL, 2))
"""The three layers, then their pairs."""

SAID = ("lifecycle", "confidently wrong", "coverage key")
"""The metrics that stand in the words; the table has all of them."""

Format: TypeAlias = Literal["table", "markdown"]


class Effect(Struct, frozen=True):
    """Of one layer, or of one pair, on one measure."""

    of: tuple[str, ...]
    on: Interval
    p: float | None
    """Holm-corrected over the table."""

    @property
    def significant(self) -> bool:
        return self.p is not None and self.p < 1 - LEVEL


class Line(Struct, frozen=True):
    measure: str
    bare: float
    """Mean without any layer."""
    effects: tuple[Effect, ...]
    """In the order of ``TERMS``."""


class Ablation(Struct, frozen=True):
    metrics: tuple[Line, ...]
    leaks: tuple[Line, ...]
    """Stale hits a timeline, by the layer that should have stopped them."""
    timelines: int


def factorial(cells: Sequence[Scored], base: str) -> Factorial:
    """The eight rows of an adapter; raises BadInput naming what has to be measured."""
    rows: dict[Layers, list[Scored]] = {}
    for cell in cells:
        name = stack_name(cell.cell.stack)
        if name.base == base and frozenset(name.layers) in SETS:
            rows.setdefault(frozenset(name.layers), []).append(cell)
    missing = [
        str(StackName.of(base, layers))
        for layers in SETS
        if all(cell.scores is None for cell in rows.get(layers, ()))
    ]
    if missing:
        wanted = " ".join(f"--stack '{name}'" for name in missing)
        raise BadInput(f"not every set of layers over {base} was answered: memrot run {wanted}")
    return rows


def ablate(rows: Factorial) -> Ablation:
    """Effects on every metric and on every layer's leaks, over the timelines that all eight answered."""
    by_timeline = [
        {cell.cell.timeline.digest: cell for cell in rows[layers] if cell.scores is not None}
        for layers in SETS
    ]
    shared = [
        tuple(row[digest] for row in by_timeline)
        for digest in by_timeline[0]
        if all(digest in row for row in by_timeline)
    ]
    return Ablation(
        metrics=_lines(shared, {metric.replace("_", " "): whole(metric) for metric in METRICS}),
        leaks=_lines(
            shared,
            {
                f"{layer}, {how}": _leaks(layer, hedged=how == "hedged")
                for layer in CHARGES
                for how in ("asserted", "hedged")
            },
        ),
        timelines=len(shared),
    )


def contrast(of: Sequence[str], values: Mapping[Layers, float]) -> float:
    """One timeline's effect of a layer, or interaction of two, from the values of the eight sets."""
    others = [layers for layers in SETS if not layers & set(of)]
    return sum(sign * values[rest | chosen] for rest in others for sign, chosen in _signed(of)) / len(others)


def _signed(of: Sequence[str]) -> Iterator[tuple[int, Layers]]:
    """Every set of some layers, with -1 for each of them that is absent."""
    for size in range(len(of) + 1):
        for chosen in combinations(of, size):
            yield (-1) ** (len(of) - size), frozenset(chosen)


def _lines(shared: Sequence[Sequence[Scored]], measures: Mapping[str, Pick]) -> tuple[Line, ...]:
    found: list[tuple[str, float, list[Interval]]] = []
    for measure, pick in measures.items():
        values = list(_defined(shared, pick))
        if values and any(value for _, row in values for value in row.values()):
            bare = _over(values, lambda row: row[frozenset()])
            effects = [_over(values, lambda row, of=of: contrast(of, row)) for of in TERMS]  # type: ignore[misc]  # binds the loop's term
            found.append((measure, bare.mean, effects))
    intervals = [each for *_, effects in found for each in effects]
    known = iter(stats.holm([each.p for each in intervals if each.p is not None]))
    return tuple(
        Line(
            measure,
            bare,
            tuple(
                Effect(of, each, None if each.p is None else next(known))
                for of, each in zip(TERMS, effects, strict=True)
            ),
        )
        for measure, bare, effects in found
    )


def _defined(shared: Sequence[Sequence[Scored]], pick: Pick) -> Iterator[tuple[str, Mapping[Layers, float]]]:
    """Scenario and the eight values of each timeline on which all of them are defined."""
    for cells in shared:
        values = {
            layers: float(value)
            for layers, cell in zip(SETS, cells, strict=True)
            if (value := pick(cell)) is not None
        }
        if len(values) == len(SETS):
            yield cells[0].cell.timeline.id, values


def _over(
    rows: Sequence[tuple[str, Mapping[Layers, float]]], value: Callable[[Mapping[Layers, float]], float]
) -> Interval:
    by_scenario: dict[str, list[float]] = {}
    for scenario, row in rows:
        by_scenario.setdefault(scenario, []).append(value(row))
    return stats.interval(list(by_scenario.values()))


def _leaks(layer: str, *, hedged: bool) -> Pick:
    def picked(cell: Scored) -> float | None:
        if cell.scores is None:
            return None
        return (cell.scores.leaks_hedged if hedged else cell.scores.leaks).get(layer, 0)

    return picked


def render(found: Ablation, shape: Format = "table") -> str:
    """What each layer is worth in words, then both tables."""
    headings = [" × ".join(of) for of in TERMS]
    tables = [
        tabulate(
            [
                [line.measure, f"{line.bare:.{digits}f}", *(_shown(each, digits) for each in line.effects)]
                for line in lines
            ],
            [title, "bare", *headings],
            tablefmt="github" if shape == "markdown" else "simple",
            disable_numparse=True,
        )
        for title, lines, digits in (
            ("effect on", found.metrics, 3),
            ("leaks a timeline", found.leaks, 1),
        )
    ]
    said = "\n".join(f"- {line}" if shape == "markdown" else line for line in in_words(found))
    legend = (
        "A layer's effect: the mean change when it is added, over the four sets of the other two. A pair's:\n"
        "how much larger one's effect is where the other is there. ±: 95% interval over new seeds;\n"
        "*: not chance, Holm-corrected over the table. "
        f"{found.timelines} timelines that all eight sets answered."
    )
    return "\n\n".join([said, *tables, legend])


def in_words(found: Ablation) -> list[str]:
    """A line a layer, then one a pair: effects on the score, its price, and the leaks that are its own."""
    said = []
    for place, of in enumerate(TERMS):
        own = [line for line in found.leaks if line.measure in {f"{layer}, asserted" for layer in of}]
        lines = [(line, 3, "") for line in found.metrics if line.measure in SAID]
        lines += [(line, 1, " leaks a timeline") for line in own]
        effects = [
            f"{line.measure}{unit} {_signed_number(line.effects[place].on.mean, digits)}"
            for line, digits, unit in lines
            if line.effects[place].significant
        ]
        said.append(f"{' × '.join(of)}: {'; '.join(effects) or 'nothing that could not be chance'}")
    return said


def _shown(each: Effect, digits: int) -> str:
    half = (
        ""
        if each.on.low is None or each.on.high is None
        else f" ±{(each.on.high - each.on.low) / 2:.{digits}f}"
    )
    return f"{_signed_number(each.on.mean, digits)}{half}{'*' if each.significant else ''}"


def _signed_number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0:+.{digits}f}"  # + 0: no negative zero
