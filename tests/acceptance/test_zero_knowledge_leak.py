"""What a point of view does not know reaches no context that excludes it: secrets are planted wherever they can be."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from novelgen.context.prompt_block import render_context
from novelgen.memory.consolidation import ConsolidatedText, consolidated_memory
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.plan import ScenePlan
from novelgen.models.position import utc_now
from novelgen.models.record import SceneRecord
from runtime.context_chain import build_context_chain
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.memories import StoryMemories
from tests.acceptance.test_memory_context_retrieval import damage_index
from tests.support.demo_project import settings_for
from tests.support.scripted_chat_model import answering

PROJECT = "secretive"
SECRET = re.compile(r"Geheimnis\w+")
APART, ASIDE = "GeheimnisApart", "GeheimnisAside"
"""Told where Ben is away, and where he stands by without hearing it."""

NEXT = [(2, 1), (2, 2), (3, 1), (3, 2)]


def record(chapter: int, scene: int, word: str, present: list[str], **more: Any) -> SceneRecord:
    """Return a record that carries a word in every field that a context could show."""
    number = chapter * 10 + scene
    return SceneRecord.model_validate(
        {
            "chapter_index": chapter,
            "scene_index": scene,
            "title": f"Title {word}",
            "pov_character_id": "C0",
            "location_id": "L0",
            "story_time": word,
            "characters_present": present,
            "summary": [f"Anna hid the letter behind the mill wheel, {word}."],
            "key_events": [f"Anna hid the letter behind the mill wheel and burned the map, {word}"],
            "emotional_beats": [word],
            "state_changes": [
                {"entity_id": "C0", "changes": {"status": f"thief of the letter {word}", f"trait_{word}": word}},
                {"entity_id": "I0", "changes": {"condition": f"behind the wheel {word}", "holder": "C2"}},
            ],
            "relationship_changes": [
                {
                    "character_a": "C0",
                    "character_b": "C1",
                    "relationship_type": f"robber and robbed {word}",
                    "status": f"broken {word}",
                    "perspective_a": f"pities him {word}",
                    "event": f"Anna robs Ben {word}",
                },
                {"character_a": "C0", "character_b": "C2", "status": f"accomplices {word}", "event": word},
            ],
            "open_loops_created": [
                {
                    "id": f"OL{number}",
                    "description": f"Will Ben find the letter behind the mill wheel? {word}",
                    "importance": "critical",
                    "related_characters": ["C0", "C1"],
                }
            ],
            "memories": [
                {
                    "memory_id": f"M{number}",
                    "event_type": "theft",
                    "content": f"Anna hid the letter of Ben's father behind the mill wheel, {word}.",
                    "short": f"Anna hid the letter {word}",
                    "importance": 10,
                    "entities": ["C0", "C2", "I0"],
                    "tags": [word],
                    "slot_type": "I0.place",
                    **more,
                },
                {
                    "memory_id": f"M{number}b",
                    "event_type": "event",
                    "content": f"Anna burned the map of the mill, {word}.",
                    "importance": 9,
                    "entities": ["C0", "C2"],
                    **more,
                },
            ],
        }
    )


def plain(chapter: int, scene: int, present: list[str], **more: Any) -> SceneInput:
    """Return a scene in which nothing secret happens."""
    given = {
        "chapter_index": chapter,
        "scene_index": scene,
        "location_id": "L0",
        "characters_present": present,
        "summary": [f"They grind corn and talk of the weather, day {chapter}{scene}."],
        "key_events": [f"The corn is ground on day {chapter}{scene}"],
        "state_changes": [{"entity_id": "C2", "changes": {"status": f"tired on day {chapter}{scene}"}}],
        "memories": [
            {
                "memory_id": f"M{chapter}{scene}",
                "event_type": "event",
                "content": f"Ben and Clara ground the corn at the mill on day {chapter}{scene}.",
                "importance": 6,
                "entities": ["C1", "C2"],
            }
        ],
        **more,
    }
    text = f"Ben and Clara ground the corn at the mill. It was day {chapter}{scene}. Anna looked on."
    return SceneInput(chapter_index=chapter, scene_index=scene, text=text, record=SceneRecord.model_validate(given))


def scenes() -> list[SceneInput]:
    """Ben is away, stands by unhearing, and is told of the first secret in 3:1."""
    apart = (
        f"Anna hid the letter behind the mill wheel. Clara saw it: {APART}. Count {APART} came in. "
        f"From now on they called her Lady {APART}. Then Anna burned the map of the mill, {APART}."
    )
    aside = (
        "Ben counted sacks in the yard and sang. "
        f"Anna whispered to Clara that she hid the letter behind the mill wheel, {ASIDE}. "
        f"Then Anna burned the map of the mill, {ASIDE}."
    )
    told = [{"character_id": "C1", "memory_ids": ["M12"], "from_id": "C2", "how": "told"}]
    return [
        plain(1, 1, ["C0", "C1", "C2"]),
        SceneInput(
            chapter_index=1, scene_index=2, title=f"Title {APART}", text=apart, record=record(1, 2, APART, ["C0", "C2"])
        ),
        SceneInput(
            chapter_index=2,
            scene_index=1,
            title=f"Title {ASIDE}",
            text=aside,
            record=record(2, 1, ASIDE, ["C0", "C1", "C2"], known_by=["C0", "C2"], hidden_from=["C1"]),
        ),
        plain(2, 2, ["C1", "C2"]),
        plain(3, 1, ["C1", "C2"], learned=told),
    ]


def entities() -> list[Entity]:
    """Anna, who gets another name while Ben is away, Ben, Clara, the mill, the letter, and who comes in then."""
    return [
        Entity(entity_id="C0", entity_type="character", name="Anna", aliases=[EntityAlias(alias=f"Lady {APART}")]),
        Entity(entity_id="C1", entity_type="character", name="Ben"),
        Entity(entity_id="C2", entity_type="character", name="Clara"),
        Entity(entity_id="L0", entity_type="location", name="the mill"),
        Entity(entity_id="I0", entity_type="item", name="the letter"),
        Entity(entity_id="C12", entity_type="character", name=f"Count {APART}"),
    ]


def tell(stores: MemoryStores) -> None:
    """Ingest the story, with a note about Anna and a memory that stands for two."""
    stores.create_project(PROJECT, language="en")
    store_entities(stores, PROJECT, entities())
    ingest_scenes(stores, PROJECT, scenes())
    StoryMemories(stores, PROJECT).add(
        content=f"Anna is the heir of the mill, {APART}.", attached_to=["Anna"], start=None
    )


def consolidate(stores: MemoryStores) -> None:
    """Let one memory stand for both of the scene in which Ben was away."""
    with stores.database(PROJECT).write() as unit:
        live = [each for each in unit.consolidations.live() if each.source_id in ("M12", "M12b")]
        assert len(live) == 2
        text = ConsolidatedText(content=f"Anna hid the letter and burned the map, {APART}.")
        assert unit.consolidations.add(consolidated_memory(text, live, created_at=utc_now()), live)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Open stores over the story."""
    with MemoryStores(settings_for(tmp_path_factory.mktemp("secretive"))) as opened:
        tell(opened)
        yield opened


