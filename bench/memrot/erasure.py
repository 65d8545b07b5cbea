"""Erasure: what is left of the facts that a memory was told to erase, in its answers and in its files.

Regulated data must be gone, not hidden. So the files of an embedded store are searched for the bytes
themselves: of a fact's sentence and value, and of its vector in the encodings that stores use, scaled
to unit length or not. A fact counts as found where any of them is; one that cannot be told from what
may stay (another fact with the same sentence) is not looked for. That a search finds nothing means
something only where it finds what is still stored.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memrot.memory import Vector
from memrot.model import FactInvalidated, introduces, is_announced
from memrot.observations import ErasureSeen, Observations, Traces
from memrot.timeline import Timeline

Gone: TypeAlias = Literal["yes", "no", "compacted", "unknown"]
"""``compacted``: only once the store was told to reclaim what was deleted."""

_LONG = 8
"""Characters from which a value is looked for by itself."""
_WINDOW = 8
"""Components that must stand side by side; a longer run may be split by a page of the file."""
_WINDOWS = 3
_NEAR = 2e-6
"""Between a component and the same one of the vector scaled to unit length, in single precision."""
_PAGE = 4096
"""Pages of zeros are passed over: some stores make files of many megabytes for a few records."""
_LIVE = 12
"""Facts that are still stored and looked for, to know whether the search can see."""


class Erased(Struct, frozen=True):
    """Whether all that was to be erased is gone, from the answers, the store, and its files."""

    answers: Gone
    store: Gone
    files: Gone


class Canary(Struct, frozen=True):
    """What gives an erased fact away."""

    fact: str
    texts: tuple[bytes, ...]
    windows: tuple[Vector, ...]
    """Stretches of its vectors that begin with a component that is not zero."""


def told_to_erase(timeline: Timeline) -> dict[str, int]:
    """Fact id -> ``seq`` of the announced event that erases it, also where it had ended before."""
    erased: dict[str, int] = {}
    for event in timeline.events:
        if isinstance(event, FactInvalidated) and event.reason == "erased" and is_announced(event):
            erased.setdefault(event.fact, event.seq)
    return erased


def erased(timeline: Timeline, seen: Observations) -> Erased | None:
    """The verdict on a cell; None where nothing was to be erased, or nobody looked."""
    if seen.erasure is None:
        return None
    since = told_to_erase(timeline)
    again = any(
        since.get(hit.fact or "", stage.seq + 1) <= stage.seq
        for stage in seen.stages
        for asked in stage.asked
        for hit in asked.hits
    )
    stored = seen.erasure.stored
    return Erased(
        answers="no" if again else "yes",
        store="unknown" if stored is None else "no" if stored else "yes",
        files=_files(seen.erasure),
    )


def _files(seen: ErasureSeen) -> Gone:
    if seen.closed is None:
        return "unknown"
    if not seen.closed.facts:
        return "yes" if seen.legible else "unknown"
    return "no" if seen.compacted is None or seen.compacted.facts else "compacted"


def together(verdicts: Iterable[Erased]) -> Erased | None:
    """The worst of several verdicts, place by place."""
    found = list(verdicts)
    if not found:
        return None
    worst_first: tuple[Gone, ...] = ("no", "unknown", "compacted", "yes")

    def worst(values: Iterable[Gone]) -> Gone:
        return min(values, key=worst_first.index)

    return Erased(
        worst(each.answers for each in found),
        worst(each.store for each in found),
        worst(each.files for each in found),
    )


def canaries(
    timeline: Timeline,
    facts: Collection[str],
    embed: Sequence[Callable[[Sequence[str]], NDArray[np.float32]]],
) -> list[Canary]:
    """Of some of a timeline's facts, against all others. ``embed``: what may have made the vectors."""
    others = [fact for fact in timeline.facts.values() if fact.id not in facts]
    kept = "\n".join(f"{fact.text}\n{fact.value}\n{fact.subject}" for fact in others)
    found = []
    for fact in (timeline.facts[id_] for id_ in facts):
        texts = [fact.text, *([fact.value] if len(fact.value) >= _LONG else [])]
        telling = tuple(text.encode() for text in texts if text not in kept)
        vectors = [] if fact.text in kept else [each([fact.text])[0] for each in embed]
        windows = tuple(window for vector in vectors for window in _stretches(vector))
        found.append(Canary(fact.id, telling, windows))
    return found


def still_stored(timeline: Timeline) -> list[str]:
    """A few facts of which any memory keeps some: the last that it was told of, and not to erase."""
    gone = told_to_erase(timeline)
    told = [fact for event in timeline.events if is_announced(event) and (fact := introduces(event))]
    return [fact.id for fact in told if fact.id not in gone][-_LIVE:]


def traces(folder: Path, wanted: Sequence[Canary]) -> Traces:
    """Of how many facts something is left in the files under a folder."""
    texts: set[str] = set()
    vectors: set[str] = set()
    for content in _contents(folder):
        texts |= {each.fact for each in wanted if any(text in content for text in each.texts)}
        vectors |= _exact(content, wanted) | _near(content, wanted)
    return Traces(facts=len(texts | vectors), text=len(texts), vector=len(vectors))


def _contents(folder: Path) -> Iterator[bytes]:
    """Each file without its pages of zeros."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole = np.fromfile(path, np.uint8)
        pages = np.pad(whole, (0, -len(whole) % _PAGE)).reshape(-1, _PAGE)
        content = pages[pages.any(axis=1)].tobytes()
        if content:
            yield content


def _stretches(vector: Vector) -> list[Vector]:
    stretches = []
    for part in np.array_split(np.arange(len(vector)), _WINDOWS):
        starts = part[vector[part] != 0]
        if len(starts) and starts[0] + _WINDOW <= len(vector):
            stretches.append(vector[starts[0] : starts[0] + _WINDOW])
    return stretches


def _exact(content: bytes, wanted: Sequence[Canary]) -> set[str]:
    """Facts whose components stand in a file as doubles, or each behind a tag of CBOR or pickle."""
    return {
        each.fact
        for each in wanted
        if any(spelled in content for window in each.windows for spelled in _spelled(window))
    }


def _spelled(window: Vector) -> tuple[bytes, ...]:
    return (
        window.astype("<f8").tobytes(),
        *(
            b"".join(tag + struct.pack(kind, component) for component in window.tolist())
            for tag, kind in ((b"\xfa", ">f"), (b"\xfb", ">d"), (b"G", ">d"))
        ),
    )


def _near(content: bytes, wanted: Sequence[Canary]) -> set[str]:
    """Facts whose components stand side by side in single precision, at any byte."""
    windows = [(window, each.fact) for each in wanted for window in each.windows]
    windows.sort(key=lambda pair: float(pair[0][0]))
    heads = np.array([window[0] for window, _ in windows])
    found: set[str] = set()
    for offset in range(4):
        values = np.frombuffer(content, "<f4", (len(content) - offset) // 4, offset)
        with np.errstate(invalid="ignore"):
            starts = np.flatnonzero((np.abs(values) <= 1) & (values != 0))
        starts = starts[starts + _WINDOW <= len(values)]
        first = np.searchsorted(heads, values[starts] - np.float32(_NEAR))
        last = np.searchsorted(heads, values[starts] + np.float32(_NEAR))
        for place in np.flatnonzero(first < last).tolist():
            run = values[starts[place] : starts[place] + _WINDOW]
            near = windows[first[place] : last[place]]
            found |= {fact for window, fact in near if np.abs(run - window).max() <= _NEAR}
    return found
