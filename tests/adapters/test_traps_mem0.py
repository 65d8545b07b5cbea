"""What mem0 does to those who trust it, against the real thing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memrot.errors import BadInput
from memrot.memory import Clause, Op, Place, Query, Record
from memrot.testing.corpus import DIM, questions, record, records, vector
from memrot_adapters import mem0


def place(folder: Path) -> Place:
    return Place("namespace", folder, DIM, 100)


_ALONE = """
import json, pathlib, socket, sys
tried = []
def refuse(self, address):
    tried.append(repr(address))
    raise OSError("no network here")
socket.socket.connect = socket.socket.connect_ex = refuse
def nowhere(host, *rest, **more):
    tried.append(repr(host))
    raise socket.gaierror("no network here")
socket.getaddrinfo = nowhere
from memrot.memory import Place, Query, Record
from memrot_adapters import mem0
import numpy as np
store = mem0.open_store(Place("namespace", pathlib.Path(sys.argv[1]), 2, 10), {})
record = Record("f1", "Ada owns billing since last week.", np.array([1, 0], np.float32), {"tenant": 1})
store.write([record], {}, [])
store.write([], {"f1": {"tenant": 2}}, [])
found = store.search([Query("Who owns billing today?", record.vector)] * 3, [], 60)
store.write([], {}, ["f1"])
store.close()
print(json.dumps({"tried": tried, "found": found[0]}))
"""


def test_no_use_of_the_network_and_of_the_users_home(tmp_path: Path) -> None:
    """It fetches notices at its first start, reports on itself, and keeps a folder in the home."""
    home = tmp_path / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MEM0", "HF_"))}
    done = subprocess.run(
        [sys.executable, "-c", _ALONE, str(tmp_path / "cell")],
        env={**environment, "HOME": str(home)}, capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"tried": [], "found": [["f1", 1.0]]}
    assert list(home.iterdir()) == []
    assert done.stderr == b""


def test_weak_and_negative_hits_and_more_than_twenty_are_found(tmp_path: Path) -> None:
    """Its default threshold hides similarities below .1, the least it accepts all below 0; 20 is its k."""
    store = mem0.open_store(place(tmp_path), {})
    base = vector("base")
    other = vector("something else entirely")
    other = other - base * (other @ base)
    other /= np.linalg.norm(other)
    cosines = [0.9, 0.05, 0.0, -0.05, -0.9, *np.linspace(0.2, 0.8, 35).tolist()]
    put = [Record(f"f{n}", f"{n}", base * np.float32(c) + other * np.float32(np.sqrt(1 - c * c)), {"n": n})
           for n, c in enumerate(cosines)]  # fmt: skip
    store.write(put, {}, [])
    found = store.search([Query("base", base)], [], 40)[0]
    assert [near for _, near in found] == pytest.approx(sorted(cosines, reverse=True), abs=1e-5)
    store.drop()


def test_restated_text_is_stored_again(tmp_path: Path) -> None:
    """With inference, Paris, Berlin, Paris left Berlin as the newest."""
    store = mem0.open_store(place(tmp_path), {})
    for number, city in enumerate(("Paris", "Berlin", "Paris")):
        text = f"Ada lives in {city}."
        store.write([Record(f"f{number}", text, vector(text), {"number": number})], {}, [])
    hits = store.search([Query("q", vector("Ada lives in Paris."))], [Clause("number", "gt", 0)], 5)[0]
    assert [name for name, _ in hits] == ["f2", "f1"]
    store.drop()


@pytest.mark.parametrize(
    ("conditions", "numbers"),
    [
        ("gt 3, gt 1", {4, 5}), ("gt 1, gt 3", {4, 5}), ("le 1, le 4", {0, 1}), ("le 4, le 1", {0, 1}),
        ("gt 1, le 3", {2, 3}), ("eq 3, gt 1", {3}), ("gt 2, eq 3, le 3", {3}), ("eq 3, gt 3", set()),
        ("eq 3, eq 4", set()),
    ],
)  # fmt: skip
def test_conditions_on_one_field_are_joined(tmp_path: Path, conditions: str, numbers: set[int]) -> None:
    """Of two equal operators on a field it would keep the last, and it refuses a range with an ``eq``."""
    store = mem0.open_store(place(tmp_path), {})
    store.write([record(n, tenant=n) for n in range(6)], {}, [])
    ops: dict[str, Op] = {"gt": "gt", "le": "le", "eq": "eq"}
    where = [Clause("tenant", ops[each.split()[0]], int(each.split()[1])) for each in conditions.split(", ")]
    assert {name for name, _ in store.search(questions()[:1], where, 10)[0]} == {f"f{n}" for n in numbers}
    store.drop()


def test_patch_embeds_nothing(tmp_path: Path) -> None:
    """Its own metadata-only update embeds the text again; the stand-in would hand it a wrong vector."""
    store = mem0.open_store(place(tmp_path), {})
    store.write(records(3), {}, [])
    store._ours.vector = []
    store.write([], {"f0": {"tenant": 5}}, ["f1"])
    kept = store.get(["f0"])[0]
    np.testing.assert_allclose(kept.vector, record(0).vector, atol=1e-5)
    assert kept.fields["tenant"] == 5
    store.drop()


def test_folder_can_be_opened_again_in_the_same_process(tmp_path: Path) -> None:
    """``Memory.close()`` keeps its store's lock; and what it imported once has no folder any more."""
    for number in range(3):
        store = mem0.open_store(place(tmp_path / "one"), {})
        store.write([record(number)], {}, [])
        assert len(list(store.scan())) == number + 1
        store.close()
    store.drop()
    other = mem0.open_store(place(tmp_path / "two"), {})
    other.write(records(2), {}, [])
    assert len(other.search(questions()[:1], [], 60)[0]) == 2
    other.drop()


def test_row_says_how_it_was_run(tmp_path: Path) -> None:
    store = mem0.open_store(place(tmp_path), {})
    assert (store.info.note, store.info.embeds) == ("infer=False", False)
    store.drop()
    with pytest.raises(BadInput):
        mem0.open_store(place(tmp_path), {"infer": "true"})
