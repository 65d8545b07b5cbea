"""The user's language model: any OpenAI-compatible server's, at ``--llm-base-url`` or MEMROT_LLM_URL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from memrot.errors import Unavailable
from memrot_adapters._opening import backend, check_options, reaching

URL = "MEMROT_LLM_URL"
API_KEY = "MEMROT_LLM_API_KEY"


class Endpoint(Struct, frozen=True):
    url: str
    key: str
    model: str


def endpoint(adapter: str, options: Mapping[str, str], which: str) -> Endpoint:
    """Where a model is, and which of the server's; raises Unavailable where none is given.

    The stack's option ``model=NAME`` names it, where a server has several. ``which`` servers will do is told
    where none is.
    """
    others = {name: value for name, value in options.items() if name != "model"}
    check_options(adapter, others, {"model": ("NAME",)})
    url = os.environ.get(URL)
    if not url:
        raise Unavailable(f"set {URL}, or --llm-base-url, to the URL of an OpenAI-compatible server{which}")
    key = os.environ.get(API_KEY) or "none"
    return Endpoint(url, key, options.get("model") or _only_model(adapter, url, key))


@contextmanager
def answering(model: Any) -> Iterator[None]:
    """Raise Unavailable if mem0's ``model`` fails meanwhile, also where mem0 goes on without its answer: what
    a memory never heard of by an outage, it has not lost."""
    ask, failures = model.generate_response, list[Exception]()

    def asked(*arguments: Any, **named: Any) -> Any:
        try:
            return ask(*arguments, **named)
        except Exception as error:
            failures.append(error)
            raise

    model.generate_response = asked
    try:
        yield
    except Exception:
        if not failures:
            raise
    finally:
        del model.generate_response
    if failures:
        with reaching(URL, ""):
            raise failures[0]


def _only_model(adapter: str, url: str, key: str) -> str:
    """The model of a server that has one."""
    openai = backend("openai", adapter.partition("/")[0])
    with reaching(URL, ""), openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=10) as client:
        models: list[str] = sorted(each.id for each in client.models.list())
    if len(models) != 1:
        raise Unavailable(f"the server at {URL} has {len(models)} models: name one, {adapter}[model=NAME]")
    return models[0]
