"""JSON Lines files and the instants in them, shared by every reader and writer (FORMATS.md).

A file is written under a temporary name and renamed when whole. Whatever cannot be read is one
``BadInput`` that names file, line, and what was expected. Strings come out in NFC.
"""

from __future__ import annotations

import gzip
import os
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from memrot.errors import BadInput
from memrot.model import NEVER, Instant, instant, moment

_FIRST = instant(datetime.min.replace(tzinfo=UTC))
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.(?P<fraction>\d+))?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def parse_instant(text: object) -> Instant:
    """RFC 3339 with a zone -> ms; raises ValueError saying what was expected."""
    match = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if not isinstance(text, str) or match is None:
        hint = " (it has no zone)" if isinstance(text, str) and _RFC3339.fullmatch(text + "Z") else ""
        raise ValueError(f"expected an RFC 3339 instant such as 2026-01-05T09:00:00Z, got {text!r}{hint}")
    if (match["fraction"] or "")[3:].strip("0"):
        raise ValueError(f"expected at most milliseconds, got {text!r}")
    try:
        at = instant(datetime.fromisoformat(text.upper()))
    except ValueError as error:
        raise ValueError(f"expected an RFC 3339 instant, got {text!r}: {error}") from None
    if not _FIRST <= at <= NEVER:
        bounds = f"{format_instant(_FIRST)} to {format_instant(NEVER)}"
        raise ValueError(f"expected an instant from {bounds}, got {text!r}")
    return at


def format_instant(at: Instant) -> str:
    """Ms -> RFC 3339 in UTC, without a fraction where it is zero."""
    timespec = "milliseconds" if at % 1000 else "seconds"
    return moment(at).isoformat(timespec=timespec).replace("+00:00", "Z")


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a JSON Lines file; raises BadInput on anything else."""
    file = str(path)
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                if raw.strip():
                    yield number, _object(raw, file, number)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadInput(f"damaged or truncated gzip: {error}", file=file, line=number + 1) from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror or error}", file=file) from None


def _object(raw: bytes, file: str, line: int) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
        if not raw.isascii() or b"\\u" in raw:
            value = nfc(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "NaN and infinity are refused" if re.search(rb"\bNaN\b|\bInfinity\b", raw) else str(error)
        raise BadInput(f"expected one JSON object: {hint}", file=file, line=line) from None
    if not isinstance(value, dict):
        raise BadInput(f"expected one JSON object, got {type(value).__name__}", file=file, line=line)
    return value


def convert(
    raw: dict[str, Any], kind: Any, choices: Mapping[str, Sequence[str]], *, file: str, line: int
) -> Any:
    """Decode an object, strictly typed; raises BadInput.

    ``choices`` gives, by the last step of a path, what may stand there: msgspec does not say it.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        step = re.search(r"[.\[](\w+|\.\.\.)\]?`$", str(error))
        known = choices.get(step[1], ()) if step and str(error).startswith("Invalid") else ()
        expected = f", expected one of {', '.join(known)}" if known else ""
        raise BadInput(f"{error}{expected}", file=file, line=line) from None


def nfc(value: Any) -> Any:
    """The same JSON value with every string, also every name, in NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list | tuple):
        return [nfc(item) for item in value]
    if isinstance(value, dict):
        return {nfc(name): nfc(item) for name, item in value.items()}
    return value


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a temporary neighbour and rename it when whole; raises BadInput."""
    refuse_unwritable(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as raw:
                # mtime=0 and no name: the same content gives the same bytes
                stream: Any = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
                for line in lines:
                    stream.write(line.encode() + b"\n")
                if stream is not raw:
                    stream.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror or error}", file=str(path)) from None


def refuse_unwritable(path: Path) -> None:
    """Raise BadInput where a file could not be written once long work has filled it; nothing is made."""
    there = next(folder for folder in path.absolute().parents if folder.exists())
    why = (
        "Is a directory" if path.is_dir()
        else "Not a directory" if not there.is_dir()
        else "Permission denied" if not os.access(there, os.W_OK)
        else None
    )  # fmt: skip
    if why is not None:
        raise BadInput(f"cannot be written: {why}", file=str(path))


def refuse_newer(raw: Mapping[str, Any], known: int, *, file: str, line: int) -> None:
    """Raise BadInput where a header's ``format`` is newer than the one that we write."""
    version = raw.get("format", known)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        what = f"expected 'format' to be a whole number from 1, got {version!r}"
        raise BadInput(what, file=file, line=line)
    if version > known:
        what = f"format {version} is newer than this memrot reads ({known}): upgrade memrot"
        raise BadInput(what, file=file, line=line)
