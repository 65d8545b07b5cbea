"""Sentence vectors kept in SQLite, so that each sentence is embedded once in the life of a machine.

The parent process fills it (``Cache.embed``); workers only read it (``Recalled``) and never load
a model. Any number of processes may use one file. A damaged file is set aside and made anew:
whatever it held can be computed again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
import platformdirs
from numpy.typing import NDArray

from memrot.embed.base import Embedder
from memrot.errors import BadInput

_SCHEMA = """CREATE TABLE IF NOT EXISTS vectors (
    fingerprint TEXT NOT NULL, text TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (fingerprint, text))"""
_VERSION = 1
_BUSY_S = 60.0
_LOOKUP = 500
_COMMIT = 256
"""Sentences embedded between two commits: what a kill can cost."""

T = TypeVar("T")

Progress = Callable[[int, int], object]
"""Called with (embedded so far, to be embedded in all)."""


def default_path() -> Path:
    """Under the user's cache folder, which ``XDG_CACHE_HOME`` moves."""
    return Path(platformdirs.user_cache_dir("memrot")) / "embeddings.sqlite3"


class Cache:
    """Vectors by (fingerprint, text). Raises BadInput where the file cannot be opened or written."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = default_path() if path is None else path
        self._database = self._open()

    def embed(
        self, embedder: Embedder, texts: Sequence[str], progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """The texts' vectors, shape (len(texts), dim); embeds, and keeps, only those it lacks."""
        return self._healed(lambda: self._embed(embedder, texts, progress))

    def load(self, fingerprint: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors; raises KeyError, naming the first text that was never embedded."""
        try:
            known = self._known(fingerprint, texts)
        except sqlite3.Error as error:
            raise self._refused(error) from None
        for text in texts:
            if text not in known:
                raise KeyError(f"not embedded by {fingerprint}: {text!r}")
        return np.stack([known[text] for text in texts]) if texts else np.empty((0, 0), dtype=np.float32)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _embed(
        self, embedder: Embedder, texts: Sequence[str], progress: Progress | None
    ) -> NDArray[np.float32]:
        known = self._known(embedder.fingerprint, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        done = 0
        for batch in _batches(missing, _COMMIT):
            vectors = embedder.embed(batch)
            with self._database:
                self._database.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                    [
                        (embedder.fingerprint, text, vector.astype("<f4").tobytes())
                        for text, vector in zip(batch, vectors, strict=True)
                    ],
                )
            known.update(zip(batch, vectors, strict=True))
            done += len(batch)
            if progress is not None:
                progress(done, len(missing))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.empty((0, embedder.dim), dtype=np.float32)

    def _known(self, fingerprint: str, texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        known: dict[str, NDArray[np.float32]] = {}
        for batch in _batches(dict.fromkeys(texts), _LOOKUP):
            marks = ", ".join("?" * len(batch))
            rows = self._database.execute(
                f"SELECT text, vector FROM vectors WHERE fingerprint = ? AND text IN ({marks})",  # noqa: S608 (marks only)
                (fingerprint, *batch),
            )
            known.update((text, np.frombuffer(vector, dtype="<f4")) for text, vector in rows)
        return known

    def _healed(self, act: Callable[[], T]) -> T:
        """Run ``act``; once more on a new file where this one turns out to be damaged."""
        try:
            return act()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise self._refused(error) from None
        self._database.close()
        self._set_aside()
        self._database = self._open()
        return act()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return _connected(self.path)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
            self._set_aside()
            return _connected(self.path)
        except (OSError, sqlite3.Error) as error:
            raise self._refused(error) from None

    def _set_aside(self) -> None:
        with suppress(FileNotFoundError):  # another process was faster
            self.path.replace(self.path.with_name(f"{self.path.name}.damaged-{os.getpid()}"))
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _refused(self, error: Exception) -> BadInput:
        what = getattr(error, "strerror", None) or error
        return BadInput(
            f"the embedding cache cannot be used: {what} (XDG_CACHE_HOME moves it)", file=str(self.path)
        )


@dataclass
class Recalled:
    """An embedder served from the cache alone: for worker processes, to which it can be sent."""

    name: str
    fingerprint: str
    dim: int
    lexical: bool
    path: Path
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, embedder: Embedder, cache: Cache) -> Self:
        return cls(embedder.name, embedder.fingerprint, embedder.dim, embedder.lexical, cache.path)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises KeyError for a text that the parent did not embed."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            with Cache(self.path) as cache:
                self._vectors.update(zip(missing, cache.load(self.fingerprint, missing), strict=True))
        rows = [self._vectors[text] for text in texts]
        return np.array(rows) if rows else np.empty((0, self.dim), dtype=np.float32)


def _connected(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_BUSY_S)
    try:
        _prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            # switching to WAL does not honour the timeout while another process does the same
            database.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    database.execute("PRAGMA synchronous = NORMAL")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        with database:
            database.execute(_SCHEMA)
            database.execute(f"PRAGMA user_version = {_VERSION}")
    elif version != _VERSION:
        raise sqlite3.DatabaseError(f"made by another memrot (version {version})")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is none of ours; a plain SQLITE_ERROR means that its tables are others."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_ERROR,
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
