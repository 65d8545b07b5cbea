"""The retention layer over a store: each action changes what a named probe brings back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.layers.base import Bands, Layer
from memrot.layers.policy import DEFAULT, ClassPolicy, Policy
from memrot.layers.retention import Retention
from memrot.memory import Place
from memrot.model import (
    DAY,
    Fact,
    FactAdded,
    FactConfirmed,
    FactMentioned,
    Hit,
    PeekCause,
    Probe,
    Question,
    TimePassed,
)
from memrot.stack import LayeredMemory
from memrot.timeline import Domain, Header, Timeline
from test_stack import OWNER, START, Stack

PROBES = {
    "home": ("slow_attribute", "In which town is Ada at home?"),
    "diet": ("preference", "What should I keep in mind when cooking for Ada?"),
    "holiday": ("episode", "Where did Ada travel most recently?"),
    "ticket": ("working_context", "Which case is Ada waiting for?"),
    "hotel": ("commitment", "Where is Ada lodging?"),
    "child": ("identity", "How is the kid called?"),
    "passport": ("regulated", "Which travel document?"),
}


def told(*, ends: int | None = None, waits: Sequence[int] = ()) -> Timeline:
    """A fact of each class on day 0, and stages after the days of ``waits``."""
    facts = [
        Fact(
            id=name, subject="Ada", predicate=name, value="x", domain=kind.upper(), text=f"Ada, {name}: x.",
            valid_to=START + (ends or 10_000) * DAY,
        )
        if name == "hotel"
        else Fact(id=name, subject="Ada", predicate=name, value="x", domain=kind.upper(), text=f"Ada, {name}: x.")
        for name, (kind, _) in PROBES.items()
    ]  # fmt: skip
    events = [FactAdded(seq=i + 1, at=START, fact=fact) for i, fact in enumerate(facts)]
    passed = [TimePassed(seq=100 + i, at=START + days * DAY) for i, days in enumerate(waits)]
    probes = [
        Probe(id=f"{mode}-{name}", question=f"{question} Ada, {name}?", subject="Ada", predicate=name, tests="preservation", mode=mode)
        for name, (_, question) in PROBES.items()
        for mode in ("current", "history")
    ]  # fmt: skip
    domains = {
        kind.upper(): Domain(grace_days=7 if kind == "commitment" else 0) for kind, _ in PROBES.values()
    }
    return Timeline.of(Header(id="ada", domains=domains, k=10), [*events, *passed], probes)


def replayed(timeline: Timeline, folder: Path, *layers: str) -> dict[str, dict[str, Hit]]:
    """By probe, what the last stage brought back, by fact."""
    place = Place("ada", folder, Hashing().dim, 16)
    seen = observe(lambda: LayeredMemory(lambda: Exact(place), parse(layers), Hashing()), timeline)
    assert seen.footer is not None
    assert seen.footer.outcome == "answered", seen.footer.reason
    return {asked.probe: {str(hit.fact): hit for hit in asked.hits} for asked in seen.stages[-1].asked}


@pytest.mark.parametrize(
    ("days", "name", "band", "mark"),
    [
        (450, "home", "assert", None),
        (460, "home", "hedge", "verify"),
        (1200, "home", "withhold", "verify"),
        (500, "diet", "hedge", None),
        (590, "diet", "withhold", None),
        (90, "holiday", "assert", None),
        (91, "holiday", None, None),
        (60, "ticket", "assert", None),
        (61, "ticket", None, None),
        (47, "hotel", "assert", None),
        (48, "hotel", None, None),
        (3000, "child", "assert", None),
        (365, "passport", "assert", None),
        (366, "passport", None, None),
    ],
)
def test_each_action_changes_its_probe(
    days: int, name: str, band: str | None, mark: str | None, tmp_path: Path
) -> None:
    timeline = told(ends=40, waits=(days,))
    answers = replayed(timeline, tmp_path, "retention")
    bare = replayed(timeline, tmp_path / "bare")
    assert bare[f"current-{name}"][name].band == "assert"
    hit = answers[f"current-{name}"].get(name)
    assert (hit.band if hit else None, hit.mark if hit else None) == (band, mark)


def test_the_archive_is_found_by_history_and_says_so_and_the_deleted_is_not(tmp_path: Path) -> None:
    answers = replayed(told(ends=40, waits=(3000,)), tmp_path, "retention", "supersession")
    marks = {name: answers[f"history-{name}"].get(name) for name in PROBES}
    shown = {name: hit.mark for name, hit in marks.items() if hit is not None}
    assert shown == {"home": None, "diet": None, "holiday": "archived", "hotel": "archived", "child": None}


def test_deletion_leaves_nothing_in_the_store_and_asks_for_no_question(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="regulated")
    stack.wait(365)
    assert [record.id for record in stack.store.scan()] == ["a"]
    stack.wait(1)
    assert list(stack.store.scan()) == []
    question = Question(OWNER)
    stack.memory.answer([question], stack.at)
    assert stack.memory.peek([(question, "a")], stack.at) == ["deleted"]


def test_deletion_comes_also_after_a_restart(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="session")
    stack.add("b", "Eve", fact_class="working_context")
    stack.memory.close()
    stack.memory = stack.opened()
    stack.wait(1)
    assert stack.ask() == ["b"]
    stack.wait(61)
    assert stack.ask() == []


def confirm(stack: Stack, id_: str) -> None:
    stack.seq += 1
    stack.tell(FactConfirmed(seq=stack.seq, at=stack.at, fact=id_))


def mention(stack: Stack, id_: str) -> None:
    stack.seq += 1
    stack.tell(FactMentioned(seq=stack.seq, at=stack.at, fact=id_))


def test_a_confirmation_restores_what_was_demoted_and_a_mention_does_not(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="preference")
    stack.wait(700)
    assert stack.ask() == ["(a)"]
    mention(stack, "a")
    assert stack.ask() == ["(a)"]
    confirm(stack, "a")
    assert stack.ask() == ["a"]
    stack.wait(300)
    assert stack.ask() == ["a?"]


def test_the_archived_comes_back_when_it_is_confirmed_and_the_deleted_never(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("episode", "Eve", fact_class="episode")
    stack.add("task", "Eve", fact_class="working_context")
    stack.wait(100)
    mention(stack, "episode")
    assert stack.ask() == []
    confirm(stack, "episode")
    confirm(stack, "task")
    assert stack.ask() == ["episode"]


def test_a_confirmation_that_comes_too_late_saves_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="working_context")
    stack.seq += 99  # nothing happens for so long
    confirm(stack, "a")
    assert stack.ask() == []


def test_talk_keeps_a_session_alive_and_makes_no_commitment_true_again(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="working_context")
    stack.add("b", "Max", fact_class="commitment", valid_to=START + 20 * DAY)
    stack.add("c", "Ada", fact_class="commitment")
    for _ in range(3):
        stack.wait(50)
        for id_ in "abc":
            mention(stack, id_)
    assert sorted(stack.ask()) == ["a", "c"]
    confirm(stack, "b")
    assert "b" not in stack.ask()


def test_what_was_superseded_is_not_confirmed_back(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention", "supersession")
    stack.add("a", "Eve", fact_class="preference")
    stack.revise("a", "b", "Max")
    confirm(stack, "a")
    assert stack.ask() == ["b"]
    assert stack.memory._ledger.entries["a"].last_confirmed_at == START + DAY


def test_nothing_shows_before_it_begins(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", valid_from=START + 9 * DAY)
    assert stack.ask() == []
    stack.wait(9)
    assert stack.ask() == ["a"]


def test_belief_in_the_past_does_not_fade(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention", "supersession")
    stack.add("a", "Eve", fact_class="preference")
    stack.add("b", "Eve", "approver", fact_class="episode", valid_to=START + 5 * DAY)
    stack.wait(3000)
    assert stack.ask() == ["(a)"]
    assert sorted(stack.ask(mode="as_of", as_of=START + 4 * DAY)) == ["a", "b"]
    assert stack.ask(mode="as_of", as_of=START + 6 * DAY) == ["a"]


def test_what_ends_before_it_could_begin_replaces_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention", "supersession")
    stack.add("a", "Eve")
    stack.seq += 30
    stack.add("b", "Max", valid_from=START + 3 * DAY, valid_to=START + 9 * DAY)
    assert stack.ask() == ["a", "(b)"]


def test_bands_of_a_policy_reach_the_hits(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.layers = (
        Retention(Policy(classes={"ownership": ClassPolicy(half_life_days=100)}, bands=Bands(0.9, 0.2))),
    )
    stack.memory = stack.opened()
    stack.add("a", "Eve")
    stack.wait(20)
    assert stack.ask() == ["a?"]
    stack.wait(200)
    assert stack.ask() == ["a?"]
    stack.wait(20)
    assert stack.ask() == ["(a)"]


def test_peek_tells_archived_from_demoted(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "retention")
    stack.add("a", "Eve", fact_class="preference")
    stack.add("b", "Eve", fact_class="episode")
    stack.wait(900)
    question = Question(OWNER)
    stack.memory.answer([question], stack.at)
    assert stack.memory.peek([(question, "a"), (question, "b")], stack.at) == ["demoted", "expired"]


# --- what it is compared with ----------------------------------------------------------------


def test_one_ttl_for_all(tmp_path: Path) -> None:
    for name, then in (("ttl[days=90]", ["a?", "b?"]), ("ttl[days=90,hard]", [])):
        stack = Stack(tmp_path / name, name)
        stack.add("a", "Eve", domain="OWNERSHIP")
        stack.add("b", "Eve", domain="IDENTITY")
        stack.wait(88)
        assert sorted(stack.ask()) == ["a", "b"]
        stack.wait(3)
        assert sorted(stack.ask()) == then


@pytest.mark.parametrize(("by", "kept"), [("lru", {"a", "d"}), ("oldest", {"c", "d"})])
def test_a_full_store_gives_up_the_oldest_or_the_least_touched(
    by: str, kept: set[str], tmp_path: Path
) -> None:
    stack = Stack(tmp_path)
    stack.layers = parse([f"evict[{by},0.5]"], facts=6)
    stack.memory = stack.opened()
    for id_ in "abc":
        stack.add(id_, "Eve")
        mention(stack, "a") if id_ != "a" and by == "lru" else None
    stack.layers[0].capacity = 2  # type: ignore[attr-defined]  # an Eviction
    stack.add("d", "Eve")
    assert set(stack.ask()) == kept


def test_an_eviction_survives_a_restart(tmp_path: Path) -> None:
    stack = Stack(tmp_path)
    stack.layers = parse(["evict[lru,0.5]"], facts=4)
    stack.memory = stack.opened()
    stack.add("a", "Eve")
    stack.add("b", "Eve")
    mention(stack, "a")
    stack.memory.close()
    stack.memory = stack.opened()
    stack.add("c", "Eve")
    assert set(stack.ask()) == {"a", "c"}


def test_recency_lets_the_new_outrank_the_relevant(tmp_path: Path) -> None:
    def ask(*layers: str) -> tuple[list[str], list[PeekCause]]:
        stack = Stack(tmp_path / "-".join(layers), *layers)
        stack.add("owner", "Eve")
        stack.wait(700)
        stack.add("approver", "Max", "approver")
        question = Question(OWNER, k=1)
        hits = [str(hit.fact) for hit in stack.memory.answer([question], stack.at)[0].hits]
        return hits, list(stack.memory.peek([(question, "owner")], stack.at))

    assert ask()[0] == ["owner"]
    assert ask("recency") == (["approver"], ["outranked"])


def test_recency_keeps_k_and_withheld_hits_apart(tmp_path: Path) -> None:
    stack = Stack(tmp_path, "recency")
    for i in range(9):
        stack.add(f"d{i}", "Eve", confidence=0.1)
    stack.add("b", "somebody else altogether", "approver")
    stack.add("c", "somebody else again", "auditor")
    shown = [hit for hit in stack.ask(k=1) if not hit.startswith("(")]
    assert len(shown) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["retention[hard]"], "takes the option 'weibull' or none"),
        (["ttl", "retention"], "both say how long"),
        (["ttl[days=-1]"], "unknown option 'days=-1'"),
        (["ttl[days=0]"], "unknown option 'days=0'"),
        (["evict"], "such as [lru,0.5]"),
        (["evict[lru]"], "such as [lru,0.5]"),
        (["evict[lru,oldest,0.5]"], "such as [lru,0.5]"),
        (["evict[lru,2]"], "such as [lru,0.5]"),
        (["evict[newest,0.5]"], "such as [lru,0.5]"),
        (["recency[0.5]"], "takes no options"),
        (["succession"], "unknown layer"),
    ],
)
def test_refused(names: list[str], message: str) -> None:
    with pytest.raises(BadInput) as refusal:
        parse(names, facts=10)
    assert message in str(refusal.value)


def test_layers_run_in_their_order() -> None:
    def order(*names: str) -> list[str]:
        layers: tuple[Layer, ...] = parse(names, facts=10)
        return [layer.name for layer in layers]

    assert order("supersession", "retention") == ["retention", "succession", "supersession"]
    assert order("all", "evict[lru,0.5]") == ["ttl", "propagation", "succession", "supersession", "evict"]
    assert order("recency", "propagation") == ["propagation", "succession", "recency"]
    assert DEFAULT.of("regulated").action == "delete"
