"""Settings of every test: hypothesis draws the same examples each time, and has no deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("memrot", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("memrot")
