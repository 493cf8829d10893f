"""From whose point of view a context is: what is decided, what is marked, and what happens when it cannot be told."""

import threading
from functools import cache
from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.memory.story_changes import StoryChanges
from novelgen.models.context import ContextItem, ReportIssue, SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedLoop, RecordedLoopAdvance, SceneRecord
from novelgen.settings import ContextSettings
from runtime.story.story import Story
from tests.support.stored_story import StoredStory, patient

PROJECT = "mill"

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Anna"),
    Entity(entity_id="C1", entity_type="character", name="Ben"),
    Entity(entity_id="C2", entity_type="character", name="Clara"),
    Entity(entity_id="I0", entity_type="item", name="the letter"),
]


def told(memory_id: str, content: str, *entities: str, **more: Any) -> dict[str, Any]:
    """Return a memory of a record."""
    return {"memory_id": memory_id, "event_type": "event", "content": content, "entities": entities, **more}


RECORDS = [
    SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 1,
            "characters_present": ["C0", "C1", "C2"],
            "memories": [told("M1", "Anna and Ben and Clara looked for the letter.", "C0", "C1", "C2")],
        }
    ),
    SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": 2,
            "characters_present": ["C0"],
            "memories": [
                told("M2", "Anna burned the letter alone at night.", "C0", "I0", slot_type="I0.condition"),
                told("M3", "Anna bought bread for Ben.", "C0", known_by=["C0", "C1"]),
            ],
            "state_changes": [
                {"entity_id": "C0", "changes": {"status": "guilty"}},
                {"entity_id": "C1", "changes": {"status": "hungry"}},
                {"entity_id": "I0", "changes": {"condition": "burned"}},
            ],
            "relationship_changes": [
                {"character_a": "C0", "character_b": "C1", "perspective_a": "pity", "perspective_b": "love"}
            ],
        }
    ),
]


@cache
def double() -> StoredStory:
    """Return the story, which nobody changes."""
    return StoredStory.of_records(PROJECT, RECORDS, entities=ENTITIES)


def asked(**more: Any) -> dict[str, Any]:
    """Return a request for scene 2:1."""
    plan = {"characters": ["Anna", "Ben"], "purpose": "They speak of the letter and the bread at night"}
    return {"project_id": PROJECT, "chapter_index": 2, "scene_index": 1, "scene_plan": plan, **more}


def built(memory: Any = None, *, settings: ContextSettings | None = None, **more: Any) -> SceneMemoryContext:
    """Return the context of the scene."""
    return MemoryContextChain(memory or double(), settings=patient(settings)).invoke(asked(**more))


def taken(context: SceneMemoryContext) -> dict[str | None, ContextItem]:
    """Return the receipts by source id."""
    return {item.source_id: item for item in context.report.items}


def knowledge_issues(context: SceneMemoryContext) -> list[ReportIssue]:
    """Return what went wrong in telling who knows what."""
    return [issue for issue in context.report.issues if issue.stage == "knowledge"]


def mode_of(context: SceneMemoryContext) -> str | None:
    """Return what became of what the point of view does not know; None without one."""
    return context.report.point_of_view and context.report.point_of_view.mode


def test_receipts_say_who_of_the_cast_knows_a_memory() -> None:
    """Without a point of view all is taken, and each receipt lists who of the plan's people knows it, and who not."""
    context = built()
    items = taken(context)
    assert (items["M1"].known_by, items["M1"].not_known_by) == (["C0", "C1"], [])
    assert (items["M2"].known_by, items["M2"].not_known_by) == (["C0"], ["C1"])
    assert (items["M3"].known_by, items["M3"].not_known_by) == (["C0", "C1"], [])
    assert mode_of(context) is None
    assert "hidden" not in context.model_dump()
    assert "point_of_view" not in context.model_dump()["report"]
    assert "Ben)" not in context.as_prompt()


