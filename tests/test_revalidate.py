"""Drifting quantities: what is measured of them, which policies keep up, and which run after noise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from memrot import readings as files
from memrot import registry, revalidate, timeline
from memrot.errors import BadInput
from memrot.model import DAY, FactAdded, FactConfirmed, FactRevised, Key, Reading
from memrot.readings import Belief, Header, Readings, by_key
from memrot.revalidate import Beliefs, follow, measure, proposals
from memrot.truth import GroundTruth
from running import START, inside

KEY: Key = ("checkout", "p95_latency_ms")
OTHER: Key = ("Otter", "team_size")


def made(*found: tuple[float, float], key: Key = KEY, tolerance: float = 0.1) -> Readings:
    """Readings as (day, value)."""
    lines = [Reading(key, value, START + round(day * DAY), tolerance) for day, value in found]
    return Readings(Header(type="readings", id="test"), by_key(lines))


def held(*found: tuple[float, float], key: Key = KEY) -> dict[Key, tuple[Belief, ...]]:
    return {key: tuple(Belief(key, value, START + round(day * DAY)) for day, value in found)}


def days(beliefs: Beliefs) -> list[tuple[float, float]]:
    return [((each.at - START) / DAY, each.value) for each in beliefs[KEY]]


def test_measured_by_hand() -> None:
    """Right for 10 days, half of the truth for 5, right for 5 again."""
    readings = made((0, 100), (10, 200), (20, 200))
    found = measure(held((0, 100), (15, 200)), readings)
    assert found.error == pytest.approx(0.5 * 5 / 20)
    assert found.within == pytest.approx(15 / 20)
    assert found.age_days == pytest.approx((7.5 * 15 + 2.5 * 5) / 20)
    assert (found.revisions, found.confirmations, found.noise) == (1, 0, 0)


def test_time_without_a_value_is_no_error_and_not_within() -> None:
    late = measure(held((15, 150)), made((0, 100), (10, 200), (20, 200)))
    assert late.within == 0
    assert (late.error, late.age_days) == pytest.approx((0.25, 2.5))
    none = measure({}, made((0, 100), (10, 200)))
    assert (none.error, none.within, none.age_days, none.noise) == (None, 0.0, None, None)
    with pytest.raises(
        BadInput, match=r"a belief about .'Otter', 'team_size'., of which there is no reading"
    ):
        measure(held((0, 5), key=OTHER), made((0, 100), (10, 200)))


def test_keys_weigh_equally_however_often_they_are_read() -> None:
    often = made(*((day, 100) for day in range(21)))
    both = Readings(often.header, {**often.of, **made((0, 8), (20, 8), key=OTHER).of})
    beliefs = {**held((0, 100)), **held((0, 4), key=OTHER)}
    assert measure(beliefs, both).error == pytest.approx((0 + 0.5) / 2)


def test_policies() -> None:
    readings = made((0, 100), (3, 105), (6, 150), (9, 104), (12, 150), (15, 151), (21, 150))
    assert days(follow("never", readings)) == [(0, 100)]
    assert days(follow("always", readings)) == [
        (0, 100),
        (3, 105),
        (6, 150),
        (9, 104),
        (12, 150),
        (15, 151),
        (21, 150),
    ]
    assert days(follow("every:7", readings)) == [(0, 100), (7, 150), (14, 150), (21, 150)]
    assert days(follow("every:10", readings)) == [(0, 100), (10, 100), (20, 151)]
    assert days(follow("beyond", readings)) == [
        (0, 100), (3, 100), (6, 150), (9, 104), (12, 150), (15, 150), (21, 150),
    ]  # fmt: skip
    assert days(follow("beyond:2", readings)) == [(0, 100), (3, 100), (9, 100), (15, 151), (21, 151)]


@pytest.mark.parametrize("policy", ["", "every", "every:0", "every:-1", "beyond:x", "sometimes", "always:2"])
def test_unknown_policies_are_refused(policy: str) -> None:
    with pytest.raises(BadInput, match="expected never, always, every:DAYS"):
        follow(policy, made((0, 100)))


def test_noise_is_what_need_not_have_been_revised_or_is_taken_back() -> None:
    readings = made((0, 100), (3, 105), (6, 150), (9, 104), (12, 150), (15, 151))
    assert measure(held((0, 100), (3, 105)), readings).noise == 1, "105 was within tolerance of 100"
    assert measure(held((0, 100), (6, 150)), readings).noise == 0
    assert measure(held((0, 100), (6, 150), (9, 104)), readings).noise == pytest.approx(1 / 2), (
        "150 was taken back"
    )
    steady = measure(follow("beyond:2", readings), readings)
    jumpy = measure(follow("beyond", readings), readings)
    assert (steady.noise, steady.revisions) == (0, 1)
    assert jumpy.noise is not None
    assert jumpy.noise > 0.5


# --- properties ------------------------------------------------------------------------------

SERIES = st.lists(
    st.tuples(st.integers(0, 60), st.floats(1, 1000)), min_size=2, max_size=25, unique_by=lambda pair: pair[0]
)


def sampled(beliefs: Sequence[Belief], found: Sequence[Reading], step: int) -> tuple[float, float]:
    """The definition read literally: look at the middle of every step."""
    errors, within = [], []
    for at in range(found[0].at + step // 2, found[-1].at, step):
        reading = [each for each in found if each.at <= at][-1]
        told = [each for each in beliefs if each.at <= at]
        if told:
            errors.append(abs(told[-1].value - reading.value) / abs(reading.value))
            within.append(errors[-1] <= reading.tolerance)
        else:
            within.append(False)
    return sum(errors) / len(errors) if errors else 0.0, sum(within) / len(within)


@given(found=SERIES, told=SERIES)
def test_shares_of_time_agree_with_looking_every_hour(
    found: list[tuple[int, float]], told: list[tuple[int, float]]
) -> None:
    readings = made(*found)
    beliefs = {KEY: tuple(sorted(held(*told)[KEY], key=lambda each: each.at))}
    got = measure(beliefs, readings)
    error, within = sampled(beliefs[KEY], readings.of[KEY], DAY // 4)
    assert (got.error or 0.0) == pytest.approx(error)
    assert got.within == pytest.approx(within)


@given(found=SERIES, factor=st.sampled_from([0.5, 4.0]), later=st.integers(-90, 90))
def test_units_and_calendars_change_nothing(
    found: list[tuple[int, float]], factor: float, later: int
) -> None:
    plain = made(*found)
    other = made(*((day + later, value * factor) for day, value in found))
    for policy in revalidate.POLICIES:
        one, two = (measure(follow(policy, each), each) for each in (plain, other))
        assert structs.astuple(one) == pytest.approx(structs.astuple(two), nan_ok=True)


@given(found=SERIES)
def test_what_each_policy_promises(found: list[tuple[int, float]]) -> None:
    readings = made(*found)
    results = {policy: measure(follow(policy, readings), readings) for policy in revalidate.POLICIES}
    assert results["always"].error == 0
    assert results["always"].within == results["beyond"].within == 1
    assert results["never"].revisions == results["never"].confirmations == 0
    for result in results.values():
        assert result.error is not None
        assert 0 <= result.within <= 1


@given(found=SERIES, policy=st.sampled_from(revalidate.POLICIES))
def test_proposals_are_a_timeline_that_ends_in_the_beliefs(
    found: list[tuple[int, float]], policy: str
) -> None:
    readings = made(*found)
    beliefs = follow(policy, readings)
    exam = proposals(beliefs, readings)
    result = measure(beliefs, readings)
    kinds = [type(event) for event in exam.events]
    assert kinds.count(FactAdded) == 1
    assert kinds.count(FactRevised) == result.revisions
    assert kinds.count(FactConfirmed) == result.confirmations
    truth = GroundTruth.of(exam)
    (true,) = truth.true_of_key(KEY, len(exam.stages) - 1)
    assert truth.facts[true].value == f"{beliefs[KEY][-1].value:g}"


# --- files -----------------------------------------------------------------------------------


def test_readings_survive_a_file(tmp_path: Path) -> None:
    both = Readings(
        Header(type="readings", id="x", seed=3, note="n"),
        {**made((0, 1.5), (2, 3)).of, **made((1, 8), key=OTHER).of},
    )
    for name in ("a.readings.jsonl", "a.readings.jsonl.gz"):
        files.write(tmp_path / name, both)
        assert files.read(tmp_path / name) == both


LINE = {"key": list(KEY), "value": 180, "at": "2026-01-05T09:00:00Z", "tolerance": 0.1}
HEADER = {"type": "readings"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([LINE], ":1: no header"),
        ([], "found an empty file"),
        ([HEADER], "expected at least one reading"),
        ([{**HEADER, "format": 2}, LINE], ":1: format 2 is newer"),
        ([{**HEADER, "more": 1}, LINE], "more"),
        ([HEADER, {**LINE, "value": 0}], ":2: expected a reading that is not 0"),
        ([HEADER, {**LINE, "tolerance": -1}], ":2: expected a tolerance of 0 or more"),
        ([HEADER, {**LINE, "at": "2026-01-05T09:00:00"}], "has no zone"),
        ([HEADER, {**LINE, "key": "checkout"}], "$.key"),
        ([HEADER, {**LINE, "unit": "ms"}], "unit"),
        ([HEADER, {name: value for name, value in LINE.items() if name != "tolerance"}], "tolerance"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, lines: list[object], message: str) -> None:
    path = tmp_path / "x.readings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadInput) as refused:
        files.read(path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


# --- the generator ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generate() -> Callable[[int], Readings]:
    source = registry.readings("gradual")
    return lambda seed: Readings(Header(type="readings"), by_key(source.generate(seed)))


def test_a_seed_gives_the_same_readings_everywhere(
    generate: Callable[[int], Readings], tmp_path: Path
) -> None:
    files.write(tmp_path / "g.readings.jsonl", generate(1))
    digest = hashlib.sha256((tmp_path / "g.readings.jsonl").read_bytes()).hexdigest()
    assert digest[:16] == "f2529adbdc71d72f", "raise the revision with this"
    assert generate(1) != generate(2)


@pytest.mark.parametrize("seed", range(1, 6))
def test_some_quantities_drift_and_some_only_scatter(generate: Callable[[int], Readings], seed: int) -> None:
    readings = generate(seed)
    kept = {key: measure({key: beliefs}, Readings(readings.header, {key: readings.of[key]})).within
            for key, beliefs in follow("never", readings).items()}  # fmt: skip
    latencies = sorted(share for (_, what), share in kept.items() if what == "p95_latency_ms")
    assert latencies[2] < 0.7, "three move"
    assert latencies[3] > 0.85, "three stay"
    sizes = sorted(share for (_, what), share in kept.items() if what == "team_size")
    assert sizes[0] < 0.6
    assert sizes[-2:] == [1, 1]


@pytest.mark.parametrize("seed", range(1, 6))
def test_each_extreme_fails_in_its_own_way(generate: Callable[[int], Readings], seed: int) -> None:
    readings = generate(seed)
    found = {policy: measure(follow(policy, readings), readings) for policy in revalidate.POLICIES}
    assert found["never"].within < 0.7
    lazy_to_eager = [found[name].within for name in ("never", "every:90", "every:30", "every:7")]
    assert all(before < after for before, after in pairwise(lazy_to_eager))
    always, patient = found["always"].noise, found["beyond:2"].noise
    assert always is not None
    assert patient is not None
    assert always > 0.9
    assert patient < 0.3
    assert found["beyond:2"].within > 0.85
    assert found["beyond:2"].revisions < found["always"].revisions / 10


# --- the command -----------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    kept, proposed = tmp_path / "g.readings.jsonl", tmp_path / "p.timeline.jsonl"
    shown = inside("revalidate", "gradual", "--write", kept)
    assert shown.returncode == 0
    assert [line.split()[0] for line in shown.stdout.splitlines()[2:9]] == list(revalidate.POLICIES)
    assert inside("revalidate", kept).stdout == shown.stdout, "a file is as good as its generator"
    done = inside("revalidate", kept, "--policy", "every:30", "--propose", proposed, "--format", "json")
    (row,) = json.loads(done.stdout).values()
    exam = timeline.read(proposed)
    assert sum(isinstance(event, FactRevised) for event in exam.events) == row["revisions"]
    assert inside("timeline", "validate", proposed).returncode == 0
    mine = tmp_path / "mine.beliefs.jsonl"
    (first, *_) = files.read(kept).of.items()
    belief = {"key": first[0], "value": first[1][0].value, "at": "2024-01-08T09:00:00Z"}
    mine.write_text(json.dumps({"type": "beliefs"}) + "\n" + json.dumps(belief) + "\n")
    (measured,) = json.loads(
        inside("revalidate", kept, "--beliefs", mine, "--format", "json").stdout
    ).values()
    assert 0 < measured["within"] < 0.1, "of twelve keys it holds one"
    refused = inside("revalidate", kept, "--propose", proposed)
    assert refused.returncode == 2
    assert "exactly one --policy or --beliefs" in refused.stderr
    assert "expected one of project/gradual" in inside("revalidate", "sudden").stderr
