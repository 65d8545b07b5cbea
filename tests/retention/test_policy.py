"""What is left of a belief, in the order of rules of METRICS.md §12, with its golden values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from memrot.layers.base import BANDS, Bands
from memrot.layers.policy import (
    ACTIONS,
    DEFAULT,
    MEASURED_SHAPE,
    UNDATED_DAYS,
    WEIBULL,
    ClassPolicy,
    faded,
    lifetimes,
)
from memrot.model import DAY, NEVER
from memrot_scenarios.lifetimes import _MEDIAN_AND_SHAPE

MONTH = 365.25 / 12 * DAY


class Belief(Struct, frozen=True):
    confidence: float = 1.0
    observed_at: int = 0
    last_confirmed_at: int = 0
    valid_to: int = NEVER


def read(policy: ClassPolicy, days: float, **fact: object) -> float:
    return policy.effective_confidence(Belief(**fact), round(days * DAY))  # type: ignore[arg-type]  # by name


def test_a_home_city_fades_through_the_bands() -> None:
    city = ClassPolicy(half_life_days=24 * MONTH / DAY, action="verify")
    known = Belief(confidence=0.91)
    read_at = [city.effective_confidence(known, round(months * MONTH)) for months in (0, 6, 12, 24, 36, 48)]
    assert [round(value, 3) for value in read_at] == [0.91, 0.765, 0.643, 0.455, 0.322, 0.228]
    assert [BANDS.of(value) for value in read_at] == [
        "assert",
        "assert",
        "hedge",
        "hedge",
        "withhold",
        "withhold",
    ]


def test_a_backfill_is_as_old_as_what_it_reports() -> None:
    age = -math.log2(0.44) * 730
    policy = ClassPolicy(half_life_days=730)
    assert read(policy, age, confidence=0.6) == pytest.approx(0.264, abs=1e-6)
    assert read(policy, 0, confidence=0.6, observed_at=round(-age * DAY)) == pytest.approx(0.264, abs=1e-6)


@pytest.mark.parametrize(
    ("policy", "fact", "days", "left"),
    [
        # 1. the stated end, before everything else
        ("identity", {"valid_to": 10 * DAY}, 10, 1.0),
        ("identity", {"valid_to": 10 * DAY}, 10.001, 0.0),
        ("slow_attribute", {"valid_to": 10 * DAY}, 10.001, 0.0),
        ("episode", {"valid_to": 10 * DAY}, 9, 1.0),
        ("episode", {"valid_to": 10 * DAY}, 11, 0.0),
        ("commitment", {"valid_to": 400 * DAY}, 399, 1.0),
        ("commitment", {"valid_to": 400 * DAY}, 407, 1.0),
        ("commitment", {"valid_to": 400 * DAY}, 407.001, 0.0),
        ("commitment", {"valid_to": 400 * DAY, "last_confirmed_at": 407 * DAY}, 408, 0.0),
        # 2. whole days since the last touch; without an end, a commitment has 90 of them
        ("session", {}, 0.999, 1.0),
        ("session", {}, 1, 0.0),
        ("session", {"last_confirmed_at": DAY // 2}, 1.4, 1.0),
        ("working_context", {}, 60.999, 1.0),
        ("working_context", {}, 61, 0.0),
        ("working_context", {"last_confirmed_at": 30 * DAY}, 90, 1.0),
        ("working_context", {"observed_at": 30 * DAY}, 90, 0.0),
        ("commitment", {}, UNDATED_DAYS + 0.999, 1.0),
        ("commitment", {}, UNDATED_DAYS + 1, 0.0),
        # 3. no half-life
        ("identity", {}, 10_000, 1.0),
        ("no such class", {}, 10_000, 1.0),
        # 4. the half-life, from observed_at alone
        ("slow_attribute", {}, 730, 0.5),
        ("slow_attribute", {"last_confirmed_at": 700 * DAY}, 730, 0.5),
        ("slow_attribute", {"observed_at": 730 * DAY}, 730, 1.0),
        ("slow_attribute", {"observed_at": 900 * DAY}, 730, 1.0),
    ],
)  # fmt: skip
def test_rules_in_their_order(policy: str, fact: dict[str, object], days: float, left: float) -> None:
    assert read(DEFAULT.of(policy), days, **fact) == pytest.approx(left)
    assert read(DEFAULT.of(policy), days, confidence=0.7, **fact) == pytest.approx(0.7 * left)


def test_a_policy_in_a_line() -> None:
    line = lifetimes(DEFAULT)
    assert line.startswith("identity always, slow_attribute 730 d h, ")
    assert "commitment to the stated end + 7 d, else 90 d, episode 90 d, session 0 d" in line


def test_bands_are_configurable() -> None:
    strict = Bands(0.9, 0.5)
    assert [strict.of(value) for value in (0.9, 0.89, 0.5, 0.49)] == ["assert", "hedge", "hedge", "withhold"]


policies = st.builds(
    ClassPolicy,
    half_life_days=st.none() | st.floats(0.5, 5000),
    shape=st.floats(0.3, 2),
    stated_end=st.booleans(),
    grace_days=st.sampled_from([0, 7]),
    action=st.sampled_from(ACTIONS),
) | st.builds(ClassPolicy, ttl_days=st.integers(0, 400), stated_end=st.booleans())
instants = st.integers(0, 1000 * DAY)
beliefs = st.builds(
    Belief,
    confidence=st.floats(0, 1),
    observed_at=instants,
    last_confirmed_at=instants,
    valid_to=st.just(NEVER) | instants,
)


@given(policies, beliefs, instants, instants)
def test_belief_never_grows_in_silence(policy: ClassPolicy, belief: Belief, one: int, other: int) -> None:
    early, late = sorted((one, other))
    assert 0 <= policy.left(belief, late) <= policy.left(belief, early) <= 1


@given(policies, beliefs)
def test_a_fact_lapses_when_it_is_said_to(policy: ClassPolicy, belief: Belief) -> None:
    when = policy.lapses_at(belief, BANDS)
    if when == NEVER:
        assert not policy.lapsed(belief, 10_000 * DAY, BANDS) or policy.half_life_days is not None
    else:
        assert policy.lapsed(belief, when, BANDS)
        assert not policy.lapsed(belief, when - 10, BANDS)


# --- the project world's lifetimes -----------------------------------------------------------

ROWS = {
    "ownership": ("roster", "member", "lead", "owner"),
    "decision": ("decision",),
    "requirement": ("requirement",),
    "tech": ("dependency", "pin", "image"),
}
"""Class -> the rows of the table of measured lifetimes that are about it."""


@pytest.mark.parametrize("name", ROWS)
def test_project_lifetimes_are_those_of_the_mean_measured_curve(name: str) -> None:
    from scipy.optimize import brentq

    measured = [_MEDIAN_AND_SHAPE[row] for row in ROWS[name]]  # type: ignore[index]  # kinds, as written above

    def quantile(share: float) -> float:
        mean = lambda t: sum(faded(t, *row) for row in measured) / len(measured) - share  # noqa: E731 - said once
        return float(brentq(mean, 1e-6, 1e6))

    shape = math.log(2 / math.log2(4 / 3)) / math.log(quantile(0.25) / quantile(0.75))
    assert DEFAULT.of(name).half_life_days == round(quantile(0.5))
    assert WEIBULL.of(name).half_life_days == DEFAULT.of(name).half_life_days
    assert WEIBULL.of(name).shape == round(shape, 2)
    assert DEFAULT.of(name).shape == 1


def test_what_was_not_measured_takes_the_median_shape() -> None:
    from statistics import median

    rows = [shape for kinds in ROWS.values() for _, shape in (_MEDIAN_AND_SHAPE[kind] for kind in kinds)]  # type: ignore[index]  # kinds, as written above
    assert median(rows) == WEIBULL.of("preference").shape == MEASURED_SHAPE
    assert WEIBULL.of("working_context") == DEFAULT.of("working_context")
