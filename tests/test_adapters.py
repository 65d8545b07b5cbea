"""Every adapter in every mode keeps the promises of a ``Store``."""

from __future__ import annotations

from memrot import exact
from memrot.testing import StoreConformance
from memrot_adapters import chroma, mem0, qdrant, redis


class TestExact(StoreConformance):
    open_store = staticmethod(exact.open_store)
    examples = 60


class TestChroma(StoreConformance):
    open_store = staticmethod(chroma.open_store)


class TestQdrantEdge(StoreConformance):
    open_store = staticmethod(qdrant.open_store)


class TestQdrantClient(StoreConformance):
    """The code of ``qdrant[server]``; no server can be had, and its client imitates one."""

    open_store = staticmethod(qdrant.open_store)
    options = {"memory": ""}


class TestRedisFt(StoreConformance):
    open_store = staticmethod(redis.open_store)


class TestRedisVset(StoreConformance):
    open_store = staticmethod(redis.open_store)
    options = {"mode": "vset"}


class TestRedisPlain(StoreConformance):
    open_store = staticmethod(redis.open_store)
    options = {"mode": "plain"}


class TestMem0(StoreConformance):
    open_store = staticmethod(mem0.open_store)
