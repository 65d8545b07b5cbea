"""A wrong mapping is one line that says where; templates and paths do what docs/mcp.md says of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memrot.errors import BadInput
from memrot.memory import Capability
from memrot.redact import redacted
from memrot_adapters import mcp
from memrot_adapters._mcp_mapping import FOLDER, capabilities, load, read, variables
from memrot_adapters._mcp_template import PATH, filled, found, placeholders

PAGE = (Path(__file__).parent.parent.parent / "docs" / "mcp.md").read_text()
ACME, ACME_HTTP = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
HTTP = re.sub(r"\[stdio\].*?\n\n", ACME_HTTP + "\n", ACME, flags=re.DOTALL)
BARE = """
product = "Bare"
[stdio]
command = ["bare", "{folder}"]
[[add]]
tool = "remember"
[search]
tool = "recall"
"""

WRONG = [
    ("", "", "x = [1,", r"a.toml:\d+: expected TOML: .*"),
    ('product = "Acme Memory"', "", "", "a.toml: top level: Object missing required field `product`"),
    ('product = "Acme Memory"', 'product = ""', "", "a.toml: product: Expected `str` of length >= 1"),
    ('product = "Acme Memory"', "product = 3", "", "a.toml: product: Expected `str`, got `int`"),
    ("[search]", "[serach]", "", "a.toml: top level: .*`(serach|search)`"),
    ('tool = "recall"', 'tol = "recall"', "", "a.toml: search: .*`tol`"),
    ('tool = "change"', "tool = 1", "", r"a.toml: update\[0\]\.tool: Expected `str`, got `int`"),
    ('"{text}", user', '"{tekst}", user', "", r"a.toml: add\[0\]\.arguments: unknown placeholder \{tekst\}: expected one of domain, fact, key, .*"),
    ('"{text}", user', '"{text!r}", user', "", r"a.toml: add\[0\]\.arguments: expected a word in braces, in '\{text!r\}'"),
    ('"{text}", user', '"{text", user', "", r"a.toml: add\[0\]\.arguments: .*a brace that is no placeholder's is doubled"),
    ('"{text}", user', '"{text.__class__}", user', "", r"a.toml: add\[0\]\.arguments: expected a word in braces.*"),
    ('"{text}", user', '"{id}", user', "", r"a.toml: add\[0\]\.arguments: unknown placeholder \{id\}.*"),
    ('returns = "memory.id"', "", "", r"a.toml: update\[0\]\.arguments: an id is known where a call of add returns or gives it, and none does"),
    ('returns = "memory.id"', 'returns = "memory.id"\ngives = "{key}"', "", r"a.toml: add\[0\]: expected returns or gives, got both"),
    ('returns = "memory.id"', 'returns = "memory..id"', "", r"a.toml: add\[0\]\.returns: expected a path such as .*"),
    ('text = "content"', 'text = "content[]"', "", r"a.toml: search\.text: expected one part of an item.*"),
    ("[[drop]]", '[http]\nurl = "{MEMROT_ACME_URL}"\n[[drop]]', "", "a.toml: stdio, http: expected one of the two"),
    ('command = ["acme-memory", "stdio", "{folder}/memories.json"]', "", "", "a.toml: stdio: expected command or npm"),
    ('"{folder}/memories.json"]', '"{home}"]', "", r"a.toml: stdio\.command: unknown placeholder \{home\}: expected one of folder, namespace"),
    ('"{folder}/memories.json"]', '"{folder}/memories.json", "{MEMROT_ACME_KEY}"]', "", r"a.toml: stdio\.command: unknown placeholder \{MEMROT_ACME_KEY\}: expected one of folder, namespace"),
    ('"{folder}/memories.json"]', '"x"]\nenvironment = { KEY = "{ACME_KEY}" }', "", r"a.toml: stdio\.environment: unknown placeholder \{ACME_KEY\}: expected one of folder, namespace, MEMROT.*_PASSWORD"),
    ("", "", '[capabilities]\ncascade = { how = "never" }', "a.toml: capabilities.cascade.why: expected the reason"),
    ("", "", '[capabilities]\ncascade = { how = "perhaps" }', "a.toml: capabilities.*: Invalid enum value 'perhaps'"),
]  # fmt: skip

WRONG_HTTP = [
    ("{MEMROT_ACME_URL}", "http://acme.example", "a.toml: http.url: expected the variable that holds it.*"),
    ("{MEMROT_ACME_URL}", "{MEMROT_ACME_KEY}", "a.toml: http.url: expected the variable that holds it.*"),
    ("Bearer {MEMROT_ACME_TOKEN}", "Bearer x", "a.toml: http.headers.Authorization: expected a variable.*"),
    ("Bearer {MEMROT_ACME_TOKEN}", "{folder}", r"a.toml: http.headers: unknown placeholder \{folder\}.*"),
    (', user = "{namespace}"', "", r"a.toml: add, search: expected \{namespace\} among the arguments.*"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "more", "said"), WRONG)
def test_a_wrong_mapping_is_one_line(old: str, new: str, more: str, said: str) -> None:
    assert old in ACME
    with pytest.raises(BadInput) as wrong:
        read((ACME.replace(old, new, 1) + more).encode(), "a.toml")
    assert re.fullmatch(said, str(wrong.value)), str(wrong.value)


@pytest.mark.parametrize(("old", "new", "said"), WRONG_HTTP)
def test_a_wrong_address_or_header_is_one_line(old: str, new: str, said: str) -> None:
    assert old in HTTP
    with pytest.raises(BadInput) as wrong:
        read(HTTP.replace(old, new).encode(), "a.toml")
    assert re.fullmatch(said, str(wrong.value)), str(wrong.value)


def test_what_cells_would_share_is_refused_unless_it_is_forgotten_anyway() -> None:
    shared = BARE.replace(', "{folder}"', "")
    with pytest.raises(BadInput, match=r"cells would share memories"):
        read(shared.encode(), "a.toml")
    assert read(("persists = false\n" + shared).encode(), "a.toml").in_folder


def test_a_name_that_is_none_lists_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(BadInput, match=f"memrot ships server-memory, your own are in the folder {FOLDER}"):
        load("acme")
    monkeypatch.setenv(FOLDER, str(tmp_path))
    (tmp_path / "acme.toml").write_text(ACME)
    assert load("acme").product == "Acme Memory"
    (tmp_path / "server-memory.toml").write_text(ACME)
    with pytest.raises(BadInput, match=r"server-memory.toml: memrot ships a mapping of this name"):
        load("server-memory")


def test_secrets_are_variables_that_results_are_kept_clean_of(monkeypatch: pytest.MonkeyPatch) -> None:
    named = variables(read(HTTP.encode(), "a.toml"))
    assert named == ["MEMROT_ACME_TOKEN", "MEMROT_ACME_URL"]
    for name in named:
        monkeypatch.setenv(name, f"hidden-{name}")
        assert "hidden" not in redacted(f"no answer, hidden-{name} said")


def test_what_follows_from_the_tools_is_declared() -> None:
    bare, acme = read(BARE.encode(), "a.toml"), read(ACME.encode(), "a.toml")
    assert capabilities(bare)["overwrite"].how == capabilities(bare)["invalidate"].how == "not_yet"
    assert capabilities(acme)["overwrite"] == Capability("native", "by change")
    without = read(re.sub(r"\[\[update\]\].*?\n\n", "", ACME, flags=re.DOTALL).encode(), "a.toml")
    assert capabilities(without)["overwrite"] == Capability("emulated", "forget, then remember")
    assert mcp.CAPABILITIES["overwrite"].how == "emulated"


@pytest.mark.parametrize(
    ("template", "becomes"),
    [
        ("{k}", 5), ("top {k}", "top 5"), ({"a": ["{text}", 3, None]}, {"a": ["x {y}", 3, None]}),
        ("{{k}}", "{k}"), ("", ""), (True, True),
    ],
)  # fmt: skip
def test_a_template_is_filled_in(template: Any, becomes: Any) -> None:
    assert filled(template, {"k": 5, "text": "x {y}"}) == becomes


def test_placeholders_are_found_wherever_they_stand() -> None:
    assert placeholders({"a": ["{b} {c}", {"d": "{e}"}], "{f}": 1}) == {"b", "c", "e"}


@pytest.mark.parametrize(
    ("reply", "path", "parts"),
    [
        ({"a": {"b": 1}}, "a.b", [1]),
        ({"a": [{"b": [1, 2]}, {"b": []}, {"b": [3]}]}, "a[].b[]", [1, 2, 3]),
        ([1, 2], "[]", [1, 2]),
        ([{"id": 1}], "[].id", [1]),
        ({"a": None}, "a[]", []),
    ],
)
def test_a_path_leads_to_what_it_names(reply: Any, path: str, parts: list[Any]) -> None:
    assert PATH.fullmatch(path)
    assert found(reply, path) == parts


@pytest.mark.parametrize(
    ("reply", "path", "said"),
    [
        ({"b": 1}, "a.b", "expected 'a', got an object with b"),
        ({"a": "x"}, "a[]", r"expected a list at \[\], got a text"),
        ("free text", "a", "expected 'a', got a text"),
        ({"a": [{}]}, "a[].id", "expected 'id', got an object with nothing in it"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_stopped(reply: Any, path: str, said: str) -> None:
    with pytest.raises(LookupError, match=f"^{said}$"):
        found(reply, path)
