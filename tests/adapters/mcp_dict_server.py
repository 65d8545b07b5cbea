"""A memory server over a dict, written with the official SDK: any server, of no vendor's.

    python mcp_dict_server.py stdio FILE
    python mcp_dict_server.py deaf FILE        # goes on when its input has ended
    python mcp_dict_server.py http PORT        # asks for the token MEMROT_TEST_TOKEN

It numbers what it stores, by user, and finds items that share a word with the question, the most words
first. A word "freeze" in a question makes it silent, so that patience can be tried.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

HOW, WHERE = sys.argv[1:]
FILE = None if HOW == "http" else Path(WHERE)
ITEMS: dict[str, dict[str, Any]] = json.loads(FILE.read_text()) if FILE is not None and FILE.exists() else {}

server = MCPServer("dict-memory", version=os.environ.get("MEMROT_TEST_VERSION", "1.2"))


def save() -> None:
    if FILE is not None:
        FILE.write_text(json.dumps(ITEMS))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


@server.tool()
def remember(content: str, user: str) -> dict[str, Any]:
    number = str(max((int(id_) for id_ in ITEMS if id_.isdigit()), default=0) + 1)
    ITEMS[number] = {"id": number, "content": content, "user": user}
    save()
    return {"memory": ITEMS[number]}


@server.tool()
def change(id: str, content: str) -> dict[str, Any]:  # noqa: A002  as servers name it
    if id not in ITEMS:
        raise ToolError(f"there is no memory {id}")
    ITEMS[id]["content"] = content
    save()
    return {"memory": ITEMS[id]}


@server.tool()
def put(id: str, content: str, user: str) -> str:  # noqa: A002  as servers name it
    """Keep an item under an id of the caller's, in the place of what was there."""
    ITEMS[id] = {"id": id, "content": content, "user": user}
    save()
    return "kept"


@server.tool()
def pretend(id: str, content: str) -> str:  # noqa: A002  as servers name it
    """Say that an item was changed, and leave it as it is."""
    return f"{id} is now: {content}"


@server.tool()
def forget(id: str) -> str:  # noqa: A002  as servers name it
    if ITEMS.pop(id, None) is None:
        raise ToolError(f"there is no memory {id}")
    save()
    return "forgotten"


@server.tool()
def forget_all(user: str) -> str:
    for number in [number for number, item in ITEMS.items() if item["user"] == user]:
        del ITEMS[number]
    save()
    return "all forgotten"


@server.tool()
def recall(question: str, user: str, limit: int = 5) -> dict[str, Any]:
    if "freeze" in question:
        time.sleep(60)
    asked = words(question)
    near = {
        number: len(asked & words(item["content"])) for number, item in ITEMS.items() if item["user"] == user
    }
    best = sorted((number for number in near if near[number]), key=lambda number: -near[number])
    return {"memories": [ITEMS[number] | {"score": near[number] / len(asked)} for number in best[:limit]]}


@server.tool()
def recall_in_words(question: str, user: str) -> str:
    """What ``recall`` finds, as a text for a language model."""
    found = recall(question, user)["memories"]
    return "\n".join(f"- {item['content']}" for item in found) or "I know nothing of that."


def main() -> None:
    if FILE is not None:
        server.run("stdio")
        while HOW == "deaf":
            time.sleep(1)
        return
    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        said = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and said != f"Bearer {os.environ['MEMROT_TEST_TOKEN']}":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"who are you?"})
            return
        await app(scope, receive, send)

    uvicorn.run(guarded, host="127.0.0.1", port=int(WHERE), log_level="warning")


if __name__ == "__main__":
    main()
