"""The exam's fixed parts: which stacks sit which timelines, by profile.

``smoke`` shows in a minute that everything works, ``default`` is the leaderboard, ``full`` tries every
layer set on every backend over every scenario, ``retention`` compares what can be done about silence,
``native`` what backends do by their own means, ``field`` has a row of every backend there is.
"""

from __future__ import annotations

from msgspec import Struct

from memrot.errors import BadInput

VERSION = "1.0.0"
"""Moves when a profile, or anything else about how cells are measured, changes a number."""

VENDORS = ("chroma", "qdrant", "redis", "mem0")
FURTHER_STORES = (
    "sqlite-vec", "lancedb", "pgvector", "faiss", "usearch", "duckdb", "milvus", "langgraph", "graphiti",
)  # fmt: skip
"""Stores that the default leaderboard leaves out: under layers they tie with those that it has."""

NATIVE = (
    "chroma/native", "qdrant/native", "redis/native", "redis/native-ttl-only", "mem0/native", "mem0/infer",
    "mem0-v1", "langgraph/native", "langgraph/native-postgres", "graphiti/native", "mcp",
    "letta", "hindsight", "langmem", "cognee",
)  # fmt: skip
"""Backends by their own means, without layers."""

HARD = "ttl[hard]+supersession+propagation"
FACTORIAL = (
    "", "overwrite", "ttl", "supersession", "propagation", "ttl+supersession", "ttl+propagation",
    "supersession+propagation", "all", HARD,
)  # fmt: skip
"""Every set of the three layers, what many deployments do instead, and hard expiry."""

LIFETIMES = ("ttl[x0.5]", "ttl[x2]", "ttl[x0.5]+supersession+propagation", "ttl[x2]+supersession+propagation")
"""TTLs a factor of two either way: no TTL may win because it equals a domain's window."""

SWAPS = ("exact[swap=refuse]+all", "exact[swap=reembed]+all")
"""What can be done about a change of embedders; every other stack does nothing."""

SCENARIOS = (
    "project/service-rewrite", "project/reorg", "project/reversal", "project/requirement-drop",
    "project/boundary-shift", "project/unannounced",
)  # fmt: skip

PERSON = (
    "person/move", "person/circle", "person/change-of-mind", "person/dropped-diet", "person/job-left",
    "person/silent-move",
)  # fmt: skip
"""The person world's counterparts of the six."""

FURTHER = (
    "project/interference", "project/implicit-conflict", "project/late-arrival", "project/stated-end",
    "project/contradiction", "project/tenancy", "project/probe-leakage", "project/embedder-change",
    "project/erasure", "project/durability",
)  # fmt: skip
"""The rest of the project world: what fewer deployments meet, and what some stacks cannot do at all."""

SILENCE = (
    "person/old-booking", "person/named-once", "person/new-taste", "person/quiet-ticket",
    "person/that-one", "person/backfill", "person/regulated-record", "person/for-a-while",
)  # fmt: skip
"""What nobody contradicts, a scenario for every fact class; with conversations, to replay."""

RETENTION = (
    "", "ttl[days=30]", "ttl[days=90]", "ttl[days=365]", "ttl[days=90,hard]", "ttl", "ttl[hard]",
    "retention", "retention[weibull]",
    "evict[0.5,lru]", "evict[0.1,lru]", "evict[0.5,oldest]", "evict[0.1,oldest]",
    "supersession", "supersession+retention", "recency", "supersession+recency+retention",
)  # fmt: skip
"""What is done about silence: nothing, one TTL for all, TTLs by domain, a policy by class; a full cache;
replacing what is contradicted, which is another failure; preferring what is new."""


class Profile(Struct, frozen=True, kw_only=True):
    stacks: tuple[str, ...]
    scenarios: tuple[str, ...] = SCENARIOS
    seeds: int = 5
    k: int = 5


def _over(adapters: tuple[str, ...], layer_sets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{name}+{layers}" if layers else name for name in adapters for layers in layer_sets)


PROFILES: dict[str, Profile] = {
    "smoke": Profile(
        stacks=_over(("exact", *VENDORS), ("", "all")),
        scenarios=("project/reorg", "project/boundary-shift"),
        seeds=1,
    ),
    "default": Profile(stacks=_over(("exact",), FACTORIAL) + _over(VENDORS, ("", "overwrite", "all"))),
    "full": Profile(
        stacks=_over(("exact",), FACTORIAL + LIFETIMES) + _over(VENDORS, FACTORIAL + LIFETIMES) + SWAPS,
        scenarios=SCENARIOS + PERSON + FURTHER + SILENCE,
    ),
    "retention": Profile(
        stacks=_over(("exact",), RETENTION),
        scenarios=("project/unannounced", "person/silent-move", *SILENCE),
    ),
    "native": Profile(stacks=_over(("exact",), ("", "overwrite", "ttl[hard]+overwrite")) + NATIVE),
    "field": Profile(stacks=_over(("exact", *VENDORS, *FURTHER_STORES), ("", "all")) + NATIVE, seeds=1),
}


def profile(name: str) -> Profile:
    if name not in PROFILES:
        raise BadInput(f"unknown profile {name!r}: expected one of {', '.join(PROFILES)}")
    return PROFILES[name]
