"""A story as a store of LangGraph: what LangGraph's own store in memory does, and what only a story knows."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

import novelgen
from novelgen import Memory, Story
from novelgen.errors import InvalidPositionError, UnknownEntityError, UserInputError
from runtime.agents.langgraph import StoryStore

INES = ("isle", "C0")
TOM = ("isle", "C1")
BOOK = ("isle", "book")


SCENES = [
    ("Ines hid the lamp under the stair. Tom slept.", "Ines hid the lamp under the stair.", ["C0"]),
    ("Tom woke and found the stair bare.", "Tom found the stair bare.", ["C1"]),
    ("Ines and Tom rowed out to the reef.", "Ines and Tom rowed to the reef.", ["C0", "C1"]),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Two stories with Ines and Tom: `isle`, of which nothing is remembered, and `reef`, with a fact per scene."""
    folder: Path = tmp_path_factory.mktemp("stores")
    with novelgen.open(folder, embedding_model="fake:64", tool_timeout_s=60, chain_timeout_s=120) as opened:
        isle, reef = (opened.create(each, language="en") for each in ("isle", "reef"))
        for each in (isle, reef):
            each.character("Ines", create=True)
            each.character("Tom", create=True)
        for number, (text, fact, about) in enumerate(SCENES, start=1):
            memory = {"memory_id": f"M{number}", "event_type": "event", "content": fact, "entities": about}
            reef.ingest(
                text=text,
                chapter_index=1,
                scene_index=number,
                record={"characters_present": ["C0", "C1"], "memories": [memory | {"importance": 3 + number}]},
            )
        yield opened


@pytest.fixture
def story(memory: Memory) -> Iterator[Story]:
    """The story with facts; what a test notes is taken out again."""
    opened = memory.story("reef")
    yield opened
    forget(opened.as_store())


@pytest.fixture(params=["LangGraph's own", "a story"])
def store(request: pytest.FixtureRequest) -> Iterator[BaseStore]:
    """Either store, empty."""
    if request.param == "LangGraph's own":
        yield InMemoryStore()
        return
    opened = request.getfixturevalue("memory").story("isle").as_store()
    yield opened
    forget(opened)


def forget(store: StoryStore) -> None:
    """Delete every note."""
    for each in store.search((), filter={"content_type": "note"}, limit=1000):
        store.delete(each.namespace, each.key)


def contents(found: list[Any]) -> list[str]:
    """Return what items say."""
    return [each.value["content"] for each in found]


