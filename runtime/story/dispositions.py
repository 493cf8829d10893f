"""What a character feels for another: read, moved by events, and told on one line."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from novelgen.characters import dispositions as feeling
from novelgen.characters.events import STATE_DELTAS
from novelgen.characters.memory import CharacterMemory, CharacterMemorySettings, GamePosition, Moment, as_moment
from novelgen.characters.mind import Mind
from novelgen.errors import UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.language.normalise import name_key
from novelgen.models.state import DIMENSION_RANGES
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Happened, StoredDispositionChange
from runtime.story.base import ChangeNumber, async_twin
from runtime.story.character_part import CharacterPart, When

_THE_PLAYER: dict[StoryLanguage, str] = {"en": "the player", "zh": "玩家"}


class Feelings(BaseModel):
    """What a character feels for another at a moment."""

    character_id: str
    other_id: str
    other_name: str
    disposition: feeling.Disposition
    has_met: bool
    days_known: int = Field(description="Whole days since they met first; 0 where they have not.")
    status: str
    header: str = Field(description="The same on one line, in the form that stands above a recall.")
    words: list[str] = Field(description="The same in words, in the language of the story.")
    change_id: ChangeNumber = None


class CharacterFeelings(CharacterPart):
    """What a character feels for another: read, moved by events, and told on one line.

    The other is the id, name or alias of a character, or any other name: "player" where nobody is named.
    """

    def feelings(self, other: str = feeling.PLAYER, *, as_of: When = None) -> Feelings:
        """Return what the character feels for another: five dimensions, a status, a header, and words.

        Args:
            other: For whom.
            as_of: As it was then; None means now.
        """
        with self._stores.database(self.project_id).read() as unit:
            return feelings_in(
                unit, self._mind(unit), self.character_id, other, as_of=as_moment(as_of), now=self._clock()
            )

    def feel(
        self,
        other: str = feeling.PLAYER,
        *,
        event_type: str = "",
        deltas: Mapping[str, int] | None = None,
        values: Mapping[str, int] | None = None,
        at: When = None,
    ) -> Feelings:
        """Move what the character feels for another; `remember` does so by itself for those who took part.

        Args:
            other: For whom.
            event_type: What happened: its rule moves what `deltas` do not name.
            deltas: Dimension to the number by which it moves: `{"trust": 5}`.
            values: Dimension to the value that it takes: `{"fear": 40}`.
            at: When.

        Raises:
            UserInputError: When a dimension is unknown, or nothing is told to move.
        """
        settings = self._stores.settings.memory.character_memory
        moved = {**feeling.deltas_of(event_type, settings), **feeling.require_dimensions(deltas or {})}
        taken = feeling.require_dimensions(values or {})
        if not moved and not taken:
            raise UserInputError(
                f"nothing moves by {event_type!r}; pass deltas={{'trust': 5}}, values={{'trust': 45}} or a type "
                "with a rule"
            )
        moment = self._clock()
        with self._stores.database(self.project_id).write() as unit:
            other_id = other_id_of(unit, other)
            if other_id == self.character_id:
                raise UserInputError(f"{other!r} is the character itself; name whom it feels something for")
            with unit.journal.changing_play("feel", self.character_id, other_id) as kept:
                unit.play.add_disposition(
                    StoredDispositionChange(
                        character_id=self.character_id,
                        other_id=other_id,
                        event_type=event_type,
                        deltas=moved,
                        values=taken,
                        **dict(happened(as_moment(at), moment)),
                    )
                )
            now = feelings_in(unit, self._mind(unit), self.character_id, other_id, as_of=None, now=moment)
        return now.model_copy(update={"change_id": kept.change_id})

    def feelings_history(self, other: str = feeling.PLAYER, *, as_of: When = None) -> list[StoredDispositionChange]:
        """Return how the character's feelings for another moved, in the order in which it happened.

        Args:
            other: For whom.
            as_of: Only what happened before; None means everything so far.
        """
        with self._stores.database(self.project_id).read() as unit:
            return unit.play.dispositions(self.character_id, other_id_of(unit, other), as_of=as_moment(as_of))

    afeelings = async_twin(feelings)
    afeel = async_twin(feel)
    afeelings_history = async_twin(feelings_history)


def feelings_in(
    unit: UnitOfWork, mind: Mind, character_id: str, other: str, *, as_of: Moment | None, now: datetime
) -> Feelings:
    """Return what a character feels for another, within a transaction."""
    other_id = other_id_of(unit, other)
    changes = unit.play.dispositions(character_id, other_id, as_of=as_of)
    disposition = feeling.folded_disposition(changes)
    # What was only heard of somebody is no meeting.
    shared = mind.shared_with(other_id)
    if shared and as_of is not None:
        border = mind.view(as_of, clock_now=now).now
        shared = [each for each in shared if _is_before(each, as_of, border)]
    moments = sorted([*(each.happened_at for each in changes), *(each.happened_at for each in shared)])
    has_met = bool(moments)
    # As of a turn it is as late as the last thing that had happened between them by then.
    today = as_of if isinstance(as_of, datetime) else now
    if isinstance(as_of, GamePosition) and has_met:
        today = moments[-1]
    days = max(0, (today - moments[0]) // timedelta(days=1)) if has_met else 0
    name = display_name(unit, other_id)
    return Feelings(
        character_id=character_id,
        other_id=other_id,
        other_name=name,
        disposition=disposition,
        has_met=has_met,
        days_known=days,
        status=feeling.status_of(disposition, has_met=has_met),
        header=feeling.relationship_header(disposition, has_met=has_met, days_known=days),
        words=feeling.disposition_words(disposition, other=name, language=project_language(unit, name)),
    )


def _is_before(memory: CharacterMemory, as_of: Moment, border: float) -> bool:
    """Tell whether something was lived through before a moment; without a position its time decides."""
    if isinstance(as_of, GamePosition) and memory.known_position is not None:
        return memory.known_position < as_of
    return memory.happened_at.timestamp() < border


def event_deltas(
    event_type: str, interaction_type: str | None, given: Mapping[str, Any], settings: CharacterMemorySettings
) -> dict[str, int]:
    """Return how an event moves feelings: by its rule, and where somebody says otherwise, by what they say."""
    moved = feeling.deltas_of(event_type, settings) or feeling.deltas_of(interaction_type or "", settings)
    for name in DIMENSION_RANGES:
        said = given.get(f"{name}_change")
        if type(said) is int:
            moved[name] = said
    return moved


def as_state_deltas(deltas: Mapping[str, int]) -> dict[str, int]:
    """Return moves of feelings under the names by which the importance of an event is told."""
    return {f"{name}_change": by for name, by in deltas.items() if f"{name}_change" in STATE_DELTAS}


def move_by_event(unit: UnitOfWork, memory: CharacterMemory, deltas: Mapping[str, int]) -> None:
    """Let an event that a character lived through move what it feels for those who took part.

    What changes nothing, because a dimension stands at its bound, is not written down.
    """
    for other_id in memory.participants:
        if other_id == memory.character_id or not deltas:
            continue
        before = feeling.folded_disposition(unit.play.dispositions(memory.character_id, other_id))
        if before.moved(deltas) != before:
            unit.play.add_disposition(
                StoredDispositionChange(
                    character_id=memory.character_id,
                    other_id=other_id,
                    event_type=memory.event_type or memory.interaction_type or "",
                    deltas=dict(deltas),
                    memory_id=memory.memory_id,
                    session=memory.session,
                    turn=memory.turn,
                    happened_at=memory.happened_at,
                )
            )


def happened(at: Moment | None, now: datetime) -> Happened:
    """Return when something happened: at a moment, or now."""
    if isinstance(at, datetime):
        return Happened(happened_at=at)
    if at is None:
        return Happened(happened_at=now)
    return Happened(session=at.session, turn=at.turn, happened_at=now)


def other_id_of(unit: UnitOfWork, other: str) -> str:
    """Return the id of the character that a name means, or the name as it is: a player is no entity."""
    if not other.strip():
        raise UserInputError("the name of the other is empty; say for whom, such as 'player'")
    return unit.characters.ids_by_name([other], [name_key(other)]).get(other) or feeling.as_player(other)


def display_name(unit: UnitOfWork, other_id: str) -> str:
    """Return the name of a character by its id; of others what they are called."""
    if other_id == feeling.PLAYER:
        return _THE_PLAYER[project_language(unit, "")]
    return unit.characters.names().get(other_id, other_id)


def project_language(unit: UnitOfWork, text: str) -> StoryLanguage:
    """Return the language of a story; where the project does not say, that of a text."""
    return stated_language(unit.projects.require().language) or story_language(text)
