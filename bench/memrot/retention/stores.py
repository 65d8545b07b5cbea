"""Stores under test: the one that keeps everything, and the same one as a policy would have left it.

Both are exact and in process: what differs between them is the policy alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Self

from msgspec import Struct

from memrot import layers
from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers.base import Layer
from memrot.layers.policy import Policy
from memrot.layers.retention import Retention
from memrot.memory import Place
from memrot.model import introduces, is_announced
from memrot.observations import Observations
from memrot.retention.cost import Cost, cost_of
from memrot.stack import LayeredMemory
from memrot.timeline import Timeline

BASE = ("supersession", "propagation")
"""Layers of both stores: retention answers for silence, not for what was announced."""


class Keeper(Struct, frozen=True, kw_only=True):
    """How a store keeps facts: layers, and the policy that a retention layer among them goes by."""

    name: str
    layers: tuple[str, ...] = ()
    """Beside ``BASE``."""
    policy: Policy | None = None

    def built(self, timeline: Timeline) -> tuple[Layer, ...]:
        told = sum(is_announced(event) and introduces(event) is not None for event in timeline.events)
        built = layers.parse((*BASE, *self.layers), timeline.header.exclusive, told)
        policy = self.policy
        if policy is None:
            return built
        return tuple(Retention(policy) if isinstance(layer, Retention) else layer for layer in built)


FULL = Keeper(name="full store")
"""Keeps what is not known to have ended."""


def retaining(policy: Policy, name: str = "policy") -> Keeper:
    return Keeper(name=name, layers=("retention",), policy=policy)


class Kept(Struct, frozen=True):
    seen: Observations
    cost: Cost


class Trial:
    """Replays timelines into stores; embeds every sentence once. Use as a context manager."""

    def __init__(self, embedder: Embedder, timelines: Sequence[Timeline]) -> None:
        texts = [fact.text for timeline in timelines for fact in timeline.facts.values()]
        texts += [probe.question for timeline in timelines for probe in timeline.probes]
        with Cache() as cache:
            cache.embed(embedder, texts)
            self._embedder = Recalled.of(embedder, cache)
        self._embedder.embed(texts)
        self._folder = tempfile.TemporaryDirectory(prefix="memrot-retention-")
        self._count = 0
        self._kept: dict[tuple[str, str], tuple[Keeper, Kept]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def kept(self, timeline: Timeline, keeper: Keeper = FULL) -> Kept:
        """What a keeper's store (default: the full one) answered and kept; each is replayed once.
        Raises BadInput where a timeline asks for what these stores cannot do."""
        known = self._kept.get((timeline.digest, keeper.name))
        if known is None or known[0] != keeper:
            known = (keeper, self._replayed(timeline, keeper))
            self._kept[timeline.digest, keeper.name] = known
        return known[1]

    def cost(self, timelines: Sequence[Timeline], keeper: Keeper) -> Cost:
        """Of what is kept of all of them together."""
        return reduce(add, (self.kept(timeline, keeper).cost for timeline in timelines))

    def _replayed(self, timeline: Timeline, keeper: Keeper) -> Kept:
        self._count += 1
        place = Place(
            namespace="retention",
            folder=Path(self._folder.name) / str(self._count),
            dim=self._embedder.dim,
            expected=len(timeline.facts),
        )
        built = keeper.built(timeline)
        seen = observe(
            lambda: LayeredMemory(lambda: Exact(place), built, self._embedder), timeline, peek=False
        )
        if seen.footer is None or seen.footer.outcome != "answered":
            reason = seen.footer.reason if seen.footer else "it did not end"
            raise BadInput(f"{timeline.header.id} cannot be replayed: {reason}")
        left = Exact(place)
        cost = cost_of(left.scan(vectors=True), timeline)
        left.drop()
        return Kept(seen, cost)


def named(spelled: str) -> Keeper:
    """A keeper by its layers: ``retention[weibull]``, ``ttl[days=90,hard]``. Raises BadInput."""
    layers.parse((*BASE, *spelled.split("+")), facts=1)
    return Keeper(name=spelled, layers=tuple(spelled.split("+")))
