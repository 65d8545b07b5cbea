"""What Graphiti does to those who trust it, against the real thing: over Kuzu, and over FalkorDB."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from redis.exceptions import ResponseError

from faults.servers import Falkor, Redis
from graphs import FALKORDB, falkordb, kuzu
from memrot.errors import Unavailable
from memrot.memory import Place, Record
from memrot.model import moment
from memrot.testing.corpus import DIM, questions, record, records, vector
from memrot_adapters import _graphiti, graphiti
from memrot_adapters._graphiti import Graph, instant_read
from memrot_adapters._graphiti_drivers import URL

START = 1_767_603_600_001
"""2026-01-05T09:00:00.001Z"""
PLACE = "namespace"

_OPENER = """
import pathlib, socket, sys
def refuse(*_, **__):
    raise AssertionError("the network is tried")
socket.getaddrinfo = socket.socket.connect = socket.socket.connect_ex = refuse
from memrot.memory import Place
from memrot.model import moment
from memrot.testing.corpus import DIM, questions, records
from memrot_adapters import graphiti
store = graphiti.open_store(Place("namespace", pathlib.Path(sys.argv[1]), DIM, 9), {})
store.write(records(9), {}, [])
print(len(store.search(questions()[:1], [], 5)[0]))
store.drop()
import os
from graphiti_core.telemetry.telemetry import is_telemetry_enabled
print(is_telemetry_enabled(), os.environ.get("TRAP"), "posthog" in sys.modules)
"""


@pytest.fixture
def graph(database: Mapping[str, str], tmp_path: Path) -> Iterator[Graph]:
    graph = _graphiti.opened("graphiti", Place(PLACE, tmp_path, DIM, 9), database)
    yield graph
    graph.drop()
    assert list(tmp_path.iterdir()) == []


def edge(graph: Graph, id_: str, **fields: Any) -> tuple[Any, list[Any]]:
    ends = (graph.node("subject", 0), graph.node("value", 0))
    return graph.edge(id_, id_, vector(id_), ends, **{"name": "X", "created_at": moment(0), **fields}), [
        *ends
    ]


def saved(graph: Graph, *edges: tuple[Any, list[Any]]) -> None:
    for one, ends in edges:
        graph.run(graph.save([one], ends))


def test_nothing_is_reported_and_no_environment_is_read_from_above(tmp_path: Path) -> None:
    """It reports how it is used unless told otherwise, and loads the nearest ``.env``; not under pytest."""
    (tmp_path / ".env").write_text("TRAP=sprung\n")
    home = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("GRAPHITI_TELEMETRY_ENABLED", "PYTHON_DOTENV_DISABLED"):
        home.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", _OPENER, str(tmp_path / "cell")],
        capture_output=True, text=True, check=True, env=home, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.split() == ["5", "False", "None", "False"]
    assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir() if path.name not in (".env", "cell")] == []


def test_an_edge_that_is_read_and_saved_again_loses_its_vector(graph: Graph) -> None:
    saved(graph, edge(graph, "e1"), edge(graph, "e2"))
    (bare,) = graph.run(graph.held(["e1"]))
    (whole,) = graph.run(graph.held(["e2"], vectors=True))
    assert bare.fact_embedding is None
    graph.run(bare.save(graph._driver))
    graph.run(whole.save(graph._driver))
    left = {each.fact: each.fact_embedding for each in graph.run(graph.all(vectors=True))}
    assert not left["e1"]
    np.testing.assert_allclose(left["e2"], vector("e2"), atol=1e-6)


def test_weak_hits_are_hidden_by_default(graph: Graph) -> None:
    saved(graph, edge(graph, "e1"))
    far = -vector("e1")
    (((_, near),),) = graph.run(graph.nearest([(far, 3, None)]))
    assert near == pytest.approx(-1, abs=1e-5)
    graph._by_cosine = graph._by_cosine.model_copy(update={"sim_min_score": 0.6})
    assert graph.run(graph.nearest([(far, 3, None)])) == [[]]


def test_a_filter_on_attributes_does_nothing(graph: Graph) -> None:
    """Why the store declares that it filters nothing."""
    saved(graph, edge(graph, "e1", attributes={"tenant": 1}), edge(graph, "e2", attributes={"tenant": 2}))
    filters = graph.filters
    first = filters.PropertyFilter(
        property_name="tenant", property_value=1, comparison_operator=filters.ComparisonOperator.equals
    )
    where = filters.SearchFilters(property_filters=[first])
    assert len(graph.run(graph.nearest([(vector("e1"), 3, where)]))[0]) == 2


def test_two_alternatives_with_dates_share_the_second_date(graph: Graph) -> None:
    """Why the filter by what is valid has a date in one alternative only."""
    saved(graph, *(edge(graph, f"e{day}", valid_at=moment(day * 86_400_000)) for day in range(1, 6)))
    by, op = graph.filters.DateFilter, graph.filters.ComparisonOperator
    ends = graph.filters.SearchFilters(
        valid_at=[
            [by(date=moment(86_400_000), comparison_operator=op.less_than_equal)],
            [by(date=moment(5 * 86_400_000), comparison_operator=op.greater_than_equal)],
        ]
    )
    (found,) = graph.run(graph.nearest([(vector("e1"), 9, ends)]))
    assert {each.fact for each, _ in found} == {"e1", "e2", "e3", "e4", "e5"}, (
        "the first and the last day were asked for"
    )


def test_instants_are_kept_to_the_millisecond_and_lose_their_zone_in_kuzu(graph: Graph) -> None:
    instants = [START, START + 1, 0, 253_402_300_799_000]
    saved(graph, *(edge(graph, f"e{at}", valid_at=moment(at)) for at in instants))
    held = graph.run(graph.all())
    assert {each.valid_at.tzinfo for each in held} == {UTC if graph.info("").deployment == "server" else None}
    assert sorted(instant_read(each.valid_at) for each in held) == sorted(instants)


@kuzu
def test_hybrid_search_needs_an_index_that_its_driver_for_kuzu_does_not_make(graph: Graph) -> None:
    """So searches are by cosine alone; https://github.com/getzep/graphiti/issues/1258 is about it."""
    from graphiti_core.search.search_utils import edge_fulltext_search

    saved(graph, edge(graph, "e1"))
    graph.run(graph._driver.build_indices_and_constraints())
    with pytest.raises(RuntimeError, match="edge_name_and_fact"):
        graph.run(edge_fulltext_search(graph._driver, "e1", graph.filters.SearchFilters(), [PLACE], 3))


