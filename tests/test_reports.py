"""The public reports that the exam answers to, 1 to 14, each replayed in its own words.

Every report is a little timeline. The exact store with the right layers gives the right answer; a
memory that makes that very mistake gives the wrong one, and a named metric says so. Reports 15 to 20
are in ``test_reports_of_stores``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.exact import Exact
from memrot.layers import parse
from memrot.layers.policy import DEFAULT, ClassPolicy, Policy
from memrot.layers.retention import Retention
from memrot.memory import Place, Record
from memrot.model import (
    DAY,
    NEVER,
    ChangeEvent,
    Fact,
    FactConfirmed,
    FactMentioned,
    FactRevised,
    Instant,
    Question,
    introduces,
)
from memrot.retention.policy import parse as read_policy
from memrot.stack import LayeredMemory
from memrot.timeline import read
from reports import Mishearing, Notes, Replay, Report, changed, day, stack
from timeline_lines import fact, lines, refusal, written


def stored(folder: Path, *layers: str) -> dict[str, Record]:
    """What a closed stack left in its store, by id."""
    place = Place("report", folder / "-".join(["store", *layers]), Hashing.dim, 64)
    return {record.id: record for record in Exact(place).scan()}


# --- what replaces what ------------------------------------------------------------------------


def test_1_a_moved_service_is_found_in_its_new_region_and_nowhere_else(tmp_path: Path) -> None:
    class Emptied(Notes):
        """Takes a revision as a deletion."""

        def revised(self, previous: str, current: Fact) -> None:
            del self.facts[previous]

    report = Report()
    report.add(0, "f1", "region", "svcA", "eu1")
    report.revise(5, "f1", "f2", "eu2")
    report.wait(6)
    asked = report.ask("region", "svcA", tests="revision")
    right = Replay(report, stack(tmp_path, "all"))
    leaking, empty = Replay(report, stack(tmp_path)), Replay(report, Emptied())
    assert right.answer(6, asked) == ["f2"]
    assert (right.cell["coverage"], right.cell["contamination"]) == (1, 0)
    assert sorted(leaking.answer(6, asked)) == ["f1", "f2"]
    assert leaking.cell["contamination"] == 1
    assert leaking.leaks["supersession"] > 0
    assert empty.answer(6, asked) == []
    assert (empty.cell["coverage"], empty.cell["contamination"]) == (0, 0)
    assert empty.leaks == right.leaks == {}


def test_2_a_link_to_the_successor_is_acted_on_and_the_history_stays(tmp_path: Path) -> None:
    report = Report()
    report.add(0, "f1", "formatter", "repoQ", "A")
    report.revise(3, "f1", "f2", "B")
    report.wait(4)
    now = report.ask("formatter", "repoQ", tests="revision")
    past = report.ask("formatter", "repoQ", mode="history", tests="history")
    right = Replay(report, stack(tmp_path, "all"))
    assert right.answer(4, now) == ["f2"]
    assert right.answer(4, past) == ["f1", "f2"]
    assert stored(tmp_path, "all")["f1"].fields["superseded_by"] == "f2"

    # propagation keeps the books: the link is written, and nobody reads it when asked
    unread = Replay(report, stack(tmp_path, "propagation"))
    assert stored(tmp_path, "propagation")["f1"].fields["superseded_by"] == "f2"
    assert sorted(unread.answer(4, now)) == ["f1", "f2"]
    assert unread.cell["contamination"] > right.cell["contamination"] == 0
    # and overwriting has no history left
    assert Replay(report, stack(tmp_path, "overwrite")).scores.time_travel["history"]["coverage"] is None
    assert right.scores.time_travel["history"]["coverage"] == 1


def test_3_the_correction_survives_the_conflict_that_it_ends(tmp_path: Path) -> None:
    class Wary(Notes):
        """Holds two contradicting sentences against both."""

        def revised(self, previous: str, current: Fact) -> None:
            self.facts[current.id] = current

        def found(self, question: Question, at: Instant) -> Sequence[Fact]:
            found = super().found(question, at)
            return found if len(found) == 1 else []

    report = Report()
    report.add(0, "f1", "oncall", "svcB", "red")
    report.revise(5, "f1", "f2", "blue")
    report.wait(6)
    asked = report.ask("oncall", "svcB", tests="revision")
    right, wary = Replay(report, stack(tmp_path, "all")), Replay(report, Wary())
    assert right.answer(6, asked) == ["f2"]
    assert wary.answer(6, asked) == []
    assert right.cell["false_abstention"] == 0 < wary.cell["false_abstention"]
    assert right.cell["lifecycle"] == 1 > wary.cell["lifecycle"]


def test_4_one_newer_source_outweighs_five_old_ones(tmp_path: Path) -> None:
    class Majority(Notes):
        """Believes what most sentences say."""

        def added(self, fact: Fact) -> None:
            self.facts[fact.id] = fact

        def found(self, question: Question, at: Instant) -> Sequence[Fact]:
            found = super().found(question, at)
            votes = Counter(fact.value for fact in found)
            return [fact for fact in found if fact.value == votes.most_common(1)[0][0]]

    report = Report()
    for source in range(5):
        report.add(source, f"old{source}", "home", "user", "h1", text=f"The home of user is h1 ({source}).")
    report.add(9, "new", "home", "user", "h2")
    report.wait(10)
    asked = report.ask("home", "user", tests="contradiction")
    right, majority = Replay(report, stack(tmp_path, "all")), Replay(report, Majority())
    assert right.answer(10, asked) == ["new"]
    assert set(majority.answer(10, asked)) == {f"old{source}" for source in range(5)}
    assert right.cell["confidently_wrong"] == 0 < majority.cell["confidently_wrong"]
    assert right.cell["wrong"] == 0 < majority.cell["wrong"]


def test_5_fifty_versions_of_one_fact_leave_room_for_the_others(tmp_path: Path) -> None:
    report = Report(k=5)
    report.add(0, "v0", "quota", "svcC", "limit 0")
    for version in range(1, 50):
        report.revise(version, f"v{version - 1}", f"v{version}", f"limit {version}")
    report.add(50, "other", "quota", "svcC2", "limit 7")
    busy = report.ask("quota", "svcC", tests="interference")
    other = report.ask("quota", "svcC2", tests="interference", since=51)
    right, bare = Replay(report, stack(tmp_path, "all")), Replay(report, stack(tmp_path))
    assert right.hits(50, busy)[0] == "v49"
    assert "other" in right.hits(50, other)
    assert not {f"v{version}" for version in range(49)} & {*right.hits(50, busy), *right.hits(50, other)}
    assert right.cell["consistency"] == 1 > bare.cell["consistency"]
    assert right.cell["coverage"] == 1 > bare.cell["coverage"]


def test_6_a_value_that_returns_in_the_same_words_is_not_a_duplicate(tmp_path: Path) -> None:
    class Deduplicating(Notes):
        """Leaves out a sentence that it has heard before."""

        def __init__(self) -> None:
            super().__init__()
            self.heard: set[str] = set()

        def added(self, fact: Fact) -> None:
            self.heard.add(fact.text)
            super().added(fact)

        def revised(self, previous: str, current: Fact) -> None:
            if current.text not in self.heard:
                self.heard.add(current.text)
                super().revised(previous, current)

    report = Report()
    report.add(0, "a1", "mode", "svcD", "A")
    report.revise(1, "a1", "b", "B")
    report.revise(2, "b", "a2", "A")
    report.wait(3)
    now = report.ask("mode", "svcD", tests="flip_flop")
    past = report.ask("mode", "svcD", mode="history", tests="history")
    right, deduplicating = Replay(report, stack(tmp_path, "all")), Replay(report, Deduplicating())
    assert right.answer(3, now) == ["a2"]
    assert right.answer(3, past) == ["a1", "b", "a2"]
    assert deduplicating.answer(3, now) == ["b"]
    assert right.cell["coverage_key"] == 1 > deduplicating.cell["coverage_key"]
    assert right.cell["confidently_wrong"] == 0 < deduplicating.cell["confidently_wrong"]


def test_7_what_is_said_twice_is_there_once_it_was_said(tmp_path: Path) -> None:
    class Merging(Notes):
        """Removes the old one of two identical sentences, and leaves out the new one as known."""

        def added(self, fact: Fact) -> None:
            twins = [id_ for id_, other in self.facts.items() if other.text == fact.text]
            for id_ in twins:
                del self.facts[id_]
            if not twins:
                self.facts[fact.id] = fact

    report = Report()
    report.add(0, "f0", "tier", "svcE", "bronze")
    report.revise(1, "f0", "f1", "silver")
    report.add(2, "f2", "tier", "svcE", "silver")
    report.wait(3)
    asked = report.ask("tier", "svcE", tests="flip_flop")
    right, merging = Replay(report, stack(tmp_path, "all")), Replay(report, Merging())
    # two instances of one statement are one value, and overwriting keeps one record of it
    assert sorted(right.answer(3, asked)) == ["f1", "f2"]
    assert right.cell["silent_contradiction"] == 0
    assert Replay(report, stack(tmp_path, "overwrite")).answer(3, asked) == ["f2"]
    assert stored(tmp_path, "overwrite").keys() == {"f2"}
    assert merging.answer(3, asked) == []
    assert right.cell["coverage_key"] == 1 > merging.cell["coverage_key"]


def test_8_a_page_that_arrives_late_does_not_displace_a_newer_one(tmp_path: Path) -> None:
    report = Report()
    year = 365.25
    report.add(0, "new", "tier", "svcS", "gold", valid_from=day(-0.3 * year), observed_at=day(0))
    report.add(1, "old", "tier", "svcS", "iron", valid_from=day(-3 * year), observed_at=day(1))
    report.wait(2)
    now = report.ask("tier", "svcS", tests="late_arrival")
    then = report.ask("tier", "svcS", mode="as_of", as_of=day(-2.6 * year), tests="history")
    right, arrival = Replay(report, stack(tmp_path, "all")), Replay(report, stack(tmp_path, "overwrite"))
    assert right.answer(2, now) == ["new"]
    assert right.answer(2, then) == ["old"]
    assert right.scores.time_travel["as_of"]["coverage"] == 1
    assert arrival.answer(2, now) == ["old"]
    assert arrival.scores.time_travel["as_of"]["unsupported"] == arrival.scores.time_travel["as_of"]["n"]
    assert right.cell["divergence"] == 0 < arrival.cell["divergence"]


@pytest.mark.parametrize("adapter", ["exact", "chroma", "qdrant", "redis"])
def test_9_of_two_revisions_at_one_instant_the_later_in_order_holds(adapter: str, tmp_path: Path) -> None:
    class FirstOfInstant(Notes):
        """Takes what it heard first at an instant for the newest."""

        def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
            super().apply(events[::-1], at)

    report = Report()
    report.add(0, "f1", "owner", "svcF", "red")
    report.revise(2, "f1", "f2", "blue")
    report.revise(2, "f1", "f3", "green")
    report.wait(3)
    asked = report.ask("owner", "svcF", tests="revision")

    def again(folder: Path) -> Replay:
        place = Place("report", folder, Hashing.dim, 64)
        open_store = registry.adapter(adapter)
        return Replay(report, lambda: LayeredMemory(lambda: open_store(place, {}), parse(["all"]), Hashing()))

    right, rerun = again(tmp_path / "once"), again(tmp_path / "again")
    assert right.answer(3, asked) == rerun.answer(3, asked) == ["f3"]
    first = Replay(report, FirstOfInstant())
    assert first.answer(3, asked)[0] == "f2"
    assert right.cell["confidently_wrong"] == 0 < first.cell["confidently_wrong"]


def test_10_a_revision_keeps_the_end_that_was_stated(tmp_path: Path) -> None:
    def without_end(event: ChangeEvent) -> ChangeEvent:
        return changed(event, valid_to=NEVER) if isinstance(event, FactRevised) else event

    report = Report()
    report.add(0, "f1", "waiver", "svcG", "v1", valid_to=day(20))
    report.revise(5, "f1", "f2", "v2", valid_to=day(20))
    report.wait(6, 21)
    asked = report.ask("waiver", "svcG", tests="stated_end")
    right = Replay(report, stack(tmp_path, "all"))
    lost = Replay(report, Mishearing(stack(tmp_path / "lost", "all"), without_end))
    assert (right.answer(6, asked), right.answer(21, asked)) == (["f2"], [])
    assert (lost.answer(6, asked), lost.answer(21, asked)) == (["f2"], ["f2"])
    assert right.leaks["ttl"] == 0 < lost.leaks["ttl"]
    assert right.cell["contamination"] == 0 < lost.cell["contamination"]


# --- what stands on what -----------------------------------------------------------------------


def test_11_one_of_two_supports_is_enough_and_none_is_not(tmp_path: Path) -> None:
    def needs_both(event: ChangeEvent) -> ChangeEvent:
        return changed(event, support="all")

    report = Report()
    report.add(0, "f1", "region", "svcH", "eu")
    report.add(0, "f2", "database", "svcH", "SQLite")
    report.add(1, "d1", "backup", "svcH", "nightly", depends_on=("f1", "f2"), support="any")
    report.invalidate(3, "f1")
    report.invalidate(6, "f2")
    report.wait(7)
    asked = report.ask("backup", "svcH", tests="cascade", since=3)
    right = Replay(report, stack(tmp_path, "all"))
    kept = Replay(report, stack(tmp_path, "supersession"))
    over = Replay(report, Mishearing(stack(tmp_path / "over", "all"), needs_both))
    assert (right.answer(3, asked), right.answer(7, asked)) == (["d1"], [])
    assert kept.answer(7, asked) == ["d1"]
    assert kept.leaks["propagation"] > right.leaks["propagation"] == 0
    assert over.answer(3, asked) == []
    assert right.cell["coverage"] == 1 > over.cell["coverage"]


def test_12_a_mention_retires_nothing(tmp_path: Path) -> None:
    class OnePage(Notes):
        """Keeps one sentence a subject, the latest."""

        def added(self, fact: Fact) -> None:
            for id_ in [id_ for id_, other in self.facts.items() if other.subject == fact.subject]:
                del self.facts[id_]
            self.facts[fact.id] = fact

    report = Report()
    report.add(0, "f1", "owner", "svcB", "red")
    report.add(1, "f2", "deploys_to", "svcB", "eu")
    report.add(2, "f3", "audited_by", "svcB", "green")
    report.tell(3, FactMentioned, fact="f1")
    owner = report.ask("owner", "svcB", tests="over_propagation")
    region = report.ask("deploys_to", "svcB", tests="over_propagation", since=2)
    right, page = Replay(report, stack(tmp_path, "all")), Replay(report, OnePage())
    assert (right.answer(3, owner), right.answer(3, region)) == (["f1"], ["f2"])
    assert page.answer(3, owner) == page.answer(3, region) == []
    assert right.cell["coverage"] == 1 > page.cell["coverage"]
    assert right.cell["false_abstention"] == 0 < page.cell["false_abstention"]


# --- time --------------------------------------------------------------------------------------


def test_13_a_lifetime_of_zero_is_none_at_all_and_a_missing_one_is_endless(tmp_path: Path) -> None:
    report = Report()
    report.add(0, "x", "draft", "svcI", "open", fact_class="session")
    report.add(0, "y", "owner", "svcI", "red", fact_class="identity")
    report.wait(0.5)
    report.invalidate(1, "x", announced=False)
    report.wait(2, 400)
    draft = report.ask("draft", "svcI", tests="unannounced")
    owner = report.ask("owner", "svcI", tests="over_forgetting")

    def kept_by(name: str, **classes: ClassPolicy) -> Replay:
        place = Place("report", tmp_path / name, Hashing.dim, 16)
        policy = Policy(classes={**DEFAULT.classes, **classes})
        return Replay(report, lambda: LayeredMemory(lambda: Exact(place), [Retention(policy)], Hashing()))

    right = kept_by("right")
    assert [right.answer(on, draft) for on in (0, 0.5, 2, 400)] == [["x"], ["x"], [], []]
    assert [right.answer(on, owner) for on in (0, 2, 400)] == [["y"]] * 3
    zero_is_endless = kept_by("endless", session=ClassPolicy(ttl_days=None, action="delete"))
    missing_is_zero = kept_by("zero", identity=ClassPolicy(ttl_days=0, action="delete"))
    assert zero_is_endless.answer(400, draft) == ["x"]
    assert right.cell["consistency_key"] == 1 > zero_is_endless.cell["consistency_key"]
    assert missing_is_zero.answer(400, owner) == []
    assert right.cell["coverage"] == 1 > missing_is_zero.cell["coverage"]


@pytest.mark.parametrize("days", ["-1", "0.5", "nan"])
def test_13_a_lifetime_of_less_than_nothing_is_refused(days: str, tmp_path: Path) -> None:
    table = "[classes.regulated]\nttl_days = 365\naction = 'delete'\n[classes.session]\naction = 'delete'\n"
    assert read_policy(f"{table}ttl_days = 0\n").of("session").ttl_days == 0
    with pytest.raises(BadInput, match="ttl_days"):
        read_policy(f"{table}ttl_days = {days}\n")
    with pytest.raises(BadInput, match="ttl"):
        parse([f"ttl[days={days}]"]) if days != "0.5" else parse(["ttl[days=0]"])
    # and as a stated end: over before it begins, or as it does
    for end in ("2025-12-31T09:00:00Z", lines()[1]["at"]):
        broken = lines()
        broken[1]["fact"] = fact("f1", valid_to=end)
        assert "valid_to" in refusal(written(tmp_path / "t.jsonl", broken), read)


def test_14_neither_being_read_nor_being_mentioned_makes_a_fact_true_again(tmp_path: Path) -> None:
    class Touched(Notes):
        """Sliding expiry: whoever speaks of a fact, or finds it, prolongs it by its lifetime."""

        lifetime = 120 * DAY

        def __init__(self) -> None:
            super().__init__()
            self.touched: dict[str, Instant] = {}

        def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
            super().apply(events, at)
            for event in events:
                new = introduces(event)
                if new is not None:
                    self.touched[new.id] = at
                elif isinstance(event, FactMentioned | FactConfirmed):
                    self.touched[event.fact] = at

        def found(self, question: Question, at: Instant) -> Sequence[Fact]:
            found = [
                fact for fact in super().found(question, at) if at - self.touched[fact.id] < self.lifetime
            ]
            self.touched.update((fact.id, at) for fact in found)
            return found

    report = Report(window=180)
    report.add(0, "f1", "image", "svcJ", "debian")
    report.invalidate(30, "f1", announced=False)
    report.wait(60, 90)
    report.tell(119, FactMentioned, fact="f1")
    report.wait(121, 200, 210)
    asked = report.ask("image", "svcJ", tests="unannounced")
    right, touched = Replay(report, stack(tmp_path, "ttl[hard]")), Replay(report, Touched())
    assert [right.answer(on, asked) for on in (90, 119, 121, 210)] == [["f1"], ["f1"], [], []]
    assert [touched.answer(on, asked) for on in (90, 119, 121, 210)] == [["f1"]] * 4
    assert right.cell["confidently_wrong"] < touched.cell["confidently_wrong"] == 1
    assert right.leaks["ttl"] == 0 < touched.leaks["ttl"]
    # nor is it fresher for being mentioned
    assert touched.scores.last["freshness"] == 0
