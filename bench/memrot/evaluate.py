"""The examiner: replays a timeline into a memory and asks the same questions at every stage.

The memory hears announced events and questions, nothing else: no probe, no expected answer, no key.
What it breaks in its contract becomes an outcome, never a crash of the run.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from time import perf_counter
from typing import Any, TypeAlias, cast

from msgspec import Struct, structs

from memrot.erasure import told_to_erase
from memrot.errors import MemoryFault, Unavailable, Unsupported
from memrot.links import heard
from memrot.memory import Memory
from memrot.model import BANDS, Answer, Instant, PeekCause, Probe, Question, Restarted
from memrot.observations import (
    ECHO,
    Asked,
    ErasureSeen,
    ErrorSeen,
    Footer,
    Head,
    Observations,
    Outcome,
    PeekSeen,
    StageSeen,
    identity_of,
)
from memrot.score import score
from memrot.timeline import Stage, Timeline
from memrot.truth import GroundTruth, forgetting_schedule

Factory: TypeAlias = Callable[[], Memory]
"""Opens the memory; called again after a ``restarted`` event, on the same storage."""

_NOT_STORED: frozenset[PeekCause] = frozenset({"never stored", "deleted"})

Peek: TypeAlias = Callable[[Sequence[tuple[Question, str]], Instant], Sequence[PeekCause]]


class StageResult(Struct, frozen=True):
    """One stage's metrics (METRICS.md §3); an undefined one is None."""

    seq: int
    at: Instant
    metrics: dict[str, Any]


def evaluate(memory: Memory | Factory, timeline: Timeline) -> list[StageResult]:
    """Replay a timeline into a memory and score every stage.

    ``memory``: an object with ``apply`` and ``answer`` (``memory.Memory``), or what makes
    one, such as its class. Raises MemoryFault with the reason where the memory fails.
    """
    seen = observe(memory, timeline)
    if seen.footer is None or seen.footer.outcome != "answered":
        raise MemoryFault(
            seen.footer.reason if seen.footer and seen.footer.reason else "the memory did not answer"
        )
    at = {stage.seq: stage.at for stage in timeline.stages}
    return [
        StageResult(
            metrics["seq"], at[metrics["seq"]], {name: metrics[name] for name in metrics if name != "seq"}
        )
        for metrics in score(timeline, seen).stages
    ]


def observe(
    memory: Memory | Factory,
    timeline: Timeline,
    *,
    head: Head | None = None,
    k: int | None = None,
    forget_within: int = 3,
    ask_every: int = 1,
    links_told: float = 1.0,
    peek: bool = True,
) -> Observations:
    """Replay a timeline into a memory and note what comes back.

    ``k``: hits asked for (default: the timeline's). ``ask_every``: ask at the stages in which so
    many further events are complete, and at the last. ``links_told``: the share of links that the
    memory hears of (``links``). ``peek``: examine what was missed, outside
    the measured path.
    """
    evaluator = LifecycleEvaluator(
        timeline, k or timeline.header.k, forget_within, ask_every, links_told, peek=peek
    )
    return evaluator.observe(memory, head)


