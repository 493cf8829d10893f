"""Names that stand in the text and are no entity's: their passages are found, and nobody is called unknown."""

from collections.abc import Iterator

import pytest

from novelgen.models.context import SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from runtime.context_chain import build_context_chain
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.search.search import ranked_memories
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

TEXTS = [
    "Rain fell on the quay. “We sail,” said Ada Morris. Then Ada Morris coiled the rope.",
    "Captain Morris sold the brass compass to a stranger in the market. “Done,” said Captain Morris.",
    "The stranger gave his name as Veronica Stone. “Good night,” said Veronica Stone.",
]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """A story of three scenes as text, of which one person is known."""
    with MemoryStores(settings_for(tmp_path_factory.mktemp("projects"))) as opened:
        opened.create_project("quay", language="en")
        ingest_scenes(
            opened,
            "quay",
            [SceneInput(chapter_index=at, scene_index=1, text=text) for at, text in enumerate(TEXTS, start=1)],
        )
        ben = Entity(entity_id="C0", entity_type="character", name="Ben", first_chapter=1, first_scene=1)
        store_entities(opened, "quay", [ben], origin="author")
        yield opened


def _context(stores: MemoryStores, chapter: int, *characters: str) -> SceneMemoryContext:
    asked = {
        "project_id": "quay",
        "chapter_index": chapter,
        "scene_index": 1,
        "scene_plan": {"location": "the market", "characters": list(characters), "purpose": "Ask for it back."},
    }
    return build_context_chain(stores, write_files=False).invoke(asked)


def _messages(context: SceneMemoryContext) -> list[str]:
    return [issue.message for issue in context.report.issues]


def test_a_name_of_the_text_is_nobody_unknown(stores: MemoryStores) -> None:
    """Searched for by its variants, it becomes no entity; a misspelt one, or one of later, is told."""
    context = _context(stores, 4, "Ada Morris")
    assert [each for each in _messages(context) if "nobody" in each] == []
    assert any("Captain Morris" in query.text for query in context.report.queries)
    assert any("brass compass" in each.content for each in context.relevant_memories)
    assert "Ada Morris" not in {state.entity_id for state in context.entity_states}
    assert any("'Ada Norris'" in each for each in _messages(_context(stores, 4, "Ada Norris")))
    assert any("'Veronica Stone'" in each for each in _messages(_context(stores, 3, "Veronica Stone")))
    assert [each for each in _messages(_context(stores, 4, "Veronica Stone")) if "nobody" in each] == []


def test_a_search_for_a_name_of_the_text_finds_its_variants(stores: MemoryStores) -> None:
    """A filter by a name that no entity bears looks for it instead, as of the position alone."""
    found = ranked_memories(stores, "quay", "compass", entities=["Ada"])
    assert found.issues == []
    told = [each.chunk.content for each in found.memories if each.retrievers.get("lexical")]
    assert any("brass compass" in each for each in told)
    assert any("coiled the rope" in each for each in told)
    before = ranked_memories(stores, "quay", "stranger", entities=["Veronica"], as_of=StoryPosition(3, 1))
    assert [(each.stage, each.kind) for each in before.issues] == [("search", "unresolved")]
    assert before.memories == []
