"""Continuous revalidation: how far a memory lags behind quantities that drift, and what looking again costs.

Nothing ever invalidates the size of a team or a latency, so neither events nor their scores apply. What
counts is how far the value that a memory holds is from the latest reading, over time; how old it is; and
the opposite failure, revising for noise. Shares of time are of each key's time from its first reading to
the last reading of all; keys weigh equally.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from tabulate import tabulate

from memrot.errors import BadInput
from memrot.model import (
    DAY,
    ChangeEvent,
    Fact,
    FactAdded,
    FactConfirmed,
    FactRevised,
    Instant,
    Key,
    Reading,
)
from memrot.readings import Belief, Readings
from memrot.timeline import Domain, Header, Timeline

Beliefs: TypeAlias = Mapping[Key, Sequence[Belief]]

POLICIES = ("never", "every:90", "every:30", "every:7", "beyond", "beyond:2", "always")
"""What is shown unless others are asked for."""

_POLICY = re.compile(r"(never|always)|(every|beyond):([1-9]\d*)|(beyond)")
_DOMAIN = "GRADUAL"
_LEGEND = """error: mean absolute error relative to the latest reading; within: share of time within its
tolerance; age: since the value was last confirmed or revised; noise: share of revisions that a
confirmation would have done for, or that the next one took back."""


class Measured(Struct, frozen=True, kw_only=True):
    """How well a memory kept up with the readings."""

    error: float | None
    """Mean absolute relative error while the memory held a value; None: it never did."""
    within: float
    """Share of time within tolerance; without a value it is not."""
    age_days: float | None
    """Mean time since the value was last confirmed or revised."""
    revisions: int
    confirmations: int
    noise: float | None
    """Share of revisions that a confirmation would have done for, or that the next one took back."""


def follow(policy: str, readings: Readings) -> dict[Key, tuple[Belief, ...]]:
    """What a memory holds that looks again by a policy: ``never`` (it keeps its first value), ``always``
    (it takes every reading), ``every:N`` (every N days it looks, and revises what is beyond tolerance),
    ``beyond`` or ``beyond:N`` (it revises after N readings in a row beyond tolerance). Raises BadInput.
    """
    match = _POLICY.fullmatch(policy)
    if match is None:
        raise BadInput(
            f"unknown policy {policy!r}: expected never, always, every:DAYS, beyond or beyond:READINGS"
        )
    number = int(match[3] or 1)
    how, end = match[1] or match[2] or match[4], _end(readings)
    if how == "never":
        return {key: (_taken(found[0]),) for key, found in readings.of.items()}
    if how == "always":
        return {key: tuple(map(_taken, found)) for key, found in readings.of.items()}
    if how == "every":
        return {key: tuple(_every(found, number, end)) for key, found in readings.of.items()}
    return {key: tuple(_beyond(found, number)) for key, found in readings.of.items()}


def _every(found: Sequence[Reading], days: int, end: Instant) -> Iterable[Belief]:
    held = _taken(found[0])
    yield held
    latest = iter([*found[1:], None])
    reading, ahead = found[0], next(latest)
    for at in range(held.at + days * DAY, end + 1, days * DAY):
        while ahead is not None and ahead.at <= at:
            reading, ahead = ahead, next(latest)
        held = Belief(held.key, held.value if _fits(held.value, reading) else reading.value, at)
        yield held


def _beyond(found: Sequence[Reading], times: int) -> Iterable[Belief]:
    held = _taken(found[0])
    yield held
    row = 0
    for reading in found[1:]:
        row = 0 if _fits(held.value, reading) else row + 1
        if row in {0, times}:
            held = Belief(held.key, reading.value if row else held.value, reading.at)
            yield held
            row = 0


def measure(beliefs: Beliefs, readings: Readings) -> Measured:
    """Raises BadInput for a belief in what was never read."""
    unknown = sorted(set(beliefs) - set(readings.of))
    if unknown:
        raise BadInput(f"a belief about {list(unknown[0])}, of which there is no reading")
    end = _end(readings)
    each = [_kept_up(beliefs.get(key, ()), found, end) for key, found in readings.of.items()]
    revised = [belief for found in beliefs.values() for belief in _revisions(found)]
    noise = sum(_noise(beliefs[key], readings.of[key]) for key in beliefs)
    held = [one for one in each if one[2] > 0]
    return Measured(
        error=float(np.mean([one[0] for one in held])) if held else None,
        within=float(np.mean([one[1] for one in each])),
        age_days=float(np.mean([one[3] for one in held])) / DAY if held else None,
        revisions=len(revised),
        confirmations=sum(len(found) - 1 for found in beliefs.values() if found) - len(revised),
        noise=noise / len(revised) if revised else None,
    )


def _kept_up(
    beliefs: Sequence[Belief], found: Sequence[Reading], end: Instant
) -> tuple[float, float, float, float]:
    """Error while it held a value, share of all time within tolerance, time with a value, age meanwhile."""
    begin = found[0].at
    edges = np.unique([begin, end, *(r.at for r in found), *(b.at for b in beliefs if begin < b.at < end)])
    if len(edges) == 1:  # one instant: it stands for itself
        edges = np.array([begin, begin + 1])
    starts, spans = edges[:-1], np.diff(edges).astype(float)
    read = _latest([r.at for r in found], starts)
    values = np.array([r.value for r in found])[read]
    tolerances = np.array([r.tolerance for r in found])[read]
    told = _latest([b.at for b in beliefs], starts)
    known = told >= 0
    if not known.any():
        return 0.0, 0.0, 0.0, 0.0
    held = np.array([b.value for b in beliefs])[told]
    since = np.array([b.at for b in beliefs], dtype=float)[told]
    errors = np.abs(held - values) / np.abs(values)
    ages = starts - since + spans / 2
    weights = spans * known
    return (
        float(errors @ weights / weights.sum()),
        float((errors <= tolerances) @ weights / spans.sum()),
        float(weights.sum()),
        float(ages @ weights / weights.sum()),
    )


def _latest(instants: Sequence[Instant], at: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of the last instant by each moment; -1: none yet."""
    return np.searchsorted(np.array(instants, dtype=np.int64), at, side="right") - 1


