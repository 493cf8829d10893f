"""Relationships: list, add and edit."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from novelgen.errors import UserInputError
from novelgen.models.entity import METADATA, PAIR_COUNTS, Entity, pair_counts, without_computed
from novelgen.models.folds import FOLDED_RELATIONSHIP_FIELDS, fold_relationship_changes
from novelgen.models.position import END_OF_STORY
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.shown import ShownList
from novelgen.models.state import Relationship, RelationshipDimensions, RelationshipView
from runtime.files.file_reading import described
from runtime.storage.change import Kept
from runtime.storage.database import UnitOfWork
from runtime.story import base
from runtime.story.changes import DeletionResult, followed_deletion
from runtime.story.versions import Version, relationship_version, require_unchanged, require_version


class RelationshipCard(Relationship):
    """A relationship with its notes and counts."""

    created_at: datetime | None = Field(
        default=None, description="When it was stored first; None: before that was kept."
    )
    updated_at: datetime | None = Field(default=None, description="When something was last said of it.")
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="What is noted of it, under the counts of the scenes before the position with both on stage.",
    )
    version: str = Field(default="", description="Of how they stand in the end; a change may name it.")


class AddedRelationship(Relationship):
    """A new relationship of two characters."""

    success: Literal[True] = True
    change_id: base.ChangeNumber = None


class EditedRelationship(Relationship):
    """A relationship after a change."""

    success: Literal[True] = True
    updated: bool = Field(description="False: the change said nothing new.")
    version: str = Field(default="", description="Of how they stand in the end; a change may name it.")
    change_id: base.ChangeNumber = None


class CourseStep(BaseModel):
    """How two characters stood after one change."""

    chapter_index: int | None = None
    scene_index: int | None = None
    event: str = ""
    status: str = ""
    intensity: int
    dimensions_a: RelationshipDimensions = Field(description="What the first felt for the second then.")
    dimensions_b: RelationshipDimensions = Field(description="What the second felt for the first then.")


class RelationshipCourse(BaseModel):
    """A relationship's course step by step.

    `character_a` sorts before `character_b`.
    """

    character_a: str
    character_b: str
    steps: list[CourseStep] = Field(default_factory=list, description="Oldest first.")


class StoryRelationships(base.StoryBase):
    """Relationships: list, add and edit."""

    def query(
        self, character_id: base.Name, *, status_filter: base.Name | None = None, as_of: base.Place = None
    ) -> list[RelationshipView]:
        """Return how one character stands to others, each from its own side.

        Args:
            character_id: Id, name or alias.
            status_filter: Only relationships of this status, such as strained.
            as_of: As they stand at this position.

        Raises:
            UnknownEntityError: When nobody of that name is known by then.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.shown_entities(unit, as_of)
            own_id = base.entity_of_name(character_id, known_entities, "character").entity_id
            position = as_of or END_OF_STORY
            pairs = unit.relationships.list_as_of(as_of=position, character_id=own_id, status=status_filter)
        names = {entity.entity_id: entity.name for entity in known_entities}
        views = (pair.seen_by(own_id) for pair in pairs)
        return [view.model_copy(update={"character_name": names.get(view.character_id, "")}) for view in views]

    def get(self, character_a: str, character_b: str, *, as_of: base.Place = None) -> RelationshipCard:
        """Return how two characters stand, with its history, its moments and how often both were on stage.

        Args:
            character_a: One of the two, by id, name or alias.
            character_b: The other one.
            as_of: Position of the read; None means the end of the story.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            one, other = _pair(base.shown_entities(unit, as_of), character_a, character_b)
            position = as_of or END_OF_STORY
            relationship = unit.relationships.between(one, other, as_of=position)
            if relationship is None:
                raise UserInputError(f"nothing is known of {one} and {other} together by then; add it first")
            notes = unit.relationships.about_pair(relationship.relationship_id)
            version = _version(unit, relationship.character_a, relationship.character_b)
            scenes = unit.scenes.casts(as_of=position)
        noted = without_computed(notes.other_fields, PAIR_COUNTS).get(METADATA)
        counts = pair_counts(relationship.character_a, relationship.character_b, scenes)
        metadata = {**(noted if isinstance(noted, Mapping) else {}), **counts}
        return RelationshipCard(
            **dict(relationship),
            created_at=notes.created_at,
            updated_at=notes.updated_at,
            metadata=metadata,
            version=version,
        )

    def course(self, character_a: base.Name, character_b: base.Name, *, as_of: base.Place = None) -> RelationshipCourse:
        """Return how two characters stood after each change of their relationship.

        Args:
            character_a: One of the two, by id, name or alias.
            character_b: The other one.
            as_of: Position of the read; None means the end of the story.

        Raises:
            UserInputError: When nothing is known of the two together.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            pair = sorted(_pair(base.shown_entities(unit, as_of), character_a, character_b))
            pair_changes_by_id = unit.relationships.changes_between(pair, as_of=as_of or END_OF_STORY)
        changes = next(iter(pair_changes_by_id.values()), [])
        if not changes:
            raise UserInputError(f"nothing is known of {pair[0]} and {pair[1]} together by then")
        steps = []
        for count, change in enumerate(changes, start=1):
            fields_before = fold_relationship_changes(changes[:count])
            sides = {
                side: {**fields_before["dimensions"], **fields_before[side]}
                for side in ("dimensions_a", "dimensions_b")
            }
            own = {name: getattr(change, name) for name in ("chapter_index", "scene_index", "event")}
            steps.append(
                CourseStep(**own, status=fields_before["status"], intensity=fields_before["intensity"], **sides)
            )
        return RelationshipCourse(character_a=pair[0], character_b=pair[1], steps=steps)

    def add(
        self,
        character_a: base.Name,
        character_b: base.Name,
        relationship_type: base.Name,
        *,
        perspective_a: str = "",
        perspective_b: str = "",
        status: base.Name = "neutral",
        intensity: base.Intensity = 5,
        dimensions: Mapping[str, int] | None = None,
        start: base.Place = None,
    ) -> AddedRelationship:
        """Say how two characters stand who have no relationship yet.

        Args:
            character_a: One of the two.
            character_b: The other one.
            relationship_type: mentor-student, friends, rivals, family, …; of two roles, that of the first comes first.
            perspective_a: How the first sees the second.
            perspective_b: How the second sees the first.
            status: close, strained, hostile, …
            intensity: How much it matters, 0 to 10.
            dimensions: Trust, respect, affection, fear and familiarity that both feel.
            start: It holds on entering this position.

        Raises:
            UserInputError: When they have a relationship already.
        """
        as_of = base.position_of(start) or END_OF_STORY
        with self._stores.database(self.project_id).write() as unit:
            one, other = _pair(base.entities_by_end_of(unit, as_of), character_a, character_b)
            known_relationship = unit.relationships.between(one, other, as_of=as_of)
            if known_relationship is not None:
                raise UserInputError(
                    f"{one} and {other} have relationship {known_relationship.relationship_id} already; use"
                    " `novelgen relationship edit`"
                )
            change = _change(
                {
                    "character_a": one,
                    "character_b": other,
                    "relationship_type": relationship_type,
                    "perspective_a": perspective_a,
                    "perspective_b": perspective_b,
                    "status": status,
                    "intensity": intensity,
                    "dimensions": dict(dimensions or {}),
                }
            )
            at = base.place_of_statement(unit, as_of)
            with unit.journal.changing_pair(one, other) as journal_entry:
                unit.relationships.append(change, at=at, follows_scene=False)
            added_relationship = unit.relationships.between(one, other, as_of=as_of)
        assert added_relationship is not None, "it was appended before the position at which it is read"
        return AddedRelationship(**dict(added_relationship), change_id=journal_entry.change_id)

    def edit(
        self,
        character_a: base.Name,
        character_b: base.Name,
        *,
        relationship_type: base.Name | None = None,
        perspective_a: str | None = None,
        perspective_b: str | None = None,
        status: base.Name | None = None,
        event: str | None = None,
        intensity: base.Intensity | None = None,
        dimensions: Mapping[str, int] | None = None,
        mutual_dimensions: Mapping[str, int] | None = None,
        scene_id: str | None = None,
        start: base.Place = None,
        expected_version: Version | None = None,
    ) -> EditedRelationship:
        """Change how two characters stand, named in either order; what is not given stays as it is.

        Args:
            character_a: One of the two.
            character_b: The other one.
            relationship_type: The new type.
            perspective_a: How the first sees the second now.
            perspective_b: How the second sees the first now.
            status: The new status.
            event: What happened between them.
            intensity: How much it matters now, 0 to 10.
            dimensions: What the first feels for the second now (trust, respect, affection, fear, familiarity); the
                second's side stays.
            mutual_dimensions: What both feel alike now.
            scene_id: Scene in which it happened, as S001 or 3:2.
            start: It holds on entering this position.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the relationship was changed since that version was read.
            UserInputError: When they have no relationship, or nothing is to be changed.
        """
        start = base.position_of(start)
        changes = {
            "relationship_type": relationship_type,
            "perspective_a": perspective_a,
            "perspective_b": perspective_b,
            "status": status,
            "event": event,
            "intensity": intensity,
            "dimensions_a": dict(dimensions or {}) or None,
            "dimensions": dict(mutual_dimensions or {}) or None,
        }
        payload: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
        if not payload:
            raise UserInputError(
                "nothing to update: give status, event or intensity, a type, a perspective or dimensions"
            )
        for name, value in payload.items():
            if isinstance(value, str) and not value.strip():
                raise UserInputError(f"{name} cannot become {value!r}; leave it out to keep what is known")
        as_of = start or END_OF_STORY
        with self._stores.database(self.project_id).write() as unit:
            one, other = _pair(base.entities_by_end_of(unit, as_of), character_a, character_b)
            known_relationship = unit.relationships.between(one, other, as_of=as_of)
            if known_relationship is None:
                raise UserInputError(
                    f"{one} and {other} have no relationship yet; create it first: relationship_create, or"
                    " `novelgen relationship add`"
                )
            subject = f"relationship {one}–{other}"
            version = _version(unit, one, other)
            require_version(
                expected_version,
                version,
                subject=subject,
                stored_fields=known_relationship.model_dump(),
                sent_fields=payload,
            )
            at = base.place_of_statement(unit, as_of, scene_id=scene_id)
            change = _change({"character_a": one, "character_b": other, **payload})
            journal_entry, is_changed = Kept(), event is not None or _differs(known_relationship, change.in_order())
            if is_changed:
                with unit.journal.changing_pair(one, other) as journal_entry:
                    unit.relationships.append(change, at=at, follows_scene=scene_id is not None)
                known_relationship = unit.relationships.between(one, other, as_of=as_of) or known_relationship
            version = _version(unit, one, other)
        return EditedRelationship(
            **dict(known_relationship), updated=is_changed, version=version, change_id=journal_entry.change_id
        )

    def delete(
        self, character_a: base.Name, character_b: base.Name, *, expected_version: Version | None = None
    ) -> DeletionResult:
        """Delete how two characters stand, with its history; both stay. `undo` takes it back.

        Args:
            character_a: One of the two, by id, name or alias.
            character_b: The other one.
            expected_version: The `version` that was read; None deletes whatever stands.

        Raises:
            StaleVersionError: When the relationship was changed since that version was read.
            UnknownEntityError: When nobody bears a name, or several do.
            UserInputError: When nothing is known of the two together.
        """
        with self._stores.database(self.project_id).write() as unit:
            known_entities = base.shown_entities(unit, None)
            one, other = (
                base.entity_of_name(name, known_entities, "character").entity_id for name in (character_a, character_b)
            )
            relationship = unit.relationships.between(one, other)
            if relationship is None:
                raise UserInputError(f"nothing is known of {one} and {other} together; list the relationships")
            require_unchanged(
                expected_version, relationship_version(relationship), subject=f"relationship {one}–{other}"
            )
            deletion = unit.deletions.delete_relationship(relationship.relationship_id)
        return followed_deletion(self._stores, self.project_id, deletion=deletion)

    def list(
        self, character_id: base.Name | None = None, *, status_filter: base.Name | None = None, as_of: base.Place = None
    ) -> list[Relationship]:
        """Return how pairs of characters stand.

        Args:
            character_id: Only pairs of this character.
            status_filter: Only pairs of this status, such as strained.
            as_of: As they stand at this position.
        """
        as_of = base.position_of(as_of)
        with self._stores.database(self.project_id).read() as unit:
            known_entities = base.shown_entities(unit, as_of) if character_id else []
            own_id = base.entity_of_name(character_id, known_entities, "character").entity_id if character_id else None
            position = as_of or END_OF_STORY
            pairs = unit.relationships.list_as_of(as_of=position, character_id=own_id, status=status_filter)
        return ShownList(pairs, names=base.entity_names(self._stores, self.project_id, as_of=as_of))

    aadd = base.async_twin(add)
    adelete = base.async_twin(delete)
    alist = base.async_twin(list)
    aedit = base.async_twin(edit)
    aquery = base.async_twin(query)
    aget = base.async_twin(get)
    acourse = base.async_twin(course)


