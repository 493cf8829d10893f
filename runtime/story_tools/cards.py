"""Cards of characters, locations and scenes: short texts of what the story had shown before a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.lines import render_value
from runtime.storage.records import StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.story_tools.arguments import CardType
from runtime.story_tools.story_scope import StoryScope

OPENING_CHARACTERS = 300
"""So much of its beginning stands for a scene without a record."""


@dataclass(frozen=True, slots=True)
class Card:
    """A card.

    Args:
        entity_id: Id of the entity, or the label of the scene such as S001.
        entity_type: What it is a card of.
        name: Name, or title.
        lines: What lasts: aliases, description and profile; for a scene its summary, events and beats.
        state_lines: How an entity stands at the position.
        place: Chapter and scene; None for an entity.
    """

    entity_id: str
    entity_type: CardType
    name: str
    lines: tuple[str, ...] = ()
    state_lines: tuple[str, ...] = ()
    place: tuple[int, int] | None = None

    @property
    def lasting_text(self) -> str:
        """Name and what lasts: the part whose meaning is searched."""
        return "\n".join([self.name, *self.lines])

    @property
    def all_lines(self) -> tuple[str, ...]:
        """Everything but the name."""
        return self.lines + self.state_lines


def cards_as_of(scope: StoryScope, unit: UnitOfWork, card_types: Sequence[CardType]) -> list[Card]:
    """Build the cards of these types from what lies before the scope's position.

    They are built anew at every call: a card that is stored would tell of the position at which it was
    made, and how an entity stands differs from scene to scene.

    Returns:
        Cards in the order of ids, scenes in story order at the end.
    """
    cards: list[Card] = []
    known = scope.entities(unit)
    wanted = [entity for entity in known if entity.entity_type in card_types]
    if wanted:
        names = {entity.entity_id: entity.name for entity in known}
        labels = labels_for(unit.projects.require().language)
        ids = [entity.entity_id for entity in wanted]
        snapshots = unit.states.snapshots(ids, as_of=scope.as_of)
        states = {snapshot.entity_id: snapshot for snapshot in snapshots}
        cards += [_entity_card(entity, states.get(entity.entity_id), names, labels) for entity in wanted]
    if "scene" in card_types:
        scenes = unit.scenes.list_as_of(as_of=scope.as_of, with_text=True)
        cards += [_scene_card(scene) for scene in scenes]
    return cards


def _entity_card(
    entity: Entity, state: EntityStateSnapshot | None, names: Mapping[str, str], labels: Labels
) -> Card:
    aliases = labels.list_separator.join(alias.alias for alias in entity.aliases)
    profile = [_field(name, value, names, labels) for name, value in entity.profile.items() if value]
    stated = {} if state is None else state.state_data
    return Card(
        entity_id=entity.entity_id,
        entity_type="character" if entity.entity_type == "character" else "location",
        name=entity.name,
        lines=tuple(line for line in (entity.description, entity.role, aliases, *profile) if line),
        state_lines=tuple(
            _field(name, value, names, labels)
            for name, value in stated.items()
            if name != PRESENCE_ATTRIBUTE and value
        ),
    )


def _field(name: str, value: Any, names: Mapping[str, str], labels: Labels) -> str:
    return f"{labels.attribute(name)}{labels.colon}{render_value(value, names, labels)}"


def _scene_card(scene: StoredScene) -> Card:
    record = scene.record
    told = [] if record is None else [*record.summary, *record.key_events, *record.emotional_beats]
    return Card(
        entity_id=scene.label,
        entity_type="scene",
        name=scene.title or f"{scene.chapter_index}:{scene.scene_index}",
        lines=tuple(told or [(scene.text or "")[:OPENING_CHARACTERS]]),
        place=(scene.chapter_index, scene.scene_index),
    )
