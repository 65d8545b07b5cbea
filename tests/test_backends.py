"""The page of backends says what the adapters say, and a link stands where a product says so itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from memrot import registry
from memrot.leaderboard.backends import Row, page
from memrot.leaderboard.tables import capabilities, table
from memrot.memory import Capability, Info
from running import inside

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "backends.md"
NOT_HERE = "- Not opened for this page: "


def sections(text: str) -> dict[str, str]:
    """Family -> its section; what stands before the first is under the empty name."""
    first, *parts = text.split("\n## ")
    return {"": first} | {name: text for name, _, text in (part.partition("\n") for part in parts)}


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    done = inside("adapters", "--markdown")
    assert done.returncode == 0, done.stderr
    return sections(done.stdout)


def test_the_published_page_is_what_the_command_prints(printed: Mapping[str, str]) -> None:
    """But for what only one of the two machines could open."""
    published = sections(PAGE.read_text())
    stale = "run: memrot adapters --markdown > docs/backends.md"
    assert list(printed) == list(published), stale
    here = {name: text.count(NOT_HERE) for name, text in printed.items()}
    differing = {name for name, text in published.items() if text.count(NOT_HERE) != here[name]}
    for name in published.keys() - differing - {""}:
        assert printed[name] == published[name], stale
    assert overview(printed[""], differing) == overview(published[""], differing), stale
    if differing:
        pytest.skip(f"all but what cannot be opened alike: {', '.join(sorted(differing))}")


def overview(text: str, but_for: set[str]) -> list[str]:
    """Its lines, without the rows of some families, and without the widths that these rows may have set."""
    rows = [line for line in text.splitlines() if not any(f"](#{family})" in line for family in but_for)]
    return [re.sub(r"[ -]+", " ", line) for line in rows]


def test_a_section_says_what_its_adapters_do(printed: Mapping[str, str]) -> None:
    for name in registry.examinees():
        section = printed[registry.family(name)]
        assert f"### `{name}`" in section
        first = registry.described(name).partition("\n\n")[0]
        assert " ".join(first.replace("``", "`").split()) in section, "its own words"
    assert "`redis[mode=ft|vset|plain]`" in printed["redis"]
    assert "`MEMROT_REDIS_URL`" in printed["redis"]
    assert "pip install 'memrot[redis]'" in printed["redis"]
    assert re.search(r"expiry +\| layered +\| \[native\]\(https://\S+\): PEXPIREAT", printed["redis"])
    assert "clock `moved`" in printed["redis"]
    assert "scripted" in printed["mem0"], "what needs a language model is opened with the scripted one"


def test_every_variable_and_no_address_is_on_the_page(printed: Mapping[str, str]) -> None:
    """Those that no section's own module names would be missed by whoever looks there."""
    text = "\n".join(printed.values())
    sources = "\n".join(path.read_text() for path in (ROOT / "adapters" / "memrot_adapters").glob("*.py"))
    named = set(re.findall(r'^\w+ = "(MEMROT_[A-Z0-9_]+)"$', sources, re.MULTILINE))
    assert {"MEMROT_REDIS_URL", "MEMROT_LLM_URL"} <= named
    assert {name for name in named if f"`{name}`" not in text} == set()
    assert "127.0.0.1" not in text


def test_the_page_is_of_no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody's own servers are left alone, and are named again afterwards."""
    monkeypatch.setenv("MEMROT_FAISS_URL", "somebody")
    monkeypatch.setattr(registry, "examinees", lambda: {"faiss": registry.find("adapters", "faiss")})
    text = inside("adapters", "--markdown").stdout
    assert "## faiss" in text
    assert "somebody" not in text
    assert os.environ["MEMROT_FAISS_URL"] == "somebody"
    assert "MEMROT_LLM_URL" not in os.environ


def a_row(name: str, info: Info | str, **more: Capability) -> Row:
    return Row(
        name=name, memory=True, family=name.partition("/")[0], words=f"{name}: ``words``.\n\n    code",
        install="pip install 'acme' (acme>=1)", info=info, options={"mode": ("a", "b"), "server": ("",)},
        variables=("MEMROT_ACME_URL",), capabilities=more,
        differences={"test_it_persists": Capability("never", "a dict")},
    )  # fmt: skip


def test_a_page_of_rows() -> None:
    opened = Info(
        name="acme/native", backend="Acme", version="9.9", note="a | b", persists=False, embeds=True
    )
    linked = Capability("native", "by a | b", "https://acme.example/ttl")
    text = page([a_row("acme/native", opened, expiry=linked), a_row("acme/old", "gone", cascade=linked)])
    assert "9.9" not in text, "versions are of a machine"
    assert "Install: `pip install 'acme'` (acme>=1)." in text
    assert "acme/native: `words`.\n\n    code" in text
    assert "Options: `acme/native[mode=a|b]`, `acme/native[server]`." in text
    assert "It embeds by itself." in text
    assert "What it holds ends with its process." in text
    assert f"{NOT_HERE}gone" in text
    assert "Known not to keep: it persists (never: a dict)." in text
    assert "[native](https://acme.example/ttl): by a \\| b" in text


# --- links on a leaderboard ------------------------------------------------------------------


def test_a_word_leads_to_where_the_product_says_so_and_a_terminal_stays_plain() -> None:
    declared = {"acme": {"expiry": Capability("never", "no TTL", "https://acme.example/17")}}
    markdown, plain = capabilities(declared, "markdown"), capabilities(declared, "table")
    assert "| [never](https://acme.example/17) " in markdown
    assert "acme.example" not in plain
    assert "acme: expiry never (no TTL)." in " ".join(plain.split())


def test_what_an_adapter_says_stays_in_its_cell() -> None:
    assert "| Acme Mem \\| ory |" in table([["x", "Acme\nMem | ory"]], ["", ""], "markdown", numbers=False)
    assert "Acme Mem | ory" in table([["x", "Acme\nMem | ory"]], ["", ""], "table", numbers=False)


def test_links_are_whole_addresses() -> None:
    linked = {
        (name, what): each.link
        for name in registry.examinees()
        for what, each in registry.capabilities(name).items()
        if each.link
    }
    assert len(linked) > 10
    assert {
        where: link for where, link in linked.items() if not re.fullmatch(r"https://[\w.-]+/\S+", link)
    } == {}
