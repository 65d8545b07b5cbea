"""The examiner: what it tells a memory, what it asks, and what becomes of a memory that fails."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

import memories
from memrot import observations, timeline
from memrot.errors import MemoryFault, Unavailable, Unsupported
from memrot.evaluate import evaluate, observe
from memrot.model import (
    Answer,
    ChangeEvent,
    Fact,
    FactAdded,
    Hit,
    Instant,
    Probe,
    Question,
    Restarted,
    is_announced,
)
from memrot.score import score
from memrot.timeline import Timeline
from random_timelines import random_timeline

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def silence() -> Timeline:
    return timeline.read(GOLDEN / "silence" / "timeline.jsonl")


class Spy(memories.Dict):
    """Keeps whatever reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[object] = []

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self.seen += events
        super().apply(events, at)

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        self.seen += questions
        return super().answer(questions, at)


def test_a_memory_hears_announced_events_and_questions_and_nothing_else() -> None:
    original = random_timeline(7, events=80)
    secrets = [
        structs.replace(
            probe, id=f"SECRET-{probe.id}", subject="SECRET subject", predicate="SECRET predicate"
        )
        for probe in original.probes
    ]
    spied = Timeline.of(original.header, original.events, secrets)
    spy = Spy()
    observe(lambda: spy, spied, peek=False)
    announced = [event for event in spied.events if is_announced(event) and not isinstance(event, Restarted)]
    heard = [value for value in spy.seen if not isinstance(value, Question)]
    assert [e for e in heard if e in announced] == [e for e in announced if e in heard]
    assert all(is_announced(event) for event in heard)  # type: ignore[arg-type]  # events by construction
    assert any(not is_announced(event) for event in spied.events)
    questions = [value for value in spy.seen if isinstance(value, Question)]
    assert questions
    assert {type(value) for value in spy.seen} - {type(event) for event in spied.events} == {Question}
    assert "SECRET" not in repr(spy.seen)
    assert Question.__struct_fields__ == ("text", "mode", "as_of", "k", "session")
    texts = {probe.question for probe in spied.probes} | {fact.text for fact in spied.facts.values()}
    assert {question.text for question in questions} <= texts


def test_silent_instants_arrive_as_time_passed(silence: Timeline) -> None:
    spy = Spy()
    observe(spy, silence)
    by_seq = {getattr(value, "seq", None): type(value).__name__ for value in spy.seen}
    assert by_seq[7] == "TimePassed"  # a silent invalidation
    assert by_seq[11] == "FactInvalidated"


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.iterdir()))
def test_echoes_are_asked_when_the_golden_files_ask_them(name: str) -> None:
    seen = observe(memories.Dict(), timeline.read(GOLDEN / name / "timeline.jsonl"))
    golden = observations.read(GOLDEN / name / "observations.jsonl")

    def echoes(file: observations.Observations) -> set[tuple[int, str]]:
        return {
            (stage.seq, asked.probe)
            for stage in file.stages
            for asked in stage.asked
            if asked.probe[0] == "~"
        }

    ineligible = {(18, "~w1")} if name == "order" else set()  # only two change points follow its end
    if name != "amnesiac":  # whose file asks no echo at all
        assert echoes(seen) == echoes(golden) - ineligible


def test_evaluate_scores_every_stage(silence: Timeline) -> None:
    stages = evaluate(memories.Dict, silence)
    assert [stage.seq for stage in stages] == [stage.seq for stage in silence.stages]
    assert stages[0].metrics["coverage"] == 1
    assert stages[-1].at == silence.stages[-1].at
    assert 0 < stages[-1].metrics["contamination"] <= 1


def test_observations_survive_their_file(silence: Timeline, tmp_path: Path) -> None:
    seen = observe(memories.Dict(), silence)
    observations.write(tmp_path / "cell.observations.jsonl.gz", seen)
    assert observations.read(tmp_path / "cell.observations.jsonl.gz") == seen
    assert seen.head.timeline.digest == silence.digest
    assert seen.footer is not None
    assert seen.footer.asked == sum(len(stage.asked) for stage in seen.stages)


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        (memories.TooMany, "MemoryFault: expected at most 5 hits, got 10"),
        (memories.Repeating, "MemoryFault: a fact was returned twice in one answer"),
        (memories.WrongBand, "MemoryFault: expected a band of assert, hedge, withhold, got 'certain'"),
        (memories.WrongConfidence, "MemoryFault: expected a confidence from 0 to 1, got nan"),
        (memories.WrongSimilarity, "MemoryFault: expected a finite similarity, got inf"),
        (memories.OtherQuestion, "MemoryFault: expected 1 answers, got 0"),
        (memories.Raising, "RuntimeError: the third call failed"),
    ],
)
def test_a_faulty_memory_is_an_outcome(memory: type[memories.Dict], reason: str, silence: Timeline) -> None:
    seen = observe(memory, silence)
    assert seen.footer is not None
    assert (seen.footer.outcome, seen.footer.reason) == ("errored", reason)
    assert [(error.during, error.error) for error in seen.errors] == [("answer", reason)]
    with pytest.raises(MemoryFault, match=reason.split(": ", 1)[1][:20]):
        evaluate(memory, silence)


