"""Policies as files: read, checked, and written so that they read the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot.errors import BadInput
from memrot.layers.base import Bands
from memrot.layers.policy import ACTIONS, DEFAULT, REGULATED, WEIBULL, ClassPolicy, Policy
from memrot.retention.policy import parse, read, table, written

REQUIRED = '[classes.regulated]\nttl_days = 30\naction = "delete"\n'


@pytest.mark.parametrize("policy", [DEFAULT, WEIBULL])
def test_the_built_in_ones_are_valid_files(policy: Policy) -> None:
    assert parse(written(policy)) == policy


names = (
    st.text(min_size=1, max_size=8)
    .map(str.lower)
    .filter(lambda name: name.lower() == name and name != REGULATED)
)
days = st.floats(0.001, 1e6, allow_nan=False)
classes = (
    st.builds(ClassPolicy, half_life_days=days, shape=st.floats(0.1, 3), action=st.sampled_from(ACTIONS))
    | st.builds(ClassPolicy, ttl_days=st.integers(0, 10_000), stated_end=st.booleans(), grace_days=days)
    | st.builds(ClassPolicy, grace_days=days)
)


@given(st.dictionaries(names, classes, max_size=3), st.floats(0.4, 1), st.floats(0.01, 0.4))
def test_what_is_written_reads_the_same(some: dict[str, ClassPolicy], high: float, low: float) -> None:
    regulated = ClassPolicy(ttl_days=30, action="delete")
    policy = Policy(classes={**some, REGULATED: regulated}, bands=Bands(high, low))
    assert parse(written(policy)) == policy


def test_classes_are_read_without_regard_to_case(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[classes.TECH]\nhalf_life_days = 90\n" + REQUIRED)
    assert read(file).of("tech").half_life_days == 90


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[classes.tech]\nhalf_life_days = 90\n", "expected a class 'regulated' with ttl_days and action"),
        ("[classes.regulated]\naction = 'delete'\n", "class 'regulated': expected ttl_days"),
        ("[classes.regulated]\nttl_days = 30\n", "class 'regulated': expected ttl_days"),
        ("[classes.regulated]\nttl_days = 30\naction = 'archive'\n", "class 'regulated': expected ttl_days"),
        (REQUIRED + "[classes.z]\nttl_days = -1\n", "class 'z': expected ttl_days from 0"),
        (REQUIRED + "[classes.z]\nttl_days = 1.5\n", "int"),
        (REQUIRED + "[classes.z]\nhalf_life_days = 0\n", "class 'z': expected half_life_days above 0"),
        (REQUIRED + "[classes.z]\nhalf_life_days = inf\n", "above 0, got inf"),
        (REQUIRED + "[classes.z]\nhalf_life_days = nan\n", "above 0, got nan"),
        (REQUIRED + "[classes.z]\nhalf_life_days = 9\nttl_days = 9\n", "class 'z': half_life_days stands alone"),
        (REQUIRED + "[classes.z]\nhalf_life_days = 9\nstated_end = true\n", "stands alone"),
        (REQUIRED + "[classes.z]\nttl_days = 9\nshape = 0.5\n", "expected a shape above 0, and with half_life_days"),
        (REQUIRED + "[classes.z]\nhalf_life_days = 9\nshape = 0\n", "expected a shape above 0"),
        (REQUIRED + "[classes.z]\ngrace_days = -1\n", "expected grace_days from 0"),
        (REQUIRED + "[classes.z]\naction = 'forget'\n", "actions are verify, demote, archive, delete"),
        (REQUIRED + "[classes.z]\nhalflife = 9\n", "halflife"),
        (REQUIRED + "[classes.z]\n[classes.Z]\n", "differ in their case only"),
        ("[bands]\nassert_from = 0.3\n" + REQUIRED, "expected 0 < hedge_from <= assert_from <= 1"),
        ("[bands]\nhedge_from = 0\n" + REQUIRED, "expected 0 < hedge_from"),
        ("colour = 1\n" + REQUIRED, "colour"),
        ("", "classes"),
        ("[classes", "expected TOML"),
    ],
)  # fmt: skip
def test_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(BadInput) as refusal:
        read(file)
    assert str(refusal.value).startswith(f"{file}: ")
    assert message in str(refusal.value)


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="expected TOML in UTF-8"):
        read(tmp_path / "odd.toml")


def test_the_table_says_when_belief_changes() -> None:
    rows = {row[0]: row[1:] for row in table(DEFAULT)}
    assert rows["slow_attribute"] == ["half-life 730 d", "verify", "454", "1168"]
    assert rows["commitment"] == ["stated end + 7 d; 90 d where none is stated", "archive", "-", "91"]
    assert rows["session"] == ["0 d since the last touch", "delete", "-", "1"]
    assert rows["identity"] == ["no expiry", "-", "-", "-"]
    assert "Weibull shape 0.62" in {row[0]: row for row in table(WEIBULL)}["preference"][1]
