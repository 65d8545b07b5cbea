"""The person world: a few people who share one assistant, and what it remembers about each of them.

Sentences are written as in ``statements``: ``{s}`` is the person, ``{v}`` the value, and no question
shares a run of four words with a sentence of its predicate. Every fact class has predicates of its
own; a class's domain is its name in capitals. Values are invented, as all names are.
"""

from __future__ import annotations

from random import Random

from memrot.timeline import Domain
from memrot_scenarios.person_attributes import ATTRIBUTES
from memrot_scenarios.person_life import LIFE
from memrot_scenarios.setting import Cast, World
from memrot_scenarios.words import PEOPLE

CLASSES: dict[str, str] = {
    name.upper(): name
    for name in (
        "identity", "slow_attribute", "preference", "relationship", "working_context", "commitment",
        "episode", "session", "regulated",
    )
}  # fmt: skip
"""Domain -> fact class."""

PERSON_DOMAINS: dict[str, Domain] = {
    "IDENTITY": Domain(),
    "SLOW_ATTRIBUTE": Domain(window_days=240),
    "PREFERENCE": Domain(window_days=150),
    "RELATIONSHIP": Domain(window_days=210),
    "WORKING_CONTEXT": Domain(window_days=45),
    "COMMITMENT": Domain(grace_days=7),
    "EPISODE": Domain(window_days=120),
    "SESSION": Domain(window_days=1),
    "REGULATED": Domain(),
}
"""Days after which a reader of a domain wants a re-check; who someone is, what they promised (until
its stated end), and what the law has on record is not re-checked."""


def _cast(rng: Random, number: int, small: bool) -> Cast:
    people = rng.sample(PEOPLE, 6 if small else 8)
    return Cast(people=tuple(f"{person} {number}" if number else person for person in people))


PERSON = World(predicates=ATTRIBUTES | LIFE, domains=PERSON_DOMAINS, cast=_cast, classes=CLASSES)
