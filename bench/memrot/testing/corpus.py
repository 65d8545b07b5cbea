"""Records to test stores with: sentences about a project, embedded by their spelling.

Their vectors lie in clusters, as those of real memories do; random vectors are all equally far from
each other, which is the worst case of an approximate index and no case of anybody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from memrot.embed.hashing import Hashing
from memrot.memory import Query, Record, Vector
from memrot.model import DAY, NEVER

DIM = Hashing.dim

_SERVICES = [
    "billing",
    "ledger",
    "search",
    "gateway",
    "auth",
    "catalog",
    "export",
    "payroll",
    "inbox",
    "quota",
]
_PEOPLE = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana"]
_SENTENCES = (
    "{service} is owned by {person} since week {number}.",
    "{person} leads the rewrite of {service} (ticket {number}).",
    "The deadline of {service} is day {number}, says {person}.",
    "{service} keeps its data in region {number}, as {person} asked.",
    "{person} dropped requirement {number} of {service}.",
)


def sentence(number: int) -> str:
    """The same sentence for the same number; no two are alike."""
    template = _SENTENCES[number % 5]
    return template.format(
        service=_SERVICES[number // 5 % 10], person=_PEOPLE[number // 50 % 10], number=number
    )


@cache
def vector(text: str) -> Vector:
    embedded: Vector = Hashing().embed([text])[0]
    return embedded


def record(number: int, record_id: str | None = None, **fields: int | str) -> Record:
    """A record of a sentence; every tenth never expires, and every other is of tenant 1."""
    text = sentence(number)
    expires = NEVER if number % 10 == 0 else number * DAY
    own: dict[str, int | str] = {"expires_at": expires, "tenant": number % 2, "label": f"n{number}"}
    return Record(f"f{number}" if record_id is None else record_id, text, vector(text), {**own, **fields})


def records(count: int) -> list[Record]:
    return [record(number) for number in range(count)]


def questions(texts: Sequence[str] = ()) -> list[Query]:
    """Those of one stage, or of ``texts``."""
    asked = texts or [
        question.format(service=service)
        for service in _SERVICES
        for question in ("Who owns {service}?", "Which day is the deadline of {service}?")
    ]
    return [Query(text, vector(text)) for text in asked]


def cosine(one: Vector, other: Vector) -> float:
    a, b = one.astype(np.float64), other.astype(np.float64)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
