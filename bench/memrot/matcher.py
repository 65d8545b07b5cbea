"""Traces a sentence that a memory wrote by itself to the facts that it states; or to none.

Exact, by whole words, and deaf to nothing that turns a sentence around: a wrong trace would be charged
to the memory as an error, or credited as knowledge, while what cannot be traced is merely unattributed.
A published benchmark has doubled a metric by looking for substrings.

A text that is, word for word, what was said is that fact, the newest that had been said by then. Any
other text states a fact if one of its sentences has all telling words of the fact's text in their order, with
nothing between or beside them but grammar (the "test runtime" is no runtime, nor is that "of the sidecar"),
its subject and its value standing by themselves (``svc-7`` is not in ``svc-7 canary``), and no more and
no fewer words that deny, date or doubt ("not", "formerly", "will"). Quoted speech states nothing, nor
does a question, nor a sentence that names a further subject, of which half of it may speak, nor one in
which two values of one single-valued key would both be stated.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from memrot.model import Fact, Instant, Key

TURNING = frozenset({
    "not", "no", "never", "nor", "neither", "none", "nobody", "nothing", "without", "cannot", "longer",
    "former", "formerly", "previous", "previously", "past", "old", "once", "ex", "was", "were", "had",
    "used", "until", "till", "before", "after", "instead", "replaced", "replaces", "replacing", "rather",
    "than", "unless", "if", "whether", "might", "may", "could", "would", "should", "maybe", "perhaps",
    "possibly", "planned", "plans", "planning", "will", "soon", "next", "proposed", "considered",
    "considering", "denied", "denies", "false", "wrong", "stopped", "stops", "dropped", "except", "from",
    "changed", "moved", "untrue", "incorrect", "myth", "unfounded", "refuted", "disproved", "retracted",
    "revoked", "hardly", "barely", "ceased", "ended", "obsolete", "outdated", "deprecated", "history",
    "forget", "yet", "supposed", "supposedly", "alleged", "allegedly", "rumour", "rumor", "rumoured",
    "rumored", "doubts", "doubted", "doubtful",
})  # fmt: skip
"""Words that deny what they stand beside, or put it into another time or into doubt."""

_PASSING = frozenset({
    "a", "an", "and", "as", "at", "by", "currently", "for", "has", "have", "in", "is", "are", "be",
    "been", "it", "its", "now", "of", "on", "or", "so", "that", "the", "their", "there", "these", "they",
    "this", "those", "to", "today", "which", "who", "with",
})  # fmt: skip
"""Words that carry no more than grammar."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“]*“|«[^»]*»|(?<!\w)\'[^\']*\'(?!\w)|^\s*>.*$', re.MULTILINE)
_APOSTROPHES = str.maketrans("\u2018\u2019", "''")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_TOKEN = re.compile(r"\w+(?:[-./_:@']+\w+)*[+#]*|[^\w\s]")
_LITERAL = re.compile(r"[^\w>]*(.*?)[\s.!]*", re.DOTALL)

Tokens = tuple[str, ...]


class _Name(Struct, frozen=True):
    """A subject or a value as it stands in a fact's text, with the words beside it there."""

    tokens: Tokens
    before: str
    after: str


class _Told(Struct, frozen=True):
    """A fact with what makes a sentence its statement."""

    id: str
    key: Key | None
    """None where the key may have several values, none of which denies another."""
    value: str
    at: Instant
    tokens: Tokens
    telling: Tokens
    turning: Counter[str]
    names: tuple[_Name, ...]
    """Subject and value; none: only word for word."""


class Matcher:
    """Facts are told once each, in the order of time."""

    def __init__(self) -> None:
        self._literal: dict[str, list[_Told]] = {}
        self._told: list[_Told] = []
        self._traced: dict[tuple[str, Instant], tuple[str, ...]] = {}

    def tell(self, fact: Fact, at: Instant) -> None:
        told = _told(fact, at)
        self._told.append(told)
        self._literal.setdefault(_literal(fact.text), []).append(told)

    def trace(self, text: str, by: Instant) -> tuple[str, ...]:
        """Ids of the facts that a text states which was written at ``by``; empty: unattributed."""
        place = (text, by)
        if place not in self._traced:
            self._traced[place] = self._said(text, by) or self._stated(text, by)
        return self._traced[place]

    def _said(self, text: str, by: Instant) -> tuple[str, ...]:
        known = [told.id for told in self._literal.get(_literal(text), ()) if told.at <= by]
        return (known[-1],) if known else ()

    def _stated(self, text: str, by: Instant) -> tuple[str, ...]:
        found: dict[str, None] = {}
        known = [told for told in self._told if told.names and told.at <= by]
        for sentence in _SENTENCE.split(_QUOTED.sub(" ” ", _folded(text))):
            found.update(dict.fromkeys(_statements(sentence, known)))
        return tuple(found)


