"""A suite that any implementation of the memory protocols can run against itself.

For those who bring a memory of their own. Subclass one of the classes in a test module, say how a story is stored,
and let a test runner collect it; nothing here needs pytest:

    from novelgen.testing import SampleStory, StoryMemoryConformance

    class TestMyMemory(StoryMemoryConformance):
        def memory_of(self, story: SampleStory) -> MyMemory:
            memory = MyMemory()
            memory.store(story.project_id, story.entities, story.records, canon=story.canon)
            return memory

`MemoryToolsConformance` is for the three tools of `novelgen.memory.protocol.MemoryTools`,
`StoryMemoryConformance` for the whole `StoryMemory`, the three tools included. What is stored may hold more than the
records say (passages, summaries): the cases look at the records' memories alone, which they know by `source_id`, and
demand of everything else only that it lies before the position. A case that fails is a promise of the protocols that
chains rely on.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import InvalidProjectIdError, UnknownProjectError
from novelgen.memory.protocol import MemoryTools, StoryMemory, further_read
from novelgen.memory.search import SearchQuery, SearchRequest
from novelgen.models.context import MemoryContextRequest
from novelgen.models.folds import fold_state_changes, snapshot_order
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import END_OF_STORY, Placed, StoryPosition
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.testing.sample_story import CHINESE_STORY, ENGLISH_STORY, SampleStory

BAD_PROJECT_IDS: tuple[Any, ...] = ({"$ne": ""}, "../elsewhere", "", None)


class MemoryToolsConformance:
    """Conformance tests of the three tools.

    Override `memory_of`.
    """

    stories: Sequence[SampleStory] = (ENGLISH_STORY, CHINESE_STORY)

    def memory_of(self, story: SampleStory) -> MemoryTools:
        """Return a memory that holds the story and nothing else of its project.

        Called by every case; where filling is dear, fill once and return the same again: no case changes anything.

        Args:
            story: What is stored.
        """
        raise NotImplementedError("override memory_of: return your memory, filled with the story")

    def test_a_question_finds_the_memory_that_answers_it(self) -> None:
        """The memory that answers a question comes first."""
        for story, memory in self._filled_memories():
            for memory_id, question in story.queries.items():
                result = memory.search_story_memory(story.project_id, question, content_type="memory")
                assert _ids(result)[:1] == [memory_id], (question, _ids(result))

    def test_a_search_is_cut_strictly_before_the_position(self) -> None:
        """A search finds earlier facts and nothing at or after the position."""
        for story, memory in self._filled_memories():
            for position in story.positions:
                for memory_id, question in story.queries.items():
                    result = memory.search_story_memory(story.project_id, question, top_k=50, as_of=position)
                    _require_before(result, position)
                    place = next(
                        scene.position
                        for scene in story.scenes
                        if memory_id in {memory.memory_id for memory in scene.record.memories}
                    )
                    is_told = position.admits(place.chapter_index, place.scene_index)
                    assert (memory_id in _ids(result)) == is_told, (str(position), memory_id)

    def test_a_search_belongs_to_its_project(self) -> None:
        """Everything found bears the project's id, once each, and no more than asked."""
        for story, memory in self._filled_memories():
            result = memory.search_story_memory(story.project_id, story.queries["M1"], top_k=3)
            assert 0 < len(result) <= 3
            assert {chunk.project_id for chunk in result} == {story.project_id}
            assert not _repeated(chunk.chunk_id for chunk in result)

    def test_filters_narrow_a_search(self) -> None:
        """Entity filters take ids and names, and all filters combine."""
        for story, memory in self._filled_memories():
            question, name = story.queries["M4"], story.entities[2].name

            def ids(
                memory: MemoryTools = memory, story: SampleStory = story, question: str = question, **filters: Any
            ) -> list[str]:
                return _ids(memory.search_story_memory(story.project_id, question, top_k=50, **filters))

            assert ids(entities=["C2"], content_type="memory") == ["M4"]
            assert ids(entities=[name], content_type="memory") == ["M4"]
            assert set(ids(tags=["key"])) == {"M0", "M4"}
            assert ids(tags=["key"], entities=["C0"]) == ["M0"]
            assert ids(tags=["no such tag"]) == []
            assert ids(entities=["C99"]) == []

    def test_a_state_is_the_fold_of_what_was_said_before(self) -> None:
        """The last value of an attribute holds, a list is replaced whole, None clears, nothing comes too early."""
        for story, memory in self._filled_memories():
            goals = next(
                change.changes["goals"] for change in story.scenes[1].record.state_changes if "goals" in change.changes
            )
            disguise = story.scenes[1].record.state_changes[0].changes["disguise"]
            expected_values = {
                (1, 1): None,
                (1, 2): {"goals": goals, "disguise": disguise},
                (2, None): {"goals": goals},
                (3, 1): {"goals": goals},
                (4, None): {"goals": goals[:1]},
                (None, None): {"goals": goals[:1]},
            }
            for (chapter, scene), state in expected_values.items():
                result = memory.get_entity_state(story.project_id, "C1", chapter_index=chapter, scene_index=scene)
                assert _stated(result) == state, (chapter, scene)

    def test_a_state_says_where_it_last_changed(self) -> None:
        """A repeated sighting moves no state, and unstated values have no later place."""
        for story, memory in self._filled_memories():
            result = memory.get_entity_state(story.project_id, "C1", chapter_index=3)
            assert result is not None
            assert (result.entity_id, result.project_id) == ("C1", story.project_id)
            assert (result.chapter_index, result.scene_index) == (1, 2)

    def test_a_state_answers_to_names(self) -> None:
        """Display names always, an alias from where the story uses it on, and nobody for a name that nobody bears."""
        for story, memory in self._filled_memories():
            alias, name = story.aliases["C1"], story.entities[1].name

            def entity_id(
                query: str, chapter: int, memory: MemoryTools = memory, story: SampleStory = story
            ) -> str | None:
                snapshot = memory.get_entity_state(story.project_id, query, chapter_index=chapter)
                return snapshot.entity_id if snapshot is not None else None

            assert entity_id(name, 2) == "C1"
            assert entity_id(alias, 2) is None
            assert entity_id(alias, 3) == "C1"
            assert entity_id("nobody of this name", 3) is None

    def test_a_timeline_has_one_snapshot_per_entity_and_chapter_of_change(self) -> None:
        """Snapshots are distinct and in story order, and presence is no change."""
        for story, memory in self._filled_memories():
            result = memory.get_recent_timeline(story.project_id, 1, context_window=1)
            changed = [(item.entity_id, item.chapter_index) for item in result if _stated(item)]
            assert changed == [("I0", 0), ("C1", 1)]
            whole = memory.get_recent_timeline(story.project_id, 2, context_window=9)
            assert whole == sorted(whole, key=snapshot_order)
            assert not _repeated((item.entity_id, item.chapter_index) for item in whole)

    def test_a_timeline_is_cut_strictly_before_the_position(self) -> None:
        """A chapter that the position cuts is folded up to it, and no snapshot comes from later."""
        for story, memory in self._filled_memories():
            for position in story.positions:
                result = memory.get_recent_timeline(story.project_id, 1, context_window=9, as_of=position)
                _require_before(result, position)
            timeline = memory.get_recent_timeline(story.project_id, 1, context_window=0, as_of=StoryPosition(1, 2))
            (snapshot,) = [item for item in timeline if item.entity_id == "C1"]
            assert set(_stated(snapshot) or ()) == {"goals", "disguise"}

    def test_a_bad_project_id_is_refused(self) -> None:
        """An unsafe project id raises InvalidProjectIdError before any read."""
        for _, memory in self._filled_memories():
            for bad in BAD_PROJECT_IDS:
                for call in self._reads(memory, bad):
                    assert _raised(call) is InvalidProjectIdError, repr(bad)

    def test_another_project_is_unknown_or_empty(self) -> None:
        """However alike its name: either UnknownProjectError, or nothing is found."""
        for story, memory in self._filled_memories():
            for call in self._reads(memory, f"{story.project_id}2"):
                try:
                    result = call()
                except UnknownProjectError:
                    continue
                assert not result

    def test_reading_changes_nothing(self) -> None:
        """The same questions have the same answers, whatever was asked between."""
        for story, memory in self._filled_memories():
            first, second = ([call() for call in self._reads(memory, story.project_id)] for _ in range(2))
            assert _comparable(first) == _comparable(second)

    def _filled_memories(self) -> Iterable[tuple[SampleStory, Any]]:
        for story in self.stories:
            yield story, self.memory_of(story)

    def _reads(self, memory: Any, project_id: Any) -> list[Callable[[], Any]]:
        return [
            lambda: memory.search_story_memory(project_id, "key 钥匙"),
            lambda: memory.get_entity_state(project_id, "C1", chapter_index=3),
            lambda: memory.get_recent_timeline(project_id, 1, context_window=9),
        ]


