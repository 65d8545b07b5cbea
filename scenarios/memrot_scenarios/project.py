"""The project world: services, their teams, and the people on them."""

from __future__ import annotations

from random import Random

from memrot_scenarios.setting import Cast, World
from memrot_scenarios.statements import DOMAINS, PREDICATES
from memrot_scenarios.words import PEOPLE, SERVICES, TEAMS


def _cast(rng: Random, number: int, small: bool) -> Cast:
    services = rng.sample(SERVICES, 6 if small else 8)
    teams = rng.sample(TEAMS, 8)
    if number:  # names repeat from area to area
        services = [f"{service}-{number}" for service in services]
        teams = [f"{team}-{number}" for team in teams]
    return Cast(services=tuple(services), teams=tuple(teams), people=PEOPLE)


PROJECT = World(predicates=PREDICATES, domains=DOMAINS, cast=_cast)
