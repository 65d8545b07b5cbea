"""Native memories, against the real things: what each does about facts that change, and by which clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, Unsupported
from memrot.memory import CAPABILITIES, TTL_DAYS, MemoryService, Place
from memrot.model import (
    DAY,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactConfirmed,
    FactInvalidated,
    FactRevised,
    Instant,
    PeekCause,
    Question,
)
from memrot.names import parse
from memrot_adapters import _clock

START = 1_767_603_600_000
"""2026-01-05T09:00:00Z"""
HOUR = 3_600_000
KEPT = (
    "chroma/native", "qdrant/native", "redis/native", "redis/native-ttl-only", "mem0/native",
    "langgraph/native-postgres",
)  # fmt: skip
"""What outlives its process."""

EVERY = (*KEPT, "langgraph/native", "qdrant/native[memory]")
"""The last is the code of ``qdrant/native[server]``; no server can be had, and its client imitates one."""

SERVERS = ("redis/native", "redis/native-ttl-only", "langgraph/native-postgres")
"""By a server's clock; what has expired there is gone."""

MOVED = (*SERVERS, "mem0/native")

Open: TypeAlias = Callable[[], MemoryService]


class Told:
    """A memory and the sequence of what it was told."""

    def __init__(self, open_memory: Open) -> None:
        self.open_memory = open_memory
        self.memory = open_memory()
        self.seq = 0

    def tell(self, at: Instant, *events: Callable[[int, Instant], ChangeEvent]) -> None:
        made = []
        for event in events:
            self.seq += 1
            made.append(event(self.seq, at))
        self.memory.apply(made, at)

    def ask(self, text: str, at: Instant, k: int = 5) -> list[str | None]:
        return [hit.fact for hit in self.memory.answer([Question(text, k=k)], at)[0].hits]

    def why(self, fact: str, at: Instant) -> PeekCause:
        return self.memory.peek([(Question("?"), fact)], at)[0]

    def restart(self) -> None:
        self.memory.close()
        self.memory = self.open_memory()


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Told]:
    embedder = Hashing()
    name = parse(request.param)
    if name.adapter == "langgraph/native-postgres":
        request.getfixturevalue("set_up_once")
    open_memory = registry.memory(name.adapter)
    place = Place("memrotnative", tmp_path / "cell", embedder.dim, 50)
    told = Told(lambda: open_memory(place, name.adapter_options, embedder))
    yield told
    told.memory.drop()
    told.memory.close()


every = pytest.mark.parametrize("opened", EVERY, indirect=True)


def fact(id_: str, value: str, subject: str = "billing", **more: object) -> Fact:
    base: Mapping[str, object] = {
        "predicate": "owner",
        "domain": "OWNERSHIP",
        "observed_at": START,
        "valid_from": START,
    }
    text = f"The owner of {subject} is {value}."
    return Fact(id=id_, subject=subject, value=value, text=text, **{**base, **more})  # type: ignore[arg-type]  # fields by name


def add(what: Fact) -> Callable[[int, Instant], ChangeEvent]:
    return lambda seq, at: FactAdded(seq=seq, at=at, fact=what)


def revise(previous: str, what: Fact) -> Callable[[int, Instant], ChangeEvent]:
    return lambda seq, at: FactRevised(seq=seq, at=at, previous=previous, current=what)


def invalidate(id_: str) -> Callable[[int, Instant], ChangeEvent]:
    return lambda seq, at: FactInvalidated(seq=seq, at=at, fact=id_, reason="dropped")


def confirm(id_: str) -> Callable[[int, Instant], ChangeEvent]:
    return lambda seq, at: FactConfirmed(seq=seq, at=at, fact=id_)


ASKED = "Who is the owner of billing?"


@every
def test_a_revision_takes_the_place_of_what_it_revises(opened: Told) -> None:
    opened.tell(START, add(fact("f1", "ada")), add(fact("g1", "eve", "search")))
    opened.tell(START + HOUR, revise("f1", fact("f2", "bob", valid_from=START + HOUR)))
    assert opened.ask(ASKED, START + HOUR)[0] == "f2"
    assert set(opened.ask(ASKED, START + HOUR)) == {"f2", "g1"}
    assert opened.why("f1", START + HOUR) == "deleted"
    # back to the first value, said in the same words: the newest instance is the one that is held
    opened.tell(START + 2 * HOUR, revise("f2", fact("f3", "ada", valid_from=START + 2 * HOUR)))
    assert set(opened.ask(ASKED, START + 2 * HOUR)) == {"f3", "g1"}


