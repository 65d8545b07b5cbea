"""Why bounds are not given: a closed list, so that nothing is guessed and every refusal is counted."""

from __future__ import annotations

from typing import Literal, TypeAlias

Flag: TypeAlias = Literal["unresolvable", "ambiguous", "end before start", "unknown zone", "no such time"]


class Unsure(Exception):
    """A sentence states a bound that cannot be told for certain."""

    def __init__(self, flag: Flag) -> None:
        super().__init__(flag)
        self.flag: Flag = flag
