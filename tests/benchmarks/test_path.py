"""The SQL statements of one context do not creep back."""

from runtime.stores import MemoryStores
from tests.benchmarks.path import context_statements

MOST_STATEMENTS = 40


def test_a_context_takes_few_statements(read_demo_stores: MemoryStores) -> None:
    """Everything of a story that is read the first time is among them; the second time some of it is at hand."""
    first, again = (context_statements(read_demo_stores, 7, 1) for _ in range(2))
    assert len(first) <= MOST_STATEMENTS, "\n".join(f"{senders}: {statement}" for statement, senders in first)
    assert len(again) < len(first)
