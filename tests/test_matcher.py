"""What a memory wrote is traced to the facts that it states, and to nothing that it merely resembles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot.matcher import Matcher
from memrot.model import Cardinality, Fact


def fact(id_: str, subject: str, value: str, text: str, cardinality: Cardinality = "one") -> Fact:
    return Fact(
        id=id_, subject=subject, predicate=text.partition(value)[0], value=value, domain="D",
        text=text, cardinality=cardinality,
    )  # fmt: skip


FACTS = [
    fact("node", "svc-7", "Node", "The runtime of svc-7 is Node."),
    fact("go", "svc-7", "Go", "The runtime of svc-7 is Go."),
    fact("node71", "svc-71", "Node", "The runtime of svc-71 is Node."),
    fact("owner", "billing", "Team Blue", "The owner of billing is Team Blue."),
    fact("audit", "billing", "Team Green", "The auditor of billing is Team Green."),
    fact("boss", "Ada", "Bob", "Ada reports to Bob."),
    fact("off", "search", "cache", "search does not use a cache."),
    fact("tag1", "ledger", "audit", "ledger has the tag audit.", "many"),
    fact("tag2", "ledger", "money", "ledger has the tag money.", "many"),
    fact("c++", "core", "C++", "The language of core is C++."),
    fact("c", "kernel", "C", "The language of kernel is C."),
    fact("nfc", "café", "Zürich", "The city of café is Zürich."),
]  # fmt: skip


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    made = Matcher()
    for at, each in enumerate(FACTS):
        made.tell(each, at)
    return made


TRICKY = [
    # said word for word, give or take case, spaces and the full stop
    ("The runtime of svc-7 is Node.", ["node"]),
    ("  the runtime of SVC-7 is   node", ["node"]),
    ("search does not use a cache", ["off"]),
    ("The city of cafe\u0301 is Zu\u0308rich.", ["nfc"]),
    # said with more around it
    ("As of 2026-01-05, the runtime of svc-7 is Node.", ["node"]),
    ("User said that the owner of billing is Team Blue.", ["owner"]),
    ("The runtime of svc-7 is Node (which is what the auditors saw).", ["node"]),
    # two facts in one memory
    ("The owner of billing is Team Blue. The auditor of billing is Team Green.", ["owner", "audit"]),
    ("ledger has the tag audit; ledger has the tag money.", ["tag1", "tag2"]),
    # denied, dated, doubted
    ("The runtime of svc-7 is no longer Node.", []),
    ("The runtime of svc-7 is not Node.", []),
    ("The runtime of svc-7 isn't Node.", []),
    ("This is no longer true: The runtime of svc-7 is Node.", []),
    ("No longer Node: the runtime of svc-7 is undecided.", []),
    ("The runtime of svc-7 was Node.", []),
    ("Formerly the runtime of svc-7 is Node.", []),
    ("The runtime of svc-7 is Node until March.", []),
    ("The runtime of svc-7 will be Node.", []),
    ("It may be that the runtime of svc-7 is Node.", []),
    ("If the runtime of svc-7 is Node, restart it.", []),
    ("Is the runtime of svc-7 now Node?", []),
    ("The runtime of svc-7 is anything without Node.", []),
    ("It is untrue that the runtime of svc-7 is Node.", []),
    ("That the runtime of svc-7 is Node is a myth.", []),
    ("The rumour that the runtime of svc-7 is Node is unfounded.", []),
    ("The runtime of svc-7 is yet to be Node.", []),
    ("The runtime of svc-7 is supposed to be Node.", []),
    ("The runtime of svc-7 is Node, which is obsolete.", []),
    ("The runtime of svc-7 is Python, so Node is history.", []),
    ("Refuted: the runtime of svc-7 is Node.", []),
    ("Forget that the runtime of svc-7 is Node.", []),
    # what the fact denies, the memory must deny
    ("search does use a cache.", []),
    ("search uses a cache.", []),
    # both values of one key
    ("The runtime of svc-7 changed from Node to Go.", []),
    ("The runtime of svc-7 is Go instead of Node.", []),
    ("The runtime of svc-7 is Node, the runtime of svc-7 is Go.", []),
    # another subject, of which the rest may speak
    ("The runtime of svc-7 is undecided and svc-71 is on Node.", []),
    ("The runtime of svc-7, and of svc-71, is Node.", []),
    # look-alikes
    ("The runtime of svc-71 is Node.", ["node71"]),
    ("The runtime of svc-7 canary is Node.", []),
    ("The runtime of svc-7.2 is Node.", []),
    ("The runtime of svc-7 is Node.js.", []),
    ("The runtime of svc-7 is Nodes.", []),
    ("The runtime of svc-7 is Node Alpine.", []),
    ("The owner of billing is Team Blue Whale.", []),
    ("The owner of billing-eu is Team Blue.", []),
    ("The language of core is C.", []),
    ("The language of kernel is C++.", []),
    ("The language of core is C++.", ["c++"]),
    # a part of it, or something else in between
    ("The test runtime of svc-7 is Node.", []),
    ("The runtime of the sidecar of svc-7 is Node.", []),
    ("The deputy owner of billing is Team Blue.", []),
    ("The runtime of svc-7 is Python and Node.", []),
    ("The runtime of svc-7 is Python while the runtime of api is Node.", []),
    ("The runtime of svc-7 is currently Node.", ["node"]),
    # another relation, the other way round, or only mentioned
    ("The owner of billing is Team Green.", []),
    ("Bob reports to Ada.", []),
    ("Team Blue met billing's owner.", []),
    ("billing, Team Blue, owner", []),
    ("Node", []),
    ("", []),
    # quoted history
    ('Ada noted: "The runtime of svc-7 is Node."', []),
    ("Last year's page reads “The owner of billing is Team Blue.”", []),
    ("He said \u2018the owner of search is Team Red\u2019 and 'the owner of billing is Team Blue' in the meeting.", []),
    ('The runtime of svc-7 is "Node".', []),
    ("> The runtime of svc-7 is Node.", []),
    ("Ada wrote:\n  > The owner of billing is Team Blue.\nThe runtime of svc-7 is Node.", ["node"]),
    # split over sentences
    ("The runtime of svc-7 is undecided. It is Node.", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "facts"), TRICKY)
def test_tricky_sentences(matcher: Matcher, text: str, facts: list[str]) -> None:
    assert list(matcher.trace(text, len(FACTS))) == facts


def test_the_newest_instance_that_had_been_said_by_then() -> None:
    matcher = Matcher()
    for at, (id_, value) in enumerate([("a1", "Ada"), ("b", "Bob"), ("a2", "Ada")]):
        matcher.tell(fact(id_, "billing", value, f"The owner of billing is {value}."), at * 10)
    for text in ("The owner of billing is Ada.", "User says the owner of billing is Ada."):
        assert [matcher.trace(text, by) for by in (-1, 0, 19, 20, 99)] == [
            (),
            ("a1",),
            ("a1",),
            ("a2",),
            ("a2",),
        ]


def test_a_text_that_names_its_value_otherwise_is_traced_word_for_word_only() -> None:
    matcher = Matcher()
    matcher.tell(fact("f", "billing", "postgres-16", "billing keeps its rows in the sixteenth Postgres."), 0)
    assert matcher.trace("Billing keeps its rows in the sixteenth Postgres", 0) == ("f",)
    assert matcher.trace("User says billing keeps its rows in the sixteenth Postgres", 0) == ()


@given(st.text(), st.sampled_from(FACTS))
def test_what_a_matcher_says_is_a_told_fact(garbage: str, told: Fact) -> None:
    matcher = Matcher()
    matcher.tell(told, 0)
    assert set(matcher.trace(garbage, 0)) <= {told.id}
    assert matcher.trace(told.text, 0) == (told.id,)
    assert matcher.trace(told.text, -1) == ()


@given(st.sampled_from(FACTS), st.text(alphabet="abcdefgh0123-._", min_size=1, max_size=5))
def test_a_longer_name_is_another_name(told: Fact, more: str) -> None:
    matcher = Matcher()
    matcher.tell(told, 0)
    if more[-1].isalnum():
        longer = told.text.replace(told.value, f"{told.value}{more}")
        assert matcher.trace(longer, 0) == ()
