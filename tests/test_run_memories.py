"""Whole memories sit the same exam as stacks: by entry point, without layers, each in its own place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec import structs

from memrot import leaderboard, registry
from memrot.embed.cache import Cache, Recalled
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.memory import CAPABILITIES, Capability, Info, under_layers, well_typed
from memrot.observations import StackId
from memrot.results import RunFolder
from memrot.run.unforeseen import Unforeseen
from memrot.run.worker import described
from running import environment, exams, memrot

ILL_TYPED = {
    "faulty/numpy": "Encoding objects of type numpy.float32 is unsupported",
    "faulty/number": "2: Expected `str | null`, got `int` - at `$.asked[0][1][0][0]`",
}


@pytest.fixture(scope="module")
def sat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("memories")
    stacks = [
        f"--stack={name}" for name in ("exact", "faulty/newest", "faulty/wall", "faulty/boastful", *ILL_TYPED)
    ]
    done = memrot(
        "run", *stacks, *exams(folder, count=1), "--embedder", "hashing", "--jobs", "1", "--out", folder / "out",
        env=environment(folder),
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    return folder / "out"


def test_a_memory_of_another_package_is_a_row_of_its_own(sat: Path) -> None:
    rows = {row["stack"]: row for row in json.loads((sat / "leaderboard.json").read_bytes())["rows"]}
    newest, wall = rows["faulty/newest"], rows["faulty/wall"]
    assert (newest["outcome"], newest["layers"], newest["adapter"]) == ("answered", [], "faulty/newest")
    # it returns what the control of that name returns
    assert newest["metrics"]["lifecycle"]["mean"] == rows["newest"]["metrics"]["lifecycle"]["mean"]
    assert (wall["outcome"], wall["reason"]) == ("unsupported", "wall clock")


def test_what_cannot_be_written_down_costs_only_its_own_cells(sat: Path) -> None:
    rows = {row["stack"]: row for row in json.loads((sat / "leaderboard.json").read_bytes())["rows"]}
    for stack, why in ILL_TYPED.items():
        row = rows[stack]
        assert row["outcome"] == "errored"
        assert row["reason"] == f"what was returned cannot be written down: {why}"
    RunFolder(sat).scored()


def test_what_is_said_in_words_that_there_are_not_costs_only_its_own_cells(sat: Path) -> None:
    rows = {row["stack"]: row for row in json.loads((sat / "leaderboard.json").read_bytes())["rows"]}
    boastful = rows["faulty/boastful"]
    assert boastful["outcome"] == "errored"
    assert "info: Invalid enum value 'sometimes' - at `$.capabilities[...].how`" in boastful["reason"]


def test_what_is_said_may_be_any_mapping() -> None:
    declared = {"expiry": Capability("never", "no clock")}
    info = Info(name="a", backend="b", version="1", capabilities=MappingProxyType(declared))
    assert well_typed(info).capabilities == declared


def test_who_does_what_is_shown_with_the_leaderboard(sat: Path, tmp_path: Path) -> None:
    text = (sat / "LEADERBOARD.md").read_text()
    shown = text.partition("## Who does what")[2].partition("##")[0]
    table = {line.split("|")[1].strip(): line for line in shown.splitlines() if line.startswith("|")}
    assert [cell.strip() for cell in table["backend"].split("|")[2:4]] == ["filter", "expiry"]
    assert "layered" in table["exact"]
    assert "never" in table["faulty/newest"]
    assert "- faulty/newest: history never (a file of ids)." in shown
    assert "OWNERSHIP 30 d" in shown

    # of two runs of one exam both are shown
    other = RunFolder(tmp_path / "other")
    shutil.copytree(sat, other.path)
    declared = {"acme": {"expiry": Capability("wall-clock", "in a shell")}}
    other.write_manifest(structs.replace(other.manifest(), capabilities=declared))
    both = leaderboard.of(RunFolder(sat), other)
    assert both.capabilities.keys() == {"exact", "faulty/newest", "acme", *ILL_TYPED}
    assert "acme: expiry wall-clock (in a shell)." in leaderboard.render(both)
    assert "Who does what" not in leaderboard.render(structs.replace(both, capabilities={}))


def test_a_store_is_under_layers_unless_it_says_otherwise() -> None:
    info = Info(name="x", backend="x", version="1", capabilities={"expiry": Capability("native", "swept")})
    declared = under_layers(info)
    assert list(declared) == list(CAPABILITIES)
    assert declared["expiry"] == Capability("native", "swept")
    assert {declared[name].how for name in CAPABILITIES if name != "expiry"} == {"layered"}
    pushed = structs.replace(info, filters=frozenset({"gt", "le"}))
    assert under_layers(pushed)["filter"].how == "native"


def test_a_memory_may_write_sentences_that_no_timeline_holds(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache.sqlite3") as cache:
        known = cache.embed(Hashing(), ["said"])
        embedder = Unforeseen(Recalled.of(Hashing(), cache), "hashing")
    assert (embedder.embed(["said"]) == known).all()
    texts = ["never said", "said", "never said"]
    assert (embedder.embed(texts) == Hashing().embed(texts)).all()
    with Cache(tmp_path / "cache.sqlite3") as cache:  # and kept for the next worker
        assert (cache.load(Hashing.fingerprint, texts) == Hashing().embed(texts)).all()


@pytest.mark.parametrize("stack", ["faulty/newest+all", "faulty/newest[swap=reembed]"])
def test_a_memory_takes_no_layers(stack: str, tmp_path: Path) -> None:
    done = memrot("run", "--stack", stack, "--out", tmp_path / "out", env=environment(tmp_path))
    assert done.returncode == 2
    assert "is a whole memory, which takes neither layers nor options of a stack" in done.stderr


def test_a_name_is_of_an_adapter_or_of_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    point = registry.find("adapters", "exact")
    monkeypatch.setattr(registry, "found", lambda _: {"exact": point})
    with pytest.raises(BadInput, match="'exact' is claimed as an adapter and as a memory"):
        registry.examinees()


def test_a_product_that_embeds_by_itself_is_labelled() -> None:
    info = Info(name="x", backend="x", version="1", note="infer=False")
    assert described(StackId(), info).note == "infer=False"
    assert described(StackId(), structs.replace(info, embeds=True)).note == "infer=False; embedder of its own"
