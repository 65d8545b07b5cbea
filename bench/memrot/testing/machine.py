"""Any history of writes, reopenings and searches, held against the reference store (``exact``)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memrot import exact
from memrot.memory import Clause, Fields, Place, Record, Store
from memrot.model import NEVER
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record

Open = Callable[[Place], Store]

# Few ids, so that they are replaced, deleted and added again; few values, so that they are bounds.
_IDS = st.sampled_from([*(f"f{number}" for number in range(6)), "f 1", 'ключ"\\{}'])
_FIELDS = st.fixed_dictionaries(
    {
        "expires_at": st.sampled_from([0, 5, 10, NEVER]),
        "tenant": st.integers(0, 1),
        "label": st.sampled_from(["", "a", "1", "it's"]),
    },
    optional={"extra": st.integers(0, 1)},
)
_RECORDS = st.builds(
    lambda number, record_id, fields: record(number, record_id, **fields), st.integers(0, 60), _IDS, _FIELDS
)
_PUT = st.lists(_RECORDS, max_size=4, unique_by=lambda record: record.id)
_PATCH = st.dictionaries(_IDS, st.fixed_dictionaries({"expires_at": st.sampled_from([0, 5, 7])}), max_size=2)
_CLAUSES = st.builds(
    Clause,
    st.sampled_from(["expires_at", "tenant", "extra"]),
    st.sampled_from(["gt", "le", "eq"]),
    st.sampled_from([0, 1, 5, NEVER]),
)


def check_any_history(open_store: Open, *, examples: int, steps: int) -> None:
    """Run the machine; each example has a folder of its own. A failing one is shown as it was found:
    shrinking it took minutes with stores that start a server."""

    class History(_History):
        def __init__(self) -> None:
            super().__init__(open_store)

    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=True, database=None,
            phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


class _History(RuleBasedStateMachine):
    def __init__(self, open_store: Open) -> None:
        super().__init__()
        self._temporary = tempfile.TemporaryDirectory()
        folder = Path(self._temporary.name)
        self._place = Place("history", folder / "store", DIM, 15)
        self._open = open_store
        self._store = open_store(self._place)
        self._reopened = False
        self._exact = exact.open_store(Place("history", folder / "exact", DIM, 15), {})

    @rule(put=_PUT, patch=_PATCH, delete=st.sets(_IDS, max_size=3))
    def write(self, put: list[Record], patch: dict[str, Fields], delete: set[str]) -> None:
        held = self._held().keys()
        new = {record.id for record in put}
        patch = {record_id: fields for record_id, fields in patch.items() if record_id in held - new}
        gone = sorted((delete & held) - new - patch.keys())
        if put or patch or gone:
            for store in (self._exact, self._store):
                store.write(put, patch, gone)

    @rule(
        where=st.lists(_CLAUSES, max_size=2),
        k=st.integers(1, 9),
        asked=st.sets(st.integers(0, 19), min_size=1),
    )
    def search(self, where: list[Clause], k: int, asked: set[int]) -> None:
        pushed = [clause for clause in where if clause.op in self._store.info.filters]
        queries = [questions()[number] for number in sorted(asked)]
        held = self._held().values()
        for store in (self._exact, self._store):
            for query, hits in zip(queries, store.search(queries, pushed, k), strict=True):
                check_hits(hits, held, query, pushed, k)

    @precondition(lambda self: self._store.info.persists and not self._reopened)
    @rule()
    def reopen(self) -> None:
        """Once in the midst, and once at the end: it takes longer than all else."""
        self._reopened = True
        self._store.close()
        self._store = self._open(self._place)

    @invariant()
    def holds_the_same_records(self) -> None:
        held = self._held()
        check_records(self._store.scan(vectors=True), held)
        check_records(self._store.get([*held, "absent"]), held)

    def teardown(self) -> None:
        if self._store.info.persists:
            self.reopen()
        self.holds_the_same_records()
        for clause in (
            None,
            Clause("expires_at", "gt", 0),
            Clause("tenant", "eq", 1),
            Clause("extra", "le", 0),
        ):
            self.search([clause] if clause else [], 4, set(range(20)))
        self._store.drop()
        self._store.close()
        self._temporary.cleanup()

    def _held(self) -> dict[str, Record]:
        return {record.id: record for record in self._exact.scan(vectors=True)}
