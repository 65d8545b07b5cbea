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

BREAKDOWNS: tuple[Grouping, ...] = ("domain", "tests", "reason")
_REASONS: tuple[Reason, ...] = get_args(Reason)


class Groups(Struct, frozen=True):
    """To which groups items belong: ``items[i]`` to the group ``codes[i]``."""

    items: Index
    codes: Index
    count: int

    def sums(self, column: Column) -> Floats:
        weights = column[self.items].astype(np.float64)
        return np.bincount(self.codes, weights, minlength=self.count).astype(np.float64)


class Groupings:
    """The groups of rows, of what belongs to a row, and of single facts.

    A row belongs to the domain of its key's first fact, and, once a fact of its key has fallen with
    an invalidation, to that invalidation's reason. A fact belongs to what the probes of its key test.
    """

    def __init__(self, judged: Judged) -> None:
        world, answers = judged.world, judged.answers
        self._judged = judged
        tags = sorted({probe.tests for probe in answers.probes})
        self.names: dict[Grouping, list[str]] = {
            "domain": world.domains, "tests": [*tags], "reason": [*_REASONS],
        }  # fmt: skip
        self._tag = np.array([tags.index(probe.tests) for probe in answers.probes], np.int64)
        self._scored = answers.stage >= world.first_scored
        first = np.array([group[0] for group in world.truth.facts_of_key], np.int64)
        self._row_domain = np.append(world.domain[first], [-1, -1])[judged.key]

    def of_rows(self) -> dict[Grouping, Groups]:
        judged, answers = self._judged, self._judged.answers
        scored = np.flatnonzero(self._scored)
        return {
            "stage": Groups(np.arange(judged.rows), answers.place, len(answers.asked)),
            "cell": Groups(scored, np.zeros_like(scored), 1),
            "domain": self._some(np.arange(judged.rows), self._row_domain, self._scored, "domain"),
            "tests": Groups(scored, self._tag[answers.probe][scored], len(self.names["tests"])),
            "reason": self._row_reasons(),
        }

    def domains(self, fact: Index, row: Index) -> Groups:
        """Of scored items that belong to a row: the fact's domain, where there is no fact the row's."""
        world = self._judged.world
        code = np.where(fact == world.nothing, self._row_domain[row], world.domain[fact])
        return self._some(np.arange(len(fact)), code, self._scored[row], "domain")

    def of_facts(self, fact: Index, place: Index | None = None) -> dict[Grouping, Groups]:
        """Of items that are about a fact; with the place of an asked stage, only of scored ones."""
        judged, world = self._judged, self._judged.world
        everything = np.arange(len(fact))
        scored = np.ones(len(fact), np.bool_)
        groups: dict[Grouping, Groups] = {}
        if place is not None:
            scored = judged.answers.asked[place] >= world.first_scored
            groups["stage"] = Groups(everything, place, len(judged.answers.asked))
        kept = np.flatnonzero(scored)
        tested = np.zeros((len(world.truth.keys), len(self.names["tests"])), np.bool_)
        known = judged.probe_key >= 0
        tested[judged.probe_key[known], self._tag[known]] = True
        item, tag = np.nonzero(tested[world.key[fact[kept]]])
        return groups | {
            "cell": Groups(kept, np.zeros_like(kept), 1),
            "domain": self._some(everything, world.domain[fact], scored, "domain"),
            "tests": Groups(kept[item], tag, len(self.names["tests"])),
            "reason": self._some(everything, world.reason[fact], scored, "reason"),
        }

    def _some(self, items: Index, codes: Index, scored: NDArray[np.bool_], by: Grouping) -> Groups:
        kept = np.flatnonzero(scored & (codes >= 0))
        return Groups(items[kept], codes[kept], len(self.names[by]))

    def _row_reasons(self) -> Groups:
        judged, world, answers = self._judged, self._judged.world, self._judged.answers
        since = np.full((len(world.truth.keys) + 2, len(_REASONS)), world.never)
        fallen = np.flatnonzero(world.reason >= 0)
        np.minimum.at(since, (world.key[fallen], world.reason[fallen]), world.ends[fallen])
        probe, reason = np.nonzero(since[judged.probe_key] < world.never)
        ended = since[judged.probe_key[probe], reason]
        start = np.maximum(np.searchsorted(answers.asked, ended), answers.first[probe])
        which, place = spans(start, answers.last[probe])
        row = answers.row_of[place, probe[which]]
        return self._some(row, reason[which], self._scored[row], "reason")
