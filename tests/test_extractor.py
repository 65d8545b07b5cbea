"""The scripted extractor says again what was said, to whoever speaks OpenAI's protocol."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from memrot import extractor
from running import inside

PROMPT = """## Summary


## Last k Messages
user: The owner of billing is Eve.

## Recently Extracted Memories
[]

## Existing Memories
[{"id": "0", "text": "The owner of billing is Eve."}]

## New Messages
user: The owner of billing is Ada.
It was decided on Monday.
assistant: Noted.
user: user: is a word, too.


## Observation Date
2026-01-05

## Current Date
2026-01-05

# Output:"""


OLD = """You are a smart memory manager.
  - Old Memory:
    ```
    [{'id': '0', 'text': 'an example'}]
    ```

    Below is the current content of my memory which I have collected till now.

    ```
    [{'id': '0', 'text': 'The owner of billing is Ada.'}, {'id': '1', 'text': "Eve's rule: [x] is \\"y\\"."}]
    ```

    The new retrieved facts are mentioned in the triple backticks. You have to analyze

    ```
    ['The owner of billing is Bob.']
    ```

    You must return your response in the following JSON structure only:
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with extractor.server() as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield extractor.address(listening)
        listening.shutdown()
        thread.join()


def post(url: str, body: bytes) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body)) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def chat(*messages: dict[str, str]) -> bytes:
    return json.dumps({"model": "any", "messages": messages}).encode()


def test_what_the_user_said_word_for_word(url: str) -> None:
    asked = chat({"role": "system", "content": "Extract."}, {"role": "user", "content": PROMPT})
    status, reply = post(f"{url}/chat/completions", asked)
    assert status == 200
    said = json.loads(reply["choices"][0]["message"]["content"])["memory"]
    assert [each["text"] for each in said] == [
        "The owner of billing is Ada.\nIt was decided on Monday.",
        "user: is a word, too.",
    ]
    assert post(f"{url}/chat/completions", asked) == (status, reply)


def test_its_only_model_says_that_it_is_none(url: str) -> None:
    with urllib.request.urlopen(f"{url}/models") as reply:
        assert [each["id"] for each in json.load(reply)["data"]] == ["scripted-verbatim"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"{}", b'{"messages": [1]}', chat(), chat({"role": "user", "content": "Hello!"})],
)
def test_a_prompt_that_it_does_not_know_is_refused(url: str, body: bytes) -> None:
    status, reply = post(f"{url}/chat/completions", body)
    assert status == 400
    assert reply["error"]["message"].startswith("this extractor is scripted: ")
    assert post(f"{url}/embeddings", body)[0] == 404


def test_a_body_without_a_length_or_without_an_end_is_refused(url: str) -> None:
    where = urlsplit(url)
    for length in ("-1", "many", None):
        connection = http.client.HTTPConnection(where.netloc, timeout=5)
        connection.putrequest("POST", f"{where.path}/chat/completions")
        if length is not None:
            connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()
    assert post(f"{url}/chat/completions", b"[" * 100_000)[0] == 400


def test_the_command_serves_on_the_loopback_until_interrupted() -> None:
    code = "from memrot.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "serve-extractor"], stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", line)
        assert found, line
        with urllib.request.urlopen(f"{found[0]}/models") as reply:
            assert reply.status == 200
        port = found[0].rpartition(":")[2].partition("/")[0]
        taken = inside("serve-extractor", "--port", port)
        assert (taken.returncode, taken.stdout) == (2, "")
        assert taken.stderr.startswith("error: --port: ")
        served.terminate()
        assert served.wait(10) == 130


def replied(content: str) -> object:
    return json.loads(
        extractor.extracted([{"role": "system", "content": "x"}, {"role": "user", "content": content}])
    )


def test_mem0_1_asks_for_facts_and_then_what_to_do_with_them() -> None:
    assert replied("Input:\nuser: The owner is Ada.\nassistant: Noted.\nuser: Bye\n") == {
        "facts": ["The owner is Ada.", "Bye"]
    }
    update = {"id": "0", "text": "The owner of billing is Bob.", "event": "UPDATE"}
    assert replied(OLD) == {"memory": [{**update, "old_memory": "The owner of billing is Ada."}]}
    nothing = OLD.replace("Below is the current content", "Current memory is empty.")
    assert replied(nothing) == {
        "memory": [{"id": "0", "text": "The owner of billing is Bob.", "event": "ADD"}]
    }


HELD = [
    {"id": "0", "text": "The owner of billing is Ada."},
    {"id": "1", "text": "The owner of search is Ada."},
    {"id": "2", "text": "Search speaks Go."},
]


@pytest.mark.parametrize(
    ("fact", "event", "id_"),
    [
        ("The owner of billing is Bob.", "UPDATE", "0"),
        ("The owner of search is Bob.", "UPDATE", "1"),
        ("The owner of ledger is Ada.", "ADD", "3"),
        ("The owner of billing is Ada.", "NONE", "0"),
        ("Search speaks Rust.", "UPDATE", "2"),
        ("Ledger speaks Go.", "ADD", "3"),
        ("This is no longer true: Search speaks Go.", "DELETE", "2"),
        ("This is no longer true: Search speaks C.", "NONE", None),
    ],
)
def test_what_the_script_decides(fact: str, event: str, id_: str | None) -> None:
    (decision,) = extractor.decided(HELD, [fact])
    assert (decision["event"], decision.get("id")) == (event, id_)
    assert decision["text"], "mem0 passes over what has no text"


def test_the_first_memory_is_added() -> None:
    assert [each["event"] for each in extractor.decided([], ["a b c", "a b d"])] == ["ADD", "ADD"]
