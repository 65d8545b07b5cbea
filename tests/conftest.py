"""Settings of every test.

Hypothesis draws the same examples each time and has no deadline; embeddings are kept beside pytest's
own cache, so that no test touches the user's.
"""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parent.parent / ".pytest_cache" / "user")

settings.register_profile("memrot", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("memrot")
