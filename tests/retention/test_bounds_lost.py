"""What a lost end costs, on timelines small enough to count by hand, and as the command prints it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from memrot import registry
from memrot.cli import app
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.layers.policy import DEFAULT
from memrot.model import (
    DAY,
    NEVER,
    ChangeEvent,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Probe,
    TimePassed,
    introduces,
)
from memrot.retention import stores
from memrot.retention.bounds_lost import (
    Tally,
    extracting,
    spread,
    states_an_end,
    stating,
    together,
    unbounded,
    watched,
    withholding,
)
from memrot.stats import Rate
from memrot.timeline import Domain, Header, Timeline

START = 20_454 * DAY
"""2026-01-01T00:00:00Z"""
END = START + 31 * DAY


def address(id_: str = "f1", value: str = "the Mill", domain: str = "SLOW_ATTRIBUTE", end: int = END) -> Fact:
    return Fact(
        id=id_, subject="Ida", predicate="address", value=value, domain=domain,
        text=f"Ida lives at {value} until 31 January 2026.", valid_to=end,
    )  # fmt: skip


def asked_on(days: Sequence[int], *others: ChangeEvent, fact: Fact | None = None) -> Timeline:
    """Ida's address is told on 1 January; it is asked for on these days after it."""
    events: list[ChangeEvent] = [FactAdded(seq=0, at=START, fact=fact or address()), *others]
    events += [TimePassed(seq=0, at=START + day * DAY) for day in days]
    events.sort(key=lambda event: event.at)
    domains = {"SLOW_ATTRIBUTE": Domain(), "COMMITMENT": Domain(grace_days=7)}
    return Timeline.of(
        Header(id="t/bounds", revision=1, seed=1, k=5, domains=domains),
        [replace(event, seq=seq) for seq, event in enumerate(events, start=1)],
        [
            Probe(
                id="p",
                question="Where does Ida live?",
                subject="Ida",
                predicate="address",
                tests="stated_end",
            )
        ],
    )


def cost(timeline: Timeline, share: float, keeper: stores.Keeper | None = None) -> Tally:
    heard = withholding(share, 1)(timeline)
    with stores.Trial(Hashing(), [timeline]) as trial:
        seen = trial.kept(heard, keeper or stores.retaining(DEFAULT)).seen
    return together([watched(timeline, heard, seen)])["all"]


def test_a_lost_end_costs_what_the_class_then_believes() -> None:
    timeline = asked_on([10, 20, 40, 50, 60, 300])
    kept, lost = cost(timeline, 0), cost(timeline, 1)
    assert kept == Tally(unbounded=Rate(0, 1), kept=Rate(0, 4)), "four questions come after the end"
    assert lost == Tally(unbounded=Rate(1, 1), lost=Rate(4, 4)), "two years' half-life"
    assert lost.wrong == Rate(4, 4)


def test_a_commitment_falls_back_to_ninety_days_and_is_excused_for_seven() -> None:
    timeline = asked_on([33, 38, 60, 90, 91, 200], fact=address(domain="COMMITMENT"))
    assert cost(timeline, 0).wrong == Rate(0, 4), "days 33 and 38 are in the week of grace"
    assert cost(timeline, 1).wrong == Rate(2, 4), "days 60 and 90"


def test_the_full_store_asserts_what_is_over_whatever_it_was_told() -> None:
    timeline = asked_on([10, 40, 50])
    assert cost(timeline, 0, stores.FULL).wrong == cost(timeline, 1, stores.FULL).wrong == Rate(2, 2)


def test_what_is_announced_needs_no_bound() -> None:
    moved = FactRevised(
        seq=0, at=START + 5 * DAY, previous="f1",
        current=replace(address("f2", "the Quay", end=NEVER), text="Ida lives at the Quay."),
    )  # fmt: skip
    assert cost(asked_on([10, 40], moved), 1).wrong == Rate(0, 0)
    dropped = FactInvalidated(seq=0, at=START + 5 * DAY, fact="f1", reason="obsolete")
    assert cost(asked_on([10, 40], dropped), 1).wrong == Rate(0, 0)
    silent = replace(dropped, announced=False)
    assert cost(asked_on([10, 40], silent), 1).wrong == Rate(1, 1), "on day 10 it is silence that misleads"


def test_who_stays_longer_is_not_wrong_about_the_first_day() -> None:
    longer = replace(
        address("f2", end=END + 100 * DAY), text="Ida lives at the Mill until 11 May 2026.", valid_from=START
    )
    told_again = FactAdded(seq=0, at=START + 20 * DAY, fact=longer)
    assert cost(asked_on([40, 50], told_again), 1).wrong == Rate(0, 0)