def _revisions(beliefs: Sequence[Belief]) -> list[Belief]:
    return [after for before, after in pairwise(beliefs) if after.value != before.value]


def _noise(beliefs: Sequence[Belief], found: Sequence[Reading]) -> int:
    """How many revisions were needless, or were taken back by the next one."""
    values = [*beliefs[:1], *_revisions(beliefs)]
    count = 0
    for place, (before, after) in enumerate(pairwise(values)):
        reading = found[max(0, int(_latest([r.at for r in found], np.array([after.at]))[0]))]
        following = values[place + 2] if place + 2 < len(values) else None
        back = following is not None and abs(following.value - before.value) <= reading.tolerance * abs(
            before.value
        )
        count += _fits(before.value, reading) or back
    return count


def table(rows: Mapping[str, Measured], shape: Literal["table", "markdown", "json"] = "table") -> str:
    """A row a policy, or a memory."""
    if shape == "json":
        return msgspec.json.format(msgspec.json.encode(rows), indent=1).decode()
    body = [
        [
            name,
            _shown(each.error, 3),
            f"{each.within:.3f}",
            _shown(each.age_days, 1),
            each.revisions,
            each.confirmations,
            _shown(each.noise, 3),
        ]
        for name, each in rows.items()
    ]
    text: str = tabulate(
        body,
        ["revalidates", "error", "within", "age, days", "revisions", "confirmations", "noise"],
        tablefmt="github" if shape == "markdown" else "simple",
        colalign=("left", *("right",) * 6),
        disable_numparse=True,
    )
    return f"{text}\n\n{_LEGEND}"


def _shown(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def proposals(beliefs: Beliefs, readings: Readings) -> Timeline:
    """The additions, confirmations and revisions that the beliefs amount to, as a timeline."""
    events: list[ChangeEvent] = []
    current: dict[Key, tuple[str, float]] = {}
    for belief in sorted((each for found in beliefs.values() for each in found), key=lambda each: each.at):
        seq, known = len(events) + 1, current.get(belief.key)
        if known is not None and known[1] == belief.value:
            events.append(FactConfirmed(seq=seq, at=belief.at, fact=known[0]))
            continue
        subject, predicate = belief.key
        fact = Fact(
            id=f"g{seq}", subject=subject, predicate=predicate, value=f"{belief.value:g}", domain=_DOMAIN,
            text=f"The {predicate} of {subject} is {belief.value:g}.",
        )  # fmt: skip
        if known is None:
            events.append(FactAdded(seq=seq, at=belief.at, fact=fact))
        else:
            events.append(FactRevised(seq=seq, at=belief.at, previous=known[0], current=fact))
        current[belief.key] = (fact.id, belief.value)
    header = Header(
        id=readings.header.id or "readings", seed=readings.header.seed, domains={_DOMAIN: Domain()},
        note="proposed by revalidation",
    )  # fmt: skip
    return Timeline.of(header, events, [])


def _taken(reading: Reading) -> Belief:
    return Belief(reading.key, reading.value, reading.at)


def _fits(value: float, reading: Reading) -> bool:
    return abs(value - reading.value) <= reading.tolerance * abs(reading.value)


def _end(readings: Readings) -> Instant:
    return max(found[-1].at for found in readings.of.values())
