"""The scripted extractor says again what was said, to whoever speaks OpenAI's protocol."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

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
