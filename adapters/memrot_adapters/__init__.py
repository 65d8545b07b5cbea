"""Adapters: one file a backend, found through the entry point group ``memrot.adapters``."""
