"""Somebody leaves a job, and much that stood on it falls, for their family too.

The person world's counterpart of project/boundary-shift: a job for a service that disappears.

Provokes: what stood on the job is still told as true. In life one sentence ends a job; that its
desk, its extension and its boss went too is left to the listener, and so is the insurance of the
relative that hung on it, the plan, the dentist whom only that plan paid. Dependants stand in chains,
in diamonds, and on the jobs of two relatives, of which one is enough.

The opposite failure: whoever is insured through another job as well, and whatever merely mentions the
person who left, is thrown away with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import Fact, Key, Tests
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import around
from memrot_scenarios.person import PERSON
from memrot_scenarios.stories import WRITTEN, Line, Story, background, pages, quiet, silently, within, writing
from memrot_scenarios.world import Scenario


def _script(area: Area) -> list[Story]:
    leavers = area.people[: 2 if area.small else 3]
    chain, diamond, either, kept, *others = area.people[len(leavers) :]
    first, second = leavers[:2]
    drifting = [
        (chain, "phone"), (diamond, "commute"), (either, "drink"), (kept, "phone"), (chain, "hobby"),
        (diamond, "phone"), (either, "phone"), (kept, "gym"), (chain, "drink"), (diamond, "gym"),
        (either, "hobby"), (kept, "hobby"), (diamond, "drink"), (kept, "commute"), (either, "gym"),
    ]  # fmt: skip
    asked: dict[Key, Tests] = {
        **{(person, name): "cascade" for person in leavers[:2] for name in ("employer", "title", "desk")},
        **dict.fromkeys([(chain, "employer"), (diamond, "employer"), (kept, "employer")], "preservation"),
        **dict.fromkeys([(chain, "diet"), (either, "city"), (kept, "drink")], "preservation"),
        **dict.fromkeys([(either, "introduced_by"), (kept, "introduced_by")], "over_propagation"),
        **dict.fromkeys(drifting[:5], "revision"),
    }
    usual = ("employer", "drink", "phone", "city", "diet", "hobby", "commute", "gym")
    lines = {
        person: [
            Line("employer", tended=True),
            *(Line(name, on=("employer",)) for name in ("title", "work_phone", "manager", "desk")),
            Line("commute", on=("employer",)),
        ]
        for person in leavers
    } | {person: [Line(name) for name in usual] for person in (chain, diamond, either, kept, *others)}
    lines[either].append(Line("introduced_by", value=first))
    lines[kept].append(Line("introduced_by", value=second))
    return [
        writing(area, pages(lines, asked)),
        _covered(area, first, second, (chain, diamond, either, kept)),
        quiet(area, 7 if area.small else 10),
        *(_left(area, person, n / len(leavers)) for n, person in enumerate(leavers)),
        *(_covered_again(area, person, n) for n, person in enumerate((chain, diamond, either))),
        *(_on_and_off(area, person) for person in others),
        silently(area, (chain, "phone"), 0.4, 0.6),
        *background(area, drifting, 24 if area.small else 35),
    ]


def _covered(area: Area, first: str, second: str, relatives: Sequence[str]) -> Story:
    """What stands on the jobs that will end: a chain, a diamond, an alternative, and more."""
    chain, diamond, either, kept = relatives
    yield WRITTEN
    one, two, stays = (area.now(person, "employer") for person in (first, second, kept))
    if one is None or two is None or stays is None:
        return
    insured = area.add(chain, "insured_via", first, on=[one])
    plan = area.add(chain, "plan", on=[insured])
    area.add(chain, "dentist", on=[plan])
    yield 1
    left = area.add(diamond, "insured_via", first, on=[one])
    right = area.add(diamond, "family_pass", on=[one])
    area.add(diamond, "plan", on=[left, right])
    yield 1
    via = area.add(either, "insured_via", second, on=[two])
    area.add(either, "plan", on=[insured, via], support="any")
    yield 1
    kept_insured = area.add(kept, "insured_via", first, on=[one])
    area.add(kept, "plan", on=[kept_insured, stays], support="any")
    for person, name in (
        (chain, "insured_via"),
        (chain, "plan"),
        (chain, "dentist"),
        (diamond, "plan"),
        (diamond, "family_pass"),
        (either, "plan"),
    ):
        area.ask(person, name, "cascade")
    area.ask(kept, "plan", "over_propagation")


def _left(area: Area, person: str, share: float) -> Story:
    """One sentence ends a job."""
    yield within(area, 0.12 + 0.75 * share, 0.25 + 0.75 * share)
    if (job := area.now(person, "employer")) is not None:
        area.drop(job, "obsolete")


def _covered_again(area: Area, person: str, number: int) -> Story:
    """Whoever lost the insurance finds another one, some weeks later, and a plan with it."""
    yield within(area, 0.3, 0.32)
    while True:
        yield 12 + 5 * number
        if area.now(person, "insured_via") is None:
            insured = _insured(area, person)
            yield around(area.rng, 20)
            if area.now(person, "plan") is None and area.present.holds(insured):
                area.add(person, "plan", on=[insured])


def _on_and_off(area: Area, person: str) -> Story:
    """Somebody is insured through a relative, for a while, again and again."""
    yield within(area, 0.05, 0.15)
    asked = False
    while True:
        insured = _insured(area, person)
        yield 10 + 10 * area.rng.random()
        if area.present.holds(insured):
            area.add(person, "plan", on=[insured])
            if not asked:
                area.ask(person, "plan", "cascade")
                asked = True
        yield around(area.rng, 150)
        if area.present.holds(insured):
            area.drop(insured, "reorganised")
        yield around(area.rng, 45)


def _insured(area: Area, person: str) -> Fact:
    """Somebody else who has a job insures the person, and the insurance stands on that job."""
    jobs = [area.now(other, "employer") for other in area.people if other != person]
    job = area.rng.choice([job for job in jobs if job is not None])
    return area.add(person, "insured_via", job.subject, on=[job])


SCENARIO = Scenario(id="person/job-left", revision=1, doc=__doc__ or "", script=_script, world=PERSON)
