"""What tests of whole runs need: a tiny exam, the command line as a process, and faulty backends.

The backends are a package of their own, found by entry point as any third party's would be; their
faults are real (a process that ends, a native call that never returns with the lock held).
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from memrot.cli import main
from memrot.model import DAY, ChangeEvent, Fact, FactAdded, FactInvalidated, FactRevised, Probe
from memrot.timeline import Domain, Header, Timeline

SUBJECTS = ("billing", "search", "ledger")
PREDICATES = ("owner", "language", "region")
START = 1_767_603_600_000

FAULTY = """
import ctypes, numpy, os, signal
from memrot.exact import Exact
from memrot.errors import Unavailable
from memrot.model import Answer, Hit

class Faulty(Exact):
    def __init__(self, place, fault):
        super().__init__(place)
        self.fault, self.calls = fault, 0

    def search(self, queries, where, k):
        self.calls += 1
        if self.calls == 3:
            self.fault()
        return super().search(queries, where, k)

def raises():
    raise ConnectionError("no reply from " + os.environ.get("MEMROT_FAULTY_URL", "nowhere"))

def hangs():
    ctypes.PyDLL(None).sleep(600)  # PyDLL keeps the interpreter's lock: no signal, no thread gets through

def dies():
    os.kill(os.getpid(), signal.SIGKILL)

def open_raising(place, options):
    return Faulty(place, raises)

def open_hanging(place, options):
    return Faulty(place, hangs)

def open_dying(place, options):
    return Faulty(place, dies)

def open_missing(place, options):
    import a_backend_that_is_not_there

class Newest:  # a whole memory: the newest facts, kept in a file, whatever the question
    def __init__(self, place, embedder):
        from memrot.memory import Capability, Info
        self.info = Info(
            name="faulty/newest", backend="file", version="1",
            capabilities={"history": Capability("never", "a file of ids")},
        )
        self.embedder, self.file = embedder, place.folder / "ids"
        place.folder.mkdir(parents=True, exist_ok=True)
        self.ids = self.file.read_text().split() if self.file.exists() else []

    def apply(self, events, at):
        from memrot.model import introduces
        self.ids += [fact.id for event in events if (fact := introduces(event))]
        self.file.write_text(" ".join(self.ids))

    def answer(self, questions, at):
        from memrot.model import Answer, Hit
        asked = [question.text for question in questions]
        assert self.embedder.embed(asked).shape == (len(asked), self.embedder.dim)
        return [Answer(tuple(Hit(id_, 0.5) for id_ in self.ids[:-question.k - 1:-1])) for question in questions]

    def peek(self, missed, at):
        return ["outranked"] * len(missed)

    def drop(self):
        self.file.unlink(missing_ok=True)

    def close(self):
        pass

def open_newest(place, options, embedder):
    return Newest(place, embedder)

def returning(hit):
    def opened(place, options, embedder):
        memory = Newest(place, embedder)
        memory.answer = lambda questions, at: [Answer((hit,))] * len(questions)
        return memory

    return opened

open_numpy = returning(Hit("f1", numpy.float32(0.5)))
open_number = returning(Hit(7, 0.5))

def open_boastful(place, options, embedder):
    from msgspec import structs
    from memrot.memory import Capability
    memory = Newest(place, embedder)
    memory.info = structs.replace(memory.info, capabilities={"expiry": Capability("sometimes", "it says")})
    return memory

def open_by_wall_clock(place, options, embedder):
    from memrot.errors import Unsupported
    raise Unsupported("wall clock")

def open_stillborn(place, options):
    dies()

def open_unreachable(place, options):
    raise Unavailable("set MEMROT_FAULTY_URL to the URL of a server that is up")
"""

ENTRY_POINTS = """[memrot.adapters]
raising = faulty:open_raising
hanging = faulty:open_hanging
dying = faulty:open_dying
missing = faulty:open_missing
stillborn = faulty:open_stillborn
unreachable = faulty:open_unreachable

[memrot.memories]
faulty/newest = faulty:open_newest
faulty/wall = faulty:open_by_wall_clock
faulty/numpy = faulty:open_numpy
faulty/number = faulty:open_number
faulty/boastful = faulty:open_boastful
"""


def tiny(seed: int = 1, rounds: int = 3) -> Timeline:
    """Nine keys of three subjects; every round revises one predicate of each, the last drops one."""
    events: list[ChangeEvent] = []
    held: dict[tuple[str, str], Fact] = {}

    def at() -> int:
        return START + len(events) * DAY // 4

    def fact(subject: str, predicate: str, value: str) -> Fact:
        ident = f"{subject}.{predicate}.{value}"
        text = f"The {predicate} of {subject} is {value}."
        held[subject, predicate] = Fact(
            id=ident, subject=subject, predicate=predicate, value=value, domain="TECH", text=text
        )
        return held[subject, predicate]

    for subject in SUBJECTS:
        for predicate in PREDICATES:
            events.append(
                FactAdded(seq=len(events) + 1, at=at(), fact=fact(subject, predicate, f"v0-{seed}"))
            )
    for round_ in range(1, rounds + 1):
        for place, subject in enumerate(SUBJECTS):
            predicate = PREDICATES[(round_ + place + seed) % len(PREDICATES)]
            previous = held[subject, predicate].id
            new = fact(subject, predicate, f"v{round_}-{seed}")
            events.append(FactRevised(seq=len(events) + 1, at=at(), previous=previous, current=new))
    dropped = held["billing", "owner"].id
    events.append(FactInvalidated(seq=len(events) + 1, at=at(), fact=dropped, reason="dropped"))
    probes = [
        Probe(
            id=f"{subject}-{predicate}", question=f"What is the {predicate} of {subject}?", subject=subject,
            predicate=predicate, tests="forgetting",
        )
        for subject in SUBJECTS
        for predicate in PREDICATES
    ]  # fmt: skip
    header = Header(id="test/tiny", seed=seed, domains={"TECH": Domain(window_days=45)})
    return Timeline.of(header, events, probes)


def exams(folder: Path, count: int = 2, rounds: int = 3) -> list[str]:
    """Options that make ``memrot run`` sit ``count`` tiny timelines."""
    options = []
    for seed in range(1, count + 1):
        path = folder / f"tiny-{seed}.timeline.jsonl"
        tiny(seed, rounds).write(path)
        options += ["--scenario", str(path)]
    return options


def environment(folder: Path, **variables: str) -> dict[str, str]:
    """The faulty backends installed, and a cache of embeddings that is the test's own."""
    package = folder / "site"
    info = package / "faulty-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (package / "faulty.py").write_text(FAULTY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        **os.environ,
        "PYTHONPATH": path,
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
        **variables,
    }


def command(*arguments: str | Path, python: str | Path = sys.executable) -> list[str]:
    return [str(python), "-c", "from memrot.cli import main; main()", *map(str, arguments)]


def memrot(
    *arguments: str | Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    python: str | Path = sys.executable,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments, python=python),
        capture_output=True,
        text=True,
        env=env,
        cwd=cwd,
        timeout=240,
        check=False,
    )


def alive(marker: str) -> list[int]:
    """Processes whose environment holds a marker: the run's workers too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def inside(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line within this process: quicker, for what starts no workers."""
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["memrot", *map(str, arguments)]
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        return subprocess.CompletedProcess(sys.argv, int(str(end.code)), out.getvalue(), err.getvalue())
    finally:
        sys.argv = argv
        signal.signal(signal.SIGTERM, handler)
    raise AssertionError("the command line always exits")
