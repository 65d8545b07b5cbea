"""A product that is a program only, as a memory of memrot's: it finds by words, and embeds nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memrot.errors import BadInput
from memrot.memory import Capability, Embedder, Info, Place
from memrot.model import (
    Answer,
    ChangeEvent,
    FactAdded,
    FactInvalidated,
    FactRevised,
    Hit,
    Instant,
    PeekCause,
    Question,
)
from memrot_outside.child import Child


def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> ProgramMemory:
    if options:
        raise BadInput(f"outside-program: takes no options, got {sorted(options)}")
    return ProgramMemory(place)


class ProgramMemory:
    info = Info(
        name="outside-program",
        backend="outside's program",
        version="0.1.0",
        embeds=True,
        note="finds by words",
        capabilities={
            "overwrite": Capability("native", "a note a key"),
            "invalidate": Capability("native", "forget"),
            "history": Capability("never", "a note that is replaced is gone"),
        },
    )

    def __init__(self, place: Place) -> None:
        self._file = place.folder / f"{place.namespace}.json"
        self._program: Child | None = Child("memrot_outside.program", self._file)

    def apply(self, events: Sequence[ChangeEvent], at: Instant) -> None:
        for event in events:
            match event:
                case FactAdded(fact=fact) | FactRevised(current=fact):
                    if isinstance(event, FactRevised):
                        self._ask("forget", name=event.previous)
                    own = [fact.value] if fact.cardinality == "many" else []
                    self._ask("note", key=json.dumps([*fact.key, *own]), name=fact.id, text=fact.text)
                case FactInvalidated(fact=gone):
                    self._ask("forget", name=gone)
                case _:  # it knows no time, and no embedder that could change
                    pass

    def answer(self, questions: Sequence[Question], at: Instant) -> Sequence[Answer]:
        return [
            Answer(tuple(Hit(name, near) for name, near in self._ask("find", text=each.text, k=each.k)))
            if each.mode == "current"
            else Answer(unsupported="keeps no past")
            for each in questions
        ]

    def peek(self, missed: Sequence[tuple[Question, str]], at: Instant) -> Sequence[PeekCause]:
        held = set(self._ask("names"))
        return ["outranked" if fact in held else "never stored" for _, fact in missed]

    def drop(self) -> None:
        self._ask("clear")
        self.close()
        self._file.unlink()

    def close(self) -> None:
        if self._program is not None:
            self._program.end()
            self._program = None

    def _ask(self, do: str, **more: Any) -> Any:
        if self._program is None:
            raise ConnectionError("closed")
        self._program.tell(json.dumps({"do": do, **more}))
        return json.loads(self._program.hear())
