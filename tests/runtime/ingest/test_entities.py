"""The author's characters as entities of the story."""

import pytest

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.user_file import Character, CharactersConfig
from novelgen.reading.request import NewName
from runtime.ingest.entities import store_entities, store_identities_in
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_writes import replace_stored_scenes
from runtime.storage.models import MemoryFilter, StoredEntity
from runtime.stores import MemoryStores

MARY = Character(name="Mary Grey", role="heir", aliases=["Miss Grey"], background="Raised at sea.", fears="x")  # type: ignore[call-arg]


def _stored(stores: MemoryStores, project: str) -> dict[str, tuple[str, list[str], str]]:
    with stores.database(project).read() as unit:
        return {
            one.entity.entity_id: (one.origin, one.entity.names(), one.entity.role) for one in unit.entities.list_all()
        }


def _get(stores: MemoryStores, project: str, entity_id: str) -> StoredEntity:
    with stores.database(project).read() as unit:
        stored = unit.entities.get(entity_id)
    assert stored is not None
    return stored


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
    mary = _get(stores, project, "C0")
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
    written = store_entities(stores, project, [other, supplied], characters=CharactersConfig(protagonist=MARY)).written
    assert set(written) == {"C9", "L0"}
    origin, names, role = _stored(stores, project)["C9"]
    assert (origin, names[0], set(names), role) == (
        "author",
        "mary grey",
        {"mary grey", "Mary Grey", "Miss Grey", "the heiress"},
        "heir",
    )
    stored = _get(stores, project, "C9")
    assert stored.entity.first_chapter == 2


def test_a_new_character_does_not_take_a_used_id_and_is_written_again(stores: MemoryStores, project: str) -> None:
    """Ids of supplied entities are jumped over, also when both come at once; what the author changes later counts."""
    supplied = Entity(entity_id="C4", entity_type="character", name="Tom")
    store_entities(stores, project, [supplied], characters=CharactersConfig(protagonist=MARY))
    changed = MARY.model_copy(update={"role": "captain"})
    assert store_entities(stores, project, characters=CharactersConfig(protagonist=changed)).written == ["C5"]
    stored = _stored(stores, project)
    assert set(stored) == {"C4", "C5"}
    assert stored["C5"] == ("author", ["Mary Grey", "Miss Grey"], "captain")


def _cast(*aliases: str, **changes: object) -> CharactersConfig:
    """Return characters.json with Mary under these aliases."""
    return CharactersConfig(protagonist=MARY.model_copy(update={"aliases": list(aliases), **changes}))


def _names(stores: MemoryStores, project: str, entity_id: str = "C0") -> list[str]:
    return _stored(stores, project)[entity_id][1]


def test_an_alias_that_the_file_has_no_more_is_withdrawn(stores: MemoryStores, project: str) -> None:
    """It goes with the next reading of the file, also from the scenes that it named her in; the others stay."""
    store_entities(stores, project, characters=_cast("Miss Grey", "the heiress"))
    scene = SceneInput(chapter_index=1, scene_index=1, text="Miss Grey went down to the sea.")
    ingest_scenes(stores, project, [scene], index=False)
    result = store_entities(stores, project, characters=_cast("the heiress"))
    assert (result.written, result.rescanned) == (["C0"], [(1, 1)])
    assert _names(stores, project) == ["Mary Grey", "the heiress"]
    with stores.database(project).read() as unit:
        assert unit.scenes.list_as_of()[0].participants == []
    again = store_entities(stores, project, characters=_cast("the heiress"))
    assert (again.written, again.rescanned) == ([], [])


def test_an_alias_of_a_character_that_left_the_file_is_withdrawn(stores: MemoryStores, project: str) -> None:
    """The character stays stored under its name; its alias may go to somebody else."""
    tom = Character(name="Tom", aliases=["the boy"])
    both = CharactersConfig(protagonist=tom, supporting_characters=[Character(name="Sam")])
    store_entities(stores, project, characters=both)
    sam = CharactersConfig(protagonist=Character(name="Sam", aliases=["the boy"]))
    store_entities(stores, project, characters=sam)
    assert _names(stores, project, "C0") == ["Tom"]
    assert _names(stores, project, "C1") == ["Sam", "the boy"]


@pytest.mark.parametrize("is_first", [True, False])
def test_an_alias_that_somebody_else_brought_stays(stores: MemoryStores, project: str, is_first: bool) -> None:
    """What a record or entities.json says of her outlives the file, whichever of the two came first."""
    supplied = Entity(
        entity_id="C0", entity_type="character", name="Mary Grey", aliases=[EntityAlias(alias="Miss Grey")]
    )
    if is_first:
        store_entities(stores, project, [supplied])
    store_entities(stores, project, characters=_cast("Miss Grey", "the heiress"))
    if not is_first:
        store_entities(stores, project, [supplied], origin="extracted")
    store_entities(stores, project, characters=_cast(role="captain"))
    assert _names(stores, project) == ["Mary Grey", "Miss Grey"]