def test_invented_ids_are_unattributed_and_cost_consistency(silence: Timeline) -> None:
    honest, inventing = (
        score(silence, observe(m, silence)).cell for m in (memories.Dict, memories.Inventing)
    )
    assert inventing["consistency_key"] < honest["consistency_key"]  # type: ignore[operator]  # both defined


@pytest.mark.parametrize(
    ("error", "outcome"), [(Unavailable("pip install it"), "unavailable"), (Unsupported("no"), "unsupported")]
)
def test_a_memory_that_cannot_open_says_so(error: Exception, outcome: str, silence: Timeline) -> None:
    def broken() -> memories.Dict:
        raise error

    footer = observe(broken, silence).footer
    assert footer is not None
    assert (footer.outcome, footer.reason) == (outcome, str(error))


def restarting(original: Timeline, after: int) -> Timeline:
    """The same with a restart after an event."""
    at = original.stages[after].at + 1
    events = [structs.replace(e, seq=e.seq * 2) for e in original.events]
    probes = [structs.replace(p, since=p.since * 2, until=p.until and p.until * 2) for p in original.probes]
    return Timeline.of(
        original.header, [*events, Restarted(seq=original.stages[after].seq * 2 + 1, at=at)], probes
    )


def test_restarted_reopens_a_factory_and_refuses_an_object(silence: Timeline) -> None:
    opened: list[memories.Dict] = []

    def factory() -> memories.Dict:
        opened.append(memories.Dict())
        return opened[-1]

    twice = restarting(silence, 3)
    assert observe(factory, twice).footer.outcome == "answered"  # type: ignore[union-attr]  # observe always ends
    assert len(opened) == 2
    footer = observe(memories.Dict(), twice).footer
    assert footer is not None
    assert footer.outcome == "unsupported"


@pytest.mark.parametrize("every", [1, 3, 50])
def test_ask_every_asks_after_so_many_events_and_at_the_end(every: int, silence: Timeline) -> None:
    asked = [stage.seq for stage in observe(memories.Dict, silence, ask_every=every).stages]
    assert asked == sorted({*range(every, 14, every), 13})


def test_k_is_the_timelines_unless_given(silence: Timeline) -> None:
    spy = Spy()
    observe(spy, silence, k=2)
    assert {value.k for value in spy.seen if isinstance(value, Question)} == {2}


def test_what_was_missed_is_peeked_at_outside_the_answers(silence: Timeline) -> None:
    class Blind(memories.Dict):
        def hits(self, question: Question) -> list[Hit]:
            return []

    seen = observe(Blind, silence)
    assert {seq: facts for peek in seen.peeks for seq, facts in [(peek.seq, peek.facts)]}[2] == {
        "o": "outranked",
        "h": "outranked",
    }
    assert score(silence, seen).misses["outranked"] > 0
    assert not observe(Blind, silence, peek=False).peeks


def test_a_memory_needs_only_apply_and_answer() -> None:
    class Mine:
        def __init__(self) -> None:
            self.facts: dict[tuple[str, str], str] = {}

        def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
            self.facts.update(
                {event.fact.key: event.fact.id for event in events if isinstance(event, FactAdded)}
            )

        def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
            return [Answer() for _ in questions]

    header = timeline.Header(id="t", domains={"TECH": timeline.Domain()})
    fact = Fact(id="a", subject="auth", predicate="language", value="Go", domain="TECH", text="auth: Go")
    probe = Probe(id="p", question="?", subject="auth", predicate="language", tests="preservation")
    stages = evaluate(Mine, Timeline.of(header, [FactAdded(seq=1, at=0, fact=fact)], [probe]))
    assert stages[0].metrics["coverage"] == 0
