"""See ``SCENARIO.doc``."""

from __future__ import annotations

from collections.abc import Iterator

from memrot_scenarios.area import Area
from memrot_scenarios.world import Scenario, Story, background, loading, quiet
