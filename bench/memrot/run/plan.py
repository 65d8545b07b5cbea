"""From what was asked to what has to be done: stacks, timelines, terms. Nothing is measured here."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.metadata import version
from pathlib import Path

import numpy as np
from msgspec import Struct

import memrot
from memrot import layers, names, registry, suite, timeline
from memrot.cells import Terms
from memrot.controls import CONTROLS
from memrot.embed.base import Embedder
from memrot.errors import BadInput
from memrot.names import StackName
from memrot.observations import EmbedderId, identity_of
from memrot.results import Settings
from memrot.run.worker import changes_to
from memrot.timeline import Timeline


class Request(Struct, frozen=True, kw_only=True):
    """What a person asks of ``memrot run``; stacks, scenarios, seeds and k replace the profile's."""

    profile: str = "default"
    stacks: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    """Names of scenarios, or timeline files."""
    seeds: int | None = None
    k: int | None = None
    jobs: int = 1
    out: Path | None = None
    results: Path = Path("results")
    """Where a run gets a folder of its own if ``out`` names none."""
    forget_within: int = 3
    ask_every: int = 1
    timeout: float = 60.0
    """Seconds that one call of a memory may take."""
    embedder: str = "minilm"
    links_told: float = 1.0
    """The share of links that memories are told of."""
    fresh: bool = False
    pythons: Mapping[str, Path] = {}
    """Adapter -> the Python of an environment of its own, with the same memrot."""


class Introduced(Struct, frozen=True):
    """What an environment knows of an adapter without opening it."""

    memory: bool
    packages: dict[str, str | None]
    """What can change its numbers, with the versions that are installed."""


class Plan(Struct, frozen=True, kw_only=True):
    stacks: tuple[StackName, ...]
    introduced: dict[str, Introduced]
    """Adapters of this environment."""
    exams: tuple[Timeline, ...]
    settings: Settings
    embedders: dict[str, Embedder]
    """Those that timelines change to, by the names that they use."""


def planned(request: Request, embedder: Embedder) -> Plan:
    """Check everything that can be checked without a backend, and generate the timelines."""
    profile = suite.profile(request.profile)
    k = profile.k if request.k is None else request.k
    for what, number in (
        ("--k", k),
        ("--seeds", profile.seeds if request.seeds is None else request.seeds),
        ("--jobs", request.jobs),
        ("--forget-within", request.forget_within),
        ("--ask-every", request.ask_every),
    ):
        if number < 1:
            raise BadInput(f"{what}: expected a number from 1, got {number}")
    if not 0 <= request.links_told <= 1:
        raise BadInput(f"--links-told: expected a share from 0 to 1, got {request.links_told}")
    if not 0 < request.timeout < float("inf"):
        raise BadInput(f"--timeout: expected seconds above 0, got {request.timeout}")
    stacks, known = _stacks(request.stacks or profile.stacks, request.pythons.keys())
    exams = _exams(request.scenarios or profile.scenarios, request.seeds or profile.seeds)
    embedders = {name: registry.embedder(name) for name in sorted(set().union(*map(changes_to, exams)))}
    return Plan(
        stacks=stacks,
        introduced=known,
        exams=exams,
        settings=Settings(
            stacks=tuple(map(str, stacks)),
            timelines=tuple(identity_of(exam) for exam in exams),
            terms=Terms(
                suite=suite.VERSION,
                embedder=EmbedderId(
                    name=embedder.name, fingerprint=embedder.fingerprint, lexical=embedder.lexical
                ),
                k=k,
                forget_within=request.forget_within,
                ask_every=request.ask_every,
                links_told=request.links_told,
                swaps=tuple((name, each.fingerprint) for name, each in embedders.items()),
            ),
            memrot=memrot.__version__,
        ),
        embedders=embedders,
    )


def introduced(adapter: str) -> Introduced:
    """Of this environment; raises BadInput where the adapter is unknown in it."""
    registry.examinee(adapter)
    return Introduced(registry.is_memory(adapter), {**_always(), **registry.packages(adapter)})


def versions(known: Mapping[str, Introduced], elsewhere: AbstractSet[str]) -> dict[str, str | None]:
    """Of everything installed that can change a number, by package.

    What differs in the environment of an adapter of ``elsewhere`` stands there with the adapter's name.
    """
    found = _always()
    for adapter in sorted(known.keys() - elsewhere):
        found |= known[adapter].packages
    for adapter in sorted(known.keys() & elsewhere):
        others = {name: one for name, one in known[adapter].packages.items() if found.get(name) != one}
        found |= {f"{name} ({adapter})": one for name, one in others.items()}
    return found


def _always() -> dict[str, str | None]:
    return {
        "memrot": memrot.__version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "scipy": version("scipy"),
    }


def refuse_layers(stack: StackName, of: Introduced) -> None:
    """Raise BadInput where a whole memory was asked for with layers."""
    if of.memory and stack != stack.opened:
        raise BadInput(
            f"stack {str(stack)!r}: {stack.adapter} is a whole memory, which takes neither layers nor "
            "options of a stack"
        )


def _stacks(
    spelled: Sequence[str], elsewhere: AbstractSet[str]
) -> tuple[tuple[StackName, ...], dict[str, Introduced]]:
    """And what is known of their adapters here; what is installed elsewhere is looked up there, later."""
    known: dict[str, Introduced] = {}
    stacks = tuple(dict.fromkeys(names.parse(text) for text in spelled))
    for stack in stacks:
        if stack.adapter in CONTROLS:
            raise BadInput(f"{stack.adapter!r} is a control: it is in every run and takes no layers")
        if stack.adapter not in elsewhere:
            if stack.adapter not in known:
                known[stack.adapter] = introduced(stack.adapter)
            refuse_layers(stack, known[stack.adapter])
        layers.parse(stack.layers, facts=1)  # names are checked; how much an eviction keeps is not known yet
    if unasked := elsewhere - {stack.adapter for stack in stacks}:
        raise BadInput(f"--python: no stack of this run is of {min(unasked)!r}")
    return stacks, known


def _exams(scenarios: Sequence[str], seeds: int) -> tuple[Timeline, ...]:
    """Scenario by scenario, each with seeds 1..n; a timeline file stands for itself."""
    exams: dict[str, Timeline] = {}
    for name in scenarios:
        if name.endswith((".jsonl", ".jsonl.gz")):
            sat = [timeline.read(Path(name))]
        else:
            scenario = registry.scenario(name)
            sat = [scenario.generate(seed) for seed in range(1, seeds + 1)]
        exams.update((exam.digest, exam) for exam in sat)
    return tuple(exams.values())
