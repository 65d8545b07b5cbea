"""memrot measures how an AI memory rots: timelines of changing facts, replayed and asked about."""
