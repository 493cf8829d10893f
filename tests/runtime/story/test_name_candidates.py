"""Candidates: names of the text that are listed, confirmed, merged and dropped, and never facts by themselves."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from novelgen.errors import UnknownEntityError, UnknownProjectError, UserInputError
from novelgen.language.candidates import NameCandidate, find_name_candidates
from novelgen.language.sightings import CandidateKind
from novelgen.models.position import StoryPosition
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.search import text_names
from runtime.settings import load_settings
from runtime.stores import MemoryStores, RecentlyUsed
from runtime.story.story import Story
from runtime.story.who_is_who import is_candidate

SCENES = [
    SceneInput(
        chapter_index=4,
        scene_index=9,
        text="Rain fell on Gull Harbour. “We sail,” said Ada Morris. “When?” said Ben. "
        "Then Ada Morris left Gull Harbour with Ben.",
    ),
    SceneInput(
        chapter_index=5,
        scene_index=1,
        text="“Where is Ben?” asked Captain Morris. “Here, Ada,” said Miss Holt. Ada saw Miss Holt, and Ben ran to "
        "Miss Holt. All Gull Harbour knew Miss Holt.",
    ),
]

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def stores(module_database_url: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores on either database, without any project."""
    settings = load_settings(projects_dir=tmp_path_factory.mktemp("projects"), memory={"embedding_model": "fake:32"})
    with MemoryStores(settings.model_copy(update={"database_url": module_database_url})) as opened:
        yield opened


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """A story of two scenes as text alone, nobody known."""
    project_id = f"harbour-{next(_numbers)}"
    stores.create_project(project_id, language="en")
    ingest_scenes(stores, project_id, SCENES, index=False)
    return project_id


@pytest.mark.slow
def test_several_are_confirmed_at_once(guild: Story) -> None:
    """Those that are named and the first of the rest, each undone by itself; names that are none are told of."""
    with pytest.raises(UnknownEntityError, match="Bem"):
        guild.candidates.confirm_several(["Bem", "Adda"])
    assert _entities(guild) == []
    done = guild.candidates.confirm_several(["Ben", "Bem", "Ben"], top=1)
    assert [each.candidate.name for each in done][:1] == ["Ben"]
    assert len(done) == 2
    assert [each.message for each in done.issues] == [
        (
            "no candidate, or more than one, is named 'Bem' in the text; near it: Ben; or make the card yourself with"
            f' `novelgen card add {guild.project_id} "Bem"`'
        )
    ]
    with pytest.raises(
        UnknownEntityError, match=rf"'Ben' has a card already: C\d+ .*merge {guild.project_id} \"Ben\" NAME"
    ):
        guild.candidates.confirm_several(["Ben"])
    guild.undo(done[0].change.change_id)
    assert [each[0] for each in _entities(guild)] == [done[1].candidate.name]
    with pytest.raises(UserInputError, match="nobody is named"):
        guild.candidates.confirm_several()


def test_a_name_costs_no_embedding(stores: MemoryStores, project: str, guild: Story) -> None:
    """Confirming a name links memories anew; their texts, and so their vectors and the index, stay as they are."""
    drain_outbox(stores, project)
    decided = guild.candidates.confirm(name="Ben", kind="character")
    assert decided.indexing.model_dump(include={"indexed", "removed", "embedded", "waiting"}) == {
        "indexed": 0,
        "removed": 0,
        "embedded": 0,
        "waiting": 0,
    }
    with stores.database(project).read() as unit:
        ids, _ = unit.embeddings.matrix(stores.embedding_identity.model_name)
    assert len(ids) == 2


