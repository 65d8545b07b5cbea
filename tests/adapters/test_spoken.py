"""Memories of free text: what is said to them, what comes back, and what those say that cannot be run here."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, Unavailable, Unsupported
from memrot.memory import CAPABILITIES, Info, Place
from memrot.model import (
    DAY,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Question,
)
from memrot_adapters._spoken import WIRING, Remembered, Spoken, Told
from running import environment, exams, memrot

START = 1_767_603_600_000
ASKED = Question("Who is the owner of billing?", k=5)


class Parrot(Spoken):
    """Keeps what it hears, the last heard first, and never forgets."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.info = Info(name="parrot/grey", backend="parrot", version="1")
        self.heard: list[tuple[str, int]] = []

    def add(self, text: str, at: int) -> str:
        self.heard.append((text, at))
        return str(len(self.heard))

    def search(self, text: str, k: int, at: int) -> Sequence[Remembered]:
        return [Remembered(said, 1.0, when) for said, when in reversed(self.heard)][:k]

    def close(self) -> None:
        pass


class Slate(Parrot):
    """Can be wiped, by its own id of what it heard, and does not say when that was."""

    def replace(self, told: Told, at: int) -> None:
        self.heard[int(told.own) - 1] = ("", 0)

    def withdraw(self, told: Told, at: int) -> None:
        self.replace(told, at)

    def search(self, text: str, k: int, at: int) -> Sequence[Remembered]:
        return [Remembered(said, 1.0) for said, _ in reversed(self.heard) if said][:k]


def fact(id_: str, value: str) -> Fact:
    text = f"The owner of billing is {value}."
    return Fact(id=id_, subject="billing", predicate="owner", value=value, domain="OWNERSHIP", text=text)


