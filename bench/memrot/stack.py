"""A stack: a store, its ledger and layers on top, which together are a ``MemoryService``.

A bare stack puts a new record for every ``fact_added`` and ``fact_revised`` and ignores the rest:
append-only, as many deployments are. The layers do everything else.

What becomes of the vectors when the embedder changes is no layer's business, but the stack's (``Swap``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Literal, TypeAlias

import numpy as np
from msgspec import structs

from memrot.embed.base import Embedder
from memrot.errors import Unsupported
from memrot.layers.base import BANDS, Entry, Layer
from memrot.ledger import Ledger, Plan
from memrot.memory import Clause, Query, Record, Store, Vector
from memrot.model import (
    Answer,
    Band,
    ChangeEvent,
    EmbedderChanged,
    FactRevised,
    Hit,
    Instant,
    Mark,
    Mode,
    PeekCause,
    Question,
    introduces,
)
from memrot.postfilter import TIE, Hits, PostFilter

DIGITS = 6
"""Decimals of a similarity that are kept: the rest is below a tie, and would only fill files."""

_EXPIRY_FIELDS = frozenset({"valid_to", "expires_at"})

Verdict: TypeAlias = tuple[float, Band, Mark | None]
"""Confidence, band and mark of a fact at an instant."""


Swap: TypeAlias = Literal["keep", "refuse", "reembed"]
"""What a stack does when the embedder changes: nothing, so that old vectors meet new queries; refuse;
embed everything again."""


class Embedders:
    """The embedder in force, and those that it may be changed for, by the names that events give.

    It outlives the memory: which embedder a deployment uses is its configuration, not its data.
    """

    def __init__(self, first: Embedder, others: Mapping[str, Embedder] | None = None) -> None:
        self.current = first
        self._others = others or {}

    def change(self, name: str) -> None:
        """Raises Unsupported where vectors of the new one do not fit in beside the old."""
        new = self._others.get(name)
        if new is None:
            raise Unsupported(f"the embedder changes to {name!r}, which this stack was not given")
        if new.dim != self.current.dim:
            sizes = f"{new.dim} dimensions, not {self.current.dim}"
            raise Unsupported(f"the embedder changes to {name!r}, whose vectors have {sizes}")
        self.current = new


class LayeredMemory:
    """A memory made of a store and layers; ``layers`` in running order (``layers.parse``)."""

    def __init__(
        self,
        open_store: Callable[[], Store],
        layers: Sequence[Layer],
        embedders: Embedders | Embedder,
        swap: Swap = "keep",
    ) -> None:
        self._store = PostFilter(open_store())
        self._layers = layers
        self._embedders = embedders if isinstance(embedders, Embedders) else Embedders(embedders)
        self._swap = swap
        self._ledger = Ledger(
            (Entry.of_fields(record.id, record.fields) for record in self._store.store.scan()), layers
        )
        self._bands = next((layer.bands for layer in layers if layer.bands is not None), BANDS)
        self._reach = max((layer.reach for layer in layers), default=1)
        self._deleted: set[str] = set()
        self._answered: list[tuple[Question, Hits]] = []
        self._known_queries: dict[str, Query] = {}
        self.info = self._store.store.info
        self._refuse_other_vectors()

    @property
    def filtering(self) -> str:
        """How the layers' conditions ran: ``none``, ``pre-filter`` or ``post-filter ×n``."""
        conditioned = any(layer.where(Question(""), 0) for layer in self._layers)
        return self._store.filtering if conditioned else "none"

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        entries: list[Entry] = []
        texts: dict[str, str] = {}
        vectors: dict[str, Vector] = {}
        for event in events:
            if isinstance(event, EmbedderChanged):
                if self._swap == "refuse":
                    raise Unsupported("this stack refuses another embedder")
                self._embedders.change(event.embedder)
                self._known_queries.clear()
            fact = introduces(event)
            if fact is not None:
                previous = self._previous(event, entries)
                embedding = self._embedder.fingerprint
                entries.append(Entry.of(fact, seq=event.seq, embedding=embedding, previous=previous))
                texts[fact.id] = fact.text
                vectors[fact.id] = self._embedder.embed([fact.text])[0]
        plan = Plan(self._ledger, entries, at)
        plan.run(self._layers, events)
        self._store.write(
            [Record(entry.id, texts[entry.id], vectors[entry.id], entry.fields()) for entry in plan.put()],
            plan.patch(),
            plan.delete(),
        )
        self._deleted |= plan.dropped.keys()
        if self._swap == "reembed" and any(isinstance(event, EmbedderChanged) for event in events):
            self._reembed()

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        answers: dict[int, Answer] = {}
        groups: dict[tuple[Mode, Instant | None, int], list[int]] = {}
        for i, question in enumerate(questions):
            groups.setdefault((question.mode, question.as_of, question.k), []).append(i)
        self._answered = []
        for (mode, _, _), positions in groups.items():
            refusal = self._refusal(mode)
            if refusal is not None:
                answers.update(dict.fromkeys(positions, Answer(unsupported=refusal)))
                continue
            asked = [questions[i] for i in positions]
            answer = self._history if mode == "history" else self._retrieve
            answers.update(zip(positions, answer(asked, at), strict=True))
        return [answers[i] for i in range(len(questions))]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        stored = self._store.get([id_ for _, id_ in missed])
        answered = dict(self._answered)
        return [
            self._cause(question, answered.get(question, []), id_, stored.get(id_), at)
            for question, id_ in missed
        ]

    def drop(self) -> None:
        """Remove what the store holds; the stack is of no use afterwards."""
        self._store.store.drop()

    def close(self) -> None:
        self._store.store.close()

    def _refuse_other_vectors(self) -> None:
        """Raise Unsupported, and close, where the store was filled by an embedder of another dimension.

        Few stores say so: some raise at the first search, and RediSearch leaves out what does not fit.
        """
        for record in self._store.get(list(self._ledger.entries)[:1]).values():
            there, ours = record.vector.size, self._embedder.dim
            if there != ours and not self.info.embeds:
                self.close()
                raise Unsupported(f"the store holds vectors of {there} dimensions, the embedder has {ours}")

    @property
    def _embedder(self) -> Embedder:
        return self._embedders.current

    def _reembed(self) -> None:
        """Put every record again, with a vector of the embedder in force."""
        new = self._embedder.fingerprint
        texts = {
            record.id: record.text
            for record in self._store.store.scan()
            if self._ledger.entries[record.id].embedding != new
        }
        vectors = self._embedder.embed(list(texts.values()))
        put = []
        for (id_, text), vector in zip(texts.items(), vectors, strict=True):
            entry = self._ledger.entries[id_] = structs.replace(self._ledger.entries[id_], embedding=new)
            put.append(Record(id_, text, vector, entry.fields()))
        self._store.write(put, {}, [])

    # --- answering ---------------------------------------------------------------------------

    def _refusal(self, mode: Mode) -> str | None:
        """Why a mode cannot be served; None where it can."""
        if mode == "history" and not all(layer.keeps_history for layer in self._layers):
            return "a layer deletes what was replaced: there is no history"
        if mode == "as_of" and not any(layer.records_ends for layer in self._layers):
            return "no layer records when a fact ended"
        return None

    def _retrieve(self, questions: Sequence[Question], at: Instant) -> list[Answer]:
        """Answers to questions of one mode, ``as_of`` and k."""
        queries, k = self._queries(questions), questions[0].k
        where = self._where(questions[0], at)
        # belief in what holds now fades; what was noted of another time stays as it was noted
        judging = self._layers if questions[0].as_of is None else ()
        found = self._store.search(queries, where, k * self._reach, self._holds)
        verdicts = self._judge({id_ for hits in found for id_, _ in hits}, at, judging)
        if any(band == "withhold" for _, band, _ in verdicts.values()):

            def counts(id_: str) -> bool:
                if id_ not in verdicts:
                    verdicts.update(self._judge([id_], at, judging))
                return verdicts[id_][1] != "withhold"

            found = self._store.search(queries, where, k * self._reach, self._holds, counts)
        if self._reach > 1:
            found = [self._ranked(hits, verdicts, k, at) for hits in found]
        self._answered += zip(questions, found, strict=True)
        archived = {id_ for id_, (_, _, mark) in verdicts.items() if mark == "archived"}
        if archived:
            found = [[hit for hit in hits if hit[0] not in archived] for hits in found]
        entries = self._ledger.entries
        # the ledger's own strings: those of a store are new with every search, and would all be kept
        ids = [entries[id_].id for hits in found for id_, _ in hits]
        nearness = np.round([near for hits in found for _, near in hits], DIGITS).tolist()
        shown = map(Hit, ids, nearness, *zip(*map(verdicts.__getitem__, ids), strict=True))
        return [Answer(tuple(islice(shown, len(hits)))) for hits in found]

    def _ranked(self, hits: Hits, verdicts: Mapping[str, Verdict], k: int, at: Instant) -> Hits:
        """Candidates in the order that the layers give them, up to the k-th that is not withheld."""
        entries = [self._ledger.entries[id_] for id_, _ in hits]
        scores = np.array([near for _, near in hits])
        for layer in self._layers:
            if layer.reach > 1:
                scores = layer.rank(entries, scores, at)
        ordered = [hits[place] for place in np.argsort(-scores, kind="stable")]
        counted = np.cumsum([verdicts[id_][1] != "withhold" for id_, _ in ordered])
        return ordered[: int(np.searchsorted(counted, k)) + 1]

    def _history(self, questions: Sequence[Question], at: Instant) -> list[Answer]:
        """Every told instance of the key of the nearest fact, in the order of the key."""
        nearest = self._store.search(self._queries(questions), (), 1, self._holds)
        answers = []
        for question, hits in zip(questions, nearest, strict=True):
            instances: list[Entry] = []
            if hits:
                same = self._ledger.by_key[self._ledger.entries[hits[0][0]].key]
                instances = sorted((self._ledger.entries[id_] for id_ in same), key=lambda entry: entry.order)
            shown = [entry.id for entry in instances[-question.k :]]
            verdicts = self._judge(shown, at, self._layers)
            answers.append(
                Answer(
                    tuple(
                        Hit(id_, round(hits[0][1], DIGITS), mark=_in_history(verdicts[id_])) for id_ in shown
                    )
                )
            )
        return answers

    def _queries(self, questions: Sequence[Question]) -> list[Query]:
        new = [question.text for question in questions if question.text not in self._known_queries]
        if new:
            vectors = self._embedder.embed(new)
            self._known_queries.update(zip(new, map(Query, new, vectors), strict=True))
        return [self._known_queries[question.text] for question in questions]

    def _where(self, question: Question, at: Instant) -> list[Clause]:
        return list(dict.fromkeys(clause for layer in self._layers for clause in layer.where(question, at)))

    def _holds(self, id_: str, clause: Clause) -> bool:
        value: int = getattr(self._ledger.entries[id_], clause.field)
        match clause.op:
            case "gt":
                return value > clause.value
            case "le":
                return value <= clause.value
            case "eq":
                return value == clause.value

    def _judge(self, ids: Collection[str], at: Instant, layers: Sequence[Layer]) -> dict[str, Verdict]:
        entries = [self._ledger.entries[id_] for id_ in ids]
        confidence = np.array([entry.confidence for entry in entries])
        marks: list[Mark | None] = [None] * len(entries)
        for layer in layers:
            verdict = layer.judge(entries, at)
            if verdict is not None:
                confidence = confidence * verdict[0]
                marks = [new or old for new, old in zip(verdict[1], marks, strict=True)]
        return {
            id_: (value, self._bands.of(value), mark)
            for id_, value, mark in zip(ids, confidence.tolist(), marks, strict=True)
        }

    # --- diagnosis ---------------------------------------------------------------------------

    def _cause(
        self, question: Question, returned: Hits, id_: str, record: Record | None, at: Instant
    ) -> PeekCause:
        entry = self._ledger.entries.get(id_)
        if entry is None and record is not None:
            return "tombstoned"  # the stack has dropped it, and the store keeps it
        if entry is None or record is None:
            return "deleted" if id_ in self._deleted else "never stored"
        failed = {clause.field for clause in self._where(question, at) if not self._holds(id_, clause)}
        if failed:
            return "expired" if failed <= _EXPIRY_FIELDS else "tombstoned"
        _, band, mark = self._judge([id_], at, self._layers)[id_]
        if band == "withhold":
            return "expired" if mark == "archived" else "demoted"
        if entry.embedding != self._embedder.fingerprint:
            return "re-embedded"
        lossy = self._reach == 1 and self._within_k(question, returned, record, at)
        return "not found by the index" if lossy else "outranked"

    def _within_k(self, question: Question, returned: Hits, missed: Record, at: Instant) -> bool:
        """Whether an exact scan of the store's own vectors finds a live record within k."""
        query = self._embedder.embed([question.text])[0].astype(np.float64)
        nearness = _cosine(query, missed)
        if len(returned) >= question.k and nearness <= returned[-1][1] + TIE:
            return False
        where = self._where(question, at)
        nearer = sum(
            _cosine(query, record) > nearness + TIE
            for record in self._store.store.scan(vectors=True)
            if all(self._holds(record.id, clause) for clause in where)
        )
        return nearer < question.k

    def _previous(self, event: ChangeEvent, new: Sequence[Entry]) -> Entry | None:
        if not isinstance(event, FactRevised):
            return None
        known = {entry.id: entry for entry in new}
        return known.get(event.previous) or self._ledger.entries.get(event.previous)


def _in_history(verdict: Verdict) -> Mark | None:
    """What is archived says so; what to verify before acting is of no use in a history."""
    return verdict[2] if verdict[2] == "archived" else None


def _cosine(query: np.typing.NDArray[np.float64], record: Record) -> float:
    vector = record.vector.astype(np.float64)
    return float(query @ vector / (np.linalg.norm(query) * np.linalg.norm(vector)))
