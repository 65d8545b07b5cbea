"""memrot measures how an AI memory rots: timelines of changing facts, replayed and asked about.

Importing the package loads nothing else; begin at ``memrot.evaluate.evaluate``.
"""

__version__ = "1.0.0"
