"""A mapping: with which tools of a Model Context Protocol server one adds, searches, updates and deletes.

It is a TOML file (docs/mcp.md), and all that is known of a server. Whatever is wrong with it is one
line: the file, the key, what was expected. Addresses and secrets stand in it by their variables only,
whose names ``memrot.redact`` takes for secret ones, and nothing in it is code.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from memrot.errors import BadInput
from memrot.memory import Capability
from memrot_adapters._mcp_template import PATH, Template, placeholders

FOLDER = "MEMROT_MCP_MAPPINGS"
"""The variable with the folder of a user's own mappings."""

SHIPPED = Path(__file__).parent / "mcp_servers"

Words: TypeAlias = frozenset[str]

OF_A_FACT: Words = frozenset(
    ["fact", "key", "text", "subject", "predicate", "value", "domain", "time", "namespace"]
)
"""Placeholders: its id, an id of its key, what was said and in which parts, when, and for whom."""
OF_A_STORED_FACT: Words = OF_A_FACT | {"id"}
OF_A_REVISION: Words = OF_A_STORED_FACT | {"previous"}
OF_A_QUESTION: Words = frozenset({"question", "subject", "k", "namespace"})
OF_A_NAMESPACE: Words = frozenset({"namespace"})
OF_A_PLACE: Words = frozenset({"folder", "namespace"})

_VARIABLE = re.compile(r"MEMROT_\w*(URL|KEY|PASSWORD|TOKEN)")


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a tool. The id of what it stores is in its reply, or was given among its arguments."""

    tool: str
    arguments: dict[str, Any] = {}
    returns: str = ""
    """The path to the id in the reply."""
    gives: Template = ""


class Search(Struct, frozen=True, forbid_unknown_fields=True):
    """The path to the items of a reply, and those to an item's parts; an item may itself be the text."""

    tool: str
    arguments: dict[str, Any] = {}
    items: str = ""
    """Where there is none, a reply is free text."""
    id: str = ""
    text: str = ""
    score: str = ""


class Stdio(Struct, frozen=True, forbid_unknown_fields=True):
    """A server of the cell's own: a command, or a package from npm's registry (``mcp_npm``)."""

    command: tuple[Template, ...] = ()
    npm: str = ""
    environment: dict[str, Template] = {}


class Http(Struct, frozen=True, forbid_unknown_fields=True):
    url: Template
    headers: dict[str, Template] = {}


