"""The evidence behind a number: what was asked, what came back, what was true, and why not.

Works on one cell's observations and its timeline alone. The worst answers come first: a stale
fact asserted as the best hit, then stale facts beside it. An answer that stays the same from stage
to stage is shown once, where it was worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, structs

from memrot.errors import BadInput
from memrot.lines import format_instant
from memrot.model import BAND_WEIGHT, Hit, Instant, Probe, Reason
from memrot.observations import Observations
from memrot.timeline import Timeline
from memrot.truth import GroundTruth

State: TypeAlias = Literal["current", "reasserted", "grace", "stale", "early", "unattributed"]

NARROW, WIDTH = 80, 100
"""The fewest and the most columns of a terminal that evidence is laid out for."""


class HitSeen(Struct, frozen=True, kw_only=True):
    hit: Hit
    state: State
    of_key: bool
    """Whether the hit is of the probe's own key."""
    text: str
    end: str | None
    """For a stale hit: what ended it."""


class Evidence(Struct, frozen=True, kw_only=True):
    """One answer. ``stages``: at how many asked stages it was wrong with the same stale hits."""

    probe: Probe
    seq: int
    at: Instant
    hits: tuple[HitSeen, ...]
    truth: tuple[str, ...]
    stages: int

    @property
    def badness(self) -> tuple[bool, float, float, int]:
        stale = [seen for seen in self.hits if seen.state == "stale"]
        own = sum(BAND_WEIGHT[seen.hit.band] for seen in stale if seen.of_key)
        other = sum(BAND_WEIGHT[seen.hit.band] for seen in stale if not seen.of_key)
        return (_confidently_wrong(self.hits), own, other, self.stages)


def evidence(
    exam: Timeline, seen: Observations, *, probe: str | None = None, worst: int = 3
) -> list[Evidence]:
    """The worst answers, or the worst of one probe; at most ``worst``. Raises BadInput."""
    probes = {each.id: each for each in exam.probes}
    if probe is not None and probe not in probes:
        known = ", ".join(list(probes)[:12])
        raise BadInput(
            f"unknown probe {probe!r}: expected one of {known}{' ...' if len(probes) > 12 else ''}"
        )
    case = Case(exam)
    found: dict[tuple[str, tuple[str, ...]], list[Evidence]] = {}
    for stage in seen.stages:
        for asked in stage.asked:
            wanted = probes.get(asked.probe)
            if wanted is None or wanted.mode != "current" or probe not in (None, wanted.id):
                continue
            answer = case.answer(wanted, stage.seq, asked.hits)
            stale = tuple(sorted(str(each.hit.fact) for each in answer.hits if each.state == "stale"))
            if stale or probe is not None:
                found.setdefault((wanted.id, stale), []).append(answer)
    shown = [
        structs.replace(max(same, key=lambda each: each.badness), stages=len(same)) for same in found.values()
    ]
    return sorted(shown, key=lambda each: (each.badness, -each.seq), reverse=True)[:worst]


LEGEND = "✓ true of what was asked  ✗ no longer (or not yet) true  · about something else"


def render(found: Sequence[Evidence], *, colour: bool = False, width: int = WIDTH) -> str:
    """Evidence as text of ``width`` columns, but not under ``NARROW`` nor over ``WIDTH``; colour is ANSI."""
    page = _Page(colour, max(NARROW, min(width, WIDTH)))
    return "\n\n".join(page.answer(each) for each in found)


