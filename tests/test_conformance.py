"""The conformance kit catches what it is there to catch: stores that are wrong in one way each."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec import structs

from memrot import exact
from memrot.errors import BadInput
from memrot.exact import Exact
from memrot.memory import Capability, Embedder, Fields, Info, Place, Query, Record, Store, Where
from memrot.model import Answer, ChangeEvent, FactRevised, Hit, PeekCause, Question, introduces
from memrot.testing import MemoryConformance, StoreConformance
from memrot.testing.corpus import DIM

Hits = Sequence[Sequence[tuple[str, float]]]


class MergesMetadata(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        old = {record.id: record.fields for record in self.get([record.id for record in put])}
        merged = [structs.replace(new, fields={**old.get(new.id, {}), **new.fields}) for new in put]
        super().write(merged, patch, delete)


class ForgetsVectorsOnPatch(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        lost = [structs.replace(old, vector=np.roll(old.vector, 1)) for old in self.get(list(patch))]
        super().write([*put, *lost], patch, delete)


class TakesBoundsIn(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        wider = [structs.replace(c, value=c.value - 1) if c.op == "gt" else c for c in where]
        return super().search(queries, wider, k)


class MatchesWhatIsMissing(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return super().search(queries, [c for c in where if c.field in self._columns], k)


class FiltersAfterwards(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        matching = {name for name, _ in super().search(queries[:1], where, len(self._records))[0]}
        return [[hit for hit in hits if hit[0] in matching] for hits in super().search(queries, [], k)]


class HidesNegatives(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [[hit for hit in hits if hit[1] >= 0] for hits in super().search(queries, where, k)]


class AnswersTheFirstQuestionOnly(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [*super().search(queries[:1], where, k)] * len(queries)


class MissesOneInAHundred(Exact):
    def search(self, queries: Sequence[Query], where: Where, k: int) -> Hits:
        return [
            [hit for hit in hits if not hit[0].endswith("77")] for hits in super().search(queries, where, k)
        ]


class StoresNumbersAsText(Exact):
    def scan(self, vectors: bool = False) -> Iterator[Record]:
        for record in super().scan(vectors):
            yield structs.replace(record, fields={name: str(value) for name, value in record.fields.items()})


class FoldsIds(Exact):
    def write(self, put: Sequence[Record], patch: Mapping[str, Fields], delete: Sequence[str]) -> None:
        super().write([structs.replace(new, id=new.id.strip()[:255]) for new in put], patch, delete)


class ForgetsOnClose(Exact):
    def close(self) -> None:
        self._records.clear()
        super().close()


WRONG: dict[type[Exact], str] = {
    MergesMetadata: "upsert_replaces_the_record_and_all_its_metadata",
    ForgetsVectorsOnPatch: "patch_changes_its_fields_and_keeps_the_vector",
    TakesBoundsIn: "filters_hold_on_both_sides_of_a_bound",
    MatchesWhatIsMissing: "filters_never_match_a_missing_field",
    FiltersAfterwards: "live_records_are_found_among_90_percent_tombstoned",
    HidesNegatives: "negative_similarities_are_found",
    AnswersTheFirstQuestionOnly: "batch_gives_what_singles_give",
    MissesOneInAHundred: "search_agrees_with_exact",
    StoresNumbersAsText: "numbers_keep_their_type",
    FoldsIds: "unicode_strange_and_long_ids",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_each_wrong_store_fails_the_test_that_is_about_it(wrong: type[Exact], tmp_path: Path) -> None:
    kit: Any = StoreConformance()
    with pytest.raises(AssertionError):
        getattr(kit, f"test_{WRONG[wrong]}")(wrong(Place("wrong", tmp_path, DIM, 300)))
    getattr(kit, f"test_{WRONG[wrong]}")(Exact(Place("right", tmp_path, DIM, 300)))


def kit(store: type[Exact], **more: Any) -> Any:
    def open_store(place: Place, options: Mapping[str, str]) -> Store:
        return exact.open_store(place, options) if options else store(place)

    return type("Kit", (StoreConformance,), {"open_store": staticmethod(open_store), **more})


@pytest.mark.parametrize(
    "wrong",
    [MergesMetadata, ForgetsVectorsOnPatch, TakesBoundsIn, FiltersAfterwards, HidesNegatives,
     AnswersTheFirstQuestionOnly, StoresNumbersAsText, ForgetsOnClose],
    ids=lambda wrong: wrong.__name__,
)  # fmt: skip
def test_any_history_finds_wrong_stores(wrong: type[Exact]) -> None:
    with pytest.raises((AssertionError, KeyError)):
        kit(wrong)().test_any_history_agrees_with_exact()


def test_store_that_forgets_on_close_is_not_one_that_persists(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        kit(ForgetsOnClose)().test_reopened_store_finds_its_records_and_takes_more(
            Place("wrong", tmp_path, DIM, 300)
        )


NEVER = Capability("never", "a miniature that cuts ids")


def test_standard_tests_can_be_neither_replaced_nor_excused_beyond_reason() -> None:
    with pytest.raises(TypeError, match="replaces standard tests"):
        kit(Exact, test_numbers_keep_their_type=None)
    with pytest.raises(TypeError, match="no tests"):
        kit(Exact, differences={"test_nothing": NEVER})
    some = [name for name in vars(StoreConformance) if name.startswith("test_")][:3]
    with pytest.raises(TypeError, match="more than 2"):
        kit(Exact, differences=dict.fromkeys(some, NEVER))
    for unreasoned in ("a reason", Capability("never"), Capability("layered", "a reason")):
        with pytest.raises(TypeError, match="expected a Capability never or not_yet, with a reason"):
            kit(Exact, differences={some[0]: unreasoned})


TestDeclaredDifference = kit(FoldsIds, differences={"test_unicode_strange_and_long_ids": NEVER})
"""Its one difference is expected to fail, strictly; all else passes."""


# --- as a third party runs it ----------------------------------------------------------------

MINE = """
import pytest
from memrot import exact
from memrot.memory import Capability
from memrot.testing import StoreConformance
import memrot.testing.conformance as conformance

