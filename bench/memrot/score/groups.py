"""By what scores are broken down: stage, domain, what a probe tests, why a fact was invalidated.

Only a stage's own group counts what happened before the first end (METRICS.md §3).
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memrot.model import Reason
from memrot.score.answers import Floats, Index
from memrot.score.judged import Judged, spans

Grouping: TypeAlias = Literal["stage", "cell", "domain", "tests", "reason"]
Column: TypeAlias = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_]

Sums: TypeAlias = dict[Grouping, Floats]

BREAKDOWNS: tuple[Grouping, ...] = ("domain", "tests", "reason")
_REASONS: tuple[Reason, ...] = get_args(Reason)


class Items(Struct, frozen=True):
    row: Index
    start: int
    """The scored ones begin here."""
    domain: Index
    """Of the scored ones, from 1; 0 is none."""


class Groupings:
    """Sums of columns over rows, over what belongs to a row, and over single facts.

    A row belongs to the domain of its key's first fact, and, once a fact of its key has fallen with
    an invalidation, to that invalidation's reason. A fact belongs to what the probes of its key test.
    """

    def __init__(self, judged: Judged) -> None:
        world, answers = judged.world, judged.answers
        self._judged = judged
        tags = sorted({probe.tests for probe in answers.probes})
        self.names: dict[Grouping, list[str]] = {
            "domain": world.domains,
            "tests": [*tags],
            "reason": [*_REASONS],
        }
        self._tag = np.array([tags.index(probe.tests) for probe in answers.probes], np.int64)
        first_facts = np.array([group[0] for group in world.truth.facts_of_key], np.int64)
        self._probe_domain = np.append(world.domain[first_facts], [-1, -1])[judged.probe_key]
        # rows are in the order of stages, so what is scored is all from one place, and one row, on
        self._first_place = int(np.searchsorted(answers.asked, world.first_scored))
        self._first_row = int(np.searchsorted(answers.stage, world.first_scored))
        self._reason_rows, self._reason_codes = self._row_reasons()

    def of_rows(self, column: Column) -> Sums:
        """Sums of a column of rows."""
        answers, start = self._judged.answers, self._first_row
        by_stage = _sums(answers.place, column, len(answers.asked))
        by_probe = _sums(answers.probe[start:], column[start:], len(answers.probes))
        return {
            "stage": by_stage,
            "cell": by_stage[self._first_place :].sum(keepdims=True),
            "domain": _known_sums(self._probe_domain, by_probe, len(self.names["domain"])),
            "tests": _sums(self._tag, by_probe, len(self.names["tests"])),
            "reason": _sums(self._reason_codes, column[self._reason_rows], len(_REASONS)),
        }

    def items(self, fact: Index, row: Index) -> Items:
        """Items that are about a fact and belong to a row each, in the order of rows."""
        world, probe = self._judged.world, self._judged.answers.probe
        start = int(np.searchsorted(row, self._first_row))
        domain = world.domain[fact[start:]]
        missing = np.flatnonzero(fact[start:] == world.nothing)
        domain[missing] = self._probe_domain[probe[row[start:][missing]]]
        return Items(row=row, start=start, domain=domain + 1)

    def of_items(self, column: Column, items: Items) -> Sums:
        """Sums of a column of items: their domain is that of their fact, else that of their row."""
        sums = self.of_rows(_sums(items.row, column, self._judged.rows))
        domain = _sums(items.domain, column[items.start :], len(self.names["domain"]) + 1)[1:]
        return sums | {"domain": domain}

    def of_facts(self, column: Column, fact: Index) -> Sums:
        """Sums of a column of items that are about a fact each."""
        judged, world = self._judged, self._judged.world
        tested = np.zeros((len(world.truth.keys), len(self.names["tests"])), np.bool_)
        known = judged.probe_key >= 0
        tested[judged.probe_key[known], self._tag[known]] = True
        item, tag = np.nonzero(tested[world.key[fact]])
        return {
            "cell": np.array([column.sum()], np.float64),
            "domain": _known_sums(world.domain[fact], column, len(self.names["domain"])),
            "tests": _sums(tag, column[item], len(self.names["tests"])),
            "reason": _known_sums(world.reason[fact], column, len(_REASONS)),
        }

    def of_questions(self, column: Column, fact: Index, place: Index) -> Sums:
        """Sums of a column of questions, each put about a fact at the place of an asked stage."""
        scored = place >= self._first_place
        by_stage = _sums(place, column, len(self._judged.answers.asked))
        return self.of_facts(column[scored], fact[scored]) | {"stage": by_stage}

    def _row_reasons(self) -> tuple[Index, Index]:
        """Scored rows, each with the reason of an invalidation that came before: pairs."""
        judged, world, answers = self._judged, self._judged.world, self._judged.answers
        since = np.full((len(world.truth.keys) + 2, len(_REASONS)), world.never)
        fallen = np.flatnonzero(world.reason >= 0)
        np.minimum.at(since, (world.key[fallen], world.reason[fallen]), world.ends[fallen])
        probe, reason = np.nonzero(since[judged.probe_key] < world.never)
        ended = since[judged.probe_key[probe], reason]
        start = np.maximum(np.searchsorted(answers.asked, ended), answers.first[probe])
        start = np.maximum(start, self._first_place)
        which, place = spans(start, answers.last[probe])
        return answers.row_of[place, probe[which]], reason[which]


def _sums(codes: Index, column: Column, count: int) -> Floats:
    """Shape (count,): sums by code."""
    return np.bincount(codes, column, minlength=count).astype(np.float64, copy=False)


def _known_sums(codes: Index, column: Column, count: int) -> Floats:
    """Shape (count,): sums by code; -1 belongs nowhere."""
    return _sums(codes + 1, column, count + 1)[1:]
