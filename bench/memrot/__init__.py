"""memrot measures how an AI memory rots: timelines of changing facts, replayed and asked about.

>>> from memrot import evaluate, timeline
>>> stages = evaluate(MyMemory, timeline.read("reorg.timeline.jsonl"))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memrot.evaluate import evaluate as evaluate

__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    """Load the examiner only when it is asked for: ``import memrot`` stays cheap."""
    if name == "evaluate":
        from memrot.evaluate import evaluate  # noqa: PLC0415 - loading it is the point

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
