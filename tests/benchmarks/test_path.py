"""The path and the SQL statements of one context do not creep back."""

from pathlib import Path

import pytest

from runtime.stores import MemoryStores
from tests.benchmarks.path import context_statements, trace_context

pytestmark = pytest.mark.slow

MOST_STATEMENTS = 43
MOST_HOPS = 36
MOST_FORWARDING_HOPS = 9
"""One of them is the search tool of the design card, through which the chain asks."""


def test_a_context_takes_few_statements(read_demo_stores: MemoryStores) -> None:
    """Everything of a story that is read the first time is among them; the second time some of it is at hand."""
    first, again = (context_statements(read_demo_stores, 7, 1) for _ in range(2))
    assert len(first) <= MOST_STATEMENTS, "\n".join(f"{senders}: {statement}" for statement, senders in first)
    assert len(again) < len(first)


def test_a_context_takes_few_calls(demo_folder: Path) -> None:
    """From `Story.context` to the vector store, the memories and the block, over threads and processes."""
    hops = trace_context(demo_folder, 7, 1).hops
    forwarding_hops = [hop for hop in hops if hop.forwards]
    assert len(hops) <= MOST_HOPS, "\n".join(f"{hop.module}:{hop.name}" for hop in hops)
    assert len(forwarding_hops) <= MOST_FORWARDING_HOPS, forwarding_hops