def _statements(sentence: str, known: Sequence[_Told]) -> Iterable[str]:
    """The newest instance of each statement; nothing of a key of which two values are stated."""
    if "?" in sentence:
        return ()
    tokens = _tokens(sentence)
    turning, telling = _turning(tokens), _telling(tokens)
    stated = [told for told in known if told.turning == turning and _states(tokens, telling, told)]
    subjects = {told.names[0].tokens for told in known}
    named = {subject for subject in subjects if any(_found(tokens, subject))} if stated else set()
    stated = [told for told in stated if all(any(_found(told.tokens, subject)) for subject in named)]
    values: dict[Key | None, set[str]] = {}
    for told in stated:
        values.setdefault(told.key, set()).add(told.value)
    newest = {
        (told.key, told.telling): told.id for told in stated if told.key is None or len(values[told.key]) == 1
    }
    return newest.values()


def _states(tokens: Tokens, telling: Sequence[int], told: _Told) -> bool:
    width = len(told.telling)
    runs = (telling[start : start + width] for start in range(len(telling) - width + 1))
    return any(_tells(tokens, run, told.telling) for run in runs) and all(
        _alone(tokens, name) for name in told.names
    )


def _tells(tokens: Tokens, run: Sequence[int], words: Tokens) -> bool:
    """Whether the telling words at these places are those, with none of another kind beside them."""
    if tuple(tokens[place] for place in run) != words:
        return False
    before = tokens[run[0] - 1] if run[0] else ""
    return _apart(before, "") and all(_apart(after, "") for after in tokens[run[-1] + 1 : run[-1] + 2])


def _alone(tokens: Tokens, name: _Name) -> bool:
    """Whether a name stands somewhere with nothing beside it that could belong to it."""
    return any(
        _apart(found.before, name.before) and _apart(found.after, name.after)
        for found in _found(tokens, name.tokens)
    )


def _apart(word: str, told: str) -> bool:
    return word == told or not word[:1].isalnum() or word in _PASSING


def _found(tokens: Tokens, name: Tokens) -> Iterator[_Name]:
    padded, width = ("", *tokens, ""), len(name)
    for start in range(1, len(padded) - width):
        if padded[start : start + width] == name:
            yield _Name(name, padded[start - 1], padded[start + width])


def _told(fact: Fact, at: Instant) -> _Told:
    folded = _folded(fact.text)
    tokens = _tokens(folded)
    found = [next(_found(tokens, _tokens(_folded(name))), None) for name in (fact.subject, fact.value)]
    names = tuple(name for name in found if name is not None and name.tokens)
    telling = tuple(tokens[place] for place in _telling(tokens))
    traceable = len(names) == len(found) and bool(telling) and not _QUOTED.search(folded)
    return _Told(
        id=fact.id,
        key=fact.key if fact.cardinality == "one" else None,
        value=fact.value,
        at=at,
        tokens=tokens,
        telling=telling,
        turning=_turning(tokens),
        names=names if traceable else (),
    )


def _telling(tokens: Tokens) -> list[int]:
    """Where the words stand that carry more than grammar."""
    return [place for place, word in enumerate(tokens) if word[0].isalnum() and word not in _PASSING]


def _turning(tokens: Sequence[str]) -> Counter[str]:
    return Counter(
        "not" if word.endswith("n't") else word
        for word in tokens
        if word in TURNING or word.endswith("n't") or word.startswith("ex-")
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().translate(_APOSTROPHES)


def _literal(text: str) -> str:
    """A text without what surrounds it: case, spaces, the full stop."""
    match = _LITERAL.fullmatch(" ".join(_folded(text).split()))
    return match[1] if match else text


def _tokens(text: str) -> Tokens:
    return tuple(_TOKEN.findall(text))
