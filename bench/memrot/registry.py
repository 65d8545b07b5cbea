"""What is installed: adapters, memories, scenarios and embedders, found by entry point, loaded when used.

Any package can add some; naming them imports nothing. Two packages that claim one name are an
error, since a leaderboard would not say which of them it measured. What cannot be loaded says
what to install.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import InspectLoader
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, entry_points, version
from types import ModuleType
from typing import Literal, Protocol, TypeAlias, cast

from packaging.requirements import Requirement

from memrot.embed.base import Embedder
from memrot.errors import BadInput, Unavailable, to_install
from memrot.memory import Capability, MemoryService, OpenMemory, Place, Store
from memrot.model import Reading
from memrot.timeline import Timeline

Kind: TypeAlias = Literal["adapters", "memories", "scenarios", "readings", "embedders"]
OpenStore: TypeAlias = Callable[[Place, Mapping[str, str]], Store]

_ONE: Mapping[Kind, str] = {
    "adapters": "adapter", "memories": "memory", "scenarios": "scenario", "readings": "source of readings",
    "embedders": "embedder"
}  # fmt: skip

_VARIABLE = re.compile(r"\b(?:MEMROT_[A-Z0-9]+(?:_[A-Z0-9]+)*|DATABASE_URL)\b")


class Scenario(Protocol):
    """A seeded generator of timelines; its docstring says which failure it provokes."""

    id: str
    revision: int
    doc: str

    def generate(self, seed: int, size: str = "default") -> Timeline: ...


class Source(Protocol):
    """A seeded generator of readings."""

    id: str
    revision: int
    doc: str

    def generate(self, seed: int) -> Sequence[Reading]: ...


def found(kind: Kind) -> Mapping[str, EntryPoint]:
    """Name -> entry point, sorted by name; raises BadInput where two packages claim one name."""
    return _unique(kind, entry_points(group=f"memrot.{kind}"))


def find(kind: Kind, name: str) -> EntryPoint:
    """One entry point; raises BadInput that lists the known names."""
    known = found(kind)
    if name not in known:
        raise BadInput(f"unknown {_ONE[kind]} {name!r}: expected one of {', '.join(known)}")
    return known[name]


def examinees() -> Mapping[str, EntryPoint]:
    """Whatever a stack's name may begin with, adapters and memories, sorted by name.

    Raises BadInput where one name is claimed twice.
    """
    stores, memories = found("adapters"), found("memories")
    if both := stores.keys() & memories.keys():
        raise BadInput(f"{min(both)!r} is claimed as an adapter and as a memory; uninstall one")
    return dict(sorted({**stores, **memories}.items()))


def examinee(name: str) -> EntryPoint:
    """An adapter or a memory; raises BadInput that lists the known names."""
    known = examinees()
    if name not in known:
        raise BadInput(f"unknown adapter {name!r}: expected one of {', '.join(known)}")
    return known[name]


def is_memory(name: str) -> bool:
    """Whether a name is of a whole memory, which takes no layers."""
    return name in found("memories")


def adapter(name: str) -> OpenStore:
    """The function that opens an adapter's stores.

    Raises Unavailable, with what to install, where the backend is missing: here or when a store
    is opened.
    """
    point = find("adapters", name)
    open_store = cast(OpenStore, _loaded(point))

    def opened(place: Place, options: Mapping[str, str]) -> Store:
        try:
            return open_store(place, options)
        except ImportError as error:
            raise Unavailable(advice(point, error)) from None

    return opened


def memory(name: str) -> OpenMemory:
    """The function that opens a memory; raises Unavailable as ``adapter`` does."""
    point = find("memories", name)
    open_memory = cast(OpenMemory, _loaded(point))

    def opened(place: Place, options: Mapping[str, str], embedder: Embedder) -> MemoryService:
        try:
            return open_memory(place, options, embedder)
        except ImportError as error:
            raise Unavailable(advice(point, error)) from None

    return opened


def scenario(name: str) -> Scenario:
    return cast(Scenario, _loaded(find("scenarios", scenario_id(name))))


def readings(name: str) -> Source:
    return cast(Source, _loaded(find("readings", _in_full("readings", name))))


def embedder(name: str) -> Embedder:
    return cast(Callable[[], Embedder], _loaded(find("embedders", name)))()


def scenario_id(name: str) -> str:
    """The full id of a scenario, which may be named without its world where one world has it: ``reorg``."""
    return _in_full("scenarios", name)


def _in_full(kind: Kind, name: str) -> str:
    known = found(kind)
    meant = [full for full in known if full.rpartition("/")[2] == name]
    return meant[0] if name not in known and len(meant) == 1 else name


def family(name: str) -> str:
    """What a row of a product's own is installed with: ``redis`` of ``redis/native``."""
    return name.partition("/")[0]