def test_an_alias_that_a_person_added_stays_as_the_authors(stores: MemoryStores, project: str) -> None:
    """A change of the file neither takes it away nor makes it a name that the text must show first."""
    store_entities(stores, project, characters=_cast("Miss Grey"))
    stored = _get(stores, project, "C0")
    aliases = [*stored.entity.aliases, EntityAlias(alias="the sea wolf")]
    edited = stored.entity.model_copy(update={"aliases": aliases})
    store_entities(stores, project, [edited], origin="author")
    store_entities(stores, project, characters=_cast(role="captain"))
    assert _names(stores, project) == ["Mary Grey", "the sea wolf"]
    with stores.database(project).read() as unit:
        assert unit.entities.author_aliases() == {"C0": {"the sea wolf"}}


def test_a_card_that_a_person_changed_still_loses_the_files_alias(stores: MemoryStores, project: str) -> None:
    """Editing her description does not make the file's alias the person's."""
    store_entities(stores, project, characters=_cast("Miss Grey"))
    stored = _get(stores, project, "C0")
    edited = stored.entity.model_copy(update={"description": "Raised by the sea."})
    store_entities(stores, project, [edited], origin="author")
    store_entities(stores, project, characters=_cast())
    assert _names(stores, project) == ["Mary Grey"]


def test_without_a_file_nothing_is_withdrawn(stores: MemoryStores, project: str) -> None:
    """A characters.json that is not there says nothing, not even that there are no aliases."""
    store_entities(stores, project, characters=_cast("Miss Grey"))
    assert store_entities(stores, project).written == []
    assert _names(stores, project) == ["Mary Grey", "Miss Grey"]


def test_undoing_a_merge_lets_the_file_take_its_alias_back_again(stores: MemoryStores, project: str) -> None:
    """Whose an alias is survives a merge and its undo."""
    both = CharactersConfig(
        protagonist=MARY.model_copy(update={"aliases": ["Miss Grey"]}), supporting_characters=[Character(name="Tom")]
    )
    store_entities(stores, project, characters=both)
    with stores.database(project).write() as unit:
        merge = unit.merges.merge("C1", "C0")
    with stores.database(project).write() as unit:
        unit.merges.undo(merge.change_id)
    store_entities(stores, project, characters=_cast())
    assert _names(stores, project) == ["Mary Grey"]


def test_a_translation_outlives_the_authors_file(stores: MemoryStores, project: str) -> None:
    """How an editor translated a name stays when the author's characters are stored again, changed or not."""
    store_entities(stores, project, characters=CharactersConfig(protagonist=MARY))
    mary = _get(stores, project, "C0")
    translated = mary.entity.model_copy(update={"profile": {**mary.entity.profile, "translation": "玛丽"}})
    store_entities(stores, project, [translated], origin="author")
    changed = MARY.model_copy(update={"role": "captain"})
    store_entities(stores, project, characters=CharactersConfig(protagonist=changed))
    stored = _get(stores, project, "C0")
    assert (stored.entity.role, stored.entity.profile["translation"]) == ("captain", "玛丽")


def test_a_title_that_passes_on_is_a_name_of_both(stores: MemoryStores, project: str) -> None:
    """The new bearer gets it from the scene on where it is said who bore it before; else it is refused."""
    place = {"first_chapter": 1, "first_scene": 1}
    people = [
        Entity(
            entity_id="C0",
            entity_type="character",
            name="Ines",
            aliases=[EntityAlias(alias="Thursday", **place)],
            **place,
        ),
        Entity(entity_id="C1", entity_type="character", name="Ben", **place),
    ]
    store_entities(stores, project, people)
    name = NewName(entity_id="C1", name="Thursday")
    with stores.database(project).write() as unit:
        at = StoryPosition(3, 1)
        refused = store_identities_in(unit, names=[name], at=at, stores=stores)
        told = name.model_copy(update={"former_id": "C0"})
        given = store_identities_in(unit, names=[told], at=at, stores=stores)
        bearers = [
            [
                each.entity_id
                for each in unit.entities.list_as_of(as_of=StoryPosition(*place))
                if "Thursday" in each.names()
            ]
            for place in ((3, 1), (3, 2))
        ]
    assert (refused.names, given.names) == ([], [told])
    assert "C0 bears it" in refused.issues[0].message
    assert bearers == [["C0"], ["C0", "C1"]]


