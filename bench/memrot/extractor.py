"""A scripted extractor: an OpenAI-compatible server on the loopback that repeats what was said.

It does so word for word. Memories that extract facts with a language model can be examined with it
where there is none, always with the same outcome: what they then lose, they lose, and no model. It is no
model, and every leaderboard says so.

It reads three prompts. mem0 2.x asks once, for memories of what stands under ``## New Messages``. mem0 1.x
asks twice: for the facts in its ``Input:``, then what to do about them beside what it has. There the script
must decide (``decided``), and what follows from it is the script's doing.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from typing import Any

MODEL = "scripted-verbatim"
"""What the server lists as its only model; ``scripted`` is what leaderboards show."""

UPDATED_FROM = 2 / 3
"""The share of first words from which the script takes one sentence for the successor of another."""

_NEW = re.compile(r"^## New Messages\n(.*?)\n+## Observation Date$", re.DOTALL | re.MULTILINE)
_INPUT = re.compile(r"\AInput:\n(.*)\Z", re.DOTALL)
_FENCED = re.compile(r"^ *```\n *(\[.*?\])\n *```$", re.DOTALL | re.MULTILINE)
_DECIDE = "The new retrieved facts are mentioned in the triple backticks."
_DENIAL = "This is no longer true: "
_SPEAKER = re.compile(r"^(user|assistant|system): ", re.MULTILINE)


def extracted(messages: Sequence[dict[str, Any]]) -> str:
    """The reply to a chat: a memory for each thing the user said, in its own words.

    Raises ValueError where the prompt is not one that it knows.
    """
    prompt = next((str(each["content"]) for each in reversed(messages) if each.get("role") == "user"), "")
    if new := _NEW.search(prompt):
        memories = [
            {"id": str(place), "text": text, "attributed_to": "user", "linked_memory_ids": []}
            for place, text in enumerate(_said(new[1]))
        ]
        return json.dumps({"memory": memories})
    if told := _INPUT.search(prompt):
        return json.dumps({"facts": _said(told[1])})
    before, asked, after = prompt.partition(_DECIDE)
    facts = _FENCED.search(after)
    if asked and facts is not None:
        held = _FENCED.findall(before)
        # the prompt's own examples are fenced too: what is held comes last, or not at all
        empty = "Current memory is empty." in before
        return json.dumps(
            {"memory": decided([] if empty else literal_eval(held[-1]), literal_eval(facts[1]))}
        )
    raise ValueError("expected a prompt of mem0's, with '## New Messages' or 'Input:'")


def decided(held: Sequence[dict[str, str]], facts: Sequence[str]) -> list[dict[str, str]]:
    """What to do with what was said, beside the memories that mem0 1.x found near it.

    What is said to be true no longer is deleted; what is said again changes nothing; the memory with the
    most first words in common, at least two thirds of them, is updated; anything else is added.
    """
    return [_decision(held, fact, str(len(held) + place)) for place, fact in enumerate(facts)]


def _decision(held: Sequence[dict[str, str]], fact: str, new: str) -> dict[str, str]:
    denied = fact.removeprefix(_DENIAL)
    same = next((each for each in held if each["text"] == denied), None)
    if denied != fact:
        return (
            {"id": same["id"], "text": denied, "event": "DELETE"} if same else {"text": fact, "event": "NONE"}
        )
    if same:
        return {"id": same["id"], "text": fact, "event": "NONE"}
    near = max(held, key=lambda each: _shared(each["text"], fact), default=None)
    if near is not None and _shared(near["text"], fact) >= UPDATED_FROM:
        return {"id": near["id"], "text": fact, "event": "UPDATE", "old_memory": near["text"]}
    return {"id": new, "text": fact, "event": "ADD"}


def _shared(one: str, other: str) -> float:
    """The share of first words that two sentences have in common."""
    words, others = one.split(), other.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, others, strict=False)))
    return same / max(len(words), len(others), 1)


def _said(conversation: str) -> list[str]:
    parts = _SPEAKER.split(conversation)
    return [text.strip() for role, text in zip(parts[1::2], parts[2::2], strict=True) if role == "user"]


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
        length = self.headers.get("Content-Length", "0")
        # a body without a known end cannot be told from the next request: the connection ends with it
        self.close_connection |= not length.isdecimal() or "Transfer-Encoding" in self.headers
        body = self.rfile.read(int(length)) if length.isdecimal() else b""
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._refuse(404, "expected /v1/models or /v1/chat/completions")
            return
        try:
            content = extracted(json.loads(body)["messages"])
        except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, RecursionError) as error:
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
