"""A character that remembers: what comes back, from whom it is kept, and from when on it is known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import novelgen
from novelgen.errors import UnknownEntityError, UserInputError
from runtime.front_door import Memory
from runtime.story import Story

START = datetime(2031, 3, 1, 9, tzinfo=UTC)


class Calendar:
    """A game's own clock, which goes on when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with novelgen.open(tmp_path, embeddings="fake:64") as opened:
        yield opened


@pytest.fixture
def story(memory: Memory) -> Story:
    village = memory.create("village")
    for name in ("Gregor", "Mira", "Bjorn"):
        village.character(name, create=True)
    return village


def test_what_was_remembered_comes_back_within_the_budget(story: Story, calendar: Calendar) -> None:
    """A remark brings the memory that it is about, and the block never costs more than it may."""
    gregor = story.character("Gregor", clock=calendar)
    gregor.remember("The player bought two lanterns from me and paid in silver.", event_type="conversation")
    gregor.remember("My daughter Elena wants to leave the village before winter.", event_type="conversation")

    recalled = gregor.recall("How is your daughter Elena?", budget_tokens=60)

    assert "Elena" in recalled.items[0].text
    assert 0 < recalled.tokens <= 60
    assert "What Gregor remembers:" in recalled.as_prompt("en")


def test_nobody_recalls_what_another_learnt(story: Story) -> None:
    """Seed 002.2: a memory belongs to one character alone, and scene searches of the story never see it."""
    story.character("Gregor").remember("I buried the coffer under the chapel.", event_type="secret_kept")

    assert story.character("Mira").recall("Where is the coffer under the chapel?").items == []
    assert story.search("coffer under the chapel") == []


def test_witnesses_remember_in_rows_and_words_of_their_own(story: Story) -> None:
    """Seed 002.3, 002.4: those who were there remember it, each in their own words, and nobody else does."""
    gregor = story.character("Gregor")
    gregor.remember(
        "I sold the guard's sword to a bandit.",
        event_type="betrayal",
        witnesses={"Mira": "I saw Gregor hand a sword to a bandit."},
    )

    [seen] = story.character("Mira").memories()
    assert seen.content == "I saw Gregor hand a sword to a bandit."
    assert seen.how == "witnessed"
    assert seen.event_id == gregor.memories()[0].event_id
    assert story.character("Bjorn").memories() == []


def test_an_unknown_character_is_an_error_that_names_the_nearest(story: Story) -> None:
    """A misspelt name makes nobody new: it is told who is near, and how to make somebody."""
    with pytest.raises(UnknownEntityError, match=r"Gregor.*create=True"):
        story.character("Gregr")
    assert story.character("Varn", create=True).character_id != story.character("Gregor").character_id


def test_a_slot_holds_one_value_and_marks_the_former_one(story: Story, calendar: Calendar) -> None:
    """Seed 002.27, 002.28: a new value takes the slot; the old one is history, never first, never unmarked."""
    mira = story.character("Mira", clock=calendar)
    mira.remember("The player's name is Theron.", slot="player_name")
    calendar.pass_days(1)
    renamed = mira.remember("The player's name is really Marcus.", slot="player_name")

    recalled = mira.recall("What is the player's name? Is it Theron?")

    assert renamed.ended
    assert [line.text for line in recalled.header] == ["The player's name is really Marcus."]
    assert [item.text for item in recalled.items if not item.is_over] == []
    prompt = recalled.as_prompt("en")
    assert prompt.index("Marcus") < prompt.index("Theron")
    assert "formerly, no longer true) The player's name is Theron." in prompt


def test_a_slot_of_an_unknown_type_is_refused_with_the_one_that_was_meant(story: Story) -> None:
    """A misspelt slot would hold beside the right one, so it is refused."""
    with pytest.raises(UserInputError, match="player_name"):
        story.character("Mira").remember("The player's name is Theron.", slot="player_nmae")


def test_a_read_as_of_a_moment_shows_only_what_was_learnt_before_it(story: Story, calendar: Calendar) -> None:
    """Sessions and turns, and points in time alike, cut strictly before themselves."""
    bjorn = story.character("Bjorn", clock=calendar)
    bjorn.remember("The forge burnt down.", at=(1, 1))
    calendar.pass_days(2)
    bjorn.remember("The forge was built again.", at=(2, 1))

    assert [each.content for each in bjorn.memories(as_of=(2, 1))] == ["The forge burnt down."]
    assert [each.content for each in bjorn.memories(as_of=START)] == []
    assert len(bjorn.memories(as_of=START + timedelta(days=1))) == 1
    assert len(bjorn.memories()) == 2
    assert [each.text for each in bjorn.recall("the forge", as_of=(2, 1)).items] == ["The forge burnt down."]
