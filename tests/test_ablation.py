"""Ablation: effects and interactions against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot.ablation import SETS, TERMS, Layers, ablate, contrast, factorial, in_words, render
from memrot.cli import exits
from memrot.errors import BadInput
from memrot.results import Scored
from memrot.stats import holm, interval
from rows import cell, failed
from running import environment, exams, inside, memrot

T, S, P = ("ttl",), ("supersession",), ("propagation",)


def model(layers: Layers) -> float:
    """100 + 2T + 3S + 5P + 7TS + 11TP + 13SP + 16TSP."""
    t, s, p = ("ttl" in layers, "supersession" in layers, "propagation" in layers)
    return 100 + 2 * t + 3 * s + 5 * p + 7 * t * s + 11 * t * p + 13 * s * p + 16 * t * s * p


def test_contrasts_by_hand() -> None:
    """An effect is the mean over the others' four sets: T is 2, 2 + 7, 2 + 11 and 2 + 7 + 11 + 16, so 15."""
    values = {layers: model(layers) for layers in SETS}
    assert len(SETS) == 8
    assert contrast(T, values) == (2 + 9 + 13 + 36) / 4
    assert contrast(S, values) == (3 + 10 + 16 + 39) / 4
    assert contrast(P, values) == (5 + 16 + 18 + 45) / 4
    # an interaction: 7 without propagation, 7 + 16 with it
    assert contrast(T + S, values) == (7 + 23) / 2
    assert contrast(T + P, values) == (11 + 27) / 2
    assert contrast(S + P, values) == (13 + 29) / 2


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=8), st.floats(-1, 1))
def test_what_all_sets_share_has_no_effect(values: list[float], by: float) -> None:
    plain = dict(zip(SETS, values, strict=True))
    shifted = {layers: value + by for layers, value in plain.items()}
    for of in TERMS:
        assert contrast(of, shifted) == pytest.approx(contrast(of, plain), abs=1e-12)
    # without a factor that turns a pair's sign, an interaction is symmetric in its layers
    assert contrast(T + S, plain) == pytest.approx(contrast(S + T, plain), abs=1e-12)


def rows(value: Callable[[Layers, str, int], float], seeds: int = 3) -> list[Scored]:
    return [
        cell(
            "+".join(["x", *sorted(layers)]), scenario, seed,
            metrics={"lifecycle": value(layers, scenario, seed)},
            leaks={} if "propagation" in layers else {"propagation": 40 + seed},
        )
        for layers in SETS
        for scenario in ("test/a", "test/b")
        for seed in range(1, seeds + 1)
    ]  # fmt: skip


def test_intervals_are_those_of_each_timelines_contrast() -> None:
    """Seeds differ by what all sets share and by how strong propagation is."""

    def value(layers: Layers, scenario: str, seed: int) -> float:
        return (
            model(layers) / 1000 + seed * 10 + ("propagation" in layers) * seed / 100 * (scenario == "test/a")
        )

    found = ablate(factorial(rows(value), "x"))
    (line,) = found.metrics
    propagation = line.effects[TERMS.index(P)]
    by_hand = interval([[0.021 + seed / 100 for seed in (1, 2, 3)], [0.021] * 3])
    assert (propagation.on.mean, propagation.on.low, propagation.on.high) == pytest.approx(
        (by_hand.mean, by_hand.low, by_hand.high)
    )
    ttl = line.effects[TERMS.index(T)].on
    assert (ttl.mean, ttl.low, ttl.high) == pytest.approx((0.015, 0.015, 0.015))
    ps = [each.on.p for each in line.effects]
    assert [each.p for each in line.effects] == holm([p for p in ps if p is not None])
    assert line.bare == pytest.approx(20.1)
    assert found.timelines == 6


def test_leaks_are_counted_a_timeline_and_said_in_words() -> None:
    found = ablate(factorial(rows(lambda layers, _, seed: model(layers) / 1000 + seed / 100), "x"))
    (line,) = found.leaks
    assert (line.measure, line.bare) == ("propagation, asserted", 42)
    assert line.effects[TERMS.index(P)].on.mean == -42
    assert line.effects[TERMS.index(S + P)].on.mean == 0
    said = in_words(found)
    assert "propagation: lifecycle +0.021; propagation, asserted leaks a timeline -42.0" in said
    assert "ttl × supersession: lifecycle +0.015" in said
    text = render(found)
    assert "-42.0 ±" in text
    assert "-0.0 " not in text
    assert "| propagation, asserted" in render(found, "markdown")


def test_timelines_that_a_set_did_not_answer_are_left_out() -> None:
    cells = rows(lambda layers, *_: model(layers))
    found = ablate(factorial([failed("x+ttl", "test/a", 1) if place == 6 else each for place, each in enumerate(cells)], "x"))  # fmt: skip
    assert cells[6].cell.name.startswith(f"x+{'ttl'}--test-a-s1")
    assert found.timelines == 5


def test_what_is_missing_is_named_with_the_command_that_measures_it() -> None:
    cells = [each for each in rows(lambda *_: 1.0) if each.cell.stack.layers != ("ttl", "propagation")]
    with pytest.raises(BadInput, match=r"memrot run --stack 'x\+ttl\+propagation'$"):
        factorial(cells, "x")
    with pytest.raises(BadInput, match=r"--stack 'y' --stack 'y\+ttl'"):
        factorial(cells, "y")


def test_the_command_line(tmp_path: Path) -> None:
    sets = [f"--stack={'+'.join(['exact', *sorted(layers)])}" for layers in SETS]
    done = memrot(
        "run", *sets, *exams(tmp_path), "--embedder", "hashing", "--out", tmp_path / "results" / "run",
        env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == exits.OK, done.stderr
    done = inside("ablate", tmp_path / "results" / "run")
    assert done.returncode == exits.OK, done.stderr
    effects = {line.split()[0]: line.split() for line in done.stdout.splitlines() if " ±" in line}
    assert float(effects["lifecycle"][4]) > 0, "supersession is worth something"
    refused = inside("ablate", tmp_path / "results" / "run", "--adapter", "exact+ttl")
    assert "expected an adapter without layers" in refused.stderr
    assert "not every set of layers over chroma" in inside("ablate", tmp_path / "results" / "run", "--adapter", "chroma").stderr  # fmt: skip
