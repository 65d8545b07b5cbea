"""The house stays as it is meant to be: quick to enter, nothing of this machine in it, small rooms."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from memrot.memory import Store

ROOT = Path(__file__).parent.parent
FOLDERS = ("bench", "adapters", "scenarios", "tests")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
HEAVY = (
    "apsw", "chromadb", "duckdb", "faiss", "fastembed", "graphiti_core", "hypothesis", "kubernetes", "lancedb",
    "langchain_core", "langgraph", "mcp", "mem0", "onnxruntime", "openai", "pandas", "psycopg", "pyarrow",
    "pymilvus", "pytest", "qdrant_client", "qdrant_edge", "redis", "scipy", "sqlalchemy", "tokenizers", "torch",
    "usearch",
)  # fmt: skip
IMPORT_BUDGET_S = 0.2
LONGEST = 450


def sources() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def texts() -> list[Path]:
    """Everything that a person wrote: the sources and the files beside them."""
    beside = (path for path in ROOT.iterdir() if path.is_file() and path.name != "LICENSE")
    pages = (ROOT / "docs").glob("*.md")
    return [*sources(), *beside, *pages, ROOT / ".ci" / "run", ROOT / "results" / "README.md"]


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


# --- quick to enter --------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["memrot", "memrot.cli"])
def test_importing_loads_no_backend_and_nothing_heavy(module: str) -> None:
    loaded = python(
        f"import {module}, sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    ).split()
    assert not set(HEAVY) & set(loaded)
    assert not {"memrot_adapters", "memrot_scenarios"} & set(loaded)


def test_help_loads_no_backend_and_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['memrot', '--help']\n"
        "from memrot.cli import main\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert end.code in (0, None)\n"
        "print('loaded:', *{name.partition('.')[0] for name in sys.modules})\n"
    )
    help_text, _, loaded = python(code).partition("loaded:")
    assert "run" in help_text
    assert not set(HEAVY) & set(loaded.split())


def test_importing_memrot_is_quick() -> None:
    """Processor time, the best of five: what other processes do cannot fail it."""
    code = "import time; t = time.process_time(); import memrot; print(time.process_time() - t)"
    assert min(float(python(code)) for _ in range(5)) < IMPORT_BUDGET_S


# --- nothing of this machine -----------------------------------------------------------------


def test_no_file_names_a_registry_or_a_machine() -> None:
    hosts = ("pypi" + r"\.org", "python" + "hosted", "index" + "-url =", "--extra-index" + "-url")
    paths = ("/wo" + "rk/", "/op" + "t/", "/ro" + "ot/", "/ho" + r"me/\w", "/Us" + r"ers/\w")
    pattern = re.compile("|".join(hosts + paths))
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if pattern.search(line)
    ] == []


def locked() -> dict[str, str]:
    """Each requirement of the lock, by its name, with its options."""
    lock = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    return {re.split(r"[=\[ ;]", line)[0]: line for line in lock.splitlines() if line.strip()}


def test_the_lock_has_hashes_and_no_address() -> None:
    lock = locked()
    assert len(lock) > 100
    for name, line in lock.items():
        assert re.match(
            rf"{re.escape(name)}==[\w.!+]+( ;[^#]*)? +(--hash=sha256:[0-9a-f]{{64}} *)+$", line
        ), name
    assert not re.search(r"://|@|^-", (ROOT / "requirements.lock").read_text(), re.MULTILINE)


def test_the_lock_covers_what_is_asked_for() -> None:
    """What ``all`` leaves out goes into an environment of its own."""
    extras = PROJECT["optional-dependencies"]
    asked = [
        *PYPROJECT["build-system"]["requires"],
        *PROJECT["dependencies"],
        *(need for name in re.findall(r"[\w-]+", extras["all"][0])[1:] for need in extras[name]),
        *PYPROJECT["dependency-groups"]["dev"],
        "editables",  # what an editable install needs and a group could forget
    ]
    names = {re.split(r"[<>=!\[ ;]", need)[0].lower().replace("_", "-") for need in asked} - {"memrot"}
    assert names - set(locked()) == set()


# --- small rooms, plain words ----------------------------------------------------------------


def test_files_fit_in_the_mind() -> None:
    long = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in long.items() if lines > LONGEST} == {}


def defined(path: Path) -> list[str]:
    """Names of the classes and functions of a file, its tests left out."""
    nodes = ast.walk(ast.parse(path.read_text()))
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return [name for name in names if not name.startswith("test_")]


def test_words_that_say_nothing_name_nothing() -> None:
    vague = re.compile(r"engine|provider|manager|utils?$|helper", re.IGNORECASE)
    named = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in [path.stem, *defined(path)]
        if vague.search(name)
    ]
    assert named == []


# --- what is shipped -------------------------------------------------------------------------


def test_every_entry_point_names_a_module_that_exists() -> None:
    for group in PROJECT["entry-points"].values():
        for name, target in group.items():
            module = target.partition(":")[0].replace(".", "/")
            places = [ROOT / folder / module for folder in FOLDERS]
            assert any(place.with_suffix(".py").is_file() or place.is_dir() for place in places), name


def test_the_wheel_holds_all_packages_with_their_data(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("memrot-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    packages = ("memrot", "memrot_adapters", "memrot_scenarios")
    assert {f"{package}/py.typed" for package in packages} <= held
    assert "memrot/embed/minilm-vocab.txt" in held
    assert {
        f"memrot_adapters/mcp_servers/{name}" for name in ("server-memory.toml", "package-lock.json")
    } <= held
    assert {f"memrot/starter/{kind}/pyproject.toml.tmpl" for kind in ("store", "memory")} <= held
    assert {name.rpartition("/licenses/")[2] for name in held if "/licenses/" in name} == {
        "LICENSE",
        "NOTICE",
    }
    assert {name.partition("/")[0] for name in held if ".dist-info" not in name} == set(packages)
    for folder, package in zip(FOLDERS, packages, strict=False):
        written = {
            path.relative_to(ROOT / folder).as_posix() for path in (ROOT / folder / package).rglob("*.py")
        }
        assert written <= held


def test_one_version_everywhere() -> None:
    version = PROJECT["version"]
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## ([\d.]+)", changelog, re.MULTILINE)
    assert newest is not None
    assert newest[1] == version
    for release in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        assert "### Results affected" in release


def test_contributing_names_what_an_adapter_fills_in() -> None:
    methods = {name for name, value in vars(Store).items() if callable(value) and not name.startswith("_")}
    said = (ROOT / "CONTRIBUTING.md").read_text()
    assert len(methods) == 6
    assert {name for name in methods if f"`{name}`" not in said} == set()


def test_what_ci_runs_can_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
