"""What Python programs pass: a point of the story in any spelling, and plain values within their bounds."""

import asyncio
import inspect
import pickle
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import pytest

import novelgen
from novelgen import Story, StoryPosition
from novelgen.errors import InvalidPositionError, UnknownEntityError, UnknownSceneError, UserInputError
from novelgen.testing import open_ephemeral
from runtime.context_chain import build_context_chain
from tests.support.story_parts import PARTS

KEY = {"characters_present": ["Ada"], "memories": [{"content": "Ada holds the key.", "entities": ["Ada"]}]}

NESTED = reduce(lambda inner, _: [inner], range(200), list[Any]())


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    """A story of two scenes whose one character is known."""
    with open_ephemeral() as stories:
        opened = stories.create("mill", language="en")
        opened.entities.add_character(name="Ada")
        opened.ingest(text="Ada took the key.", chapter_index=1, scene_index=1, record=KEY)
        opened.ingest(text="Ada lost the key.", chapter_index=1, scene_index=2)
        yield opened


@pytest.mark.parametrize("place", [(1, 2), [1, 2], "1:2", "S002", StoryPosition(1, 2)])
def test_a_place_is_taken_in_any_spelling(story: Story, place: Any) -> None:
    """By every method, also those that ask for a StoryPosition, and by their async twins."""
    found = [each.content for each in story.search("key", as_of=place)]
    assert found
    assert "Ada lost the key." not in found
    assert [each.content for each in asyncio.run(story.asearch("key", as_of=place))] == found
    assert story.scenes.get(place).scene.text == "Ada lost the key."


@pytest.mark.slow
def test_the_id_of_a_scene_is_its_place_wherever_it_stands() -> None:
    """Also in a list of places; an agent's tools, bounded by a scene, read no further; of no scene it is refused."""
    with open_ephemeral() as stories:
        story = stories.create("mill", language="en")
        story.entities.add_character("Ada")
        for number in (1, 2, 3):
            story.ingest(text=f"Ada took key {number}.", chapter_index=1, scene_index=number)
        story.scenes.move("S001", (2, 1))
        assert str(story.scenes.get("S001").scene.position) == "2:1"
        store = story.as_store(as_of="S003")
        assert len(store.search(("mill", "book"), filter={"as_of": "S001"})) == len(store.search(("mill", "book")))
        [look] = story.as_tools(as_of=(1, 2), names=["search_story_memory_tool"])
        assert look.invoke({"query": "key", "as_of": "S001"}) == look.invoke({"query": "key"})
        for ask in (
            lambda: story.search("key", as_of="S009"),
            lambda: story.entities.split("Ada", "Bea", scenes=["S002", "S009"]),
        ):
            with pytest.raises(UnknownSceneError, match="no scene 'S009' is stored"):
                ask()


def test_what_a_method_is_about_comes_first_without_its_name() -> None:
    """As docs/reference/python.md writes them."""
    about = {
        "memories": {"get pin unpin ban unban delete": ["memory_id"], "attach detach": ["memory_ids", "targets"]},
        "scenes": {"get read insert delete get_record": ["position"], "move": ["source", "target"]},
        "candidates": {"confirm drop": ["name"], "merge": ["keep", "other"]},
        "entities": {
            "add_character add_location": ["name"],
            "merge preview_merge": ["keep", "gone"],
            "split": ["entity_id", "new_name"],
            "states_around": ["chapter_index"],
        },
        "relationships": {"get course": ["character_a", "character_b"]},
        "conflicts": {"waive": ["conflict_id"], "settle": ["conflict_id", "keep"]},
        "threads": {
            "add": ["description"],
            "get": ["loop_id"],
            "advance": ["loop_id", "note"],
            "resolve abandon": ["loop_id", "summary"],
        },
    }
    for part, names, wanted in ((PARTS[part], *item) for part, named in about.items() for item in named.items()):
        for name in names.split():
            parameters = list(inspect.signature(getattr(part, name)).parameters.values())[1:]
            plain = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
            assert (name, plain) == (name, wanted)