class TestAsAnyStore:
    """What both LangGraph's own store and a story do."""

    @pytest.mark.slow
    def test_what_is_put_is_got_until_it_is_replaced_or_deleted(self, store: BaseStore) -> None:
        """A key has one value; what is not there is None, and deleting it is no error."""
        assert store.get(INES, "habit") is None
        store.put(INES, "habit", {"content": "Counts her steps.", "importance": 4, "tags": ["habit"]})
        found = store.get(INES, "habit")
        assert found is not None
        assert (found.namespace, found.key) == (INES, "habit")
        assert {name: found.value[name] for name in ("content", "importance", "tags")} == {
            "content": "Counts her steps.",
            "importance": 4,
            "tags": ["habit"],
        }
        store.put(INES, "habit", {"content": "Counts nothing any more.", "importance": 4, "tags": []})
        replaced = store.get(INES, "habit")
        assert replaced is not None
        assert (replaced.value["content"], replaced.value["tags"]) == ("Counts nothing any more.", [])
        store.delete(INES, "habit")
        store.delete(INES, "habit")
        assert store.get(INES, "habit") is None
        store.put(INES, "habit", {"content": "Counts again."})
        assert contents(store.search(INES)) == ["Counts again."]

    def test_a_key_is_one_of_its_namespace(self, store: BaseStore) -> None:
        """The same key under somebody else is another thing."""
        store.put(INES, "profile", {"content": "Ines fears water."})
        store.put(TOM, "profile", {"content": "Tom fears the dark."})
        store.delete(TOM, "profile")
        assert store.get(TOM, "profile") is None
        assert contents([store.get(INES, "profile")]) == ["Ines fears water."]

    @pytest.mark.parametrize("key", ["a.b/c d", "0c5e4f1e-8a3b-4d0c", "键", "%2E", "user@example.com", "a\x00b"])
    def test_any_text_is_a_key(self, store: BaseStore, key: str) -> None:
        """Keys come back as they were put, also by a search."""
        store.put(BOOK, key, {"content": "Nobody here can swim."})
        assert [(each.namespace, each.key) for each in store.search(("isle",))] == [(BOOK, key)]
        assert store.get(BOOK, key) is not None

    def test_a_search_lists_pages_and_filters(self, store: BaseStore) -> None:
        """By prefix, limit and offset, and by fields of the values with comparisons."""
        for number in range(1, 6):
            store.put(INES, f"k{number}", {"content": f"Fact {number}.", "importance": number, "tags": []})
        store.put(TOM, "k1", {"content": "Of Tom.", "importance": 9, "tags": []})
        assert len(store.search(("isle",))) == 6
        assert contents(store.search(INES, limit=2, offset=1)) == ["Fact 2.", "Fact 3."]
        assert contents(store.search(INES, filter={"importance": 3})) == ["Fact 3."]
        assert contents(store.search(INES, filter={"importance": {"$gte": 2, "$lt": 4}})) == ["Fact 2.", "Fact 3."]
        assert contents(store.search(("isle",), filter={"importance": {"$ne": 9}}, limit=1)) == ["Fact 1."]
        assert store.search(("elsewhere",)) == []
        assert store.search(("isle", "C0", "deeper")) == []

    def test_namespaces_are_listed_by_prefix_suffix_and_depth(self, store: BaseStore) -> None:
        """With `*` for any label, in order, by pages."""
        for namespace in (INES, TOM, BOOK):
            store.put(namespace, "k", {"content": "Something."})
        assert store.list_namespaces() == [INES, TOM, BOOK]
        assert store.list_namespaces(prefix=("isle", "C0")) == [INES]
        assert store.list_namespaces(suffix=("book",)) == [BOOK]
        assert store.list_namespaces(prefix=("*", "C1")) == [TOM]
        assert store.list_namespaces(prefix=("isle", "C0", "deeper")) == []
        assert store.list_namespaces(max_depth=1) == [("isle",)]
        assert store.list_namespaces(limit=1, offset=1) == [TOM]

    def test_a_batch_reads_before_it_writes_and_the_last_put_counts(self, store: BaseStore) -> None:
        """Results stand in the order of the operations."""
        results = store.batch(
            [
                PutOp(INES, "k", {"content": "First."}),
                GetOp(INES, "k"),
                PutOp(INES, "k", {"content": "Second."}),
                SearchOp(INES),
            ]
        )
        assert results == [None, None, None, []]
        assert contents(store.search(INES)) == ["Second."]

    def test_without_blocking(self, store: BaseStore) -> None:
        """The async methods do the same."""

        async def use() -> tuple[list[str], list[tuple[str, ...]], Any]:
            await store.aput(INES, "k", {"content": "Something."})
            listed = contents(await store.asearch(INES)), await store.alist_namespaces()
            await store.adelete(INES, "k")
            return *listed, await store.aget(INES, "k")

        assert asyncio.run(use()) == (["Something."], [INES], None)

    @pytest.mark.parametrize(
        "use",
        [
            lambda store: store.put((), "k", {"content": "x"}),
            lambda store: store.put(("isle", "a.b"), "k", {"content": "x"}),
            lambda store: store.get(("isle", ""), "k"),
        ],
    )
    def test_labels_that_none_can_have_are_refused(self, store: BaseStore, use: Callable[[BaseStore], Any]) -> None:
        """LangGraph's own error says which."""
        with pytest.raises(InvalidNamespaceError):
            use(store)

    def test_nothing_expires(self, store: BaseStore) -> None:
        """A time to live is refused aloud."""
        with pytest.raises(NotImplementedError):
            store.put(INES, "k", {"content": "x"}, ttl=5)


