"""What a release is called for good: a digest of what was asked of what, and one of what came back.

The first is the same for whoever repeats the work with the same versions; the second tells one
transcript of it from another, since latencies and dates differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from memrot.cells import Terms, stack_name
from memrot.results import Manifest

_DIGITS = 12


class Identity(Struct, frozen=True):
    """Prints as ``memrot-1.0.0-4f0c9a31be77.99aa01bc22de``."""

    suite: str
    exam: str
    """Suite version, timelines, embedder, k, and the stacks with their versions."""
    transcript: str
    """The observations, byte by byte."""

    def __str__(self) -> str:
        return f"{self.exam_id}.{self.transcript}"

    @property
    def exam_id(self) -> str:
        return f"memrot-{self.suite}-{self.exam}"

    def is_called(self, name: str) -> bool:
        """Whether a cited id is this one's; one without a transcript names the exam only."""
        return name in (str(self), self.exam_id)


def identity(manifest: Manifest, observed: Mapping[str, str]) -> Identity:
    """``observed``: cell name -> SHA-256 of its observations."""
    terms = manifest.settings.terms
    asked = {
        "terms": _determining(terms),
        "timelines": sorted(each.digest for each in manifest.settings.timelines),
        "stacks": sorted(
            {
                (str(stack_name(cell.stack)), cell.stack.backend, cell.stack.version, cell.stack.deployment)
                for cell in manifest.cells
            }
        ),
    }
    return Identity(
        suite=terms.suite,
        exam=_digest([json.dumps(asked, sort_keys=True)]),
        transcript=_digest(f"{name} {digest}" for name, digest in sorted(observed.items())),
    )


def _determining(terms: Terms) -> dict[str, object]:
    """The terms, without those that came later and stand at their defaults: an id stays what it was."""
    always = {
        "suite": terms.suite,
        "embedder": terms.embedder.fingerprint,
        "k": terms.k,
        "forget_within": terms.forget_within,
        "ask_every": terms.ask_every,
    }
    later = {
        field.name: getattr(terms, field.name)
        for field in msgspec.structs.fields(terms)
        if field.name not in always and getattr(terms, field.name) != field.default
    }
    return always | later


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_DIGITS]
