"""Who and what a story has, how much it is in it, and what would become one where two of them are merged."""

from typing import Literal

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import LoopStatus
from runtime.storage.database import UnitOfWork
from runtime.storage.merges import require_mergeable
from runtime.storage.records import MemoryFilter
from runtime.story.base import Name, Place, StoryBase, async_twin, known_entities, named_entity, position_of

Order = Literal["weight", "name", "last"]
"""By how many scenes have them, by name, or by where they were last seen."""

EVERY_STATUS: tuple[LoopStatus, ...] = ("open", "advanced", "resolved", "abandoned")


class Appearance(BaseModel):
    """An entity, and how much the story before a position has of it."""

    entity: Entity
    scenes: int = Field(description="In how many scenes it is on stage, or the place, or named.")
    last_chapter: int | None = Field(default=None, description="None: no scene has it yet.")
    last_scene: int | None = None

    @property
    def last_place(self) -> tuple[int, int]:
        """Chapter and scene that have it last; before all others where none has it."""
        return (-1 if self.last_chapter is None else self.last_chapter, self.last_scene or 0)


class MergePreview(BaseModel):
    """Two entities that may be one, and what would be joined, as of a position; the merge itself is of the whole."""

    kept: Entity
    gone: Entity
    added_names: list[str] = Field(description="Names that the one who stays would get.")
    scenes: int
    memories: int
    states: int
    relationships: int
    threads: int


class StoryAppearances(StoryBase):
    """Who and what a story has, how much it is in it, and what would become one where two of them are merged."""

    def list_appearances(self, *, order: Order = "weight", as_of: Place = None) -> list[Appearance]:
        """List entities as the story has shown them before a position, with how much it has of them.

        Args:
            order: How they are ordered; equals stand in order of id.
            as_of: The position; None means the end of the story.

        Raises:
            UserInputError: When there is no such order.
            UnknownProjectError: When no such project is stored.
        """
        cut = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            known = known_entities(unit, cut)
            seen = _seen(unit, cut)
        found = [_appearance(each, *seen.get(each.entity_id, (0, None))) for each in known]
        if order == "weight":
            return sorted(found, key=lambda each: -each.scenes)
        if order == "name":
            return sorted(found, key=lambda each: each.entity.name.casefold())
        if order == "last":
            return sorted(found, key=lambda each: each.last_place, reverse=True)
        raise UserInputError(f"order={order!r} is none; give weight, name or last")

    def preview_merge(self, keep: str, gone: Name, *, as_of: Place = None) -> MergePreview:
        """Tell what `merge_entities` would join, and change nothing.

        Args:
            keep: Who would stay, by id, name or alias.
            gone: Who would become part of it.
            as_of: Only what lies before this position is told; None means all.

        Raises:
            UnknownEntityError: When nobody bears a name by then, or several do.
            UserInputError: When both are one, or of different types.
        """
        cut = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            known = known_entities(unit, cut)
            kept, other = (named_entity(name, known) for name in (keep, gone))
            require_mergeable(kept, other)
            scenes, _ = _seen(unit, cut).get(other.entity_id, (0, None))
            changes = unit.states.stated(entity_ids=[other.entity_id], as_of=cut)
            is_person = other.entity_type == "character"
            pairs = (
                unit.relationships.list_as_of(as_of=cut, character_id=other.entity_id, status=None) if is_person else []
            )
            threads = unit.threads.list_as_of(as_of=cut, statuses=EVERY_STATUS)
            memories = unit.memories.count(MemoryFilter(as_of=cut, entities=[other.entity_id]))
        return MergePreview(
            kept=kept,
            gone=other,
            added_names=[name for name in other.names() if name not in kept.names()],
            scenes=scenes,
            memories=memories,
            states=len(changes),
            relationships=len(pairs),
            threads=sum(other.entity_id in each.related_entities for each in threads),
        )

    alist_appearances = async_twin(list_appearances)
    apreview_merge = async_twin(preview_merge)


def _seen(unit: UnitOfWork, cut: StoryPosition) -> dict[str, tuple[int, tuple[int, int] | None]]:
    """Return in how many scenes each entity is, and the last of them, as `entity_counts` counts it for a card.

    A character is where it is on stage or whose point of view tells, a place where scenes play; only of anything else
    it counts that texts name it.
    """
    found: dict[str, tuple[int, tuple[int, int] | None]] = {}
    for scene in unit.scenes.stagings(as_of=cut):
        for entity_id in filter(None, {scene.pov, scene.location_id, *scene.participants}):
            count, _ = found.get(entity_id, (0, None))
            found[entity_id] = (count + 1, scene.place)
    known = (each.entity for each in unit.entities.list_all())
    staged = {each.entity_id for each in known if each.entity_type in ("character", "location")}
    for entity_id, (count, last) in unit.entities.mentions_before(cut).items():
        if entity_id not in staged:
            before, place_before = found.get(entity_id, (0, None))
            found[entity_id] = (max(before, count), max(place_before or last, last))
    return found


def _appearance(entity: Entity, scenes: int, last: tuple[int, int] | None) -> Appearance:
    chapter, scene = last or (None, None)
    return Appearance(entity=entity, scenes=scenes, last_chapter=chapter, last_scene=scene)
