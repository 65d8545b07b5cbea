"""A replay whose process is killed between two events, and finished by another, answers as if nothing had
happened: nothing is lost, comes back, or is there twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import Struct, structs

from memrot import layers, registry
from memrot.embed.hashing import Hashing
from memrot.evaluate import LifecycleEvaluator
from memrot.memory import Place, Record
from memrot.model import NEVER, Answer
from memrot.stack import LayeredMemory
from memrot.timeline import Timeline
from running import tiny

KILLED_AFTER = 14
"""Stages: what was added by then is partly replaced, and more of it will be."""

LAYERS = ("all", "overwrite")
"""One that patches records, and one that deletes them."""


class Damage(Struct, frozen=True):
    """What a kill did to a store's records."""

    lost: int = 0
    resurrected: int = 0
    """Deleted or ended before the kill, and live after it."""
    duplicated: int = 0


def opened(adapter: str, layer: str, folder: Path, exam: Timeline) -> LayeredMemory:
    place = Place(f"kill{layer}", folder / layer, Hashing.dim, len(exam.facts))
    open_store = registry.adapter(adapter)
    policies = layers.parse([layer], exam.header.exclusive)
    return LayeredMemory(lambda: open_store(place, {}), policies, Hashing())


def told(memory: LayeredMemory, exam: Timeline) -> None:
    """Tell a memory of what comes before the kill."""
    for stage in exam.stages[:KILLED_AFTER]:
        memory.apply(stage.announced(), stage.at)


def finished(memory: LayeredMemory, exam: Timeline) -> list[Sequence[Answer]]:
    """Tell a memory of the rest, and ask all questions at each stage."""
    asker = LifecycleEvaluator(exam, 3, 3, 1, peek=False)
    answers = []
    for stage in exam.stages[KILLED_AFTER:]:
        memory.apply(stage.announced(), stage.at)
        answers.append(memory.answer(list(asker.questions(stage).values()), stage.at))
    return answers


def be_killed(adapter: str, folder: Path) -> None:
    """In the child: stop in the midst, say what to kill, and wait for it."""
    exam = tiny()
    memories = [opened(adapter, layer, folder, exam) for layer in LAYERS]
    for memory in memories:
        told(memory, exam)
    servers = [memory._store.store._redis for memory in memories if adapter == "redis"]  # type: ignore[attr-defined]  # redis' own
    pids = [str(server.info("server")["process_id"]) for server in servers]
    sys.stdout.write(" ".join(["ready", *pids]) + "\n")
    sys.stdout.flush()
    signal.pause()


def damage(records: Sequence[Record], expected: Sequence[Record]) -> Damage:
    found, right = {each.id: each for each in records}, {each.id: each for each in expected}
    ended = {id_ for id_, each in right.items() if each.fields["ended_at"] != NEVER}
    revived = {id_ for id_ in ended & found.keys() if found[id_].fields["ended_at"] == NEVER}
    return Damage(
        lost=len(right.keys() - found.keys()),
        resurrected=len((found.keys() - right.keys()) | revived),
        duplicated=sum(count - 1 for count in Counter(each.id for each in records).values()),
    )


def records(memory: LayeredMemory) -> list[Record]:
    return list(memory._store.store.scan(vectors=True))


@pytest.mark.parametrize(
    "adapter", ["exact", "chroma", "qdrant", "redis", "mem0", "sqlite-vec", "lancedb", "faiss"]
)
def test_a_killed_replay_is_finished_as_if_nothing_had_happened(tmp_path: Path, adapter: str) -> None:
    code = f"import pathlib, test_durability; test_durability.be_killed({adapter!r}, pathlib.Path({str(tmp_path)!r}))"
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}
    )
    assert child.stdout is not None
    ready, *servers = child.stdout.readline().decode().split()
    assert ready == "ready"
    for pid in map(int, servers):
        os.kill(pid, signal.SIGKILL)
    child.kill()
    child.communicate()
    assert child.returncode == -signal.SIGKILL

    exam = tiny()
    for layer in LAYERS:
        unbroken = opened("exact", layer, tmp_path / "unbroken", exam)
        told(unbroken, exam)
        memory = opened(adapter, layer, tmp_path, exam)
        assert damage(records(memory), records(unbroken)) == Damage()
        rest, right = (finished(each, exam) for each in (memory, unbroken))
        assert [shown(answers) for answers in rest] == [shown(answers) for answers in right]
        assert any(answer.hits for answers in right for answer in answers)
        for each in (memory, unbroken):
            each.drop()
            each.close()


def shown(answers: Sequence[Answer]) -> list[list[tuple[str | None, float, str]]]:
    """Similarities to what two stores' arithmetic has in common."""
    return [[(hit.fact, round(hit.similarity, 4), hit.band) for hit in answer.hits] for answer in answers]


def test_damage_is_counted(tmp_path: Path) -> None:
    """The count is what it says, on a store that was damaged by hand."""
    exam = tiny()
    memory = opened("exact", "all", tmp_path, exam)
    told(memory, exam)
    right = records(memory)
    live = [each for each in right if each.fields["ended_at"] == NEVER]
    (ended, *_) = [each for each in right if each.fields["ended_at"] != NEVER]
    assert damage(right, right) == Damage()
    assert damage(right[1:], right) == Damage(lost=1)
    assert damage([*right, live[0]], right) == Damage(duplicated=1)
    assert damage([*right, structs.replace(live[0], id="deleted")], right) == Damage(resurrected=1)
    revived = structs.replace(ended, fields={**ended.fields, "ended_at": NEVER})
    assert damage([*(each for each in right if each.id != ended.id), revived], right) == Damage(resurrected=1)
