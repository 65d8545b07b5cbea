"""Embedders give unit rows whose bits depend on nothing but the text; the cache gives them back."""

from __future__ import annotations

import hashlib
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memrot.embed import minilm
from memrot.embed.base import GRID, Embedder
from memrot.embed.cache import Cache, Recalled, default_path
from memrot.embed.hashing import Hashing
from memrot.embed.minilm import MiniLM, MiniLML3
from memrot.errors import BadInput, Unavailable

FACTS = [
    "Priya owns the billing service.",
    "Omar owns the search service.",
    "The billing service stores its data in PostgreSQL.",
    "Lena leads the platform team.",
    "Checkout runs in eu-west-1.",
    "Die Prüfung ist für Zürich geplant: 東京, naïve café, 🚀.",
]
QUESTIONS = [
    "Who owns billing?",
    "Who is the owner of the search service?",
    "Where does the billing service store its data?",
    "Who leads the platform team?",
    "Where does checkout run?",
]


@pytest.fixture(scope="module", params=[Hashing, MiniLM, MiniLML3], ids=["hashing", "minilm", "minilm-l3"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made: Embedder = request.param()
    return made


class Counting:
    """Hashing that remembers what it was asked to embed."""

    name, dim, lexical, fingerprint = "counting", Hashing.dim, True, "c" * 16

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return Hashing().embed(texts)


def test_rows_have_unit_length_and_lie_on_the_grid(embedder: Embedder) -> None:
    vectors = embedder.embed([*FACTS, "", " ", "\x00", "word " * 2000])
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(FACTS) + 4, embedder.dim)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(vectors * GRID, np.rint(vectors * GRID))


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_the_batch_moves_no_bit(embedder: Embedder) -> None:
    texts = FACTS * 7 + QUESTIONS * 5
    singly = np.vstack([embedder.embed([text]) for text in texts])
    assert np.array_equal(embedder.embed(texts), singly)
    assert np.array_equal(embedder.embed(texts[::-1])[::-1], singly)


def test_a_question_finds_its_fact(embedder: Embedder) -> None:
    similarity = embedder.embed(QUESTIONS) @ embedder.embed(FACTS).T
    assert similarity.argmax(axis=1).tolist() == list(range(len(QUESTIONS)))


def test_meaning_is_what_sets_minilm_apart_from_hashing() -> None:
    texts = [
        "The car is in the garage.",
        "An automobile stands where it is parked.",
        "The cat is in the garden.",
    ]

    def prefers_the_paraphrase(embedder: Embedder) -> bool:
        car, automobile, cat = embedder.embed(texts)
        return bool(car @ automobile > car @ cat)

    assert prefers_the_paraphrase(MiniLM())
    assert not prefers_the_paraphrase(Hashing())


@pytest.mark.parametrize(
    ("embedder_class", "fingerprint"),
    [(Hashing, "2a8b5d87b99aa7b6"), (MiniLM, "f52a4d99a4e4e248"), (MiniLML3, "df44cc67c1fd1330")],
)
def test_fingerprints_change_only_on_purpose(
    embedder_class: type[Hashing | MiniLM | MiniLML3], fingerprint: str
) -> None:
    assert embedder_class.fingerprint == fingerprint


def test_hashing_gives_the_same_bits_everywhere() -> None:
    """Whoever changes these numbers must change the version in the fingerprint."""
    vector = Hashing().embed(["Priya owns the billing service."])[0]
    numbers = " ".join(str(int(value)) for value in vector * GRID)
    assert hashlib.sha256(numbers.encode()).hexdigest()[:16] == "8f17ddc268f337a4"


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniLM, "package", ("no_such_module", "no-such-package"))
    with pytest.raises(Unavailable, match=r"pip install no-such-package$"):
        MiniLM()


def test_another_vocabulary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged = tmp_path / "vocab.txt"
    forged.write_bytes(minilm.VOCABULARY.read_bytes().replace(b"\nowner\n", b"\nOwner\n"))
    monkeypatch.setattr(minilm, "VOCABULARY", forged)
    with pytest.raises(BadInput, match=r"vocab\.txt: expected a file with SHA-256 07eced"):
        MiniLM().embed(["text"])
    monkeypatch.setattr(minilm, "VOCABULARY", tmp_path / "absent.txt")
    with pytest.raises(BadInput, match=r"absent\.txt: cannot be read"):
        MiniLM().embed(["text"])


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MiniLM, "weights", "0" * 64)
    with pytest.raises(BadInput, match=r"model\.onnx: expected a file with SHA-256 0000"):
        MiniLM().embed(["text"])


# --- the cache -------------------------------------------------------------------------------


def test_the_cache_gives_back_the_same_bits(tmp_path: Path, embedder: Embedder) -> None:
    with Cache(tmp_path / "new" / "folder" / "c.sqlite3") as cache:
        first = cache.embed(embedder, FACTS)
        again = cache.embed(embedder, FACTS)
        loaded = cache.load(embedder.fingerprint, FACTS)
    direct = embedder.embed(FACTS)
    for vectors in (first, again, loaded):
        assert np.array_equal(vectors, direct)
        assert vectors.dtype == np.float32


