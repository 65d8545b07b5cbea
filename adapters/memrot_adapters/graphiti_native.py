"""Graphiti by its own means: bitemporal edges, of which nothing is lost that was not erased.

A fact is an edge from its subject to its value, with the predicate as its name. ``valid_at`` and
``invalid_at`` say when it held in the world, ``created_at`` and ``expired_at`` when that was learned.
Questions are filtered by the first pair, as of the instant asked about. When a fact arrives, Graphiti's own
``resolve_extracted_edge`` decides what that does to the edges that it contradicts, and to itself if it
arrives late. Which ones those are is the one thing that it asks a language model; here the key says it: what
a revision names, and the other values of a key that has one. A successor that begins only later gives its
predecessor an end that lies ahead, which stays even if the successor is taken back before it begins. One that
begins at the same instant ends nothing: Graphiti compares their dates.

Its search for duplicates is left out: it answers a fact that is told again in the same words with the first
edge, even one that ended in between (Paris, Berlin, Paris would end with Berlin).

Nothing expires: Graphiti has no lifetimes, and a confirmation, or a mention, changes nothing.

Over FalkorDB, answers also show what begins only later. Graphiti writes dates as strings there, and indexes
them; with an index FalkorDB takes no notice of ``<=`` between strings
(https://github.com/FalkorDB/FalkorDB/issues/2239). The index is Graphiti's own, which its driver makes by
itself: so the row has it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from memrot.memory import Capability, Embedder, Place
from memrot.model import (
    NEVER,
    Answer,
    ChangeEvent,
    EmbedderChanged,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    PeekCause,
    Question,
    Reason,
    moment,
)
from memrot_adapters._graphiti import Edge, Graph, instant_read, opened
from memrot_adapters._graphiti_drivers import EXTRA
from memrot_adapters._native import DIGITS, refuse_embedder
from memrot_adapters._opening import backend

NOTES = ("graphiti/native[server]: verified over FalkorDB; over Neo4j its URL path is not verified.",)
"""For the listing of adapters, as of ``graphiti``."""

NOTE = "no layers, no language model: a fact's key says what it contradicts"

CAPABILITIES = {
    "filter": Capability("native", "SearchFilters: valid_at and invalid_at, beside the search"),
    "expiry": Capability("never", "no lifetimes; a stated end is the edge's invalid_at, and hides it"),
    "renewal": Capability("never", "nothing expires that could be renewed"),
    "overwrite": Capability(
        "native", "what is revised gets an invalid_at, by resolve_extracted_edge; the key says what that is"
    ),
    "invalidate": Capability("native", "invalid_at and expired_at; what is erased is deleted"),
    "cascade": Capability("never", "an edge knows no other edge"),
    "late_arrival": Capability("native", "resolve_extracted_edge ends it where the newer edge begins"),
    "as_of": Capability("native", "SearchFilters: valid_at <= T < invalid_at"),
    "history": Capability("native", "all edges of a subject and a name; what ended is kept"),
}


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> GraphitiNative:
    return GraphitiNative(opened("graphiti/native", place, options), embedder)


class _Everything:
    """Answers what Graphiti asks a model, which candidates a fact contradicts: all, they are of its key."""

    def __init__(self, candidates: int) -> None:
        self._answer = {"duplicate_facts": [], "contradicted_facts": list(range(candidates))}

    async def generate_response(self, messages: Any, **settings: Any) -> dict[str, list[int]]:
        return self._answer


class GraphitiNative:
    def __init__(self, graph: Graph, embedder: Embedder) -> None:
        self._graph = graph
        self._embedder = embedder
        self._resolve = backend("graphiti_core.utils.maintenance.edge_operations", EXTRA)
        self._nodes = backend("graphiti_core.nodes", EXTRA)
        self._erased: set[str] = set()
        """For diagnosis; a restart forgets it."""
        info = graph.info("graphiti/native")
        self.info = structs.replace(
            info,
            note="; ".join(filter(None, (info.note, NOTE))),
            capabilities={**CAPABILITIES, **info.capabilities},
        )

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        self._graph.write(self._apply(events, at))

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return self._graph.run(self._answer(questions, at))

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        held = self._graph.run(self._graph.held({fact_id for _, fact_id in missed}))
        edges = {_told(edge): edge for edge in held}
        return [self._cause(fact_id, edges.get(fact_id), at) for _, fact_id in missed]

    def drop(self) -> None:
        self._graph.drop()

    def close(self) -> None:
        self._graph.close()

    # --- what is told ------------------------------------------------------------------------

    async def _apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        for event in events:
            match event:
                case FactAdded(fact=fact):
                    await self._learn(fact, None, event.seq, at)
                case FactRevised(previous=previous, current=fact):
                    await self._learn(fact, previous, event.seq, at)
                case FactInvalidated(fact=fact_id, reason=reason):
                    await self._end(fact_id, reason, at)
                case EmbedderChanged():
                    refuse_embedder(event, "a native row")

    async def _learn(self, fact: Fact, previous: str | None, seq: int, at: Instant) -> None:
        """Save a fact's edge, and the ends that it brings to others, or they to it."""
        subject_name, predicate, value_name = (
            unicodedata.normalize("NFC", name) for name in (*fact.key, fact.value)
        )
        subject, value = self._graph.node(subject_name, at), self._graph.node(value_name, at)
        vector = self._embedder.embed([fact.text])[0]
        new = self._graph.edge(
            fact.id, fact.text, vector, (subject, value), name=predicate, created_at=moment(at),
            reference_time=moment(fact.observed_at), valid_at=moment(fact.valid_from),
            invalid_at=None if fact.valid_to == NEVER else moment(fact.valid_to),
            attributes={"told": fact.id, "seq": seq, "stated_end": fact.valid_to},
        )  # fmt: skip
        rivals = [
            edge
            for edge in await self._of_key(subject.uuid, predicate)
            if _told(edge) == previous or (fact.cardinality == "one" and edge.target_node_uuid != value.uuid)
        ]
        known = {edge.uuid for edge in rivals if edge.expired_at is not None}
        episode = self._nodes.EpisodicNode(
            name="", group_id=self._graph.group, source=self._nodes.EpisodeType.text, source_description="",
            content=fact.text, created_at=moment(at), valid_at=moment(fact.observed_at),
        )  # fmt: skip
        _, ended, _ = await self._resolve.resolve_extracted_edge(
            _Everything(len(rivals)), new, [], rivals, episode
        )
        await self._graph.load(ended)
        for edge in (new, *ended):
            if edge.expired_at is not None and edge.uuid not in known:
                edge.expired_at = moment(at)  # and not by the machine's clock
        await self._graph.save([new, *ended], [subject, value])

    async def _end(self, fact_id: str, reason: Reason, at: Instant) -> None:
        for edge in await self._graph.held([fact_id], vectors=True):
            if reason == "erased":
                await self._erase(edge)
            elif edge.invalid_at is None or instant_read(edge.invalid_at) > at:
                # what was retracted never was true: it is valid for no time
                edge.invalid_at = edge.valid_at if reason == "retracted" else moment(at)
                edge.expired_at = moment(at)
                await self._graph.save([edge])

    async def _erase(self, edge: Edge) -> None:
        """Delete an edge, and those of its nodes that no other one needs: their names are its words."""
        self._erased.add(_told(edge))
        await self._graph.delete([edge])
        left = {end for other in await self._graph.all() for end in _nodes_of(other)}
        await self._graph.delete_nodes(sorted(_nodes_of(edge) - left))

    # --- what is asked -----------------------------------------------------------------------

    async def _answer(self, questions: Sequence[Question], at: Instant) -> list[Answer]:
        vectors = self._embedder.embed([question.text for question in questions])
        found = await self._graph.nearest(
            [
                (vector, 1, None)
                if question.mode == "history"
                else (vector, question.k, self._valid(at if question.as_of is None else question.as_of))
                for question, vector in zip(questions, vectors, strict=True)
            ]
        )
        return [
            Answer(await self._history(hits, question.k) if question.mode == "history" else _hits(hits))
            for question, hits in zip(questions, found, strict=True)
        ]

    async def _history(self, nearest: Sequence[tuple[Edge, float]], k: int) -> tuple[Hit, ...]:
        """All that was told of the key of the nearest edge, whenever that was valid: the last ``k``."""
        told = [
            (edge, near)
            for first, near in nearest
            for edge in sorted(await self._of_key(first.source_node_uuid, first.name), key=_order)
        ]
        return _hits(told[-k:])

    def _valid(self, then: Instant) -> Any:
        """Graphiti's filter for what is valid at an instant: its lists are alternatives."""
        by, op = self._graph.filters.DateFilter, self._graph.filters.ComparisonOperator
        return self._graph.filters.SearchFilters(
            valid_at=[[by(date=moment(then), comparison_operator=op.less_than_equal)]],
            invalid_at=[
                [by(date=moment(then), comparison_operator=op.greater_than)],
                [by(comparison_operator=op.is_null)],
            ],
        )

    async def _of_key(self, subject: str, predicate: str) -> list[Edge]:
        return [edge for edge in await self._graph.of(subject) if edge.name == predicate]

    def _cause(self, fact_id: str, edge: Edge | None, at: Instant) -> PeekCause:
        if edge is None:
            return "deleted" if fact_id in self._erased else "never stored"
        if instant_read(edge.valid_at) > at:
            return "tombstoned"
        if edge.invalid_at is None or instant_read(edge.invalid_at) > at:
            return "outranked"
        return "expired" if instant_read(edge.invalid_at) == edge.attributes["stated_end"] else "tombstoned"


def _hits(found: Sequence[tuple[Edge, float]]) -> tuple[Hit, ...]:
    return tuple(Hit(_told(edge), round(near, DIGITS)) for edge, near in found)


def _told(edge: Edge) -> str:
    fact_id: str = edge.attributes["told"]
    return fact_id


def _order(edge: Edge) -> tuple[Instant, int]:
    return instant_read(edge.valid_at), edge.attributes["seq"]


def _nodes_of(edge: Edge) -> set[str]:
    return {edge.source_node_uuid, edge.target_node_uuid}