def test_a_page_without_a_point_of_view_says_from_whom_a_record_keeps_a_memory() -> None:
    """Who was merely elsewhere gets no mark; from whom it is hidden does, until they come to know it."""
    kept = RECORDS[0].model_copy(deep=True)
    kept.memories[0].hidden_from = ["C1"]
    hiding = StoredStory.of_records(PROJECT, [kept, RECORDS[1]], entities=ENTITIES)
    context = built(hiding)
    items = taken(context)
    assert (items["M1"].kept_from, items["M2"].kept_from) == (["C1"], [])
    [line] = [each for each in context.as_prompt().splitlines() if "(unknown to Ben)" in each]
    assert "looked for the letter" in line
    assert items["M3"].kept_from == []
    learnt = {**RECORDS[1].model_dump(), "learned": [{"character_id": "C1", "memory_ids": ["M1"]}]}
    told_since = StoredStory.of_records(PROJECT, [kept, SceneRecord.model_validate(learnt)], entities=ENTITIES)
    assert taken(built(told_since))["M1"].kept_from == []


def test_an_author_s_word_that_somebody_knows_keeps_a_note_from_others_but_no_memory_of_a_scene() -> None:
    """Who confides a note names all who know it; who says of a scene that one more knows it leaves its witnesses."""
    told = StoredStory.of_records(PROJECT, RECORDS, entities=ENTITIES)
    story = Story(told._stores, PROJECT)
    story.knowledge.set("Clara", "M2")
    story.memories.add(
        "The letter is forged, and the bread was bought on credit.", attached_to=["I0"], known_by=["Anna"]
    )
    kept = {item.text: item.kept_from for item in taken(built(told)).values() if item.kept_from}
    assert kept == {"The letter is forged, and the bread was bought on credit.": ["C1"]}


@pytest.mark.slow
def test_memories_are_chosen_alike_where_nobody_can_tell_who_knows_what() -> None:
    """Without a point of view, that a memory knows who knows what changes no choice."""

    class Unknowing(StoredStory):
        knowledge = None  # type: ignore[assignment]
        changes = None  # type: ignore[assignment]

    plain, knowing = built(Unknowing.of_records(PROJECT, RECORDS, entities=ENTITIES)), built()
    assert [chunk.chunk_id for chunk in plain.relevant_memories] == [
        chunk.chunk_id for chunk in knowing.relevant_memories
    ]
    assert plain.as_prompt() == knowing.as_prompt()


def test_a_point_of_view_sets_apart_what_it_does_not_know() -> None:
    """By default the unknown stands in a block of its own, with what is otherwise than that one has it."""
    context = built(pov="Ben")
    assert set(taken(context)) == {"M1", "M3"}
    assert context.hidden is not None
    assert [chunk.source_id for chunk in context.hidden.memories] == ["M2"]
    assert {state.entity_id: state.state_data for state in context.hidden.entity_states} == {
        "C0": {"status": "guilty"},
        "I0": {"condition": "burned"},
    }
    own = next(state for state in context.entity_states if state.entity_id == "C1")
    assert own.state_data["status"] == "hungry", "one's own state is known, wherever it was told"
    assert context.timeline_context is not None
    [pair] = context.timeline_context["relationships"]
    assert (pair["perspective_a"], pair["perspective_b"]) == ("", "love")
    prompt = context.as_prompt()
    assert "## Hidden from Ben: true, but Ben does not know it" in prompt
    assert prompt.index("Hidden from Ben") < prompt.index("burned the letter")
    assert "guilty" not in prompt[: prompt.index("Hidden from Ben")]


def test_the_plan_may_name_the_point_of_view_and_the_settings_what_becomes_of_the_rest() -> None:
    """A plan's `pov` counts like the argument; `exclude` leaves out, `mark` says it on the line."""
    plan = {**asked()["scene_plan"], "pov": "C1"}
    excluded = built(settings=ContextSettings(knowledge="exclude"), scene_plan=plan)
    assert set(taken(excluded)) == {"M1", "M3"}
    assert excluded.hidden is None
    assert "burned" not in excluded.model_dump_json()
    marked = built(settings=ContextSettings(knowledge="exclude"), scene_plan=plan, knowledge="mark")
    assert "Anna burned the letter alone at night. (unknown to Ben)" in marked.as_prompt()
    everybody = built(settings=ContextSettings(knowledge="mark"))
    assert "Anna burned the letter alone at night. (unknown to Ben)" in everybody.as_prompt()


@pytest.mark.parametrize("pov", ["Nobody Known", "the letter"])
def test_whom_nobody_knows_is_said_aloud_and_nothing_is_left_out(pov: str) -> None:
    """A name of nobody, or of a thing, is an issue, and the context is whole and marked."""
    context = built(pov=pov, knowledge="exclude")
    assert {"M1", "M2", "M3"} <= set(taken(context))
    assert mode_of(context) == "mark"
    [issue] = knowledge_issues(context)
    assert issue.kind == "unresolved"
    assert repr(pov) in issue.message


