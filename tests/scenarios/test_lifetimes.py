"""Lifetimes follow the measured table, and churn fills its horizon."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot_scenarios.lifetimes import HOURS, MOST, Kind, around, churn, days

KINDS = get_args(Kind)


@pytest.mark.parametrize(
    ("kind", "after", "still_true"),
    [
        ("roster", 90, 0.65),
        ("member", 365, 0.70),
        ("lead", 365, 0.72),
        ("lead", 730, 0.51),
        ("owner", 730, 0.44),
    ],
)
def test_share_still_true_is_that_of_the_weibull_fit(kind: Kind, after: int, still_true: float) -> None:
    rng = Random("survival")
    draws = [days(rng, kind) for _ in range(4000)]
    assert abs(sum(draw > after for draw in draws) / len(draws) - still_true) < 0.03


def test_detours_stay_about_their_median() -> None:
    rng = Random("around")
    draws = sorted(around(rng, 84) for _ in range(1001))
    assert 42 <= draws[0] <= draws[-1] <= 168
    assert 78 < draws[500] < 90


@given(
    seed=st.integers(0, 10**6),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=12),
    share=st.floats(0, 1),
    horizon=st.integers(100, 1000),
)
def test_churn_has_so_many_changes_and_ends_with_its_horizon(
    seed: int, kinds: list[Kind], share: float, horizon: int
) -> None:
    changes = max(1, round(share * MOST * len(kinds)))
    drawn = churn(Random(seed), kinds, changes, horizon)
    assert sum(len(gaps) for gaps in drawn) == changes
    assert max(len(gaps) for gaps in drawn) <= MOST
    assert all(gap >= 0 for gaps in drawn for gap in gaps)
    assert max(sum(gaps) for gaps in drawn) == horizon * HOURS
    assert drawn == churn(Random(seed), kinds, changes, horizon)


def test_churn_refuses_more_changes_than_its_keys_can_bear() -> None:
    with pytest.raises(ValueError, match="at most 3 changes a key"):
        churn(Random(1), ["owner", "lead"], 2 * MOST + 1, 500)
