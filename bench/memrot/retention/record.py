"""Files of an audit of a real store: its facts, the system of record, and questions to people.

    facts      CSV: id, class, subject, predicate, value, observed_at; optional last_confirmed_at,
               valid_to, confidence, text (instants in RFC 3339)
    record     CSV of subject, predicate, value; or an SQLite file and a query that gives these three
    questions  CSV that ``ask`` writes: id, class, age_days, question, answer; a person fills in the
               last column with yes or no, and ``answered`` reads it back

A fact is true if the record holds its value under its subject and predicate, wrong if the record
holds others there, and unknown if the record has nothing to say.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import structs

from memrot.errors import BadInput
from memrot.layers.policy import Policy
from memrot.lines import nfc, parse_instant, write_lines
from memrot.model import NEVER, Instant, Key
from memrot.retention.beliefs import Belief

Record = Mapping[Key, frozenset[str]]
"""What is true of each key."""

_FACT = ("id", "class", "subject", "predicate", "value", "observed_at")
_QUERY = "SELECT subject, predicate, value FROM facts"
_YES, _NO = frozenset({"yes", "y", "true", "1"}), frozenset({"no", "n", "false", "0"})


def read_facts(path: Path, at: Instant) -> list[Belief]:
    """What a real store believes at an instant; raises BadInput."""
    return [_belief(row, at, path, number) for number, row in _rows(path, _FACT)]


def read_record(path: Path, query: str | None = None) -> Record:
    """The system of record; raises BadInput."""
    if path.suffix == ".csv":
        rows = [
            tuple(row[name] for name in ("subject", "predicate", "value"))
            for _, row in _rows(path, ("subject", "predicate", "value"))
        ]
    else:
        rows = _selected(path, query or _QUERY)
    held: dict[Key, set[str]] = {}
    for subject, predicate, value in rows:
        held.setdefault((subject, predicate), set()).add(value)
    return {key: frozenset(values) for key, values in held.items()}


def checked(beliefs: Iterable[Belief], record: Record) -> list[Belief]:
    """Beliefs with what the record says of them."""
    return [
        structs.replace(belief, true=None if held is None else belief.value in held)
        for belief in beliefs
        for held in [record.get((belief.subject, belief.predicate))]
    ]


def ask(path: Path, beliefs: Sequence[Belief], policy: Policy) -> None:
    """Write a question for each belief."""
    lines = [["id", "class", "age_days", "question", "answer"]]
    for belief in beliefs:
        said = belief.text or f"{belief.subject}: {belief.predicate} is {belief.value}."
        age = belief.age_days(policy.of(belief.fact_class))
        lines.append([belief.id, belief.fact_class, f"{age:.0f}", f'Is this still so? "{said}"', ""])
    write_lines(path, (_line(line) for line in lines))


def answered(beliefs: Iterable[Belief], path: Path) -> list[Belief]:
    """Beliefs with what people answered; an empty answer is none. Raises BadInput."""
    answers: dict[str, bool] = {}
    for number, row in _rows(path, ("id", "answer")):
        answer = row["answer"].strip().lower()
        if answer and answer not in _YES | _NO:
            raise BadInput(f"expected yes, no or nothing, got {answer!r}", file=str(path), line=number)
        if answer:
            answers[row["id"]] = answer in _YES
    return [structs.replace(belief, true=answers.get(belief.id, belief.true)) for belief in beliefs]


def _belief(row: Mapping[str, str], at: Instant, path: Path, number: int) -> Belief:
    try:
        observed_at = parse_instant(row["observed_at"])
        confirmed_at, valid_to = row.get("last_confirmed_at"), row.get("valid_to")
        confidence = float(row.get("confidence") or 1)
        belief = Belief(
            id=row["id"],
            fact_class=row["class"].lower(),
            subject=row["subject"],
            predicate=row["predicate"],
            value=row["value"],
            text=row.get("text") or "",
            confidence=confidence,
            observed_at=observed_at,
            last_confirmed_at=parse_instant(confirmed_at) if confirmed_at else observed_at,
            valid_to=parse_instant(valid_to) if valid_to else NEVER,
            at=at,
        )
    except ValueError as error:
        raise BadInput(str(error), file=str(path), line=number) from None
    if not 0 <= confidence <= 1:
        raise BadInput(f"expected a confidence from 0 to 1, got {confidence}", file=str(path), line=number)
    return belief


def _rows(path: Path, needed: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    """Line number and row; strings in NFC, as everywhere."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            missing = [name for name in needed if name not in (reader.fieldnames or ())]
            if missing:
                raise BadInput(
                    f"expected a CSV with the columns {', '.join(needed)}; missing: {', '.join(missing)}",
                    file=str(path),
                )
            rows = []
            for row in reader:
                if None in row or None in row.values():
                    raise BadInput("expected as many values as columns", file=str(path), line=reader.line_num)
                rows.append((reader.line_num, nfc(row)))
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"cannot be read as CSV: {error}", file=str(path)) from None


def _selected(path: Path, query: str) -> list[tuple[str, ...]]:
    if not path.is_file():
        raise BadInput("expected a CSV file (*.csv) or an SQLite file", file=str(path))
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute(query).fetchall()
    except sqlite3.Error as error:
        raise BadInput(f"the query cannot be run: {error}", file=str(path)) from None
    if any(len(row) != 3 for row in rows):
        raise BadInput("expected the query to give subject, predicate and value", file=str(path))
    return [tuple(nfc(str(each)) for each in row) for row in rows]


class _Lines(list[str]):
    def write(self, text: str) -> None:
        self.append(text)


def _line(values: Sequence[str]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator="").writerow(values)
    return "".join(lines)
