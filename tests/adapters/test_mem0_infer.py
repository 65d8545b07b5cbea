"""mem0 with an extractor: what is said becomes memories, which are traced to the facts that they state."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrot import extractor
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, Unavailable, Unsupported
from memrot.memory import CAPABILITIES, Place
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
from memrot_adapters import mem0_infer, mem0_v1
from running import environment, exams, memrot

START = 1_767_603_600_000
ASKED = Question("Who is the owner of billing?", k=5)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with extractor.server() as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        monkeypatch.setenv("MEMROT_LLM_URL", extractor.address(listening))
        monkeypatch.setenv("OPENROUTER_API_KEY", "where nothing may go")
        yield extractor.address(listening)
        listening.shutdown()
        thread.join()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("memrotinfer", tmp_path / "cell", Hashing.dim, 20)


def fact(id_: str, value: str, subject: str = "billing") -> Fact:
    text = f"The owner of {subject} is {value}."
    return Fact(id=id_, subject=subject, predicate="owner", value=value, domain="OWNERSHIP", text=text)


def told(memory: mem0_infer.Mem0Infer, *events: ChangeEvent) -> None:
    for event in events:
        memory.apply([event], event.at)


def kept(memory: mem0_infer.Mem0Infer, at: int) -> list[tuple[str | None, float]]:
    return [(hit.fact, hit.similarity) for hit in memory.answer([ASKED], at)[0].hits]


@pytest.mark.usefixtures("served")
def test_what_is_said_is_kept_side_by_side_and_traced(place: Place) -> None:
    memory = mem0_infer.open_memory(place, {}, Hashing())
    told(
        memory,
        FactAdded(seq=1, at=START, fact=fact("f1", "Ada")),
        FactAdded(seq=2, at=START + 1, fact=fact("g1", "Eve", "search")),
        FactRevised(seq=3, at=START + DAY, previous="f1", current=fact("f2", "Bob")),
        FactMentioned(seq=4, at=START + 2 * DAY, fact="f2"),
        FactConfirmed(seq=5, at=START + 3 * DAY, fact="f2"),
    )
    assert {found for found, _ in kept(memory, START + 3 * DAY)} == {"f1", "f2", "g1"}, "it only adds"
    told(memory, FactInvalidated(seq=6, at=START + 4 * DAY, fact="f2", reason="dropped"))
    after = kept(memory, START + 4 * DAY)
    assert len(after) == 4
    assert sum(found is None for found, _ in after) == 1, "what denies a fact states none"
    assert memory.peek([(ASKED, "f2"), (ASKED, "f9")], START + 4 * DAY) == ["outranked", "never stored"]

    memory.close()
    again = mem0_infer.open_memory(place, {}, Hashing())
    assert kept(again, START + 4 * DAY) == after, "what was said is known after a restart"
    again.drop()
    assert not (place.folder / place.namespace).exists()


@pytest.mark.usefixtures("served")
def test_a_text_that_returns_is_dropped_by_mem0_and_so_the_memory_is_the_old_one(place: Place) -> None:
    memory = mem0_infer.open_memory(place, {}, Hashing())
    told(
        memory,
        FactAdded(seq=1, at=START, fact=fact("a1", "Ada")),
        FactRevised(seq=2, at=START + DAY, previous="a1", current=fact("b", "Bob")),
        FactRevised(seq=3, at=START + 2 * DAY, previous="b", current=fact("a2", "Ada")),
    )
    assert {found for found, _ in kept(memory, START + 2 * DAY)} == {"a1", "b"}
    memory.drop()


@pytest.mark.usefixtures("served")
def test_it_says_that_its_extractor_is_scripted_and_what_it_cannot_do(place: Place) -> None:
    memory = mem0_infer.open_memory(place, {}, Hashing())
    assert "scripted" in memory.info.note
    assert "scripted" in memory.info.version, "which is also in leaderboard.json"
    assert set(memory.info.capabilities) == set(CAPABILITIES)
    assert memory.answer([Question("?", "history")], START)[0].unsupported
    with pytest.raises(Unsupported):
        told(memory, EmbedderChanged(seq=1, at=START, embedder="minilm-l3"))
    memory.drop()


def test_a_model_is_called_by_its_name(served: str, place: Place) -> None:
    memory = mem0_infer.open_memory(place, {"model": "acme-1"}, Hashing())
    assert memory.info.version.endswith(" with acme-1")
    assert "scripted" not in memory.info.note
    assert served not in repr(memory.info)
    memory.drop()


def test_without_a_server_it_says_what_to_do(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMROT_LLM_URL", raising=False)
    with pytest.raises(Unavailable, match="set MEMROT_LLM_URL, or --llm-base-url"):
        mem0_infer.open_memory(place, {}, Hashing())
    with pytest.raises(BadInput, match="unknown option 'key'"):
        mem0_infer.open_memory(place, {"key": "x"}, Hashing())
    monkeypatch.setenv("MEMROT_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MEMROT_LLM_API_KEY", "sk-planted-1")
    with pytest.raises(
        Unavailable, match="the server at MEMROT_LLM_URL gives ConnectionRefusedError"
    ) as caught:
        mem0_infer.open_memory(place, {}, Hashing())
    assert "sk-planted" not in str(caught.value)


@pytest.mark.usefixtures("served")
def test_mem0_v1_asks_for_an_environment_of_its_own(place: Place) -> None:
    with pytest.raises(Unavailable, match=r"pip install 'memrot\[mem0-v1\]' in an environment of its own"):
        mem0_v1.open_memory(place, {}, Hashing())


V1 = os.environ.get("MEMROT_TEST_MEM0_V1_PYTHON")
"""A Python with memrot and mem0 1.x: no environment has both mem0 1.x and 2.x."""


@pytest.mark.skipif(V1 is None, reason="MEMROT_TEST_MEM0_V1_PYTHON names no Python with memrot and mem0 1.x")
def test_mem0_v1_updates_and_deletes_in_an_environment_of_its_own(served: str, tmp_path: Path) -> None:
    options = ["--stack=mem0-v1", f"--python={V1}", f"--llm-base-url={served}", "--embedder=hashing"]
    out = tmp_path / "out"
    done = memrot("run", *options, *exams(tmp_path, count=1), "--out", out, env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    rows = {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}
    assert rows["mem0-v1"]["version"].startswith("1.")
    assert rows["mem0-v1"]["version"].endswith("with scripted-verbatim")
    # every fact is said in the same first words, so that the script updates and deletes them all
    assert rows["mem0-v1"]["metrics"]["contamination"]["mean"] == 0
    assert rows["mem0-v1"]["metrics"]["coverage"]["mean"] == 1


def test_a_run_says_scripted_and_keeps_addresses_and_keys_to_itself(served: str, tmp_path: Path) -> None:
    key = "sk-planted-4711"
    options = ["--stack=mem0/infer", f"--llm-base-url={served}", "--embedder=hashing", "--jobs=1"]
    out = tmp_path / "out"
    env = environment(tmp_path, MEMROT_LLM_API_KEY=key)
    done = memrot("run", *options, *exams(tmp_path, count=1), "--out", out, env=env)
    assert done.returncode == 0, done.stderr
    rows = {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}
    assert rows["mem0/infer"]["version"].endswith("with scripted-verbatim")
    assert rows["mem0/infer"]["metrics"]["coverage"]["mean"] == 1, "every sentence is traced"
    assert rows["mem0/infer"]["metrics"]["contamination"]["mean"] > 0, "and what was revised is kept"
    texts = [done.stdout, done.stderr]
    for path in out.rglob("*"):
        if path.is_file():
            raw = path.read_bytes()
            texts.append((gzip.decompress(raw) if path.suffix == ".gz" else raw).decode())
    address = served.removeprefix("http://").partition("/")[0]
    assert not any(secret in text for text in texts for secret in (key, address))
