"""``--python``: the same command, or the stacks of one adapter, in another environment.

The environments are real: two in which one product is installed in versions that exclude each other, as
mem0 1.x and 2.x do. All else they borrow from the environment of the tests.
"""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from memrot.cli import exits
from running import alive, command, environment, exams, inside, memrot

RIVAL = """
import os, signal, time
from importlib.metadata import version
from msgspec.structs import replace
from memrot.errors import Unavailable
from memrot.exact import Exact

class Rival(Exact):
    def __init__(self, place, least):
        if version("rival") != least:
            raise Unavailable(f"rival {least} is not here")
        super().__init__(place)
        self.info = replace(self.info, name="rival", backend="rival", version=version("rival"))

    def search(self, queries, where, k):
        if os.environ.get("SLOW"):
            time.sleep(600)
        return super().search(queries, where, k)

def open_new(place, options):
    return Rival(place, "2.0")

def open_old(place, options):
    return Rival(place, "1.0")

def open_dying(place, options):
    store = open_old(place, options)
    store.search = lambda *_: os._exit(7)
    return store

def open_felling(place, options):
    store = open_old(place, options)
    store.search = lambda *_: os.kill(os.getppid(), signal.SIGKILL)
    return store
"""
"""Another version of it in each environment; ``only-old`` is known in the older one alone."""


def venv(folder: Path, version: str, **adapters: str) -> Path:
    """An environment of its own with one version of the rival; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (lib,) = folder.glob("lib/*/site-packages")
    (lib / "lent.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    (lib / "rival.py").write_text(RIVAL)
    info = lib / f"rival-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: rival\nVersion: {version}\n")
    points = "\n".join(f"{name.replace('_', '-')} = rival:{opens}" for name, opens in adapters.items())
    (info / "entry_points.txt").write_text(f"[memrot.adapters]\n{points}\n")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The Pythons of two environments: the run's, and that of the old version."""
    folder = tmp_path_factory.mktemp("rivals")
    both = {"rival": "open_new", "rival_old": "open_old"}
    new = venv(folder / "new", "2.0", **both)
    return new, venv(
        folder / "old", "1.0", **both, only_old="open_old", old_dying="open_dying", felling="open_felling"
    )


def outcomes(out: Path) -> dict[str, str]:
    board = json.loads((out / "leaderboard.json").read_bytes())
    return {row["stack"]: row["outcome"] for row in board["rows"] if row["kind"] == "stack"}


def test_one_command_measures_each_stack_in_its_environment(
    rivals: tuple[Path, Path], tmp_path: Path
) -> None:
    new, old = rivals
    out = tmp_path / "out"
    stacks = ["exact+all", "rival+all", "rival-old+all", "only-old", "old-dying"]
    asked = [
        "run", *(f"--stack={stack}" for stack in stacks), *exams(tmp_path, 1), "--embedder=hashing",
        "--jobs=2", f"--out={out}",
    ]  # fmt: skip
    elsewhere = [f"--python={name}={old}" for name in ("rival-old", "only-old", "old-dying")]
    env = environment(tmp_path)

    done = memrot(*asked, *elsewhere, env=env, python=new)
    assert done.returncode == exits.MISSING, done.stderr
    assert outcomes(out) == dict.fromkeys(stacks[:-1], "answered") | {"old-dying": "errored"}
    assert done.stderr.strip() == "old-dying: errored: the worker ended with exit code 7"
    manifest = json.loads((out / "manifest.json").read_bytes())
    assert manifest["settings"]["stacks"] == stacks
    versions = manifest["versions"]
    assert (versions["rival"], versions["rival (rival-old)"], versions["rival (only-old)"]) == (
        "2.0", "1.0", "1.0",
    )  # fmt: skip
    rows = {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}
    assert (rows["rival+all"]["version"], rows["rival-old+all"]["version"]) == ("2.0", "1.0")
    for metric, estimate in rows["exact+all"]["metrics"].items():
        assert rows["rival-old+all"]["metrics"][metric] == estimate, metric
    assert "rival-old" in manifest["capabilities"]
    for file in (path for path in out.rglob("*") if path.is_file()):
        raw = file.read_bytes()
        text = gzip.decompress(raw) if file.suffix == ".gz" else raw
        assert str(tmp_path.parent.parent).encode() not in text, file.name

    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    lost = next(path for path in kept if path.name.startswith("rival-old+all"))
    lost.unlink()
    done = memrot(*asked, *elsewhere, env=env, python=new)
    now = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    assert now.keys() == kept.keys()
    assert [path for path, when in now.items() if when != kept[path]] == [lost]


