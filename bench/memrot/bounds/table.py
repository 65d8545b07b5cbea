"""The table of sentences with the right answers, and how well each library does on it.

A first line says what the file is; each further line has a kind, a sentence, the instant and zone it
was written in, and the answer: bounds, or the flag for what cannot be told. Three outcomes: *right*;
*silent* (a bound is missed, or flagged for another reason, and nobody is misled); *wrong* (an instant
is given that the sentence does not state).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from memrot.bounds import Bounds, Flag, extract, named_zone
from memrot.bounds.libraries import Library
from memrot.bounds.zones import instant, local
from memrot.errors import BadInput
from memrot.lines import convert, parse_instant, read_lines, refuse_newer
from memrot.model import DAY, Instant

FORMAT = 1
Outcome: TypeAlias = Literal["right", "silent", "wrong"]
Counts: TypeAlias = dict[str, dict[Outcome, int]]
"""Kind -> outcome -> number of sentences; the kind ``all`` is their sum."""


class Sentence(Struct, frozen=True, forbid_unknown_fields=True):
    kind: str
    text: str
    at: str
    zone: str = "UTC"
    valid_from: str | None = None
    valid_to: str | None = None
    flag: Flag | None = None

    @property
    def answer(self) -> Bounds:
        return Bounds(_instant(self.valid_from), _instant(self.valid_to), self.flag)


class Table(Struct, frozen=True):
    note: str
    """Where its sentences come from."""
    sentences: tuple[Sentence, ...]


def read(path: Path) -> Table:
    """Raises BadInput."""
    lines = read_lines(path)
    number, header = next(lines, (1, {}))
    if header.get("type") != "bounds":
        raise BadInput('expected a header {"type":"bounds","format":1}', file=str(path), line=number)
    refuse_newer(header, FORMAT, file=str(path), line=number)
    sentences = tuple(_sentence(raw, str(path), number) for number, raw in lines)
    if not sentences:
        raise BadInput("expected at least one sentence after the header", file=str(path), line=number + 1)
    return Table(note=str(header.get("note", "")), sentences=sentences)


def guarded(sentence: Sentence, library: Library) -> Outcome:
    """The outcome of the guard with a library behind it."""
    answer = sentence.answer
    got = extract(sentence.text, parse_instant(sentence.at), named_zone(sentence.zone), library)
    if got == answer:
        return "right"
    given = [(got.valid_from, answer.valid_from), (got.valid_to, answer.valid_to)]
    return "wrong" if any(mine not in {None, right} for mine, right in given) else "silent"


def alone(sentence: Sentence, library: Library) -> Outcome:
    """The outcome of a library by itself. It knows no flags: nothing is the right answer where one is
    due; and a last day may be given by its own midnight, since none says that ends are exclusive."""
    answer, zone = sentence.answer, named_zone(sentence.zone)
    first, last = library.alone(sentence.text, local(parse_instant(sentence.at), zone))
    given = [
        (None if wall is None else instant(wall, zone, stated=False), right, leeway)
        for wall, right, leeway in ((first, answer.valid_from, 0), (last, answer.valid_to, DAY))
    ]
    if all(_meets(mine, right, leeway) for mine, right, leeway in given):
        return "right"
    misled = any(mine is not None and not _meets(mine, right, leeway) for mine, right, leeway in given)
    return "wrong" if misled else "silent"


def counts(outcomes: Iterable[tuple[str, Outcome]]) -> Counts:
    """In the order of the table."""
    found: Counts = {}
    outcomes = list(outcomes)
    for kind, outcome in [*outcomes, *(("all", outcome) for _, outcome in outcomes)]:
        of_kind = found.setdefault(kind, {"right": 0, "silent": 0, "wrong": 0})
        of_kind[outcome] += 1
    return found


def columns(sentences: Sequence[Sentence], libraries: Sequence[Library]) -> dict[str, Counts]:
    """Heading -> the counts by kind: each library behind the guard, then each alone."""
    return {
        **{
            each.name: counts((sentence.kind, guarded(sentence, each)) for sentence in sentences)
            for each in libraries
        },
        **{
            f"{each.name} alone": counts((sentence.kind, alone(sentence, each)) for sentence in sentences)
            for each in libraries
        },
    }


def rows(found: Mapping[str, Counts]) -> tuple[list[str], list[list[str]]]:
    """Headings and cells: of each kind how many sentences are right, and how many wrong."""
    table = [
        [
            kind,
            str(sum(number.values())),
            *(f"{column[kind]['right']} / {column[kind]['wrong']}" for column in found.values()),
        ]
        for kind, number in next(iter(found.values())).items()
    ]
    return ["kind", "sentences", *(f"{name}: right / wrong" for name in found)], table


def _meets(mine: Instant | None, right: Instant | None, leeway: int) -> bool:
    if mine is None or right is None:
        return mine is right
    return right - mine in {0, leeway}


def _sentence(raw: dict[str, Any], file: str, line: int) -> Sentence:
    sentence: Sentence = convert(raw, Sentence, {}, file=file, line=line)
    try:
        parse_instant(sentence.at)
        named_zone(sentence.zone)
        answer = sentence.answer
    except ValueError as error:
        raise BadInput(str(error), file=file, line=line) from None
    if sentence.flag and (answer.valid_from is not None or answer.valid_to is not None):
        raise BadInput("expected bounds or a flag, got both", file=file, line=line)
    return sentence


def _instant(text: str | None) -> Instant | None:
    return None if text is None else parse_instant(text)
