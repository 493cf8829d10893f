"""Manual correction of scenes: text, title and recorded facts."""

from collections.abc import Container, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.language.matching import QuoteFinder
from novelgen.language.name_lists import split_names
from novelgen.language.normalise import require_size, scrub_text
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.record import SceneRecord
from novelgen.shell_words import in_shell
from runtime.storage.change import AuthorChangeKind, number_of
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult
from runtime.storage.records import MEANINGS, Scene
from runtime.stores import MemoryStores
from runtime.story.base import (
    At,
    ChangeNumber,
    Name,
    Place,
    SceneText,
    StoryBase,
    async_twin,
    entity_of_name,
    entity_of_name_or_part,
    known_entities,
    place_of_name,
    position_of,
    story_position,
)
from runtime.story.changes import changed_scene
from runtime.story.versions import Version, require_version, scene_version

LocationName = Annotated[str, Field(max_length=400)]
"""Id, name or alias of a place, or of a thing on which it plays, as a ship; empty for none."""

KeptRecord = Literal["keep", "drop"]

RecordedFactKind = Literal[
    "state", "relationship", "thread_planted", "thread_moved", "thread_ended", "learnt", "repeated"
]
"""What a record holds beside memories, which are corrected by themselves (`runtime.story.memories`)."""

_WORDS_OF: dict[str, tuple[str, str | None]] = {
    "relationship": ("relationship_changes", "event"),
    "thread_planted": ("open_loops_created", "description"),
    "thread_moved": ("open_loops_advanced", "note"),
    "thread_ended": ("open_loops_resolved", "resolution_summary"),
    "learnt": ("learned", None),
    "repeated": ("memories_repeated", None),
}
"""Kind to where the record lists it, and which of its fields says it in words; one without is called by its number."""

RECORDED_WITH_WORDS = frozenset({"state", *(kind for kind, (_, words) in _WORDS_OF.items() if words)})
"""Kinds that can be said in other words; the others are taken out alone."""


class TextConsequences(BaseModel):
    """The effect of a new text on a scene's facts."""

    quotes: int = Field(description="Facts whose words are known.")
    lost: list[str] = Field(
        default_factory=list, description="What those facts say whose words the new text has not any more."
    )
    is_same: bool = Field(default=False, description="It is the text that is stored.")