def requirements(name: str) -> Iterator[Requirement]:
    """What an examinee needs beside memrot, in versions that will do: its package, or of memrot's own its
    extra."""
    return _requirements(examinee(name))


def packages(name: str) -> Mapping[str, str | None]:
    """The packages that an examinee needs -> their installed versions (None: not installed)."""
    return {package: _version(package) for package in sorted({need.name for need in requirements(name)})}


def about(name: str) -> str:
    """What an examinee's module says of itself, then its ``NOTES``; the backend is not imported."""
    try:
        module = _module(name)
    except Unavailable as error:
        return str(error)
    summary = (module.__doc__ or "").strip().partition("\n\n")[0]
    return " ".join([*summary.replace("``", "").split(), *getattr(module, "NOTES", ())])


def described(name: str) -> str:
    """All that an examinee's module says of itself, then its ``NOTES``; empty where it cannot be imported."""
    try:
        module = _module(name)
    except Unavailable:
        return ""
    return "\n\n".join([inspect.cleandoc(module.__doc__ or ""), *getattr(module, "NOTES", ())])


def variables(name: str) -> list[str]:
    """The environment variables of memrot's that an examinee's module names, in code or in words."""
    found = importlib.util.find_spec(examinee(name).module)
    loader = found and found.loader
    source = loader.get_source(examinee(name).module) if isinstance(loader, InspectLoader) else ""
    return sorted(set(_VARIABLE.findall(source or "")))


def differences(name: str) -> Mapping[str, Capability]:
    """The conformance tests that an examinee's module declares to fail (``DIFFERENCES``), and why."""
    return _declared(name, "DIFFERENCES")


def capabilities(name: str) -> Mapping[str, Capability]:
    """What an examinee's module declares (``CAPABILITIES``); the backend is not imported."""
    return _declared(name, "CAPABILITIES")


def installed(name: str) -> bool:
    """Whether an examinee's packages are there, in versions that will do; nothing is imported."""
    module = examinee(name).module.partition(".")[0]
    return importlib.util.find_spec(module) is not None and all(map(_meets, requirements(name)))


def advice(point: EntryPoint, error: Exception | None = None) -> str:
    """What to do about an entry point that cannot be loaded."""
    extra = family(point.name)
    has_extra = point.dist is not None and extra in (point.dist.metadata.get_all("Provides-Extra") or ())
    if has_extra and isinstance(error, ImportError | None):
        return to_install(_owner(point.dist), extra)
    owner = point.dist.name if point.dist is not None else point.module
    if error is None:
        return f"pip install {owner}"
    unmet = (f"{need.name}{need.specifier}" for need in _requirements(point) if not _meets(need))
    needs = ", ".join(sorted(unmet))
    return f"{owner} cannot be loaded: {error}" + (f" (it needs {needs})" if needs else "")


def _unique(kind: Kind, points: object) -> Mapping[str, EntryPoint]:
    known: dict[str, EntryPoint] = {}
    for point in cast(tuple[EntryPoint, ...], points):
        other = known.setdefault(point.name, point)
        if other.value != point.value:
            owners = sorted(_owner(claim.dist) for claim in (other, point))
            raise BadInput(
                f"two packages claim the {_ONE[kind]} {point.name!r}: {' and '.join(owners)}; uninstall one"
            )
    return dict(sorted(known.items()))


def _owner(dist: Distribution | None) -> str:
    return dist.name if dist is not None else "an unnamed package"


def _module(name: str) -> ModuleType:
    """An examinee's; raises Unavailable for whatever keeps it from being imported."""
    point = examinee(name)
    try:
        return importlib.import_module(point.module)
    except Exception as error:  # noqa: BLE001 - one package's defect must not hide all the others
        raise Unavailable(advice(point, error)) from None


def _declared(name: str, what: str) -> Mapping[str, Capability]:
    try:
        module = _module(name)
    except Unavailable:
        return {}
    return cast(Mapping[str, Capability], getattr(module, what, {}))


def _requirements(point: EntryPoint) -> Iterator[Requirement]:
    if point.dist is None:
        return
    ours = point.dist.name == "memrot"
    if not ours:
        yield Requirement(point.dist.name)
    for needed in map(Requirement, point.dist.requires or ()):
        with_extra, without = (
            needed.marker is None or needed.marker.evaluate({"extra": extra})
            for extra in (family(point.name), "")
        )
        if needed.name != "memrot" and with_extra and not (ours and without):
            yield needed


def _loaded(point: EntryPoint) -> object:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise Unavailable(advice(point, error)) from None


def _meets(needed: Requirement) -> bool:
    found = _version(needed.name)
    return found is not None and needed.specifier.contains(found, prereleases=True)


@cache
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
