"""What an examinee implements: a whole ``MemoryService``, or only a vector ``Store``.

A memory product implements ``MemoryService`` directly. A vector store implements ``Store``; the
stack (``stack.py``) adds the ledger and the layers and makes a ``MemoryService`` of it. Time is
always an argument: neither ever reads a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memrot.model import Answer, ChangeEvent, Instant, PeekCause, Question

Vector: TypeAlias = NDArray[np.float32]
"""Shape (dim,), unit length."""

Fields: TypeAlias = Mapping[str, int | str]
"""A record's metadata: the same names on every record; ints fit in 53 bits."""

Op: TypeAlias = Literal["gt", "le", "eq"]
Clock: TypeAlias = Literal["argument", "moved", "wall"]


class Clause(Struct, frozen=True):
    """One condition on a numeric field: ``field op value``."""

    field: str
    op: Op
    value: int


Where: TypeAlias = Sequence[Clause]
"""Conditions that must all hold; empty: no condition."""


class Info(Struct, frozen=True, kw_only=True):
    """What an adapter says of itself; shown on every leaderboard."""

    name: str
    """The adapter's name, as in stack names."""
    backend: str
    """The product (and, where it matters, the mode that it runs in)."""
    version: str
    deployment: Literal["in process", "embedded", "server"] = "embedded"
    clock: Clock = "argument"
    filters: frozenset[Op] = frozenset()
    """Operators that the store runs itself (pre-filter); the rest is post-filtered."""
    embeds: bool = False
    """Whether the product computes its own embeddings instead of taking ours."""
    persists: bool = True
    """Whether a store opened again in the same place finds its records."""
    note: str = ""
    """What a reader of the leaderboard must know, e.g. ``infer=False``."""


class Record(Struct, frozen=True):
    """One stored fact. ``vector`` has unit length; ``fields`` has the same names on every record."""

    id: str
    text: str
    vector: Vector
    fields: Fields


class Query(Struct, frozen=True):
    text: str
    vector: Vector


class Place(Struct, frozen=True):
    """Where a store keeps its data: a namespace and a folder of its own, made and dropped by it."""

    namespace: str
    """``[a-z0-9]{3,63}``"""
    folder: Path
    dim: int
    expected: int
    """About how many records it will hold."""


class Store(Protocol):
    """A vector store's adapter. An entry point names ``open(place, options) -> Store``.

    ``options`` are the bracketed ones of the stack's name (``{"mode": "plain", "server": ""}``).
    ``open`` raises ``Unavailable`` where the backend is not installed or not reachable.
    """

    info: Info

    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        """One plan: insert or replace whole records, update fields of others (vectors and other
        fields untouched), delete. The three name disjoint ids; patches and deletes name only ids
        that exist; visible to the next ``search``. No empty call is ever made."""
        ...

    def get(self, ids: Sequence[str]) -> Sequence[Record]:
        """The records that exist among ``ids``, in any order."""
        ...

    def scan(self, vectors: bool = False) -> Iterator[Record]:
        """Every record, in any order; ``vector`` is empty (shape (0,)) unless asked for."""
        ...

    def search(self, queries: Sequence[Query], where: Where, k: int) -> Sequence[Sequence[tuple[str, float]]]:
        """Per query at most ``k`` (id, cosine similarity), most similar first. ``where`` holds only
        operators in ``info.filters``. Fewer than ``k``: no further record satisfies ``where``."""
        ...

    def drop(self) -> None:
        """Remove the namespace and everything in it; nothing else."""
        ...

    def close(self) -> None:
        """Release every resource (servers, locks, threads). Idempotent; data stays."""
        ...


class Memory(Protocol):
    """The least that can be examined."""

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        """The announced events of one instant; ``[time_passed]`` where all were silent."""
        ...

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        """One stage's questions, one batch: an answer each, in order."""
        ...


class MemoryService(Memory, Protocol):
    """What a run examines; any memory product can implement it directly."""

    info: Info

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        """Why each fact (by id) did not come back for the question just asked: a cause each, in
        order. For diagnosis, outside the measured path."""
        ...

    def close(self) -> None:
        """Release every resource. Idempotent; what was stored stays."""
        ...
