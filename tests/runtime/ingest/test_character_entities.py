"""The author's characters as entities."""

from __future__ import annotations

from novelgen.models.characters import Character, CharactersConfig
from novelgen.models.entity import Entity, EntityAlias
from runtime.ingest.entity_writes import store_entities
from runtime.stores import MemoryStores

MARY = Character(name="Mary Grey", role="heir", aliases=["Miss Grey"], background="Raised at sea.", fears="x")  # type: ignore[call-arg]


def _stored(stores: MemoryStores, project: str) -> dict[str, tuple[str, list[str], str]]:
    with stores.database(project).read() as unit:
        return {
            one.entity.entity_id: (one.origin, one.entity.names(), one.entity.role)
            for one in unit.entities.list_all(project)
        }


def test_characters_get_ids_in_their_order(stores: MemoryStores, project: str) -> None:
    """Protagonist, antagonist and supporting characters become C0 and on, with all that the author wrote."""
    cast = CharactersConfig(
        protagonist=MARY, antagonist=Character(name="韩老大"), supporting_characters=[Character(name="Tom")]
    )
    assert store_entities(stores, project, characters=cast).written == ["C0", "C1", "C2"]
    assert _stored(stores, project) == {
        "C0": ("author", ["Mary Grey", "Miss Grey"], "heir"),
        "C1": ("author", ["韩老大"], ""),
        "C2": ("author", ["Tom"], ""),
    }
    with stores.database(project).read() as unit:
        mary = unit.entities.get(project, "C0")
    assert mary is not None
    assert mary.entity.profile == {"background": "Raised at sea.", "fears": "x"}
    assert store_entities(stores, project, characters=cast).written == []


def test_a_character_is_the_entity_of_that_name(stores: MemoryStores, project: str) -> None:
    """An entity supplied with an id keeps it, its first scene and its aliases; the author's words come on top."""
    supplied = Entity(
        entity_id="C9",
        entity_type="character",
        name="mary grey",
        aliases=[EntityAlias(alias="the heiress")],
        role="told too early",
        first_chapter=2,
        first_scene=1,
    )
    other = Entity(entity_id="L0", entity_type="location", name="Mary Grey")
    written = store_entities(
        stores, project, [other, supplied], characters=CharactersConfig(protagonist=MARY)
    ).written
    assert set(written) == {"C9", "L0"}
    origin, names, role = _stored(stores, project)["C9"]
    assert (origin, names[0], set(names), role) == (
        "author",
        "mary grey",
        {"mary grey", "Mary Grey", "Miss Grey", "the heiress"},
        "heir",
    )
    with stores.database(project).read() as unit:
        stored = unit.entities.get(project, "C9")
    assert stored is not None
    assert stored.entity.first_chapter == 2


def test_a_new_character_does_not_take_a_used_id(stores: MemoryStores, project: str) -> None:
    """Ids of supplied entities are jumped over, also when both come at once."""
    supplied = Entity(entity_id="C4", entity_type="character", name="Tom")
    store_entities(stores, project, [supplied], characters=CharactersConfig(protagonist=MARY))
    assert set(_stored(stores, project)) == {"C4", "C5"}


def test_a_changed_character_is_written_again(stores: MemoryStores, project: str) -> None:
    """What the author changes later counts, under the same id."""
    store_entities(stores, project, characters=CharactersConfig(protagonist=MARY))
    changed = MARY.model_copy(update={"role": "captain"})
    assert store_entities(stores, project, characters=CharactersConfig(protagonist=changed)).written == ["C0"]
    assert _stored(stores, project)["C0"] == ("author", ["Mary Grey", "Miss Grey"], "captain")
