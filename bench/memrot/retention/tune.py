"""The controller: how long each class's facts survive silence, and the lifetimes that follow.

Survival is Kaplan-Meier over spells (``beliefs``), right-censored. A class's lifetime becomes the age
at which the target share of silent facts is wrong; then, as long as the policy makes more
conversations worse than the limit allows, the lifetimes that cost most are stretched. What is
regulated is never touched, nor what has no lifetime.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from memrot.errors import BadInput
from memrot.layers.policy import REGULATED, ClassPolicy, Policy
from memrot.retention.audit import TARGET
from memrot.retention.beliefs import Spell
from memrot.retention.replay import Replay
from memrot.stats import Rate
from memrot.timeline import Timeline

REGRESSION_LIMIT = 0.01
"""Most of all conversations that a tuned policy may make worse, beside what is regulated."""

LEAST_ENDS = 5
"""Silent ends below which a class's survival is not known well enough to change its lifetime."""

STRETCH = 1.3
_ROUNDS = 40


class Quantile(Struct, frozen=True):
    """Days at which a share has ended, with its 95% bounds; None: not within what was observed."""

    days: float | None
    low: float | None
    high: float | None


class Survival(Struct, frozen=True):
    fact_class: str
    spells: int
    ended: int
    median: Quantile
    at_target: Quantile
    """When the target share is wrong."""
    shape: float | None
    """Of the Weibull curve of greatest likelihood; None with too few ends."""


class Tuned(Struct, frozen=True):
    policy: Policy
    survivals: tuple[Survival, ...]
    stretched: Mapping[str, int]
    """Class -> how often its lifetime was stretched to keep within the limit."""
    within: bool
    """Whether the limit is kept, on what was tuned with, by all that is not regulated."""


def split(timelines: Sequence[Timeline]) -> tuple[list[Timeline], list[Timeline]]:
    """Timelines to fit on, and those held out: every other one of each scenario. Raises BadInput where
    none is left to test on."""
    fitted: list[Timeline] = []
    held_out: list[Timeline] = []
    for timeline in timelines:
        seen = sum(each.header.id == timeline.header.id for each in [*fitted, *held_out])
        (held_out if seen % 2 else fitted).append(timeline)
    if not held_out:
        raise BadInput("tuning needs a second timeline of a scenario, to test on what it was not fitted on")
    return fitted, held_out


def survivals(
    spells: Iterable[Spell], policies: Mapping[str, ClassPolicy], target: float = TARGET
) -> list[Survival]:
    """Per class with spells. Facts that state their end say nothing of a class that goes by it."""
    by_class: dict[str, list[Spell]] = {}
    for spell in spells:
        policy = policies.get(spell.fact_class)
        if not (spell.dated and policy is not None and policy.stated_end):
            by_class.setdefault(spell.fact_class, []).append(spell)
    return [_survival(name, each, target) for name, each in sorted(by_class.items())]


def tune(
    policy: Policy,
    spells: Iterable[Spell],
    replayed: Callable[[Policy], Replay],
    *,
    target: float = TARGET,
    limit: float = REGRESSION_LIMIT,
) -> Tuned:
    """Propose lifetimes; ``replayed`` runs the first test of a policy."""
    known = survivals(spells, policy.classes, target)
    tuned = proposed(policy, known)
    stretched: dict[str, int] = {}
    within = False
    for _ in range(_ROUNDS):
        result = replayed(tuned)
        within = (_tunable(result).value or 0.0) <= limit
        costly = [
            name
            for name, _ in result.worse_by_class.most_common()
            if name != REGULATED and tuned.of(name).lifetime_days is not None
        ]
        if within or not costly:
            break
        name = costly[0]
        tuned = _with_lifetime(tuned, name, STRETCH * (tuned.of(name).lifetime_days or 1))
        stretched[name] = stretched.get(name, 0) + 1
    return Tuned(tuned, tuple(known), stretched, within)


def proposed(policy: Policy, known: Sequence[Survival]) -> Policy:
    """Each class's lifetime where the target share is wrong; unchanged where that is not known."""
    for survival in known:
        name, days = survival.fact_class, survival.at_target.days
        touchable = name != REGULATED and policy.of(name).lifetime_days is not None
        if touchable and days is not None and survival.ended >= LEAST_ENDS:
            policy = _with_lifetime(policy, name, days)
    return policy


def _tunable(result: Replay) -> Rate:
    """The regression rate that lifetimes can be blamed for: what is lost because it is regulated is lost
    by order."""
    blamed = sum(
        any(reply.verdict == "worse" and reply.fact_class != REGULATED for reply in each.replies)
        for each in result.conversations
    )
    return Rate(blamed, len(result.conversations))


def _with_lifetime(policy: Policy, name: str, days: float) -> Policy:
    each = policy.of(name)
    # whole days: a hard TTL counts no others, and nobody tells apart half-lives by less
    whole = round(days)
    if each.ttl is None:
        changed = replace(each, half_life_days=float(max(whole, 1)))
    else:
        changed = replace(each, ttl_days=whole)
    return replace(policy, classes={**policy.classes, name: changed})


def _survival(name: str, spells: Sequence[Spell], target: float) -> Survival:
    # costs most of a second to import
    from scipy.stats import CensoredData, ecdf

    days = np.array([spell.days for spell in spells])
    ended = np.array([spell.ended for spell in spells], np.bool_)
    count = int(ended.sum())
    if not count:
        nothing = Quantile(None, None, None)
        return Survival(name, len(spells), 0, nothing, nothing, None)
    data = CensoredData(uncensored=days[ended], right=days[~ended])
    curve = ecdf(data).sf
    with warnings.catch_warnings():
        # of undefined bounds, which ``_quantile`` expects
        warnings.simplefilter("ignore", RuntimeWarning)
        bounds = curve.confidence_interval(0.95, method="log-log")
    return Survival(
        name,
        len(spells),
        count,
        _quantile(curve, bounds, 0.5),
        _quantile(curve, bounds, target),
        _shape(data) if count >= LEAST_ENDS else None,
    )


def _quantile(curve: Any, bounds: Any, share: float) -> Quantile:
    """Where a survival curve, and its bounds, have lost a share."""
    days: NDArray[np.float64] = curve.quantiles

    def first(left: NDArray[np.float64]) -> float | None:
        # bounds are undefined (NaN) before the first end and once nothing is left
        places = np.flatnonzero(np.nan_to_num(left, nan=1.0) <= 1 - share + 1e-12)
        return float(days[places[0]]) if places.size else None

    return Quantile(
        first(curve.probabilities), first(bounds.low.probabilities), first(bounds.high.probabilities)
    )


def _shape(data: Any) -> float:
    from scipy.stats import weibull_min

    return float(weibull_min.fit(data, floc=0)[0])
