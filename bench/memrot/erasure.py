"""Erasure: what is left of the facts that a memory was told to erase, in its answers and in its files.

Regulated data must be gone, not hidden. So the files of an embedded store are searched for the bytes
themselves: of a fact's sentence and value, and of its vector in the encodings that stores use, scaled
to unit length or not. A fact counts as found where any of them is; one that cannot be told from what
may stay (another fact with the same sentence) is not looked for. That a search finds nothing means
something only where it finds what is still stored.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

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
_LARGE = 0.01
"""From here on a component may begin a stretch: whole numbers and text, read as floats, are smaller or
larger."""
_ENCODINGS = (("<f4", 0), ("<f8", 0), (">f4", 1), (">f8", 1))
"""Arrays in memory, and numbers each behind a byte of its own, as CBOR and pickle write them."""
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
    """Stretches of its vectors, each from a large component on."""


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


def traces(folder: Path, *groups: Sequence[Canary]) -> list[Traces]:
    """Of how many facts of each group something is left in the files under a folder."""
    texts: set[str] = set()
    vectors: set[str] = set()
    wanted = [canary for group in groups for canary in group]
    heads = _Heads(wanted)
    for content in _contents(folder):
        texts |= {each.fact for each in wanted if any(text in content for text in each.texts)}
        vectors |= heads.found(content)
    found = []
    for group in groups:
        facts = {canary.fact for canary in group}
        text, vector = facts & texts, facts & vectors
        found.append(Traces(facts=len(text | vector), text=len(text), vector=len(vector)))
    return found


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
        starts = part[np.abs(vector[part]) >= _LARGE]
        if len(starts) and starts[0] + _WINDOW <= len(vector):
            stretches.append(vector[starts[0] : starts[0] + _WINDOW])
    return stretches


class _Heads:
    """Stretches of vectors, found by their first component and then compared as a whole."""

    def __init__(self, wanted: Sequence[Canary]) -> None:
        self._windows = sorted(
            ((window.astype(np.float64), each.fact) for each in wanted for window in each.windows),
            key=lambda pair: float(pair[0][0]),
        )
        self._heads = np.array([window[0] for window, _ in self._windows])

    def found(self, content: bytes) -> set[str]:
        """Facts of which a stretch stands in a file, in any of the encodings, at any byte."""
        return {fact for kind, tag in _ENCODINGS for fact in self._encoded(content, np.dtype(kind), tag)}

    def _encoded(self, content: bytes, kind: np.dtype[Any], tag: int) -> Iterator[str]:
        stride = kind.itemsize + tag
        for offset in range(kind.itemsize):
            count = (len(content) - offset) // kind.itemsize
            values = np.frombuffer(content, kind, max(count, 0), offset) if count > 0 else np.empty(0)
            with np.errstate(invalid="ignore"):
                size = np.abs(values)
                places = np.flatnonzero((size >= _LARGE / 2) & (size <= 1))
            near = values[places].astype(np.float64)
            first = np.searchsorted(self._heads, near - _NEAR)
            last = np.searchsorted(self._heads, near + _NEAR)
            for hit in np.flatnonzero(first < last).tolist():
                start = offset + int(places[hit]) * kind.itemsize
                run = _run(content, start, kind, stride)
                if run is not None:
                    for window, fact in self._windows[first[hit] : last[hit]]:
                        if np.abs(run - window).max() <= _NEAR:
                            yield fact


def _run(content: bytes, start: int, kind: np.dtype[Any], stride: int) -> NDArray[np.float64] | None:
    """So many components from a byte on; None where the file ends before."""
    if start + (_WINDOW - 1) * stride + kind.itemsize > len(content):
        return None
    run: NDArray[np.float64] = np.ndarray((_WINDOW,), kind, content, start, (stride,)).astype(np.float64)
    return run