def test_an_edit_leaves_a_book_to_be_indexed_later(guild: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where more waits for the index than an edit brings, the edit embeds nothing and says what waits."""
    monkeypatch.setattr("runtime.story.base.ENTRIES_OF_AN_EDIT", 1)
    noted = guild.memories.add("Ben cannot swim.")
    assert (noted.indexing.embedded, noted.indexing.waiting) == (0, 3)


def _offered(guild: Story, as_of: StoryPosition | None = None) -> list[str]:
    return [each.name for each in guild.candidates.list(min_count=2, as_of=as_of)]


def _entities(guild: Story, as_of: StoryPosition | None = None) -> list[list[str]]:
    return [each.names() for each in guild.entities.list(as_of=as_of)]


def test_candidates_are_listed_and_are_no_entities(stores: MemoryStores, guild: Story) -> None:
    """By kind and count, none of later; names that the text does not hold are refused with who is near."""
    found = {each.name: each.kind for each in guild.candidates.list()}
    assert found == {
        "Ada Morris": "character",
        "Ben": "character",
        "Gull Harbour": "location",
        "Miss Holt": "character",
    }
    assert _entities(guild) == []
    before = guild.candidates.list(min_count=1, as_of=StoryPosition(5, 1))
    assert "Miss Holt" not in [name for each in before for name in each.names()]
    (ada,) = [each for each in before if each.name == "Ada Morris"]
    assert (ada.names(), ada.last) == (["Ada Morris"], "4:9")
    assert _offered(guild, StoryPosition(4, 9)) == []
    places = guild.candidates.list(kind="location")
    assert [each.name for each in places] == ["Gull Harbour"]
    assert guild.candidates.list(min_count=99) == []
    with pytest.raises(UserInputError, match="min_count cannot be 0"):
        guild.candidates.list(min_count=0)
    with pytest.raises(UserInputError, match="kind cannot be 'person'"):
        guild.candidates.list(kind=cast(CandidateKind, "person"))
    with pytest.raises(UnknownProjectError):
        Story(stores, "nowhere").candidates.list()
    with pytest.raises(UnknownEntityError, match="near it: Miss Holt"):
        guild.candidates.confirm(name="Miss Hold")
    with pytest.raises(UnknownEntityError, match="Zachary"):
        guild.candidates.drop(name="Zachary")
    with pytest.raises(UnknownEntityError, match="Zachary"):
        guild.candidates.merge(keep="Ben", other="Zachary")
    with pytest.raises(UnknownEntityError, match="Zachary"):
        guild.candidates.merge(keep="Zachary", other="Ben")
    assert guild.entities.list_changes() == []


def test_names_of_a_long_book_are_kept_for_the_next_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that starts anew reads them from beside the database, by the same rules and of the same texts alone."""
    asked: list[object] = []

    def told(scenes: object, **how: Any) -> list[NameCandidate]:
        asked.append(scenes)
        return find_name_candidates(cast(Any, scenes), **how)

    monkeypatch.setattr(text_names, "find_name_candidates", told)
    monkeypatch.setattr(text_names, "LONG_BOOK", 100)
    with MemoryStores(load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})) as stores:
        stores.create_project("harbour", language="en")
        ingest_scenes(stores, "harbour", SCENES, index=False)

        def offered_to_a_new_program() -> list[str]:
            monkeypatch.setattr(text_names, "_candidates_by_story", RecentlyUsed(8))
            return _offered(Story(stores, "harbour"))

        first = offered_to_a_new_program()
        assert "Miss Holt" in first
        assert offered_to_a_new_program() == first
        assert len(asked) == 1
        monkeypatch.setattr(text_names, "_rules_mark", lambda: "other rules")
        assert offered_to_a_new_program() == first
        assert len(asked) == 2
        ingest_scenes(stores, "harbour", [SCENES[1].model_copy(update={"text": "Ben slept. Ben woke."})], index=False)
        assert "Miss Holt" not in offered_to_a_new_program()
        kept = list(tmp_path.rglob(f"{text_names.NAMES_FOLDER}/*.json"))
        for file in kept:
            file.write_text("{", encoding="utf-8")
        assert "Miss Holt" not in offered_to_a_new_program()
        assert (len(kept), len(asked)) == (3, 4)
        # At an earlier position they are kept, too; of so many texts no more.
        monkeypatch.setattr(text_names, "REMEMBERED_STORIES", 2)
        for _ in range(2):
            monkeypatch.setattr(text_names, "_candidates_by_story", RecentlyUsed(8))
            assert "Gull Harbour" in _offered(Story(stores, "harbour"), StoryPosition(5, 0))
        assert (len(list(tmp_path.rglob(f"{text_names.NAMES_FOLDER}/*.json"))), len(asked)) == (2, 5)


def test_a_confirmed_candidate_is_known_from_its_first_scene(guild: Story) -> None:
    """It becomes an entity with its variants, each from where it first stands, and is offered no more."""
    done = guild.candidates.confirm(name="Ada")
    assert done.entity is not None
    assert (done.entity.entity_id, done.entity.entity_type) == ("C0", "character")
    assert _entities(guild, StoryPosition(4, 9)) == []
    assert _entities(guild, StoryPosition(5, 1)) == [["Ada Morris"]]
    assert set(_entities(guild)[0]) == {"Ada Morris", "Captain Morris", "Ada"}
    assert "Ada Morris" not in _offered(guild)