@pytest.mark.parametrize("place", [1, "1"])
def test_a_chapter_is_a_place(story: Story, place: Any) -> None:
    """On entering it."""
    assert [each.content for each in story.search("key", as_of=place)] == []


@pytest.mark.parametrize("place", ["x", "1:2:3", (1, 2, 3), [], 1.5, "5-4", {"chapter": 1}, True, ("1", "2")])
def test_what_is_no_place_is_refused_by_the_arguments_name(story: Story, place: Any) -> None:
    """With how a place is written."""
    with pytest.raises(InvalidPositionError, match=r"as_of=.* is no point of the story; write \(5, 4\) or '5:4'"):
        story.search("key", as_of=place)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda story: story.search(None), "query must be a text, not None"),
        (lambda story: story.search("x", content_type="memories"), "content_type cannot be 'memories'"),
        (lambda story: story.search("x", top_k=0), "top_k cannot be 0"),
        (lambda story: story.memories.add("x", importance=11), "importance cannot be 11"),
        (lambda story: story.entities.get(3), "must be a text, not 3"),
        (lambda story: story.entities.states_around("one"), "chapter_index='one' is no point of the story"),
        (lambda story: story.entities.states_around(1, chapters_around=-1), "chapters_around cannot be -1"),
        (lambda story: build_context_chain(story._stores).invoke({}), "project_id"),
        (lambda story: story.ingest(text="x", chapter_index=9, scene_index=2, record={"summary": "y"}), "summary"),
        (
            lambda story: story.ingest(
                text="x", chapter_index=9, scene_index=2, record={"chapter_index": 3, "scene_index": 3}
            ),
            "record is of scene 3:3, not of 9:2",
        ),
        (
            lambda story: story.ingest(text="x", chapter_index=9, scene_index=2, record={"x": NESTED}),
            "nests deeper than 100 levels",
        ),
    ],
)
def test_what_is_wrong_is_an_error_of_our_tree(story: Story, ask: Callable[[Any], Any], said: str) -> None:
    """That names the argument and the value."""
    with pytest.raises(UserInputError, match=said):
        ask(story)


def test_a_story_names_who_is_near_and_is_not_pickled(story: Story) -> None:
    """Memories of a record need no id: the same record again changes nothing."""
    with pytest.raises(UnknownEntityError, match=r"near it: .*Ada"):
        story.entities.state("Adda")
    with pytest.raises(TypeError, match="open the memory in each process"):
        pickle.dumps(story)
    again = story.ingest(text="Ada took the key.", chapter_index=1, scene_index=1, record=KEY)
    assert [each.outcome for each in again.scenes] == ["unchanged"]
    assert len([each for each in story.search("Ada holds the key.") if each.content == "Ada holds the key."]) == 1


def test_a_plans_schema_offers_no_field_for_anything() -> None:
    """A model that is to write a plan is asked for its fields alone."""
    assert "extra" not in novelgen.models.ScenePlan.model_json_schema()["properties"]  # type: ignore[attr-defined]


def test_an_id_that_memories_of_two_scenes_have_is_told() -> None:
    """Both are kept; the report of the second scene says so, and once more when it is taken in with another text."""
    with open_ephemeral() as stories:
        story = stories.create("mill", language="en")
        texts = {1: "Ada took the key.", 2: "Bo lost the lamp."}
        records = {number: {"memories": [{"memory_id": "M1", "content": text}]} for number, text in texts.items()}
        first, second = (
            story.ingest(text=text, chapter_index=1, scene_index=number, record=records[number])
            for number, text in texts.items()
        )
        assert first.warnings == []
        assert [each for each in second.warnings if "['M1']" in each]
        kept = [each.chunk.content for each in story.memories.list().memories if each.chunk.source_id == "M1"]
        assert kept == list(texts.values())
