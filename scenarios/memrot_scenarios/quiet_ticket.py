"""A ticket went quiet.

Provokes: "is waiting for an answer on ticket 8841" is told half a year after the answer came. What
somebody is in the middle of ends within weeks, without a word: the case is closed by a mail that the
assistant never saw, the book goes back to the shelf, the tax return is posted. A new case is told as
if there had never been an old one.

Bounds that the texts state: none.

The opposite failure: a case that drags on for months, and is spoken of every few weeks, is dropped
because it was opened long ago.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around, days
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.talk import talking
from memrot_scenarios.world import Scenario

_LONGEST = 75
"""Days that a piece of work lasts at most, where it does not drag on."""


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.people
    closed = [
        (one, "ticket"), (two, "ticket"), (three, "task"), (four, "reading"), (one, "task"), (two, "reading"),
    ][: 4 if area.small else 6]  # fmt: skip
    dragging = [(three, "ticket"), (calm[0], "ticket"), (calm[1], "task"), (calm[0], "reading")]
    if area.small:
        dragging = dragging[:3]
    drifting = [
        (one, "phone"), (two, "commute"), (three, "drink"), (four, "manager"), (one, "commute"),
        (two, "phone"), (three, "manager"), (four, "drink"), (calm[0], "phone"), (calm[1], "commute"),
        (one, "drink"), (two, "manager"), (three, "phone"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(drifting[:9], "revision"),
        **dict.fromkeys(
            [(four, "email"), (calm[0], "city"), (calm[1], "email"), (one, "city"), (three, "hobby")],
            "preservation",
        ),
    }
    usual = ("phone", "commute", "drink", "manager", "email", "city", "hobby")
    lines = {person: [Line(name) for name in usual] for person in area.people}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 3),
        *(_closed(area, key, 0.05 * n) for n, key in enumerate(closed)),
        _dragging(area, dragging),
        silently(area, (four, "hobby"), 0.3, 0.6),
        *background(area, drifting, 18 if area.small else 27),
        talking(area, [*drifting[:3], *closed, *dragging], 8),
    ]


def _closed(area: Area, key: Key, share: float) -> Story:
    """One piece of work, and much later another of its kind; nobody says when they are done."""
    yield within(area, 0.01 + share, 0.1 + share)
    for again in (False, True):
        work = area.add(*key, tended=False)
        if not again:
            area.ask(*key, "unannounced")
        yield min(6 + days(area.rng, "task"), _LONGEST)
        area.drop(work, "obsolete", announced=False)
        yield around(area.rng, 120)
        if again:
            area.mention(work)
        yield around(area.rng, 60)


def _dragging(area: Area, keys: Sequence[Key]) -> Story:
    """They drag on beyond all that is asked here; at one meeting after another people speak of them,
    and now and then somebody looks."""
    works = []
    for key in keys:
        yield within(area, 0.02, 0.06)
        works.append(area.add(*key, tended=True))
        area.ask(*key, "over_forgetting")
    while True:
        yield 40 + 17 * area.rng.random()
        for work in works:
            area.mention(work)


SCENARIO = Scenario(id="person/quiet-ticket", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
