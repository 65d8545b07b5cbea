"""What can be done about silence, side by side: each row fails in its own way."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.evaluate import observe
from memrot.exact import Exact
from memrot.layers import parse
from memrot.memory import Place
from memrot.observations import Observations
from memrot.score import Scores, score
from memrot.stack import LayeredMemory
from memrot.timeline import Timeline


@cache
def exam() -> Timeline:
    return registry.scenario("project/unannounced").generate(1, "smoke")


@cache
def sat(layers: str) -> tuple[Observations, Scores]:
    built = parse(layers.split("+") if layers else (), exam().header.exclusive, len(exam().facts))
    with TemporaryDirectory() as folder:
        place = Place("rows", Path(folder), Hashing().dim, 16)
        seen = observe(lambda: LayeredMemory(lambda: Exact(place), built, Hashing()), exam())
    return seen, score(exam(), seen)


def share_of(layers: str, metric: str) -> float:
    value = sat(layers)[1].cell[metric]
    assert value is not None
    return value


def missed(layers: str) -> set[tuple[int, str]]:
    return {(peek.seq, fact) for peek in sat(layers)[0].peeks for fact in peek.facts}


def causes(layers: str) -> Counter[str]:
    return Counter(cause for peek in sat(layers)[0].peeks for cause in peek.facts.values())


def test_supersession_and_retention_cover_disjoint_failures() -> None:
    """One catches what was contradicted, the other what only time can make doubtful."""
    (_, alone), (_, other), (_, both) = (
        sat(name) for name in ("supersession", "retention", "supersession+retention")
    )
    assert "supersession" not in alone.leaks
    assert other.leaks["supersession"] > 500
    assert other.leaks["ttl"] < alone.leaks["ttl"] / 2
    assert "supersession" not in both.leaks
    assert both.leaks["ttl"] < alone.leaks["ttl"] / 2
    wrong = [
        share_of(name, "confidently_wrong")
        for name in ("supersession", "retention", "supersession+retention")
    ]
    assert wrong[2] < min(wrong[:2])


@pytest.mark.parametrize(("by", "share"), [("lru", 0.5), ("lru", 0.1), ("oldest", 0.5), ("oldest", 0.1)])
def test_a_full_cache_loses_what_is_true(by: str, share: float) -> None:
    evicting = f"evict[{by},{share}]"
    assert causes(evicting)["deleted"] > 200
    assert causes("")["deleted"] == 0
    lost = 1 - share_of(evicting, "coverage") / share_of("", "coverage")
    assert lost > (0.15 if share == 0.5 else 0.7)
    assert sat(evicting)[1].leaks["supersession"] > 500, "and keeps what is false, if it is new enough"


def test_what_recency_loses_is_stored_believed_and_outranked() -> None:
    beside = "supersession+recency"
    lost = missed(beside) - missed("supersession")
    assert lost
    told = {(peek.seq, fact): cause for peek in sat(beside)[0].peeks for fact, cause in peek.facts.items()}
    assert {told[each] for each in lost} == {"outranked"}


def test_what_a_policy_demotes_is_still_there() -> None:
    assert causes("supersession+retention")["demoted"] > 0
    assert set(causes("supersession+retention")) == {"demoted", "outranked"}


def test_a_mark_says_what_to_verify() -> None:
    marks = Counter(
        (hit.band, hit.mark)
        for stage in sat("supersession+retention")[0].stages
        for asked in stage.asked
        for hit in asked.hits
    )
    assert marks["hedge", "verify"] > 0
    assert marks["hedge", None] == 0, "every class of the project world is verified before it is used"
    assert marks["assert", "verify"] == 0
