"""A memory whose embedder is swapped mid-way: what is lost is retrieval's, and is charged to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray

from memrot import names, registry
from memrot.embed.base import Embedder
from memrot.embed.cache import Cache, Recalled
from memrot.embed.hashing import Hashing
from memrot.embed.minilm import MiniLM, MiniLML3
from memrot.errors import BadInput, Unsupported
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.memory import Place
from memrot.model import DAY, ChangeEvent, EmbedderChanged, FactAdded, FactInvalidated, Question, Restarted
from memrot.observations import Observations
from memrot.run.worker import sentences
from memrot.score import Scores, score
from memrot.stack import Embedders, LayeredMemory, Swap
from memrot.timeline import Timeline
from running import memrot, tiny

RETRIEVAL = {"re-embedded", "outranked", "not found by the index"}


def swapped(exam: Timeline, *extra: ChangeEvent, to: str = "minilm-l3") -> Timeline:
    """The same timeline with the embedder changed (and ``extra`` after it) half-way through its events."""
    middle = len(exam.events) // 2
    at = exam.events[middle - 1].at
    events = [structs.replace(event, seq=10 * event.seq) for event in exam.events]
    seq = events[middle - 1].seq
    inserted: list[ChangeEvent] = [EmbedderChanged(seq=seq + 1, at=at, embedder=to)]
    inserted += [structs.replace(event, seq=seq + 2 + place, at=at) for place, event in enumerate(extra)]
    probes = [
        structs.replace(each, since=10 * each.since - 9, until=each.until and 10 * each.until - 9)
        for each in exam.probes
    ]
    return Timeline.of(exam.header, [*events[:middle], *inserted, *events[middle:]], probes)


@pytest.fixture(scope="module")
def exam() -> Timeline:
    """Real sentences, since a swap of models is about them."""
    return swapped(registry.scenario("boundary-shift").generate(1, "smoke"))


def recalled(exam: Timeline, embedder: Embedder) -> Recalled:
    with Cache() as cache:
        cache.embed(embedder, sentences(exam))
        return Recalled.of(embedder, cache)


def seen_by(exam: Timeline, folder: Path, swap: Swap, layers: tuple[str, ...] = ()) -> Observations:
    place = Place("swap", folder, MiniLM.dim, len(exam.facts))
    embedders = Embedders(recalled(exam, MiniLM()), {"minilm-l3": recalled(exam, MiniLML3())})
    policies = parse(layers, exam.header.exclusive)
    return observe(lambda: LayeredMemory(lambda: Exact(place), policies, embedders, swap), exam)


def split(exam: Timeline, seen: Observations) -> tuple[Scores, Scores]:
    """Scores of the stages before the swap, and from it on."""
    seq = next(event.seq for event in exam.events if isinstance(event, EmbedderChanged))
    early, late = (
        score(
            exam,
            structs.replace(
                seen,
                stages=tuple(each for each in seen.stages if (each.seq >= seq) is after),
                peeks=tuple(each for each in seen.peeks if (each.seq >= seq) is after),
            ),
        )
        for after in (False, True)
    )
    return early, late


def test_losses_after_a_kept_swap_are_charged_to_it_and_not_to_forgetting(
    exam: Timeline, tmp_path: Path
) -> None:
    all_layers = ("all",)
    kept = split(exam, seen_by(exam, tmp_path / "kept", "keep", all_layers))
    renewed = split(exam, seen_by(exam, tmp_path / "renewed", "reembed", all_layers))
    assert kept[0].misses == renewed[0].misses, "before the swap they are one memory"
    assert kept[0].misses.keys() <= {"outranked"}
    lost = kept[1].misses
    assert lost["re-embedded"] > 0.9 * sum(lost.values()) > 50
    assert lost.keys() <= RETRIEVAL, "nothing was deleted, ended, expired or demoted"
    assert sum(renewed[1].misses.values()) < 0.2 * lost["re-embedded"]
    assert "re-embedded" not in renewed[1].misses
    before, after, mended = (each.cell["coverage"] for each in (kept[0], kept[1], renewed[1]))
    assert before is not None
    assert after is not None
    assert mended is not None
    assert after < 0.65
    assert min(before, mended) > 0.9


def test_refusing_is_loud_and_names_the_reason(exam: Timeline, tmp_path: Path) -> None:
    footer = seen_by(exam, tmp_path, "refuse").footer
    assert footer is not None
    assert footer.outcome == "unsupported"
    assert footer.reason == "this stack refuses another embedder"


class Backwards(Hashing):
    """As many dimensions as hashing, and no vector in common."""

    name, fingerprint = "backwards", "b" * 16

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed([text[::-1] for text in texts])


class Stack:
    """Told of one event at a time."""

    def __init__(self, folder: Path, swap: Swap, others: dict[str, Embedder]) -> None:
        self.exam = tiny()
        self.place = Place("swap", folder, Hashing.dim, 16)
        self.embedders, self.swap = Embedders(Hashing(), others), swap
        self.memory = self.opened()

    def opened(self) -> LayeredMemory:
        self.store = Exact(self.place)
        return LayeredMemory(lambda: self.store, parse(["propagation"]), self.embedders, self.swap)

    def tell(self, *events: ChangeEvent) -> None:
        self.memory.apply(events, events[-1].at)

    def embeddings(self) -> dict[str, str]:
        return {record.id: str(record.fields["embedding"]) for record in self.store.scan()}


def test_writes_and_queries_use_the_new_embedder_from_its_event_on(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "keep", {"backwards": Backwards()})
    first, second, third = (event for event in stack.exam.events[:3] if isinstance(event, FactAdded))
    change = EmbedderChanged(seq=2, at=second.at, embedder="backwards")
    stack.tell(first)
    stack.tell(structs.replace(second, seq=1), change, structs.replace(third, at=second.at))
    old, new = Hashing.fingerprint, Backwards.fingerprint
    assert stack.embeddings() == {first.fact.id: old, second.fact.id: old, third.fact.id: new}
    question = Question(third.fact.text, k=1)
    (answer,) = stack.memory.answer([question], second.at)
    assert answer.hits[0].fact == third.fact.id
    assert answer.hits[0].similarity == pytest.approx(1, abs=1e-5)
    stack.memory.answer([Question(first.fact.text, k=1)], second.at)
    assert stack.memory.peek([(Question(first.fact.text, k=1), first.fact.id)], second.at) == ["re-embedded"]


def test_the_swap_outlasts_a_restart(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "keep", {"backwards": Backwards()})
    first, second = (event for event in stack.exam.events[:2] if isinstance(event, FactAdded))
    stack.tell(first)
    stack.tell(EmbedderChanged(seq=2, at=first.at, embedder="backwards"))
    stack.memory.close()
    stack.memory = stack.opened()
    stack.tell(Restarted(seq=3, at=first.at))
    stack.tell(second)
    assert stack.embeddings()[second.fact.id] == Backwards.fingerprint


def test_reembedding_changes_vectors_and_nothing_else(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "reembed", {"backwards": Backwards()})
    added = [event for event in stack.exam.events[:6] if isinstance(event, FactAdded)]
    for event in added:
        stack.tell(event)
    stack.tell(FactInvalidated(seq=7, at=added[-1].at + DAY, fact=added[0].fact.id, reason="dropped"))
    before = {record.id: record for record in stack.store.scan(vectors=True)}
    stack.tell(EmbedderChanged(seq=8, at=added[-1].at + 2 * DAY, embedder="backwards"))
    after = {record.id: record for record in stack.store.scan(vectors=True)}
    assert before.keys() == after.keys()
    for id_, record in after.items():
        assert record.text == before[id_].text
        assert {**record.fields, "embedding": ""} == {**before[id_].fields, "embedding": ""}
        assert (record.vector == Backwards().embed([record.text])[0]).all()


def test_an_embedder_that_does_not_fit_is_refused_loudly(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "keep", {"minilm": MiniLM()})
    with pytest.raises(Unsupported, match="384 dimensions, not 256"):
        stack.tell(EmbedderChanged(seq=1, at=0, embedder="minilm"))
    with pytest.raises(Unsupported, match="'backwards', which this stack was not given"):
        stack.tell(EmbedderChanged(seq=2, at=0, embedder="backwards"))


def test_the_option_is_the_stacks_own() -> None:
    name = names.parse("redis[swap=reembed,mode=plain]+all")
    assert str(name) == "redis[mode=plain,swap=reembed]+all"
    assert name.adapter_options == {"mode": "plain"}
    assert name.option("swap") == "reembed"
    assert str(names.parse("exact[swap=keep]+all")) == "exact+all", "one stack has one name"
    assert names.parse("exact").option("swap") == "keep"
    with pytest.raises(BadInput, match="expected swap to be one of keep, refuse, reembed, got 'maybe'"):
        names.parse("exact[swap=maybe]")


def test_a_run_swaps_embedders_and_shows_who_refused(tmp_path: Path) -> None:
    path = tmp_path / "swap.timeline.jsonl"
    swapped(tiny(), Restarted(seq=1, at=0)).write(path)
    stacks = ("exact", "exact[swap=refuse]", "exact[swap=reembed]")
    out = tmp_path / "out"
    done = memrot("run", *(f"--stack={each}" for each in stacks), "--scenario", path, "--out", out)
    assert "exact[swap=refuse]: unsupported: this stack refuses another embedder" in done.stderr
    found = {row["stack"]: row for row in json.loads((out / "leaderboard.json").read_bytes())["rows"]}
    assert [found[each]["outcome"] for each in stacks] == ["answered", "unsupported", "answered"]
    kept, renewed = (found[each]["metrics"]["coverage"]["mean"] for each in (stacks[0], stacks[2]))
    assert kept < renewed
    diagnosed = memrot("diagnose", out).stdout
    assert "re-embedded" in diagnosed
