"""The kit, run over what is installed under a name: a verdict a promise.

It runs pytest on a file of its own in a folder of its own, with no plugin but memrot's, so that
nobody's settings have a say.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest
from msgspec import Struct

from memrot import registry
from memrot.embed.hashing import Hashing
from memrot.errors import BadInput, MemoryFault
from memrot.memory import Capability, Info, Place, well_typed
from memrot.names import StackName, parse
from memrot.testing.conformance import StoreConformance
from memrot.testing.memories import MemoryConformance

Outcome: TypeAlias = Literal["kept", "broken", "never", "not yet", "does not apply"]

_SUITE = """
from memrot import registry
from memrot.testing import {suite}

class TestInstalled({suite}):
    {opener} = staticmethod(registry.{kind}({name!r}))
    options = {options!r}
    differences = registry.differences({name!r})
"""


class Verdict(Struct, frozen=True):
    """What became of one promise; ``evidence`` is the whole story of a broken one."""

    promise: str
    outcome: Outcome
    reason: str = ""
    evidence: str = ""


def examined(text: str) -> StackName:
    """The name of what is to be checked; raises BadInput where it has layers."""
    name = parse(text)
    registry.examinee(name.adapter)
    if name.layers or name.options != name.opened.options:
        raise BadInput(f"{text!r}: expected an adapter or a memory with its own options, without layers")
    return name


def introduce(name: StackName) -> Info:
    """What it says of itself, by opening it empty; raises Unavailable, Unsupported or BadInput."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place("conformance", Path(folder) / "store", Hashing.dim, 1)
        opened = (
            registry.memory(name.adapter)(place, name.adapter_options, Hashing())
            if registry.is_memory(name.adapter)
            else registry.adapter(name.adapter)(place, name.adapter_options)
        )
        info = opened.info
        opened.drop()
        opened.close()
    try:
        return well_typed(info)
    except MemoryFault as error:
        raise BadInput(f"{name}: {error}") from None


def promises(name: StackName) -> list[str]:
    suite = MemoryConformance if registry.is_memory(name.adapter) else StoreConformance
    return [_said(test) for test in suite.promises]


def check(name: StackName, tell: Callable[[Verdict], None]) -> list[Verdict]:
    """Run every promise's test; ``tell`` hears each verdict as it falls."""
    memory = registry.is_memory(name.adapter)
    source = _SUITE.format(
        suite="MemoryConformance" if memory else "StoreConformance",
        kind="memory" if memory else "adapter",
        opener="open_memory" if memory else "open_store",
        name=name.adapter,
        options=name.adapter_options,
    )
    heard = _Heard(registry.differences(name.adapter), tell)
    with tempfile.TemporaryDirectory() as folder, _no_plugins():
        file = Path(folder) / "test_installed.py"
        file.write_text(source, encoding="utf-8")
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        arguments = ["-p", "no:terminal", "-p", "no:cacheprovider", "-p", "memrot.plugin", "--capture=sys",
                     "--import-mode=importlib", f"--rootdir={folder}", f"--basetemp={folder}/places",
                     "-c", f"{folder}/pytest.ini", str(file)]  # fmt: skip
        code = pytest.main(arguments, plugins=[heard])
    if code == pytest.ExitCode.INTERRUPTED and not heard.trouble:
        raise KeyboardInterrupt
    if unheard := set(promises(name)) - {verdict.promise for verdict in heard.verdicts}:
        raise BadInput(f"{name} was not checked: {heard.trouble or f'no verdict on: {min(unheard)}'}")
    return heard.verdicts


class _no_plugins:  # noqa: N801  a context, used like a function
    """Whatever other pytest plugins are installed here stay out of it."""

    name = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"

    def __enter__(self) -> None:
        self.before = os.environ.get(self.name)
        os.environ[self.name] = "1"

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            del os.environ[self.name]
        else:
            os.environ[self.name] = self.before


class _Heard:
    """A pytest plugin: the reports of one test, when they are all in, make a verdict."""

    def __init__(self, declared: Mapping[str, Capability], tell: Callable[[Verdict], None]) -> None:
        self._declared = declared
        self._tell = tell
        self._reports: list[Any] = []
        self.verdicts: list[Verdict] = []
        self.trouble = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.option.tbstyle = "short"

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.trouble = str(report.longrepr).strip().splitlines()[-1].removeprefix("E   ")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._reports.append(report)
        if report.when == "teardown":
            verdict = self._verdict(report.nodeid.rpartition("::")[2], self._reports)
            self._reports = []
            self.verdicts.append(verdict)
            self._tell(verdict)

    def _verdict(self, test: str, reports: list[Any]) -> Verdict:
        promise = _said(test)
        for report in reports:
            if report.failed:
                return Verdict(promise, "broken", _first_line(report), report.longreprtext)
        for report in reports:
            if report.skipped and test in self._declared:
                declared = self._declared[test]
                return Verdict(promise, "never" if declared.how == "never" else "not yet", declared.why)
            if report.skipped:
                return Verdict(promise, "does not apply", report.longrepr[2].removeprefix("Skipped: "))
        return Verdict(promise, "kept")


def _said(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


def _first_line(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    said: str = crash.message if crash is not None else report.longreprtext
    return said.splitlines()[0] if said else "failed"
