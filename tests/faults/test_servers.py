"""Whatever happens to a server by URL: no cell is lost or doubled, nothing hangs, nobody else's data is touched.

The servers are real and the wire to each of them can be disturbed. One run sits with all stacks that have
one, since what a fault costs the others is a part of the question.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faults import field
from faults.proxy import Proxy
from faults.servers import PASSWORD, SECRETS, SERVERS, Server
from memrot import registry
from running import command, environment, exams, memrot

TIMELINES = 2
TIMEOUT = 60.0
SHORT = 4.0
"""Seconds, where somebody waits for longer."""

SLOW_ANSWERS = 3
WRONG = "wr0ng:" + PASSWORD
"""Refused by the server itself; the right one is in its words."""

NAMESPACE = re.compile(r"memrot[0-9a-f]{24}")


class Field:
    """Servers, a wire to each, and runs over all that has one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.undisturbed = folder / "undisturbed"
        self.exams = exams(folder, TIMELINES, rounds=1)
        self.stacks = field.by_url()
        self.servers: dict[str, Server] = {}
        for name in sorted(set(self.stacks.values())):
            (folder / name).mkdir()
            self.servers[name] = SERVERS[name](folder / name)
        self.theirs = {name: server.held() for name, server in self.servers.items()}
        self.wires = {name: Proxy(server.port, server.token) for name, server in self.servers.items()}

    def asked(self, out: Path, timeout: float = TIMEOUT, jobs: int = 1) -> list[str | Path]:
        options = [f"--stack={stack}" for stack in ("exact", *self.stacks)]
        return ["run", *options, *self.exams, "--embedder", "hashing", "--jobs", str(jobs), "--timeout", str(timeout),
                "--out", out]  # fmt: skip

    def environment(self, **more: str) -> dict[str, str]:
        variables: dict[str, str] = {}
        for name, server in self.servers.items():
            variables |= {name: server.url(self.wires[name].port), **server.environment()}
        return environment(self.folder, **{**variables, **more})

    def run(self, out: Path, **more: Any) -> subprocess.CompletedProcess[str]:
        done = memrot(*self.asked(out, **more), env=self.environment())
        no_secret(out, done.stdout + done.stderr)
        assert list((self.folder / "tmp").iterdir()) == [], "nothing temporary is left"
        return done

    def untouched(self) -> None:
        """The servers hold what was there before, and nothing of ours."""
        for name, server in self.servers.items():
            held = server.held()
            assert {key: held[key] for key in self.theirs[name]} == self.theirs[name]
            assert not NAMESPACE.search(repr(held)), f"{name}: a namespace was left behind"

    def disturb(self, out: Path, what: Callable[[str], Callable[[], object]]) -> None:
        """Once in each wire, in the middle of a cell of the run that is about to begin."""
        for name, wire in self.wires.items():
            wire.armed, wire.disturb = began(out), what(name)

    def calm(self) -> None:
        for wire in self.wires.values():
            wire.calm()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    made = Field(tmp_path_factory.mktemp("faults"))
    yield made
    for server in made.servers.values():
        server.kill()


@pytest.fixture(scope="module")
def turned_away(made: Field) -> subprocess.CompletedProcess[str]:
    """A run with wrong passwords, in the folder in which nothing is disturbed afterwards."""
    passwords = {name: server.url(made.wires[name].port, WRONG) for name, server in made.servers.items()}
    tokens = {name: WRONG for server in made.servers.values() for name in server.environment()}
    done = memrot(*made.asked(made.undisturbed), env=made.environment(**passwords, **tokens))
    shutil.copytree(made.undisturbed, made.folder / "turned-away")
    return done


