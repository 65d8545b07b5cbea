"""What every whole memory promises (``memrot.memory.MemoryService``), each promise a test.

How well a memory forgets is what scenarios measure; here is only what a run relies on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.memory import Embedder, MemoryService, Place
from memrot.model import (
    DAY,
    NEVER,
    Answer,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Instant,
    Mode,
    Probe,
    Question,
    Restarted,
    TimePassed,
)
from memrot.testing.base import Suite
from memrot.testing.comparing import sibling
from memrot.testing.resources import check_released
from memrot.timeline import Domain, Header, Timeline

START: Instant = 1_767_603_600_000
K = 4
SUBJECTS = ("billing", "ledger", "search")


def told(number: int, subject: str, *, at: Instant = START) -> Fact:
    """The owner of a service, the same fact for the same number."""
    text = f"The service {subject} is owned by team {number}."
    return Fact(
        id=f"f{number}", subject=subject, predicate="owner", value=f"team {number}", domain="OWNERSHIP",
        text=text, observed_at=at, valid_from=at, valid_to=NEVER,
    )  # fmt: skip


FACTS = [told(number, subject) for number, subject in enumerate(SUBJECTS)]
ADDED: list[ChangeEvent] = [FactAdded(seq=n + 1, at=START, fact=fact) for n, fact in enumerate(FACTS)]
QUESTIONS = [Question(f"Who owns {subject}?", k=K) for subject in SUBJECTS]


class Known:
    """The embedder of a run: every sentence is known beforehand, and nothing before it is told."""

    name, fingerprint, dim, lexical = "hashing", Hashing.fingerprint, Hashing.dim, True

    def __init__(self) -> None:
        self.known = False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        assert self.known, f"embedded before anything was told: {list(texts)}"
        return Hashing().embed(texts)


class MemoryConformance(Suite, standard=True):
    """Subclass it, name ``open_memory``, and collect with pytest."""

    @staticmethod
    def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> MemoryService:
        raise NotImplementedError

    def open(self, place: Place) -> MemoryService:
        embedder = Known()
        memory = self.open_memory(place, self.options, embedder)
        embedder.known = True
        return memory

    @pytest.fixture
    def memory(self, place: Place) -> Iterator[MemoryService]:
        memory = self.open(place)
        yield memory
        memory.drop()
        memory.close()

    def test_it_says_what_it_is(self, memory: MemoryService) -> None:
        info = memory.info
        assert info.name
        assert info.backend
        assert info.version
        for what, capability in info.capabilities.items():
            reasoned = capability.why or capability.how in ("native", "layered")
            assert reasoned, f"{what}: {capability.how} without a reason"

    def test_empty_memory_returns_nothing(self, memory: MemoryService) -> None:
        assert [list(answer.hits) for answer in memory.answer(QUESTIONS, START)] == [[], [], []]

    def test_a_fact_is_found_by_its_own_text(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        answers = memory.answer([Question(fact.text, k=K) for fact in FACTS], START)
        for fact, ids in zip(FACTS, _ids(answers), strict=True):
            assert fact.id in ids, f"{fact.text!r} is not among {ids}"

    def test_only_what_was_told_comes_back(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        for ids in _ids(memory.answer(QUESTIONS, START)):
            assert set(ids) <= {None, *(fact.id for fact in FACTS)}

    def test_at_most_k_come_back_and_none_twice(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        for k in (1, 2, 20):
            for ids in _ids(memory.answer([Question("Who owns what?", k=k)], START)):
                known = [each for each in ids if each is not None]
                assert len(ids) <= k
                assert len(known) == len(set(known))

    def test_answers_come_in_the_order_of_the_questions(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        questions = [*QUESTIONS, QUESTIONS[0]]
        ahead, back = memory.answer(questions, START), memory.answer(questions[::-1], START)
        assert _ids(ahead) == _ids(back)[::-1]

    def test_asking_changes_nothing(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        first = memory.answer(QUESTIONS, START)
        assert _ids(memory.answer(QUESTIONS, START)) == _ids(first)

    def test_a_mode_is_served_or_refused_with_a_reason(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        modes: tuple[tuple[Mode, Instant | None], ...] = (("as_of", START), ("history", None))
        for mode, as_of in modes:
            answer = memory.answer([Question("Who owns billing?", mode, as_of, K)], START + DAY)[0]
            assert answer.unsupported is None or (answer.unsupported and not answer.hits), mode

    def test_what_was_missed_has_a_cause_each(self, memory: MemoryService) -> None:
        memory.apply(ADDED, START)
        memory.answer(QUESTIONS, START)
        missed = [(QUESTIONS[0], FACTS[1].id), (QUESTIONS[0], "never told")]
        causes = memory.peek(missed, START)
        assert len(causes) == len(missed)
        assert causes[1] == "never stored"

    def test_a_life_of_all_events_is_answered_throughout(self, place: Place) -> None:
        seen = observe(lambda: self.open(place), _life(restarts=self._persists(place)))
        assert seen.footer is not None
        assert (seen.footer.outcome, seen.footer.reason) == ("answered", None)
        left = self.open(place)
        left.drop()
        left.close()

    def test_opened_again_it_knows_what_it_knew(self, place: Place) -> None:
        if not self._persists(place):
            pytest.skip("says that it does not persist")
        memory = self.open(place)
        memory.apply(ADDED, START)
        before = _ids(memory.answer(QUESTIONS, START))
        memory.close()
        memory = self.open(place)
        assert _ids(memory.answer(QUESTIONS, START)) == before
        memory.drop()
        memory.close()

    def test_drop_removes_its_own_namespace_only(self, place: Place) -> None:
        one, other = self.open(place), self.open(sibling(place))
        for memory in (one, other):
            memory.apply(ADDED, START)
        before = _ids(other.answer(QUESTIONS, START))
        one.drop()
        one.close()
        assert _ids(other.answer(QUESTIONS, START)) == before
        other.drop()
        other.close()
        again = self.open(place)
        assert _ids(again.answer(QUESTIONS, START)) == [[], [], []]
        again.drop()
        again.close()

    def test_close_is_idempotent_and_releases_everything(self, place: Place) -> None:
        def lifetime() -> None:
            memory = self.open(place)
            memory.apply(ADDED, START)
            memory.answer(QUESTIONS, START)
            memory.close()
            memory.close()

        check_released(lifetime)
        left = self.open(place)
        left.drop()
        left.close()

    def test_unknown_option_is_refused(self, place: Place) -> None:
        with pytest.raises(BadInput):
            self.open_memory(place, {**self.options, "no-such-option": ""}, Known())

    def _persists(self, place: Place) -> bool:
        memory = self.open(place)
        persists = memory.info.persists
        memory.drop()
        memory.close()
        return persists


def _ids(answers: Sequence[Answer]) -> list[list[str | None]]:
    return [[hit.fact for hit in answer.hits if hit.band != "withhold"] for answer in answers]


def _life(*, restarts: bool) -> Timeline:
    """Three owners; one confirmed, one mentioned, one revised twice, one taken back, then silence."""
    days = [START + day * DAY for day in range(12)]
    events: list[ChangeEvent] = [
        *ADDED,
        FactConfirmed(seq=4, at=days[1], fact="f0"),
        FactMentioned(seq=5, at=days[2], fact="f1"),
        FactRevised(seq=6, at=days[3], previous="f0", current=told(10, "billing", at=days[3])),
        FactRevised(seq=7, at=days[4], previous="f10", current=told(11, "billing", at=days[4])),
        FactInvalidated(seq=8, at=days[5], fact="f2", reason="dropped"),
        FactAdded(seq=9, at=days[6], fact=told(12, "search", at=days[6])),
        *([Restarted(seq=10, at=days[7])] if restarts else []),
        TimePassed(seq=11, at=days[11]),
    ]
    probes = [
        Probe(
            id=subject, question=f"Who owns {subject}?", subject=subject, predicate="owner", tests="revision"
        )
        for subject in SUBJECTS
    ]
    past = Probe(
        id="past", question="Who owned billing?", subject="billing", predicate="owner", tests="history",
        mode="history",
    )  # fmt: skip
    domains = {"OWNERSHIP": Domain(window_days=45)}
    return Timeline.of(Header(id="conformance/life", domains=domains, k=K), events, [*probes, past])
