"""What Qdrant does to those who trust it, against the real thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memrot.errors import Unavailable
from memrot.memory import Clause, Place
from memrot.testing.comparing import check_hits
from memrot.testing.corpus import DIM, questions, record, records
from memrot_adapters import _qdrant_client, qdrant

PLACE = "namespace"


@pytest.mark.parametrize("options", [{}, {"memory": ""}])
def test_zero_and_one_are_filtered_as_numbers(tmp_path: Path, options: dict[str, str]) -> None:
    """The edge matches a boolean with nothing."""
    store = qdrant.open_store(Place(PLACE, tmp_path, DIM, 10), options)
    store.write([record(0, flag=0), record(1, flag=1), record(2, flag=1)], {}, [])
    asked = questions()[:1]
    for value, ids in ((0, {"f0"}), (1, {"f1", "f2"})):
        assert {name for name, _ in store.search(asked, [Clause("flag", "eq", value)], 5)[0]} == ids
    store.drop()


def test_recall_holds_while_90_percent_are_deleted_and_added_again(tmp_path: Path) -> None:
    """The edge's HNSW fell to a recall of .46; exact search is the default for that reason."""
    store = qdrant.open_store(Place(PLACE, tmp_path, DIM, 400), {})
    held = {each.id: each for each in records(400)}
    store.write(list(held.values()), {}, [])
    for _ in range(4):
        gone = [name for name in held if int(name[1:]) % 10]
        store.write([], {}, gone)
        store.write([held[name] for name in gone[: len(gone) // 2]], {}, [])
        left = [each for name, each in held.items() if name not in gone[len(gone) // 2 :]]
        for query, hits in zip(questions(), store.search(questions(), [], 20), strict=True):
            check_hits(hits, left, query, [], 20)
        store.write([held[name] for name in gone[len(gone) // 2 :]], {}, [])
    store.drop()


def test_fields_are_indexed_once_they_are_filtered_by(tmp_path: Path) -> None:
    place = Place(PLACE, tmp_path, DIM, 10)
    for _ in range(2):  # opened again, the index is there and is left alone
        store = qdrant.open_store(place, {})
        store.write([record(1, expires_at=4), record(2, expires_at=5)], {}, [])
        assert [name for name, _ in store.search(questions()[:1], [Clause("expires_at", "gt", 4)], 5)[0]] == [
            "f2"
        ]
        assert isinstance(store, qdrant.Edge)
        assert set(store._shard.info().payload_schema) == {"fields.expires_at"}
        store.close()


def test_url_path_is_marked_unverified_and_the_imitation_for_tests(tmp_path: Path) -> None:
    """No server can be had on the registries; the same class runs against the client's own imitation."""
    store = qdrant.open_store(Place(PLACE, tmp_path, DIM, 10), {"memory": ""})
    assert isinstance(store, _qdrant_client.Collection)
    assert (store.info.note, store.info.persists) == ("tests only", False)
    store.drop()


def test_server_that_does_not_answer_is_named_without_address_or_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(PLACE, tmp_path, DIM, 10)
    monkeypatch.delenv(_qdrant_client.URL, raising=False)
    with pytest.raises(Unavailable, match=_qdrant_client.URL):
        qdrant.open_store(place, {"server": ""})
    monkeypatch.setenv(_qdrant_client.API_KEY, "secret")
    for url in ("https://127.0.0.1:9", "no url 127.0.0.1"):
        monkeypatch.setenv(_qdrant_client.URL, url)
        with pytest.raises(Unavailable) as refused:
            qdrant.open_store(place, {"server": ""})
        assert "\n" not in str(refused.value)
        assert not any(word in str(refused.value) for word in ("secret", "127.0.0.1"))
