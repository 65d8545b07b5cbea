"""What a world is made of: what can be said in it, how soon it ages, and who or what it is said of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from msgspec import Struct

from memrot.timeline import Domain
from memrot_scenarios.lifetimes import Kind


class Predicate(Struct, frozen=True):
    domain: str
    holds: Kind
    values: tuple[str, ...]
    """Empty: the names of services; in a world without services, of people."""
    texts: tuple[str, ...]
    questions: tuple[str, ...]
    past: str = ""
    """The question about its history, where one is asked."""
    many: bool = False
    dated: tuple[str, ...] = ()
    """Sentences that also state the end, as ``{e}``, for facts that have one."""


def predicate(
    domain: str, holds: Kind, values: str, texts: tuple[str, ...], questions: tuple[str, ...],
    *, past: str = "", many: bool = False, dated: tuple[str, ...] = (),
) -> Predicate:  # fmt: skip
    """A predicate whose values are listed in one string, with ``|`` between them."""
    listed = tuple(values.split("|")) if values else ()
    return Predicate(domain, holds, listed, texts, questions, past, many, dated)


class Cast(Struct, frozen=True, kw_only=True):
    """Who or what the facts of one area are about."""

    services: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


class World(Struct, frozen=True, kw_only=True):
    predicates: Mapping[str, Predicate]
    domains: Mapping[str, Domain]
    cast: Callable[[Random, int, bool], Cast]
    """The cast of an area, by its number and whether it is smoke-sized."""
    classes: Mapping[str, str] = {}
    """Domain -> the fact class of its facts, where the world names classes."""
