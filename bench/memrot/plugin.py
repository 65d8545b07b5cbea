"""The pytest plugin that comes with memrot: it refuses a conformance suite that lost a standard test.

A subclass that replaces one is refused when it is defined (``memrot.testing.base``); what is deleted
or replaced later, or marked so that it cannot fail, is seen here, once the tests are collected. A
``skipif`` stays: without its server an adapter cannot be tested. The module imports nothing, so that
whoever has memrot installed and tests something else pays for nothing.
"""

from __future__ import annotations

import sys
from typing import Any


def pytest_collection_modifyitems(items: list[Any]) -> None:
    base = sys.modules.get("memrot.testing.base")
    if base is None:
        return
    wrong: set[str] = set()
    for item in items:
        cls = getattr(item, "cls", None)
        if cls is None or not issubclass(cls, base.Suite):
            continue
        if cls.tampered():
            wrong.add(f"{cls.__name__} lost standard tests: {', '.join(cls.tampered())}")
        standard = item.originalname in cls.promises.keys() - cls.differences.keys()
        if standard and {mark.name for mark in item.iter_markers()} & {"skip", "xfail"}:
            wrong.add(f"{cls.__name__} lets standard tests fail: declare what differs in its differences")
    if wrong:
        import pytest

        raise pytest.UsageError("; ".join(sorted(wrong)))
