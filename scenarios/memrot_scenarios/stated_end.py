"""Promises that say how long they hold.

Provokes: what was promised until May is still promised in June. In life a release stop, a vendor's
contract, a licence on trial state their own end, and because it was stated nobody announces it. Often
the date stands only in the sentence and not in any field. Promises are extended, shortened, or taken
back before their day, and for a week after it an overdue one is excused.

The opposite failure: a promise is dropped before its day because it is old, or a statement without an
end is given one.
"""

from __future__ import annotations

from msgspec.structs import replace

from memrot.model import DAY, Fact, Key, Tests
from memrot.timeline import Domain
from memrot_scenarios.area import Area, spoken_day
from memrot_scenarios.lifetimes import around
from memrot_scenarios.project import PROJECT
from memrot_scenarios.setting import Predicate
from memrot_scenarios.statements import DOMAINS, PREDICATES
from memrot_scenarios.stories import Line, Story, background, pages, quiet, within, writing
from memrot_scenarios.world import Scenario

_COMMITMENT = Domain(window_days=None, grace_days=7)


def _promise(texts: tuple[str, ...], questions: tuple[str, ...], past: str = "") -> Predicate:
    """Its value is the day on which it ends."""
    return Predicate("COMMITMENT", "requirement", (), texts, questions, past)


_PROMISES = {
    "freeze": _promise(
        ("{s} takes no releases until {v}.", "Releases of {s} are frozen up to {v}."),
        ("On what day can we ship {s} again?", "Is there a release stop on {s}, and how long will it last?"),
        "Which release stops has {s} had so far?",
    ),
    "contract": _promise(
        ("The support contract for {s} runs out on {v}.", "{s} is covered by vendor support through {v}."),
        ("How long will the vendor help us with {s}?", "When does the vendor's help with {s} expire?"),
    ),
    "trial": _promise(
        ("{s} may use the trial licence until {v}.", "The trial licence of {s} is good until {v}."),
        ("When does the test licence in {s} run out?", "For how long can we try out the licence in {s}?"),
    ),
    "discount": _promise(
        ("The hosting discount for {s} holds until {v}.", "Until {v} the hosting of {s} is discounted."),
        ("Do we get hosting for {s} cheaper, and how long?", "When does the price cut for running {s} end?"),
    ),
}
_WORLD = replace(
    PROJECT, predicates={**PREDICATES, **_PROMISES}, domains={**DOMAINS, "COMMITMENT": _COMMITMENT}
)


def _script(area: Area) -> list[Story]:
    one, two, three, four, *calm = area.services
    kept = [
        (one, "freeze"), (two, "contract"), (three, "trial"), (four, "discount"), (two, "freeze"),
        (calm[0], "contract"),
    ][: 4 if area.small else 6]  # fmt: skip
    untold = [(three, "freeze"), (one, "contract"), (four, "trial")][: 2 if area.small else 3]
    extended = [(four, "freeze"), (three, "contract"), (calm[1], "discount")][: 2 if area.small else 3]
    withdrawn = [(one, "discount"), (two, "trial")]
    lasting = [(calm[0], "freeze"), (calm[1], "contract")]
    drifting = [
        (one, "owner"), (two, "oncall"), (three, "owner"), (four, "image"), (one, "oncall"), (two, "image"),
        (three, "oncall"), (four, "owner"), (one, "image"), (two, "owner"), (four, "oncall"),
        (three, "image"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **dict.fromkeys(drifting[:4], "revision"),
        **dict.fromkeys([(calm[0], "owner"), (calm[1], "oncall"), (calm[0], "latency")], "preservation"),
        **dict.fromkeys([(calm[1], "quota"), (three, "quota")], "preservation"),
    }
    usual = ("owner", "oncall", "image", "region", "latency", "quota", "database")
    lines = {service: [Line(name) for name in usual] for service in area.services}
    return [
        writing(area, pages(lines, asked)),
        quiet(area, 7 if area.small else 10),
        *(_kept(area, key, n / len(kept), again=n < 2) for n, key in enumerate(kept)),
        *(_untold(area, key) for key in untold),
        *(_extended(area, key) for key in extended),
        *(_withdrawn(area, key) for key in withdrawn),
        *(_lasting(area, key) for key in lasting),
        _remembered(area, kept[0]),
        *background(area, drifting, 22 if area.small else 34),
    ]


def _made(area: Area, key: Key, days: int, *, stated: bool = True) -> Fact:
    """A promise for so many days; ``stated``: also in the field, not only in the sentence."""
    return area.add(*key, _day(area, days), lasts=days if stated else None, tended=False)


def _day(area: Area, days: int) -> str:
    return spoken_day(area.log.at + days * DAY)


def _kept(area: Area, key: Key, share: float, *, again: bool) -> Story:
    """A promise holds until its day; some are given anew months later."""
    yield within(area, 0.1 * share, 0.02 + 0.1 * share)
    _made(area, key, round(area.horizon * (0.12 + 0.45 * share)) + area.rng.randrange(40))
    area.ask(*key, "stated_end")
    if again:
        yield area.horizon * 0.35 + around(area.rng, 40)
        _made(area, key, area.rng.randrange(40, 90))


def _untold(area: Area, key: Key) -> Story:
    """The day stands in the sentence alone; when it has come, nobody says so."""
    yield within(area, 0.0, 0.1)
    days = area.rng.randrange(90, 300)
    promise = _made(area, key, days, stated=False)
    area.ask(*key, "stated_end")
    yield days
    if area.present.holds(promise):
        area.drop(promise, "obsolete", announced=False)


def _extended(area: Area, key: Key) -> Story:
    """Before its day the promise is given a later one."""
    yield within(area, 0.0, 0.1)
    days = area.rng.randrange(120, 250)
    promise = _made(area, key, days)
    area.ask(*key, "stated_end")
    yield days * (0.4 + 0.4 * area.rng.random())
    if area.present.holds(promise):
        more = area.rng.randrange(90, 160)
        area.revise(promise, _day(area, more), lasts=more, tended=False)


def _withdrawn(area: Area, key: Key) -> Story:
    """Taken back before its day."""
    yield within(area, 0.0, 0.12)
    promise = _made(area, key, area.rng.randrange(250, 350))
    area.ask(*key, "forgetting")
    yield around(area.rng, 90)
    if area.present.holds(promise):
        area.drop(promise, "dropped")


def _lasting(area: Area, key: Key) -> Story:
    """A promise that outlives the timeline: old, untouched, and still in force."""
    yield within(area, 0.0, 0.1)
    _made(area, key, 3 * 365)
    area.ask(*key, "over_forgetting")


def _remembered(area: Area, key: Key) -> Story:
    yield within(area, 0.75, 0.8)
    area.ask(*key, "history", mode="history")


SCENARIO = Scenario(id="project/stated-end", revision=1, doc=__doc__ or "", script=_script, world=_WORLD)
