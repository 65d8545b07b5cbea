"""Timelines of known lifetimes: facts are told once, end in silence, and are asked for now and then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random

from memrot.model import DAY, ChangeEvent, Fact, FactAdded, FactInvalidated, Instant, Probe, TimePassed
from memrot.timeline import Domain, Header, Timeline

START: Instant = 1_700_000_000_000


def silent(
    lifetimes: Mapping[str, tuple[float, float]],
    each: int,
    *,
    horizon: int = 1000,
    seed: int = 1,
    asked: int = 0,
) -> Timeline:
    """``lifetimes``: class -> median days and Weibull shape. Facts are told over the whole horizon;
    ``asked`` of them are asked for, in sessions of one question, at random times."""
    rng = Random(f"silent/{seed}")
    planned: list[tuple[Instant, str, Fact]] = []
    facts: list[Fact] = []
    for name, (median, shape) in lifetimes.items():
        for number in range(each):
            told = START + round(rng.random() * horizon * DAY)
            days = median * (-math.log2(1 - rng.random())) ** (1 / shape)
            fact = Fact(
                id=f"{name}{number}", subject=f"{name} {number}", predicate="state", value=f"v{number}",
                domain=name.upper(), text=f"The state of {name} {number} is v{number}.",
            )  # fmt: skip
            facts.append(fact)
            planned.append((told, "told", fact))
            if told + days * DAY < START + horizon * DAY:
                planned.append((told + round(days * DAY), "ended", fact))
    planned.append((START + horizon * DAY, "passed", facts[0]))
    picked = rng.sample(facts, asked)
    began = {fact.id: at for at, what, fact in planned if what == "told"}
    moments = {
        fact.id: began[fact.id] + round(rng.random() * (START + horizon * DAY - began[fact.id]))
        for fact in picked
    }
    planned += [(moments[fact.id], "asked", fact) for fact in picked]
    planned.sort(key=lambda each: each[0])
    events: list[ChangeEvent] = []
    probes: list[Probe] = []
    for seq, (at, what, fact) in enumerate(planned, start=1):
        if what == "told":
            events.append(FactAdded(seq=seq, at=at, fact=fact))
        elif what == "ended":
            events.append(FactInvalidated(seq=seq, at=at, fact=fact.id, reason="obsolete", announced=False))
        else:
            events.append(TimePassed(seq=seq, at=at))
        if what == "asked":
            probes.append(
                Probe(
                    id=f"p{seq}", question=f"What is the state of {fact.subject}?", subject=fact.subject,
                    predicate="state", tests="unannounced", since=seq, until=seq + 1, session=f"s{seq}",
                )
            )  # fmt: skip
    domains = {name.upper(): Domain() for name in lifetimes}
    return Timeline.of(Header(id="silent", seed=seed, domains=domains), events, probes)