def _version(unit: UnitOfWork, first: str, second: str) -> str:
    at_end = unit.relationships.between(first, second)
    return "" if at_end is None else relationship_version(at_end)


def _change(fields: Mapping[str, Any]) -> RecordedRelationshipChange:
    try:
        return RecordedRelationshipChange.model_validate(fields)
    except ValidationError as error:
        raise UserInputError(described(error)) from error


def _pair(known_entities: Sequence[Entity], first: str, second: str) -> tuple[str, str]:
    one, other = (base.entity_of_name(name, known_entities, "character").entity_id for name in (first, second))
    if one == other:
        raise UserInputError(f"a relationship needs two characters, but both are {one!r}")
    return one, other


def _differs(known_relationship: Relationship, change: RecordedRelationshipChange) -> bool:
    """Return whether a change of a pair states anything new."""
    said_names = change.model_fields_set
    fields = [name for name in FOLDED_RELATIONSHIP_FIELDS if name in said_names and getattr(change, name) != ""]
    if any(getattr(known_relationship, name) != getattr(change, name) for name in fields):
        return True
    if change.relationship_type and known_relationship.type_reads_back != change.type_reads_back:
        return True
    sides = (
        (change.dimensions_a, known_relationship.dimensions_a),
        (change.dimensions_b, known_relationship.dimensions_b),
    )
    if any(
        {**known_relationship.dimensions, **own} != {**known_relationship.dimensions, **own, **new}
        for new, own in sides
    ):
        return True
    mutual = change.dimensions
    own = {*known_relationship.dimensions_a, *known_relationship.dimensions_b}
    return bool(mutual.keys() & own) or {**known_relationship.dimensions, **mutual} != known_relationship.dimensions