def test_passages_that_a_new_name_leaves_alone_are_as_if_all_was_read_again(stores: MemoryStores, project: str) -> None:
    """Also those whose names mean whoever is there, as a description does; what an author banned stays banned."""
    lines = ["Mary Grey met Captain Roe on the quay and promised him the key.", "The porter saw it.", "Roe was pale."]
    pause = " ".join(["The rain fell on the harbour and nobody came for hours."] * 9)
    text = "\n\n".join(f"{line} {pause}" for line in [*lines, "Anna Roe wrote a letter.", *lines])
    known = [
        Entity(entity_id="C0", entity_type="character", name="Mary Grey"),
        Entity(entity_id="C1", entity_type="character", name="Captain Roe", aliases=[EntityAlias(alias="Roe")]),
        Entity(entity_id="C2", entity_type="character", name="Tom", aliases=[EntityAlias(alias="the porter")]),
    ]
    store_entities(stores, project, known)
    ingest_scenes(stores, project, [SceneInput(chapter_index=1, scene_index=each, text=text) for each in (1, 2)])
    anna = Entity(entity_id="C3", entity_type="character", name="Anna Roe", aliases=[EntityAlias(alias="Roe")])
    with stores.database(project).write() as unit:
        banned = next(each for each in unit.memories.of_scenes([(1, 1)]) if each.content.startswith("The porter"))
        unit.memories.decide(banned.chunk_id, "ban")
    store_entities(stores, project, [anna])
    with stores.database(project).read() as unit:
        at_once = unit.memories.of_scenes([(1, 1), (1, 2)])
        mentions = unit.entities.all_names()
    with stores.database(project).write() as unit:
        replace_stored_scenes(unit, unit.scenes.list_as_of(with_text=True), stores=stores)
    with stores.database(project).read() as unit:
        assert unit.memories.of_scenes([(1, 1), (1, 2)]) == at_once
        assert unit.entities.all_names() == mentions
    assert banned.chunk_id not in {each.chunk_id for each in at_once}
    assert "C3" in next(each for each in at_once if "Anna Roe" in each.content).entities_mentioned
    assert [] in [each.entities_mentioned for each in at_once]


def _cut_scene(scene_index: int, **record: object) -> SceneInput:
    fields = {
        "chapter_index": 1,
        "scene_index": scene_index,
        "characters_present": ["Ada"],
        "memories": [{"content": "Ada cut her hand on the wheel.", "entities": ["Ada", "the mill"]}],
        "state_changes": [{"entity_id": "Ada", "changes": {"physical_state": "hand cut"}}],
    }
    return SceneInput(
        chapter_index=1,
        scene_index=scene_index,
        text="She cut her hand.",
        record=SceneRecord.model_validate(fields | record),
    )


def _known_of(stores: MemoryStores, project: str, entity_id: str) -> tuple[set[object], list[str]]:
    with stores.database(project).read() as unit:
        states = {
            change.value for change in unit.states.changes_of([entity_id]) if change.attribute == "physical_state"
        }
        memories = unit.memories.list_matching(MemoryFilter(content_types=["memory"]))
    return states, [memory.chunk.content for memory in memories if entity_id in memory.chunk.entities_mentioned]


def test_a_new_card_adopts_what_records_say_of_its_name(stores: MemoryStores, project: str) -> None:
    """Scenes whose records name somebody without a card give their states and memories to the card that comes later."""
    ingest_scenes(stores, project, [_cut_scene(1), _cut_scene(2)])
    card = Entity(entity_id="C7", entity_type="character", name="Ada")
    assert store_entities(stores, project, [card], origin="author").rescanned == [(1, 1), (1, 2)]
    states, memories = _known_of(stores, project, "C7")
    assert states == {"hand cut"}
    assert len(memories) == 2
    assert _known_of(stores, project, "Ada") == (set(), [])
    # A name that two cards bear stays a word.
    store_entities(
        stores, project, [Entity(entity_id=f"L{n}", entity_type="location", name="the mill") for n in (1, 2)]
    )
    assert len(_known_of(stores, project, "the mill")[1]) == 2


def test_a_record_brings_its_new_entities(stores: MemoryStores, project: str) -> None:
    """Cards are made at the scene, once, and names in the record become their ids."""
    new = [
        {"name": "Ada", "aliases": ["the miller"], "description": "a miller"},
        {"name": "the mill", "entity_type": "location"},
    ]
    for _ in range(2):
        result = ingest_scenes(stores, project, [_cut_scene(1, new_entities=new)])
        assert result.issues == []
    assert {entity_id: names for entity_id, (_, names, _) in _stored(stores, project).items()} == {
        "C0": ["Ada", "the miller"],
        "L0": ["the mill"],
    }
    assert (_get(stores, project, "C0").entity.first_chapter, _get(stores, project, "C0").origin) == (1, "supplied")
    assert _known_of(stores, project, "C0")[0] == {"hand cut"}
    assert len(_known_of(stores, project, "L0")[1]) == 1
