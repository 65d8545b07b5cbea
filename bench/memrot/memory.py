"""What an examinee implements: a whole ``MemoryService``, or only a vector ``Store``.

A memory product implements ``MemoryService`` directly, and an entry point of the group
``memrot.memories`` names what opens it (``OpenMemory``). A vector store implements ``Store``; an entry
point of ``memrot.adapters`` opens it, and the stack (``stack.py``) adds the ledger and the layers and
makes a ``MemoryService`` of it. Time is always an argument: neither ever reads a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from msgspec import Struct, ValidationError, convert, to_builtins
from numpy.typing import NDArray

from memrot.errors import MemoryFault
from memrot.model import Answer, ChangeEvent, Instant, PeekCause, Question

Vector: TypeAlias = NDArray[np.float32]
"""Shape (dim,), unit length."""

Fields: TypeAlias = Mapping[str, int | str]
"""A record's metadata: the same names on every record; ints fit in 53 bits."""

Op: TypeAlias = Literal["gt", "le", "eq"]
Clock: TypeAlias = Literal["argument", "moved", "wall"]
"""By which clock a memory ages: the instants it is given, one that the harness moves for real, or the
machine's, with which no timeline can be replayed."""

How: TypeAlias = Literal["native", "layered", "wall-clock", "emulated", "not_yet", "never"]
"""The backend does it by itself; memrot's layers do; it does, by the machine's clock only; the adapter
does, out of what the backend does for other ends; the adapter does not use it yet; the backend cannot."""

TTL_DAYS: Mapping[str, float] = {
    "OWNERSHIP": 30, "TECH": 120, "DECISION": 365, "REQUIREMENT": 545,
    "SLOW_ATTRIBUTE": 180, "PREFERENCE": 120, "RELATIONSHIP": 150, "WORKING_CONTEXT": 30, "EPISODE": 90,
    "SESSION": 0.5,
}  # fmt: skip
"""Default lifetimes by domain, of the project world and of the person world, chosen apart from the
staleness windows; a domain that is not listed never expires. What expires by a backend's own means
uses them too, so that rows differ in how a fact expires and not in when."""


class Clause(Struct, frozen=True):
    """One condition on a numeric field: ``field op value``."""

    field: str
    op: Op
    value: int


Where: TypeAlias = Sequence[Clause]
"""Conditions that must all hold; empty: no condition."""


class Capability(Struct, frozen=True):
    """How something is done, and why so: a reason or a measurement, and an upstream link."""

    how: How
    why: str = ""
    link: str = ""
    """Where the product itself says so: a page of its documentation or its tracker."""


CAPABILITIES: Mapping[str, str] = {
    "filter": "conditions on metadata, run beside the search",
    "expiry": "a fact goes when its time is up",
    "renewal": "a confirmation starts a fact's lifetime anew",
    "overwrite": "a revision takes the place of what it revises",
    "invalidate": "a fact that was taken back goes",
    "cascade": "what stood on a fact that ended goes with it",
    "late_arrival": "an older fact that is told late does not displace a newer one",
    "as_of": "what held at an instant of the past",
    "history": "all that was ever told of a key",
}
"""What a memory of changing facts can be asked to do, in the order of the tables. An adapter may
name further ones."""


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
    capabilities: Mapping[str, Capability] = {}
    """By a name of ``CAPABILITIES``, or one of the product's own. What is not named is not declared."""


def well_typed(info: Info) -> Info:
    """The same; raises MemoryFault for what a run's folder could not be read with again."""
    try:
        return convert(to_builtins(info, enc_hook=dict), Info)  # any mapping will do
    except (ValidationError, TypeError) as error:
        raise MemoryFault(f"info: {error}") from None


def under_layers(info: Info) -> Mapping[str, Capability]:
    """The capabilities of a store: what it does not declare is what layers add, if its stack has them."""
    pushed: How = "native" if {"gt", "le"} <= info.filters else "layered"
    layered: dict[str, Capability] = {name: Capability("layered") for name in CAPABILITIES}
    return {**layered, "filter": Capability(pushed), **info.capabilities}


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


@runtime_checkable
class Compacting(Protocol):
    """What a store or a memory may offer beside: its backend can reclaim what was deleted."""

    def compact(self) -> None:
        """Reclaim it by the backend's own means, and close."""
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
    """What a run examines; any memory product can implement it directly.

    ``apply`` and ``answer`` are called in turn, with instants that never go back. A memory that ends
    (``close``) may be opened again in the same place, and must then know what it knew. It raises
    ``Unsupported`` for what it cannot do at all, and answers ``Answer(unsupported=reason)`` to a question
    of a mode that it cannot serve. Whatever else it raises is an error of its row.
    """

    info: Info

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        """Why each fact (by id) did not come back for the question just asked: a cause each, in
        order. For diagnosis, outside the measured path."""
        ...

    def drop(self) -> None:
        """Remove what was stored, in this namespace and nowhere else; nothing is asked afterwards."""
        ...

    def close(self) -> None:
        """Release every resource. Idempotent, also after ``drop``; what was stored stays."""
        ...


class Embedder(Protocol):
    """A pure function from sentences to unit vectors; a run gives all its stacks the same one."""

    name: str
    fingerprint: str
    """Changes whenever any vector could; 16 hex digits."""
    dim: int
    lexical: bool
    """True for embedders that only compare characters: fit for tests, never published."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dim); rows of unit length."""
        ...


OpenMemory: TypeAlias = Callable[[Place, Mapping[str, str], Embedder], MemoryService]
"""What an entry point of ``memrot.memories`` names: ``open_memory(place, options, embedder)``.

``place`` is the memory's own, ``options`` are the bracketed ones of the stack's name. ``embedder`` is
the run's: every text and question of the timeline is known to it already, so that no call waits (but
to see what a memory is, one is opened, and dropped, before anything is embedded: embed when told); a
product that embeds by itself leaves it alone and says ``embeds``. A memory takes no layers, and its
name may have a family: ``redis/native`` is installed with the extra ``redis``. It raises
``Unavailable`` where the backend is not installed or not reachable, ``Unsupported`` where the row
cannot be measured at all.
"""
