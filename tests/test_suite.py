"""Profiles hold what they promise, and cells are named by what determines them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from memrot import layers, registry, suite
from memrot.cells import Cell, Terms, timeline_file
from memrot.errors import BadInput
from memrot.names import parse
from memrot.observations import EmbedderId, StackId, TimelineId

TERMS = Terms(suite="1", embedder=EmbedderId(name="e", fingerprint="f"))
STACK = StackId(
    adapter="chroma",
    backend="chromadb",
    version="1.5.9",
    deployment="embedded",
    layers=("ttl", "supersession"),
)
TIMELINE = TimelineId(id="project/reorg", seed=3, digest="d" * 64)


@pytest.mark.parametrize("name", list(suite.PROFILES))
def test_profiles_name_what_exists(name: str) -> None:
    profile = suite.profile(name)
    for stack in profile.stacks:
        parsed = parse(stack)
        assert str(parsed) == stack, "profiles spell names as leaderboards show them"
        registry.examinee(parsed.adapter)
        layers.parse(parsed.layers, facts=100)
    assert set(profile.scenarios) <= set(registry.found("scenarios"))
    assert len(set(profile.stacks)) == len(profile.stacks)


def test_profiles() -> None:
    sets = {
        name: {adapter: {parse(text).layer_set for text in profile.stacks if parse(text).adapter == adapter}
               for adapter in ("exact", "chroma", "qdrant", "redis", "mem0")}
        for name, profile in suite.PROFILES.items()
    }  # fmt: skip
    assert all(found == {"bare", "all"} for found in sets["smoke"].values())
    assert all(sets["default"][vendor] == {"bare", "overwrite", "all"} for vendor in suite.VENDORS)
    assert len(sets["default"]["exact"]) == 10
    assert all(found == sets["full"]["exact"] > sets["default"]["exact"] for found in sets["full"].values())
    default = suite.profile("default")
    assert (len(default.scenarios), default.seeds, default.k) == (6, 5, 5)
    with pytest.raises(BadInput, match="unknown profile 'big': expected one of smoke, default, full"):
        suite.profile("big")


def shipped(group: registry.Kind) -> set[str]:
    return {
        name
        for name, point in registry.found(group).items()
        if point.dist is not None and point.dist.name == "memrot"
    }


def test_native_has_every_memory_that_ships_here_and_field_every_store_too() -> None:
    assert shipped("memories") <= set(suite.profile("native").stacks)
    assert shipped("memories") | shipped("adapters") <= set(suite.profile("field").stacks)


def test_full_covers_every_scenario() -> None:
    covered = suite.profile("full").scenarios
    assert set(covered) == {
        name for name in registry.found("scenarios") if name.startswith(("project/", "person/"))
    }
    assert len(set(covered)) == len(covered)


@pytest.mark.parametrize(
    "change",
    [
        {"adapter": "qdrant"}, {"backend": "other"}, {"version": "1.6.0"}, {"deployment": "server"},
        {"layers": ("ttl",)}, {"options": {"server": ""}}, {"digest": "e" * 64}, {"fingerprint": "g"}, {"k": 4},
        {"forget_within": 2}, {"ask_every": 2}, {"suite": "2"}, {"links_told": 0.5}, {"swaps": (("minilm-l3", "g"),)},
    ],
)  # fmt: skip
def test_whatever_determines_a_cell_changes_its_name(change: dict[str, Any]) -> None:
    stack, timeline, terms = STACK, TIMELINE, TERMS
    for name, value in change.items():
        if name in StackId.__struct_fields__:
            stack = structs.replace(stack, **{name: value})
        elif name == "digest":
            timeline = structs.replace(timeline, digest=value)
        elif name == "fingerprint":
            terms = structs.replace(terms, embedder=EmbedderId(name="e", fingerprint=value))
        else:
            terms = structs.replace(terms, **{name: value})
    before = Cell.of("stack", STACK, TIMELINE, TERMS).name
    after = Cell.of("stack", stack, timeline, terms).name
    assert after.rpartition("--")[2] != before.rpartition("--")[2]


def test_a_name_says_what_it_is_and_is_a_file_name() -> None:
    name = Cell.of("stack", STACK, TIMELINE, TERMS).name
    assert name == "chroma+ttl+supersession--project-reorg-s3--e5a9a3efc537"
    how_it_ran = structs.replace(STACK, filters="post-filter ×2.0", note="n", clock="wall")
    assert Cell.of("stack", how_it_ran, TIMELINE, TERMS).name == name
    odd = structs.replace(STACK, adapter="redis", options={"mode": "plain"}, layers=("ttl[hard]",))
    assert set(Cell.of("stack", odd, TIMELINE, TERMS).name) <= set("abcdefghijklmnopqrstuvwxyz0123456789+-.")
    assert timeline_file(TIMELINE) == "project-reorg-s3--dddddddddddd.timeline.jsonl.gz"
