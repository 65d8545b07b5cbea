"""Comparisons: differences by hand, verdicts from the data alone, exit codes for CI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memrot.cli import exits
from memrot.compare import Bound, compare, render
from memrot.compare.text import verdict
from memrot.errors import BadInput
from memrot.results import Scored
from memrot.stats import difference
from rows import cell, failed
from running import environment, exams, inside, memrot

SEEDS = range(1, 6)


def row(stack: str, level: Callable[[str, int], float], **scores: dict[str, int]) -> list[Scored]:
    return [
        cell(stack, scenario, seed, metrics={"lifecycle": level(scenario, seed)}, **scores)  # type: ignore[arg-type]  # counts by name
        for scenario in ("test/a", "test/b")
        for seed in SEEDS
    ]


def flat(_: str, seed: int) -> float:
    return 0.9 + 0.001 * seed


def worse_in_b(scenario: str, seed: int) -> float:
    return flat(scenario, seed) - (0.2 + 0.0001 * seed if scenario == "test/b" else 0.02)


# --- numbers ---------------------------------------------------------------------------------


def test_differences_are_paired_by_timeline_whatever_the_order() -> None:
    ours, theirs = row("x", flat), row("x+ttl", worse_in_b)
    found = compare("one", ours, "two", theirs[::-1])
    (change,) = found.changes
    values = [
        {name: [level(name, seed) for seed in SEEDS] for name in ("test/a", "test/b")}
        for level in (flat, worse_in_b)
    ]
    assert change.metric == "lifecycle"
    assert change.difference == difference(values[1], values[0])
    assert change.difference.mean == pytest.approx(-(0.02 + 0.2003) / 2)
    assert (change.first, change.second) == pytest.approx((0.903, 0.903 - 0.11015))
    assert (found.timelines, found.left_out) == (10, 0)


def test_the_scenarios_that_drive_a_difference_are_named_with_their_share() -> None:
    (change,) = compare("one", row("x", flat), "two", row("y", worse_in_b)).changes
    (driver,) = change.drivers
    assert driver.scenario == "test/b"
    assert driver.share == pytest.approx(0.2003 / 0.2203)


def test_what_only_one_side_answered_is_left_out_and_counted() -> None:
    ours, theirs = row("x", flat), row("y", flat)
    theirs[0] = failed("y", "test/a", 1)
    found = compare("one", ours, "two", theirs)
    assert (found.timelines, found.left_out) == (9, 1)
    assert "9 timelines that both answered; 1 others were not answered by both" in render(found)
    with pytest.raises(BadInput, match="one and two answered no timeline in common"):
        compare("one", ours, "two", [failed("y")])


def test_p_values_are_corrected_over_the_metrics_shown() -> None:
    metrics = ("lifecycle", "coverage", "recall")

    def both(wobble: float) -> list[Scored]:
        return [
            cell("x", seed=seed, metrics={name: seed * wobble * (place + 1) for place, name in enumerate(metrics)})
            for seed in SEEDS
        ]  # fmt: skip

    changes = compare("one", both(0.0), "two", both(0.01)).changes
    raw = changes[0].difference.p
    assert raw is not None
    assert [each.p for each in changes] == pytest.approx([3 * raw] * 3)


# --- words -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", ["ttl", "supersession", "propagation"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_missing_layer_is_named_by_its_leaks(layer: str, turned: bool) -> None:
    """Whatever the rows are called: here their names say the contrary."""
    without = [
        cell("x", seed=seed, metrics={"lifecycle": 0.5 + seed / 100}, leaks={layer: 90 + seed})
        for seed in SEEDS
    ]
    with_it = [cell("y", seed=seed, metrics={"lifecycle": 0.9 - seed / 100}) for seed in SEEDS]
    sides = [("has " + layer, without), ("bare", with_it)]
    (first, ours), (second, theirs) = sides if turned else sides[::-1]
    said = verdict(compare(first, ours, second, theirs))
    counts = "465 to 0" if turned else "0 to 465"
    assert (
        f"{layer} leaks {'vanish' if turned else 'appear'} ({counts}): {layer} is what is missing in has {layer}."
        in said
    )
    assert sum("missing" in line for line in said) == 1
    assert said[0].startswith(f"bare is better than has {layer}: lifecycle ")


def test_hedged_leaks_are_the_doing_of_ttls_and_of_nothing_else() -> None:
    """A soft TTL hedges its leaks: it is there. Hedged propagation leaks are leaks all the same."""
    ours = [cell("x", seed=seed) for seed in SEEDS]
    theirs = [cell("y", seed=seed, hedged={"ttl": 50 + seed, "propagation": 50 + seed}) for seed in SEEDS]
    said = " ".join(verdict(compare("one", ours, "two", theirs)))
    assert "propagation is what is missing in two" in said
    assert "ttl" not in said


def test_leaks_on_both_sides_name_no_missing_layer() -> None:
    ours = [cell("x", seed=seed, leaks={"propagation": 50 + seed}) for seed in SEEDS]
    theirs = [cell("y", seed=seed, leaks={"propagation": 100 - seed}) for seed in SEEDS]
    said = verdict(compare("one", ours, "two", theirs))
    assert "propagation leaks on both sides, more in two (265 to 485)." in said
    said = verdict(compare("one", ours, "two", [*reversed(ours)]))
    assert "propagation leaks on both sides (265 to 265)." in said
    assert "No layer's leaks tell the two apart." in verdict(
        compare("one", row("x", flat), "two", row("y", flat))
    )


def test_a_few_leaks_on_one_timeline_name_no_layer() -> None:
    ours = [cell("x", seed=seed) for seed in SEEDS]
    theirs = [cell("y", seed=seed, leaks={"supersession": 2 if seed == 1 else 0}) for seed in SEEDS]
    assert "supersession leaks appear (0 to 2), on too few timelines to name a layer." in verdict(
        compare("one", ours, "two", theirs)
    )


def test_leaks_on_every_one_of_two_timelines_name_a_layer() -> None:
    """Two timelines give no p-value to speak of, and need none."""
    ours = [cell("x", seed=seed) for seed in (1, 2)]
    theirs = [cell("y", seed=seed, leaks={"propagation": 900 * seed}) for seed in (1, 2)]
    assert "propagation leaks appear (0 to 2700): propagation is what is missing in two." in verdict(
        compare("one", ours, "two", theirs)
    )


def test_what_was_lost_is_said_with_its_cause() -> None:
    ours = [cell("x", seed=seed, metrics={"coverage_key": 0.9 + seed / 100}) for seed in SEEDS]
    theirs = [
        cell(
            "y", seed=seed, metrics={"coverage_key": 0.7 + seed / 90}, misses={"expired": 30, "outranked": 2}
        )
        for seed in SEEDS
    ]
    said = verdict(compare("one", ours, "two", theirs))
    assert any(line.startswith("two covers less of what is true (coverage_key -0.1") for line in said)
    assert any("most of it expired" in line for line in said)


def test_what_cannot_be_told_apart_is_said_to_be_so() -> None:
    same = row("x", flat)
    assert "cannot be told apart" in verdict(compare("one", same, "two", row("y", flat)))[0]
    one = [cell("x", metrics={"lifecycle": 0.9})]
    other = [cell("y", metrics={"lifecycle": 0.5})]
    assert "one seed a scenario cannot tell" in verdict(compare("one", one, "two", other))[0]


# --- bounds ----------------------------------------------------------------------------------


def test_bounds() -> None:
    found = compare("one", row("x", flat), "two", row("y", worse_in_b))
    assert Bound.parse("lifecycle<-0.02").broken_by(found) == "lifecycle differs by -0.1102, under -0.02"
    assert Bound.parse(" lifecycle < -.2 ").broken_by(found) is None
    assert Bound.parse("lifecycle>1e-3").broken_by(found) is None
    assert Bound.parse("lifecycle>-1").broken_by(found) == "lifecycle differs by -0.1102, over -1"
    assert Bound.parse("recall<-1").broken_by(found) == "the difference in recall is undefined"


@pytest.mark.parametrize("text", ["lifecycle", "speed<1", "lifecycle=1", "lifecycle<nan", "lifecycle<", ""])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--fail-on: expected METRIC<VALUE or METRIC>VALUE"):
        Bound.parse(text)


# --- the command line ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two finished runs in ``results/``."""
    home = tmp_path_factory.mktemp("home")
    stacks = ("--stack=chroma+all", "--stack=chroma+ttl+supersession")
    for name, chosen in (("before", stacks[:1]), ("now", stacks)):
        done = memrot(
            "run", *chosen, *exams(home, 3), "--embedder", "hashing", "--out", home / "results" / name,
            env=environment(home),
        )  # fmt: skip
        assert done.returncode == exits.OK, done.stderr
    return home


