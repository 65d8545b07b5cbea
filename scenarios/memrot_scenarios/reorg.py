"""Ownership moves in bursts, people leave, and the pages catch up weeks later.

Provokes: the former owner is named. In life one reorganisation changes more owners in an afternoon
than a year of hand-overs does (1% of commits hold 27% of the changes); it is announced beforehand
for a day to come; copies of the fact (who carries the pager, who reviews) lag it by weeks, and some
old page is imported after the new one. Who leaves takes with them what they did for their team, and
nobody lists it.

The opposite failure: a burst makes a memory doubt the owners who did not move, or a new member of a
team pushes out the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from memrot.model import DAY, Fact
from memrot_scenarios.area import Area
from memrot_scenarios.lifetimes import LAG_DAYS, around
from memrot_scenarios.stories import WRITTEN, Line, Story, background, quiet, silently, within, writing
from memrot_scenarios.turns import remembered
from memrot_scenarios.world import Scenario

_BOARDS = ("the security board", "the architecture board")


def _script(area: Area) -> list[Story]:
    movable = area.services[: 3 if area.small else 5]
    steady = area.services[len(movable) :]
    teams = [f"team {team}" for team in area.teams[: 4 if area.small else 5]]
    boards = {teams[-1]: _BOARDS[:1], teams[-2]: _BOARDS[1:]}
    pages: dict[str, Sequence[Line]] = {
        team: [
            Line("head", "revision" if team in teams[:2] else "preservation" if team == teams[2] else None),
            Line("channel"),
            *(Line("member", "sets" if n == 2 and team in teams[:2] else None) for n in range(3)),
            *(Line("hosts", "contradiction", value=board) for board in boards.get(team, ())),
        ]
        for team in teams
    }
    for service in movable:
        pages[service] = [
            Line("owner", "future_start" if service == movable[-1] else "revision"),
            Line("oncall", "revision"),
            Line("lead", "revision" if service in movable[:2] else None),
            Line("channel"),
            Line("latency"),
            Line("region"),
        ]
    for service in steady:
        pages[service] = [
            Line("owner", "preservation"),
            Line("oncall", "preservation" if service == steady[0] else None),
            Line("lead", "preservation" if service in steady[:2] else None),
            Line("channel"),
            Line("language"),
            Line("uptime", "preservation" if service == steady[1] else None),
        ]
    drifting = [
        *((service, "lead") for service in movable),
        *((service, "channel") for service in area.services),
        *((service, "oncall") for service in steady[1:]),
        *((team, "head") for team in (*teams[:2], *teams[3:])),
    ]
    bursts = (0.2, 0.6) if area.small else (0.12, 0.42, 0.74)
    return [
        writing(area, pages),
        quiet(area, 7 if area.small else 10),
        *(_burst(area, share, movable, teams, ahead=n == 1) for n, share in enumerate(bursts)),
        *(_reviewing(area, service, team) for service, team in zip(movable, teams, strict=False)),
        *(
            _leaving(area, team, share)
            for share, team in ((0.1, teams[0]), (0.3, teams[1]), (0.5, teams[0]), (0.7, teams[1]))
        ),
        *(
            _hosted(area, board, team, share)
            for board, team, share in zip(_BOARDS, teams, (0.25, 0.55), strict=False)
        ),
        _imported(area, movable[0]),
        silently(area, (movable[2], "oncall"), 0.5, 0.6),
        *background(area, drifting, 13 if area.small else 22),
        remembered(area, (movable[1], "owner"), 0.6, 0.65),
    ]


def _burst(area: Area, share: float, services: Sequence[str], teams: Sequence[str], *, ahead: bool) -> Story:
    """Owners move in one instant (for a day ahead, where it is planned); pagers follow one by one."""
    yield within(area, share, share + 0.1)
    moving = [service for service in services if area.rng.random() < 0.8] or list(services)
    for service in moving:
        if (old := area.now(service, "owner")) is not None:
            area.revise(old, _other_team(area, service, teams, old), starts_in=14 if ahead else 0)
    yield LAG_DAYS / 2
    for service in moving:
        yield around(area.rng, LAG_DAYS) / 2
        if (old := area.now(service, "oncall")) is not None:
            area.revise(old)


def _other_team(area: Area, service: str, teams: Sequence[str], old: Fact) -> str:
    before = [fact.value for fact in area.present.facts.values() if fact.key == (service, "owner")]
    fresh = [team for team in teams if team not in before]
    return area.rng.choice(fresh or [team for team in teams if team != old.value])


def _reviewing(area: Area, service: str, team: str) -> Story:
    """Members of the team review the service for as long as they are members."""
    yield WRITTEN
    for member in area.present.of_key(team, "member")[:2]:
        area.add(service, "reviewer", member.value, on=[member])
    if team in ("team " + area.teams[0], "team " + area.teams[1]):
        area.ask(service, "reviewer", "cascade")


def _leaving(area: Area, team: str, share: float) -> Story:
    """Somebody leaves a team; somebody else joins later, and reviews what they reviewed."""
    yield within(area, share, share + 0.15)
    members = list(area.present.of_key(team, "member"))
    if not members:
        return
    left = members[0]
    reviewed = [
        fact.subject
        for fact in area.present.all()
        if fact.predicate == "reviewer" and left.id in fact.depends_on
    ]
    area.drop(left, "reorganised")
    yield around(area.rng, 14)
    joined = area.add(team, "member")
    for service in reviewed:
        yield around(area.rng, 10)
        if area.present.holds(joined):
            area.add(service, "reviewer", joined.value, on=[joined])


def _hosted(area: Area, board: str, team: str, share: float) -> Story:
    """A board, of which there is one, moves to another team; the sentence does not name the old host."""
    yield within(area, share, share + 0.2)
    area.add(team, "hosts", board)


def _imported(area: Area, service: str) -> Story:
    """An outdated page about the owner is imported after the fact: it never was true again."""
    yield within(area, 0.85, 0.9)
    owners = [fact for fact in area.present.facts.values() if fact.key == (service, "owner")]
    if len(owners) > 1 and (now := area.now(service, "owner")) is not None:
        since = (area.log.at - now.valid_from) // DAY + 20
        area.add(service, "owner", owners[0].value, backdated=since, tended=False)
        area.ask(service, "owner", "late_arrival")


SCENARIO = Scenario(id="project/reorg", revision=1, doc=__doc__ or "", script=_script, exclusive=("hosts",))
