"""The pytest plugin that comes with memrot: it refuses a conformance suite that lost a standard test.

A subclass that replaces one is refused when it is defined (``memrot.testing.base``); what is deleted
or replaced later is seen here, once the tests are collected. It imports nothing, so that whoever has
memrot installed and tests something else pays for nothing.
"""

from __future__ import annotations

import sys
from typing import Any


def pytest_collection_modifyitems(items: list[Any]) -> None:
    base = sys.modules.get("memrot.testing.base")
    if base is None:
        return
    classes = {item.cls for item in items if getattr(item, "cls", None) is not None}
    lost = {
        f"{cls.__name__} lost standard tests: {', '.join(cls.tampered())}"
        for cls in classes
        if issubclass(cls, base.Suite) and cls.tampered()
    }
    if lost:
        import pytest

        raise pytest.UsageError("; ".join(sorted(lost)))
