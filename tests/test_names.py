"""The grammar of stack names: canonical, and the same after a round trip."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrot.errors import BadInput
from memrot.names import ALL, StackName, parse

words = st.from_regex(r"[a-z0-9][a-z0-9_.-]{0,8}", fullmatch=True).filter(lambda word: word != "all")
values = st.text(string.ascii_letters + string.digits + "_.-", max_size=6)
options = st.dictionaries(words, values, max_size=3)


@st.composite
def stacks(draw: st.DrawFn) -> StackName:
    names = draw(st.lists(words | st.sampled_from(ALL), unique=True, max_size=5))
    layers = [str(StackName.of(name, (), draw(options))) for name in names]
    return StackName.of(draw(words), layers, draw(options))


@given(stacks())
def test_round_trip(stack: StackName) -> None:
    assert parse(str(stack)) == stack
    assert str(parse(str(stack))) == str(stack)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("chroma", "chroma"),
        ("chroma+overwrite", "chroma+overwrite"),
        ("qdrant+supersession+ttl[hard]", "qdrant+ttl[hard]+supersession"),
        ("qdrant+all", "qdrant+all"),
        ("qdrant+propagation+ttl+supersession", "qdrant+all"),
        ("redis[mode=plain]+all", "redis[mode=plain]+all"),
        ("qdrant[server]", "qdrant[server]"),
        ("x[b,a=1]+ttl[x0.5]", "x[a=1,b]+ttl[x0.5]"),
        ("redis/native", "redis/native"),
        ("redis/native[server]", "redis/native[server]"),
    ],
)
def test_one_stack_has_one_name(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


def test_all_is_three_layers() -> None:
    assert parse("exact+all").layers == ALL
    assert parse("exact+all").layer_set == "all"
    assert parse("exact").layer_set == "bare"
    assert parse("exact+ttl[hard]+supersession+propagation").layer_set == "ttl[hard]+supersession+propagation"
    assert parse("redis[mode=plain]+all").base == "redis[mode=plain]"


@pytest.mark.parametrize(
    "text",
    ["", "+", "a/", "/a", "a/b/c", "chroma+ttl/hard", "chroma+", "+all", "chroma[", "chroma[]", "chroma[a=]", "chroma[a,a]", "Chroma", "a b", "a+ttl+ttl[hard]",
     "a+all+ttl", "a[x]]", "a[b=c d]"],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)


@pytest.mark.parametrize(
    "text", ["qdrant[server=http://host:6333]", "redis[url=user@host]", "qdrant[server=host:6333]"]
)
def test_an_address_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(BadInput, match="MEMROT_QDRANT_URL") as caught:
        parse(text)
    assert "host" not in str(caught.value)


@given(st.text())
def test_garbage_is_bad_input(text: str) -> None:
    try:
        parsed = parse(text)
    except BadInput:
        return
    assert parse(str(parsed)) == parsed