def test_the_layer_that_chroma_misses_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    done = inside("compare", "chroma+all", "chroma+supersession+ttl")
    assert done.returncode == exits.OK, done.stderr
    assert "propagation is what is missing in chroma+ttl+supersession." in done.stdout
    assert done.stdout.count("is what is missing") == 1
    named = inside("compare", "results/now", "chroma+all", "chroma+ttl+supersession", "--format", "markdown")
    assert "| lifecycle" in named.stdout
    done = inside(
        "compare",
        "chroma+all",
        "chroma+ttl+supersession",
        "--fail-on",
        "consistency<-0.0001",
        "--fail-on",
        "recall<-1",
    )
    assert done.returncode == exits.UNDER
    (said,) = done.stderr.splitlines()
    assert said.startswith("chroma+ttl+supersession: consistency differs by -0.0")


def test_two_runs_are_compared_by_the_stacks_that_they_share(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    done = inside("compare", "results/before", "results/now", "--fail-on", "lifecycle<0")
    assert done.returncode == exits.OK, done.stderr
    assert done.stdout.startswith("chroma+all\nfirst: results/before\nsecond: results/now\n")
    assert "cannot be told apart by their lifecycle scores (lifecycle +0.000" in done.stdout


def test_what_cannot_be_compared_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    for arguments, said in (
        (
            ["chroma+all", "redis"],
            "stack 'redis' is not in results/now: expected one of chroma+all, chroma+ttl",
        ),
        (["results/now", "chroma+all"], "expected two runs, or two stacks, or a run and two stacks"),
        (["chroma+all"], "expected two runs, or two stacks, or a run and two stacks"),
        (["nowhere", "chroma", "chroma+all"], "nowhere: not the folder of a run"),
    ):
        done = inside("compare", *arguments)
        assert done.returncode == exits.BAD_INPUT
        assert said in done.stderr
    monkeypatch.chdir(home / "results" / "now")
    assert "results: no finished run here" in inside("compare", "chroma", "chroma+all").stderr
