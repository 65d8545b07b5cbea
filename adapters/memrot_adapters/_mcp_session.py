"""A session with a Model Context Protocol server: tools called one after another, as plain functions.

The official SDK is asynchronous: it runs in a thread of its own. A server over stdio belongs to the
session and ends with it, or with this process, however that dies. A server that is gone, or silent
for ``PATIENCE``, is an error of the call, never a wait without end.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from memrot.errors import Unavailable
from memrot_adapters._opening import backend, first_cause

Transport: TypeAlias = AbstractAsyncContextManager[Any]

PATIENCE = 30.0
"""Seconds until a call must be answered."""

# A relay to the server's input, in a group of its own, as the SDK starts it. The server's end ends all; the
# end of the input is passed on, and whoever has not left soon after is ended too.
_UNTIL_EOF = """
exec 3<&0
{ cat <&3; exec >&-; sleep 2; kill -9 -$$; } | { "$@" 3<&-; kill -9 -$$; }
"""


class ToolError(Exception):
    """What a tool said of a call that it refused or failed."""


def over_stdio(command: Sequence[str], environment: Mapping[str, str], log: Path) -> Transport:
    """A server of our own, whose words on stderr go to ``log``."""
    stdio = backend("mcp.client.stdio", "mcp")
    parameters = stdio.StdioServerParameters(
        command="/bin/sh", args=["-c", _UNTIL_EOF, "sh", *command], env=dict(environment)
    )

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        with log.open("a") as written:
            async with stdio.stdio_client(parameters, errlog=written) as streams:
                yield streams

    return transport()


def over_http(url: str, headers: Mapping[str, str]) -> Transport:
    """A server that is reached over streamable HTTP."""
    http = backend("mcp.client.streamable_http", "mcp")
    httpx = backend("httpx2", "mcp")

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        async with (
            httpx.AsyncClient(headers=dict(headers), timeout=PATIENCE) as client,
            http.streamable_http_client(url, http_client=client) as streams,
        ):
            yield streams

    return transport()


class Reply(Struct, frozen=True):
    text: str
    structured: Any

    @property
    def data(self) -> Any:
        """What is structured about it: a tool may leave that to its text."""
        if self.structured is not None:
            return self.structured
        try:
            return json.loads(self.text)
        except ValueError:
            return self.text


class Session:
    def __init__(self, transport: Transport) -> None:
        """Raises whatever the server, or its absence, gives."""
        from_thread = backend("anyio.from_thread", "mcp")
        client = backend("mcp", "mcp").Client(transport, read_timeout_seconds=PATIENCE, cache=None)
        with ExitStack() as opened:
            self._portal = opened.enter_context(from_thread.start_blocking_portal())
            self._client = opened.enter_context(self._portal.wrap_async_context_manager(client))
            self._opened = opened.pop_all()
        said = self._client.server_info
        self.version: str = (said.version if said is not None else "") or "unknown"

    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The server's tools -> the JSON schemas of their arguments."""
        found: dict[str, Mapping[str, Any]] = {}
        page = None
        while True:
            listed = self._portal.call(lambda: self._client.list_tools(cursor=page))  # noqa: B023  called at once
            found |= {tool.name: tool.input_schema for tool in listed.tools}
            page = listed.next_cursor
            if page is None:
                return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Reply:
        """Raises ToolError where the tool says that it failed, and what the SDK raises for the rest."""
        result = self._portal.call(self._client.call_tool, tool, dict(arguments))
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise ToolError(f"{tool}: {text or 'no reason given'}")
        return Reply(text, result.structured_content)

    def close(self) -> None:
        self._opened.close()


def unavailable(product: str, error: BaseException, log: Path | None, variable: str = "") -> Unavailable:
    """Why a server cannot be reached: nothing of an address, and the last that it said."""
    kind = first_cause(error)
    if variable:
        return Unavailable(f"{product}: the server at {variable} gives {kind}")
    said = log.read_text(errors="replace").split("\n") if log is not None and log.exists() else []
    last = next((line for line in reversed(said) if line.strip()), "nothing")
    return Unavailable(f"{product}: the server does not answer ({kind}); it said: {last}")
