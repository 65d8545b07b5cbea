"""A store whose process is killed finds its records again: runs are resumed after worse."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from memrot.memory import Place
from memrot.testing.comparing import check_hits, check_records
from memrot.testing.corpus import DIM, questions, record, records

_WRITER = """
import pathlib, sys, time
from importlib import import_module
from memrot.memory import Place
from memrot.testing.corpus import DIM, record, records
options = dict([sys.argv[2].split("=")]) if sys.argv[2] else {}
place = Place("namespace", pathlib.Path(sys.argv[3]), DIM, 50)
store = import_module(f"memrot_adapters.{sys.argv[1]}").open_store(place, options)
store.write(records(30), {}, [])
store.write([record(40, "f1")], {"f2": {"tenant": 9}}, ["f3"])
print("written", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    "stack",
    [
        "chroma",
        "qdrant",
        "redis",
        "redis mode=vset",
        "redis mode=plain",
        "mem0",
        "sqlite_vec",
        "lancedb",
        "pgvector",
        "faiss",
        "milvus",
        "duckdb",
        "usearch",
        "graphiti",
        "langgraph mode=postgres",
    ],
)
def test_what_was_written_survives_kill_9(tmp_path: Path, stack: str) -> None:
    adapter, _, option = stack.partition(" ")
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, adapter, option, str(tmp_path)], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    writer.kill()
    writer.communicate()
    options = dict([option.split("=")]) if option else {}
    store = import_module(f"memrot_adapters.{adapter}").open_store(
        Place("namespace", tmp_path, DIM, 50), options
    )
    held = {each.id: each for each in records(30) if each.id != "f3"}
    held |= {"f1": record(40, "f1"), "f2": record(2, tenant=9)}
    check_records(store.scan(vectors=True), held)
    for query, hits in zip(questions(), store.search(questions(), [], 5), strict=True):
        check_hits(hits, held.values(), query, [], 5)
    store.drop()
    store.close()