@pytest.fixture(scope="module")
def side_by_side(made: Field, turned_away: subprocess.CompletedProcess[str]) -> list[tuple[Path, int, str]]:
    """Two runs at once on the same servers, and one more that wants the folder of the first."""
    assert turned_away.returncode == 4
    outs = [made.undisturbed, made.folder / "beside"]
    before = (made.undisturbed / "manifest.json").read_bytes()
    runs = [
        subprocess.Popen(command(*made.asked(out)), env=made.environment(), stderr=subprocess.PIPE, text=True,
                         stdout=subprocess.DEVNULL)
        for out in outs
    ]  # fmt: skip
    while (made.undisturbed / "manifest.json").read_bytes() == before:
        assert runs[0].poll() is None
        time.sleep(0.05)
    third = memrot(*made.asked(made.undisturbed), env=made.environment())
    said = [run.communicate(timeout=240)[1] for run in runs]
    ended = [(out, run.returncode, words) for out, run, words in zip(outs, runs, said, strict=True)]
    return [*ended, (made.undisturbed, third.returncode, third.stderr)]


@pytest.fixture
def served(made: Field, side_by_side: list[tuple[Path, int, str]]) -> Iterator[Field]:
    """With what an undisturbed run says to compare with."""
    assert side_by_side
    yield made
    made.calm()


@pytest.mark.parametrize("name", registry.examinees())
def test_nobody_is_left_out_without_a_reason(name: str) -> None:
    reason = field.left_out(name)
    if reason is not None:
        assert reason.strip()
        pytest.skip(f"{name}: no fault of a server: {reason}")


def rows(out: Path) -> dict[str, dict[str, Any]]:
    return {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}


def same_scores(out: Path, other: Path) -> None:
    tables = [json.loads((each / "leaderboard.json").read_bytes()) for each in (out, other)]
    for table in tables:
        for row in table["rows"]:
            del row["latency_ms"]
    assert tables[0] == tables[1]


def whole(out: Path) -> None:
    """Each cell of the plan is there once, and no other."""
    names = [cell["name"] for cell in json.loads((out / "manifest.json").read_bytes())["cells"]]
    files = sorted(path.name.removesuffix(".observations.jsonl.gz") for path in (out / "cells").iterdir())
    assert files == sorted(set(names))
    scored = [json.loads(line)["cell"]["name"] for line in (out / "scores.jsonl").read_text().splitlines()]
    assert scored == names


