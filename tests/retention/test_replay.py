"""The first test: every conversation twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from memrot.embed.hashing import Hashing
from memrot.errors import BadInput
from memrot.layers.policy import DEFAULT, REGULATED, ClassPolicy, Policy
from memrot.model import DAY, Band, Probe
from memrot.retention.conversations import count, drawn, from_log, needed, of, own, read_log
from memrot.retention.replay import Conversation, Replay, Reply, Said, Verdict, replay
from memrot.retention.stores import Trial, named, retaining
from memrot.stats import Rate
from memrot.timeline import Timeline, format_instant
from retention.synthetic import START, silent
from running import tiny

TASKS = {"working_context": (30.0, 0.8), "identity": (30_000.0, 1.0)}
NOTHING = Said(None, None, None, right=False)


def said(value: str | None, *, right: bool, band: Band = "assert") -> Said:
    return Said(value, band, "f", right=right) if value else structs.replace(NOTHING, right=right)


@pytest.mark.parametrize(
    ("full", "kept", "verdict"),
    [
        (said("a", right=True), said("a", right=True), "same"),
        (said("a", right=True), said("a", right=True, band="hedge"), "different"),
        (said("a", right=True), said("b", right=False), "worse"),
        (said("a", right=True), said(None, right=False), "worse"),
        (said("a", right=True), said(None, right=True), "worse"),
        (said("a", right=True), said("b", right=True), "different"),
        (said(None, right=True), said("b", right=False), "worse"),
        (said("a", right=False), said("b", right=False), "different"),
        (said("a", right=False), said(None, right=False), "different"),
        (said("a", right=False), said(None, right=True), "better"),
        (said("a", right=False), said("b", right=True), "better"),
    ],
)
def test_a_reply_is_judged_by_what_the_full_store_got_right(full: Said, kept: Said, verdict: Verdict) -> None:
    assert Reply("?", "c", full, kept).verdict == verdict


SAME = Reply("?", "c", said("a", right=True), said("a", right=True))
HEDGED = Reply("?", "c", said("a", right=True), said("a", right=True, band="hedge"))
WORSE = Reply("?", "episode", said("a", right=True), said(None, right=False))
BETTER = Reply("?", "c", said("a", right=False), said(None, right=True))


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        ([SAME, SAME], "same"), ([SAME, HEDGED], "different"), ([HEDGED, BETTER], "better"),
        ([BETTER, WORSE, SAME], "worse"),
    ],
)  # fmt: skip
def test_a_conversation_is_as_bad_as_its_worst_reply(replies: list[Reply], verdict: Verdict) -> None:
    assert Conversation("t", "s", 0, tuple(replies)).verdict == verdict


def test_the_regression_rate_is_of_all_conversations() -> None:
    verdicts = [WORSE] * 9 + [HEDGED] * 17 + [BETTER] * 5 + [SAME] * (1240 - 31)
    found = Replay(tuple(Conversation("t", str(i), 0, (reply,)) for i, reply in enumerate(verdicts)))
    assert found.regression == Rate(9, 1240)
    assert found.regression.value == pytest.approx(0.00726, abs=5e-6)
    assert found.different == Rate(31, 1240)
    assert found.better == Rate(5, 1240)
    assert found.doubted == Rate(17, 1240)
    assert found.spoiled == Rate(26, 1240)
    assert found.confidently_wrong == Rate(0, 1240)
    assert found.worse_by_class == {"episode": 9}
    low, high = found.regression.bounds or (0, 0)
    assert (round(low, 5), round(high, 5)) == (0.00382, 0.01374)


@pytest.mark.parametrize(
    ("rate", "low", "high"),
    # R 4.3: prop.test(x, n, correct = FALSE)$conf.int
    [(Rate(3, 100), 0.01025, 0.08452), (Rate(0, 20), 0.0, 0.16113), (Rate(20, 20), 0.83887, 1.0)],
)
def test_wilson(rate: Rate, low: float, high: float) -> None:
    assert rate.bounds is not None
    assert rate.bounds == pytest.approx((low, high), abs=1e-5)


def test_nothing_counted_is_no_rate() -> None:
    assert (Rate(0, 0).value, Rate(0, 0).bounds) == (None, None)


# --- conversations ---------------------------------------------------------------------------


def test_a_timeline_s_own_sessions_are_asked_once_at_their_time() -> None:
    exam = silent(TASKS, 20, asked=12)
    asked = own(exam)
    assert asked is not None
    assert count(asked) == 12
    seqs = {stage.seq for stage in asked.stages}
    assert all(probe.until == probe.since + 1 and probe.since in seqs for probe in asked.probes)
    assert own(tiny()) is None


def test_sessions_that_go_on_are_asked_at_their_first_stage() -> None:
    exam = tiny()
    probes = [structs.replace(probe, session="s", since=5) for probe in exam.probes]
    asked = own(Timeline.of(exam.header, exam.events, probes))
    assert asked is not None
    assert {(probe.since, probe.until) for probe in asked.probes} == {(5, 6)}


def test_drawn_conversations_are_the_same_each_time_and_ask_what_is_asked_then() -> None:
    exam = tiny()
    asked = drawn(exam, 50)
    assert count(asked) == 50
    assert asked.digest == drawn(exam, 50).digest
    known = {(probe.question, probe.key) for probe in exam.probes}
    assert {(probe.question, probe.key) for probe in asked.probes} <= known
    assert max(int(probe.id.partition(".")[2]) for probe in asked.probes) <= 2
    with pytest.raises(BadInput, match="asks no question"):
        drawn(Timeline.of(exam.header, exam.events, []), 5)


def test_what_sessions_lack_is_drawn() -> None:
    talked = silent(TASKS, 20, asked=12)
    assert [count(each) for each in of([talked, tiny(1), tiny(2)], 20)] == [12, 12, 12]
    assert [count(each) for each in of([talked, tiny(1), tiny(2)], 60)] == [12, 24, 24]
    assert [count(each) for each in of([talked], 40)] == [12]
    assert [count(each) for each in of([tiny(1), tiny(2)], 40)] == [20, 20]
    assert needed([talked, tiny(1)], 96) == 4
    assert needed([tiny(1)], 96) == 1


# --- end to end ------------------------------------------------------------------------------


def test_the_policy_store_is_the_full_one_but_for_the_policy() -> None:
    exam = silent(TASKS, 40, asked=60, seed=3)
    strict = Policy(
        classes={
            "working_context": ClassPolicy(ttl_days=20, action="delete"),
            REGULATED: ClassPolicy(ttl_days=1),
        }
    )
    with Trial(Hashing(), [exam]) as trial:
        same = replay([(exam, trial.kept(exam).seen, trial.kept(exam, named("ttl[days=9999]")).seen)])
        found = replay([(exam, trial.kept(exam).seen, trial.kept(exam, retaining(strict)).seen)])
        costs = {
            name: trial.cost([exam], keeper)
            for name, keeper in (("full", named("ttl")), ("strict", retaining(strict)))
        }
    assert same.different == Rate(0, 60)
    assert same.confidently_wrong.count > 0, "a store that keeps everything asserts what ended in silence"
    assert found.confidently_wrong.count < same.confidently_wrong.count
    assert found.better.count > 0
    assert found.regression.count > 0, "some tasks take longer than twenty days"
    assert set(found.worse_by_class) == {"working_context"}
    assert found.different.count == found.regression.count + found.better.count
    full, kept = costs["full"], costs["strict"]
    assert (full.told, full.rows, full.vectors) == (80, 80, 80)
    assert 40 <= kept.rows < 50
    assert kept.bytes < full.bytes
    projected = kept.projected()
    assert projected is not None
    assert 500_000 < projected[0] < 700_000
    assert full.projected() == (1_000_000, round(full.bytes_lately * 1e6 / full.told_lately))


def test_a_log_of_one_s_own(tmp_path: Path) -> None:
    exam = silent(TASKS, 10, seed=5)
    known = Probe(
        id="p",
        question="What is the state of identity 3?",
        subject="identity 3",
        predicate="state",
        tests="preservation",
    )
    exam = Timeline.of(exam.header, exam.events, [known])
    late = format_instant(START + 999 * DAY)
    file = tmp_path / "log.jsonl"
    file.write_text(
        f'{{"time": "{late}", "session": "a", "question": "What is the state of identity 3?"}}\n'
        f'{{"time": "{late}", "session": "a", "question": "state of working_context 2", "subject": "working_context 2", "predicate": "state"}}\n'
        f'{{"time": "{format_instant(exam.stages[4].at)}", "session": "b", "question": "The state of identity 3 is v3."}}\n'
    )
    asked = from_log(exam, read_log(file))
    assert len(asked.stages) == len(exam.stages) + 1
    assert len(asked.events) == len(exam.events) + 1
    with Trial(Hashing(), [asked]) as trial:
        found = replay([(asked, trial.kept(asked).seen, trial.kept(asked, retaining(DEFAULT)).seen)])
    assert {(each.session, len(each.replies)) for each in found.conversations} == {("a", 2), ("b", 1)}
    by_question = {reply.question: reply for each in found.conversations for reply in each.replies}
    assert by_question["What is the state of identity 3?"].full == Said(
        "v3", "assert", "identity3", right=True
    )
    assert by_question["state of working_context 2"].verdict == "better"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"session": "a", "question": "?"}', "expected an RFC 3339 instant"),
        ('{"time": "2026-01-05T09:00:00", "session": "a", "question": "?"}', "it has no zone"),
        ('{"time": "2026-01-05T09:00:00Z", "question": "?"}', "session"),
        ('{"time": "2026-01-05T09:00:00Z", "session": "a", "question": "?", "who": "me"}', "who"),
        ("", "found none"),
    ],
)
def test_logs_that_are_refused(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(BadInput) as refusal:
        read_log(file)
    assert message in str(refusal.value)