class Case:
    """A timeline's truth, in words: the state of a hit, and what ended a fact."""

    def __init__(self, exam: Timeline) -> None:
        self.truth = GroundTruth.of(exam)
        self.told = GroundTruth.of(exam, announced_only=True)
        self.stage_of = {stage.seq: stage for stage in exam.stages}
        self.reasons: dict[int, Reason] = {
            event.seq: reason
            for event in exam.events
            if (reason := getattr(event, "reason", None)) is not None
        }

    def answer(self, probe: Probe, seq: int, hits: Sequence[Hit]) -> Evidence:
        stage = self.stage_of[seq]
        return Evidence(
            probe=probe,
            seq=seq,
            at=stage.at,
            hits=tuple(self.hit(probe, stage.index, hit) for hit in hits if hit.band != "withhold"),
            truth=tuple(self.fact(f) for f in self.truth.true_of_key(probe.key, stage.index)),
            stages=1,
        )

    def fact(self, f: int) -> str:
        """A true fact and since when it is."""
        since = self.when(int(self.truth.begins[f]))
        silent = "" if self.truth.told[f] else ", never announced"
        return f"{self.truth.facts[f].text}  ({self.truth.fact_ids[f]}, since {since}{silent})"

    def hit(self, probe: Probe, stage: int, hit: Hit) -> HitSeen:
        f = self.truth.index.get(hit.fact) if hit.fact is not None else None
        if f is None or self.truth.introduced[f] > stage:
            return HitSeen(hit=hit, state="unattributed", of_key=True, text="text of no known fact", end=None)
        state = self.state(f, stage)
        fact = self.truth.facts[f]
        return HitSeen(
            hit=hit,
            state=state,
            of_key=fact.key == probe.key,
            text=fact.text,
            end=self.end(f, stage) if state == "stale" else None,
        )

    def state(self, f: int, stage: int) -> State:
        """METRICS.md §2."""
        truth = self.truth
        if truth.begins[f] <= stage < truth.ends[f]:
            return "current"
        if truth.ends[f] > stage:
            return "early"
        fact = truth.facts[f]
        if any(truth.facts[g].value == fact.value for g in truth.true_of_key(fact.key, stage)):
            return "reasserted"
        return "grace" if stage < truth.grace_ends[f] else "stale"

    def end(self, f: int, stage: int) -> str:
        """What ended a fact, when, and whether the memory was told."""
        truth = self.truth
        end, seq, through = int(truth.ends[f]), truth.ended_by[f], truth.ended_through[f]
        when = f"{self.when(end)}{'' if seq is None else f' (seq {seq})'}"
        other = "" if through is None else f"{truth.fact_ids[through]}: {truth.facts[through].text}"
        match truth.causes[f]:
            case "invalidated":
                reason = self.reasons.get(seq, "") if seq is not None else ""
                said = f"invalidated {when}: {reason}"
            case "superseded":
                said = f"superseded {when} by {other}"
            case "contradicted":
                said = f"contradicted {when} by {other}"
            case "cascaded":
                said = f"fell {when} with its support {other}"
            case _:
                said = f"reached its stated end {when}"
        return said if self.told.ends[f] <= stage else f"{said} [the memory was not told]"

    def when(self, stage: int) -> str:
        return format_instant(int(self.truth.times[stage]))[:10]


class _Page:
    def __init__(self, colour: bool, width: int) -> None:
        self._colour = colour
        self._width = width

    def answer(self, each: Evidence) -> str:
        wrong = any(seen.state == "stale" for seen in each.hits)
        moment = format_instant(each.at).replace("T", " ")[:16]
        title = f"{moment}  seq {each.seq}  probe {each.probe.id} ({each.probe.tests})"
        if wrong:
            title += f"  ·  so at {each.stages} stage{'s' if each.stages > 1 else ''}"
        lines = [self.paint(title, "1"), *self.wrapped(f"asked    {each.probe.question}", 9)]
        truths = each.truth or ('nothing of this key is true: the right answer is "I don\'t know"',)
        for i, truth in enumerate(truths):
            lines += [
                self.paint(line, "32")
                for line in self.wrapped(f"{'truth   ' if i == 0 else '        '} {truth}", 9)
            ]
        if not each.hits:
            lines.append("answer   nothing")
        else:
            lines.append(self.paint("answer    sim   conf  band    state", "2"))
        for rank, seen in enumerate(each.hits, start=1):
            lines += self.hit(rank, seen)
        return "\n".join(lines)

    def hit(self, rank: int, seen: HitSeen) -> list[str]:
        hit = seen.hit
        wrong = seen.state in ("stale", "early")
        mark = "✗" if wrong else "✓" if seen.of_key and seen.state in ("current", "reasserted") else "·"
        numbers = f"{hit.similarity:6.3f} {hit.confidence:5.2f}  {hit.band:<7} {seen.state:<12}"
        head = f"  {mark} {rank:>2}. {numbers} {hit.fact or '-'}  "
        style = "31" if wrong else "0" if seen.of_key else "2"
        lines = [self.paint(line, style) for line in self.wrapped(head + seen.text, 45)]
        if seen.end is not None:
            lines += [self.paint(line, "33") for line in self.wrapped(" " * 9 + "↳ " + seen.end, 11)]
        return lines

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour else text

    def wrapped(self, text: str, indent: int) -> list[str]:
        """Lines that fit; the first one keeps its own spacing."""
        lines = [text]
        while len(lines[-1]) > self._width:
            last = lines.pop()
            cut = last.rfind(" ", indent + 1, self._width + 1)
            cut = self._width if cut < 0 else cut
            lines += [last[:cut].rstrip(), " " * indent + last[cut:].lstrip()]
        return lines


def _confidently_wrong(hits: Sequence[HitSeen]) -> bool:
    """Whether the best hit of the key is stale and asserted (METRICS.md §3)."""
    own = [seen for seen in hits if seen.of_key]
    return bool(own) and own[0].state == "stale" and own[0].hit.band == "assert"