def no_secret(out: Path, said: str) -> None:
    for path in out.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            said += (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    for secret in SECRETS:
        assert secret not in said
    assert "Traceback" not in said


def kept(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}


def began(out: Path) -> Callable[[], bool]:
    return (out / "manifest.json").exists


def failed(out: Path, outcomes: set[str]) -> list[str]:
    """The stacks that lost cells: each has the reason in one line, and the others what they always have."""
    lost = []
    for stack, row in rows(out).items():
        assert sum(row["cells"].values()) == TIMELINES
        if row["cells"]["answered"] == TIMELINES:
            continue
        lost.append(stack)
        assert {name for name, count in row["cells"].items() if count} <= outcomes | {"answered"}, row
        assert row["reason"]
        assert len(row["reason"].splitlines()) == 1
    return lost


def finished_later(served: Field, out: Path) -> None:
    """The same command measures what is missing, and only that."""
    before, lost = kept(out), set(failed(out, {"errored", "unavailable"}))
    served.calm()
    done = served.run(out)
    assert done.returncode == 0, done.stderr
    again = {name for name, when in kept(out).items() if before.get(name) != when}
    stacks = {cell["stack"]["adapter"] for cell in json.loads((out / "manifest.json").read_bytes())["cells"]
              if f"{cell['name']}.observations.jsonl.gz" in again}  # fmt: skip
    assert {f"{adapter}[server]" for adapter in stacks} == lost
    whole(out)
    same_scores(out, served.undisturbed)
    served.untouched()


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    addressed = field.at_no_server()
    variables = {name: _nowhere(name) for name in addressed.values()}
    stacks = [f"--stack={stack}" for stack in addressed]
    out = tmp_path / "out"
    done = memrot("run", *stacks, "--stack=exact", *exams(tmp_path, TIMELINES, rounds=1), "--embedder", "hashing", "--out", out,
                  env=environment(tmp_path, **variables))  # fmt: skip
    assert done.returncode == 4
    assert sorted(failed(out, {"unavailable"})) == sorted(addressed)
    for stack, name in addressed.items():
        assert name in rows(out)[stack]["reason"], "what to look at"
    no_secret(out, done.stdout + done.stderr)
    whole(out)


def _nowhere(name: str) -> str:
    schemes = {
        "MEMROT_REDIS_URL": "redis",
        "MEMROT_PGVECTOR_URL": "postgresql",
        "MEMROT_GRAPHITI_URL": "falkor",
    }
    scheme = schemes.get(name, "http")
    return f"{scheme}://planted:{SECRETS[1]}@127.0.0.1:1"


def test_a_wrong_password(made: Field, turned_away: subprocess.CompletedProcess[str]) -> None:
    out = made.folder / "turned-away"
    assert turned_away.returncode == 4
    asked = {stack for stack, name in made.stacks.items() if made.servers[name].asks}
    assert set(failed(out, {"unavailable"})) == asked
    no_secret(out, turned_away.stdout + turned_away.stderr)
    whole(out)


def test_two_runs_at_once(made: Field, side_by_side: list[tuple[Path, int, str]]) -> None:
    """The first takes up what was turned away: what it could not open then is in its folder once."""
    *both, (_, code, said) = side_by_side
    assert code == 2
    assert said.splitlines()[-1].endswith("another memrot run is writing here")
    for out, ended, words in both:
        assert ended == 0, words
        no_secret(out, words)
        whole(out)
        same_scores(out, made.undisturbed)
    table = rows(made.undisturbed)
    for stack in ("redis[server]", "pgvector[server]", "graphiti[server]"):
        assert table[stack]["metrics"] == table["exact"]["metrics"], "exact stores tie"
    made.untouched()


def test_killed_in_the_middle_of_a_cell_and_started_again(served: Field, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def kill(name: str) -> None:
        served.servers[name].kill()
        served.wires[name].away()

    served.disturb(out, lambda name: partial(kill, name))
    assert served.run(out).returncode == 4
    assert set(failed(out, {"unavailable"})) == set(served.stacks)
    for server in served.servers.values():
        server.start()
    finished_later(served, out)


def test_cut_in_the_middle_of_a_batch(served: Field, tmp_path: Path) -> None:
    """A client may connect anew and go on: then it reports what it would have reported."""
    out = tmp_path / "out"
    served.disturb(out, lambda _: lambda: None)
    assert served.run(out).returncode in {0, 4}
    assert all(wire.happened for wire in served.wires.values())
    assert failed(out, {"errored", "unavailable"}), "not all do"
    served.untouched()
    finished_later(served, out)


def test_slow_is_not_wrong(served: Field, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for wire in served.wires.values():
        wire.armed, wire.slow, wire.latency = began(out), SLOW_ANSWERS, 2.0
    done = served.run(out, jobs=2)
    assert all(wire.happened == SLOW_ANSWERS for wire in served.wires.values())
    assert done.returncode == 0, done.stderr
    same_scores(out, served.undisturbed)


def test_too_slow_costs_a_cell_and_hangs_nothing(served: Field, tmp_path: Path) -> None:
    """The worker ends with what it did not take away; that goes in the same run."""
    out = tmp_path / "out"
    served.disturb(out, lambda _: lambda: time.sleep(2 * SHORT))
    assert served.run(out, timeout=SHORT, jobs=2).returncode == 4
    lost = failed(out, {"errored"})
    assert lost
    for stack in lost:
        assert re.fullmatch(r"no reply within 4 s \((apply|answer|measuring)\)", rows(out)[stack]["reason"])
    served.untouched()


def test_what_was_measured_stays_while_its_server_is_away(served: Field) -> None:
    before, table = kept(served.undisturbed), rows(served.undisturbed)
    for wire in served.wires.values():
        wire.away()
    assert served.run(served.undisturbed).returncode == 0
    assert kept(served.undisturbed) == before
    assert rows(served.undisturbed) == table
