"""What PostgreSQL with pgvector does to those who trust it, against the real thing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from memrot.errors import Unavailable
from memrot.memory import Clause, Place
from memrot.testing.comparing import check_hits
from memrot.testing.corpus import DIM, questions, records, sentence
from memrot_adapters import pgvector
from memrot_adapters._postgres_server import CUSTOMARY, extended

VARIABLES = (pgvector.URL, CUSTOMARY)

_OPENER = """
import pathlib, sys, time
from memrot.memory import Place
from memrot_adapters import pgvector
store = pgvector.open_store(Place("namespace", pathlib.Path(sys.argv[1]), 4, 9), {})
print("open", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def store() -> Iterator[pgvector.PgVector]:
    with tempfile.TemporaryDirectory() as folder:
        store = pgvector.open_store(Place("namespace", Path(folder), DIM, 300), {})
        store.write(records(300), {}, [])
        yield store
        store.drop()
        assert list(Path(folder).iterdir()) == []


def test_an_index_returns_too_few_where_a_condition_is_narrow(store: pgvector.PgVector) -> None:
    """The reason why there is none."""
    narrow = [Clause("expires_at", "le", 3 * 86_400_000)]
    held = [each for each in records(300) if int(each.fields["expires_at"]) <= narrow[0].value]
    assert len(held) == 3
    for query, hits in zip(questions(), store.search(questions(), narrow, 3), strict=True):
        check_hits(hits, held, query, narrow, 3)
    with store._db.transaction(force_rollback=True):
        store._db.execute(f"CREATE INDEX ON {store._table} USING hnsw (vector vector_cosine_ops)")
        store._db.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        found = store.search(questions(), narrow, 3)
    assert min(map(len, found)) < 3


def test_a_text_is_no_number(store: pgvector.PgVector) -> None:
    """In the order of JSON every text is below every number."""
    for op in ("le", "gt", "eq"):
        assert store.search(questions()[:1], [Clause("label", op, 1 << 50)], 5) == [[]]


def test_two_that_begin_at_once_both_find_pgvector(store: pgvector.PgVector) -> None:
    """Whoever looks before the other has committed is told that it is there already."""
    store._db.execute("CREATE DATABASE fresh")
    url = f"postgresql://postgres@127.0.0.1:{store._db.info.port}/fresh"
    with psycopg.connect(url) as first, psycopg.connect(url, autocommit=True) as second:
        first.execute("CREATE EXTENSION vector")
        with ThreadPoolExecutor(1) as beside:
            told = beside.submit(extended, psycopg, second)
            while store._db.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (0,):
                time.sleep(0.01)
            first.commit()
            assert told.result() == store.info.version


def test_the_server_ends_with_the_process_that_started_it() -> None:
    with tempfile.TemporaryDirectory() as folder:
        opener = subprocess.Popen([sys.executable, "-c", _OPENER, folder], stdout=subprocess.PIPE)
        assert opener.stdout is not None
        assert opener.stdout.readline() == b"open\n"
        lock = Path(folder) / "namespace" / "postmaster.pid"
        server = int(lock.read_text().split()[0])
        opener.kill()
        opener.communicate()
        again = pgvector.open_store(Place("namespace", Path(folder), 4, 9), {})
        assert int(lock.read_text().split()[0]) != server
        with pytest.raises(ProcessLookupError):
            os.kill(server, 0)
        again.drop()


def test_what_was_deleted_leaves_the_table_but_not_the_log() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = pgvector.open_store(Place("namespace", Path(folder), DIM, 9), {})
        store.write(records(9), {}, [])
        store.write([], {}, ["f4"])
        store.compact()

        def held(part: str, text: str) -> bool:
            files = (path for path in Path(folder, "namespace", part).rglob("*") if path.is_file())
            return any(text.encode() in path.read_bytes() for path in files)

        assert held("base", sentence(5))
        assert not held("base", sentence(4))
        assert held("pg_wal", sentence(4))


def test_server_that_does_not_answer_is_named_without_address_or_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place("namespace", tmp_path, DIM, 10)
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(Unavailable, match=pgvector.URL):
        pgvector.open_store(place, {"server": ""})
    for variable in reversed(VARIABLES):  # our own goes before the other
        for url in ("postgresql://someone:secret@127.0.0.1:9/db", "no url 127.0.0.1 secret"):
            monkeypatch.setenv(variable, url)
            with pytest.raises(Unavailable, match=variable) as refused:
                pgvector.open_store(place, {"server": ""})
            assert "\n" not in str(refused.value)
            assert not any(word in str(refused.value) for word in ("secret", "someone", "127.0.0.1"))


@pytest.mark.parametrize("variable", VARIABLES)
def test_a_server_is_left_as_it_was_found(
    variable: str, store: pgvector.PgVector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in VARIABLES:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(variable, f"postgresql://postgres@127.0.0.1:{store._db.info.port}/postgres")

    def tables() -> list[str]:
        rows = store._db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return sorted(name for (name,) in rows)

    before = tables()
    server = pgvector.open_store(Place("other", Path("nowhere"), DIM, 10), {"server": ""})
    assert (server.info.deployment, store.info.deployment) == ("server", "embedded")
    server.write(records(3), {}, [])
    assert tables() != before
    server.drop()
    assert tables() == before
    assert not Path("nowhere").exists()
