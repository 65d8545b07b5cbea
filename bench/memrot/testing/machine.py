"""Any history of writes, reopenings and searches, held against the reference store (``exact``).

Histories are drawn at random from seeds, so that every run tries the same ones. Few ids, so that they
are replaced, deleted and added again; few values, so that they are bounds.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from memrot import exact
from memrot.memory import Clause, Fields, Op, Place, Record, Store
from memrot.model import NEVER
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record

Open = Callable[[Place], Store]

_IDS = [*(f"f{number}" for number in range(6)), "f 1", 'ключ"\\{}']
_LABELS = ["", "a", "1", "it's"]
_OPS: Sequence[Op] = ("gt", "le", "eq")
_ALL = range(20)


def check_any_history(open_store: Open, *, examples: int, steps: int) -> None:
    """Try ``examples`` histories, each in a folder of its own; one that fails is told with the error."""
    for seed in range(examples):
        with tempfile.TemporaryDirectory() as folder:
            history = _History(open_store, Path(folder), random.Random(seed))
            try:
                history.live(steps)
            except BaseException as error:
                error.add_note("\n".join(["the history that led to it:", *history.told]))
                with suppress(Exception):  # the first error is the one to report
                    history.store.close()
                raise


class _History:
    def __init__(self, open_store: Open, folder: Path, draw: random.Random) -> None:
        self._place = Place("history", folder / "store", DIM, 15)
        self._open = open_store
        self._exact = exact.open_store(Place("history", folder / "exact", DIM, 15), {})
        self._draw = draw
        self.store = open_store(self._place)
        self.told: list[str] = []

    def live(self, steps: int) -> None:
        """It is opened again once in the midst and once at the end: that takes longer than all else."""
        reopened = self._draw.randrange(steps)
        for step in range(steps):
            if step == reopened:
                self._reopen()
            elif self._draw.random() < 0.5:
                self._write()
            else:
                asked = sorted(self._draw.sample(_ALL, self._draw.randint(1, 5)))
                where = [self._clause() for _ in range(self._draw.randint(0, 2))]
                self._search(where, self._draw.randint(1, 9), asked)
            self._compare()
        self._reopen()
        self._compare()
        for clause in (Clause("expires_at", "gt", 0), Clause("tenant", "eq", 1), Clause("extra", "le", 0)):
            self._search([clause], 4, _ALL)
        self._search([], 4, _ALL)
        self.store.drop()
        self.store.close()

    def _write(self) -> None:
        draw, held = self._draw, self._held().keys()
        put = [self._record(name) for name in draw.sample(_IDS, draw.randint(0, 4))]
        new = {each.id for each in put}
        patched = [name for name in draw.sample(_IDS, draw.randint(0, 2)) if name in held - new]
        patch: dict[str, Fields] = {name: {"expires_at": draw.choice([0, 5, 7])} for name in patched}
        leaving = draw.sample(_IDS, draw.randint(0, 3))
        gone = [name for name in leaving if name in held - new - patch.keys()]
        if put or patch or gone:
            self.told.append(
                f"put {[(each.id, dict(each.fields)) for each in put]} patch {patch} delete {gone}"
            )
            for store in (self._exact, self.store):
                store.write(put, patch, gone)

    def _search(self, where: list[Clause], k: int, asked: Sequence[int]) -> None:
        pushed = [clause for clause in where if clause.op in self.store.info.filters]
        self.told.append(f"search {list(asked)} where {pushed} k {k}")
        queries, held = [questions()[number] for number in asked], self._held().values()
        for store in (self._exact, self.store):
            for query, hits in zip(queries, store.search(queries, pushed, k), strict=True):
                check_hits(hits, held, query, pushed, k)

    def _reopen(self) -> None:
        if self.store.info.persists:
            self.told.append("reopen")
            self.store.close()
            self.store = self._open(self._place)

    def _compare(self) -> None:
        held = self._held()
        check_records(self.store.scan(vectors=True), held)
        check_records(self.store.get([*held, "absent"]), held)

    def _record(self, name: str) -> Record:
        draw = self._draw
        fields: dict[str, int | str] = {
            "expires_at": draw.choice([0, 5, 10, NEVER]),
            "tenant": draw.randint(0, 1),
            "label": draw.choice(_LABELS),
        }
        if draw.random() < 0.5:
            fields["extra"] = draw.randint(0, 1)
        return record(draw.randint(0, 60), name, **fields)

    def _clause(self) -> Clause:
        draw = self._draw
        return Clause(
            draw.choice(["expires_at", "tenant", "extra"]), draw.choice(_OPS), draw.choice([0, 1, 5, NEVER])
        )

    def _held(self) -> dict[str, Record]:
        return {each.id: each for each in self._exact.scan(vectors=True)}
