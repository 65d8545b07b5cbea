"""The second test of a policy: what outlives its truth.

Per class with a lifetime, a sample of what the full store believes beyond it is held against the
truth. More wrong than the target, surely: shorten; surely less: lengthen. What has no lifetime is not
audited, nor is what is regulated: its lifetime is no question of truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from statistics import median
from typing import Literal, TypeAlias

from msgspec import Struct

from memrot.layers.policy import REGULATED, ClassPolicy, Policy
from memrot.model import NEVER
from memrot.retention.beliefs import Belief
from memrot.stats import Rate

TARGET = 0.10
SAMPLE = 200

Implication: TypeAlias = Literal["shorten", "lengthen", "keep", "-"]
"""-: nothing could be checked."""


class Finding(Struct, frozen=True, kw_only=True):
    """One class. Ages in days."""

    fact_class: str
    lifetime: float
    older: int
    """Beliefs beyond the lifetime, of which ``wrong.of`` were checked."""
    unknown: int
    """Of those sampled, how many nobody could check."""
    sampled_age: tuple[float, float, float] | None
    """Least, median and greatest age of what was checked."""
    wrong: Rate
    implication: Implication


def audit(
    beliefs: Iterable[Belief], policy: Policy, *, target: float = TARGET, sample: int = SAMPLE
) -> list[Finding]:
    """A finding a class that has a lifetime, shortest first."""
    by_class: dict[str, list[Belief]] = {}
    for belief in beliefs:
        by_class.setdefault(belief.fact_class, []).append(belief)
    found = []
    for name, each in policy.classes.items():
        if name != REGULATED and each.lifetime_days is not None:
            older = outlived(by_class.get(name, ()), each)
            chosen = sampled(older, sample, name)
            found.append(_finding(name, each, older, chosen, target))
    return sorted(found, key=lambda finding: finding.lifetime)


def outlived(beliefs: Iterable[Belief], policy: ClassPolicy) -> list[Belief]:
    """Those older than the lifetime of their class; a stated end that is used is a lifetime of its own."""
    lifetime = policy.lifetime_days
    if lifetime is None:
        return []
    least = lifetime if policy.ttl is None else lifetime + 1  # a TTL is of whole days
    return [
        belief
        for belief in beliefs
        if belief.age_days(policy) >= least and not (policy.stated_end and belief.valid_to != NEVER)
    ]


def sampled(beliefs: Sequence[Belief], size: int, fact_class: str) -> list[Belief]:
    """At most ``size`` of a class, the same ones each time."""
    if len(beliefs) <= size:
        return list(beliefs)
    return Random(f"audit/0/{fact_class}").sample(beliefs, size)


def implied(wrong: Rate, target: float = TARGET) -> Implication:
    bounds = wrong.bounds
    if bounds is None:
        return "-"
    if bounds[0] > target:
        return "shorten"
    return "lengthen" if bounds[1] < target else "keep"


def contradictions(findings: Sequence[Finding]) -> list[str]:
    """Neighbours in lifetime that would change places: the shorter is to be lengthened, the longer
    shortened."""
    return [
        f"{short.fact_class} ({short.lifetime:g} d) is to be lengthened and its neighbour "
        f"{long.fact_class} ({long.lifetime:g} d) shortened: look at how facts are put into these classes"
        for short, long in pairwise(sorted(findings, key=lambda finding: finding.lifetime))
        if (short.implication, long.implication) == ("lengthen", "shorten")
    ]


def _finding(
    name: str, policy: ClassPolicy, older: Sequence[Belief], chosen: Sequence[Belief], target: float
) -> Finding:
    known = [belief for belief in chosen if belief.true is not None]
    ages = sorted(belief.age_days(policy) for belief in known)
    wrong = Rate(sum(not belief.true for belief in known), len(known))
    lifetime = policy.lifetime_days or 0.0
    implication = implied(wrong, target)
    return Finding(
        fact_class=name,
        lifetime=lifetime,
        older=len(older),
        unknown=len(chosen) - len(known),
        sampled_age=(ages[0], median(ages), ages[-1]) if ages else None,
        wrong=wrong,
        implication="keep" if implication == "shorten" and lifetime < 1 else implication,
    )
