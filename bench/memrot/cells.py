"""A cell: one stack over one timeline, under the terms that all cells of a run share.

A cell's name is derived from everything that determines its outcome: the same name means the
same work, and an interrupted run knows what is missing.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Literal, TypeAlias

from msgspec import Struct

from memrot.names import StackName
from memrot.observations import EmbedderId, StackId, TimelineId

Kind: TypeAlias = Literal["stack", "control"]


class Terms(Struct, frozen=True, kw_only=True):
    """What all cells of a run have in common; runs on different terms are never merged."""

    suite: str
    embedder: EmbedderId
    k: int = 5
    forget_within: int = 3
    ask_every: int = 1
    links_told: float = 1.0
    """The share of links that memories are told of (``links``)."""
    swaps: tuple[tuple[str, str], ...] = ()
    """The embedders that timelines change to, by the names that they use, with their fingerprints."""


class Cell(Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    stack: StackId
    timeline: TimelineId

    @classmethod
    def of(cls, kind: Kind, stack: StackId, timeline: TimelineId, terms: Terms) -> Cell:
        return cls(name=_name(stack, timeline, terms), kind=kind, stack=stack, timeline=timeline)


def stack_name(stack: StackId) -> StackName:
    return StackName.of(stack.adapter, stack.layers, stack.options)


def _name(stack: StackId, timeline: TimelineId, terms: Terms) -> str:
    """A readable prefix and a hash: ``chroma+all--project-reorg-s1--4f0c9a31be77``."""
    determined_by = {
        "adapter": stack.adapter,
        "backend": stack.backend,
        "version": stack.version,
        "deployment": stack.deployment,
        "layers": stack.layers,
        "options": stack.options,
        "timeline": timeline.digest,
        "embedder": terms.embedder.fingerprint,
        "k": terms.k,
        "forget_within": terms.forget_within,
        "ask_every": terms.ask_every,
        "suite": terms.suite,
    }
    if terms.links_told != 1:
        determined_by["links_told"] = terms.links_told
    if terms.swaps:
        determined_by["swaps"] = terms.swaps
    digest = hashlib.sha256(json.dumps(determined_by, sort_keys=True).encode()).hexdigest()[:12]
    return f"{_file_name(f'{stack_name(stack)}--{timeline.id}-s{timeline.seed}')}--{digest}"


def timeline_file(timeline: TimelineId) -> str:
    return f"{_file_name(f'{timeline.id}-s{timeline.seed}')}--{timeline.digest[:12]}.timeline.jsonl.gz"


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text)[:96].strip("-.")
