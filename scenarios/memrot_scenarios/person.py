"""The person world: a few people who share one assistant, and what it remembers about each of them."""

from __future__ import annotations

from random import Random

from memrot_scenarios.person_statements import CLASSES, PERSON_DOMAINS, PERSON_PREDICATES
from memrot_scenarios.setting import Cast, World
from memrot_scenarios.words import PEOPLE


def _cast(rng: Random, number: int, small: bool) -> Cast:
    people = rng.sample(PEOPLE, 6 if small else 8)
    return Cast(people=tuple(f"{person} {number}" if number else person for person in people))


PERSON = World(predicates=PERSON_PREDICATES, domains=PERSON_DOMAINS, cast=_cast, classes=CLASSES)
