"""Layers hold the same idea of the present as the truth of the announced events (METRICS.md §1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from msgspec import structs

from memrot.errors import BadInput
from memrot.layers import parse
from memrot.layers.base import Entry, Layer
from memrot.layers.ttl import Ttl
from memrot.ledger import Ledger, Plan
from memrot.memory import Clause
from memrot.model import (
    DAY,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactMentioned,
    FactRevised,
    Question,
    TimePassed,
    introduces,
)
from memrot.model import FactRevised as Revised
from memrot.timeline import Domain, Header, Stage, Timeline, parse_instant
from memrot.truth import GroundTruth
from random_timelines import timelines

STATED_ENDS = Ttl({})


def replay(
    timeline: Timeline, layers: Sequence[Layer], *, restart: bool = False
) -> Iterator[tuple[Stage, set[str]]]:
    """Stage by stage, the ids that the layers would let an answer contain."""
    ledger = Ledger()
    for stage in timeline.stages:
        entries: list[Entry] = []
        for event in stage.announced():
            fact = introduces(event)
            if fact is not None:
                known = {entry.id: entry for entry in [*ledger.entries.values(), *entries]}
                previous = known.get(event.previous) if isinstance(event, Revised) else None
                entries.append(Entry.of(fact, seq=event.seq, embedding="", previous=previous))
        Plan(ledger, entries, stage.at).run(layers, stage.announced())
        if restart:
            ledger = Ledger(Entry.of_fields(id_, entry.fields()) for id_, entry in ledger.entries.items())
        where = [clause for layer in layers for clause in layer.where(Question(""), stage.at)]
        yield stage, {id_ for id_, entry in ledger.entries.items() if all(holds(entry, c) for c in where)}


def holds(entry: Entry, clause: Clause) -> bool:
    value: int = getattr(entry, clause.field)
    return value > clause.value if clause.op == "gt" else value <= clause.value


def kept(timeline: Timeline) -> Timeline:
    """The same without erasures: what is erased leaves no trace, not even of what it had displaced."""
    events = [
        structs.replace(event, reason="obsolete") if isinstance(event, FactInvalidated) else event
        for event in timeline.events
    ]
    return Timeline.of(timeline.header, events, timeline.probes)


@pytest.mark.parametrize("restart", [False, True])
@given(timeline=timelines(max_events=50).map(kept))
@settings(max_examples=200, deadline=None)
def test_layers_agree_with_the_truth_of_the_announced_events(restart: bool, timeline: Timeline) -> None:
    told = GroundTruth.of(timeline, announced_only=True)
    layers = (STATED_ENDS, *parse(["supersession", "propagation"], timeline.header.exclusive))
    for stage, live in replay(timeline, layers, restart=restart):
        true = {told.fact_ids[f] for f in told.true_at(stage.index).nonzero()[0]}
        assert live == true, stage.seq


@given(timeline=timelines(max_events=50).map(kept))
@settings(max_examples=150, deadline=None)
def test_each_layer_alone_hides_what_it_answers_for_and_nothing_true(timeline: Timeline) -> None:
    told = GroundTruth.of(timeline, announced_only=True)
    answers_for = {"propagation": ("invalidated", "cascaded"), "supersession": ("superseded",)}
    for name, causes in answers_for.items():
        layers = (STATED_ENDS, *parse([name], timeline.header.exclusive))
        for stage, live in replay(timeline, layers):
            true = {told.fact_ids[f] for f in told.true_at(stage.index).nonzero()[0]}
            ended = {
                told.fact_ids[f]
                for f in range(len(told.facts))
                if told.ends[f] <= stage.index and told.causes[f] in causes
            }
            if name == "propagation":  # supersession alone is deaf to the end of a successor
                assert true <= live, stage.seq
            assert not ended & live, (name, stage.seq)


# --- each layer by itself --------------------------------------------------------------------

START = parse_instant("2026-01-01T00:00:00Z")


def fact(id_: str, value: str, **changes: object) -> Fact:
    known = {"subject": "auth", "predicate": "language", "domain": "TECH", "text": f"auth: {value}"}
    return Fact(id=id_, value=value, **{**known, **changes})  # type: ignore[arg-type]


def timeline_of(*events: tuple[float, object], exclusive: tuple[str, ...] = ()) -> Timeline:
    """(day, a fact to add | a function from seq and at to an event) -> timeline."""
    built = []
    for seq, (day, what) in enumerate(events, start=1):
        at = START + round(day * DAY)
        built.append(FactAdded(seq=seq, at=at, fact=what) if isinstance(what, Fact) else what(seq=seq, at=at))  # type: ignore[operator]
    header = Header(id="t", domains={"TECH": Domain(), "OWNERSHIP": Domain()}, exclusive=exclusive)
    return Timeline.of(header, built, [])


def live(timeline: Timeline, *names: str) -> list[str]:
    """What is left at the end, in alphabetical order, joined per stage."""
    layers = parse(names, timeline.header.exclusive)
    return ["".join(sorted(ids)) for _, ids in replay(timeline, layers)]


def revises(previous: str, current: Fact) -> object:
    return lambda seq, at: FactRevised(seq=seq, at=at, previous=previous, current=current)


def invalidates(id_: str, reason: str = "obsolete") -> object:
    return lambda seq, at: FactInvalidated(seq=seq, at=at, fact=id_, reason=reason)  # type: ignore[arg-type]


def confirms(id_: str) -> object:
    return lambda seq, at: FactConfirmed(seq=seq, at=at, fact=id_)


def mentions(id_: str) -> object:
    return lambda seq, at: FactMentioned(seq=seq, at=at, fact=id_)


def passes() -> object:
    return lambda seq, at: TimePassed(seq=seq, at=at)


def test_bare_keeps_everything() -> None:
    timeline = timeline_of((0, fact("a", "Node")), (1, revises("a", fact("b", "Go"))), (2, invalidates("b")))
    assert live(timeline) == ["a", "ab", "ab"]


def test_overwrite_keeps_one_record_a_key_and_the_last_to_arrive_wins() -> None:
    old = fact("c", "Perl", valid_from=START - 900 * DAY)
    timeline = timeline_of(
        (0, fact("a", "Node")), (1, revises("a", fact("b", "Go"))), (2, old), (3, invalidates("c"))
    )
    assert live(timeline, "overwrite") == ["a", "b", "c", ""]


def test_overwrite_leaves_sets_alone() -> None:
    timeline = timeline_of(
        (0, fact("a", "redis", cardinality="many")),
        (1, fact("b", "kafka", cardinality="many")),
        (2, invalidates("a")),
    )
    assert live(timeline, "overwrite") == ["a", "ab", "b"]


def test_supersession_ends_the_named_and_the_contradicted_but_not_for_a_late_arrival() -> None:
    late = fact("d", "Perl", valid_from=START - 900 * DAY)
    timeline = timeline_of(
        (0, fact("a", "Node")),
        (1, revises("a", fact("b", "Go"))),
        (2, fact("c", "Rust")),
        (3, late),
        (4, invalidates("c")),
    )
    assert live(timeline, "supersession") == ["a", "b", "c", "c", "c"]


def test_supersession_waits_for_a_scheduled_successor() -> None:
    future = fact("b", "Go", valid_from=START + 10 * DAY)
    timeline = timeline_of((0, fact("a", "Node")), (1, revises("a", future)), (11, passes()))
    assert live(timeline, "supersession") == ["a", "ab", "b"]
    assert live(timeline, "ttl", "supersession") == ["a", "a", "b"]


def test_supersession_knows_exclusive_predicates() -> None:
    one = fact("a", "billing", subject="team X", predicate="owns")
    two = fact("b", "billing", subject="team Y", predicate="owns")
    assert live(timeline_of((0, one), (1, two)), "supersession") == ["a", "ab"]
    assert live(timeline_of((0, one), (1, two), exclusive=("owns",)), "supersession") == ["a", "b"]


def test_propagation_fells_what_stood_on_an_ended_fact() -> None:
    a, b = fact("a", "v1"), fact("b", "x", predicate="p", depends_on=("a",))
    either = fact("c", "x", predicate="q", depends_on=("a", "d"), support="any")
    timeline = timeline_of(
        (0, a),
        (1, b),
        (2, fact("d", "y", predicate="r")),
        (3, either),
        (4, invalidates("a")),
        (5, invalidates("d")),
    )
    assert live(timeline, "propagation") == ["a", "ab", "abd", "abcd", "cd", ""]


def test_propagation_alone_hears_of_revisions_and_contradictions() -> None:
    on_node = fact("b", "Express", predicate="framework", depends_on=("a",))
    revised = timeline_of((0, fact("a", "Node")), (1, on_node), (2, revises("a", fact("c", "Go"))))
    contradicted = timeline_of((0, fact("a", "Node")), (1, on_node), (2, fact("c", "Go")))
    for timeline in (revised, contradicted):
        assert live(timeline, "propagation") == ["a", "ab", "ac"]
        assert live(timeline, "supersession") == ["a", "ab", "bc"]


def test_propagation_bounds_a_dependant_by_its_supports_stated_end() -> None:
    booking = fact("a", "Hilton", valid_to=START + 5 * DAY)
    timeline = timeline_of(
        (0, booking), (1, fact("b", "room 4", predicate="room", depends_on=("a",))), (6, passes())
    )
    assert live(timeline, "propagation") == ["a", "ab", "a"]
    assert live(timeline, "ttl", "propagation") == ["a", "ab", ""]


def test_erased_facts_leave_the_store() -> None:
    timeline = timeline_of((0, fact("a", "Node")), (1, invalidates("a", "erased")))
    ledger = Ledger()
    for stage in timeline.stages:
        new = [
            Entry.of(f, seq=1, embedding="") for event in stage.events if (f := introduces(event)) is not None
        ]
        plan = Plan(ledger, new, stage.at)
        plan.run(parse(["propagation"]), stage.announced())
    assert plan.delete() == ["a"]
    assert not ledger.entries


def test_hard_ttl_excludes_and_only_a_confirmation_renews() -> None:
    owner = fact("a", "Eve", domain="OWNERSHIP")
    timeline = timeline_of((0, owner), (20, confirms("a")), (45, mentions("a")), (51, passes()))
    assert live(timeline, "ttl[hard]") == ["a", "a", "a", ""]
    assert live(timeline, "ttl[hard,x2]") == ["a", "a", "a", "a"]
    assert live(timeline, "ttl") == ["a", "a", "a", "a"]


def test_soft_ttl_halves_confidence_but_never_below_the_hedge_band() -> None:
    soft = Ttl({"OWNERSHIP": 30})
    entries = [
        Entry.of(
            fact(f"f{c}", "x", domain="OWNERSHIP", confidence=c, valid_from=0, observed_at=0),
            seq=1,
            embedding="",
        )
        for c in (1.0, 0.5, 0.2)
    ]
    entries = [Entry.of_fields(e.id, {**e.fields(), "expires_at": 10}) for e in entries]
    verdict = soft.judge(entries, 10)
    assert verdict is not None
    assert (verdict[0] * [1.0, 0.5, 0.2]).tolist() == pytest.approx([0.5, 0.33, 0.2])
    early = soft.judge(entries, 9)
    assert early is not None
    assert early[0].tolist() == [1, 1, 1]


def test_an_entry_survives_the_store() -> None:
    entry = Entry.of(
        fact("é", "Go", depends_on=("a", "b"), support="any", confidence=0.25, valid_from=1, observed_at=2),
        seq=7,
        embedding="m",
    )
    assert Entry.of_fields("é", entry.fields()) == entry


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["cache"],
            "unknown layer 'cache': expected one of all, evict, overwrite, propagation, recency, retention, supersession, ttl",
        ),
        (["ttl[often]"], "unknown option 'often'"),
        (["ttl[x0]"], "unknown option 'x0'"),
        (["overwrite[hard]"], "takes no options"),
        (["all", "ttl"], "named twice"),
    ],
)
def test_unknown_layers_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse(names)
    assert message in str(refusal.value)