def test_what_becomes_of_the_other_process_costs_its_cells_alone(
    rivals: tuple[Path, Path], tmp_path: Path
) -> None:
    new, old = rivals
    out = tmp_path / "out"
    done = memrot(
        "run", "--stack=felling", "--stack=rival", f"--python=felling={old}", *exams(tmp_path, 1),
        "--embedder=hashing", f"--out={out}", env=environment(tmp_path), python=new,
    )  # fmt: skip
    assert done.returncode == exits.MISSING, done.stderr
    assert outcomes(out) == {"felling": "errored", "rival": "answered"}
    assert "the other Python was ended by SIGKILL" in done.stderr


def test_killed_meanwhile_it_leaves_nothing_running_and_goes_on(
    rivals: tuple[Path, Path], tmp_path: Path
) -> None:
    new, old = rivals
    out = tmp_path / "out"
    asked = [
        "run", "--stack=exact", "--stack=rival-old", f"--python=rival-old={old}", *exams(tmp_path, 1),
        "--embedder=hashing", f"--out={out}",
    ]  # fmt: skip
    env = environment(tmp_path)
    slow = env | {"SLOW": "yes", "MARK": str(tmp_path)}
    process = subprocess.Popen(command(*asked, python=new), env=slow, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while len(list(out.glob("cells/[!.]*"))) < 7:  # the controls' and that of exact
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    until = time.monotonic() + 20
    while alive(str(tmp_path)):
        assert time.monotonic() < until, "a worker outlived its run"
        time.sleep(0.05)
    done = memrot(*asked, env=env, python=new)
    assert done.returncode == 0, done.stderr
    assert outcomes(out) == {"exact": "answered", "rival-old": "answered"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--python=chroma={old}"], "no stack of this run is of 'chroma'"),
        (["--python=exact={old}", "--python", "exact={new}"], "two Pythons for 'exact'"),
        (["--python={old}", "--python={new}"], "one Python for the whole run, got 2"),
        (["--python=exact=no-such-python"], "No such file"),
        (["--python=oracle={old}", "--stack=oracle"], "'oracle' is a control"),
        (["--python=no-such={old}", "--stack=no-such"], "unknown adapter 'no-such': expected one of"),
    ],
)
def test_what_cannot_be_measured_elsewhere_is_refused(
    options: list[str], said: str, rivals: tuple[Path, Path], tmp_path: Path
) -> None:
    given = [option.format(new=rivals[0], old=rivals[1]) for option in options]
    asked = ["--stack=exact", *exams(tmp_path, 1), "--embedder=hashing", f"--out={tmp_path / 'out'}"]
    done = inside("run", *asked, *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_whole_run_moves_and_its_stacks_stay_where_they_belong(
    rivals: tuple[Path, Path], tmp_path: Path
) -> None:
    new, old = rivals
    out = tmp_path / "out"
    done = memrot(
        "run", "--stack=rival", "--stack=rival-old", "--python", new, "--python", f"rival-old={old}",
        *exams(tmp_path, 1), "--embedder=hashing", f"--out={out}", env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert outcomes(out) == {"rival": "answered", "rival-old": "answered"}


def test_the_command_goes_on_under_the_other_python(tmp_path: Path) -> None:
    other = tmp_path / "other-python"
    other.write_text(f'#!/bin/sh\necho went >> "{tmp_path}/marks"\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    out = tmp_path / "out"
    done = memrot(
        "run", "--python", other, "--stack", "exact", *exams(tmp_path, count=1), "--embedder", "hashing",
        "--out", out, env=environment(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "marks").read_text().split() == ["went", "went"], (
        "for its version, then for the command"
    )
    assert "exact" in done.stdout
    assert json.loads((out / "manifest.json").read_bytes())["settings"]["stacks"] == ["exact"]
    done = memrot("run", f"--python={other}", "--stack", "no-such", env=environment(tmp_path))
    assert done.returncode == 2, "what the other one says is what is said"
    assert "unknown adapter 'no-such'" in done.stderr


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("exit 1", "found none"),
        ("echo 0.0.1", "found memrot 0.0.1"),
        ("true", "found none"),
        (None, "No such file"),
    ],
)
def test_a_python_without_this_memrot_is_refused(script: str | None, found: str, tmp_path: Path) -> None:
    other = tmp_path / "python"
    if script is not None:
        other.write_text(f"#!/bin/sh\n{script}\n")
        other.chmod(0o755)
    done = inside("run", "--python", other, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert found in done.stderr
    assert "--python" in done.stderr
    assert not (tmp_path / "out").exists()