@every
def test_an_invalidation_deletes_that_fact_and_no_newer_one(opened: Told) -> None:
    opened.tell(START, add(fact("f1", "ada")), add(fact("g1", "eve", "search")))
    opened.tell(START + HOUR, revise("f1", fact("f2", "bob", valid_from=START + HOUR)))
    opened.tell(START + 2 * HOUR, invalidate("f1"), invalidate("never told"))
    assert set(opened.ask(ASKED, START + 2 * HOUR)) == {"f2", "g1"}
    opened.tell(START + 3 * HOUR, invalidate("f2"))
    assert opened.ask(ASKED, START + 3 * HOUR) == ["g1"]
    assert opened.why("f2", START + 3 * HOUR) == "deleted"
    assert opened.why("never told", START + 3 * HOUR) == "never stored"


@every
def test_a_key_may_have_several_values(opened: Told) -> None:
    opened.tell(START, add(fact("m1", "ada", cardinality="many")), add(fact("m2", "bob", cardinality="many")))
    assert set(opened.ask(ASKED, START)) == {"m1", "m2"}
    opened.tell(START + HOUR, revise("m1", fact("m3", "cid", cardinality="many")))
    assert set(opened.ask(ASKED, START + HOUR)) == {"m2", "m3"}


@pytest.mark.parametrize("opened", KEPT, indirect=True)
def test_what_was_told_is_known_after_a_restart(opened: Told) -> None:
    opened.tell(START, add(fact("f1", "ada")), add(fact("g1", "eve", "search")))
    opened.restart()
    opened.tell(START + HOUR, revise("f1", fact("f2", "bob", valid_from=START + HOUR)), invalidate("g1"))
    opened.restart()
    assert opened.ask(ASKED, START + HOUR) == ["f2"]
    end = START + round(TTL_DAYS["OWNERSHIP"] * DAY)
    opened.tell(end - HOUR, confirm("f2"))
    opened.restart()
    assert opened.ask(ASKED, end + HOUR) == ["f2"]


@pytest.mark.parametrize("opened", ["chroma/native", "qdrant/native", "mem0/native"], indirect=True)
def test_what_is_held_and_has_expired_is_said_to_have_after_a_restart(opened: Told) -> None:
    opened.tell(START, add(fact("f1", "ada")))
    opened.restart()
    past = START + round(TTL_DAYS["OWNERSHIP"] * DAY) + DAY
    assert opened.ask(ASKED, past) == []
    assert opened.why("f1", past) == "expired"


@every
@pytest.mark.parametrize(
    "jump", [HOUR, 3 * DAY, 100 * DAY, 365 * DAY], ids=["hour", "days", "months", "year"]
)
def test_a_fact_is_there_just_before_its_end_and_gone_just_after(opened: Told, jump: int) -> None:
    """For ``moved`` clocks it is the backend's own expiry, in real calls; its unit is a day in mem0."""
    stable = fact("g1", "eve", "search", domain="ENDLESS")
    opened.tell(START, add(stable), add(fact("f1", "ada", domain="ENDLESS", valid_to=START + jump)))
    end = START + jump
    if opened.memory.info.name == "mem0/native":
        end = end - end % DAY + DAY
    assert opened.ask(ASKED, START)[0] == "f1"
    assert opened.ask(ASKED, end - 1)[0] == "f1"
    assert opened.ask(ASKED, end) == ["g1"]
    assert opened.why("f1", end) == "expired"
    assert opened.ask(ASKED, end + 365 * DAY) == ["g1"]


@pytest.mark.parametrize("opened", MOVED, indirect=True)
def test_a_clock_is_moved_on_and_on(opened: Told) -> None:
    """One server, one process, from an hour to two years: each fact is there until its own end."""
    jumps = [HOUR, 5 * HOUR, DAY, 3 * DAY, 30 * DAY, 100 * DAY, 365 * DAY, 730 * DAY]
    ends = [START + jump for jump in jumps]
    if opened.memory.info.name == "mem0/native":
        ends = sorted({end - end % DAY + DAY for end in ends})
    told = [
        add(fact(f"f{n}", f"ada{n}", f"svc{n}", domain="ENDLESS", valid_to=end)) for n, end in enumerate(ends)
    ]
    opened.tell(START, *told)
    names = [f"f{n}" for n in range(len(ends))]
    for n, end in enumerate(ends):
        assert set(opened.ask(ASKED, end - 1, k=9)) == set(names[n:])
        left = set(opened.ask(ASKED, end, k=9))
        assert left == set(names[n + 1 :])


@every
def test_a_lifetime_is_its_domains_and_a_confirmation_starts_it_anew(opened: Told) -> None:
    lifetime = round(TTL_DAYS["OWNERSHIP"] * DAY)
    opened.tell(START, add(fact("f1", "ada")), add(fact("g1", "eve", "search")))
    opened.tell(START + lifetime - DAY, confirm("f1"))
    assert opened.ask(ASKED, START + lifetime + DAY) == ["f1"]
    assert opened.why("g1", START + lifetime + DAY) == "expired"
    assert opened.ask(ASKED, START + 2 * lifetime + DAY) == []