def test_only_what_is_missing_is_embedded_and_once(tmp_path: Path) -> None:
    embedder, seen = Counting(), list[tuple[int, int]]()
    with Cache(tmp_path / "c.sqlite3") as cache:
        cache.embed(embedder, ["a", "b", "a"])
        texts = ["b", *(f"text {i}" for i in range(1200)), "a"]
        vectors = cache.embed(embedder, texts, lambda done, missing: seen.append((done, missing)))
    assert embedder.asked == ["a", "b", *texts[1:-1]]
    assert np.array_equal(vectors, Hashing().embed(texts))
    assert seen[-1] == (1200, 1200)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_fingerprints_do_not_share_vectors(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite3") as cache:
        cache.embed(Counting(), FACTS)
        with pytest.raises(KeyError, match="Priya owns"):
            cache.load(Hashing.fingerprint, FACTS)


def test_a_text_that_was_never_embedded_is_named(tmp_path: Path) -> None:
    with Cache(tmp_path / "c.sqlite3") as cache:
        cache.embed(Hashing(), FACTS)
        with pytest.raises(KeyError, match="never seen"):
            cache.load(Hashing.fingerprint, [*FACTS, "never seen"])
        assert cache.load(Hashing.fingerprint, []).shape[0] == 0


def test_recalled_travels_to_a_worker_and_loads_no_model(tmp_path: Path) -> None:
    texts = FACTS * 2
    with Cache(tmp_path / "c.sqlite3") as cache:
        vectors = cache.embed(MiniLM(), texts)
        recalled = Recalled.of(MiniLM(), cache)
    (tmp_path / "recalled").write_bytes(pickle.dumps((recalled, texts)))
    worker = (
        "import pickle, sys\n"
        f"recalled, texts = pickle.loads(open({str(tmp_path / 'recalled')!r}, 'rb').read())\n"
        "sys.stdout.buffer.write(recalled.embed(texts).tobytes())\n"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)\n"
    )
    out = subprocess.run([sys.executable, "-c", worker], capture_output=True, check=True).stdout
    assert out == vectors.tobytes()
    assert (recalled.name, recalled.fingerprint, recalled.dim, recalled.lexical) == (
        MiniLM.name,
        MiniLM.fingerprint,
        MiniLM.dim,
        False,
    )
    with pytest.raises(KeyError):
        recalled.embed(["never seen"])


@pytest.mark.parametrize(
    "damage", ["garbage", "truncated", "middle", "empty", "another version", "another table"]
)
def test_a_damaged_file_is_set_aside_and_made_anew(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "c.sqlite3"
    texts = [f"text {i}" for i in range(300)]
    with Cache(path) as cache:
        cache.embed(Hashing(), texts)
    whole = path.read_bytes()
    match damage:
        case "garbage":
            path.write_bytes(b"not a database at all" * 500)
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2 + 17])
        case "middle":
            path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 8192) + whole[-4096:])
        case "empty":
            path.write_bytes(b"")
        case _:
            path.unlink()
            with sqlite3.connect(path) as other:
                other.execute("CREATE TABLE vectors (id)")
                other.execute(f"PRAGMA user_version = {99 if damage == 'another version' else 0}")
            other.close()
    with Cache(path) as cache:
        assert np.array_equal(cache.embed(Hashing(), texts), Hashing().embed(texts))
    with Cache(path) as cache:
        assert np.array_equal(cache.load(Hashing.fingerprint, texts), Hashing().embed(texts))
    aside = [file.name for file in tmp_path.iterdir() if "damaged" in file.name]
    assert len(aside) == (damage != "empty")


def test_a_cache_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "c.sqlite3", tmp_path):
        with pytest.raises(BadInput, match="the embedding cache cannot be used") as refused:
            Cache(path)
        assert "\n" not in str(refused.value)


def test_processes_may_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    filler = (
        "import sys, pathlib\n"
        "from memrot.embed.cache import Cache\n"
        "from memrot.embed.hashing import Hashing\n"
        "with Cache(pathlib.Path(sys.argv[1])) as cache:\n"
        "    for i in range(40):\n"
        "        cache.embed(Hashing(), [f'{i} {j}' for j in range(int(sys.argv[2]), 12)])\n"
    )
    fillers = [subprocess.Popen([sys.executable, "-c", filler, str(path), str(n)]) for n in range(4)]
    assert [process.wait(timeout=60) for process in fillers] == [0] * 4
    texts = [f"{i} {j}" for i in range(40) for j in range(12)]
    with Cache(path) as cache:
        assert np.array_equal(cache.load(Hashing.fingerprint, texts), Hashing().embed(texts))


def test_the_default_path_follows_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path().is_relative_to(tmp_path) or sys.platform != "linux"
