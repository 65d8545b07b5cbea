"""Hindsight, on a server at ``MEMROT_HINDSIGHT_URL``, with the key in ``MEMROT_HINDSIGHT_API_KEY``.

A bank a memory. What is said of a key is one document, which a revision replaces and an invalidation
deletes, with all memories that the server's model had made of it; which they are, and which observations it
draws from them, is the model's decision. Times of telling and of asking are told, since recency ranks.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Fact, Instant, moment
from memrot_adapters._native import NO_CASCADE, NO_PAST, record_id
from memrot_adapters._opening import address, backend, check_options, reaching
from memrot_adapters._spoken import WIRING, Remembered, Spoken, Told

URL = "MEMROT_HINDSIGHT_URL"
API_KEY = "MEMROT_HINDSIGHT_API_KEY"

CAPABILITIES = {
    "filter": Capability("native", "by bank; tags are not used"),
    "expiry": Capability("never", "a memory is retained without one"),
    "renewal": Capability("never", "nothing expires; what is told again is newer, and recency ranks"),
    "overwrite": Capability("native", "retain(document_id, update_mode='replace'), a document a key"),
    "invalidate": Capability("native", "delete_document, with the memories made of it"),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "a document replaces the one before it, whatever its timestamp"),
    "as_of": Capability("not_yet", "memories may say when something occurred, if its model decides so"),
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], _embedder: Embedder) -> Hindsight:
    check_options("hindsight", options, {})
    url = address(URL, "Hindsight")
    module = backend("hindsight_client", "hindsight")
    hindsight = module.Hindsight(base_url=url, api_key=os.environ.get(API_KEY), max_attempts=1)
    try:
        with reaching(URL, "Hindsight"):
            served = hindsight.get_version().api_version
    except BaseException:
        hindsight.close()
        raise
    gone = backend("hindsight_client_api.exceptions", "hindsight").NotFoundException
    return Hindsight(hindsight, place, served, gone)


class Hindsight(Spoken):
    no_past = "which memories say when they held is its model's decision"

    def __init__(self, hindsight: Any, place: Place, served: str, gone: type[Exception]) -> None:
        super().__init__(place)
        self.info = Info(
            name="hindsight",
            backend="Hindsight",
            version=f"{served} (hindsight-client {version('hindsight-client')})",
            deployment="server",
            embeds=True,
            note=f"free text, traced to facts; {WIRING}",
            capabilities=CAPABILITIES,
        )
        self._hindsight = hindsight
        self._gone = gone
        self._bank = place.namespace
        hindsight.create_bank(self._bank)

    def learn(self, fact: Fact, at: Instant) -> str:
        document = record_id(fact)
        told = {"document_id": document, "update_mode": "replace", "timestamp": _time(at)}
        self._hindsight.retain(self._bank, fact.text, **told)
        return document

    def replace(self, told: Told, at: Instant) -> None:
        if told.fact.cardinality == "many":
            self.withdraw(told, at)

    def withdraw(self, told: Told, at: Instant) -> None:
        if self._holds(told):
            deleted = self._hindsight.documents.delete_document(self._bank, told.own)
            with suppress(self._gone):  # a fact may end twice
                asyncio.get_event_loop().run_until_complete(deleted)  # as its client does by itself

    def confirm(self, told: Told, at: Instant) -> None:
        if self._holds(told):
            self.learn(told.fact, at)

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        found = self._hindsight.recall(self._bank, text, query_timestamp=_time(at)).results[:k]
        return [
            Remembered(each.text, each.scores.final if each.scores else -float(place))
            for place, each in enumerate(found)
        ]

    def drop(self) -> None:
        self._hindsight.delete_bank(self._bank)
        super().drop()

    def close(self) -> None:
        self._hindsight.close()

    def _holds(self, told: Told) -> bool:
        """Whether nothing has been said since in the same document."""
        return next(each for each in reversed(self.told.values()) if each.own == told.own) is told


def _time(at: Instant) -> str:
    return moment(at).isoformat()
