"""Short names that cards of people get from the text: marked, and gone for good once refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.models.entity import guessed_names
from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story

CELLAR = "Clara Aldane met Jonas Pruett in the cellar. “It is late,” said Pruett. Clara went up."
YARD = "Daniel Reese came over the yard. “Good day,” said Mr. Reese."
ROWS = "She found Daniel in the rows. “Frost,” Daniel said, and Pruett nodded."
HALL = "沈砚秋走进大厅。“砚秋，过来。”老人说。"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    with MemoryStores(load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})) as opened:
        yield opened


@pytest.fixture
def vineyard(stores: MemoryStores) -> Story:
    stores.create_project("vineyard", language="en")
    story = Story(stores, "vineyard")
    _take_in(story, 1, CELLAR)
    return story


def _take_in(story: Story, chapter: int, text: str) -> None:
    scene = SceneInput(chapter_index=chapter, scene_index=1, text=text)
    ingest_scenes(story._stores, story.project_id, [scene], index=False)


def _guesses(story: Story, name: str) -> list[str]:
    return guessed_names(story.entities.get(name).entity)


def test_a_confirmed_name_takes_its_surname_along(vineyard: Story) -> None:
    """Notes with it name the person; a candidate of the surname alone is offered no more."""
    vineyard.candidates.confirm("Jonas Pruett", kind="character")
    assert _guesses(vineyard, "Pruett") == ["Pruett"]
    assert "Pruett" not in [candidate.name for candidate in vineyard.candidates.list()]
    noted = vineyard.memories.add("Pruett hid the ledger.")
    assert noted.note.entities_mentioned == [vineyard.entities.get("Pruett").entity.entity_id]


def test_a_card_gets_a_name_that_a_later_scene_brings(vineyard: Story) -> None:
    """It counts from there; what takes back the card names the change that gave it."""
    _take_in(vineyard, 2, YARD)
    added = vineyard.entities.add("Daniel Reese")
    assert _guesses(vineyard, "Daniel Reese") == []
    _take_in(vineyard, 3, ROWS)
    assert _guesses(vineyard, "Daniel Reese") == ["Daniel"]
    earlier = vineyard.entities.get("Daniel Reese", as_of=StoryPosition(3, 1)).entity
    assert (earlier.names(), guessed_names(earlier)) == (["Daniel Reese"], [])
    guess = vineyard.entities.list_changes()[-1]
    vineyard.undo(guess.change_id)
    _take_in(vineyard, 4, ROWS)
    assert vineyard.entities.get("Daniel Reese").entity.names() == ["Daniel Reese"]
    vineyard.undo(added.change.change_id)


def test_a_refused_name_does_not_come_back(vineyard: Story) -> None:
    """Whether its author takes it off the card or drops it as a candidate before."""
    vineyard.candidates.confirm("Jonas Pruett", kind="character")
    vineyard.entities.edit("Jonas Pruett", {"aliases": []})
    _take_in(vineyard, 2, ROWS)
    assert vineyard.entities.get("Jonas Pruett").entity.names() == ["Jonas Pruett"]


def test_a_dropped_name_is_no_guess(vineyard: Story) -> None:
    """Who drops the surname as a candidate wants it as nobody's name."""
    vineyard.candidates.drop("Pruett")
    vineyard.entities.add("Jonas Pruett")
    assert _guesses(vineyard, "Jonas Pruett") == []


def test_another_card_keeps_its_name(vineyard: Story) -> None:
    """A surname that another card bears is no guess for a full name."""
    vineyard.entities.add("Pruett")
    vineyard.entities.add("Jonas Pruett")
    assert _guesses(vineyard, "Jonas Pruett") == []


def test_a_chinese_given_name_names_the_person(stores: MemoryStores) -> None:
    """A surname alone never does."""
    stores.create_project("潮屿", language="zh")
    story = Story(stores, "潮屿")
    _take_in(story, 1, HALL)
    story.entities.add("沈砚秋")
    assert _guesses(story, "砚秋") == ["砚秋"]
    assert story.entities.get("沈砚秋").entity.names() == ["沈砚秋", "砚秋"]


def test_a_guessed_name_that_its_author_says_is_no_guess(vineyard: Story) -> None:
    """Named again as an alias it is the author's; `undo` makes it a guess again."""
    vineyard.candidates.confirm("Jonas Pruett", kind="character")
    edited = vineyard.entities.edit("Jonas Pruett", {"alias": "Pruett"})
    assert edited.change is not None
    assert (edited.entity.names(), _guesses(vineyard, "Pruett")) == (["Jonas Pruett", "Pruett"], [])
    vineyard.undo()
    assert _guesses(vineyard, "Pruett") == ["Pruett"]
