"""What the doctor says of characters' memories and of who knows what."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from novelgen.characters.secrets import Secret
from runtime.care.checks import check_minds, project_counts
from runtime.settings import NovelgenSettings
from runtime.storage.records import FeltChange
from runtime.stores import MemoryStores
from runtime.story.character import Character
from runtime.story.characters import StoryCharacters
from tests.support.demo_project import settings_for

PROJECT = "village"


@pytest.fixture
def settings(tmp_path: Path) -> NovelgenSettings:
    """Settings of a project in which Gregor remembers two things."""
    settings = settings_for(tmp_path)
    with MemoryStores(settings) as stores:
        gregor = _gregor(stores)
        gregor.remember("Mina brought bread.")
        gregor.remember("The mill burned.")
    return settings


@pytest.fixture
def stores(settings: NovelgenSettings) -> Iterator[MemoryStores]:
    """Stores of that project."""
    with MemoryStores(settings) as opened:
        yield opened


def _gregor(stores: MemoryStores) -> Character:
    return Character(stores, PROJECT, StoryCharacters(stores, PROJECT).open_character(name="Gregor", create=True))


def test_minds_in_order_are_counted_and_not_spoken_of(stores: MemoryStores) -> None:
    """Deleted memories do not count."""
    assert check_minds(stores, PROJECT) == []
    assert project_counts(stores, PROJECT)["memories of characters"] == 2
    gregor = _gregor(stores)
    gregor.delete(gregor.memories()[0].memory_id)
    assert project_counts(stores, PROJECT)["memories of characters"] == 1


def test_vectors_of_another_model_are_told_until_a_recall_made_new_ones(settings: NovelgenSettings) -> None:
    """They are compared by words meanwhile; another project's memories are not counted."""
    memory = settings.memory.model_copy(update={"embedding_model": "fake:16"})
    with MemoryStores(settings.model_copy(update={"memory": memory})) as stores:
        stores.create_project("elsewhere", language="en")
        assert check_minds(stores, "elsewhere") == []
        (finding,) = check_minds(stores, PROJECT)
        assert (finding.level, finding.what) == ("hint", "memories of characters")
        assert finding.message.startswith("2 have no vector of")
        _gregor(stores).recall("What of the mill?")
        assert check_minds(stores, PROJECT) == []


def test_memories_of_nobody_are_named(stores: MemoryStores) -> None:
    """Feelings and secrets likewise: whose they were is not stored."""
    with stores.database(PROJECT).write() as unit:
        unit.play.keep_secret("C8", Secret(secret_id="name", text="Born elsewhere."))
        felt = FeltChange(
            character_id="C9", other_id="C0", event_type="gift_given", happened_at=datetime(2031, 3, 1, tzinfo=UTC)
        )
        unit.play.add_disposition(felt)
    (finding,) = check_minds(stores, PROJECT)
    assert (finding.level, finding.what) == ("degraded", "memories of characters")
    assert "C8, C9" in finding.message