@kuzu
def test_a_write_that_fails_leaves_nothing(graph: Graph) -> None:
    saved(graph, edge(graph, "e1"))

    async def half() -> None:
        await graph.save([edge(graph, "e2")[0]])
        await graph._driver.execute_query("MATCH (n:Nonsense) RETURN n")

    with pytest.raises(RuntimeError, match="Nonsense"):
        graph.write(half())
    assert [each.fact for each in graph.run(graph.all())] == ["e1"]
    saved(graph, edge(graph, "e3"))
    assert {each.fact for each in graph.run(graph.all())} == {"e1", "e3"}


def test_many_records_between_two_nodes_are_told_apart(tmp_path: Path) -> None:
    store = graphiti.open_store(Place(PLACE, tmp_path, DIM, 9), {})
    store.write(records(5), {}, [])
    store.write([Record("f5", record(0).text, record(0).vector, {})], {"f1": {"tenant": 7}}, ["f2"])
    assert {each.id: each.fields.get("tenant") for each in store.scan()} == {
        "f0": 0, "f1": 7, "f3": 1, "f4": 0, "f5": None,
    }  # fmt: skip
    assert len(store.search(questions()[:1], [], 9)[0]) == 5
    store.drop()


@falkordb
def test_falkordb_keeps_each_save_on_its_own(graph: Graph) -> None:
    async def half() -> None:
        one, ends = edge(graph, "e1")
        await graph.save([one], ends)
        await graph._driver.execute_query("nonsense")

    with pytest.raises(ResponseError):
        graph.write(half())
    assert [each.fact for each in graph.run(graph.all())] == ["e1"]