class LifecycleEvaluator:
    """What to ask of any memory over one timeline, and when; reusable from memory to memory."""

    def __init__(
        self,
        timeline: Timeline,
        k: int,
        forget_within: int,
        ask_every: int,
        links_told: float = 1.0,
        *,
        peek: bool,
    ) -> None:
        self.timeline = timeline
        self.k = k
        self.forget_within = forget_within
        self.peek = peek
        self.truth = GroundTruth.of(timeline)
        self.links_told = links_told
        self.heard = heard(timeline, links_told)
        self.asked = _asked_stages(timeline, ask_every)
        self._questions = [
            Question(probe.question, probe.mode, probe.as_of, k, probe.session) for probe in timeline.probes
        ]
        told = GroundTruth.of(timeline, announced_only=True)
        self.echoes: dict[int, list[str]] = defaultdict(list)
        due = forgetting_schedule(self.truth, told, timeline, sorted(self.asked), forget_within)
        for fact_id, when in due.items():
            if when.asked_back is not None:
                self.echoes[when.asked_back].append(fact_id)

    def questions(self, stage: Stage) -> dict[str, Question]:
        """By probe id (``~f`` for an echo), the questions of a stage."""
        asked = {
            probe.id: question
            for probe, question in zip(self.timeline.probes, self._questions, strict=True)
            if probe.active(stage.seq)
        }
        for fact_id in self.echoes.get(stage.index, ()):
            asked[ECHO + fact_id] = Question(self.timeline.facts[fact_id].text, k=self.k)
        return asked

    def observe(self, memory: Memory | Factory, head: Head | None = None) -> Observations:
        """One replay. Every failure of the memory is an outcome with its reason."""
        replay = _Replay(self, memory)
        outcome, reason = replay.run()
        identity = identity_of(self.timeline)
        head = structs.replace(
            head or Head(timeline=identity),
            timeline=identity,
            k=self.k,
            forget_within=self.forget_within,
            links_told=self.links_told,
        )
        return Observations(
            head=structs.replace(head, stack=structs.replace(head.stack, filters=replay.filtering)),
            stages=tuple(replay.stages),
            errors=tuple(replay.errors),
            peeks=tuple(replay.peeks),
            erasure=replay.erasure,
            footer=Footer(
                outcome=outcome,
                stages=len(replay.stages),
                asked=sum(len(stage.asked) for stage in replay.stages),
                reason=reason,
            ),
        )


class _Replay:
    """One memory's way through one timeline."""

    memory: Memory
    """Set once it is open."""

    def __init__(self, evaluator: LifecycleEvaluator, memory: Memory | Factory) -> None:
        self.evaluator = evaluator
        self.open, self.can_restart = _opener(memory)
        self.stages: list[StageSeen] = []
        self.errors: list[ErrorSeen] = []
        self.peeks: list[PeekSeen] = []
        self.erasure: ErasureSeen | None = None
        self.filtering = ""

    def run(self) -> tuple[Outcome, str | None]:
        during, seq = "open", 0
        try:
            self.memory = self.open()
            for stage in self.evaluator.timeline.stages:
                seq, during = stage.seq, "apply"
                apply_ms = self._apply(stage)
                if stage.index in self.evaluator.asked:
                    during = "answer"
                    self._ask(stage, apply_ms)
            during = "peek"
            self._look_for_erased()
            during = "close"
            self.filtering = getattr(self.memory, "filtering", "")
            self._close()
        except Unavailable as error:
            return "unavailable", str(error)
        except Unsupported as error:
            return "unsupported", str(error)
        except Exception as error:  # noqa: BLE001 - whatever a memory raises is its outcome
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            self.errors.append(ErrorSeen(seq=seq, during=during, error=reason))
            with contextlib.suppress(Exception):  # the first error is the one to report
                self._close()
            return "errored", reason
        return "answered", None

    def _apply(self, stage: Stage) -> float:
        """Tell the memory of a stage; returns ms."""
        if any(isinstance(event, Restarted) for event in stage.events):
            if not self.can_restart:
                raise Unsupported(
                    "the timeline restarts the memory: give a class or a function that opens it"
                )
            self._close()
            self.memory = self.open()
        told = [self.evaluator.heard.get(event.seq, event) for event in stage.announced()]
        began = perf_counter()
        self.memory.apply(told, stage.at)
        return (perf_counter() - began) * 1000

    def _ask(self, stage: Stage, apply_ms: float) -> None:
        asked = self.evaluator.questions(stage)
        questions = list(asked.values())
        began = perf_counter()
        answers = self.memory.answer(questions, stage.at) if questions else ()
        answer_ms = (perf_counter() - began) * 1000
        if len(answers) != len(questions):
            raise MemoryFault(f"expected {len(questions)} answers, got {len(answers)}")
        for question, answer in zip(questions, answers, strict=True):
            _check(question, answer)
        by_probe = dict(zip(asked, answers, strict=True))
        self.stages.append(
            StageSeen(
                seq=stage.seq,
                asked=tuple(Asked(probe, answer.hits) for probe, answer in by_probe.items()),
                unsupported={
                    probe: answer.unsupported
                    for probe, answer in by_probe.items()
                    if answer.unsupported is not None
                },
                apply_ms=round(apply_ms, 4),
                answer_ms=round(answer_ms, 4),
            )
        )
        peek = getattr(self.memory, "peek", None)
        if self.evaluator.peek and peek is not None:
            self._peek(peek, stage, asked, by_probe)

    def _peek(
        self, peek: Peek, stage: Stage, asked: Mapping[str, Question], answers: Mapping[str, Answer]
    ) -> None:
        """Ask the memory why it missed what it was told and is true."""
        missed: list[tuple[Question, str]] = []
        for probe in self.evaluator.timeline.probes:
            if probe.id in asked and probe.mode == "current":
                hits = {hit.fact for hit in answers[probe.id].hits if hit.band != "withhold"}
                missed += [(asked[probe.id], id_) for id_ in self._expected(probe, stage) if id_ not in hits]
        if missed:
            causes = peek(missed, stage.at)
            facts = {id_: cause for (_, id_), cause in zip(missed, causes, strict=True)}
            self.peeks.append(PeekSeen(seq=stage.seq, facts=facts))

    def _look_for_erased(self) -> None:
        """Whether the memory still holds what it was told to erase; only the memory can say."""
        gone = told_to_erase(self.evaluator.timeline)
        if not gone:
            return
        peek = getattr(self.memory, "peek", None)
        stored = None
        if self.evaluator.peek and peek is not None:
            facts = self.evaluator.timeline.facts
            asked = [(Question(facts[id_].text, k=self.evaluator.k), id_) for id_ in gone]
            causes = peek(asked, self.evaluator.timeline.stages[-1].at)
            stored = sum(cause not in _NOT_STORED for cause in causes)
        self.erasure = ErasureSeen(facts=len(gone), stored=stored)

    def _expected(self, probe: Probe, stage: Stage) -> list[str]:
        truth = self.evaluator.truth
        return [
            truth.fact_ids[f]
            for f in truth.true_of_key(probe.key, stage.index)
            if truth.told[f] and truth.introduced[f] <= stage.index
        ]

    def _close(self) -> None:
        close = getattr(getattr(self, "memory", None), "close", None)
        if close is not None:
            close()


