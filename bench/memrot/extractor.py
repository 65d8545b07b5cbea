"""A scripted extractor: an OpenAI-compatible server on the loopback that repeats what was said.

It does so word for word. Memories that extract facts with a language model can be examined with it
where there is none, always with the same outcome: what they then lose, they lose, and no model. It is no
model, and every leaderboard says so. It reads the prompts of mem0 2.x: what stands under
``## New Messages``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-verbatim"
"""What the server lists as its only model; ``scripted`` is what leaderboards show."""

_NEW = re.compile(r"^## New Messages\n(.*?)\n+## Observation Date$", re.DOTALL | re.MULTILINE)
_SPEAKER = re.compile(r"^(user|assistant|system): ", re.MULTILINE)


def extracted(messages: Sequence[dict[str, Any]]) -> str:
    """The reply to a chat: a memory for each thing the user said, in its own words.

    Raises ValueError where the prompt is not one that it knows.
    """
    prompt = next((str(each["content"]) for each in reversed(messages) if each.get("role") == "user"), "")
    new = _NEW.search(prompt)
    if new is None:
        raise ValueError("expected a prompt with the section '## New Messages', as mem0 2.x writes it")
    parts = _SPEAKER.split(new[1])
    said = [text.strip() for role, text in zip(parts[1::2], parts[2::2], strict=True) if role == "user"]
    return json.dumps({
        "memory": [
            {"id": str(place), "text": text, "attributed_to": "user", "linked_memory_ids": []}
            for place, text in enumerate(said)
        ]
    })  # fmt: skip


def server(port: int = 0) -> ThreadingHTTPServer:
    """Bound to 127.0.0.1, not yet serving; ``address`` says where. Raises OSError for a port in use."""
    return ThreadingHTTPServer(("127.0.0.1", port), _Handler)


def address(listening: ThreadingHTTPServer) -> str:
    """The base URL, for ``--llm-base-url``."""
    return f"http://127.0.0.1:{listening.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # clients keep their connection
    wbufsize = -1  # headers and body in one packet: the second would wait 40 ms for the first's receipt

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "memrot"}
            self._reply(200, {"object": "list", "data": [model]})
        else:
            self._refuse(404, "expected /v1/models or /v1/chat/completions")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._refuse(404, "expected /v1/models or /v1/chat/completions")
            return
        try:
            content = extracted(json.loads(body)["messages"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse(400, f"this extractor is scripted: {error}")
            return
        message = {"role": "assistant", "content": content}
        self._reply(200, {
            "id": "scripted", "object": "chat.completion", "created": 0, "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        })  # fmt: skip

    def log_message(self, *_: object) -> None:
        """Nothing: what is said to a memory is nobody's business."""

    def _refuse(self, status: int, message: str) -> None:
        self._reply(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def _reply(self, status: int, reply: dict[str, Any]) -> None:
        raw = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