@falkordb
def test_vectors_come_back_from_falkordb_to_the_bit_and_texts_without_their_nul(graph: Graph) -> None:
    strange = "'q\"u\\o`te$ e\u0301 \U0001f600\u2028\n"
    saved(graph, edge(graph, strange, attributes={"told": strange, "number": 2**63 - 1}), edge(graph, "a\0b"))
    held = {each.fact: each for each in graph.run(graph.all(vectors=True))}
    assert set(held) == {strange, "ab"}
    assert held[strange].attributes == {"told": strange, "number": 2**63 - 1}
    assert np.array_equal(np.array(held[strange].fact_embedding, np.float32), vector(strange))


def test_a_graph_of_falkordb_goes_with_all_that_is_noted_of_it(falkordb: Falkor, tmp_path: Path) -> None:
    theirs = falkordb.held()
    store = graphiti.open_store(Place(PLACE, tmp_path, DIM, 9), FALKORDB)
    store.write(records(5), {}, ["f0"])
    with falkordb.connection() as redis:
        deadline = time.monotonic() + 10
        while not redis.exists(noted := f"telemetry{{{PLACE}}}"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert records(1)[0].text in repr(redis.xrange(noted)), "also what was deleted"
    assert falkordb.held().keys() - theirs.keys() == {PLACE, noted, f"edges of {PLACE}"}
    store.drop()
    assert falkordb.held() == theirs


@pytest.mark.parametrize("url", ["sEcret", "http://me:sEcret@127.0.0.1:1", "redis://me:sEcret@127.0.0.1:1"])
def test_the_scheme_says_which_server_there_is(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, url)
    with pytest.raises(Unavailable, match=f"{URL}: expected .*falkor, falkors, neo4j") as refused:
        graphiti.open_store(Place(PLACE, tmp_path, DIM, 9), FALKORDB)
    assert "sEcret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["bolt", "falkor", "falkors"])
def test_a_server_that_does_not_answer_is_unavailable_and_its_address_stays_secret(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No more than this is tried of Neo4j, of which no server can be had here."""
    place = Place(PLACE, tmp_path, DIM, 9)
    monkeypatch.delenv(URL, raising=False)
    with pytest.raises(Unavailable, match=URL):
        graphiti.open_store(place, FALKORDB)
    for url in (f"{scheme}://me:sEcret@127.0.0.1:1", f"{scheme}://me:sEcret@127.0.0.1:sEcret"):
        monkeypatch.setenv(URL, url)
        began = time.monotonic()
        with pytest.raises(Unavailable) as refused:
            graphiti.open_store(place, FALKORDB)
        assert time.monotonic() - began < 2
        assert URL in str(refused.value)
        assert "sEcret" not in str(refused.value) + "".join(capfd.readouterr())
    assert list(tmp_path.iterdir()) == []


def test_a_redis_without_falkordb_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Redis(tmp_path)
    monkeypatch.setenv(URL, server.url(server.port).replace("redis", "falkor", 1))
    held = server.held()
    with pytest.raises(Unavailable, match=f"the FalkorDB server at {URL} gives ResponseError"):
        graphiti.open_store(Place(PLACE, tmp_path, DIM, 9), FALKORDB)
    assert server.held() == held
    server.kill()


@kuzu
def test_what_is_equally_near_comes_in_one_order(graph: Graph) -> None:
    """With several threads a search of Kuzu's ended in an order of chance."""
    same, ends = vector("same"), (graph.node("subject", 0), graph.node("value", 0))
    ids = [f"e{number}" for number in range(60)]
    edges = [graph.edge(id_, id_, same, ends, name="X", created_at=moment(0)) for id_ in ids]
    graph.run(graph.save(edges, ends))
    found = graph.run(graph.nearest([(same, 5, None)] * 100))
    assert len({tuple(each.fact for each, _ in hits) for hits in found}) == 1
