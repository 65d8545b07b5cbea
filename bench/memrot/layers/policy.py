"""A retention policy: how long each class of facts is believed in silence, and what happens then.

Belief is computed at the moment of reading and stamped on nothing: a changed policy needs no rewrite
of what is stored. Whole classes stand here; ``memrot.retention.policy`` reads them from TOML.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from memrot.layers.base import BANDS, Bands
from memrot.model import DAY, NEVER, Instant

Action: TypeAlias = Literal["verify", "demote", "archive", "delete"]
ACTIONS: tuple[Action, ...] = get_args(Action)

UNDATED_DAYS = 90
"""TTL of a fact whose class goes by the stated end but which states none: it must not be immortal."""

REGULATED = "regulated"
"""The class whose lifetime is imposed from outside: deleted when it is over, never tuned or audited."""

MEASURED_SHAPE = 0.62
"""Median of the Weibull shapes that were measured on public histories (docs/retention.md)."""


class Aging(Protocol):
    """What a policy reads of a fact."""

    @property
    def confidence(self) -> float: ...
    @property
    def observed_at(self) -> Instant: ...
    @property
    def last_confirmed_at(self) -> Instant: ...
    @property
    def valid_to(self) -> Instant: ...


class ClassPolicy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One class. At most one of ``half_life_days`` and ``ttl_days`` is set; neither: it never fades."""

    half_life_days: float | None = None
    """Age at which half of the stored confidence is left."""
    shape: float = 1.0
    """Of the curve: 1 halves again and again; below 1, as in a Weibull survival curve, young facts
    fade faster and old ones slower."""
    ttl_days: int | None = None
    """Whole days since the last touch for which a fact is believed; then not at all."""
    stated_end: bool = False
    """Whether a fact that states its end is believed until then, whatever its age."""
    grace_days: float = 0
    """Days that a stated end is overstayed."""
    action: Action = "demote"

    @property
    def ttl(self) -> int | None:
        return UNDATED_DAYS if self.ttl_days is None and self.stated_end else self.ttl_days

    @property
    def lifetime_days(self) -> float | None:
        """The TTL, or the half-life; None: facts of the class are believed until they end."""
        return self.half_life_days if self.ttl is None else self.ttl

    def left(self, fact: Aging, at: Instant) -> float:
        """The share of the stored confidence that is left, from 0 to 1 (METRICS.md §12, in its order)."""
        if fact.valid_to != NEVER:
            if at > fact.valid_to + self.grace_days * DAY:
                return 0.0
            if self.stated_end:
                return 1.0
        if self.ttl is not None:
            return 1.0 if (at - fact.last_confirmed_at) // DAY <= self.ttl else 0.0
        if self.half_life_days is None:
            return 1.0
        return faded((at - fact.observed_at) / DAY, self.half_life_days, self.shape)

    def effective_confidence(self, fact: Aging, at: Instant) -> float:
        """What is left at an instant of the confidence with which a fact was stored."""
        return fact.confidence * self.left(fact, at)

    def lapsed(self, fact: Aging, at: Instant, bands: Bands) -> bool:
        """Whether time took a fact below the hedge band; one that was stored below it lapses like a
        certain one."""
        return _stored(fact, bands) * self.left(fact, at) < bands.hedge_from

    def lapses_at(self, fact: Aging, bands: Bands) -> Instant:
        """The instant from which a fact has lapsed unless it is touched again; NEVER: none."""
        stated = NEVER
        if fact.valid_to != NEVER:
            stated = math.floor(fact.valid_to + self.grace_days * DAY) + 1
            if self.stated_end:
                return stated
        if self.ttl is not None:
            return min(stated, fact.last_confirmed_at + (self.ttl + 1) * DAY)
        if self.half_life_days is None:
            return stated
        halvings = math.log2(_stored(fact, bands) / bands.hedge_from)
        age = self.half_life_days * halvings ** (1 / self.shape) * DAY
        # a millisecond more than it takes: rounding must not leave it just above the band
        return stated if age > NEVER else min(stated, fact.observed_at + math.ceil(age) + 1)


def _stored(fact: Aging, bands: Bands) -> float:
    return fact.confidence if fact.confidence >= bands.hedge_from else 1.0


def faded(age_days: float, half_life_days: float, shape: float = 1.0) -> float:
    """The share of confidence left at an age: ``2 ** -(age / half_life) ** shape``; what is observed
    in the future has not aged."""
    return float(2.0 ** -((max(age_days, 0.0) / half_life_days) ** shape))


class Policy(Struct, frozen=True, kw_only=True):
    """Policies by class (in lower case). A class that is not listed never fades: its stated ends are
    kept, nothing else."""

    classes: Mapping[str, ClassPolicy]
    bands: Bands = BANDS

    def of(self, fact_class: str) -> ClassPolicy:
        return self.classes.get(fact_class, _UNLISTED)


_UNLISTED = ClassPolicy()


DEFAULT = Policy(
    classes={
        "identity": ClassPolicy(),
        "slow_attribute": ClassPolicy(half_life_days=730, action="verify"),
        "preference": ClassPolicy(half_life_days=365),
        "relationship": ClassPolicy(half_life_days=545),
        "working_context": ClassPolicy(ttl_days=60, action="delete"),
        "commitment": ClassPolicy(stated_end=True, grace_days=7, action="archive"),
        "episode": ClassPolicy(ttl_days=90, action="archive"),
        "session": ClassPolicy(ttl_days=0, action="delete"),
        REGULATED: ClassPolicy(ttl_days=365, action="delete"),
        # Where the mean of the survival curves measured for a domain is at one half (docs/retention.md).
        # Only open decisions count: reversals of those in force are too rare to have a median.
        "ownership": ClassPolicy(half_life_days=539, action="verify"),
        "decision": ClassPolicy(half_life_days=175, action="verify"),
        "requirement": ClassPolicy(half_life_days=263, action="verify"),
        "tech": ClassPolicy(half_life_days=82, action="verify"),
    }
)
"""What a retention layer goes by unless told otherwise."""

_SHAPES = {"ownership": 0.67, "decision": 0.51, "requirement": 1.1, "tech": 0.46}
"""With the half-lives above, the Weibull curves through the quartiles of the same mean curves."""

WEIBULL = Policy(
    classes={
        name: replace(policy, shape=_SHAPES.get(name, MEASURED_SHAPE))
        if policy.half_life_days is not None
        else policy
        for name, policy in DEFAULT.classes.items()
    }
)
"""The same lifetimes on the curves that were measured; classes of which nothing was measured take the
median of the measured shapes."""


def lifetimes(policy: Policy) -> str:
    """A policy in a line, for whoever reads a leaderboard: h stands for a half-life."""
    said = []
    for name, each in policy.classes.items():
        if each.stated_end:
            said.append(f"{name} to the stated end + {each.grace_days:g} d, else {each.ttl} d")
        elif each.ttl is not None:
            said.append(f"{name} {each.ttl} d")
        elif each.half_life_days is not None:
            said.append(f"{name} {each.half_life_days:g} d h")
        else:
            said.append(f"{name} always")
    return ", ".join(said)
