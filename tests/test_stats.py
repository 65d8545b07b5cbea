"""METRICS.md §11: by hand, against scipy where it has the same test, and by simulation."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from memrot.stats import difference, holm, interval, ranks, ranks_without_each_scenario


def test_by_hand() -> None:
    # deviations -1, 1 and -2, 0, 2: ten squares on 3 degrees of freedom; t(.975, 3) = 3.182446
    found = interval([[1.0, 3.0], [3.0, 5.0, 7.0]])
    error = (10 / 3 * (1 / 2 + 1 / 3)) ** 0.5 / 2
    assert found.mean == 3.5
    assert (found.low, found.high) == pytest.approx((3.5 - 3.182446305 * error, 3.5 + 3.182446305 * error))


def test_scenarios_weigh_equally_however_many_seeds_they_have() -> None:
    assert interval([[0.0], [1.0, 1.0, 1.0]]).mean == 0.5


def test_one_scenario_is_students_t() -> None:
    values = [0.2, 0.5, 0.3, 0.9]
    found, known = interval([values]), scipy_stats.ttest_1samp(values, 0)
    assert found.p == pytest.approx(known.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(known.confidence_interval()))


def test_one_seed_has_no_interval_and_no_value_is_a_defect() -> None:
    assert interval([[0.5], [0.7]]).low is None
    with pytest.raises(ValueError, match="at least one value"):
        interval([[0.5], []])


def test_equal_rows_are_equal_in_spite_of_rounding() -> None:
    a = {"x": [0.1 + 0.2, 0.3], "y": [0.7, 0.7]}
    b = {"x": [0.3, 0.3], "y": [0.7, 0.7]}
    assert difference(a, b).p == 1.0
    assert ranks({"a": a, "b": b}) == {"a": (1, 2), "b": (1, 2)}


def test_pairing_takes_out_what_the_seeds_share() -> None:
    noise = [[0.1, -0.2, 0.3, 0.0, -0.1], [0.2, 0.1, -0.3, 0.1, 0.0]]
    a = {str(s): [0.5 + x for x in values] for s, values in enumerate(noise)}
    b = {str(s): [0.48 + x + 0.001 * i for i, x in enumerate(values)] for s, values in enumerate(noise)}
    found = difference(a, b)
    assert found.low is not None
    assert found.low > 0
    low, high = interval(list(a.values())), interval(list(b.values()))
    assert low.low is not None
    assert low.low < high.mean


def test_only_shared_timelines_can_be_compared() -> None:
    with pytest.raises(ValueError, match="same scenarios"):
        difference({"x": [1.0, 1.0]}, {"y": [1.0, 1.0]})


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_no_correction_and_bonferroni_and_keeps_the_order(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(p <= q <= min(1, len(ps) * p) for p, q in zip(ps, corrected, strict=True))
    assert [q for _, q in sorted(zip(ps, corrected, strict=True))] == sorted(corrected)


def row(level: float, wobble: float, seed: int) -> dict[str, list[float]]:
    rng = random.Random(seed)
    return {name: [level + rng.gauss(0, wobble) for _ in range(5)] for name in "abc"}


def test_ranks_are_ranges_where_rows_cannot_be_told_apart() -> None:
    rows = {
        "best": row(0.9, 0.01, 1),
        "one": row(0.5, 0.1, 2),
        "other": row(0.5, 0.1, 3),
        "worst": row(0.1, 0.01, 4),
    }
    assert ranks(rows) == {"best": (1, 1), "one": (2, 3), "other": (2, 3), "worst": (4, 4)}
    assert ranks({"alone": rows["best"]}) == {"alone": (1, 1)}
    assert ranks({}) == {}


def test_a_row_that_only_one_scenario_carries_is_found_out() -> None:
    flat, peak = row(0.5, 0.01, 1), row(0.5, 0.01, 2)
    peak["a"] = [0.95, 0.96, 0.94, 0.95, 0.95]
    rows = {"flat": flat, "peak": peak}
    assert ranks(rows) == {"flat": (2, 2), "peak": (1, 1)}
    without = ranks_without_each_scenario(rows)
    assert without["a"] == {"flat": (1, 2), "peak": (1, 2)}
    assert without["b"]["peak"] == (1, 1)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=5), min_size=1, max_size=4), st.floats(-1, 1))
def test_shifting_all_values_shifts_the_interval(scenarios: list[list[float]], by: float) -> None:
    plain, shifted = interval(scenarios), interval([[x + by for x in values] for values in scenarios])
    assert plain.low is not None
    assert shifted.low is not None
    assert (shifted.mean, shifted.low) == pytest.approx((plain.mean + by, plain.low + by), abs=1e-9)


@pytest.mark.parametrize("spreads", [(1.0,) * 6, (0.5, 0.7, 1.0, 1.0, 1.3, 1.5)])
def test_intervals_cover_what_they_promise(spreads: tuple[float, ...]) -> None:
    """Six fixed scenarios of five seeds, also where some scatter thrice as much as others."""
    rng = random.Random(20260105)
    centres = [rng.random() for _ in spreads]
    truth, trials = sum(centres) / len(centres), 1500
    covered = 0
    for _ in range(trials):
        found = interval(
            [[rng.gauss(c, 0.1 * s) for _ in range(5)] for c, s in zip(centres, spreads, strict=True)]
        )
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= truth <= found.high
    # four standard errors of a share of .95 over the trials
    assert covered / trials == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / trials) ** 0.5)


def test_importing_it_loads_no_scipy() -> None:
    code = "import sys, memrot.stats; sys.exit('scipy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