class Failing(StoredStory):
    """A memory whose knowledge cannot be read."""

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Fail as a store does."""
        raise OSError("the disk is gone")


class Hanging(StoredStory):
    """A memory whose knowledge never comes."""

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Wait for good."""
        threading.Event().wait()
        raise AssertionError("nobody waits for this")


@pytest.mark.parametrize(("memory", "kind"), [(Failing, "unavailable"), (Hanging, "timeout")])
def test_a_context_comes_without_what_cannot_be_told(memory: type[StoredStory], kind: str) -> None:
    """A stage that fails or hangs is told; excluding leaves out all but the own state, setting apart is given up."""
    settings = ContextSettings(tool_timeout_s=2.0, chain_timeout_s=6.0)
    story = memory.of_records(PROJECT, RECORDS, entities=ENTITIES)
    plain = built(story, settings=settings)
    assert {"M1", "M2", "M3"} <= set(taken(plain))
    assert [issue.kind for issue in knowledge_issues(plain)] == [kind]
    excluded = built(story, settings=settings, pov="Ben", knowledge="exclude")
    assert excluded.relevant_memories == []
    assert [state.entity_id for state in excluded.entity_states] == ["C1"]
    assert list(excluded.timeline_context or {}) == ["relationships"], "one's own feelings stay"
    assert "pity" not in excluded.model_dump_json()
    assert [issue.kind for issue in knowledge_issues(excluded)] == [kind, "degraded"]
    apart = built(story, settings=settings, pov="Ben")
    assert {"M1", "M2", "M3"} <= set(taken(apart))
    assert mode_of(apart) == "mark"


def test_without_single_changes_states_of_others_are_left_out() -> None:
    """Where changes fail, only one's own state is left; memories are still told apart."""

    class Unfolding(StoredStory):
        def changes(self, project_id: str, entity_ids: Any, *, as_of: StoryPosition) -> StoryChanges:
            raise OSError("the disk is gone")

    story = Unfolding.of_records(PROJECT, RECORDS, entities=ENTITIES)
    context = built(story, pov="Ben", knowledge="exclude")
    assert set(taken(context)) == {"M1", "M3"}
    assert [state.entity_id for state in context.entity_states] == ["C1"]


def test_a_replaced_memory_holds_for_whom_the_new_one_is_unknown() -> None:
    """What was replaced behind somebody's back is not outdated in their context."""
    old = StoryMemoryChunk(
        chunk_id="old",
        project_id=PROJECT,
        chapter_index=1,
        scene_index=1,
        content="Anna and Ben and Clara looked for the letter.",
        content_type="memory",
        entities_mentioned=["C0", "C1", "C2"],
        source_id="M1",
        slot_type="I0.condition",
        superseded_by="M2",
    )

    class Replacing(StoredStory):
        def search(self, request: Any) -> Any:
            found = super().search(request)
            return type(found)(
                candidates=tuple(
                    type(each)(chunk=old, hits=each.hits) if each.chunk.source_id == "M1" else each
                    for each in found.candidates
                )
            )

    story = Replacing.of_records(PROJECT, RECORDS, entities=ENTITIES)
    [ben] = [each for each in built(story, pov="Ben").relevant_memories if each.source_id == "M1"]
    [anna] = [each for each in built(story, pov="Anna").relevant_memories if each.source_id == "M1"]
    assert ben.superseded_by is None
    assert anna.superseded_by == "M2"


@pytest.mark.parametrize(("pov", "words"), [("Anna", "Who wrote the letter, and to whom?"), ("Ben", "Who wrote it?")])
def test_a_thread_has_the_words_of_who_was_there(pov: str, words: str) -> None:
    """What it grew to in a scene without them is not theirs to know."""
    planted, grown = (each.model_copy(deep=True) for each in RECORDS)
    planted.open_loops_created = [RecordedLoop(id="OL0", description="Who wrote it?")]
    grown.open_loops_advanced = [RecordedLoopAdvance(id="OL0", description="Who wrote the letter, and to whom?")]
    story = StoredStory.of_records(PROJECT, [planted, grown], entities=ENTITIES)
    context = built(story, pov=pov, knowledge="separate")
    assert context.timeline_context is not None
    assert [each["description"] for each in context.timeline_context["open_loops"]] == [words]
