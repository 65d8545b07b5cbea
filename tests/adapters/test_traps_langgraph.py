"""What LangGraph's stores do to those who trust them, against the real things."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

from memrot.errors import Unavailable
from memrot.memory import Clause, Place
from memrot.model import DAY
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import _langgraph, langgraph
from memrot_adapters._clock import Clock
from memrot_adapters._postgres_server import PostgresServer

START = 1_767_603_600_000
MINUTE = 60_000
NS = ("somebody", "facts")


def embed(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


INDEX: Any = {"dims": 2, "embed": embed, "fields": ["text"]}


def keys(store: Any, **asked: Any) -> set[str]:
    return {item.key for item in store.search(NS, **asked)}


# --- InMemoryStore ---------------------------------------------------------------------------


def test_one_text_twice_in_a_batch_is_refused(tmp_path: Path) -> None:
    """Why what is embedded is a handle."""
    theirs = InMemoryStore(index=INDEX)
    with pytest.raises(ValueError, match="does not match number of indices"):
        theirs.batch([PutOp(NS, key, {"text": "the same"}) for key in "ab"])
    ours = langgraph.open_store(Place("namespace", tmp_path, DIM, 9), {})
    same = [record(1, "a"), record(1, "b")]
    ours.write(same, {}, [])
    check_hits(ours.search(questions()[:1], [], 5)[0], same, questions()[0], [], 5)


def test_a_missing_field_ends_the_search_unless_it_is_tested_for_first() -> None:
    store = InMemoryStore()
    store.put(NS, "with", {"since": 9})
    store.put(NS, "without", {})
    with pytest.raises(TypeError):
        store.search(NS, filter={"since": {"$gt": 5}})
    with pytest.raises(TypeError):
        store.search(NS, filter={"since": {"$gt": 5, "$ne": None}})
    assert keys(store, filter={"since": {"$ne": None, "$gt": 5}}) == {"with"}


def test_what_is_kept_in_memory_ends_with_the_object(tmp_path: Path) -> None:
    place = Place("namespace", tmp_path, DIM, 9)
    store = langgraph.open_store(place, {})
    store.write(records(3), {}, [])
    store.close()
    again = langgraph.open_store(place, {})
    assert not again.info.persists
    assert list(again.scan()) == []
    assert list(tmp_path.iterdir()) == []


# --- PostgresStore ---------------------------------------------------------------------------


class Moved:
    """A server whose clock we move, and stores over it that are configured as one may."""

    def __init__(self, folder: Path) -> None:
        self._clock = Clock(folder / "clock", "langgraph")
        self._postgres = _langgraph.Postgres(
            Place("namespace", folder, 2, 9), _langgraph.Vectors(), "text", clock=self._clock
        )

    def store(self, **ttl: Any) -> PostgresStore:
        store = PostgresStore(self._postgres.connection, ttl=ttl)  # type: ignore[arg-type]  # keys by name
        for item in store.search(NS, limit=100, refresh_ttl=False):
            store.delete(NS, item.key)
        self.at(START)
        return store

    def at(self, instant: int) -> None:
        self._clock.move(instant, self._postgres.now)

    def close(self) -> None:
        self._postgres.drop()


@pytest.fixture(scope="module")
def moved() -> Iterator[Moved]:
    with tempfile.TemporaryDirectory() as folder:
        server = Moved(Path(folder))
        yield server
        server.close()


def test_numbers_are_compared_as_text(moved: Moved) -> None:
    store = moved.store()
    for number in (9, 10, 100):
        store.put(NS, str(number), {"number": number})
    assert keys(store, filter={"number": {"$gt": 10}}) == {"9", "100"}
    assert keys(store, filter={"number": {"$eq": 10}}) == {"10"}


def test_what_has_expired_is_shown_until_it_is_swept(moved: Moved) -> None:
    store = moved.store(refresh_on_read=False)
    store.put(NS, "a", {}, ttl=1)
    store.put(NS, "b", {}, ttl=None)
    moved.at(START + 400 * DAY)
    assert keys(store) == {"a", "b"}
    assert store.get(NS, "a") is not None
    assert store.sweep_ttl() == 1
    assert keys(store) == {"b"}


def test_what_has_expired_is_omitted_where_that_is_asked_for(moved: Moved) -> None:
    store = moved.store(refresh_on_read=False, omit_expired=True)
    store.put(NS, "a", {}, ttl=1)
    moved.at(START + MINUTE - 1)
    assert keys(store) == {"a"}
    moved.at(START + MINUTE)
    assert keys(store) == set()
    assert store.get(NS, "a") is None
    assert store.sweep_ttl() == 0, "an item is omitted from its last instant on, and swept after it"
    moved.at(START + MINUTE + 1)
    assert store.sweep_ttl() == 1


@pytest.mark.parametrize("read", ["search", "get"])
def test_whoever_asks_keeps_a_fact_alive_unless_told_otherwise(moved: Moved, read: str) -> None:
    for refreshed, left in ((True, {"a"}), (False, set())):
        store = moved.store(omit_expired=True, **({} if refreshed else {"refresh_on_read": False}))
        store.put(NS, "a", {}, ttl=10)
        moved.at(START + 8 * MINUTE)
        assert keys(store) if read == "search" else {store.get(NS, "a")}
        moved.at(START + 16 * MINUTE)
        assert keys(store) == left


def test_a_read_ends_what_has_less_than_half_a_minute(moved: Moved) -> None:
    """The time that a read grants is kept in whole minutes."""
    store = moved.store(omit_expired=True)
    store.put(NS, "a", {}, ttl=0.4)
    assert keys(store) == {"a"}
    assert keys(store) == set()


# --- on somebody's server --------------------------------------------------------------------


@pytest.fixture(scope="module")
def lent() -> Iterator[Any]:
    """A connection to a PostgreSQL that is somebody's."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        server = PostgresServer(psycopg, Path(folder) / "data")
        port = server.connection.info.port
        patch.setenv(_langgraph.URL, f"postgresql://postgres@127.0.0.1:{port}/postgres")
        yield server.connection
        server.stop()