class TestOfAStory:
    """What only a story does."""

    def test_what_scenes_established_is_there(self, story: Story) -> None:
        """Facts are found by query, under everybody whom they are about, by the name, too, and each is got again."""
        store = story.as_store()
        found = store.search((store.label,), query="Who hid the lamp?", limit=1)
        assert contents(found) == ["Ines hid the lamp under the stair."]
        assert (found[0].namespace, found[0].key) == ((store.label, "C0"), "M1")
        assert found[0].score is not None
        assert contents(store.search((store.label, "Tom"))) == [
            "Tom found the stair bare.",
            "Ines and Tom rowed to the reef.",
        ]
        for each in store.search((store.label,), query="stair", limit=50):
            got = store.get(each.namespace, each.key)
            assert got is not None
            assert got.value == each.value
        assert store.search((store.label, "Nobody")) == []

    def test_nothing_comes_from_later(self, story: Story) -> None:
        """A store as of a scene, or a search filtered so, reads strictly before it, and no filter beyond it."""
        store = story.as_store(as_of=(1, 2))
        here = (store.label,)
        assert contents(store.search(here)) == ["Ines hid the lamp under the stair."]
        assert store.get((store.label, "C1"), "M3") is None
        assert store.list_namespaces(suffix=("C1",)) == []
        assert contents(store.search(here, filter={"as_of": "1:3"})) == ["Ines hid the lamp under the stair."]
        whole = story.as_store()
        assert len(whole.search(here, filter={"as_of": "1:3"})) == 2
        assert len(whole.search(here, filter={"as_of": (1, 3), "importance": 4})) == 1
        with pytest.raises(InvalidPositionError, match="5:4"):
            whole.search(here, filter={"as_of": "tomorrow"})

    @pytest.mark.slow
    def test_a_later_value_leaves_the_earlier_one_to_those_before(self, story: Story) -> None:
        """What is put as of a scene is read from there on; a search tells one value per key."""
        early, late = story.as_store(as_of=(1, 2)), story.as_store(as_of=(1, 3))
        mood = (early.label, "C0")
        late.put(mood, "mood", {"content": "Ines is furious with Tom."})
        early.put(mood, "mood", {"content": "Ines is calm.", "importance": 3})
        assert early.get(mood, "mood").value["content"] == "Ines is calm."  # type: ignore[union-attr]
        for whole in (late, story.as_store()):
            assert whole.get(mood, "mood").value["content"] == "Ines is furious with Tom."  # type: ignore[union-attr]
            told = [each for each in whole.search(mood, query="mood of Ines") if each.key == "mood"]
            assert contents(told) == ["Ines is furious with Tom."]
        assert story.as_store(as_of=(1, 1)).get(mood, "mood") is None
        early.put(mood, "mood", {"content": "Ines is bored."})
        assert [each.value["importance"] for each in [early.get(mood, "mood")] if each] == [3]
        story.as_store().delete(mood, "mood")
        assert early.get(mood, "mood") is None

    @pytest.mark.slow
    def test_what_is_put_is_in_contexts(self, story: Story) -> None:
        """An agent's note is a memory like any other."""
        store = story.as_store(as_of=(1, 3))
        store.put((store.label, "Ines"), "vow", {"content": "Ines vowed never to row again."})
        plan = {"characters": ["Ines"], "purpose": "Ines is asked to row."}
        assert "never to row again" in story.context(1, 4, plan).as_prompt()
        assert "never to row again" not in story.context(1, 2, plan).as_prompt()

    @pytest.mark.parametrize(
        ("use", "reason"),
        [
            (lambda store: store.put((store.label, "C0"), "k", {"text": "x"}), "content"),
            (lambda store: store.put((store.label, "C0"), "k", {"content": " "}), "content"),
            (lambda store: store.put((store.label, "C0"), "k", {"content": "x", "importance": 11}), "importance"),
            (lambda store: store.put((store.label, "C0"), "k", {"content": "x"}, index=False), "index=False"),
            (lambda store: store.put((store.label, "C0"), "M1", {"content": "x"}), "a scene established"),
            (lambda store: store.delete((store.label, "C0"), "M1"), "a scene established"),
            (lambda store: store.put((store.label,), "k", {"content": "x"}), "TARGET"),
            (lambda store: store.put(("other", "C0"), "k", {"content": "x"}), "TARGET"),
            (lambda store: store.search((store.label,), filter={"importence": 3}), "did you mean 'importance'"),
            (lambda store: store.search((store.label,), filter={"importance": {"$in": [3]}}), "compares nothing"),
            (lambda store: store.batch([PutOp((store.label, "C0"), "k", {"content": "x"}, ttl=5)]), "ttl"),
        ],
    )
    def test_what_it_refuses_it_says(self, story: Story, use: Callable[[StoryStore], Any], reason: str) -> None:
        """An error of the one tree, with the bad value and the fix; nothing is stored."""
        store = story.as_store()
        with pytest.raises(UserInputError, match=reason):
            use(store)
        assert len(store.search((store.label,))) == 3

    @pytest.mark.slow
    def test_an_unknown_name_is_told_with_the_nearest(self, story: Story) -> None:
        """Nothing is put under somebody whom the story does not know by then."""
        store = story.as_store()
        with pytest.raises(UnknownEntityError, match="Ines"):
            store.put((store.label, "Inez"), "k", {"content": "x"})
        with pytest.raises(ValueError, match="int is no operation"):
            store.batch([7])  # type: ignore[list-item]
