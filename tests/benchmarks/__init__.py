"""Benchmarks that are run by hand, each `python -m tests.benchmarks.NAME --help`."""
