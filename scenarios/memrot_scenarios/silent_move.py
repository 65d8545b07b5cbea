"""The user moved, and never said so.

The person world's counterpart of project/unannounced.

Provokes: a memory goes on asserting what it was told long ago. Most changes in a life reach
no assistant: a number is given up, a taste is lost, a flat is left, and the old sentence stays. Only
time can make a memory doubt it. People go on mentioning the old town, which proves nothing; some of
the changes come up months later.

The opposite failure: eager expiry forgets what is old, still true, and was confirmed again and again.
"""

from __future__ import annotations

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, writing
from memrot_scenarios.turns import ended_unsaid, learnt_late
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    revised = [(one, "city"), (two, "drink"), (three, "partner"), (four, "email"), (one, "music")]
    ended = [(one, "flatmate"), (two, "gym"), (three, "dog_sitter"), (four, "diet")]
    learnt = [(two, "city"), (three, "drink"), (four, "manager"), (one, "phone"), (two, "commute")]
    if area.small:
        revised, ended, learnt = revised[:4], ended[:3], learnt[:3]
    confirmed = [
        (calm[0], "city"),
        (calm[0], "partner"),
        (calm[0], "drink"),
        (calm[1], "partner"),
        (calm[1], "manager"),
        (calm[1], "phone"),
    ]
    announced = [
        (one, "partner"), (two, "partner"), (four, "city"), (three, "manager"), (four, "partner"),
        (three, "phone"), (one, "manager"), (two, "manager"), (calm[0], "manager"), (calm[0], "dog_sitter"),
        (calm[1], "commute"), (calm[1], "dog_sitter"), (one, "dog_sitter"), (two, "phone"),
        (three, "commute"), (four, "phone"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys((*revised, *ended, *learnt), "unannounced"),
        **dict.fromkeys(confirmed, "over_forgetting"),
        **dict.fromkeys(announced[:8], "revision"),
        **dict.fromkeys([(calm[0], "birthday"), (calm[1], "diet")], "preservation"),
    }
    usual = (
        "city", "drink", "partner", "email", "music", "flatmate", "gym", "dog_sitter", "diet", "manager",
        "phone", "commute", "birthday",
    )  # fmt: skip
    looked_after = {**dict.fromkeys(confirmed, True), **dict.fromkeys((*revised, *ended), False)}
    lines = {
        person: [Line(name, tended=looked_after.get((person, name))) for name in usual]
        for person in area.people
    }
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(ended_unsaid(area, key, replaced=True) for key in revised),
        *(ended_unsaid(area, key, replaced=False) for key in ended),
        *(learnt_late(area, key) for key in learnt),
        *background(area, announced, 26 if area.small else 38),
    ]


SCENARIO = Scenario(id="person/silent-move", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
