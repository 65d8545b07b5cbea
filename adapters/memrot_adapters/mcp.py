"""Any memory server that speaks the Model Context Protocol, by the tools that a mapping names.

Without an option it is the reference knowledge-graph server (``mcp_servers/server-memory.toml``),
which ``python -m memrot_adapters.mcp_npm`` installs; ``mcp[map=acme]`` is whatever ``acme.toml`` says,
in the folder MEMROT_MCP_MAPPINGS (docs/mcp.md).

What comes back is a fact if it is the item under which that fact was stored, with its words, or if its
text states the fact (``memrot.matcher``); what cannot be traced is unattributed. A text counts more
than an id: a server may say that it updated an item, and not have done it. Tools that search by a
keyword, ``{subject}``, are asked for each name that the question names among those that were told, as
a language model would that is asked the question.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from memrot.errors import BadInput, Unavailable
from memrot.matcher import Matcher
from memrot.memory import Embedder, Info, Place
from memrot.model import (
    Answer,
    ChangeEvent,
    Fact,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    PeekCause,
    Question,
    moment,
)
from memrot_adapters import _mcp_mapping, mcp_npm
from memrot_adapters._mcp_mapping import Call, ServerMapping
from memrot_adapters._mcp_session import Session, Transport, over_http, over_stdio, unavailable
from memrot_adapters._mcp_template import filled, found, placeholders
from memrot_adapters._native import DIGITS, record_id
from memrot_adapters._notes import Notes
from memrot_adapters._opening import backend, check_options

DEFAULT = "server-memory"
CAPABILITIES = _mcp_mapping.capabilities(_mcp_mapping.load(DEFAULT))


def open_memory(
    place: Place,
    options: Mapping[str, str],
    embedder: Embedder,  # noqa: ARG001  a server searches as it does
) -> Mcp:
    others = {name: value for name, value in options.items() if name != "map"}
    check_options("mcp", others, {"map": ("NAME",)})
    name = options.get("map") or DEFAULT
    mapping = _mcp_mapping.load(name)
    folder = place.folder / place.namespace
    transport, version = _reached(mapping, place, f"{name}.toml")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        session = Session(transport)
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001  the transports' many errors have addresses in their text
        variable = mapping.http.url.strip("{}") if mapping.http is not None else ""
        raise unavailable(mapping.product, error, folder / LOG, variable) from None
    try:
        _mcp_mapping.check_tools(mapping, session.tools(), f"{name}.toml")
        return Mcp(session, mapping, name, version or session.version, place)
    except BaseException:
        session.close()
        raise


LOG = "server.log"


def _reached(mapping: ServerMapping, place: Place, file: str) -> tuple[Transport, str]:
    """What leads to the server, and its version where it is known before it is asked."""
    values: dict[str, str] = {"folder": str(place.folder / place.namespace), "namespace": place.namespace}
    for name in _mcp_mapping.variables(mapping):
        if name not in os.environ:
            raise Unavailable(f"set {name}, which {file} names")
        values[name] = os.environ[name]
    if mapping.http is not None:
        return over_http(filled(mapping.http.url, values), filled(mapping.http.headers, values)), ""
    stdio = mapping.stdio
    assert stdio is not None  # noqa: S101  a mapping has one of the two
    backend("mcp", "mcp")
    command = mcp_npm.program(stdio.npm) if stdio.npm else filled(list(stdio.command), values)
    transport = over_stdio(command, filled(stdio.environment, values), place.folder / place.namespace / LOG)
    return transport, mcp_npm.version(stdio.npm) if stdio.npm else ""


class _Told(Struct, frozen=True):
    """A line of what was told: a fact under the id that its item has, or the end of one."""

    fact: Fact
    at: Instant
    id: str = ""
    ended: bool = False


class Mcp:
    def __init__(
        self, session: Session, mapping: ServerMapping, name: str, version: str, place: Place
    ) -> None:
        self.info = Info(
            name="mcp",
            backend=mapping.product,
            version=version,
            deployment="embedded" if mapping.stdio is not None else "server",
            embeds=mapping.embeds,
            persists=mapping.persists,
            note=mapping.note,
            capabilities=_mcp_mapping.capabilities(mapping),
        )
        self._session = session
        self._mapping = mapping
        self._file = f"{name}.toml"
        self._namespace = place.namespace
        self._folder = place.folder / place.namespace
        self._matcher = Matcher()
        self._known: dict[str, _Told] = {}
        self._by_id: dict[str, str] = {}
        self._names = re.compile("(?!)")
        self._subjects: dict[str, str] = {}
        self._notes = Notes(self._folder / "told", _Told)
        for told in self._notes:
            self._learn(told)

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        for event in events:
            match event:
                case FactAdded(fact=fact):
                    self._add(fact, at)
                case FactRevised(previous=previous, current=fact):
                    self._revise(self._held(previous), fact, at)
                case FactInvalidated(fact=fact_id):
                    self._delete(self._held(fact_id))

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [
            Answer(tuple(self._hits(question, at))[: question.k])
            if question.mode == "current"
            else Answer(unsupported="its mapping names no tool that tells of the past")
            for question in questions
        ]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        return [self._cause(question, fact_id, at) for question, fact_id in missed]

    def drop(self) -> None:
        if not self._mapping.in_folder:
            self._call(self._mapping.drop, {"namespace": self._namespace})
            for told in [] if self._mapping.drop else list(self._known.values()):
                self._delete(self._held(told.fact.id))
        self.close()
        shutil.rmtree(self._folder)

    def close(self) -> None:
        self._session.close()

    # --- what is told --------------------------------------------------------------------------

    def _add(self, fact: Fact, at: Instant) -> None:
        values = self._values(fact, at)
        self._note(_Told(fact, at, self._call(self._mapping.add, values)))

    def _revise(self, previous: _Told | None, fact: Fact, at: Instant) -> None:
        if previous is None or not self._mapping.update:
            self._delete(previous)
            self._add(fact, at)
            return
        values = {**self._values(fact, at), "id": previous.id, "previous": previous.fact.text}
        id_ = self._call(self._mapping.update, values) or previous.id
        self._note(structs.replace(previous, ended=True))
        self._note(_Told(fact, at, id_))

    def _delete(self, told: _Told | None) -> None:
        if told is not None and self._mapping.delete:
            self._call(self._mapping.delete, {**self._values(told.fact, told.at), "id": told.id})
            self._note(structs.replace(told, ended=True))

    def _call(self, calls: Sequence[Call], values: Mapping[str, Any]) -> str:
        """Make the calls of an action; returns the id of what it stored, if that is told."""
        id_ = ""
        for call in calls:
            reply = self._session.call(call.tool, filled(call.arguments, values))
            if call.returns:
                returned = self._part(reply.data, call.returns, f"{call.tool}: returns")
                id_ = str(returned[0]) if returned else ""
            elif call.gives:
                id_ = str(filled(call.gives, values))
        return id_

    def _values(self, fact: Fact, at: Instant) -> dict[str, Any]:
        """What placeholders stand for."""
        return {
            "fact": fact.id, "key": record_id(fact), "text": fact.text, "subject": fact.subject,
            "predicate": fact.predicate, "value": fact.value, "domain": fact.domain,
            "time": moment(at).isoformat(), "namespace": self._namespace,
        }  # fmt: skip

    def _held(self, fact_id: str) -> _Told | None:
        told = self._known.get(fact_id)
        return None if told is None or told.ended else told

    def _note(self, told: _Told) -> None:
        self._notes.add(told)
        self._learn(told)

    def _learn(self, told: _Told) -> None:
        fact = told.fact
        if not told.ended:
            self._matcher.tell(fact, told.at)
            replaced = self._held(self._by_id.get(told.id, "")) if told.id else None
            if replaced is not None:
                self._known[replaced.fact.id] = structs.replace(replaced, ended=True)
            self._by_id[told.id] = fact.id
        self._known[fact.id] = told
        if fact.subject.casefold() not in self._subjects:
            self._subjects[fact.subject.casefold()] = fact.subject
            longest_first = sorted(self._subjects, key=len, reverse=True)
            self._names = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")

    # --- what comes back -----------------------------------------------------------------------

    def _hits(self, question: Question, at: Instant) -> Iterator[Hit]:
        """A hit a fact, in the order of the server's items."""
        shown = set()
        for item in self._items(question.text, question.k):
            facts = self._facts(item, at)
            score = self._score(item)
            if not facts:
                yield Hit(None, score)
            for fact in facts:
                if fact not in shown:
                    shown.add(fact)
                    yield Hit(fact, score)

    def _items(self, question: str, k: int) -> Iterator[Any]:
        search = self._mapping.search
        for subject in self._asked_for(question):
            values = {"question": question, "subject": subject, "k": k, "namespace": self._namespace}
            reply = self._session.call(search.tool, filled(search.arguments, values))
            yield from self._part(reply.data, search.items, "search.items") if search.items else [reply.text]

    def _asked_for(self, question: str) -> Sequence[str]:
        if "subject" not in placeholders(self._mapping.search.arguments):
            return [""]
        named = dict.fromkeys(self._names.findall(question.casefold()))
        return [self._subjects[name] for name in named]

    def _facts(self, item: Any, at: Instant) -> Sequence[str]:
        search = self._mapping.search
        fact_id = None
        if search.id:
            (id_,) = self._part(item, search.id, "search.id")
            fact_id = self._by_id.get(str(id_))
        if search.id and not search.text:
            return [] if fact_id is None else [fact_id]
        (text,) = self._part(item, search.text, "search.text") if search.text else [item]
        if fact_id is not None and self._known[fact_id].fact.text == text:
            return [fact_id]
        return self._matcher.trace(str(text), at)

    def _score(self, item: Any) -> float:
        """Nought where the server gives none."""
        path = self._mapping.search.score
        if not path:
            return 0.0
        (score,) = self._part(item, path, "search.score")
        try:
            return round(float(score), DIGITS)
        except (TypeError, ValueError):
            got = "null" if score is None else type(score).__name__
            raise BadInput(f"search.score: {path!r} leads to no number: got {got}", file=self._file) from None

    def _part(self, reply: Any, path: str, key: str) -> list[Any]:
        try:
            return found(reply, path)
        except LookupError as error:
            raise BadInput(f"{key}: {path!r} leads nowhere in a reply: {error}", file=self._file) from None

    def _cause(self, question: Question, fact_id: str, at: Instant) -> PeekCause:
        if fact_id not in self._known:
            return "never stored"
        if self._held(fact_id) is None:
            return "deleted"
        if "k" in placeholders(self._mapping.search.arguments):
            return "outranked"
        items = self._items(question.text, question.k)
        there = any(fact_id in self._facts(item, at) for item in items)
        return "outranked" if there else "not found by the index"
