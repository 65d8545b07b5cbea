"""The controller finds what is there, within its own intervals, and leaves alone what it must."""

from __future__ import annotations

import math

import pytest

from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.layers.policy import REGULATED, ClassPolicy, Policy
from memrot.retention.beliefs import Spell, spells
from memrot.retention.conversations import own
from memrot.retention.replay import Conversation, Replay, Reply, Said, replay
from memrot.retention.stores import Trial, retaining
from memrot.retention.tune import LEAST_ENDS, STRETCH, proposed, split, survivals, tune
from memrot.timeline import Timeline
from retention.synthetic import silent
from running import tiny

KNOWN = {"tech": (180.0, 0.62), "preference": (365.0, 1.0), "episode": (60.0, 1.4)}
"""Class -> true median and Weibull shape."""
POLICY = Policy(
    classes={
        "tech": ClassPolicy(half_life_days=1000),
        "preference": ClassPolicy(half_life_days=1000),
        "episode": ClassPolicy(ttl_days=400),
        "identity": ClassPolicy(),
        REGULATED: ClassPolicy(ttl_days=30, action="delete"),
    }
)


def test_known_lifetimes_are_recovered_within_their_intervals() -> None:
    """Of 36 intervals of 95%, 31 or more cover the truth in 99 of 100 such trials."""
    covered = {"median": 0, "target": 0}
    for seed in range(12):
        for found in survivals(spells(silent(KNOWN, 100, seed=seed), POLICY.classes), POLICY.classes):
            median, shape = KNOWN[found.fact_class]
            truth = {"median": median, "target": median * math.log2(1 / 0.9) ** (1 / shape)}
            for what, quantile in (("median", found.median), ("target", found.at_target)):
                assert quantile.low is not None
                covered[what] += quantile.low <= truth[what] <= (quantile.high or math.inf)
            assert found.shape == pytest.approx(shape, rel=0.35)
    assert covered["median"] >= 31
    assert covered["target"] >= 31


def test_censoring_is_not_an_end() -> None:
    """Half ended at 10 days, half were cut short at 5: the median is not before 10."""
    some = [Spell("a", False, 10.0 + i, True) for i in range(20)] + [Spell("a", False, 5.0, False)] * 20
    (found,) = survivals(some, {})
    assert (found.median.days, found.spells, found.ended) == (19.0, 40, 20)


def test_where_nothing_ended_nothing_is_claimed() -> None:
    (found,) = survivals([Spell("a", False, 100.0, False)] * 30, {})
    assert (found.ended, found.median.days, found.at_target.low, found.shape) == (0, None, None, None)


def test_a_stated_end_says_nothing_of_its_class() -> None:
    policies = {"promise": ClassPolicy(stated_end=True), "note": ClassPolicy(half_life_days=9)}
    some = [Spell(name, True, 5.0, True) for name in policies]
    assert [each.fact_class for each in survivals(some, policies)] == ["note"]


def test_proposals() -> None:
    def ended(name: str, count: int) -> list[Spell]:
        return [Spell(name, False, 10.0 * (i + 1), True) for i in range(count)]

    some = [
        *ended("tech", 20),
        *ended("episode", 20),
        *ended("identity", 20),
        *ended(REGULATED, 20),
        *ended("preference", LEAST_ENDS - 1),
    ]
    policy = proposed(POLICY, survivals(some, POLICY.classes))
    assert {name: each.lifetime_days for name, each in policy.classes.items()} == {
        "tech": 20, "preference": 1000, "episode": 20, "identity": None, REGULATED: 30,
    }  # fmt: skip
    assert policy.of("tech").half_life_days == 20
    assert policy.of("episode").ttl_days == 20


def test_lifetimes_that_cost_too_much_are_stretched_but_not_for_what_is_regulated() -> None:
    def replayed(policy: Policy) -> Replay:
        """One conversation in ten gets worse for tech until it lasts 100 days; one for the regulated, always."""
        right, lost = Said("v", "assert", "f", right=True), Said(None, None, None, right=False)
        worse = [REGULATED, *(["tech"] * 10 if (policy.of("tech").lifetime_days or 0) < 100 else [])]
        replies = [Reply("?", name, right, lost) for name in worse] + [Reply("?", "c", right, right)] * (
            100 - len(worse)
        )
        return Replay(tuple(Conversation("t", str(i), 0, (reply,)) for i, reply in enumerate(replies)))

    some = [Spell("tech", False, 10.0 * (i + 1), True) for i in range(20)]
    tuned = tune(POLICY, some, replayed, limit=0.02)
    assert tuned.within
    assert tuned.policy.of(REGULATED) == POLICY.of(REGULATED)
    assert 100 <= (tuned.policy.of("tech").lifetime_days or 0) < 100 * STRETCH
    assert tuned.stretched == {"tech": 7}
    assert tune(POLICY, some, replayed, limit=0.001) == tuned, "what is lost by order stretches nothing"


def test_a_limit_that_no_lifetime_keeps_is_said_not_to_be_kept() -> None:
    right, lost = Said("v", "assert", "f", right=True), Said(None, None, None, right=False)
    unnamed = Replay((Conversation("t", "s", 0, (Reply("?", "identity", right, lost),)),))
    tuned = tune(POLICY, [Spell("tech", False, 10.0, True)], lambda _: unnamed)
    assert not tuned.within
    assert tuned.policy == POLICY


def test_a_ttl_may_be_of_the_day_alone() -> None:
    policy = Policy(classes={"session": ClassPolicy(ttl_days=9), "tech": ClassPolicy(half_life_days=9)})
    some = [Spell(name, False, 0.1 + i / 30, True) for name in policy.classes for i in range(9)]
    tuned = proposed(policy, survivals(some, policy.classes))
    assert [each.lifetime_days for each in tuned.classes.values()] == [0, 1]


def test_tuning_a_lifetime_that_is_too_long_leaves_less_untrue_on_other_seeds() -> None:
    fitted, held_out = (silent(KNOWN, 40, seed=seed, asked=100) for seed in (1, 2))
    asked, later = own(fitted), own(held_out)
    assert asked is not None
    assert later is not None
    with Trial(Hashing(), [asked, later]) as trial:

        def replayed(policy: Policy, exam: Timeline = asked) -> Replay:
            return replay([(exam, trial.kept(exam).seen, trial.kept(exam, retaining(policy)).seen)])

        tuned = tune(POLICY, spells(fitted, POLICY.classes), replayed, limit=0.05)
        before, after = replayed(POLICY, later), replayed(tuned.policy, later)
    assert tuned.within
    assert after.confidently_wrong.count < before.confidently_wrong.count
    assert (after.regression.value or 0) < 0.1


def test_every_other_timeline_of_a_scenario_is_held_out() -> None:
    exams = [tiny(1), silent(KNOWN, 2, seed=1), tiny(2), silent(KNOWN, 2, seed=2), tiny(3)]
    fitted, held_out = split(exams)
    assert [exam.header.seed for exam in fitted] == [1, 1, 3]
    assert [exam.header.id for exam in held_out] == ["test/tiny", "silent"]
    with pytest.raises(BadInput, match="second timeline"):
        split([tiny(1), silent(KNOWN, 2)])