class SceneEdit(BaseModel):
    """The result of a scene edit."""

    position: str
    change_id: ChangeNumber = None
    added: int = Field(default=0, description="Memories that came, passages of the text among them.")
    removed: int = Field(default=0, description="Memories that went.")
    kept: int = Field(default=0, description="Memories that an author changed, and that were left alone.")
    lost: list[str] = Field(default_factory=list, description="Facts whose words are not in the text any more.")
    version: str = Field(default="", description="Of the scene as it stands now.")
    issues: list[ReportIssue] = Field(default_factory=list, description="The place, where it has no card.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StorySceneEditing(StoryBase):
    """Correcting a finished scene by hand: its text and title, and single facts of its record."""

    def preview_text(self, *, position: At, text: SceneText) -> TextConsequences:
        """Preview the effect of a new text on a scene's facts.

        Args:
            position: The scene.
            text: The new text.

        Raises:
            UnknownSceneError: When no scene is stored there.
        """
        with self._stores.database(self.project_id).read() as unit:
            scene = unit.scenes.require(story_position(position))
            quotes = _quotes(unit, scene)
        new = scrub_text(text).strip()
        return TextConsequences(quotes=len(quotes), lost=_lost(quotes, new), is_same=new == (scene.text or "").strip())

    def edit(
        self,
        position: At,
        *,
        text: SceneText | None = None,
        title: str | None = None,
        record: KeptRecord = "keep",
        expected_version: Version | None = None,
    ) -> SceneEdit:
        """Change a stored scene's text or title.

        `undo` restores it.

        Args:
            position: The scene, as `(3, 2)`.
            text: The new text; None leaves it.
            title: The new title; None leaves it.
            record: "keep" or "drop": what becomes of the record when the text changes.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the scene was changed since that version was read.
            UnknownSceneError: When no scene is stored there.
            UserInputError: When the text is empty or too long.
        """
        place = story_position(position)
        if text is not None and not text.strip():
            raise UserInputError("the scene would be empty; delete it instead, or write its text")
        with self._stores.database(self.project_id).write() as unit:
            scene = unit.scenes.require(place)
            form = {name: value.strip() for name, value in (("title", title), ("text", text)) if value is not None}
            require_version(
                expected_version,
                scene_version(scene),
                subject=f"scene {place}",
                stored_fields={"title": scene.title, "text": (scene.text or "").strip()},
                sent_fields=form,
            )
            fields: dict[str, Any] = {}
            if title is not None:
                fields["title"] = scrub_text(title).strip()
            if text is not None:
                new = scrub_text(text).strip()
                require_size(new, f"scene {place}")
                # A browser sends a text without what stood around it; that alone is no change.
                fields["text"] = scene.text if new == (scene.text or "").strip() else new
            lost: list[str] = []
            is_new_text = fields.get("text", scene.text) != scene.text
            if is_new_text and record == "drop":
                fields |= {"record": None, "record_origin": "rules", "extraction_status": "none"}
            elif is_new_text:
                lost = _lost(_quotes(unit, scene), fields["text"])
            edited = change_scene(unit, scene, "text" if is_new_text else "title", fields, stores=self._stores)
        return edited.model_copy(update={"lost": lost, "indexing": self._follow_edit()})

    def amend_fact(
        self,
        *,
        position: At,
        kind: RecordedFactKind,
        source_id: str,
        text: str | None = None,
        as_of: Place = None,
        expected_version: Version | None = None,
    ) -> SceneEdit:
        """Remove or reword a fact of a record, which becomes the author's.

        No model reads a scene again whose record is the author's, and no plain taking in of the scene replaces it.

        Args:
            position: The scene.
            kind: What it is.
            source_id: As `read` names it: C3.status, C0-C3, OL2, or the number of what was learnt.
            text: Its new words, of a state its value, of several one a line; None takes it out. What was learnt has no
                words of its own.
            as_of: Names in a value are meant as they are known by then; None means at the end of the story.
            expected_version: The `version` of the scene that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the scene was changed since that version was read.
            UnknownSceneError: When no scene is stored there.
            UserInputError: When the record does not hold it, the text is empty, or it has no words to change.
        """
        position = story_position(position)
        if text is not None and not text.strip():
            raise UserInputError("the new words are empty; reject the fact instead")
        if text is not None and kind not in RECORDED_WITH_WORDS:
            raise UserInputError(f"a fact of kind {kind!r} has no words of its own; reject it and note what holds")
        with self._stores.database(self.project_id).write() as unit:
            scene = unit.scenes.require(position)
            if scene.record is None:
                raise UserInputError(f"scene {position} has no record; there is nothing to correct")
            statement = None if text is None else scrub_text(text).strip()
            require_version(
                expected_version,
                scene_version(scene),
                subject=f"scene {position}",
                stored_fields={"text": _words_in(scene.record, kind, source_id)},
                sent_fields={"text": statement},
            )
            if kind == "state":
                amended = _with_state(scene.record, source_id, statement, known_entities(unit, position_of(as_of)))
            else:
                amended = _amended(scene.record, kind, source_id, statement)
            if amended == scene.record:
                return SceneEdit(position=str(position), version=scene_version(scene))
            fields = {"record": amended.model_dump(mode="json"), "record_origin": "author"}
            edited = change_scene(unit, scene, "record", fields, stores=self._stores)
        return edited.model_copy(update={"indexing": self._follow_edit()})

    def set_staging(
        self,
        position: At,
        *,
        location: LocationName | None = None,
        cast: Sequence[Name] | None = None,
        names: Mapping[str, str | None] | None = None,
        expected_version: Version | None = None,
    ) -> SceneEdit:
        """Say where a stored scene plays, who is in it, and whom names mean in it; it is never guessed again.

        `undo` takes it back.

        Args:
            position: The scene, as `(3, 2)`.
            location: Id, name or alias of the place, or of a ship or another thing that has no card as a place; empty
                where it has none. None leaves it.
            cast: Ids, names or aliases of all who are in it, several in one text between commas; an empty list means
                nobody. None leaves it.
            names: Names in its text to the id, name or alias of whom they mean there; an empty one takes the meaning
                back.
            expected_version: The `version` of the scene that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When the scene was changed since that version was read.
            UnknownSceneError: When no scene is stored there.
            UnknownEntityError: When no card of that kind has such a name; a place without one is an issue beside a
                cast, which is stored.
            UserInputError: When nothing is said, or a name does not stand in the text.
        """
        at = story_position(position)
        if location is None and cast is None and not names:
            raise UserInputError("nothing to change; give the place, the cast, or whom a name means")
        with self._stores.database(self.project_id).write() as unit:
            scene, entities = unit.scenes.require(at), known_entities(unit, None)
            staging = staging_of(entities, location=location, cast=cast, project_id=self.project_id)
            stated_fields = scene.staged | staging.statements
            if names:
                stated_fields |= _with_meanings(scene, names, entities)
            display_names = {entity.entity_id: entity.name for entity in entities}
            form = {"location": location, "cast": cast, "names": names}
            require_version(
                expected_version,
                scene_version(scene),
                subject=f"scene {at}",
                stored_fields={
                    "location": display_names.get(scene.location_id or "", scene.location_id or ""),
                    "cast": [display_names.get(entity_id, entity_id) for entity_id in scene.participants],
                    "names": {
                        name: display_names.get(meant, meant) for name, meant in scene.staged.get(MEANINGS, {}).items()
                    },
                },
                sent_fields={name: value for name, value in form.items() if value is not None},
            )
            edited = change_scene(unit, scene, "staging", {"staged": stated_fields}, stores=self._stores)
        return edited.model_copy(update={"issues": staging.issues, "indexing": self._follow_edit()})

    aedit = async_twin(edit)
    aset_staging = async_twin(set_staging)
    apreview_text = async_twin(preview_text)
    aamend_fact = async_twin(amend_fact)


class Staging(NamedTuple):
    """An author's statement of place and cast."""

    statements: dict[str, Any]
    issues: list[ReportIssue]


def staging_of(
    entities: Sequence[Entity], *, location: str | None, cast: Sequence[str] | None, project_id: str
) -> Staging:
    """Return an author's statement of place and cast by ids, without what is None.

    A place without a card is an issue where a cast is said beside it: the cast holds without the place.

    Raises:
        UnknownEntityError: When no card of that kind has such a name.
    """

    def id_of(name: str, kind: EntityType) -> str:
        try:
            if kind == "location":
                return place_of_name(name, entities).entity_id
            return entity_of_name_or_part(name, entities, kind).entity_id
        except UnknownEntityError as error:
            raise UnknownEntityError(
                f"{error}; one without a card gets it with"
                f" `novelgen card add {project_id} {in_shell(name)} --kind {kind}`"
            ) from error

    statements: dict[str, Any] = {}
    issues = []
    if cast is not None:
        cast_ids = [id_of(name, "character") for name in split_names(cast, entities)]
        statements["participants"] = list(dict.fromkeys(cast_ids))
    if location is not None:
        try:
            statements["location_id"] = id_of(location, "location") if location.strip() else ""
        except UnknownEntityError as error:
            if cast is None:
                raise
            issues.append(ReportIssue(stage="card", kind="unresolved", message=f"the place is not stored: {error}"))
    return Staging(statements, issues)


def change_scene(
    unit: UnitOfWork, scene: Scene, kind: AuthorChangeKind, fields: dict[str, Any], *, stores: MemoryStores
) -> SceneEdit:
    """Set scene fields, and journal the old ones."""
    from runtime.ingest.scene_writes import replace_stored_scene

    before = unit.scenes.image(scene)
    if all(before[name] == value for name, value in fields.items()):
        return SceneEdit(position=str(scene.position), version=scene_version(scene))
    write_result = replace_stored_scene(unit, changed_scene(scene, fields), stores=stores)
    after = unit.scenes.image(unit.scenes.require(scene.position))
    change = unit.journal.keep_fields("scene", kind, scene.scene_id, before, after)
    return SceneEdit(
        position=str(scene.position),
        change_id=number_of(change),
        added=len(write_result.chunks_added),
        removed=len(write_result.chunks_removed),
        kept=len(write_result.chunks_kept),
        version=scene_version(unit.scenes.require(scene.position)),
    )


def _quotes(unit: UnitOfWork, scene: Scene) -> list[tuple[str, str]]:
    """Return facts with their quoted words."""
    text = scene.text or ""
    place = (scene.chapter_index, scene.scene_index)
    memories = unit.memories.of_scenes([place], content_types=["memory", "note"])
    return [(memory.content, text[slice(*memory.source_span)]) for memory in memories if memory.source_span is not None]


def _lost(quotes: list[tuple[str, str]], text: str) -> list[str]:
    finder = QuoteFinder(text, min_characters=(1, 1))
    return [says for says, words in quotes if finder.find(words) is None]


def _amended(record: SceneRecord, kind: RecordedFactKind, source_id: str, text: str | None) -> SceneRecord:
    name, words = _WORDS_OF[kind]
    listing = list(getattr(record, name))
    ids = map(str, range(len(listing))) if words is None else map(_id_of, listing)
    at = next((index for index, entity_id in enumerate(ids) if entity_id == source_id), None)
    if at is None:
        raise _not_held(kind, source_id)
    listing[at : at + 1] = [] if text is None else [listing[at].model_copy(update={words: text})]
    return record.model_copy(update={name: listing})


def _words_in(record: SceneRecord, kind: RecordedFactKind, source_id: str) -> str | None:
    """Return a fact's text in a record, or None."""
    if kind == "state":
        entity_id, _, attribute = source_id.partition(".")
        changes = (
            recorded_state_change.changes
            for recorded_state_change in record.state_changes
            if recorded_state_change.entity_id == entity_id
        )
        value = next((change[attribute] for change in changes if attribute in change), None)
        return None if value is None else "\n".join(map(str, value if isinstance(value, list) else [value]))
    name, words = _WORDS_OF[kind]
    if words is None:
        return None
    return next((str(getattr(item, words)) for item in getattr(record, name) if _id_of(item) == source_id), None)


def _id_of(text: Any) -> str:
    loop_id = getattr(text, "id", None)
    return str(loop_id) if loop_id is not None else f"{text.character_a}-{text.character_b}"


def _with_meanings(
    scene: Scene, names: Mapping[str, str | None], entities: Sequence[Entity]
) -> dict[str, dict[str, str]]:
    """Return whom names mean in a scene, by id, with those that were said before."""
    meanings = dict(scene.staged.get(MEANINGS) or {})
    for name, meant in ((name.strip(), (meant or "").strip()) for name, meant in names.items()):
        if not meant:
            meanings.pop(name, None)
            continue
        if name not in (scene.text or ""):
            raise UserInputError(f"the name {name!r} does not stand in scene {scene.position}; copy it from the text")
        meanings[name] = entity_of_name(meant, entities).entity_id
    return {MEANINGS: meanings}


def _with_state(record: SceneRecord, source_id: str, statement: str | None, entities: Sequence[Entity]) -> SceneRecord:
    """Return a record with a changed state, by default in all its changes."""
    entity_id, _, attribute = source_id.partition(".")
    changes = list(record.state_changes)
    is_of = [
        recorded_state_change.entity_id == entity_id and attribute in recorded_state_change.changes
        for recorded_state_change in changes
    ]
    if not any(is_of):
        raise _not_held("state", source_id)
    if statement is not None:
        first = is_of.index(True)
        fields = changes[first].changes
        changed = {**fields, attribute: _value_like(fields[attribute], statement, entities)}
        changes[first] = changes[first].model_copy(update={"changes": changed})
        return record.model_copy(update={"state_changes": changes})
    return without_states(record, entity_id, [attribute])


def without_states(record: SceneRecord, entity_id: str, attributes: Container[str]) -> SceneRecord:
    """Return a record that says nothing of some attributes of an entity."""
    changes = []
    for change in record.state_changes:
        changes_by_name = change.changes
        if change.entity_id == entity_id:
            changes_by_name = {name: value for name, value in changes_by_name.items() if name not in attributes}
        if changes_by_name:
            changes.append(change.model_copy(update={"changes": changes_by_name}))
    return record.model_copy(update={"state_changes": changes})


def _value_like(old: Any, statement: str, entities: Sequence[Entity]) -> Any:
    """Return typed text as a value of the same kind: list, id or words."""
    if isinstance(old, Mapping):
        raise UserInputError("a value of several fields is changed in the record: `novelgen record edit`")
    lines = [line.strip() for line in statement.splitlines() if line.strip()]
    old_values = old if isinstance(old, list) else [old]
    ids = {entity.entity_id for entity in entities}
    bearers = {name.casefold(): entity.entity_id for entity in entities for name in entity.names()[::-1]}
    names_ids = any(isinstance(old_value, str) and old_value in ids for old_value in old_values)
    values_by_text = {str(old_value): old_value for old_value in old_values}
    values = [
        values_by_text[line] if line in values_by_text else bearers.get(line.casefold(), line) if names_ids else line
        for line in lines
    ]
    return values if isinstance(old, list) else values[0] if len(values) == 1 else statement


def _not_held(kind: str, source_id: str) -> UserInputError:
    return UserInputError(f"the record of the scene holds no {kind} {source_id!r}; look at the scene again")