class StoryMemoryConformance(MemoryToolsConformance):
    """Conformance tests of a memory with a story.

    Override `memory_of`.
    """

    def memory_of(self, story: SampleStory) -> StoryMemory:
        """Return a memory with the story alone.

        See the base class.
        """
        raise NotImplementedError("override memory_of: return your memory, filled with the story")

    def test_it_offers_the_protocol(self) -> None:
        """The memory has every method that chains call."""
        for _, memory in self._filled_memories():
            assert isinstance(memory, StoryMemory)

    def test_an_outline_is_cut_strictly_before_the_position(self) -> None:
        """Scenes and entities are those that the story had shown, in order."""
        for story, memory in self._filled_memories():
            for position in story.positions:
                outline = memory.outline(story.project_id, as_of=position)
                sample_scenes = [sample_scene for sample_scene in story.scenes if sample_scene.position < position]
                shown_ids = [
                    entity.entity_id
                    for entity in story.entities
                    if position.admits(entity.first_chapter, entity.first_scene)
                ]
                places = [(scene.chapter_index, scene.scene_index) for scene in outline.scenes]
                assert places == [
                    (sample_scene.record.chapter_index, sample_scene.record.scene_index)
                    for sample_scene in sample_scenes
                ]
                assert [sorted(scene.participants) for scene in outline.scenes] == [
                    sorted(sample_scene.record.characters_present) for sample_scene in sample_scenes
                ]
                assert [entity.entity_id for entity in outline.entities] == shown_ids, str(position)
            assert memory.outline(story.project_id, as_of=END_OF_STORY).language == story.language

    def test_a_recap_is_cut_strictly_before_the_position(self) -> None:
        """A recap holds the last scenes in order and earlier tags."""
        for story, memory in self._filled_memories():
            read_recap = further_read(memory, "recap")
            if read_recap is None:
                continue
            for position in story.positions:
                records = [sample_scene.record for sample_scene in story.scenes if sample_scene.position < position]
                recap = read_recap(story.project_id, as_of=position, last_scenes=2)
                places = [(scene.chapter_index, scene.scene_index) for scene in recap.scenes]
                assert places == [(record.chapter_index, record.scene_index) for record in records[-2:]]
                tag_counts = Counter(tag for record in records for memory in record.memories for tag in memory.tags)
                assert recap.tags == sorted(tag_counts, key=lambda tag: (-tag_counts[tag], tag)), str(position)
                has_memories = any(record.memories for record in records)
                assert ("memory" in recap.content_types) == has_memories, str(position)

    def test_who_knows_what_is_cut_strictly_before_the_position(self) -> None:
        """Knowledge holds memories, scenes and statements strictly before the position."""
        for story, memory in self._filled_memories():
            read_knowledge = further_read(memory, "knowledge")
            if read_knowledge is None:
                continue
            for position in story.positions:
                records = [sample_scene.record for sample_scene in story.scenes if sample_scene.position < position]
                known_knowledge_story = read_knowledge(story.project_id, as_of=position)
                assert known_knowledge_story.as_of == position
                assert [knowledge_scene.position for knowledge_scene in known_knowledge_story.scenes] == [
                    StoryPosition(record.chapter_index, record.scene_index) for record in records
                ]
                for scene, record in zip(known_knowledge_story.scenes, records, strict=True):
                    assert set(record.characters_present) <= scene.present, str(scene.position)
                memory_ids = {memory.memory_id for record in records for memory in record.memories}
                recorded = {memory.memory_id for record in story.records for memory in record.memories}
                assert {memory.source_id for memory in known_knowledge_story.memories} & recorded == memory_ids, str(
                    position
                )

    def test_single_changes_fold_to_the_states(self) -> None:
        """All changes before a position fold to its state."""
        for story, memory in self._filled_memories():
            states_of = memory.get_entity_states
            read_changes = further_read(memory, "changes")
            if read_changes is None:
                continue
            ids = [entity.entity_id for entity in story.entities]
            for position in story.positions:
                changes = read_changes(story.project_id, ids, as_of=position)
                for state in states_of(story.project_id, ids, as_of=position):
                    own = [change for change in changes.states if change.entity_id == state.entity_id]
                    assert fold_state_changes(own, position)[0] == state.state_data, str(position)

    def test_threads_stand_as_they_did_at_the_position(self) -> None:
        """Threads are planted, moved and resolved, and their age counts scenes."""
        for story, memory in self._filled_memories():
            expected_values = {
                (1, 1): {},
                (1, 2): {"OL0": ("open", 0)},
                (2, 1): {"OL0": ("advanced", 1), "OL1": ("open", 0)},
                (3, 1): {"OL0": ("advanced", 2), "OL1": ("open", 1)},
                (None, None): {"OL1": ("open", 2)},
            }
            for place, threads in expected_values.items():
                loops = memory.outline(story.project_id, as_of=StoryPosition(*place)).open_loops
                assert {loop.loop_id: (loop.status, loop.age_scenes) for loop in loops} == threads, place

    def test_relationships_stand_as_they_did_at_the_position(self) -> None:
        """Dimensions persist until restated, one relationship per pair."""
        for story, memory in self._filled_memories():
            expected_values: dict[tuple[int, int | None], list[tuple[str, dict[str, int]]]] = {
                (1, 1): [],
                (2, None): [("friendly", {"trust": 20})],
                (4, None): [("hostile", {"trust": 20, "fear": 30})],
            }
            for place, pairs in expected_values.items():
                result = memory.outline(story.project_id, as_of=StoryPosition(*place)).relationships
                assert [(item.status, dict(item.dimensions)) for item in result] == pairs, place
                assert {(item.character_a, item.character_b) for item in result} <= {("C0", "C1")}

    def test_holders_are_the_last_that_were_said(self) -> None:
        """Holders and last changed states hold at the position."""
        for story, memory in self._filled_memories():
            early = memory.outline(story.project_id, as_of=StoryPosition(1, 1))
            late = memory.outline(story.project_id, as_of=END_OF_STORY)
            assert (early.holders, early.stated_ids) == ({"C0": ["I0"]}, ["I0"])
            assert late.holders == {"C2": ["I0"]}
            assert set(late.stated_ids) == {"C1", "I0"}

    def test_states_come_in_the_order_asked(self) -> None:
        """States are distinct, without entities that have none."""
        for story, memory in self._filled_memories():
            queries = ["C1", "C99", "I0", "C1"]
            result = memory.get_entity_states(story.project_id, queries, as_of=END_OF_STORY)
            assert [item.entity_id for item in result] == ["C1", "I0"]
            assert memory.get_entity_states(story.project_id, queries, as_of=StoryPosition(0, 1)) == []

    def test_a_search_of_many_queries_tells_who_found_what(self) -> None:
        """Candidates are distinct, earlier and in order, with ranks from 1."""
        for story, memory in self._filled_memories():
            position = StoryPosition(3, 1)
            request = SearchRequest(
                project_id=story.project_id,
                queries=[SearchQuery(text=story.queries[kind]) for kind in ("M1", "M3", "M4")],
                entity_ids=["C0", "C1"],
                as_of=position,
                candidates_per_query=50,
                timeout_s=60.0,
            )
            result = memory.search(request)
            assert result.issues == ()
            chunks = [candidate.chunk for candidate in result.candidates]
            names = [chunk.chunk_id for chunk in chunks]
            assert names == sorted(set(names))
            _require_before(chunks, position)
            assert {"M1", "M3"} <= set(_ids(chunks))
            assert "M4" not in _ids(chunks)
            ranks: dict[tuple[str, int | None], list[int]] = defaultdict(list)
            for candidate in result.candidates:
                for hit in candidate.hits:
                    ranks[hit.retriever, hit.query_index].append(hit.rank)
            assert {min(found_numbers) for found_numbers in ranks.values()} == {1}
            assert {index for _, index in ranks} - {None} <= set(range(len(request.queries)))

    def test_memories_of_entities_are_counted_where_asked(self) -> None:
        """Distilled memories that are linked to the entities and lie before the position, found or not."""
        for story, memory in self._filled_memories():
            for position, count in ((StoryPosition(1, 1), 0), (StoryPosition(2), 2), (END_OF_STORY, 3)):
                request = SearchRequest(
                    project_id=story.project_id,
                    queries=[SearchQuery(text=story.queries["M3"])],
                    entity_ids=["C1"],
                    as_of=position,
                    counts_linked=True,
                    timeout_s=60.0,
                )
                assert memory.search(request).linked == count, str(position)

    def test_a_context_is_built_over_it_without_an_issue(self) -> None:
        """The chain finds the needed facts and no later ones."""
        for story, memory in self._filled_memories():
            names = {entity.entity_id: entity.name for entity in story.entities}
            context = MemoryContextChain(memory).invoke(
                MemoryContextRequest(
                    project_id=story.project_id,
                    chapter_index=3,
                    scene_index=1,
                    scene_plan=ScenePlan(
                        scene_number=1,
                        location=names["L0"],
                        characters=[names["C0"], names["C1"]],
                        purpose=story.queries["M1"],
                        key_actions=[story.queries["M0"]],
                    ),
                )
            )
            assert [issue for issue in context.report.issues if issue.kind != "unresolved"] == []
            # Each fact stands once: what the last scene's end or a state tells is no memory beside it.
            told_ids = {
                omission.source_id
                for omission in context.report.left_out
                if omission.why and omission.why.code == "told_elsewhere"
            }
            assert {"M0", "M1"} <= {*_ids(context.relevant_memories), *told_ids}
            assert "M4" not in _ids(context.relevant_memories)
            assert {"C1", "I0"} <= {state.entity_id for state in context.entity_states}
            _require_before(context.relevant_memories, StoryPosition(3, 1))

    def _reads(self, memory: Any, project_id: Any) -> list[Callable[[], Any]]:
        return [
            *super()._reads(memory, project_id),
            lambda: memory.get_entity_states(project_id, ["C1"], as_of=END_OF_STORY),
        ]


def _ids(chunks: Iterable[StoryMemoryChunk]) -> list[str]:
    """The records' memories among the chunks, by the ids that their records gave them."""
    return [chunk.source_id for chunk in chunks if chunk.source_id and chunk.content_type == "memory"]


def _stated(snapshot: EntityStateSnapshot | None) -> dict[str, Any] | None:
    """The stated values of an entity, or None without statements."""
    data = snapshot.state_data if snapshot is not None else {}
    return {name: value for name, value in data.items() if name != PRESENCE_ATTRIBUTE} or None


def _require_before(things: Iterable[Placed], position: StoryPosition) -> None:
    for thing in things:
        assert position.admits(thing.chapter_index, thing.scene_index), (str(position), thing)


def _repeated(keys: Iterable[Any]) -> list[Any]:
    return [key for key, count in Counter(keys).items() if count > 1]


def _raised(call: Callable[[], Any]) -> type[BaseException] | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - which one it is, is what is asked
        return type(error)
    return None


def _comparable(answers: Iterable[Any]) -> list[Any]:
    listing = [answer if isinstance(answer, list) else [answer] for answer in answers]
    return [[item.model_dump() if item is not None else None for item in answer] for answer in listing]
