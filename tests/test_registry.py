"""Entry points: lazy, unique, and friendly where something is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from memrot import registry
from memrot.errors import BadInput, Unavailable
from memrot.memory import Place


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Another installed package, ``rotten``, with an adapter that needs what is not there."""
    (tmp_path / "rotten.py").write_text("import a_backend_that_is_not_there\n")
    (tmp_path / "late.py").write_text(
        "def open_store(place, options):\n    import a_backend_that_is_not_there\n"
    )
    (tmp_path / "burst.py").write_text("raise RuntimeError('boom')\n")
    info = tmp_path / "rotten-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: rotten\nVersion: 1.2\nProvides-Extra: late\n"
        "Requires-Dist: not-there>=1; extra == 'late'\nRequires-Dist: numpy\nRequires-Dist: absent>=3.1\n"
    )
    (info / "entry_points.txt").write_text(
        "[memrot.adapters]\nrotten = rotten:open_store\nlate = late:open_store\nburst = burst:open_store\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return "rotten"


def test_known_names_and_laziness() -> None:
    assert {"exact", "chroma", "qdrant", "redis", "mem0"} <= set(registry.found("adapters"))
    script = (
        "import sys; from memrot import registry; registry.found('adapters'); registry.packages('chroma');"
        "registry.installed('mem0');"
        "print([m for m in ('chromadb', 'mem0', 'qdrant_edge', 'redis', 'onnxruntime', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["adapters", "scenarios", "embedders"])
def test_an_unknown_name_lists_the_known_ones(kind: registry.Kind) -> None:
    with pytest.raises(BadInput, match=f"unknown {kind[:-1]} 'nothing'") as caught:
        registry.find(kind, "nothing")
    for name in registry.found(kind):
        assert name in str(caught.value)


def test_two_packages_claiming_one_name() -> None:
    points = [
        EntryPoint("x", "a:open_store", "memrot.adapters"),
        EntryPoint("x", "b:open_store", "memrot.adapters"),
    ]
    with pytest.raises(BadInput, match="two packages claim the adapter 'x'"):
        registry._unique("adapters", points)
    assert list(registry._unique("adapters", [points[0], points[0]])) == ["x"]


def test_an_adapter_of_another_package(plugin: str) -> None:
    assert registry.find("adapters", plugin).name == plugin
    assert registry.packages(plugin) == {
        "rotten": "1.2",
        "numpy": registry._version("numpy"),
        "absent": None,
    }
    assert registry.packages("late") == {
        "rotten": "1.2",
        "numpy": registry._version("numpy"),
        "absent": None,
        "not-there": None,
    }
    assert not registry.installed("late")


def test_a_version_that_will_not_do_is_not_installed() -> None:
    assert registry.packages("mem0") == registry.packages("mem0-v1"), "the same package, in other versions"
    assert {registry.installed("mem0"), registry.installed("mem0-v1")} == {True, False}


def test_what_cannot_be_loaded_says_what_to_do(plugin: str, tmp_path: Path) -> None:
    with pytest.raises(
        Unavailable, match=r"rotten cannot be loaded: No module named .* \(it needs absent>=3\.1\)"
    ):
        registry.adapter(plugin)
    with pytest.raises(Unavailable, match=r"pip install 'rotten\[late\]' \(not-there>=1\)"):
        registry.adapter("late")(Place("cell", tmp_path, 2, 1), {})
    needs = registry.advice(registry.find("adapters", "qdrant")).removeprefix("pip install 'memrot[qdrant]' ")
    assert {re.sub(r"[\d.]+", "", need) for need in needs.strip("()").split(", ")} == {
        "qdrant-edge-py>=",
        "qdrant-client>=",
    }


def test_an_adapter_says_what_it_is(plugin: str) -> None:
    for name in ("qdrant", "qdrant/native"):
        assert f"{name}[server]: URL path not verified" in registry.about(name)
    for name in ("graphiti", "graphiti/native"):
        assert f"{name}[server]: verified over FalkorDB; over Neo4j" in registry.about(name)
    assert registry.about(plugin).startswith(
        "rotten cannot be loaded: No module named 'a_backend_that_is_not_there'"
    )


@pytest.mark.parametrize("name", ["rotten", "burst"])
def test_one_that_breaks_when_it_is_imported_hides_no_other(plugin: str, name: str) -> None:
    assert registry.about(name).startswith(f"{plugin} cannot be loaded: ")
    assert registry.described(name) == ""
    assert registry.differences(name) == registry.capabilities(name) == {}
    assert registry.variables(name) == []


def test_scenarios_may_be_named_without_their_world() -> None:
    assert registry.scenario_id("reorg") == "project/reorg" == registry.scenario_id("project/reorg")
    assert registry.scenario_id("silent-move") == "person/silent-move"
    assert registry.readings("gradual") is registry.readings("project/gradual")
    with pytest.raises(BadInput, match="unknown scenario"):
        registry.scenario("no-such")
