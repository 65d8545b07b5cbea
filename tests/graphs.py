"""What Graphiti is tried over: options of its stacks, and marks for tests that are about one of them only.

A fixture that opens one takes the fixture ``database``.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

KUZU: Mapping[str, str] = {}
FALKORDB: Mapping[str, str] = {"server": ""}

kuzu = pytest.mark.parametrize("database", [KUZU], indirect=True)
falkordb = pytest.mark.parametrize("database", [FALKORDB], indirect=True)
