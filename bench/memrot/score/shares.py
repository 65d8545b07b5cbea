"""The shares of METRICS.md §3-6: sums of columns, by stage, by domain, by what is tested, by reason.

A column is a number per item (hit, pair, row, question put once), a share is the sum of one column
over the sum of another: so every share comes in every grouping, and from the same sums.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from memrot.score.groups import Column, Grouping, Groupings, Sums
from memrot.score.judged import Judged
from memrot.score.questions import Put, forgettings, quiet_rows, revisions
from memrot.truth import Bools

Share: TypeAlias = float | None
"""A share of nothing is None."""

SHARES: dict[str, tuple[str, str]] = {
    "freshness": ("fresh", "hits"),
    "consistency": ("consistent", "hits"),
    "coverage": ("found", "pairs"),
    "contamination": ("contaminated", "probes"),
    "consistency_key": ("own_consistent", "own"),
    "freshness_key": ("own_fresh", "own"),
    "coverage_key": ("values_covered", "values"),
    "confidently_wrong": ("confidently_wrong", "probes"),
    "recall": ("recalled", "told"),
    "off_topic": ("off_topic", "hits"),
    "reasserted": ("reasserted", "probes"),
    "divergence": ("diverging", "probes"),
    "wrong": ("wrong", "probes"),
    "false_abstention": ("abstaining_falsely", "probes"),
    "abstention": ("abstaining", "unanswerable"),
    "wrong_evidence": ("ill_founded", "right"),
    "silent_contradiction": ("torn", "probes"),
    "brier": ("squared_error", "hits"),
    "preservation": ("found_quiet", "pairs_quiet"),
    "revision": ("revised", "revisions"),
    "forgetting_asked": ("forgotten", "forgettings"),
}
"""Metric -> the columns whose sums it is the ratio of."""


class Shares:
    """Sums of every column in every grouping."""

    def __init__(self, judged: Judged, groups: Groupings, k: int) -> None:
        self._judged = judged
        self._groups = groups
        self._quiet = quiet_rows(judged)
        self.sums: dict[str, Sums] = {}
        self._add_hits()
        self._add_pairs()
        self._add_rows(k)
        self._add_put("revised", "revisions", revisions(judged))
        self._add_put("forgotten", "forgettings", forgettings(judged))

    def of(self, by: Grouping) -> list[dict[str, Share]]:
        """Every share of each group (stages by their place among the asked ones)."""
        columns = []
        for over, under in SHARES.values():
            pairs = zip(self.sums[over][by].tolist(), self.sums[under][by].tolist(), strict=True)
            columns.append([share(part, whole) for part, whole in pairs])
        return [dict(zip(SHARES, values, strict=True)) for values in zip(*columns, strict=True)]

    def _add_hits(self) -> None:
        judged = self._judged
        weight, own, found = judged.weight, judged.own | judged.unattributed, judged.found
        own_weight = weight * own
        items = self._groups.items(judged.fact, judged.row)
        columns: dict[str, Column] = {
            "hits": np.ones(len(weight)),
            "fresh": judged.fresh,
            "consistent": judged.consistent,
            "off_topic": ~own,
            "squared_error": (judged.confidence - judged.consistent) ** 2,
            "own": own_weight,
            "own_consistent": own_weight * judged.consistent,
            "own_fresh": own_weight * (judged.fresh | ~judged.asserted),
            "found": found,
            "found_quiet": found & self._quiet[judged.row],
        }
        for name, column in columns.items():
            self.sums[name] = self._groups.of_items(column, items)

    def _add_pairs(self) -> None:
        judged = self._judged
        row = judged.pair_row
        items = self._groups.items(judged.pair_fact, row)
        self.sums["pairs"] = self._groups.of_items(np.ones(len(row)), items)
        self.sums["pairs_quiet"] = self._groups.of_items(self._quiet[row], items)

    def _add_rows(self, k: int) -> None:
        judged, count = self._judged, self._judged.rows
        world, stage = judged.world, judged.answers.stage
        answerable = np.bincount(judged.pair_row, minlength=count) > 0
        best = judged.best()
        answered = best >= 0
        right = answered.copy()
        right[answered] = judged.value_true[best[answered]]
        best_stale_asserted, best_reasserted = np.zeros((2, count), np.bool_)
        best_stale_asserted[answered] = (judged.stale & judged.asserted)[best[answered]]
        best_reasserted[answered] = judged.reasserted[best[answered]]
        own_stale = self._any(judged.stale & judged.own)
        abstaining_falsely = ~answered & answerable
        wrong = answered & ~right
        covered, values = judged.covered(k)
        torn = world.single_values.torn(judged.row, judged.fact, count)
        torn |= world.exclusive_subjects.torn(judged.row, judged.fact, count)
        columns: dict[str, Column] = {
            "probes": np.ones(count),
            "contaminated": self._any(judged.stale),
            "reasserted": self._any(judged.reasserted),
            "confidently_wrong": best_stale_asserted,
            "torn": torn,
            "diverging": wrong | abstaining_falsely,
            "wrong": wrong,
            "abstaining_falsely": abstaining_falsely,
            "abstaining": ~answered & ~answerable,
            "unanswerable": ~answerable,
            "right": right,
            "ill_founded": right & (best_reasserted | own_stale),
            "values": values,
            "values_covered": covered,
            "recalled": judged.recalled,
            "told": world.told_of_key.at(judged.key, stage),
            "grace": judged.in_grace,
        }
        for name, column in columns.items():
            self.sums[name] = self._groups.of_rows(column)

    def _add_put(self, passed: str, put: str, questions: Put) -> None:
        fact, place = questions.fact, questions.place
        self.sums[passed] = self._groups.of_questions(questions.passed, fact, place)
        self.sums[put] = self._groups.of_questions(np.ones(len(fact)), fact, place)

    def _any(self, flags: Bools) -> Bools:
        """Shape (R,): the rows with a hit of which the flag is set."""
        return np.bincount(self._judged.row[flags], minlength=self._judged.rows) > 0


def share(over: float, under: float) -> Share:
    return over / under if under else None