class ServerMapping(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    product: Annotated[str, Meta(min_length=1)]
    note: str = ""
    persists: bool = True
    embeds: bool = False
    stdio: Stdio | None = None
    http: Http | None = None
    add: tuple[Call, ...]
    update: tuple[Call, ...] = ()
    delete: tuple[Call, ...] = ()
    drop: tuple[Call, ...] = ()
    search: Search
    capabilities: dict[str, Capability] = {}

    @property
    def calls(self) -> Iterator[tuple[str, Call | Search]]:
        """Every call, with the key under which it stands."""
        for action in ("add", "update", "delete", "drop"):
            calls: Sequence[Call] = getattr(self, action)
            yield from ((f"{action}[{place}]", call) for place, call in enumerate(calls))
        yield "search", self.search

    @property
    def in_folder(self) -> bool:
        """Whether what the server keeps goes with the cell's folder, or with the server."""
        return self.stdio is not None and (
            not self.persists or any("folder" in placeholders(each) for each in _started_with(self.stdio))
        )


def load(name: str) -> ServerMapping:
    """A shipped mapping, or one of the user's; raises BadInput where it is none, or is wrong."""
    file = f"{name}.toml"
    path = SHIPPED / file
    own = os.environ.get(FOLDER)
    if own and (Path(own) / file).is_file():
        if path.is_file():
            raise BadInput("memrot ships a mapping of this name: give yours another", file=file)
        path = Path(own) / file
    if not path.is_file():
        shipped = ", ".join(sorted(each.stem for each in SHIPPED.glob("*.toml")))
        own = f"your own are in the folder {FOLDER}"
        raise BadInput(f"mcp: no mapping {name!r}: memrot ships {shipped}, {own}")
    return read(path.read_bytes(), file)


def read(raw: bytes, file: str) -> ServerMapping:
    try:
        mapping = msgspec.convert(tomllib.loads(raw.decode()), ServerMapping, strict=True)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        said = re.search(r"at line (\d+)", str(error))
        line = int(said[1]) if said else len(raw.splitlines())
        raise BadInput(f"expected TOML: {error}", file=file, line=line) from None
    except msgspec.ValidationError as error:
        what, _, key = str(error).partition(" - at `$")
        raise BadInput(f"{key.strip('.`') or 'top level'}: {what}", file=file) from None
    for key, wrong in _wrong(mapping):
        raise BadInput(f"{key}: {wrong}", file=file)
    return mapping


def check_tools(mapping: ServerMapping, tools: Mapping[str, Mapping[str, Any]], file: str) -> None:
    """Raise BadInput for a call that a server with these tools does not know, or not with these arguments."""
    for key, call in mapping.calls:
        if call.tool not in tools:
            known = ", ".join(sorted(tools)) or "none"
            raise BadInput(f"{key}.tool: the server has no {call.tool!r}: expected one of {known}", file=file)
        schema = tools[call.tool]
        takes, needs = schema.get("properties", {}), schema.get("required", ())
        given = call.arguments.keys()
        if missing := set(needs) - given:
            raise BadInput(f"{key}.arguments: {call.tool} needs {min(missing)!r}", file=file)
        if schema.get("additionalProperties") is not True and (unknown := given - set(takes)):
            known = ", ".join(sorted(takes)) or "nothing"
            raise BadInput(f"{key}.arguments: {call.tool} takes {known}, got {min(unknown)!r}", file=file)


def variables(mapping: ServerMapping) -> list[str]:
    """The variables that a mapping names."""
    templates = [*_started_with(mapping.stdio), *_reached_by(mapping.http)]
    return sorted({name for each in templates for name in placeholders(each) if _VARIABLE.fullmatch(name)})


def capabilities(mapping: ServerMapping) -> Mapping[str, Capability]:
    """What the mapping says, and what follows from the tools that it names."""
    no_tool = Capability("not_yet", "its mapping names no tool for it")
    if mapping.update:
        overwrite = Capability("native", f"by {mapping.update[0].tool}")
    elif mapping.delete:
        overwrite = Capability("emulated", f"{mapping.delete[0].tool}, then {mapping.add[0].tool}")
    else:
        overwrite = no_tool
    invalidate = Capability("native", f"by {mapping.delete[0].tool}") if mapping.delete else no_tool
    return {"overwrite": overwrite, "invalidate": invalidate, **mapping.capabilities}


def _wrong(mapping: ServerMapping) -> Iterator[tuple[str, str]]:
    """What is wrong beyond its types, by key."""
    if not mapping.add:
        yield "add", "expected a call at least"
    yield from _wrong_words(mapping)
    yield from _wrong_server(mapping)
    yield from _wrong_paths(mapping)
    yield from _wrong_ids(mapping)
    for name, capability in mapping.capabilities.items():
        if capability.how not in ("native", "layered") and not capability.why:
            yield f"capabilities.{name}.why", "expected the reason"


def _wrong_words(mapping: ServerMapping) -> Iterator[tuple[str, str]]:
    """Placeholders where they stand for nothing."""
    known = {"add": OF_A_FACT, "update": OF_A_REVISION, "delete": OF_A_STORED_FACT, "drop": OF_A_NAMESPACE,
             "search": OF_A_QUESTION}  # fmt: skip
    for key, call in mapping.calls:
        words = known[key.partition("[")[0]]
        yield from _unknown(f"{key}.arguments", call.arguments, words)
        if isinstance(call, Call):
            yield from _unknown(f"{key}.gives", call.gives, OF_A_FACT)
    if mapping.stdio is not None:
        # a secret has no place in it: whoever has an account on the machine can read it there
        yield from _unknown("stdio.command", list(mapping.stdio.command), OF_A_PLACE)
        yield from _unknown("stdio.environment", mapping.stdio.environment, OF_A_PLACE, secrets=True)
    if mapping.http is not None:
        yield from _unknown("http.headers", mapping.http.headers, OF_A_NAMESPACE, secrets=True)


def _wrong_server(mapping: ServerMapping) -> Iterator[tuple[str, str]]:
    stdio, http = mapping.stdio, mapping.http
    if (stdio is None) == (http is None):
        yield "stdio, http", "expected one of the two"
    if stdio is not None and bool(stdio.command) == bool(stdio.npm):
        yield "stdio", "expected command or npm"
    if http is not None:
        if not re.fullmatch(r"\{MEMROT_\w*URL\}", http.url):
            yield "http.url", "expected the variable that holds it, such as {MEMROT_ACME_URL}"
        for header, value in http.headers.items():
            if not placeholders(value):
                yield f"http.headers.{header}", "expected a variable, such as Bearer {MEMROT_ACME_TOKEN}"
    apart = [*_started_with(stdio), *_reached_by(http)]
    named = any({"folder", "namespace"} & placeholders(each) for each in apart)
    told = any("namespace" in placeholders(call.arguments) for call in mapping.add)
    asked = "namespace" in placeholders(mapping.search.arguments)
    if not named and not (told and asked) and (mapping.persists or http is not None):
        yield (
            "add, search",
            "expected {namespace} among the arguments: cells would share memories",
        )


def _unknown(key: str, template: Any, words: Words, *, secrets: bool = False) -> Iterator[tuple[str, str]]:
    try:
        named = placeholders(template)
    except ValueError as error:
        yield key, str(error)
        return
    for name in sorted(named - words):
        if not (secrets and _VARIABLE.fullmatch(name)):
            listed = ", ".join(sorted(words)) + (
                ", MEMROT_…_URL, …_KEY, …_TOKEN, …_PASSWORD" if secrets else ""
            )
            yield key, f"unknown placeholder {{{name}}}: expected one of {listed}"


def _wrong_paths(mapping: ServerMapping) -> Iterator[tuple[str, str]]:
    for key, call in mapping.calls:
        names = ("items", "id", "text", "score") if isinstance(call, Search) else ("returns",)
        for name in names:
            path: str = getattr(call, name)
            if path and not PATH.fullmatch(path):
                yield f"{key}.{name}", f"expected a path such as result.memories[] or text, got {path!r}"
            if "[]" in path and name in ("id", "text", "score"):
                yield f"{key}.{name}", f"expected one part of an item, got {path!r}"


def _wrong_ids(mapping: ServerMapping) -> Iterator[tuple[str, str]]:
    """Ids that are named and never known."""
    for key, call in mapping.calls:
        if isinstance(call, Call) and call.returns and call.gives:
            yield key, "expected returns or gives, got both"
    if any(call.returns or call.gives for call in mapping.add):
        return
    named = [f"{key}.arguments" for key, call in mapping.calls if "id" in placeholders(call.arguments)]
    for key in [*named, *(["search.id"] if mapping.search.id else [])]:
        yield key, "an id is known where a call of add returns or gives it, and none does"


def _started_with(stdio: Stdio | None) -> list[Template]:
    return [] if stdio is None else [*stdio.command, *stdio.environment.values()]


def _reached_by(http: Http | None) -> list[Template]:
    return [] if http is None else [http.url, *http.headers.values()]
