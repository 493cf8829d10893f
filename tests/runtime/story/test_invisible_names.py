"""Names that nobody can see are refused; a stored one costs no context, and doctor says how to mend it."""

import pytest
from sqlalchemy import update
from sqlmodel import col

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity
from runtime.ingest.entities import store_entities
from runtime.storage.records import EntityRow
from runtime.stores import MemoryStores
from runtime.story.condition import diagnose
from runtime.story.contexts import characters_of_entities
from runtime.story.story import Story

INVISIBLE = ["\u200e", "\u202e", "\ufeff", "\x01", "\x7f", "\ufffe", " \u200b ", "\ud800"]


@pytest.mark.parametrize("name", INVISIBLE)
def test_a_name_that_nobody_can_see_is_refused(guild: Story, stores: MemoryStores, project: str, name: str) -> None:
    """As the name of a card, an alias, another name, a part of a split, an entity of a file."""
    card = guild.entities.add("Odo Krail").entity
    tries = [
        lambda: guild.entities.add(name),
        lambda: guild.entities.add("Pel", aliases=[name]),
        lambda: guild.entities.edit(card.entity_id, {"name": name}),
        lambda: guild.entities.edit(card.entity_id, {"alias": name}),
        lambda: guild.entities.rename(card.entity_id, name, is_applied=True),
        lambda: guild.entities.split(card.entity_id, name),
    ]
    for refused in tries:
        with pytest.raises(UserInputError):
            refused()
    if name != "\ud800":
        with pytest.raises(UserInputError, match="no visible character"):
            store_entities(stores, project, [Entity(entity_id="C77", entity_type="character", name=name)])
    assert guild.entities.get("Odo Krail").entity == card


def test_marks_around_a_name_are_left_out(guild: Story) -> None:
    """What can be seen of it is the name."""
    assert guild.entities.add("\u200eOdo Krail\ud800").entity.name == "Odo Krail"


@pytest.mark.slow
def test_a_stored_one_is_left_out_and_named(guild: Story, stores: MemoryStores, project: str) -> None:
    """Contexts come without the card; by its id it gets a name, and then it is one of them."""
    card = guild.entities.add("Odo Krail", start=(1, 1)).entity
    with stores.database(project).write() as unit:
        unit._session.run(update(EntityRow).where(col(EntityRow.entity_id) == card.entity_id).values(name="\u200e"))
    plan = {"location": "the guild", "characters": ["Odo"], "purpose": "They meet."}
    assert guild.context(2, 2, plan).chapter_index == 2
    [finding] = [each for each in diagnose(stores, project).findings if each.kind == "names_invisible"]
    assert f"card edit {project} {card.entity_id} name=NAME" in finding.fix
    guild.entities.edit(card.entity_id, {"name": "Odo Krail"})
    assert "names_invisible" not in [each.kind for each in diagnose(stores, project).findings]
    people = characters_of_entities([guild.entities.get("Odo Krail").entity])
    assert [each.name for each in people.everyone()] == ["Odo Krail"]


def test_half_a_character_in_a_question_is_told_as_such(guild: Story) -> None:
    """Whom a search asks for is a text, too."""
    with pytest.raises(UserInputError, match="half a character"):
        guild.search("x", entities=["\ud800"])
