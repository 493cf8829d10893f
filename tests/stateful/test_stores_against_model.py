"""Whatever is stored, edited, merged, moved, restarted and killed: the stores say what a plain model says.

More examples by NOVELGEN_TEST_STATEFUL_EXAMPLES and NOVELGEN_TEST_STATEFUL_STEPS.
"""

import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from novelgen.errors import VectorIndexError
from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import drain_outbox, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import search_story_memory_tool
from runtime.storage.models import MemoryEdit, MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.scenes import StoryScenes
from tests.runtime.index.conftest import process_of
from tests.stateful.plain_story import Place, PlainScene, PlainStory, memory_of
from tests.support.demo_project import settings_for

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("NOVELGEN_TEST_STATEFUL_EXAMPLES", "6"))
STEPS = int(os.environ.get("NOVELGEN_TEST_STATEFUL_STEPS", "20"))
ENTITIES = ("C0", "C1", "I0")
PLACES = st.tuples(st.integers(1, 3), st.integers(1, 4))
CUTS = st.tuples(st.integers(1, 4), st.integers(1, 5))
VALUES = st.none() | st.sampled_from(["at the mill", "gone"]) | st.lists(st.sampled_from("abc"), max_size=2)
CHANGES = st.dictionaries(
    st.sampled_from(ENTITIES), st.dictionaries(st.sampled_from(["mood", "goals"]), VALUES, min_size=1), max_size=2
)
_projects = itertools.count(1)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores whose projects share one index process."""
    with MemoryStores(settings_for(tmp_path_factory.mktemp("projects"))) as opened:
        yield opened


class StoryMachine(RuleBasedStateMachine):
    """Acts on the stores and on the model alike, and compares what both say at random places."""

    def __init__(self, stores: MemoryStores) -> None:
        super().__init__()
        self.stores = stores
        self.model = PlainStory()
        self.project = f"story-{next(_projects)}"
        self.number = 0
        self.merge_id: int | None = None

    @initialize()
    def create(self) -> None:
        """Begin a story with its entities."""
        self.stores.create_project(self.project, language="en")
        index = self.stores.settings.projects_dir / "index"
        index.mkdir(exist_ok=True)
        self.stores.paths(self.project).vectors.symlink_to(index)
        store_entities(
            self.stores,
            self.project,
            [
                Entity(entity_id="C0", entity_type="character", name="Anna"),
                Entity(entity_id="C1", entity_type="character", name="Boris"),
                Entity(entity_id="I0", entity_type="item", name="the ring"),
            ],
        )

    @precondition(lambda self: self.merge_id is None)
    @rule(place=PLACES, changes=CHANGES)
    def put(self, place: Place, changes: dict[str, dict[str, Any]]) -> None:
        """Store a scene, or another version of one."""
        self.number += 1
        scene = PlainScene.told(self.number, changes)
        ingest_scene(self.stores, self.project, _input_of(place, scene))
        self.model.put(place, scene)

    @precondition(lambda self: self.model.scenes and self.merge_id is None)
    @rule(data=st.data(), changes=CHANGES)
    def correct_record(self, data: st.DataObject, changes: dict[str, dict[str, Any]]) -> None:
        """Replace a scene's record by one of the author's, which says other changes."""
        place = data.draw(st.sampled_from(sorted(self.model.scenes)))
        self.model.correct(place, changes)
        scene = _input_of(place, self.model.scenes[place])
        result = ingest_scene(self.stores, self.project, scene.model_copy(update={"record_origin": "author"}))
        assert result.count("added") == 0

    @precondition(lambda self: self.model.scenes)
    @rule(data=st.data())
    def edit_memory(self, data: st.DataObject) -> None:
        """Reword a memory; it is the author's from then on."""
        place = data.draw(st.sampled_from(sorted(self.model.scenes)))
        old = data.draw(st.sampled_from(self.model.scenes[place].memories)).content
        self.number += 1
        new = memory_of(self.number)
        with self.stores.database(self.project).write() as unit:
            listed = unit.memories.list_matching(MemoryFilter(content_types=["memory"]))
            (chunk_id,) = [each.chunk.chunk_id for each in listed if each.chunk.content == old]
            unit.memories.edit(chunk_id, MemoryEdit(content=new))
        drain_outbox(self.stores, self.project)
        self.model.edit(place, old, new)

    @precondition(lambda self: self.merge_id is None)
    @rule()
    def merge(self) -> None:
        """Boris turns out to be Anna; scenes are not replaced until that is undone, which would then be refused."""
        with self.stores.database(self.project).write() as unit:
            self.merge_id = unit.merges.merge("C0", "C1").change_id
        self.model.merge("C0", "C1")

    @precondition(lambda self: self.merge_id is not None)
    @rule()
    def undo_merge(self) -> None:
        """They are two again, with all that each had."""
        with self.stores.database(self.project).write() as unit:
            unit.merges.undo(self.merge_id)
        drain_outbox(self.stores, self.project)
        self.merge_id = None
        self.model.undo_merge()

    @precondition(lambda self: self.model.scenes and self.merge_id is None)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """Delete a scene."""
        place = data.draw(st.sampled_from(sorted(self.model.scenes)))
        StoryScenes(self.stores, self.project).delete(StoryPosition(*place))
        self.model.delete(place)

    @precondition(lambda self: self.model.scenes)
    @rule(data=st.data(), goal=PLACES)
    def move(self, data: st.DataObject, goal: Place) -> None:
        """Move a scene to a free place or between others; the index follows."""
        source = data.draw(st.sampled_from(sorted(self.model.scenes)))
        with self.stores.database(self.project).write() as unit:
            unit.scenes.move_scene(StoryPosition(*source), StoryPosition(*goal))
        drain_outbox(self.stores, self.project)
        self.model.move(source, goal)

    @rule()
    def restart(self) -> None:
        """Close everything; what comes next opens it again."""
        self.stores.close()

    @rule()
    def kill_index(self) -> None:
        """Kill the process of the index, if one runs."""
        pid = process_of(self.stores.vectors(self.project)).pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    @rule(cut=CUTS)
    def read(self, cut: Place) -> None:
        """States, memories and the context are those of the model, cut at the place and in story order."""
        position = StoryPosition(*cut)
        visible = self.model.memories_before(cut)
        with self.stores.database(self.project).read() as unit:
            states = {each.entity_id: each.state_data for each in unit.states.snapshots(ENTITIES, as_of=position)}
            asked = MemoryFilter(as_of=position, content_types=["memory"])
            listed = [each.chunk.content for each in unit.memories.list_matching(asked)]
        assert _stated(states) == {name: state for name, state in self.model.states_before(cut).items() if state}
        assert listed == visible
        found = search_story_memory_tool(
            self.project, "ring at the mill", content_type="memory", top_k=50, as_of=position, stores=self.stores
        )
        assert sorted(chunk.content for chunk in found) == sorted(visible)
        self._read_context(cut, visible)

    def _read_context(self, cut: Place, visible: list[str]) -> None:
        plan = ScenePlan(scene_number=cut[1], characters=["Anna"], purpose="Where is the ring?")
        context = build_context_chain(self.stores, write_files=False).invoke(
            MemoryContextRequest(project_id=self.project, chapter_index=cut[0], scene_index=cut[1], scene_plan=plan)
        )
        told = {chunk.content for chunk in context.relevant_memories if chunk.content_type == "memory"}
        assert told <= set(visible)
        assert bool(told) == bool(visible)

    def teardown(self) -> None:
        """After all that the index agrees with SQL."""
        if self.number:
            # The first call after a kill may find the process gone; the next one starts another.
            drain_outbox(self.stores, self.project)
            assert drain_outbox(self.stores, self.project).waiting == 0
            with suppress(VectorIndexError):
                verify_index(self.stores, self.project)
            assert verify_index(self.stores, self.project).is_sound


def _stated(states: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Keep what records state; presence is derived and not of this test."""
    kept = {
        entity_id: {name: value for name, value in state.items() if name in ("mood", "goals")}
        for entity_id, state in states.items()
    }
    return {entity_id: state for entity_id, state in kept.items() if state}


def _input_of(place: Place, scene: PlainScene) -> SceneInput:
    record = SceneRecord.model_validate(
        {
            "chapter_index": place[0],
            "scene_index": place[1],
            "characters_present": ["C0"],
            "state_changes": [
                {"entity_id": entity_id, "changes": changes} for entity_id, changes in scene.changes.items()
            ],
            "memories": [
                {"memory_id": f"M{scene.number}", "content": memory_of(scene.number), "entities": ["C0", "I0"]}
            ],
        }
    )
    text = f"Anna came to the mill with ring {scene.number}."
    return SceneInput(chapter_index=place[0], scene_index=place[1], text=text, record=record)


@pytest.mark.timeout(1800)
def test_the_stores_say_what_the_model_says(stores: MemoryStores) -> None:
    """States, memories visible and their order agree after any acts, restarts and kills."""
    run_state_machine_as_test(
        lambda: StoryMachine(stores),
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
