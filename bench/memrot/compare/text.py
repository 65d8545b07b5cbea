"""A comparison for people: the verdict first, then the numbers that it rests on.

The verdict names a missing layer where the leaks charged to it appear on one side only: leaks are
what a layer is there to stop, so nothing needs to be known of what either row is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from tabulate import tabulate

from memrot.compare.pairs import Change, Comparison, Leaks
from memrot.stats import LEVEL, Interval

Format: TypeAlias = Literal["table", "markdown"]

ABSENT = 0.05
"""A layer does its work where at most this share of the other side's leaks is left."""

POLICY_LAYERS = ("ttl", "supersession", "propagation")


def render(found: Comparison, shape: Format = "table") -> str:
    parts = [
        f"first: {found.first}\nsecond: {found.second}\n{_shared(found)}",
        "\n".join(f"- {line}" if shape == "markdown" else line for line in verdict(found)),
        _table(
            [_change(each) for each in found.changes],
            ["metric", "first", "second", "difference", "95% interval", "p", "driven by"],
            shape,
        ),
        _table(
            [
                [_short(name), f"{a:.3f}", f"{b:.3f}", f"{each.mean:+.3f}", _interval(each)]
                for name, (a, b, each) in found.scenarios.items()
            ],
            ["lifecycle by scenario", "first", "second", "difference", "95% interval"],
            shape,
        ),
        _table(
            [[each.layer, *_sides(each), _p(each.p)] for each in found.leaks],
            ["leaks, asserted / hedged", "first", "second", "p"],
            shape,
        ),
    ]
    if found.misses:
        parts.append(
            _table(
                [[cause, str(a), str(b)] for cause, (a, b) in found.misses.items()],
                ["misses by cause", "first", "second"],
                shape,
            )
        )
    parts.append(
        "difference: the second less the first, paired by timeline; p: Holm-corrected over the table;\n"
        "driven by: the scenarios that make up at least half of it, and their share of it.\n"
        "A layer's leaks are the stale hits that it should have stopped."
    )
    return "\n\n".join(parts)


def verdict(found: Comparison) -> list[str]:
    """What follows, in words; from the numbers alone."""
    lines = [_overall(found)]
    missing = [line for each in found.leaks if each.layer in POLICY_LAYERS for line in _missing(found, each)]
    lines += missing or ["No layer's leaks tell the two apart."]
    coverage = found.change("coverage_key")
    if coverage is not None and coverage.significant:
        side = found.second if coverage.difference.mean < 0 else found.first
        lost = _lost(found, 1 if coverage.difference.mean < 0 else 0)
        why = f", most of it {lost}" if lost else ""
        lines.append(
            f"{side} covers less of what is true (coverage_key {coverage.difference.mean:+.3f}{why})."
        )
    return lines


def _overall(found: Comparison) -> str:
    change = found.change("lifecycle")
    if change is None:
        return "No lifecycle score is defined on both sides."
    difference = change.difference
    by = f"lifecycle {difference.mean:+.3f}"
    if difference.low is None:
        return f"{by}; one seed a scenario cannot tell whether more seeds would say the same."
    if not change.significant:
        if difference.p is not None and difference.p < 1 - LEVEL:
            return (
                f"{by} ({_interval(difference)}), but with {len(found.changes)} metrics looked at "
                "this may be chance: more seeds would tell."
            )
        return f"The two cannot be told apart by their lifecycle scores ({by}, {_interval(difference)})."
    better, worse = (found.second, found.first) if difference.mean > 0 else (found.first, found.second)
    drivers = _drivers(change)
    return f"{better} is better than {worse}: {by} ({_interval(difference)}), driven by {drivers}."


def _missing(found: Comparison, leaks: Leaks) -> list[str]:
    """Whether one side leaks what the other side's layer stops."""
    first, second = leaks.charged
    counts = f"{first} to {second}"
    if not first and not second:
        return []
    doubtful = leaks.p is not None and leaks.p >= 1 - LEVEL
    more, side = (second, found.second) if second > first else (first, found.first)
    if min(first, second) <= ABSENT * more:
        verb = "appear" if second > first else "vanish"
        if doubtful and not leaks.everywhere[second > first]:
            return [f"{leaks.layer} leaks {verb} ({counts}), on too few timelines to name a layer."]
        return [f"{leaks.layer} leaks {verb} ({counts}): {leaks.layer} is what is missing in {side}."]
    if doubtful or leaks.p is None:
        return [f"{leaks.layer} leaks on both sides ({counts})."]
    return [f"{leaks.layer} leaks on both sides, more in {side} ({counts})."]


def _lost(found: Comparison, side: int) -> str:
    """What most of the further misses were."""
    more = {cause: counts[side] - counts[1 - side] for cause, counts in found.misses.items()}
    return max(more, key=lambda cause: more[cause]) if more and max(more.values()) > 0 else ""


def _shared(found: Comparison) -> str:
    left = f"; {found.left_out} others were not answered by both" if found.left_out else ""
    return f"{found.timelines} timelines that both answered{left}"


def _change(each: Change) -> list[str]:
    return [
        each.metric.replace("_", " "),
        f"{each.first:.3f}",
        f"{each.second:.3f}",
        f"{each.difference.mean:+.3f}" + ("*" if each.significant else ""),
        _interval(each.difference),
        _p(each.p),
        _drivers(each) if abs(each.difference.mean) >= 0.0005 else "",
    ]


def _drivers(each: Change) -> str:
    return ", ".join(f"{_short(driver.scenario)} ({driver.share:.0%})" for driver in each.drivers)


def _short(scenario: str) -> str:
    return scenario.rpartition("/")[2]


def _interval(each: Interval) -> str:
    return "one seed" if each.low is None else f"{each.low:+.3f} to {each.high:+.3f}"


def _p(p: float | None) -> str:
    return "-" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def _sides(each: Leaks) -> list[str]:
    return [f"{a} / {b}" for a, b in zip(each.asserted, each.hedged, strict=True)]


def _table(body: Sequence[Sequence[str]], headings: Sequence[str], shape: Format) -> str:
    text: str = tabulate(
        body, headings, tablefmt="github" if shape == "markdown" else "simple", disable_numparse=True
    )
    return text
