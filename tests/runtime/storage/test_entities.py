"""Entities, and how much of their names the story has told."""

from typing import Any

import pytest

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager
from runtime.storage.records import EntityOrigin
from tests.runtime.storage.stories import at, scene, store


def _entity(entity_id: str = "C0", name: str = "Vader", *aliases: str, **fields: Any) -> Entity:
    known = [EntityAlias(alias=alias) for alias in aliases]
    return Entity(**({"entity_id": entity_id, "entity_type": "character", "name": name, "aliases": known} | fields))


def _write(database: DatabaseManager, entity: Entity, origin: EntityOrigin = "supplied") -> None:
    with database.project("demo").write() as unit:
        unit.entities.upsert(entity, origin=origin)


def _shown(database: DatabaseManager, chapter: int, number: int | None = None) -> dict[str, list[str]]:
    with database.project("demo").read() as unit:
        found = unit.entities.list_as_of(as_of=at(chapter, number))
    return {entity.entity_id: entity.names() for entity in found}


_DAD = EntityAlias(alias="Dad", first_chapter=4, first_scene=2)


@pytest.mark.parametrize(
    ("entity", "named", "shown"),
    [
        pytest.param(
            _entity(),
            {(2, 3): ["Vader"]},
            {(2, 3): [], (2, 4): ["Vader"]},
            id="known after its first mention, not on it",
        ),
        pytest.param(
            _entity(first_chapter=3, first_scene=1),
            {(1, 1): ["Vader"]},
            {(3, 1): [], (3, 2): ["Vader"]},
            id="an explicit position outranks an earlier mention",
        ),
        pytest.param(_entity(), {}, {(0, 0): ["Vader"]}, id="whom no text names is known from the start"),
        pytest.param(
            _entity("C0", "Anakin", "Vader", "the masked man"),
            {(1, 1): ["the masked man"], (2, 1): ["Vader", "the masked man"], (5, 1): ["Anakin"]},
            {
                (1, 2): ["the masked man"],
                (5, 1): ["the masked man", "Vader"],
                (5, 2): ["Anakin", "the masked man", "Vader"],
            },
            id="a display name that is told later gives way to the earliest alias",
        ),
        pytest.param(
            _entity("C0", "Anakin", first_chapter=1, first_scene=1),
            {(5, 1): ["Anakin"]},
            {(2, None): ["C0"], (6, None): ["Anakin"]},
            id="where no name is told yet, the id alone is shown",
        ),
        pytest.param(
            _entity("C0", "Anakin", name_first_chapter=3, aliases=[_DAD], first_chapter=1),
            {(1, 1): ["Dad", "Anakin"]},
            {(3, None): ["C0"], (4, None): ["Anakin"], (4, 3): ["Anakin", "Dad"]},
            id="an explicit position of a name counts, whatever the text says",
        ),
    ],
)
def test_of_an_entity_only_what_was_told_before_is_shown(
    sqlite_database: DatabaseManager,
    entity: Entity,
    named: dict[tuple[int, int], list[str]],
    shown: dict[tuple[int, int | None], list[str]],
) -> None:
    """By its place and those of its names, as they were said, else as the texts of scenes hold them."""
    _write(sqlite_database, entity)
    store(
        sqlite_database, *(scene(*place, mentions=[("C0", each) for each in names]) for place, names in named.items())
    )
    assert {place: _shown(sqlite_database, *place).get("C0", []) for place in shown} == shown


@pytest.mark.parametrize(("origin", "names"), [("author", ["Vader", "Ani"]), ("supplied", ["Vader"])])
def test_an_alias_that_no_text_holds_counts_only_from_its_author(
    sqlite_database: DatabaseManager, origin: EntityOrigin, names: list[str]
) -> None:
    """Others may have drawn it from what comes later."""
    _write(sqlite_database, _entity("C0", "Vader", "Ani"), origin)

    assert _shown(sqlite_database, 1) == {"C0": names}


@pytest.mark.parametrize(("origin", "text"), [("author", "a father"), ("supplied", ""), ("extracted", "")])
def test_descriptions_are_shown_only_when_an_author_wrote_them(
    sqlite_database: DatabaseManager, origin: EntityOrigin, text: str
) -> None:
    """A card that was drawn from the whole book tells its end."""
    _write(sqlite_database, _entity(description="a father", role="a father", profile={"truth": "a father"}), origin)
    with sqlite_database.project("demo").read() as unit:
        (entity,) = unit.entities.list_as_of(as_of=at(1))

    assert (entity.description, entity.role) == (text, text)
    assert bool(entity.profile) == bool(text)


