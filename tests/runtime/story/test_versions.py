"""Two who change the same thing: the second meets what the first wrote, and overwrites nothing in silence."""

from collections.abc import Callable
from typing import Any

import pytest

from novelgen.errors import StaleVersionError
from runtime.story.story import Story

pytestmark = pytest.mark.usefixtures("unindexed_edits")

Seen = Callable[[Story], str]
Change = Callable[..., Any]


def _note(story: Story) -> str:
    return next(each.chunk.memory_id for each in story.memories.list(content_types=["note"]).memories)


def _pair(story: Story) -> dict[str, str]:
    pair = story.relationships.list()[0]
    return {"character_a": pair.character_a, "character_b": pair.character_b}


def _recorded(story: Story) -> dict[str, Any]:
    return {"position": (1, 1), "kind": "thread_planted", "source_id": "OL0"}


THINGS: dict[str, tuple[Seen, Change, dict[str, Any], dict[str, Any]]] = {
    "card": (
        lambda story: story.entities.get("C0").version,
        lambda story, **said: story.entities.edit("C0", said.pop("fields"), **said),
        {"fields": {"description": "first"}},
        {"fields": {"description": "second"}},
    ),
    "state of a card": (
        lambda story: story.entities.get("C0", as_of=(1, 2)).version,
        lambda story, **said: story.entities.edit("C0", {}, **said),
        {"state": {"mood": "first"}},
        {"state": {"mood": "second"}},
    ),
    "note": (
        lambda story: story.memories.get(_note(story)).version,
        lambda story, **said: story.memories.edit(_note(story), **said),
        {"content": "first"},
        {"content": "second"},
    ),
    "thread": (
        lambda story: story.threads.get("OL0").version,
        lambda story, **said: story.threads.edit("OL0", **said),
        {"description": "first"},
        {"description": "second"},
    ),
    "scene": (
        lambda story: story.scenes.get((1, 1)).version,
        lambda story, **said: story.scenes.edit((1, 1), **said),
        {"title": "first", "text": "A first text."},
        {"title": "second", "text": "A second text."},
    ),
    "record of a scene": (
        lambda story: story.scenes.read((1, 1)).version,
        lambda story, **said: story.scenes.amend_fact(**_recorded(story), **said),
        {"text": "first"},
        {"text": "second"},
    ),
    "summary": (
        lambda story: story.summaries.list()[0].version,
        lambda story, **said: story.summaries.write(level="chapter", number=1, **said),
        {"text": "first"},
        {"text": "second"},
    ),
    "relationship": (
        lambda story: story.relationships.get(**_pair(story)).version,
        lambda story, **said: story.relationships.edit(**_pair(story), **said),
        {"status": "first"},
        {"status": "second"},
    ),
}
"""Kind to how its version is read, how it is changed, and what two say of it."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", THINGS)
def test_who_saw_something_older_is_told_both_texts(guild: Story, kind: str) -> None:
    """The first text stays, the error has both, and with the version that it names the second is stored."""
    guild.memories.add("The lamp is lit.", attached_to=["C0"])
    seen, change, first, second = THINGS[kind]
    version = seen(guild)
    change(guild, **first, expected_version=version)
    with pytest.raises(StaleVersionError, match="was changed since version") as caught:
        change(guild, **second, expected_version=version)
    error = caught.value
    said = [second.get("fields") or second.get("state") or second, first.get("fields") or first.get("state") or first]
    assert [error.sent, error.stored] == said
    assert error.version == seen(guild) != version
    change(guild, **first, expected_version=version), "what stands already is no conflict"
    change(guild, **second, expected_version=error.version)
    assert seen(guild) not in (version, error.version)
    change(guild, **first)


def test_a_version_is_of_what_can_be_edited(guild: Story) -> None:
    """Where a card is read and what is stored beside it change nothing; taken back, it is the version before."""
    version = guild.entities.get("C0").version
    guild.memories.add("The lamp is lit.", attached_to=["C0"])
    assert {guild.entities.get("C0", as_of=(2, 1)).version, guild.entities.get("C0").version} == {version}
    edited = guild.entities.edit("C0", {"role": "minor"}, expected_version=version)
    assert edited.version == guild.entities.get("C0").version != version
    guild.undo()
    assert guild.entities.get("C0").version == version


DELETIONS: dict[str, tuple[Seen, Change, Change]] = {
    "card": (
        lambda story: story.entities.get("C0").version,
        lambda story: story.entities.edit("C0", {"role": "minor"}),
        lambda story, **said: story.entities.delete("C0", **said),
    ),
    "note": (
        lambda story: story.memories.get(_note(story)).version,
        lambda story: story.memories.edit(_note(story), content="first"),
        lambda story, **said: story.memories.delete(_note(story), **said),
    ),
    "thread": (
        lambda story: story.threads.get("OL0").version,
        lambda story: story.threads.edit("OL0", description="first"),
        lambda story, **said: story.threads.delete("OL0", **said),
    ),
    "relationship": (
        lambda story: story.relationships.get(**_pair(story)).version,
        lambda story: story.relationships.edit(**_pair(story), status="first"),
        lambda story, **said: story.relationships.delete(**_pair(story), **said),
    ),
    "scene": (
        lambda story: story.scenes.get((1, 1)).version,
        lambda story: story.scenes.edit((1, 1), title="first"),
        lambda story, **said: story.scenes.delete((1, 1), **said),
    ),
    "scene that comes again": (
        lambda story: story.scenes.get((1, 1)).version,
        lambda story: story.scenes.edit((1, 1), title="first"),
        lambda story, **said: story.scenes.store(position=(1, 1), text="Another text.", **said),
    ),
}
"""Kind to how its version is read, how it is changed, and what deletes or replaces it."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", DELETIONS)
def test_nothing_is_deleted_that_was_changed_meanwhile(guild: Story, kind: str) -> None:
    """Nor does a whole scene take its place; with the version that stands, both do."""
    guild.memories.add("The lamp is lit.", attached_to=["C0"])
    seen, change, delete = DELETIONS[kind]
    version = seen(guild)
    change(guild)
    with pytest.raises(StaleVersionError, match="was changed since version") as caught:
        delete(guild, expected_version=version)
    assert caught.value.version == seen(guild)
    delete(guild, expected_version=seen(guild))
