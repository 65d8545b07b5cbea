"""Retention policies, defended: what they cost conversations, what outlives its truth, what to change.

A policy is read (``policy``), replayed against the store that keeps everything (``replay``), audited
against the truth (``audit``), tuned (``tune``) and drawn (``curve``). Storage is counted apart
(``cost``): it is no reason to forget what is true.
"""
