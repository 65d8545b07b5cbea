"""The command line as a person or a script meets it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from memrot import observations, registry, timeline
from memrot.cli import exits
from running import environment, exams, inside, memrot

GOLDEN = Path(__file__).parent / "golden"
HASHING = ("--embedder", "hashing")


def line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a refusal; nothing on standard output."""
    assert done.returncode == exits.BAD_INPUT, (done.stdout, done.stderr)
    assert done.stdout == ""
    (only,) = done.stderr.splitlines()
    assert only.startswith("error: ")
    return only.removeprefix("error: ")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three stacks in ``home/run``."""
    home = tmp_path_factory.mktemp("home")
    done = memrot(
        "run", "--stack=exact", "--stack=exact+supersession", "--stack=exact+all", *exams(home), *HASHING,
        "--out", home / "run", "--metrics-file", home / "metrics.prom", env=environment(home),
    )  # fmt: skip
    assert done.returncode == exits.OK, done.stderr
    return home


# --- what it says when it is used wrongly ----------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "--stack", "croma"], "unknown adapter 'croma': expected one of "),
        (["run", "--stack", "exact+decay"], "unknown layer 'decay'"),
        (["run", "--stack", "exact+ttl+ttl"], "names the layer 'ttl' twice"),
        (["run", "--stack", "exact[fast]"], "exact takes no options"),
        (["run", "--stack", "chroma[server=http://h:1]"], "an address or a secret must not stand"),
        (["run", "--stack", "oracle"], "'oracle' is a control"),
        (["run", "--scenario", "no-such"], "unknown scenario 'no-such': expected one of person/"),
        (["run", "--scenario", "gone.timeline.jsonl"], "gone.timeline.jsonl: cannot be read: No such file"),
        (["run", "--profile", "huge"], "unknown profile 'huge': expected one of smoke, default, full"),
        (["run", "--embedder", "gpt"], "unknown embedder 'gpt': expected one of hashing, minilm"),
        (["run", "--k", "0"], "--k: expected a number from 1, got 0"),
        (["run", "--seeds", "0"], "--seeds: expected a number from 1, got 0"),
        (["run", "--jobs", "-1"], "--jobs: expected a number from 1, got -1"),
        (["run", "--timeout", "0"], "--timeout: expected seconds above 0"),
        (["run", "--timeout", "nan"], "--timeout: expected seconds above 0"),
        (["run", "--k", "five"], "memrot run: Invalid value for '--k'"),
        (["run", "--stak", "exact"], "memrot run: No such option: --stak"),
        (["run", "--fail-under", "speed=1"], "--fail-under: expected METRIC=VALUE with a metric of lifecycle"),
        (["run", "--fail-under", "contamination=0.1"], "abstention (more is better), got 'contamination=0.1'"),
        (["run", "--fail-under", "coverage"], "--fail-under: expected METRIC=VALUE"),
        (["run", "--out", "/dev/null/x"], "/dev/null/x: cannot be written: Not a directory"),
        (["run", "--metrics-file", "/dev/null/x"], "/dev/null/x: cannot be written: Not a directory"),
        (["run", "--metrics-file", "."], ".: cannot be written: Is a directory"),
        (["leaderboard", "nowhere", "--by", "domain", "--format", "json"], "--by prints a table or Markdown"),
        (["leaderboard", "nowhere"], "nowhere: not the folder of a run: expected a manifest.json"),
        (["diagnose", "nowhere"], "nowhere: not the folder of a run"),
        (["explain", "nowhere", "--stack", "exact"], "nowhere: not the folder of a run"),
        (["score", "a", "--timeline", "b"], "b: cannot be read: No such file or directory"),
        (["timeline", "validate", "b"], "b: cannot be read: No such file or directory"),
        (["timeline", "generate", "reorg", "-o", "/dev/null/x"], "/dev/null/x: cannot be written"),
        (["frobnicate"], "memrot: No such command 'frobnicate'"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line_and_writes_nothing(
    tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if arguments[0] == "run":
        arguments = [*arguments, *HASHING] if "--embedder" not in arguments else arguments
        arguments = [*arguments, "--out", "out/deep"] if "--out" not in arguments else arguments
    monkeypatch.chdir(tmp_path)
    assert said in line(inside(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_help_is_quick_and_tells_the_exit_codes() -> None:
    done = inside("--help")
    assert done.returncode == exits.OK
    text = " ".join(done.stdout.split())
    for code in (
        "0 all well",
        "1 a --fail-under",
        "2 the input",
        "3 the exam is broken",
        "4 something asked for",
    ):
        assert code in text
    code = "import time; t = time.process_time(); import memrot.cli; print(time.process_time() - t)"
    taken = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    )
    assert taken < 0.4


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=4
    )
)
@settings(max_examples=30)
def test_garbage_on_the_command_line_never_shows_a_traceback(words: list[str]) -> None:
    done = inside("timeline", *words)
    assert done.returncode in (exits.OK, exits.BAD_INPUT)
    assert "Traceback" not in done.stderr


# --- run -------------------------------------------------------------------------------------


def test_fail_under(home: Path) -> None:
    asked: tuple[str | Path, ...] = ("run", "--stack=exact", "--stack=exact+supersession", "--stack=exact+all", *exams(home), *HASHING,
             "--out", home / "run")  # fmt: skip
    done = memrot(
        *asked, "--fail-under", "coverage=0.5", "--fail-under", "consistency=0.9", env=environment(home)
    )
    assert done.returncode == exits.UNDER
    (said,) = done.stderr.splitlines()
    assert re.fullmatch(r"exact: consistency is 0\.\d{4}, under 0\.9", said)
    assert memrot(*asked, "--fail-under", "coverage=0.1", env=environment(home)).returncode == exits.OK


def test_gauges(home: Path) -> None:
    families = {
        family.name: family for family in text_string_to_metric_families((home / "metrics.prom").read_text())
    }
    assert set(families) == {
        f"memory_{name}" for name in ("freshness", "consistency", "coverage", "contamination", "forgetting")
    }
    table = json.loads((home / "run" / "leaderboard.json").read_text())
    means = {row["stack"]: row["metrics"]["consistency"] for row in table["rows"]}
    samples = {
        (sample.labels["stack"], sample.labels["domain"], sample.labels["scope"]): sample.value
        for sample in families["memory_consistency"].samples
    }
    assert samples["exact", "all", "whole"] == pytest.approx(means["exact"]["mean"])
    assert {key[1:] for key in samples if key[0] == "exact+all"} == {
        (domain, scope) for domain in ("all", "TECH") for scope in ("last", "whole")
    }
    assert samples["exact+all", "TECH", "last"] == 1
    assert samples["exact", "TECH", "last"] < 1


def test_an_unreadable_scenario_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    bad = tmp_path / "bad.timeline.jsonl"
    bad.write_text('{"type":"timeline","id":"x","domains":{}}\n{"type":"fact_confirmed","seq":1}\n')
    done = memrot("run", "--stack=exact", "--scenario", bad, *HASHING, "--out", tmp_path / "out")
    assert "bad.timeline.jsonl:2: " in line(done)
    assert not (tmp_path / "out").exists()


# --- what follows from a run -----------------------------------------------------------------


def test_leaderboard(home: Path) -> None:
    done = inside("leaderboard", home / "run")
    assert done.returncode == exits.OK
    assert "exact+supersession" in done.stdout
    as_json = inside("leaderboard", home / "run", "--format", "json")
    assert json.loads(as_json.stdout) == json.loads((home / "run" / "leaderboard.json").read_text())
    by_layer = inside("leaderboard", home / "run", "--by", "layer", "--format", "markdown")
    assert "| supersession" in by_layer.stdout
    assert line(inside("leaderboard", home / "run", "--by", "mood")).startswith(
        "memrot leaderboard: Invalid value"
    )


def test_diagnose(home: Path) -> None:
    done = inside("diagnose", home / "run")
    assert done.returncode == exits.OK
    leaks = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines()) if "/" in words}
    supersession = {stack: counts[4] for stack, counts in leaks.items()}
    assert int(supersession["exact"]) > 0
    assert supersession["exact+supersession"] == supersession["exact+all"] == "0"


def test_explain(home: Path) -> None:
    done = inside("explain", home / "run", "--stack", "exact", "--worst", "2")
    assert done.returncode == exits.OK
    assert done.stdout.count("\nasked  ") == 2
    assert "superseded" in done.stdout
    assert "\x1b" not in done.stdout, "no colour where nobody can see it"
    assert max(map(len, done.stdout.splitlines())) <= 100
    one = inside("explain", home / "run", "--stack", "exact", "--probe", "search-owner", "--worst", "1")
    assert "What is the owner of search?" in one.stdout
    assert "no stale hit" in inside("explain", home / "run", "--stack", "exact+all").stdout
    assert "expected one of exact, exact+supersession, exact+all, oracle" in line(
        inside("explain", home / "run", "--stack", "chroma")
    )
    assert "unknown probe" in line(inside("explain", home / "run", "--stack", "exact", "--probe", "x"))
    assert line(inside("explain", home / "run", "--stack", "exact", "--scenario", "reorg")) == (
        "scenario 'project/reorg' is not in this run: expected one of test/tiny"
    )


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()))
def test_score(case: str) -> None:
    folder = GOLDEN / case
    done = inside("score", folder / "observations.jsonl", "--timeline", folder / "timeline.jsonl", "--json")
    assert done.returncode == exits.OK, done.stderr
    scores, expected = json.loads(done.stdout), json.loads((folder / "expected.json").read_text())
    for name, value in expected.items():
        if name == "stages":
            for mine, theirs in zip(scores[name], value, strict=True):
                assert {metric: mine[metric] for metric in theirs} == pytest.approx(theirs, abs=1e-9)
        elif name == "cell":
            assert {metric: scores[name][metric] for metric in value} == pytest.approx(value, abs=1e-9)
        else:
            assert scores[name] == value
    text = inside("score", folder / "observations.jsonl", "--timeline", folder / "timeline.jsonl")
    shown = dict(row.split() for row in text.stdout.splitlines()[2:])
    lifecycle = scores["cell"]["lifecycle"]
    assert shown["lifecycle"] == ("-" if lifecycle is None else f"{lifecycle:.4f}")
    assert shown["probes"] == str(scores["cell"]["probes"]), "a count has no decimals"


def test_score_refuses_what_does_not_belong_together(home: Path, tmp_path: Path) -> None:
    cell = next((home / "run" / "cells").glob("exact+all--*s1--*"))
    right = next((home / "run" / "timelines").glob("*s1--*"))
    wrong = next((home / "run" / "timelines").glob("*s2--*"))
    assert inside("score", cell, "--timeline", right).returncode == exits.OK
    assert "made with another timeline" in line(inside("score", cell, "--timeline", wrong))
    torn = tmp_path / "torn.observations.jsonl.gz"
    torn.write_bytes(cell.read_bytes()[:-20])
    assert "torn.observations.jsonl.gz" in line(inside("score", torn, "--timeline", right))


# --- the exam --------------------------------------------------------------------------------


def test_timelines(tmp_path: Path) -> None:
    path = tmp_path / "reorg.timeline.jsonl.gz"
    done = inside("timeline", "generate", "reorg", "--seed", "3", "-o", path)
    assert done.returncode == exits.OK
    exam = timeline.read(path)
    assert exam.digest == registry.scenario("project/reorg").generate(3).digest
    assert f"digest {exam.digest[:12]}" in done.stdout
    valid = inside("timeline", "validate", path)
    assert (valid.returncode, valid.stdout) == (exits.OK, done.stdout)
    shown = inside("timeline", "show", path).stdout
    assert shown.startswith(done.stdout)
    assert "superseded" in shown
    assert "[the memory was not told]" in shown


def test_a_timeline_of_another_size(tmp_path: Path) -> None:
    path = tmp_path / "reorg.timeline.jsonl"
    for size in ("smoke", "1000"):
        assert inside("timeline", "generate", "reorg", "--size", size, "-o", path).returncode == exits.OK
        assert timeline.read(path).digest == registry.scenario("project/reorg").generate(1, size).digest
    refused = inside("timeline", "generate", "reorg", "--size", "huge", "-o", tmp_path / "x.jsonl")
    assert line(refused) == "expected smoke, default, or a number of events from 1000, got 'huge'"
    assert not (tmp_path / "x.jsonl").exists()


def test_a_leaking_probe_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "x.timeline.jsonl"
    path.write_text(
        '{"type":"timeline","id":"x","domains":{"D":{}}}\n'
        '{"type":"fact_added","seq":1,"at":"2026-01-05T09:00:00Z",'
        '"fact":{"id":"f","subject":"s","predicate":"p","value":"v","domain":"D","text":"t"}}\n'
        '{"type":"fact_invalidated","seq":2,"at":"2026-01-06T09:00:00Z","fact":"f","reason":"dropped"}\n'
        '{"type":"time_passed","seq":3,"at":"2026-01-07T09:00:00Z"}\n'
        '{"type":"probe","id":"q","question":"?","subject":"s","predicate":"p","tests":"revision"}\n'
    )
    done = inside("timeline", "validate", path)
    assert done.returncode == exits.OK
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("warning: ")
    assert "'q'" in warning


def test_listings() -> None:
    scenarios = inside("scenarios").stdout
    for name in registry.found("scenarios"):
        assert name in scenarios
    adapters = inside("adapters")
    assert adapters.returncode == exits.OK
    for name in registry.found("adapters"):
        assert name in adapters.stdout
    assert "URL path not verified" in " ".join(adapters.stdout.split())


@given(st.binary(max_size=120))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_garbage_in_a_file_of_observations_is_bad_input(tmp_path: Path, garbage: bytes) -> None:
    from memrot.errors import BadInput

    path = tmp_path / "x.observations.jsonl"
    path.write_bytes(garbage)
    with pytest.raises(BadInput, match=re.escape(str(path))):
        observations.read(path)