def test_first_mentions_follow_moves_deletions_and_re_ingest(database: DatabaseManager) -> None:
    """No recomputation is needed: the first mention is the first of those that stand."""
    _write(database, _entity())
    store(database, scene(1, 1, mentions=[("C0", "Vader")]), scene(3, 1, mentions=[("C0", "Vader")]))
    with database.project("demo").write() as unit:
        unit.scenes.insert_gap(at(1))
    assert _shown(database, 2, 1) == {}
    assert _shown(database, 2, 2) != {}
    store(database, scene(2, 1))
    assert _shown(database, 4, 1) == {}
    with database.project("demo").write() as unit:
        unit.scenes.delete_scene(at(4, 1))
    assert _shown(database, 1, 1) == {"C0": ["Vader"]}


def test_explicit_positions_move_with_their_scene(sqlite_database: DatabaseManager) -> None:
    """Of the entity, its display name and its aliases."""
    alias = EntityAlias(alias="Dad", first_chapter=2, first_scene=1)
    _write(
        sqlite_database,
        _entity(first_chapter=2, first_scene=1, name_first_chapter=2, name_first_scene=1, aliases=[alias]),
    )
    store(sqlite_database, scene(1, 1), scene(2, 1))
    with sqlite_database.project("demo").write() as unit:
        unit.scenes.move_chapter(2, 7)
        stored = unit.entities.get("C0")

    assert stored is not None
    entity = stored.entity
    assert [entity.first_chapter, entity.name_first_chapter, entity.aliases[0].first_chapter] == [7, 7, 7]


def test_an_authors_entity_is_only_added_to_by_others(database: DatabaseManager) -> None:
    """Fields stay, new aliases come, and the author's aliases survive."""
    _write(database, _entity("C0", "Vader", "Ani", description="mine"), "author")
    _write(database, _entity("C0", "Wrong", "Ani", "Lord", description="theirs"), "extracted")
    with database.project("demo").read() as unit:
        stored = unit.entities.get("C0")

    assert stored is not None
    assert (stored.origin, stored.entity.name, stored.entity.description) == ("author", "Vader", "mine")
    assert [alias.alias for alias in stored.entity.aliases] == ["Ani", "Lord"]


def test_an_upsert_replaces_what_is_not_the_authors(sqlite_database: DatabaseManager) -> None:
    """Name, fields and aliases are those of the last write; an author may take over."""
    _write(sqlite_database, _entity("C0", "Old", "Older"))
    _write(sqlite_database, _entity("C0", "New", "Newer"))
    with sqlite_database.project("demo").read() as unit:
        assert unit.entities.all_names() == [("C0", "New"), ("C0", "Newer")]
    _write(sqlite_database, _entity("C0", "Mine", "My own"), "author")
    with sqlite_database.project("demo").read() as unit:
        assert unit.entities.all_names() == [("C0", "Mine"), ("C0", "My own")]


def test_ids_are_taken_over_and_counted_on(database: DatabaseManager) -> None:
    """Imported ids stay, new ones come after them, per kind and project."""
    with database.project("demo").write() as unit:
        assert unit.entities.next_id("character") == "C0"
        unit.entities.upsert(_entity("C41"), origin="supplied")
        unit.entities.upsert(_entity("hero"), origin="supplied")
        unit.entities.upsert(_entity("C7"), origin="supplied")
        assert unit.entities.next_id("character") == "C42"
        assert unit.entities.next_id("location") == "L0"
        assert [one.entity.entity_id for one in unit.entities.list_all()] == ["C7", "C41", "hero"]
        assert unit.entities.list_all(entity_types=["item"]) == []
        assert unit.entities.get("C8") is None
    with database.project("demo2").write() as unit:
        assert unit.entities.next_id("character") == "C0"


def test_after_the_end_everything_is_told(database: DatabaseManager) -> None:
    """A name that no text has, a description and a profile are read whole once nothing can be given away."""
    known = Entity(
        entity_id="C0",
        entity_type="character",
        name="黛玉",
        aliases=[EntityAlias(alias="潇湘妃子")],
        description="寄居贾府",
        profile={"age": 13, "translation": "Daiyu", "alias_translations": {"潇湘妃子": "the Bamboo Lady"}},
    )
    with database.project("demo").write() as unit:
        unit.entities.upsert(known, origin="supplied")
    with database.project("demo").read() as unit:
        (told,) = unit.entities.list_as_of(as_of=END_OF_STORY)
        (before,) = unit.entities.list_as_of(as_of=at(9))
    assert (told.names(), told.description, told.profile) == (known.names(), "寄居贾府", known.profile)
    assert (before.names(), before.description, before.profile) == (["黛玉"], "", {"translation": "Daiyu"})
