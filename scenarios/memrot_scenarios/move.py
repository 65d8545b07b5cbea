"""People move house, and what stood on the old address falls with it.

The person world's counterpart of project/service-rewrite: a city and an address for a language and a
database, the doctor, the gym and the spare keys for what was built on them. Who moves to another town
has another address; who moves round the corner keeps the doctor.

Provokes: the old city, address or phone number is still given as the answer, and so are the doctor
round the corner, the landlord and the neighbour with the keys. In life a move is told once, in one
sentence; nobody tells an assistant that the gym of the old town is gone as well.

The opposite failure: the people who did not move, of whom the same words are said, lose their facts,
or what somebody owes to a person who moved is thrown away with it.
"""

from __future__ import annotations

from memrot_scenarios.area import Area
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, quiet, silently, writing
from memrot_scenarios.turns import rebuilt, remembered
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    *busy, calm, calmer = area.people
    movers = busy[:2] if area.small else busy[:3]
    nearby = busy[1:3] if area.small else busy[2:5]
    pages = {
        person: [
            Line("city", "revision" if person in movers else None),
            Line("doctor", "cascade" if person in movers else None, on=("city",)),
            Line("gym", "cascade" if person in movers[:2] else None, on=("city",)),
            Line("address", "revision" if person in nearby else None, on=("city",)),
            Line("landlord", "cascade" if person in nearby[:1] else None, on=("address",)),
            Line("keys", "cascade" if person in nearby[1:] else None, on=("address",)),
            Line("phone", "revision" if person in busy[:2] else None),
            Line("email", "revision" if person in busy[1:3] else None),
            Line("drink", "revision" if person in busy[:1] else None),
            Line("commute", "revision" if person in busy[3:4] else None),
            Line("birthday", "preservation" if person in busy[2:3] else None),
        ]
        for person in busy
    }
    for person, other in ((calm, movers[0]), (calmer, movers[1])):
        pages[person] = [
            Line("city", "preservation"),
            Line("address", "preservation"),
            Line("doctor", "preservation" if person == calmer else None),
            Line("phone", "preservation" if person == calm else None),
            Line("hobby"),
            Line("mother_tongue"),
            Line("introduced_by", "over_propagation", value=other),
        ]
    return [
        writing(area, pages),
        quiet(area, 7 if area.small else 10),
        *(rebuilt(area, person, "city", ("address", "doctor", "gym"), 2) for person in movers),
        *(rebuilt(area, person, "address", ("landlord", "keys"), 1) for person in nearby),
        silently(area, (busy[2], "email"), 0.3, 0.6),
        *background(
            area,
            [(busy[0], "drink"), *((person, name) for person in busy for name in ("phone", "commute"))],
            22 if area.small else 32,
        ),
        remembered(area, (movers[0], "city"), 0.5, 0.6),
    ]


SCENARIO = Scenario(id="person/move", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