@pytest.fixture
def ours(lent: Any) -> Iterator[Any]:
    assert not lent.closed
    store = langgraph.open_store(Place("namespace", Path("nowhere"), DIM, 300), {"server": ""})
    yield store
    store.drop()


def test_a_store_of_somebody_else_is_left_as_it_was_found(lent: Any) -> None:
    lent.execute("CREATE EXTENSION IF NOT EXISTS vector")
    theirs = PostgresStore(lent, index=INDEX)
    theirs.setup()
    theirs.put(("namespace",), "f1", {"text": "theirs"})

    def found() -> list[Any]:
        tables = lent.execute("SELECT schemaname, tablename FROM pg_tables ORDER BY 1, 2").fetchall()
        held = ("SELECT * FROM public.store", "SELECT * FROM public.store_vectors")
        return [tables, *(lent.execute(each).fetchall() for each in held)]

    before = found()
    store = langgraph.open_store(Place("namespace", Path("nowhere"), DIM, 10), {"server": ""})
    assert store.info.deployment == "server"
    store.write(records(3), {}, [])
    store.write([record(9)], {"f1": {"tenant": 9}}, ["f2"])
    assert {each.id for each in store.scan()} == {"f0", "f1", "f9"}
    assert found()[0] != before[0]
    store.drop()
    assert found() == before
    assert not Path("nowhere").exists()


def test_an_index_returns_too_few_where_a_condition_is_narrow(ours: Any) -> None:
    """The reason why there is none, although langgraph makes one by default."""
    ours.write(records(300), {}, [])
    narrow = [Clause("expires_at", "le", 3 * DAY)]
    held = [each for each in records(300) if int(each.fields["expires_at"]) <= narrow[0].value]
    assert len(held) == 3
    for query, hits in zip(questions(), ours.search(questions(), narrow, 3), strict=True):
        check_hits(hits, held, query, narrow, 3)
    connection = ours._postgres.connection
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE INDEX ON store_vectors USING hnsw (embedding vector_cosine_ops)")
        for way in ("seqscan", "sort", "hashjoin", "mergejoin"):
            connection.execute(f"SET LOCAL enable_{way} = off")
        found = ours.search(questions(), narrow, 3)
    assert min(map(len, found)) < 3


def test_a_plan_may_be_longer_than_a_statement(ours: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(psycopg.OperationalError, match="65535"):
        ours._store.batch([PutOp(NS, str(n), {}, index=False) for n in range(17_000)])
    monkeypatch.setattr(langgraph, "CHUNK", 4)
    ours.write(records(9), {}, [])
    ours.write([record(9)], {"f1": {"tenant": 9}}, [f"f{n}" for n in range(2, 9)])
    check_records(ours.scan(vectors=True), {"f0": record(0), "f1": record(1, tenant=9), "f9": record(9)})


def test_server_that_does_not_answer_is_named_without_address_or_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(_langgraph.URL, raising=False)
    place = Place("namespace", tmp_path, DIM, 10)
    with pytest.raises(Unavailable, match=_langgraph.URL):
        langgraph.open_store(place, {"server": ""})
    monkeypatch.setenv(_langgraph.URL, "postgresql://someone:secret@127.0.0.1:9/db")
    with pytest.raises(Unavailable) as refused:
        langgraph.open_store(place, {"server": "", "mode": "postgres"})
    assert not any(word in str(refused.value) for word in ("secret", "someone", "127.0.0.1", "\n"))
