"""Letta's archival memory, on a server at ``MEMROT_LETTA_URL``, with the key in ``MEMROT_LETTA_API_KEY``.

An archive a memory, a passage a fact, as an agent's tools would keep them but without the agent, whose
model would decide what is worth keeping. A passage cannot be changed: a revision deletes what it revises.
The server embeds, by its own model or by ``letta[embedding=NAME]``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Instant, moment
from memrot_adapters._native import NO_CASCADE, NO_PAST
from memrot_adapters._opening import address, backend, check_options, reaching
from memrot_adapters._spoken import WIRING, Remembered, Spoken, Told

URL = "MEMROT_LETTA_URL"
API_KEY = "MEMROT_LETTA_API_KEY"

MOST = 1000
"""Passages that are asked for at once."""

CAPABILITIES = {
    "filter": Capability("native", "by archive; tags and dates of creation are not used"),
    "expiry": Capability("never", "a passage is created without one"),
    "renewal": Capability("never", "nothing expires"),
    "overwrite": Capability("emulated", "a passage is deleted and created: it has no update"),
    "invalidate": Capability("native", "delete(passage_id)"),
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "a passage knows no other passage"),
    "as_of": NO_PAST,
    "history": NO_PAST,
}


def open_memory(place: Place, options: Mapping[str, str], _embedder: Embedder) -> Letta:
    others = {name: value for name, value in options.items() if name != "embedding"}
    check_options("letta", others, {"embedding": ("NAME",)})
    url = address(URL, "Letta")
    module = backend("letta_client", "letta")
    # a key of another account in LETTA_API_KEY is not for this server
    letta = module.Letta(base_url=url, api_key=os.environ.get(API_KEY) or "none", max_retries=0)
    with reaching(URL, "Letta"):
        served = letta.health().version
    return Letta(module, letta, place, served, options.get("embedding", ""))


class Letta(Spoken):
    no_past = NO_PAST.why

    def __init__(self, module: Any, letta: Any, place: Place, served: str, embedding: str) -> None:
        super().__init__(place)
        self.info = Info(
            name="letta",
            backend="Letta",
            version=f"{served} (letta-client {version('letta-client')})",
            deployment="server",
            embeds=True,
            note=f"archival memory, no agent; {WIRING}",
            capabilities=CAPABILITIES,
        )
        self._letta = letta
        self._gone = module.NotFoundError
        known = next(iter(letta.archives.list(name=place.namespace, limit=1)), None)
        made = {"embedding": embedding} if embedding else {}
        self._archive: str = (known or letta.archives.create(name=place.namespace, **made)).id

    def add(self, text: str, at: Instant) -> str:
        created = moment(at).isoformat()
        passage = self._letta.archives.passages.create(self._archive, text=text, created_at=created)
        return str(passage.id)

    def replace(self, told: Told, at: Instant) -> None:
        with suppress(self._gone):  # a fact may end twice
            self._letta.archives.passages.delete(told.own, archive_id=self._archive)

    def withdraw(self, told: Told, at: Instant) -> None:
        self.replace(told, at)

    def confirm(self, told: Told, at: Instant) -> None:
        """Nothing expires: it holds the passage already."""

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        found = self._letta.passages.search(archive_id=self._archive, query=text, limit=min(k, MOST))
        return [Remembered(each.passage.text, each.score, _written(each.passage)) for each in found]

    def drop(self) -> None:
        self._letta.archives.delete(self._archive)
        super().drop()

    def close(self) -> None:
        self._letta.close()


def _written(passage: Any) -> Instant | None:
    created = passage.created_at
    return None if created is None else round(created.timestamp() * 1000)
