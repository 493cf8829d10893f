"""What a search puts first, on both demos with the stores and the embedding model of the default install."""

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from novelgen.chains.story_memory_retriever import StoryMemoryRetriever
from novelgen.errors import UserInputError
from novelgen.memory.search import RankedMemories
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from runtime.doors.langchain import build_memory_tools
from runtime.memory_tools import StoryMemoryTools, search_story_memory_tool
from runtime.search.search import ranked_memories
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.search import StoryCardSearch
from tests.support.demo_project import DEMOS, copy_shipped_demos, ingest_demo

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("project_id", DEMOS)
DOOR = {"demo": "What number opens the iron door?", "demo-zh": "铁门的号码是多少？"}
KEY = {"demo": "Who has the heron key now?", "demo-zh": "鹭鸶钥匙现在在谁手里？"}
DOOR_VALUES = ("M002", "M025", "M074")
"""The demo's number of the iron door: as it was, as it was after, and as it is."""


PATIENT = {"tool_timeout_s": 60.0, "chain_timeout_s": 120.0, "vector_store": {"write_timeout_s": 60.0}}
"""A loaded machine must not change what is found."""


def memories_with_short_form(stores: MemoryStores, project_id: str) -> list[StoryMemoryChunk]:
    """Return the distilled memories of a project that have a short form, as they are at its end."""
    with stores.database(project_id).read() as unit:
        stored = [each.chunk for each in unit.memories.list_matching()]
        named = [each.chunk_id for each in stored if each.content_type == "memory" and each.short]
        return unit.memories.by_ids(named)


def middle_of(text: str) -> str:
    """Return a text without its first and last fifth: by words where it has them, else by characters."""
    parts: Sequence[str] = text.split() if " " in text else text
    cut = len(parts) // 5
    return ("" if isinstance(parts, str) else " ").join(parts[cut : len(parts) - cut])


def place_of(memory: StoryMemoryChunk, answer: RankedMemories) -> int | None:
    """Return the place of a memory, or of one that says the very same, from 1; None where it is not there."""
    for place, each in enumerate(answer.memories, start=1):
        if each.chunk.chunk_id == memory.chunk_id or each.chunk.short == memory.short:
            return place
    return None


def before_what_holds(answer: RankedMemories) -> list[str]:
    """Return the outdated memories of an answer that stand before the one that holds in their place."""
    places = {each.chunk.chunk_id: place for place, each in enumerate(answer.memories)}
    return [
        each.chunk.chunk_id
        for place, each in enumerate(answer.memories)
        if each.held_by is not None and places.get(each.held_by.chunk_id, len(places)) > place
    ]


def require_found(places: Sequence[int | None], *, first: float) -> None:
    """Check that of memories asked for this share came first, and all but one of a hundred among the first ten."""
    assert sum(place == 1 for place in places) >= first * len(places)
    assert sum(place is not None and place <= 10 for place in places) >= 0.99 * len(places)


def _ingest(folder: Path) -> None:
    copy_shipped_demos(folder)
    with MemoryStores(load_settings(projects_dir=folder, memory=PATIENT)) as stores:
        for name in DEMOS:
            ingest_demo(stores, name)


