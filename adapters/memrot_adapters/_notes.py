"""What memrot itself notes of a memory whose answers are traced: what it was told, for when it opens again.

Deflated, note by note: whoever looks through the files for what was erased finds the product's traces, and
not these.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Note = TypeVar("Note")


class Notes(Generic[Note]):
    """Notes of one kind in a file, in the order in which they were added; the file's folder exists."""

    def __init__(self, file: Path, kind: type[Note]) -> None:
        self._file = file
        self._kind = kind

    def __iter__(self) -> Iterator[Note]:
        for line in self._file.read_bytes().splitlines() if self._file.exists() else ():
            yield msgspec.json.decode(zlib.decompress(base64.b64decode(line)), type=self._kind)

    def add(self, note: Note) -> None:
        with self._file.open("ab") as file:
            file.write(base64.b64encode(zlib.compress(msgspec.json.encode(note))) + b"\n")
