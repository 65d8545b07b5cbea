"""Exit codes: what a script can learn from a run without reading its tables."""

from __future__ import annotations

OK = 0
UNDER = 1
BAD_INPUT = 2
BROKEN_EXAM = 3
MISSING = 4
INTERRUPTED = 130

HELP = """Exit codes: 0 all well; 1 a --fail-under was not met, a --fail-on was, or a folder does not
verify; 2 the input cannot be used; 3 the exam is broken (a control did not score what it must); 4
something asked for is missing or failed; 130 interrupted."""
