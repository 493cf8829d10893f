"""The stores keep what the memory protocols promise: SQLite with embedded Chroma, PostgreSQL with a Chroma server."""

from collections.abc import Iterator

import pytest

from novelgen.testing import CHINESE_STORY, ENGLISH_STORY, SampleStory, StoryMemoryConformance
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.stores import MemoryStores
from tests.runtime.index.conftest import ServerProcess
from tests.support.databases import BOTH, postgres_database
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow


def fill(stores: MemoryStores, story: SampleStory) -> None:
    """Take a story in as an author does: its entities, its scenes with their records, a note."""
    stores.create_project(story.project_id, language=story.language)
    store_entities(stores, story.project_id, story.entities)
    with stores.database(story.project_id).write() as unit:
        unit.memories.add_note(story.canon)
    scenes = [
        SceneInput(
            chapter_index=scene.record.chapter_index,
            scene_index=scene.record.scene_index,
            text=scene.text,
            record=scene.record,
        )
        for scene in story.scenes
    ]
    assert ingest_scenes(stores, story.project_id, scenes).issues == []


@pytest.fixture(scope="module", params=BOTH)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoryMemoryTools]:
    """Stores that hold both stories; they are only read."""
    folder = tmp_path_factory.mktemp("conformance")
    if request.param == "sqlite":
        with MemoryStores(settings_for(folder / "projects")) as stores:
            for story in (ENGLISH_STORY, CHINESE_STORY):
                fill(stores, story)
            yield StoryMemoryTools(stores)
        return
    server = ServerProcess(folder / "chroma")
    with postgres_database(request.getfixturevalue("postgres_url")) as url:
        server.start()
        settings = settings_for(folder / "projects", vector_store={"url": server.url, "write_timeout_s": 60.0})
        with MemoryStores(settings.model_copy(update={"database_url": url})) as stores:
            for story in (ENGLISH_STORY, CHINESE_STORY):
                fill(stores, story)
            yield StoryMemoryTools(stores)
        server.kill()


class TestStores(StoryMemoryConformance):
    """Both pairs of stores."""

    tools: StoryMemoryTools

    @pytest.fixture(autouse=True)
    def _lent(self, filled: StoryMemoryTools) -> None:
        self.tools = filled

    def memory_of(self, story: SampleStory) -> StoryMemoryTools:
        return self.tools
