"""What characters remember, in SQL."""

import numpy as np
import pytest

from novelgen.characters.memory import GamePosition
from novelgen.errors import UnknownMemoryError, UserInputError
from runtime.storage.characters import MemoryVector, MindCache
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.strangers_story import remembered
from tests.support.databases import on_both_databases


@on_both_databases
def test_memories_and_vectors_come_back_as_they_went_in(database: DatabaseManager) -> None:
    """Every field is kept, and a vector of the model that is asked for; another project has none of it."""
    memory = remembered("CM0", participants=["C1"], slot="player_name", session=2, turn=3, details={"a": [1]})
    vector = MemoryVector("m", np.array([0.5, -1.0], np.float32))
    with database.project("demo").write() as unit:
        unit.characters.add([memory, remembered("CM1", "C1")], {"CM0": vector})
    with database.project("demo").read() as unit:
        stored = unit.characters.read("C0", model="m")
        assert stored.memories == [memory]
        assert stored.vectors["CM0"].tolist() == [0.5, -1.0]
        assert unit.characters.read("C0", model="other").vectors == {}
        assert unit.characters.last_position() == GamePosition(2, 3)
        assert [each.memory_id for each in unit.characters.list_project()] == ["CM0", "CM1"]
    with database.project("demo2").read() as unit:
        assert unit.characters.list_project() == []


def test_a_vector_of_a_content_that_changed_is_not_kept(database: DatabaseManager) -> None:
    """Who embeds a text that was edited meanwhile does not store its vector beside the new one."""
    with database.project("demo").write() as unit:
        unit.characters.add([remembered("CM0")])
        unit.characters.put_vectors({"CM0": ("other words", MemoryVector("m", np.ones(2, np.float32)))})
    with database.project("demo").read() as unit:
        assert unit.characters.read("C0", model="m").vectors == {}


def test_a_mind_at_hand_follows_what_others_write(database: DatabaseManager) -> None:
    """What is new, changed or moved to another character since the last recall is seen at the next."""
    minds = MindCache()

    def contents() -> list[str]:
        with database.project("demo").read() as unit:
            mind = minds.mind(unit.characters, "C0", model="m")
        return [each.content for each in mind.memories]

    with database.project("demo").write() as unit:
        unit.characters.add([remembered("CM0"), remembered("CM1")])
    assert contents() == ["Memory CM0.", "Memory CM1."]
    with database.project("demo").write() as unit:
        before = unit.characters.require("C0", "CM0")
        after = before.model_copy(update={"content": "Corrected."})
        unit.characters.change("edit", "C0", new_memories=[remembered("CM2")], changed=[(before, after)])
    assert contents() == ["Corrected.", "Memory CM1.", "Memory CM2."]
    with database.project("demo").write() as unit:
        unit.characters.undo("C0")
    assert contents() == ["Memory CM0.", "Memory CM1.", "Memory CM2."]


def test_what_is_deleted_or_unknown_is_refused(database: DatabaseManager) -> None:
    """A deleted memory is as good as none, and there is nothing to undo where nothing was done."""
    with database.project("demo").write() as unit:
        unit.characters.add([remembered("CM0", status="deleted"), remembered("CM1", "C1")])
        for memory_id in ("CM0", "CM1", "CM9"):
            with pytest.raises(UnknownMemoryError):
                unit.characters.require("C0", memory_id)
        with pytest.raises(UserInputError):
            unit.characters.undo("C0")


def test_an_end_that_was_deleted_is_no_end(database: DatabaseManager) -> None:
    """What a deleted memory had put an end to is open again."""
    with database.project("demo").write() as unit:
        unit.characters.add(
            [
                remembered("CM0", slot="player_name", superseded_by="CM1"),
                remembered("CM1", slot="player_name", status="deleted"),
            ]
        )
        assert [each.superseded_by for each in unit.characters.active("C0", slot="player_name")] == [None]
