"""What the retention commands print: rows of text, from findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tabulate import tabulate

from memrot.layers.policy import Policy
from memrot.lines import format_instant
from memrot.retention.audit import Finding
from memrot.retention.calibration import Calibration
from memrot.retention.cost import Cost
from memrot.retention.curve import Point, Standing
from memrot.retention.replay import Conversation, Replay, Said
from memrot.retention.tune import Quantile, Survival, Tuned
from memrot.stats import Rate


def table(rows: Iterable[Sequence[object]], headers: Sequence[str]) -> str:
    return str(tabulate(list(rows), headers, disable_numparse=True))


def percent(rate: Rate) -> str:
    """``0.73% [0.38, 1.37]``; a dash where nothing was counted."""
    if rate.value is None or rate.bounds is None:
        return "-"
    low, high = rate.bounds
    return f"{rate.value:.2%} [{100 * low:.2f}, {100 * high:.2f}]"


def replays(found: Mapping[str, Replay]) -> str:
    return table(
        (
            [
                name,
                len(each.conversations),
                each.regression.count,
                percent(each.regression),
                percent(each.different),
                percent(each.better),
                percent(each.confidently_wrong),
                percent(each.doubted),
            ]
            for name, each in found.items()
        ),
        [
            "store",
            "conversations",
            "worse",
            "regression rate",
            "different",
            "better",
            "asserts what is untrue",
            "hedges what is right",
        ],
    )


def worse(replay: Replay, most: int) -> str:
    """Worse conversations by class, then one by one."""
    by_class = [[name, count] for name, count in replay.worse_by_class.most_common()]
    found = [each for each in replay.conversations if each.verdict == "worse"]
    shown = [line for each in found[:most] for line in _told(each)]
    if len(found) > most:
        shown.append(f"... and {len(found) - most} more")
    return "\n".join([table(by_class, ["class of what was lost", "worse conversations"]), "", *shown])


def _told(conversation: Conversation) -> list[str]:
    head = f"{conversation.timeline}  {conversation.session}  {format_instant(conversation.at)}"
    return [
        head,
        *(
            f"  [{reply.fact_class}] {reply.question}  full: {_said(reply.full)}  policy: {_said(reply.kept)}"
            for reply in conversation.replies
            if reply.verdict == "worse"
        ),
    ]


def _said(said: Said) -> str:
    if said.value is None:
        return "nothing"
    doubt = "" if said.band == "assert" else " (hedged)"
    return f"{said.value!r}{doubt}{'' if said.right else ', untrue'}"


def costs(found: Mapping[str, Cost]) -> str:
    rows = []
    for name, cost in found.items():
        projected = cost.projected()
        year = ["-", "-"] if projected is None else [f"{projected[0]:,}", f"{projected[1] / 1e9:.2f} GB"]
        rows.append([name, f"{cost.told:,}", f"{cost.rows:,}", f"{cost.vectors:,}", f"{cost.bytes:,}", *year])
    return table(
        rows,
        ["store", "told", "rows", "vectors", "bytes", "rows of a million facts a year", "bytes of these"],
    )


def audits(found: Sequence[Finding]) -> str:
    rows = []
    for each in found:
        ages = (
            "-"
            if each.sampled_age is None
            else f"{each.sampled_age[1]:.0f} ({each.sampled_age[0]:.0f} to {each.sampled_age[2]:.0f})"
        )
        counts = f"{each.wrong.count} of {each.wrong.of}"
        rows.append(
            [
                each.fact_class,
                f"{each.lifetime:g} d",
                each.older,
                ages,
                counts,
                percent(each.wrong),
                each.implication,
            ]
        )
    return table(
        rows, ["class", "lifetime", "older", "sampled age, days", "wrong", "wrong rate", "implication"]
    )


def calibrations(found: Sequence[Calibration]) -> str:
    return table(
        (
            [
                each.fact_class,
                each.n,
                f"{each.brier:.3f}",
                "  ".join(
                    f"{bin_.confidence:.2f}→{bin_.true.value:.2f} ({bin_.true.of})" for bin_ in each.bins
                ),
            ]
            for each in found
        ),
        ["class", "beliefs", "Brier", "believed at → true (how many)"],
    )


def survivals(found: Sequence[Survival]) -> str:
    return table(
        (
            [
                each.fact_class,
                each.spells,
                each.ended,
                _days(each.at_target),
                _days(each.median),
                "-" if each.shape is None else f"{each.shape:.2f}",
            ]
            for each in found
        ),
        ["class", "spells", "silent ends", "days to the target", "median days", "Weibull shape"],
    )


def _days(quantile: Quantile) -> str:
    if quantile.days is None:
        return "-"
    low, high = ("-" if bound is None else f"{bound:.0f}" for bound in (quantile.low, quantile.high))
    return f"{quantile.days:.0f} [{low}, {high}]"


def changes(before: Policy, tuned: Tuned) -> str:
    return table(
        (
            [
                name,
                _lifetime(each.lifetime_days),
                _lifetime(tuned.policy.of(name).lifetime_days),
                tuned.stretched.get(name, 0) or "",
            ]
            for name, each in before.classes.items()
        ),
        ["class", "lifetime before", "after", "times stretched"],
    )


def _lifetime(days: float | None) -> str:
    return "-" if days is None else f"{days:g} d"


def points(curve: Sequence[Point], policies: Sequence[tuple[Point, Standing, Standing]]) -> str:
    return table(
        (
            [
                each.name,
                percent(each.regression),
                percent(each.outlived),
                percent(each.asserted_wrong),
                percent(each.spoiled),
                *standings,
            ]
            for each, *standings in [*((point, "", "") for point in curve), *policies]
        ),
        [
            "policy",
            "regression rate",
            "wrong beyond lifetime",
            "asserts what is untrue",
            "worse, or right and hedged",
            "to the curve",
            "to the soft one, hedging counted",
        ],
    )
