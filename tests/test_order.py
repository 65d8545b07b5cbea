"""What a leaderboard says of its own order: stability, repeats, what was answered, what leads what."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats as scipy_stats

from memrot import leaderboard, run
from memrot.leaderboard import Board
from memrot.leaderboard.lead import LAGS, by_lag, in_words
from memrot.leaderboard.repeats import repeated
from memrot.leaderboard.rows import Leaderboard, comparable, grouped
from memrot.leaderboard.rows import row as row_of
from memrot.leaderboard.stability import STABLE, halves, stability, tau_b
from memrot.leaderboard.stability import in_words as said_of
from memrot.results import Scored
from memrot.run import Request
from memrot.stats import ranks
from rows import TERMS, cell, failed
from running import tiny

SCENARIOS = "abcdefgh"


def board(cells: Sequence[Scored]) -> Board:
    """A leaderboard of cells made by hand, without controls."""
    rows = grouped(cells)
    places = {label: rank for group in comparable(rows) for label, rank in ranks(group).items()}
    return Board(
        table=Leaderboard(
            suite="1.0.0", scoring=1, k=5, forget_within=3, embedder=TERMS.embedder,
            timelines=tuple(dict.fromkeys(each.cell.timeline for each in cells)),
            rows=tuple(row_of(label, found, places.get(label)) for label, found in rows.items()),
        ),
        cells=rows, broken=[], leaking=0,
    )  # fmt: skip


# --- stability -------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_over_all_pairs_it_is_kendalls_tau_b(points: list[tuple[int, int]]) -> None:
    signs = [((a > c) - (a < c), (b > d) - (b < d)) for (a, b), (c, d) in combinations(points, 2)]
    found, known = tau_b(signs), scipy_stats.kendalltau(*zip(*points, strict=True)).statistic
    assert (found is None and known != known) or found == pytest.approx(known)  # noqa: PLR0124 - NaN


@pytest.mark.parametrize("seeds", [4, 5, 9])
def test_halves_use_every_seed_alike(seeds: int) -> None:
    found = halves(seeds)
    assert len(set(found)) == len(found) == seeds
    assert {len(half) for half in found} == {seeds // 2}
    assert all(sum(place in half for half in found) == seeds // 2 for place in range(seeds))


def scattered(level: float, seed: int, seeds: int = 5) -> dict[str, list[float]]:
    rng = random.Random(seed)
    return {name: [level + rng.gauss(0, 0.02) for _ in range(seeds)] for name in SCENARIOS}


def test_rows_far_apart_keep_their_order_and_near_ones_are_not_asked() -> None:
    rows = {"best": scattered(0.9, 1), "one": scattered(0.5, 2), "other": scattered(0.5, 3)}
    found = stability([rows])
    assert found is not None
    assert (found.tau, found.worst, found.halvings) == (1, 1, 5)
    assert (found.pairs, found.of) == (2, 3)
    assert "tau-b 1.000 (worst 1.000 of 5 ways of halving) over the 2 of 3 pairs" in said_of(found)


def test_an_order_that_half_of_the_seeds_contradicts_is_not_stable() -> None:
    """Seeds 1 and 2 differ by 1, seeds 3 and 4 by -0.1: significant, and -1 for two of four halvings."""
    flat = {name: [0.0] * 4 for name in SCENARIOS}
    lucky = {name: [1.0, 1.0, -0.1, -0.1] for name in SCENARIOS}
    found = stability([{"flat": flat, "lucky": lucky}])
    assert found is not None
    assert (found.tau, found.worst, found.pairs) == (0, -1, 1)
    assert found.tau < STABLE
    assert "THE ORDER IS NOT STABLE; more seeds are needed" in said_of(found)


def test_too_few_seeds_or_no_pair_apart_say_nothing() -> None:
    few = {"a": scattered(0.9, 1, seeds=3), "b": scattered(0.5, 2, seeds=3)}
    assert len(set(ranks(few).values())) == 2
    assert stability([few]) is None
    assert stability([{"a": scattered(0.5, 2), "b": scattered(0.5, 3)}]) is None
    assert stability([]) is None


def rows_of(seeds: int) -> list[Scored]:
    return [
        cell(
            stack, f"test/{scenario}", seed, metrics={"lifecycle": level + seed / 100 + ord(scenario) / 1000}
        )
        for stack, level in (("x", 0.5), ("x+all", 0.8))
        for scenario in "ab"
        for seed in range(1, seeds + 1)
    ]


def test_a_leaderboard_says_it_below_its_table_with_four_seeds() -> None:
    text = leaderboard.render(board(rows_of(4)))
    assert "Kendall's tau-b 1.000" in text
    assert text.index("Every stack") < text.index("Kendall's tau-b")
    assert "Kendall's tau-b" not in leaderboard.render(board(rows_of(3)))


# --- what was answered -----------------------------------------------------------------------


def line(text: str, stack: str) -> list[str]:
    (found,) = [
        words for words in map(str.split, text.splitlines()) if words[:1] == [stack] and "/" in words[-1]
    ]
    return found


def test_how_much_of_the_exam_was_answered_is_a_column() -> None:
    cells = rows_of(4)
    cells[0] = failed("x", "test/a", 1)
    made = board(cells)
    text = leaderboard.render(made)
    assert line(text, "x")[-1] == "7/8"
    assert line(text, "x")[1] == "-", "no rank among rows that answered more"
    assert line(text, "x+all")[-1] == "8/8"
    assert line(text, "x+all")[1] == "1-1"
    nothing = board([*(failed("x", "test/a", seed) for seed in (1, 2)), *rows_of(2)[4:]])
    assert line(leaderboard.render(nothing), "x")[-1] == "0/2"


def test_what_no_timeline_scores_is_shown_without_a_rank() -> None:
    """Two stacks over probes of history alone, or over none."""
    both = board([cell(stack, seed=seed) for stack in ("chroma", "qdrant") for seed in (1, 2)])
    assert [row.rank for row in both.table.rows] == [None, None]
    assert "chroma" in leaderboard.render(both)
    assert "chroma" in leaderboard.broken_down(both, "scenario", "table")


def test_ranks_without_each_scenario_are_shown() -> None:
    cells = rows_of(4)
    text = leaderboard.broken_down(board(cells), "scenario")
    _, _, below = text.partition("Ranks without one scenario")
    assert [words for words in map(str.split, below.splitlines()) if words[:1] == ["x"]] == [
        ["x", "2-2", "2-2", "2-2"]
    ]
    assert "Ranks without" not in leaderboard.broken_down(
        board([each for each in cells if each.cell.timeline.id == "test/a"]), "scenario"
    )


# --- repeats ---------------------------------------------------------------------------------


def test_repeats_by_hand() -> None:
    first = cell("x", metrics={"lifecycle": 0.5, "recall": 0.1})
    same = cell("x", metrics={"lifecycle": 0.5, "recall": 0.1 + 1e-12})
    other = cell("x", metrics={"lifecycle": 0.7, "recall": None})
    assert repeated("x", [[first], [first]]) is None
    found = repeated("x", [[first, same], [first, other, same], [first], [first, failed("x")]])
    assert found is not None
    assert (found.cells, found.times, found.differing) == (3, 3, 2)
    assert found.spread == pytest.approx(0.2)


def test_a_second_run_shows_how_far_a_backend_repeats_itself(tmp_path: Path) -> None:
    exam = tmp_path / "x.timeline.jsonl"
    tiny(1).write(exam)
    runs = [
        run.run(
            Request(stacks=stacks, scenarios=(str(exam),), out=tmp_path / name, embedder="hashing", jobs=1)
        )
        for name, stacks in (("first", ("exact", "exact+ttl")), ("second", ("exact",)))
    ]
    assert leaderboard.of(runs[0]).repeats == ()
    made = leaderboard.of(*runs)
    (only,) = made.repeats
    assert (only.stack, only.cells, only.times, only.differing, only.spread) == ("exact", 1, 2, 0, 0)
    text = leaderboard.render(made)
    assert "Measured more than once" in text
    assert "1 × 2" in text
    assert "Measured more" not in leaderboard.render(structs.replace(made, repeats=()))


# --- contamination as a leading indicator ----------------------------------------------------


def correlations(*values: float | None) -> list[float | None]:
    return [*values, *[None] * (len(LAGS) - len(values))]


def test_what_leads_is_told_from_what_comes_along() -> None:
    cells = [
        cell("x", seed=1, lead=correlations(-0.4, -0.6, -0.9, -0.55, -0.1)),
        cell("x", seed=2, lead=correlations(-0.2, -0.6, -0.7, -0.45, -0.1)),
    ]
    found = by_lag(cells)
    assert [each and round(each.mean, 3) for each in found[:6]] == [-0.3, -0.6, -0.8, -0.5, -0.1, None]
    said = in_words([
        ("leads", found),
        ("along", by_lag([cell("y", lead=correlations(-0.9, -0.8, -0.1))])),
        ("too", by_lag([cell("z", lead=correlations(-0.9, -0.8, -0.1))])),
        ("weak", by_lag([cell("z", lead=correlations(-0.1, -0.2, 0.1))])),
        ("none", by_lag([cell("w", lead=correlations())])),
    ])  # fmt: skip
    assert said[:3] == [
        "leads: strongest 2 stages ahead (-0.80); still -0.50 at 3 stages ahead.",
        "along, too: strongest at the same stage (-0.90); still -0.80 at 1 stages ahead.",
        "weak: contamination says little of consistency at any lag (at most -0.20).",
    ]
    assert said[3].startswith("In 1 of 4 rows contamination leads: it goes with consistency later more than ")
    assert len(said) == 5
    assert in_words([("none", by_lag([failed("x")]))]) == [
        "No row has stages enough, or contamination enough, for a correlation."
    ]


def test_it_is_a_table_and_words() -> None:
    made = board([cell("x", seed=seed, lead=[-1.0, -0.5, *[None] * 9]) for seed in (1, 2)])
    text = leaderboard.broken_down(made, "lead")
    assert ["x", "-1.00", "-0.50", *["-"] * 9] in [row.split() for row in text.splitlines()]
    assert "In 0 of 1 rows contamination leads" in text
    assert "- In 0 of 1 rows" in leaderboard.broken_down(made, "lead", "markdown")