def built(
    stores: MemoryStores, cut: tuple[int, int], pov: str, mode: KnowledgeMode, *, model: Any = None
) -> SceneMemoryContext:
    """Return the context of a plan that names everything that could draw a secret in."""
    asked = MemoryContextRequest(
        project_id=PROJECT,
        chapter_index=cut[0],
        scene_index=cut[1],
        scene_plan=ScenePlan(
            location="the mill",
            characters=["Anna", "Ben", "Clara", "the Count"],
            purpose="Ben looks for the letter at the mill",
            key_actions=["Anna hid the letter behind the mill wheel", "the map burned", "they grind corn"],
            pov=pov,
        ),
        knowledge=mode,
    )
    return build_context_chain(stores, model=model, write_files=False).invoke(asked)


def everything(context: SceneMemoryContext) -> str:
    """Return all that a context lets out: JSON and both prompt blocks."""
    blocks = [render_context(context, language=language) for language in ("en", "zh")]
    return "\n".join([context.model_dump_json(), *blocks])


def secrets(text: str) -> set[str]:
    """Return the secrets that stand in a text."""
    return set(SECRET.findall(text))


PLAN = json.dumps(
    {
        "entities": ["C0", "C12"],
        "events": [f"Anna hid the letter, {APART}"],
        "queries": [
            {"query": f"Anna hid the letter {APART} {ASIDE}", "tags": []},
            {"query": f"the mill wheel {APART}", "tags": [APART]},
        ],
    }
)


