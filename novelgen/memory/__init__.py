"""Threads: which of them a planned scene could pay off, and how long the others have waited."""