@every
def test_an_expired_fact_revives_only_where_it_was_hidden(opened: Told) -> None:
    late = START + round(TTL_DAYS["OWNERSHIP"] * DAY) + DAY
    opened.tell(START, add(fact("f1", "ada")))
    opened.tell(late, confirm("f1"))
    assert opened.ask(ASKED, late) == ([] if opened.memory.info.name in SERVERS else ["f1"])


@every
def test_an_older_fact_told_late(opened: Told) -> None:
    opened.tell(START + DAY, add(fact("new", "ada", valid_from=START + DAY)))
    opened.tell(START + 2 * DAY, add(fact("old", "bob")))
    keeps = opened.memory.info.capabilities["late_arrival"].how == "native"
    assert opened.ask(ASKED, START + 2 * DAY) == ["new" if keeps else "old"]


@every
def test_what_it_cannot_do_it_says(opened: Told) -> None:
    opened.tell(START, add(fact("f1", "ada")))
    asked = [Question(ASKED, mode="history"), Question(ASKED), Question(ASKED, mode="as_of", as_of=START)]
    history, now, past = opened.memory.answer(asked, START)
    assert [hit.fact for hit in now.hits] == ["f1"]
    assert (history.hits, past.hits) == ((), ())
    assert history.unsupported == past.unsupported == "a record that is replaced or deleted is gone"
    with pytest.raises(Unsupported, match="keeps the one it began with"):
        opened.tell(START + 1, lambda seq, at: EmbedderChanged(seq=seq, at=at, embedder="minilm-l3"))


@every
def test_every_capability_is_declared_with_a_reason(opened: Told) -> None:
    declared = opened.memory.info.capabilities
    assert set(declared) == set(CAPABILITIES)
    assert all(each.why for each in declared.values())
    assert opened.memory.info.clock == ("moved" if opened.memory.info.name in MOVED else "argument")


@pytest.mark.parametrize("opened", ["redis/native", "redis/native-ttl-only"], indirect=True)
def test_expired_keys_take_the_places_of_live_ones_where_nothing_filters(opened: Told) -> None:
    end = START + DAY
    dead = [add(fact(f"d{i}", f"ada{i}", f"billing{i}", valid_to=end)) for i in range(5)]
    opened.tell(START, *dead, add(fact("f1", "bob", "quite another matter", domain="ENDLESS")))
    asked = "Who is the owner of billing3?"
    assert set(opened.ask(asked, end - 1)) == {f"d{i}" for i in range(5)}
    assert opened.ask(asked, end) == ([] if opened.memory.info.name.endswith("ttl-only") else ["f1"])


@pytest.mark.parametrize("opened", ["mem0/native"], indirect=True)
def test_expired_memories_hide_live_ones_behind_them(opened: Told) -> None:
    """mem0 looks at the 60 nearest, and leaves out what has expired only then."""
    end = START + DAY
    dead = [add(fact(f"d{n}", f"ada{n}", f"billing{n}", valid_to=end)) for n in range(60)]
    opened.tell(START, *dead, add(fact("f1", "bob", "quite another matter", domain="ENDLESS")))
    assert opened.ask("Who is the owner of billing3?", end + DAY) == []
    assert opened.why("f1", end + DAY) == "outranked"
    opened.tell(end + DAY, *(invalidate(f"d{n}") for n in range(60)))
    assert opened.ask("Who is the owner of billing3?", end + DAY) == ["f1"]


@pytest.mark.parametrize("opened", ["redis/native", "langgraph/native-postgres"], indirect=True)
def test_a_servers_clock_is_exact_to_the_millisecond(opened: Told) -> None:
    """Each of these is read a microsecond short by the library if it is written as it is."""
    for at in (1_707_575_354_308, 1_708_354_874_018, 1_718_482_827_037, 1_733_854_989_508):
        opened.tell(at, add(fact("f1", "ada", domain="ENDLESS", valid_from=at, valid_to=at + 2)))
        assert opened.ask(ASKED, at + 1) == ["f1"]
        assert opened.ask(ASKED, at + 2) == []


@pytest.mark.parametrize("elsewhere", [START - 1, START + 1, START + 365 * DAY])
def test_a_server_that_keeps_to_another_clock_is_noticed(
    elsewhere: Instant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_clock, "PATIENCE", 0.05)
    clock = _clock.Clock(tmp_path / "clock", "redis")
    clock.move(START, lambda: START)
    with pytest.raises(TimeoutError):
        clock.move(START, lambda: elsewhere)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_whose_clock_is_not_ours_is_unsupported(name: str, tmp_path: Path) -> None:
    place = Place("memrotnative", tmp_path, 8, 1)
    with pytest.raises(Unsupported, match="wall clock"):
        registry.memory(name)(place, {"server": ""}, Hashing())
    with pytest.raises(BadInput, match="unknown option 'mode'"):
        registry.memory(name)(place, {"mode": "plain"}, Hashing())
