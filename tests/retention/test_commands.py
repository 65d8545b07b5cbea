"""The retention commands, as a person types them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from retention.synthetic import silent
from running import inside, tiny

LIFETIMES = {"working_context": (40.0, 0.8), "preference": (200.0, 0.7), "identity": (50_000.0, 1.0)}


@pytest.fixture
def exams(tmp_path: Path) -> list[str]:
    """Options that name four timelines of two scenarios."""
    options = []
    for seed in (1, 2):
        for name, exam in (("silent", silent(LIFETIMES, 12, seed=seed, asked=20)), ("tiny", tiny(seed))):
            path = tmp_path / f"{name}-{seed}.timeline.jsonl"
            exam.write(path)
            options += ["--timeline", str(path)]
    return options


def memrot(*arguments: str) -> tuple[int, str, str]:
    done = inside("retention", *arguments)
    return done.returncode, done.stdout, done.stderr


def rows(text: str, name: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(name)]


def test_show(tmp_path: Path) -> None:
    code, out, _ = memrot("show", "--confidence", "0.91", "-o", str(tmp_path / "decay.svg"))
    assert code == 0
    assert "0.910 assert" in rows(out, "slow_attribute")[1]
    assert "0.228 withhold" in rows(out, "slow_attribute")[1]
    assert (tmp_path / "decay.svg").read_text().startswith("<svg")
    code, toml, _ = memrot("show", "--toml")
    assert tomllib.loads(toml)["classes"]["regulated"] == {"ttl_days": 365, "action": "delete"}
    (tmp_path / "policy.toml").write_text(toml)
    assert memrot("show", str(tmp_path / "policy.toml"))[1] == memrot("show")[1]


def test_replay(exams: list[str]) -> None:
    code, out, err = memrot(
        "replay", *exams, "--conversations", "60", "--embedder", "hashing", "--beside", "ttl[days=5,hard]"
    )  # fmt: skip
    assert code == 0
    policy, strict = rows(out, "policy")[0].split(), rows(out, "ttl[days=5,hard]")[0].split()
    assert policy[1] == strict[1] == "80"
    assert int(strict[2]) > int(policy[2])
    assert "hedges what is right" in out
    assert "warning: 80 conversations, fewer than 1,000" in err
    assert [len(rows(out, name)) for name in ("full store", "policy")] == [1, 2], "costs stand apart"


def test_audit(exams: list[str], tmp_path: Path) -> None:
    code, out, _ = memrot("audit", *exams)
    assert code == 0
    assert len(rows(out, "working_context")) == 2, "audited, and calibrated"
    assert not rows(out, "regulated")
    facts = tmp_path / "facts.csv"
    facts.write_text(
        "id,class,subject,predicate,value,observed_at\nf1,preference,Ada,tea,green,2024-01-01T00:00:00Z\n"
    )
    given = ("audit", "--facts", str(facts), "--at", "2026-01-01T00:00:00Z")
    code, out, _ = memrot(*given, "--ask", str(tmp_path / "ask.csv"))
    assert "1 questions to ask" in out
    (tmp_path / "back.csv").write_text((tmp_path / "ask.csv").read_text().replace('",\n', '",no\n'))
    code, out, _ = memrot(*given, "--answers", str(tmp_path / "back.csv"))
    assert "1 of 1" in rows(out, "preference")[0]
    (tmp_path / "record.csv").write_text("subject,predicate,value\nAda,tea,green\n")
    code, out, _ = memrot(*given, "--record", str(tmp_path / "record.csv"))
    assert "0 of 1" in rows(out, "preference")[0]


def test_tune_and_curve(exams: list[str], tmp_path: Path) -> None:
    tuned = tmp_path / "tuned.toml"
    asked = ("--conversations", "60", "--embedder", "hashing")
    code, out, _ = memrot("tune", *exams, *asked, "-o", str(tuned), "--limit", "0.05")
    assert code == 0
    assert tomllib.loads(tuned.read_text())["classes"]["regulated"] == {"ttl_days": 365, "action": "delete"}
    assert "On 2 timelines held out" in out
    figure = tmp_path / "curve.svg"
    code, out, _ = memrot("curve", *exams, *asked, "--policy", str(tuned), "-o", str(figure))
    assert code == 0
    swept = rows(out, "one TTL of")
    assert [int(row.split()[3]) for row in (swept[0], swept[-1])] == [1, 3650]
    assert [len(rows(out, name)) for name in ("by class, half-lives", "by class, Weibull", "policy ")] == [
        1,
        1,
        2,
    ]
    assert figure.read_text().count("<polyline") == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["show", "none.toml"], "none.toml: cannot be read"),
        (["show", "--confidence", "0"], "--confidence: expected a number above 0"),
        (["replay", "--scenario", "a", "--run", "b"], "expected one of --timeline, --run and --scenario"),
        (["replay", "--seeds", "0"], "--seeds: expected a number from 1"),
        (["replay", "--scenario", "nothing"], "unknown scenario 'nothing'"),
        (["replay", "--log", "log.jsonl"], "--log: expected one --timeline"),
        (["replay", "--beside", "cache", "--timeline", "{tiny}"], "unknown layer 'cache'"),
        (["audit", "--facts", "facts.csv"], "--facts: expected --at"),
        (["audit", "--facts", "facts.csv", "--at", "today"], "--at: expected an RFC 3339 instant"),
        (["audit", "--at", "2026-01-01T00:00:00Z"], "--at: expected --facts"),
        (["audit", "--query", "select 1"], "--query: expected --record"),
        (["audit", "--target", "2"], "--target"),
        (["audit", "--sample", "0"], "--sample"),
        (["replay", "--conversations", "0"], "--conversations"),
        (["tune", "--target", "-1"], "--target"),
        (["tune", "--limit", "2"], "--limit"),
        (["tune", "--timeline", "{tiny}"], "tuning needs a second timeline"),
    ],
)
def test_refused(options: list[str], message: str, tmp_path: Path) -> None:
    tiny().write(tmp_path / "tiny.timeline.jsonl")
    spelled = [option.format(tiny=tmp_path / "tiny.timeline.jsonl") for option in options]
    code, out, err = memrot(*spelled)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
