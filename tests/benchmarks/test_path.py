"""The path of one context, and the SQL statements of a context, a note and a scene, do not creep back."""

from pathlib import Path

import pytest

from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.benchmarks.path import context_statements, counted_statements, trace_context

pytestmark = pytest.mark.slow

MOST_STATEMENTS = 40
MOST_HOPS = 36
MOST_FORWARDING_HOPS = 9
"""One of them is the search tool of the design card, through which the chain asks."""
MOST_OF_A_NOTE = 40
MOST_OF_A_SCENE = 60


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


def test_storing_takes_few_statements(demo_stores: MemoryStores) -> None:
    """A note and a short scene, each with its place in the index: what is read once is not read again."""
    story = Story(demo_stores, "demo")
    # The first in a program also proves the index.
    story.memories.add("The harbour is cold.")
    with counted_statements() as of_note:
        added = story.memories.add("The winter is long.", attached_to=["book"])
    assert added.indexing.indexed == 1
    assert len(of_note) <= MOST_OF_A_NOTE, "\n".join(f"{senders}: {statement}" for statement, senders in of_note)
    with counted_statements() as of_scene:
        report = story.scenes.store(position="90:1", text="The harbour lay still, and nobody came.")
    assert [scene.outcome for scene in report.scenes] == ["added"]
    assert len(of_scene) <= MOST_OF_A_SCENE, "\n".join(f"{senders}: {statement}" for statement, senders in of_scene)
