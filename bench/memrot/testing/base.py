"""What a conformance suite is made of: its promises, the differences from them, a place for each test.

Standard tests can be neither removed nor replaced (``memrot.plugin`` looks again once tests are
collected). An examinee that cannot keep a promise declares the difference: the test's name with a
``Capability``, ``never`` (the backend cannot) or ``not_yet`` (the adapter does not), and the reason,
measured or an upstream link. The test must then fail.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import pytest

from memrot.memory import Capability, Place
from memrot.testing.corpus import DIM

MOST_DIFFERENCES = 2

Test = Callable[..., None]


class Suite:
    """Tests of a subclass's examinee; the methods named ``test_`` of a standard suite are the promises."""

    options: ClassVar[Mapping[str, str]] = {}
    differences: ClassVar[Mapping[str, Capability]] = {}
    """Name of a test -> why this examinee fails it."""
    promises: ClassVar[Mapping[str, Test]] = {}
    """The standard tests, as they were when their suite was defined."""

    def __init_subclass__(cls, *, standard: bool = False) -> None:
        super().__init_subclass__()
        own = {name: test for name, test in vars(cls).items() if name.startswith("test_")}
        if standard:
            cls.promises = MappingProxyType({**cls.promises, **own})
            return
        if replaced := cls.promises.keys() & own.keys():
            raise TypeError(f"{cls.__name__} replaces standard tests: {sorted(replaced)}")
        if unknown := cls.differences.keys() - cls.promises.keys():
            raise TypeError(f"{cls.__name__} declares differences that are no tests: {sorted(unknown)}")
        if len(cls.differences) > MOST_DIFFERENCES:
            raise TypeError(f"{cls.__name__} declares more than {MOST_DIFFERENCES} differences")
        for name, difference in vars(cls).get("differences", {}).items():
            if getattr(difference, "how", "") not in ("never", "not_yet") or not difference.why:
                raise TypeError(
                    f"{cls.__name__}: {name}: expected a Capability never or not_yet, with a reason"
                )
            setattr(cls, name, _expected_to_fail(getattr(cls, name), difference))

    @classmethod
    def tampered(cls) -> list[str]:
        """The standard tests that are not there any more as they were."""
        return [
            name
            for name, test in cls.promises.items()
            if name not in cls.differences and getattr(cls, name, None) is not test
        ]

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Place("conformance", tmp_path / "cell", DIM, 300)


def _expected_to_fail(test: Test, difference: Capability) -> Test:
    @functools.wraps(test)
    def declared(*args: Any, **kwargs: Any) -> None:
        test(*args, **kwargs)

    reason = f"{difference.how}: {difference.why}"
    marked: Test = pytest.mark.xfail(strict=True, reason=reason)(declared)
    return marked
