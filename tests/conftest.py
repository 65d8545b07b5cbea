"""Settings of every test.

Hypothesis draws the same examples each time and has no deadline; embeddings are kept beside pytest's
own cache, so that no test touches the user's. Two test processes share two cores: threads of a linear
algebra library would only wait for each other, and make small searches ten times slower.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read once, when numpy is first imported
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parent.parent / ".pytest_cache" / "user")

settings.register_profile("memrot", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("memrot")

collect_ignore = ["outside"]
"""A distribution of its own: ``test_outside.py`` installs it, and its tests, elsewhere."""
