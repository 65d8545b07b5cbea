"""Adapters from anyone: distributions that memrot does not know, installed in a clean environment.

The environment has memrot as a wheel, the distribution of ``outside/`` (a store that speaks HTTP only, a
memory that is a program only) and what ``memrot adapters new`` writes; the packages that these need are
lent by the environment of the tests, so that nothing is fetched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from memrot.cli import exits
from running import exams, inside

ROOT = Path(__file__).parent.parent
NEW = {"fresh-store": "store", "fresh-memory": "memory"}
BROKEN = """
    def search(self, queries, where, k):
        return [[] for _ in queries]

    def drop"""


class Clean:
    """A virtual environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
        self.bin = folder / "venv" / "bin"
        (lib,) = (folder / "venv" / "lib").iterdir()
        (lib / "site-packages" / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def install(self, *sources: Path) -> None:
        """Build each where it is, then install them, all offline."""
        for source in sources:
            build = [
                sys.executable,
                "-m",
                "hatchling",
                "build",
                "-t",
                "wheel",
                "-d",
                str(self.folder / "wheels"),
            ]
            subprocess.run(build, cwd=source, check=True, capture_output=True)
        offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "-q"]
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", *offline]
        subprocess.run([*pip, *map(str, (self.folder / "wheels").iterdir())], check=True)

    def start(self, *command: str) -> subprocess.Popen[str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        return subprocess.Popen(
            [str(self.bin / command[0]), *command[1:]], cwd=self.folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def together(self, *commands: Sequence[str]) -> list[subprocess.CompletedProcess[str]]:
        started = [self.start(*command) for command in commands]
        ended = [process.communicate(timeout=240) for process in started]
        return [
            subprocess.CompletedProcess(process.args, process.returncode, *texts)
            for process, texts in zip(started, ended, strict=True)
        ]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Clean:
    folder = tmp_path_factory.mktemp("clean")
    for name, kind in NEW.items():
        done = inside("adapters", "new", name, "--kind", kind, "--to", folder / name)
        assert done.returncode == exits.OK, done.stderr
    shutil.copytree(ROOT / "tests" / "outside", folder / "outside")
    shutil.copytree(folder / "fresh-store", folder / "broken-store")
    module = folder / "broken-store" / "memrot_fresh_store"
    (module / "__init__.py").write_text(
        (module / "__init__.py").read_text().replace("\n    def drop", BROKEN, 1)
    )
    module.rename(module.with_name("memrot_broken_store"))
    settings = folder / "broken-store" / "pyproject.toml"
    settings.write_text(settings.read_text().replace("fresh", "broken"))
    environment = Clean(folder)
    environment.install(ROOT, folder / "outside", folder / "broken-store", *(folder / name for name in NEW))
    return environment


def test_they_keep_their_promises_and_are_rows_of_a_leaderboard(clean: Clean) -> None:
    stacks = ["outside-http", "outside-http+all", "outside-program", *NEW]
    rows = [option for stack in stacks for option in ("--stack", stack)]
    run = [
        "memrot",
        "run",
        *rows,
        *exams(clean.folder, 1),
        "--embedder",
        "hashing",
        "--jobs",
        "1",
        "--out",
        "out",
    ]
    checked = ["fresh-store", "fresh-memory", "outside-http", "outside-program"]
    done, *checks = clean.together(run, *(["memrot", "adapters", "check", name] for name in checked))
    for check in checks:
        assert (check.returncode, check.stderr) == (exits.OK, "")
        assert "0 broken" in check.stdout
        assert " broken  " not in check.stdout
    said = {line.partition(" ")[0] for line in checks[1].stdout.splitlines()}
    assert {"overwrite", "expiry", "history"} <= said
    assert done.returncode == exits.OK, done.stderr
    board = json.loads((clean.folder / "out" / "leaderboard.json").read_bytes())
    outcomes = {row["stack"]: row["outcome"] for row in board["rows"] if row["kind"] == "stack"}
    assert outcomes == dict.fromkeys(stacks, "answered")
    scores = {row["stack"]: row["metrics"]["lifecycle"]["mean"] for row in board["rows"]}
    assert scores["outside-http+all"] > scores["outside-http"]
    assert scores["fresh-memory"] > scores["fresh-store"]


def test_a_broken_promise_is_named_with_the_evidence(clean: Clean) -> None:
    (check,) = clean.together(["memrot", "adapters", "check", "broken-store"])
    assert check.returncode == exits.UNDER
    broken = {line.partition("  ")[0] for line in check.stdout.splitlines() if "  broken  " in line}
    assert {"negative similarities are found", "search agrees with exact"} <= broken
    assert "unknown option is refused" not in broken
    assert "The first that is broken" in check.stderr
    assert "where" in check.stderr  # assertions say which values they compared


def test_the_environment_is_clean(clean: Clean) -> None:
    code = (
        "import memrot, memrot_adapters, importlib.metadata as m; print(memrot.__file__);"
        "print(*sorted(p.name for p in m.entry_points(group='memrot.adapters')))"
    )
    (done,) = clean.together(["python", "-c", code])
    place, names = done.stdout.splitlines()
    assert place.startswith(str(clean.folder))
    assert {"outside-http", "fresh-store", "exact"} <= set(names.split())


# --- what `new` refuses ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Acme"], "small letters"),
        (["a--b"], "small letters"),
        (["../acme"], "small letters"),
        (["exact"], "there is an adapter 'exact' already"),
        (["adapters"], "memrot_adapters"),
        (["acme", "--kind", "thing"], "--kind: expected one of store, memory"),
    ],
)
def test_a_name_that_cannot_be_is_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = inside("adapters", "new", *arguments, "--to", tmp_path / "new")
    assert done.returncode == exits.BAD_INPUT
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    done = inside("adapters", "new", "acme", "--to", tmp_path / "new")
    assert (done.returncode, "is there already" in done.stderr) == (exits.BAD_INPUT, True)
    assert list((tmp_path / "new").iterdir()) == []


def test_where_nothing_can_be_written() -> None:
    done = inside("adapters", "new", "acme", "--to", "/dev/null/acme")
    assert (done.returncode, done.stderr) == (
        exits.BAD_INPUT,
        "error: /dev/null/acme: cannot be written: Not a directory\n",
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "unknown adapter 'nothing'"),
        ("exact+all", "without layers"),
        ("exact[x]", "takes no options"),
    ],
)
def test_what_cannot_be_checked_is_refused(name: str, said: str) -> None:
    done = inside("adapters", "check", name)
    assert done.returncode == exits.BAD_INPUT
    assert said in done.stderr
