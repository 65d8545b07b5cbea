"""Two rows side by side: what changes from the first to the second, where, and by whose absence.

Everything is paired by timeline and read from scores alone; labels are only printed.
"""

from memrot.compare.pairs import Bound, Change, Comparison, Leaks, compare
from memrot.compare.text import render

__all__ = ["Bound", "Change", "Comparison", "Leaks", "compare", "render"]