def known_by_then(cut: tuple[int, int]) -> set[str]:
    """Return the secrets that Ben has been told before a scene."""
    return {APART} if cut > (3, 1) else set()


@pytest.mark.slow
@pytest.mark.parametrize("cut", NEXT)
def test_what_ben_does_not_know_is_nowhere_when_it_is_excluded(stores: MemoryStores, cut: tuple[int, int]) -> None:
    """Memories, passages, states, pairs, threads, names, summaries, queries and receipts keep both secrets."""
    context = built(stores, cut, "Ben", "exclude", model=answering(PLAN))
    assert secrets(everything(context)) <= known_by_then(cut)
    report = context.report
    assert report.point_of_view.character_id == "C1"
    assert report.point_of_view.unknown["memories"] > 0
    assert [issue for issue in report.issues if issue.stage == "knowledge"] == []
    assert "corn" in render_context(context), "what he knows must be told, or nothing is proven"


def test_what_ben_is_told_is_there_from_then_on(stores: MemoryStores) -> None:
    """What Clara tells him in 3:1 is his own from the next scene on, and what she keeps is not."""
    context = built(stores, (3, 2), "Ben", "exclude")
    assert secrets(everything(context)) == {APART}
    assert [item.source_id for item in context.report.items if APART in item.text] == ["M12"]


@pytest.mark.parametrize(("cut", "mode"), [*zip(NEXT, ("exclude", "separate", "mark", "exclude"), strict=True)])
def test_anna_knows_her_own_secrets(stores: MemoryStores, cut: tuple[int, int], mode: KnowledgeMode) -> None:
    """Whose secret it is has it in the context proper, in memories, states and her own feelings."""
    context = built(stores, cut, "Anna", mode)
    own = context.model_copy(update={"hidden": None})
    told = {APART} | ({ASIDE} if cut > (2, 1) else set())
    assert secrets(everything(own)) == told
    [state] = [each for each in context.entity_states if each.entity_id == "C0"]
    assert secrets(json.dumps(state.state_data))
    assert any(item.source_id == "M12" and "C0" in item.known_by for item in context.report.items)


@pytest.mark.parametrize("cut", NEXT)
def test_secrets_stand_in_the_block_of_their_own_alone(stores: MemoryStores, cut: tuple[int, int]) -> None:
    """Set apart, a secret is in `hidden` and in its block of the prompt, and nowhere else."""
    context = built(stores, cut, "Ben", "separate", model=answering(PLAN))
    hidden = context.hidden
    assert secrets(hidden.model_dump_json()) >= {APART} - known_by_then(cut)
    rest = context.model_copy(update={"hidden": None})
    assert secrets(everything(rest)) <= known_by_then(cut)
    for language, heading in (("en", "## Hidden from Ben: true,"), ("zh", "## 以下属实，但Ben不知道，")):
        before, found, block = render_context(context, language=language).partition(heading)
        assert found
        assert secrets(before) <= known_by_then(cut)
        assert secrets(block)


def test_marked_secrets_stay_in_their_place(stores: MemoryStores) -> None:
    """Marked, everything is there, and receipts and prompt say that Ben does not know it."""
    context = built(stores, (2, 1), "Ben", "mark")
    assert context.hidden is None
    told = {item.source_id: item for item in context.report.items}
    assert "C1" in told["M12"].not_known_by
    assert "C0" in told["M12"].known_by
    assert f"{told['M12'].text} (unknown to Ben" in context.as_prompt(language="en")
    assert "（Ben" in context.as_prompt(language="zh")


@pytest.mark.slow
def test_nothing_leaks_by_a_consolidated_memory_nor_without_the_index(tmp_path: Path) -> None:
    """One memory that stands for two is known to whom both are; the exact search is cut like the index."""
    with MemoryStores(settings_for(tmp_path)) as stores:
        tell(stores)
        consolidate(stores)
        anna = built(stores, (3, 2), "Anna", "exclude")
        assert any(chunk.is_consolidated for chunk in anna.relevant_memories)
        assert secrets(everything(built(stores, (3, 2), "Ben", "exclude"))) == set()
    damage_index(tmp_path / PROJECT)
    with MemoryStores(settings_for(tmp_path)) as stores:
        context = built(stores, (3, 1), "Ben", "exclude")
        assert context.relevant_memories
        assert secrets(everything(context)) == set()
