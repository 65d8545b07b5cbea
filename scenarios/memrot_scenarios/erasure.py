"""Somebody has a right to be forgotten.

Provokes: what had to be erased is still there: as an answer, in the history, in what held at an
earlier time, or as bytes in a file. In life a contractor leaves and asks for deletion; the record is
marked as deleted, or its successor is, while the sentence with the phone number stays where every
backup finds it. Every value here is a canary: digits that occur nowhere else, so that a scan of the
store's files can tell.

The opposite failure: with the one person go others whose sentences read alike, or the work that they
have in common.
"""

from __future__ import annotations

from msgspec.structs import replace

from memrot.model import DAY, Key, Mode, Tests
from memrot.timeline import Domain
from memrot_scenarios.area import Area
from memrot_scenarios.project import PROJECT
from memrot_scenarios.setting import Predicate
from memrot_scenarios.statements import DOMAINS, PREDICATES
from memrot_scenarios.stories import Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario

_DIGITS = 10
"""Of a canary: enough that none turns up by chance."""


def _personal(texts: tuple[str, ...], questions: tuple[str, ...], past: str) -> Predicate:
    """Its values are canaries."""
    return Predicate("REGULATED", "lead", (), texts, questions, past)


_RECORDS = {
    "phone": _personal(
        ("{s} can be reached by phone under {v}.", "The private number of {s} is {v}."),
        ("What number do I dial for {s}?", "How can I call {s} at home?"),
        "Which numbers did {s} have over the years?",
    ),
    "account": _personal(
        ("Fees of {s} are paid into account {v}.", "{s} banks with account {v}."),
        ("Where do we transfer the fees for {s}?", "What bank details do we hold on {s}?"),
        "Which bank details were on file for {s}, old ones first?",
    ),
    "badge": _personal(
        ("{s} enters the building with badge {v}.", "Badge {v} was issued to {s}."),
        ("What pass does {s} carry?", "Which pass opens the doors for {s}?"),
        "Which passes has {s} carried, one after another?",
    ),
    "tax": _personal(
        ("The tax number of {s} is {v}.", "{s} is taxed under number {v}."),
        ("Under what number does the revenue office know {s}?", "Which fiscal code belongs to {s}?"),
        "Which fiscal codes has {s} been known by?",
    ),
}
_WORLD = replace(
    PROJECT, predicates={**PREDICATES, **_RECORDS}, domains={**DOMAINS, "REGULATED": Domain(window_days=None)}
)


def _script(area: Area) -> list[Story]:
    people = [f"contractor {name}" for name in area.rng.sample(area.people, 4 if area.small else 5)]
    erased, kept = people[:-2], people[-2:]
    one, two, three, *calm = area.services
    drifting = [
        (one, "owner"), (two, "image"), (three, "owner"), (one, "database"), (two, "owner"), (three, "image"),
        (one, "image"), (two, "database"), (three, "database"), (calm[0], "image"), (one, "region"),
        (two, "region"), (three, "region"), (calm[1], "image"), (calm[0], "database"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **{(person, name): "erasure" for person in erased for name in ("phone", "account")},
        **{(person, "badge"): "erasure" for person in erased[:2]},
        **{(person, name): "preservation" for person in kept for name in ("phone", "account", "tax")},
        **dict.fromkeys(drifting[:5], "revision"),
        **dict.fromkeys([(calm[0], "owner"), (calm[1], "region")], "preservation"),
    }
    usual = ("owner", "image", "database", "region", "language", "latency")
    lines = {service: [Line(name) for name in usual] for service in area.services}
    records = {person: [Line(name, value=_canary(area)) for name in _RECORDS] for person in people}
    return [
        writing(area, pages({**lines, **records}, asked)),
        quiet(area, 7 if area.small else 10),
        *(_moved(area, person, n) for n, person in enumerate(people)),
        *(_erased(area, person, n / len(erased)) for n, person in enumerate(erased)),
        *(_looked_up(area, erased[0], "erasure", mode) for mode in ("history", "as_of")),
        _looked_up(area, kept[0], "history", "history"),
        silently(area, (calm[0], "image"), 0.4, 0.6),
        *background(area, drifting, 27 if area.small else 41),
    ]


def _canary(area: Area) -> str:
    return "".join(str(area.rng.randrange(10)) for _ in range(_DIGITS))


def _moved(area: Area, person: str, number: int) -> Story:
    """Records change while they may: what is erased later has a past."""
    yield within(area, 0.05, 0.2)
    for name in ("phone", "badge" if number % 2 else "account"):
        if (old := area.now(person, name)) is not None:
            area.revise(old, _canary(area))
        yield area.horizon * 0.08 * (0.5 + area.rng.random())


def _erased(area: Area, person: str, share: float) -> Story:
    """All that was ever told of the person is to go, what had ended long before too."""
    yield within(area, 0.45 + 0.4 * share, 0.55 + 0.4 * share)
    for fact in [fact for fact in area.present.facts.values() if fact.subject == person]:
        area.drop(fact, "erased")


def _looked_up(area: Area, person: str, tests: Tests, mode: Mode) -> Story:
    """Who asks about the past learns no more than who asks about now."""
    yield within(area, 0.4, 0.44)
    if (number := area.now(person, "phone")) is not None:
        as_of = number.valid_from + DAY if mode == "as_of" else None
        area.ask(person, "phone", tests, mode=mode, as_of=as_of)


SCENARIO = Scenario(id="project/erasure", revision=1, doc=__doc__ or "", script=_script, world=_WORLD)