@pytest.fixture(scope="module")
def stores(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Iterator[MemoryStores]:
    """Stores over both demos, which are only read."""
    settings = load_settings(projects_dir=made_once("demos-by-meaning", _ingest), memory=PATIENT)
    with MemoryStores(settings) as opened:
        yield opened


def memory_of(stores: MemoryStores, project_id: str, source_id: str) -> StoryMemoryChunk:
    """Return one memory of a demo as it is at the end."""
    return next(each for each in memories_with_short_form(stores, project_id) if each.source_id == source_id)


@BOTH
def test_each_memory_is_found_by_its_own_short_form(stores: MemoryStores, project_id: str) -> None:
    """It comes first, also where the story has threads; by a part of that form it is found nearly as well."""
    stored = memories_with_short_form(stores, project_id)
    assert len(stored) == 80
    over = {memory.chunk_id for memory in stored if memory.superseded_by is not None}
    # Every third one: each takes two searches.
    asked_for = stored[::3]
    own: list[int | None] = []
    middle: list[int | None] = []
    for memory in asked_for:
        by_form, by_middle = (
            ranked_memories(stores, project_id, text) for text in (memory.short or "", middle_of(memory.short or ""))
        )
        own.append(place_of(memory, by_form))
        if memory.chunk_id not in over:
            middle.append(place_of(memory, by_middle))
        for answer in (by_form, by_middle):
            assert all(each.is_outdated for each in answer.memories if each.chunk.chunk_id in over)
        assert set(before_what_holds(by_form)) <= {memory.chunk_id}
        assert before_what_holds(by_middle) == []
    require_found(own, first=0.95)
    require_found(middle, first=0.9)


@BOTH
@pytest.mark.parametrize("questions", [DOOR, KEY], ids=["door", "key"])
def test_a_question_brings_what_holds_before_what_is_over(
    stores: MemoryStores, project_id: str, questions: dict[str, str]
) -> None:
    """Seed 002.27: former values of a slot are there, marked, each after the one that holds, and none is first."""
    answer = ranked_memories(stores, project_id, questions[project_id])
    outdated = [each for each in answer.memories if each.is_outdated]
    assert outdated
    assert before_what_holds(answer) == []
    assert not answer.memories[0].is_outdated
    shown = [each.chunk.source_id for each in answer.memories]
    assert all(each.held_by is not None and each.held_by.source_id in shown for each in outdated)


@BOTH
def test_an_outdated_memory_in_its_own_words_is_found_marked_beside_what_holds(
    stores: MemoryStores, project_id: str
) -> None:
    """Seed 002.30: what is over is marked and followed by what holds even for who asks in its very words."""
    asked = memory_of(stores, project_id, "M002").short or ""
    first, second = ranked_memories(stores, project_id, asked).memories[:2]
    assert (first.chunk.source_id, first.chunk.superseded_by) == ("M002", "M025")
    assert first.held_by is not None
    assert (first.held_by.source_id, second.chunk.source_id, second.is_outdated) == ("M074", "M074", False)


@BOTH
def test_what_is_over_later_holds_before_that(stores: MemoryStores, project_id: str) -> None:
    """The cut is strict: on entering the scene of the change the old value holds, after it the new one does."""
    changed = memory_of(stores, project_id, "M025")
    assert changed.chapter_index is not None
    assert changed.scene_index is not None
    entering = StoryPosition(changed.chapter_index, changed.scene_index)
    after = StoryPosition(changed.chapter_index, changed.scene_index + 1)
    found = {
        position: {
            each.chunk.source_id: each.chunk.superseded_by
            for each in ranked_memories(stores, project_id, DOOR[project_id], as_of=position, top_k=50).memories
            if each.chunk.source_id in DOOR_VALUES
        }
        for position in (entering, after)
    }
    assert found == {entering: {"M002": None}, after: {"M002": "M025", "M025": None}}


NONSENSE = {
    "demo": ("quantum chromodynamics", "mortgage interest rates", "how to unclog a sink"),
    "demo-zh": ("量子色动力学", "房贷利率", "怎么疏通水槽"),
}
FITTING = {"demo": 0.84, "demo-zh": 0.87}
"""What separates the story from everything else with the built-in embedding model."""


@BOTH
def test_a_bar_for_relevance_keeps_nonsense_out(stores: MemoryStores, project_id: str) -> None:
    """Seed 000.30: of what has nothing to do with the story nothing is left, of a question and a name enough is."""
    bar = FITTING[project_id]
    for query in NONSENSE[project_id]:
        assert ranked_memories(stores, project_id, query).memories
        assert search_story_memory_tool(project_id, query, min_relevance=bar, stores=stores) == []
    name = {"demo": "Ines", "demo-zh": "骆青荇"}[project_id]
    for query in (DOOR[project_id], KEY[project_id], name):
        everything = ranked_memories(stores, project_id, query, top_k=200).memories
        fitting = [
            each.chunk.chunk_id
            for each in ranked_memories(stores, project_id, query, top_k=200, min_relevance=bar).memories
        ]
        assert 3 <= len(fitting) < len(everything)
        assert fitting == [each.chunk.chunk_id for each in everything if each.chunk.chunk_id in fitting]


@BOTH
def test_every_door_has_the_same_bar(stores: MemoryStores, project_id: str) -> None:
    """Seed 000.30: the tool, the retriever, the tool for function calling and cards take `min_relevance` alike."""
    bar, query = FITTING[project_id], DOOR[project_id]
    found = [each.chunk for each in ranked_memories(stores, project_id, query, min_relevance=bar).memories]
    memory = StoryMemoryTools(stores)
    retriever = StoryMemoryRetriever(memory=memory, project_id=project_id, min_relevance=bar)
    assert [each.id for each in retriever.invoke(query)] == [each.chunk_id for each in found]
    asked = {"project_id": project_id, "query": query, "min_relevance": bar}
    told = build_memory_tools(stores)[0].invoke(asked)
    memories = (json.loads(told) if isinstance(told, str) else told)["memories"]
    assert [each["source_id"] for each in memories] == [each.source_id for each in found]
    cards = StoryCardSearch(stores, project_id)
    for nonsense in NONSENSE[project_id]:
        assert cards.find(nonsense, min_relevance=0.2).results == []
    assert cards.find({"demo": "Ines", "demo-zh": "骆青荇"}[project_id], min_relevance=0.2).results


def test_a_bar_that_is_none_is_refused(stores: MemoryStores) -> None:
    """From 0 to 1, and nothing else."""
    with pytest.raises(UserInputError, match=r"min_relevance 1\.5 is not from 0 to 1"):
        ranked_memories(stores, "demo", "the key", min_relevance=1.5)


@BOTH
def test_a_longer_answer_begins_with_the_shorter_one(stores: MemoryStores, project_id: str) -> None:
    """How many are asked for changes nothing in the order of the first."""
    ids = [
        [each.chunk.chunk_id for each in ranked_memories(stores, project_id, KEY[project_id], top_k=top_k).memories]
        for top_k in (1, 5, 40)
    ]
    assert [len(each) for each in ids] == [1, 5, 40]
    assert ids[0] == ids[2][:1]
    assert ids[1] == ids[2][:5]


@BOTH
def test_an_unknown_name_finds_nothing_and_is_said(
    stores: MemoryStores, project_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A misspelt name is told, so that an empty answer is not taken for silence of the story."""
    nobody = ranked_memories(stores, project_id, KEY[project_id], entities=["Nobodaddy"])
    assert nobody.memories == []
    assert [(each.stage, each.kind) for each in nobody.issues] == [("search", "unresolved")]
    assert "'Nobodaddy'" in nobody.issues[0].message
    assert re.search(r"; (near it:|known are) \w", nobody.issues[0].message)
    of_c0 = ranked_memories(stores, project_id, KEY[project_id], entities=["Nobodaddy", "C0"])
    assert all("C0" in each.chunk.entities_mentioned for each in of_c0.memories)
    with caplog.at_level(logging.WARNING):
        found = search_story_memory_tool(project_id, KEY[project_id], entities=["Nobodaddy"], stores=stores)
    assert found == []
    assert "Nobodaddy" in caplog.text


def test_a_name_filters_like_an_id(stores: MemoryStores) -> None:
    """Entities may be named as people write them."""
    with stores.database("demo").read() as unit:
        entity = unit.entities.list_all(entity_types=["character"])[0].entity
    found = {
        key: StoryMemoryRetriever(
            memory=StoryMemoryTools(stores), project_id="demo", entities=[key], content_type="memory", k=50
        ).invoke("what happened")
        for key in (entity.entity_id, entity.name)
    }
    assert found[entity.name] == found[entity.entity_id]
    assert all(entity.entity_id in each.metadata["entities"] for each in found[entity.entity_id])
    assert found[entity.entity_id]
