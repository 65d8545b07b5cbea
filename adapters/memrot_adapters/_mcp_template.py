"""The two small languages of a mapping: templates of what is sent, and paths into what comes back.

A template is text with words in braces, ``{question}``; a brace of its own is doubled. It stands
anywhere in a table or a list. A text that is one placeholder and nothing else becomes its value, so
that ``{k}`` is a number. A path is names with dots between, ``result.memories[].text``, with ``[]``
for each of a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter
from typing import Any, TypeAlias

Template: TypeAlias = str

PATH = re.compile(r"(\[\]|[\w@$-]+(\[\])?)(\.[\w@$-]+(\[\])?)*")
_WORD = re.compile(r"[A-Za-z]\w*")


def placeholders(template: Any) -> frozenset[str]:
    """The words in braces of a template; raises ValueError where there is more to one than a word."""
    match template:
        case str():
            named = list(_named(template))
        case Mapping():
            named = [name for each in template.values() for name in placeholders(each)]
        case list() | tuple():
            named = [name for each in template for name in placeholders(each)]
        case _:
            named = []
    return frozenset(named)


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with its placeholders filled in."""
    match template:
        case str():
            alone = re.fullmatch(r"\{(\w+)\}", template)
            return values[alone[1]] if alone else template.format_map(values)
        case Mapping():
            return {name: filled(each, values) for name, each in template.items()}
        case list():
            return [filled(each, values) for each in template]
        case _:
            return template


def found(reply: Any, path: str) -> list[Any]:
    """What a path leads to; a null is an empty list. Raises LookupError where it leads nowhere."""
    here = [reply]
    for step in re.findall(r"\[\]|[^.\[\]]+", path):
        if step == "[]":
            for each in here:
                if not isinstance(each, list | None):
                    raise _astray("a list at []", each)
            here = [each for known in here for each in known or ()]
        else:
            for each in here:
                if not isinstance(each, dict) or step not in each:
                    raise _astray(repr(step), each)
            here = [each[step] for each in here]
    return here


def _named(template: str) -> list[str]:
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"{error}, in {template!r}: a brace that is no placeholder's is doubled") from None
    names = []
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if spec or conversion or not _WORD.fullmatch(name):
            raise ValueError(f"expected a word in braces, in {template!r}")
        names.append(name)
    return names


def _astray(expected: str, value: Any) -> LookupError:
    """What was looked for, and what was there: its keys, or its type."""
    kinds = {str: "a text", list: "a list", type(None): "null"}
    got = kinds.get(type(value), type(value).__name__)
    if isinstance(value, dict):
        got = f"an object with {', '.join(sorted(value)) or 'nothing in it'}"
    return LookupError(f"expected {expected}, got {got}")
