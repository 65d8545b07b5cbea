"""Scenarios: seeded generators of timelines, found through the entry point group ``memrot.scenarios``."""
