"""Cognee, on a server at ``MEMROT_COGNEE_URL``, with the key in ``MEMROT_COGNEE_API_KEY``.

A dataset a memory. The server's model makes a graph of each thing that is said; what is asked for are the
chunks of text that it keeps beside, as other answers are written by that model anew. Nothing is replaced:
``forget`` takes an id that ``remember`` does not give. Its package cannot share an environment with other
backends (``--python cognee=PATH``), and connecting by its ``serve`` would write the key to the user's folder.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from memrot.errors import Unavailable
from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import Instant
from memrot_adapters._native import NO_CASCADE
from memrot_adapters._opening import address, backend, check_options
from memrot_adapters._spoken import WIRING, Remembered, Spoken

URL = "MEMROT_COGNEE_URL"
API_KEY = "MEMROT_COGNEE_API_KEY"

_BY_ID = Capability("not_yet", "update and forget take an id, which remember does not give")
CAPABILITIES = {
    "filter": Capability("native", "by dataset"),
    "expiry": Capability("never", "what is remembered has none"),
    "renewal": Capability("never", "nothing expires; the same text again is no change"),
    "overwrite": _BY_ID,
    "invalidate": _BY_ID,
    "cascade": NO_CASCADE,
    "late_arrival": Capability("never", "remember takes no time"),
    "as_of": Capability("not_yet", "a search type goes by times that the texts name, written by a model"),
    "history": Capability("not_yet", "all texts are kept, in no order of a key"),
}


def open_memory(place: Place, options: Mapping[str, str], _embedder: Embedder) -> Cognee:
    check_options("cognee", options, {})
    url = address(URL, "Cognee")
    folder = str(place.folder / place.namespace)
    roots = dict.fromkeys(("COGNEE_LOGS_DIR", "DATA_ROOT_DIRECTORY", "SYSTEM_ROOT_DIRECTORY"), folder)
    os.environ.update(roots, TELEMETRY_DISABLED="1", LOG_LEVEL="ERROR")
    remote = backend("cognee.api.v1.serve.cloud_client", "cognee")
    cognee = Cognee(remote.CloudClient(url, os.environ.get(API_KEY, "")), place)
    status = cognee.status()
    if status != _OK:
        cognee.close()
        raise Unavailable(f"the Cognee server at {URL} gives {status or 'no answer'}")
    return cognee


class Cognee(Spoken):
    def __init__(self, remote: Any, place: Place) -> None:
        super().__init__(place)
        self.info = Info(
            name="cognee",
            backend="Cognee",
            version=version("cognee"),
            deployment="server",
            embeds=True,
            note=f"chunks of text, traced to facts; {WIRING}",
            capabilities=CAPABILITIES,
        )
        self._remote = remote
        self._dataset = place.namespace
        self._runner = asyncio.Runner()
        self._open = True

    def status(self) -> int | None:
        """What the server gives to a call that wants the key; None: no answer."""
        return self._run(self._remote._auth_check())  # type: ignore[no-any-return]  # noqa: SLF001  each public one changes or needs data; its package says Any

    def add(self, text: str, at: Instant) -> str:
        reply = self._run(self._remote.remember(text, self._dataset))
        if reply.get("status") == "errored":
            raise RuntimeError("Cognee could not make a graph of what it was told")
        return ""

    def search(self, text: str, k: int, at: Instant) -> Sequence[Remembered]:
        if not self.told:
            return []  # a dataset begins with what is first told
        found = self._run(self._remote.recall(text, "CHUNKS", datasets=[self._dataset], top_k=k))
        return [Remembered(each["text"], -float(place)) for place, each in enumerate(found)]

    def drop(self) -> None:
        if self.told:
            self._run(self._remote.forget(dataset=self._dataset))
        super().drop()

    def close(self) -> None:
        if self._open:
            self._run(self._remote.close())
            self._runner.close()
        self._open = False

    def _run(self, call: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(call)


_OK = 200