def test_a_confirmation_a_join_and_a_drop_are_undone(guild: Story) -> None:
    """The candidate is offered again, two are two again; a second time is refused."""
    done = guild.candidates.confirm(name="Miss Holt")
    undone = guild.undo(change_id=done.change.change_id)
    assert (undone.entity, _entities(guild)) == (None, [])
    assert "Miss Holt" in _offered(guild)
    with pytest.raises(UserInputError, match="undone already"):
        guild.undo(change_id=done.change.change_id)
    done = guild.candidates.merge(keep="Ben", other="Miss Holt")
    assert done.joined is not None
    assert {"Ben", "Miss Holt"} == set(done.joined.names())
    assert "Miss Holt" not in _offered(guild)
    guild.undo(change_id=done.change.change_id)
    assert {"Ben", "Miss Holt"} <= set(_offered(guild))
    with pytest.raises(UserInputError, match="one candidate already"):
        guild.candidates.merge(keep="Ben", other="ben")
    done = guild.candidates.drop(name="Ada")
    assert (done.change.kind, done.candidate.name) == ("drop", "Ada Morris")
    assert "Ada Morris" not in _offered(guild)
    assert not is_candidate(guild._stores, guild.project_id, name="Captain Morris")
    guild.undo(change_id=done.change.change_id)
    assert is_candidate(guild._stores, guild.project_id, name="Captain Morris")


def test_a_confirmation_of_whom_more_is_said_is_not_undone(guild: Story) -> None:
    """Nothing that an author said of an entity since is lost."""
    done = guild.candidates.confirm(name="Ben")
    guild.entities.edit(entity_id="Ben", changes={"mood": "calm"})
    with pytest.raises(UserInputError, match="by now"):
        guild.undo(change_id=done.change.change_id)
    assert guild.entities.get(entity_id="Ben").entity.name == "Ben"
    assert [each.undone_at for each in guild.entities.list_changes()] == [None, None]


def test_a_kind_is_taken_from_the_author_first(stores: MemoryStores, project: str, guild: Story) -> None:
    """More than what the text suggests; where it tells none, confirming asks for one."""
    done = guild.candidates.confirm(name="Gull Harbour", kind="faction")
    assert done.entity is not None
    assert (done.entity.entity_id, done.entity.entity_type) == ("F0", "faction")
    text = "They drank Quirmian. Nobody liked Quirmian. All had Quirmian."
    ingest_scenes(stores, project, [SceneInput(chapter_index=6, scene_index=1, text=text)], index=False)
    with pytest.raises(UserInputError, match=r"'Quirmian'.*say its kind"):
        guild.candidates.confirm(name="Quirmian")
    assert guild.candidates.confirm(name="Quirmian", kind="item").change.entity_id == "I0"


def test_a_name_of_no_clear_kind_stops_no_other(stores: MemoryStores, project: str, guild: Story) -> None:
    """The others are confirmed; of this one the command is told that says its kind."""
    text = "They drank Quirmian. Nobody liked Quirmian. All had Quirmian."
    ingest_scenes(stores, project, [SceneInput(chapter_index=6, scene_index=1, text=text)], index=False)
    decisions = guild.candidates.confirm_several(["Quirmian", "Ben"])
    assert [decision.candidate.name for decision in decisions] == ["Ben"]
    [issue] = decisions.issues
    assert f'`novelgen entity confirm {guild.project_id} "Quirmian" --kind character`' in issue.message
    assert guild.candidates.confirm_several(["Quirmian"], kind="item")[0].entity is not None


def test_a_candidate_becomes_names_of_an_entity(guild: Story) -> None:
    """Its names are aliases from where they first stand on; undoing takes those names and nothing else."""
    guild.candidates.confirm(name="Ada Morris")
    done = guild.candidates.merge(keep="Ada", other="Miss Holt")
    assert done.entity is not None
    assert "Miss Holt" in guild.entities.get(entity_id="C0").entity.names()
    assert "Miss Holt" not in _entities(guild, StoryPosition(5, 1))[0]
    assert "Miss Holt" not in _offered(guild)
    guild.undo(change_id=done.change.change_id)
    assert set(_entities(guild)[0]) == {"Ada Morris", "Captain Morris", "Ada"}
    assert "Miss Holt" in _offered(guild)