class TestMine(StoreConformance):
    open_store = staticmethod(exact.open_store)
    {body}

{after}
"""


def as_tested(folder: Path, body: str = "pass", after: str = "") -> subprocess.CompletedProcess[str]:
    """Run pytest alone, in a folder without settings; only the quickest of the tests is run."""
    (folder / "test_mine.py").write_text(MINE.format(body=body, after=after))
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "hypothesis.py").write_text("raise ImportError('pytest only')\n")
    quick = ["-q", "-p", "no:cacheprovider", "-k", "unknown_option or empty_store"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *quick], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "memrot.plugin", "PYTHONPATH": "."},
    )  # fmt: skip


def test_a_suite_needs_pytest_only(tmp_path: Path) -> None:
    done = as_tested(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    ("body", "after", "said"),
    [
        ("pass", "del StoreConformance.test_numbers_keep_their_type", "lost standard tests: test_numbers_keep"),
        ("pass", "TestMine.test_numbers_keep_their_type = lambda self: None", "lost standard tests: test_numbers"),
        ("pytestmark = pytest.mark.xfail", "", "lets standard tests fail"),
        ("pytestmark = pytest.mark.skip('later')", "", "lets standard tests fail"),
        ("test_numbers_keep_their_type = None", "", "replaces standard tests"),
        ("differences = {'test_numbers_keep_their_type': Capability('never')}", "", "never or not_yet, with a reason"),
        ("differences = {'test_unknown_option_is_refused': Capability('never', 'it does')}", "", "[XPASS(strict)]"),
    ],
)  # fmt: skip
def test_a_suite_that_was_thinned_out_fails(tmp_path: Path, body: str, after: str, said: str) -> None:
    done = as_tested(tmp_path, body, after)
    assert done.returncode != 0
    assert said in done.stdout + done.stderr


# --- whole memories --------------------------------------------------------------------------


class File:
    """A right memory, so that each wrong one below is wrong in one way: words in common, in a file."""

    def __init__(self, place: Place, embedder: Embedder) -> None:
        self.info = Info(name="file", backend="file", version="1")
        self.path = place.folder / place.namespace
        place.folder.mkdir(parents=True, exist_ok=True)

    @property
    def texts(self) -> dict[str, str]:
        texts: dict[str, str] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return texts

    def learn(self, texts: dict[str, str]) -> None:
        self.path.write_text(json.dumps({**self.texts, **texts}))

    def apply(self, events: Sequence[ChangeEvent], at: int) -> None:
        self.learn({fact.id: fact.text for event in events if (fact := introduces(event))})

    def answer(self, questions: Sequence[Question], at: int) -> Sequence[Answer]:
        return [
            self.found(each) if each.mode == "current" else Answer(unsupported="keeps no times")
            for each in questions
        ]

    def found(self, question: Question) -> Answer:
        words = set(question.text.strip("?.").split())
        common = {fact: len(words & set(text.strip(".").split())) for fact, text in self.texts.items()}
        best = sorted(common, key=lambda fact: -common[fact])[: question.k]
        return Answer(tuple(Hit(fact, float(common[fact])) for fact in best))

    def peek(self, missed: Sequence[tuple[Question, str]], at: int) -> Sequence[PeekCause]:
        return ["outranked" if fact in self.texts else "never stored" for _, fact in missed]

    def drop(self) -> None:
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        pass


class EmbedsTooEarly(File):
    def __init__(self, place: Place, embedder: Embedder) -> None:
        super().__init__(place, embedder)
        embedder.embed(["warm"])


class ReturnsTooMany(File):
    def found(self, question: Question) -> Answer:
        return super().found(Question(question.text, k=question.k + 1))


class Repeats(File):
    def found(self, question: Question) -> Answer:
        return Answer(super().found(question).hits[:1] * 2)


class Invents(File):
    def found(self, question: Question) -> Answer:
        return Answer((Hit("invented", 1.0),))


class NamesNoCause(File):
    def peek(self, missed: Sequence[tuple[Question, str]], at: int) -> Sequence[PeekCause]:
        return []


class AnswersBackwards(File):
    def answer(self, questions: Sequence[Question], at: int) -> Sequence[Answer]:
        return [*super().answer(sorted(questions, key=lambda each: each.text), at)]


class AnswersThePast(File):
    def answer(self, questions: Sequence[Question], at: int) -> Sequence[Answer]:
        return [Answer(self.found(each).hits, unsupported="") for each in questions]


class LearnsFromQuestions(File):
    def found(self, question: Question) -> Answer:
        self.learn({f"q{len(self.texts)}": question.text})
        return super().found(question)


class Forgets(File):
    def drop(self) -> None:
        for path in self.path.parent.iterdir():
            path.write_text("{}")


class LeavesBehind(File):
    def drop(self) -> None:
        pass


class KeepsOpen(File):
    kept: ClassVar[list[Any]] = []

    def apply(self, events: Sequence[ChangeEvent], at: int) -> None:
        super().apply(events, at)
        self.kept.append(self.path.open())


class DiesOfARevision(File):
    def apply(self, events: Sequence[ChangeEvent], at: int) -> None:
        if any(isinstance(event, FactRevised) for event in events):
            raise KeyError("previous")
        super().apply(events, at)


WRONG_MEMORIES: dict[type[File], str] = {
    EmbedsTooEarly: "it_says_what_it_is",
    ReturnsTooMany: "at_most_k_come_back_and_none_twice",
    Repeats: "at_most_k_come_back_and_none_twice",
    Invents: "only_what_was_told_comes_back",
    NamesNoCause: "what_was_missed_has_a_cause_each",
    AnswersBackwards: "answers_come_in_the_order_of_the_questions",
    AnswersThePast: "a_mode_is_served_or_refused_with_a_reason",
    LearnsFromQuestions: "asking_changes_nothing",
    Forgets: "drop_removes_its_own_namespace_only",
    LeavesBehind: "drop_removes_its_own_namespace_only",
    KeepsOpen: "close_is_idempotent_and_releases_everything",
    DiesOfARevision: "a_life_of_all_events_is_answered_throughout",
}


def memory_kit(memory: type[File]) -> type[MemoryConformance]:
    def open_memory(place: Place, options: Mapping[str, str], embedder: Embedder) -> File:
        if options:
            raise BadInput("takes no options")
        return memory(place, embedder)

    return type("Kit", (MemoryConformance,), {"open_memory": staticmethod(open_memory)})


TestFile = memory_kit(File)


@pytest.mark.parametrize("wrong", WRONG_MEMORIES, ids=lambda wrong: wrong.__name__)
def test_each_wrong_memory_fails_the_test_that_is_about_it(wrong: type[File], tmp_path: Path) -> None:
    suite: Any = memory_kit(wrong)()
    test = getattr(suite, f"test_{WRONG_MEMORIES[wrong]}")
    place = Place("wrong", tmp_path, DIM, 300)
    with pytest.raises(AssertionError):
        test(place if "place" in inspect.signature(test).parameters else suite.open(place))