def _opener(memory: Memory | Factory) -> tuple[Factory, bool]:
    """What opens the memory, and whether it can be opened again."""
    if isinstance(memory, type) or not hasattr(memory, "apply"):
        return cast(Factory, memory), True
    opened = cast(Memory, memory)
    return (lambda: opened), False


def _asked_stages(timeline: Timeline, ask_every: int) -> frozenset[int]:
    asked: set[int] = set()
    events = 0
    for stage in timeline.stages:
        due = events // ask_every
        events += len(stage.events)
        if events // ask_every > due:
            asked.add(stage.index)
    return frozenset(asked | {len(timeline.stages) - 1}) if timeline.stages else frozenset()


def _check(question: Question, answer: Answer) -> None:
    """Raise MemoryFault where an answer breaks the contract of METRICS.md §2."""
    hits = answer.hits
    for hit in hits:
        if hit.band not in BANDS:
            raise MemoryFault(f"expected a band of {', '.join(BANDS)}, got {hit.band!r}")
        if not 0 <= hit.confidence <= 1:
            raise MemoryFault(f"expected a confidence from 0 to 1, got {hit.confidence!r}")
        if not isfinite(hit.similarity):
            raise MemoryFault(f"expected a finite similarity, got {hit.similarity!r}")
    if len(hits) > question.k and (told := sum(hit.band != "withhold" for hit in hits)) > question.k:
        raise MemoryFault(f"expected at most {question.k} hits, got {told}")
    if len({hit.fact for hit in hits}) < len(hits):
        facts = [hit.fact for hit in hits if hit.fact is not None]
        if len(set(facts)) < len(facts):
            raise MemoryFault("a fact was returned twice in one answer")