@pytest.fixture(scope="module")
def dated() -> list[Timeline]:
    return [registry.scenario("person/for-a-while").generate(seed) for seed in (1, 2, 3)]


def without_end(timeline: Timeline) -> set[str]:
    facts = [fact for event in timeline.events if (fact := introduces(event)) is not None]
    return {fact.id for fact in facts if states_an_end(fact) and fact.valid_to == NEVER}


def test_a_larger_share_loses_what_a_smaller_one_does(dated: list[Timeline]) -> None:
    sizes = []
    for share in (0.0, 0.3, 0.61, 1.0):
        lost = [without_end(withholding(share, 7)(timeline)) for timeline in dated]
        more = [without_end(withholding(min(1.0, share + 0.2), 7)(timeline)) for timeline in dated]
        assert all(fewer <= others for fewer, others in zip(lost, more, strict=True))
        sizes.append(sum(map(len, lost)))
    stating_it = sum(states_an_end(fact) for timeline in dated for fact in timeline.facts.values())
    assert sizes[0] == 0
    assert sizes[3] == stating_it
    assert abs(sizes[1] / stating_it - 0.3) < 0.15
    assert abs(sizes[2] / stating_it - 0.61) < 0.15
    assert without_end(withholding(0.5, 7)(dated[0])) != without_end(withholding(0.5, 8)(dated[0]))


def test_nothing_but_ends_is_withheld(dated: list[Timeline]) -> None:
    heard = withholding(1, 1)(dated[0])
    for told, fact in zip(heard.facts.values(), dated[0].facts.values(), strict=True):
        assert replace(told, valid_to=fact.valid_to) == fact
        assert told == fact or states_an_end(fact)
    assert heard.probes == dated[0].probes


def test_the_extraction_step_finds_every_end_that_the_sentences_state(dated: list[Timeline]) -> None:
    for timeline in dated:
        assert extracting(timeline).digest == timeline.digest
        assert without_end(withholding(1, 1)(timeline))


def test_bounds_are_counted_by_class_among_what_is_stored() -> None:
    facts = [address("f1"), address("f2"), address("f3", domain="COMMITMENT"), address("f4")]
    facts.append(replace(address("f5"), text="Ida lives at the Mill."))
    ends = {"f1": END, "f2": NEVER, "f3": NEVER, "f5": NEVER}
    assert unbounded(facts, ends) == {"slow_attribute": Rate(1, 2), "commitment": Rate(1, 1)}


def test_an_interval_speaks_of_timelines() -> None:
    tallies = [("a", {"x": Tally(lost=Rate(count, 10))}) for count in (2, 4, 6)]
    found = spread(tallies, "x")
    assert found is not None
    assert found.mean == pytest.approx(0.4)
    assert found.low is not None
    assert found.low < 0.2
    assert spread(tallies, "y") is None
    both = spread([*tallies, ("b", {"x": Tally(kept=Rate(0, 5))})], "x")
    assert both is not None
    assert both.mean == pytest.approx(0.2), "scenarios weigh equally"


def test_only_timelines_that_state_an_end_are_tried(dated: list[Timeline]) -> None:
    silent = registry.scenario("person/new-taste").generate(1)
    assert stating([silent, *dated]) == dated


# --- the command ------------------------------------------------------------------------------


def command(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["retention", "bounds", *arguments, "--embedder", "hashing"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_the_command_shows_what_each_share_costs_by_class() -> None:
    shown = command("--scenario", "person/for-a-while", "--seeds", "2", "--lost", "0", "--lost", "1")
    cells = [re.split(r" {2,}", line.strip()) for line in shown.splitlines() if line.startswith("retention")]
    rates = {(row[1], row[2]): float(row[5].partition("%")[0]) for row in cells}
    classes = {name for _, name in rates}
    assert {"slow_attribute", "preference", "relationship", "commitment", "working_context"} < classes
    assert all(rates["0%", name] == 0 for name in classes)
    assert rates["100%", "slow_attribute"] > rates["100%", "commitment"], "the more lasting a class is"
    assert rates["100%", "all"] > 5
    assert rates["as extracted", "all"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lost", "1.5"], "--lost: expected shares from 0 to 1"),
        (["--scenario", "person/new-taste", "--seeds", "1"], "whose text states an end"),
    ],
)
def test_what_cannot_be_tried_is_refused(arguments: list[str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        command(*arguments)