EVENTS: tuple[ChangeEvent, ...] = (
    FactAdded(seq=1, at=START, fact=fact("f1", "Ada")),
    FactRevised(seq=2, at=START + DAY, previous="f1", current=fact("f2", "Bob")),
    FactMentioned(seq=3, at=START + 2 * DAY, fact="f2"),
    FactConfirmed(seq=4, at=START + 3 * DAY, fact="f2"),
    FactInvalidated(seq=5, at=START + 4 * DAY, fact="f2", reason="dropped"),
    FactInvalidated(seq=6, at=START + 5 * DAY, fact="never told", reason="dropped"),
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("spoken", tmp_path / "cell", Hashing.dim, 20)


def test_each_event_is_said_in_a_sentence_and_a_mention_is_not(place: Place) -> None:
    memory = Parrot(place)
    for event in EVENTS:
        memory.apply([event], event.at)
    assert memory.heard == [
        ("The owner of billing is Ada.", START),
        ("The owner of billing is Bob.", START + DAY),
        ("The owner of billing is Bob.", START + 3 * DAY),
        ("This is no longer true: The owner of billing is Bob.", START + 4 * DAY),
    ]
    hits = memory.answer([ASKED], START + 5 * DAY)[0].hits
    assert [hit.fact for hit in hits] == [None, "f2", "f1"], "what denies a fact states none; twice is once"
    assert memory.peek([(ASKED, "f1"), (ASKED, "f9")], START + 5 * DAY) == ["outranked", "never stored"]
    assert memory.answer([Question("?", "history")], START)[0].unsupported == memory.no_past
    with pytest.raises(Unsupported, match="parrot keeps the one it began with"):
        memory.apply([EmbedderChanged(seq=9, at=START + 6 * DAY, embedder="minilm-l3")], START + 6 * DAY)


def test_a_memory_states_what_had_been_said_when_it_was_written(place: Place) -> None:
    parrot, slate = Parrot(place), Slate(Place("slate", place.folder, place.dim, 20))
    again = FactRevised(seq=7, at=START + 6 * DAY, previous="f2", current=fact("f3", "Ada"))
    for memory in (parrot, slate):
        memory.apply([EVENTS[0]], START)
        memory.apply([EVENTS[1]], START + DAY)
        memory.apply([again], again.at)
    assert [hit.fact for hit in parrot.answer([ASKED], again.at)[0].hits] == ["f3", "f2", "f1"]
    assert [hit.fact for hit in slate.answer([ASKED], again.at)[0].hits] == ["f3"]


def test_what_was_said_is_known_after_a_restart_with_the_products_own_ids(place: Place) -> None:
    memory = Slate(place)
    for event in EVENTS[:2]:
        memory.apply([event], event.at)
    heard, memory = memory.heard, Slate(place)
    memory.heard = heard
    assert [hit.fact for hit in memory.answer([ASKED], START + DAY)[0].hits] == ["f2"]
    memory.apply([EVENTS[4]], START + 4 * DAY)
    assert memory.answer([ASKED], START + 4 * DAY)[0].hits == ()
    memory.drop()
    assert list(place.folder.iterdir()) == []


def test_what_memrot_notes_is_no_trace_of_what_was_erased(place: Place) -> None:
    """The files are looked through for it, and it would be the product's that was charged."""
    memory = Slate(place)
    for event in EVENTS[:2]:
        memory.apply([event], event.at)
    noted = b"".join(path.read_bytes() for path in place.folder.rglob("*") if path.is_file())
    assert noted
    assert b"billing" not in noted
    memory.drop()


# --- products that need a server or a model ---------------------------------------------------

WIRED = {
    "letta": ("letta_client", "set MEMROT_LETTA_URL to the URL of a Letta server"),
    "hindsight": ("hindsight_client", "set MEMROT_HINDSIGHT_URL to the URL of a Hindsight server"),
    "cognee": ("cognee", "set MEMROT_COGNEE_URL to the URL of a Cognee server"),
    "langmem": (
        "langmem",
        "set MEMROT_LLM_URL, or --llm-base-url, to the URL of an OpenAI-compatible server whose model calls tools",
    ),
}


@pytest.mark.parametrize("name", WIRED)
def test_what_cannot_be_run_here_says_what_it_needs(
    name: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, needed = WIRED[name]
    opened = import_module(f"memrot_adapters.{name}").open_memory
    for variable in ("MEMROT_LLM_URL", f"MEMROT_{name.upper()}_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(Unavailable) as unset:
        opened(place, {}, Hashing())
    assert str(unset.value) == needed
    with pytest.raises(BadInput, match="no-such-option"):
        opened(place, {"no-such-option": ""}, Hashing())
    monkeypatch.setitem(sys.modules, module, None)
    for variable in ("MEMROT_LLM_URL", f"MEMROT_{name.upper()}_URL"):
        monkeypatch.setenv(variable, "http://ada:sk-planted-1@127.0.0.1:9")
    options = {"model": "acme-1"} if name == "langmem" else {}
    with pytest.raises(Unavailable, match=rf"pip install 'memrot\[{name}\]' \({name}.*>=\d") as missing:
        opened(place, options, Hashing())
    assert "sk-planted-1" not in str(missing.value)


@pytest.mark.parametrize("name", WIRED)
def test_what_it_can_do_is_declared_though_it_cannot_be_run(name: str) -> None:
    declared = registry.capabilities(name)
    assert list(declared) == list(CAPABILITIES)
    assert all(capability.why for capability in declared.values())
    source = Path(str(import_module(f"memrot_adapters.{name}").__file__)).read_text()
    assert "{WIRING}" in source
    assert WIRING.startswith("wiring only")


def test_rows_of_what_cannot_be_run_say_why(tmp_path: Path) -> None:
    out = tmp_path / "out"
    stacks = [f"--stack={name}" for name in WIRED]
    done = memrot(
        "run", *stacks, "--stack=exact", "--embedder=hashing", *exams(tmp_path, count=1), "--out", out,
        env=environment(tmp_path, MEMROT_LLM_URL="", **{f"MEMROT_{name.upper()}_URL": "" for name in WIRED}),
    )  # fmt: skip
    rows = {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}
    declared = json.loads((out / "manifest.json").read_bytes())["capabilities"]
    for name, (_, needed) in WIRED.items():
        assert (rows[name]["outcome"], rows[name]["reason"]) == ("unavailable", needed), done.stderr
        assert declared[name]["overwrite"]["why"]
        assert f"{name}: unavailable: {needed}" in " ".join(done.stdout.split())
    assert rows["exact"]["outcome"] == "answered"
