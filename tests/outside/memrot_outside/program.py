"""Stands for a product that is a program only: ``python -m memrot_outside.program FILE``.

A line in, a line out. It keeps a note a key, the newest, and finds notes by the words that they share
with a question. When its input ends it saves.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any


class Notes:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._by_key: dict[str, list[str]] = json.loads(file.read_text()) if file.exists() else {}

    def save(self) -> None:
        self._file.write_text(json.dumps(self._by_key))

    def note(self, key: str, name: str, text: str) -> None:
        self._by_key[key] = [name, text]

    def forget(self, name: str) -> None:
        self._by_key = {key: note for key, note in self._by_key.items() if note[0] != name}

    def find(self, text: str, k: int) -> list[tuple[str, float]]:
        asked = _words(text)
        shares = [
            (name, len(asked & _words(note)) / len(asked | _words(note)))
            for name, note in self._by_key.values()
        ]
        return sorted(shares, key=lambda hit: (-hit[1], hit[0]))[:k]

    def names(self) -> list[str]:
        return [name for name, _ in self._by_key.values()]

    def clear(self) -> None:
        self._by_key.clear()


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def main(file: Path) -> None:
    notes = Notes(file)
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        print(json.dumps(getattr(notes, asked.pop("do"))(**asked)), flush=True)
    notes.save()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
