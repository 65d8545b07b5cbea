"""The second test: what outlives its truth."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from memrot.errors import BadInput
from memrot.layers.policy import DEFAULT, REGULATED, ClassPolicy, Policy
from memrot.model import DAY, NEVER
from memrot.retention.audit import Finding, audit, contradictions, implied, outlived
from memrot.retention.beliefs import Belief, beliefs
from memrot.retention.calibration import calibrated, decay
from memrot.retention.record import answered, ask, checked, read_facts, read_record
from memrot.stats import Rate
from memrot.timeline import parse_instant
from retention.synthetic import silent

NOW = 1_800_000_000_000
YEARLY = Policy(
    classes={
        "context": ClassPolicy(ttl_days=60),
        "attribute": ClassPolicy(half_life_days=365),
        "name": ClassPolicy(),
        REGULATED: ClassPolicy(ttl_days=1, action="delete"),
        "promise": ClassPolicy(stated_end=True),
    }
)


def held(fact_class: str, days: float, *, wrong: int = 0, of: int = 1, **changes: object) -> list[Belief]:
    since = NOW - round(days * DAY)
    one = Belief(
        id="",
        fact_class=fact_class,
        subject="s",
        predicate="p",
        value="v",
        observed_at=since,
        last_confirmed_at=since,
        at=NOW,
    )
    return [structs.replace(one, id=f"{fact_class}{i}", **{"true": i >= wrong, **changes}) for i in range(of)]


def found(beliefs: Sequence[Belief]) -> dict[str, Finding]:
    return {finding.fact_class: finding for finding in audit(beliefs, YEARLY)}


def test_golden_implications() -> None:
    """Wrong more often than not at 90 days with a TTL of 60; thrice in a hundred at 18 months with 12."""
    findings = found(held("context", 90, wrong=55, of=100) + held("attribute", 548, wrong=3, of=100))
    implications = {name: finding.implication for name, finding in findings.items()}
    assert (implications["context"], implications["attribute"]) == ("shorten", "lengthen")
    assert list(findings["context"].sampled_age or ()) == [90, 90, 90]
    assert findings["context"].lifetime == 60
    assert findings["attribute"].wrong == Rate(3, 100)


@pytest.mark.parametrize(
    ("wrong", "of", "implication"),
    [
        (20, 200, "keep"),
        (30, 200, "shorten"),
        (11, 200, "lengthen"),
        (12, 200, "keep"),
        (1, 2, "keep"),
        (0, 0, "-"),
    ],
)
def test_intervals_decide(wrong: int, of: int, implication: str) -> None:
    assert implied(Rate(wrong, of)) == implication


def test_only_what_outlived_a_lifetime_is_sampled() -> None:
    findings = found(
        [
            *held("context", 60.9, wrong=9, of=9),
            *held("context", 61, of=3),
            *held("attribute", 364.9, wrong=9, of=9),
            *held("attribute", 365, wrong=1, of=2),
            *held("name", 9999, wrong=9, of=9),
            *held(REGULATED, 9999, wrong=9, of=9),
            *held("promise", 100, of=4),
            *held("promise", 100, of=4, valid_to=NOW + DAY),
        ]
    )
    assert set(findings) == {"context", "attribute", "promise"}
    assert [findings[name].wrong for name in ("context", "attribute", "promise")] == [
        Rate(0, 3),
        Rate(1, 2),
        Rate(0, 4),
    ]
    assert findings["promise"].lifetime == 90


def test_each_class_is_aged_by_its_own_clock() -> None:
    spoken_of = {"last_confirmed_at": NOW - DAY}
    assert not outlived(held("context", 90, **spoken_of), YEARLY.of("context"))
    assert outlived(held("attribute", 400, **spoken_of), YEARLY.of("attribute"))


def test_samples_are_of_at_most_two_hundred_and_the_same_each_time() -> None:
    many = held("attribute", 400, wrong=500, of=1000)
    one, other = found(many)["attribute"], found(many)["attribute"]
    assert one == other
    assert one.wrong.of == 200
    assert one.older == 1000
    assert 60 <= one.wrong.count <= 140


def test_what_nobody_can_check_is_counted_apart() -> None:
    finding = found(held("context", 90, of=5) + held("context", 90, of=3, true=None))["context"]
    assert (finding.wrong, finding.unknown, finding.older) == (Rate(0, 5), 3, 8)
    assert found(held("context", 90, of=3, true=None))["context"].implication == "-"


def test_a_lifetime_of_one_day_is_not_shortened() -> None:
    session = Policy(classes={"session": ClassPolicy(ttl_days=0)})
    (finding,) = audit(held("session", 9, wrong=99, of=99), session)
    assert finding.implication == "keep"


def test_neighbours_that_would_change_places_are_pointed_out() -> None:
    policy = Policy(
        classes={name: ClassPolicy(ttl_days=days) for name, days in (("a", 30), ("b", 40), ("c", 50))}
    )
    findings = audit(
        held("a", 99, of=100) + held("b", 99, wrong=50, of=100) + held("c", 99, wrong=50, of=100), policy
    )
    (line,) = contradictions(findings)
    assert line.startswith("a (30 d) is to be lengthened and its neighbour b (40 d) shortened")
    assert contradictions(audit(held("a", 99, wrong=50, of=100) + held("b", 99, of=100), policy)) == []


def test_an_audit_of_known_lifetimes() -> None:
    """Of tasks of a median of 30 days that are older than that, most are over; of identities none."""
    exam = silent({"working_context": (30, 1), "slow_attribute": (20_000, 1)}, 150)
    policy = Policy(
        classes={
            "working_context": ClassPolicy(ttl_days=60),
            "slow_attribute": ClassPolicy(half_life_days=300),
        }
    )
    findings = {each.fact_class: each for each in audit(beliefs(exam), policy)}
    implications = {name: finding.implication for name, finding in findings.items()}
    assert implications == {"working_context": "shorten", "slow_attribute": "lengthen"}
    assert (findings["working_context"].wrong.value or 0) > 0.8


# --- calibration -----------------------------------------------------------------------------


def test_brier_and_reliability() -> None:
    judged = calibrated(held("attribute", 365, wrong=1, of=2) + held("name", 1, of=2), YEARLY)
    by_class = {each.fact_class: each for each in judged}
    assert by_class["attribute"].brier == 0.25
    assert [(each.confidence, each.true) for each in by_class["attribute"].bins] == [(0.5, Rate(1, 2))]
    assert by_class["name"].brier == 0
    assert by_class["all"].brier == 0.125
    assert calibrated(held("name", 1, true=None), YEARLY) == []


def test_confidence_that_is_right_about_itself_scores_better_than_one_that_is_not() -> None:
    exam = silent({"preference": (200, 1)}, 400)
    known = beliefs(exam)
    policies = (
        Policy(classes={"preference": ClassPolicy(half_life_days=days)}) for days in (20, 200, 20_000)
    )
    too_short, right, too_long = (calibrated(known, policy)[0].brier for policy in policies)
    assert right < too_short
    assert right < too_long


def test_decay_of_a_home_city() -> None:
    months = [month * 730 / 24 for month in (0, 6, 12, 24, 36, 48)]
    curve = decay(DEFAULT, "slow_attribute", 0.91, months)
    assert [round(value, 3) for value, _ in curve] == [0.91, 0.765, 0.643, 0.455, 0.322, 0.228]
    assert [band for _, band in curve] == ["assert", "assert", "hedge", "hedge", "withhold", "withhold"]


# --- systems of record, and people -----------------------------------------------------------

FACTS = """id,class,subject,predicate,value,observed_at,last_confirmed_at,valid_to,confidence,text
f1,CONTEXT,Ada,ticket,8841,2026-01-01T00:00:00Z,,,,
f2,context,Ada,task,"tax, again",2026-01-01T00:00:00Z,2026-05-31T00:00:00Z,,0.5,
f3,attribute,Zoë,city,Malmö,2024-01-01T00:00:00Z,,2027-01-01T00:00:00Z,,"Zoë lives in Malmö, ""by the sea""."
f4,context,Bo,ticket,12,2026-01-01T00:00:00Z,,,,
"""
AT = parse_instant("2026-06-01T00:00:00Z")


def stored(folder: Path) -> list[Belief]:
    (folder / "facts.csv").write_text(FACTS, encoding="utf-8")
    return read_facts(folder / "facts.csv", AT)


def test_facts_of_a_real_store(tmp_path: Path) -> None:
    one, two, three, _ = stored(tmp_path)
    assert (one.fact_class, one.value, one.confidence, one.valid_to, one.true) == (
        "context",
        "8841",
        1,
        NEVER,
        None,
    )
    assert (two.value, two.confidence) == ("tax, again", 0.5)
    assert two.age_days(YEARLY.of("context")) == 1
    assert three.valid_to == parse_instant("2027-01-01T00:00:00Z")


def test_a_record_says_what_is_true_wrong_and_unknown(tmp_path: Path) -> None:
    known = stored(tmp_path)
    (tmp_path / "record.csv").write_text(
        "subject,predicate,value\nAda,ticket,9000\nZoe\u0308,city,Malmo\u0308\n", encoding="utf-8"
    )
    truth = {belief.id: belief.true for belief in checked(known, read_record(tmp_path / "record.csv"))}
    assert truth == {"f1": False, "f2": None, "f3": True, "f4": None}


def test_a_record_in_sqlite(tmp_path: Path) -> None:
    known = stored(tmp_path)
    with sqlite3.connect(tmp_path / "crm.sqlite3") as database:
        database.execute("CREATE TABLE tickets (who TEXT, number INTEGER)")
        database.executemany("INSERT INTO tickets VALUES (?, ?)", [("Ada", 8841), ("Bo", 13)])
    database.close()
    record = read_record(tmp_path / "crm.sqlite3", "SELECT who, 'ticket', number FROM tickets")
    truth = {belief.id: belief.true for belief in checked(known, record)}
    assert truth == {"f1": True, "f2": None, "f3": None, "f4": False}
    with pytest.raises(BadInput, match="no such table: facts"):
        read_record(tmp_path / "crm.sqlite3")
    with pytest.raises(BadInput, match="attempt to write a readonly database"):
        read_record(tmp_path / "crm.sqlite3", "DELETE FROM tickets")
    with pytest.raises(BadInput, match="expected the query to give subject, predicate and value"):
        read_record(tmp_path / "crm.sqlite3", "SELECT who FROM tickets")


def test_questions_go_out_and_answers_come_back(tmp_path: Path) -> None:
    known = stored(tmp_path)
    ask(tmp_path / "ask.csv", known, YEARLY)
    written = (tmp_path / "ask.csv").read_text(encoding="utf-8")
    assert 'f1,context,151,"Is this still so? ""Ada: ticket is 8841.""",\n' in written
    assert '"Is this still so? ""Zoë lives in Malmö, ""by the sea"".""",' in written
    assert [belief.true for belief in answered(known, tmp_path / "ask.csv")] == [None] * 4
    (tmp_path / "back.csv").write_text("id,answer\nf1,No\nf3, yes\nf2,\n", encoding="utf-8")
    truth = {belief.id: belief.true for belief in answered(known, tmp_path / "back.csv")}
    assert truth == {"f1": False, "f2": None, "f3": True, "f4": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,class\n", "missing: subject, predicate, value, observed_at"),
        (FACTS.replace("2026-05-31T00:00:00Z", "May"), ":3: expected an RFC 3339 instant"),
        (FACTS.replace(",0.5,", ",1.5,"), ":3: expected a confidence from 0 to 1"),
        (FACTS.replace(",0.5,", ",half,"), ":3: could not convert"),
        (FACTS + "f5,context,Bo\n", ":6: expected as many values as columns"),
        (FACTS + 'f5,"context,Bo\n', "cannot be read as CSV"),
        ("", "missing: id"),
    ],
)
def test_facts_that_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as refusal:
        read_facts(tmp_path / "facts.csv", AT)
    assert message in str(refusal.value)


def test_answers_and_records_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "back.csv").write_text("id,answer\nf1,perhaps\n")
    with pytest.raises(BadInput, match=":2: expected yes, no or nothing, got 'perhaps'"):
        answered([], tmp_path / "back.csv")
    with pytest.raises(BadInput, match="expected a CSV file"):
        read_record(tmp_path / "none.sqlite3")
    (tmp_path / "text.sqlite3").write_text(
        "not a database, but long enough to be looked at as if it were one"
    )
    with pytest.raises(BadInput, match="not a database"):
        read_record(tmp_path / "text.sqlite3")
