"""Entities, and how much of their names the story has told."""

from typing import Any, get_args

import pytest

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import END_OF_STORY
from runtime.storage.columns import EntityOrigin
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, scene, store
from tests.support.databases import on_both_databases


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
        *(
            pytest.param(
                _entity("C0", name, part, nickname),
                {(1, 1): [name], (3, 1): [part, nickname]},
                {(1, 2): [name, part], (3, 2): [name, part, nickname]},
                id=f"who knows {name} knows the name {part}",
            )
            for name, part, nickname in (("Silas Pruyn", "Pruyn", "the Lamb"), ("周阿福", "阿福", "小羊"))
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
    database: DatabaseManager,
    entity: Entity,
    named: dict[tuple[int, int], list[str]],
    shown: dict[tuple[int, int | None], list[str]],
) -> None:
    """By its place and those of its names, as they were said, else as the texts of scenes hold them."""
    _write(database, entity)
    store(database, *(scene(*place, mentions=[("C0", each) for each in names]) for place, names in named.items()))
    assert {place: _shown(database, *place).get("C0", []) for place in shown} == shown


def test_what_might_tell_of_later_is_shown_only_where_its_author_wrote_it(database: DatabaseManager) -> None:
    """An alias that no text holds, and a card: others may have drawn them from the whole book."""
    told = {"description": "a father", "role": "a father", "profile": {"truth": "a father"}}
    for number, origin in enumerate(get_args(EntityOrigin)):
        _write(database, _entity(f"C{number}", "Vader", "Ani", **told), origin)
    with database.project("demo").read() as unit:
        shown = [
            (each.names(), each.description, each.role, each.profile) for each in unit.entities.list_as_of(as_of=at(1))
        ]
    assert shown == [(["Vader", "Ani"], "a father", "a father", told["profile"]), *[(["Vader"], "", "", {})] * 3]


@on_both_databases
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


def test_explicit_positions_move_with_their_scene(database: DatabaseManager) -> None:
    """Of the entity, its display name and its aliases, and where it turns out to be somebody else."""
    alias = EntityAlias(alias="Dad", first_chapter=2, first_scene=1)
    place = {"first_chapter": 2, "first_scene": 1, "name_first_chapter": 2, "name_first_scene": 1}
    _write(database, _entity(**place, aliases=[alias]))
    _write(database, _entity("C1", "Anakin"))
    store(database, scene(1, 1), scene(2, 1))
    with database.project("demo").write() as unit:
        unit.merges.unmask("C1", "C0", at=at(2, 1))
        unit.scenes.move_chapter(2, 7)
        entity = unit.entities.require("C0").entity
        masks = [unit.entities.masks_as_of(each) for each in (at(7, 1), at(7, 2))]

    assert [entity.first_chapter, entity.name_first_chapter, entity.aliases[0].first_chapter] == [7, 7, 7]
    assert masks == [{}, {"C0": "C1"}]


@on_both_databases
def test_an_authors_entity_is_only_added_to_by_others(database: DatabaseManager) -> None:
    """Fields stay, new aliases come, and the author's aliases survive."""
    _write(database, _entity("C0", "Vader", "Ani", description="mine"), "author")
    _write(database, _entity("C0", "Wrong", "Ani", "Lord", description="theirs"), "extracted")
    with database.project("demo").read() as unit:
        stored = unit.entities.get("C0")

    assert stored is not None
    assert (stored.origin, stored.entity.name, stored.entity.description) == ("author", "Vader", "mine")
    assert [alias.alias for alias in stored.entity.aliases] == ["Ani", "Lord"]


def test_an_upsert_replaces_what_is_not_the_authors(database: DatabaseManager) -> None:
    """Name, fields and aliases are those of the last write; an author may take over."""
    _write(database, _entity("C0", "Old", "Older"))
    _write(database, _entity("C0", "New", "Newer"))
    with database.project("demo").read() as unit:
        assert unit.entities.all_names() == [("C0", "New"), ("C0", "Newer")]
    _write(database, _entity("C0", "Mine", "My own"), "author")
    with database.project("demo").read() as unit:
        assert unit.entities.all_names() == [("C0", "Mine"), ("C0", "My own")]


@on_both_databases
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
