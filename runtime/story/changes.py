"""Recent author's changes, and undoable deletions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import Field

from novelgen.errors import UserInputError
from novelgen.models.base import Model
from novelgen.models.memory import StoryMemoryChunk, memory_place_text
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.storage.change import AuthorChangeKind, Change, number_of
from runtime.storage.database import UnitOfWork
from runtime.storage.journal import Deletion
from runtime.storage.models import IndexingResult
from runtime.storage.projects import Waivable
from runtime.storage.records import Scene
from runtime.storage.said_places import PlaceFields, is_among, last_rows
from runtime.storage.scenes import SCENE_FIELDS
from runtime.storage.undo_checks import require_as_left, require_scene_as_left
from runtime.stores import MemoryStores
from runtime.story import base

DEFAULT_CHANGES = 50


class ListedChange(Model):
    """A change of the author, in words."""

    change_id: int
    kind: AuthorChangeKind
    created_at: datetime
    undone_at: datetime | None = None
    position: str = Field(default="", description="Of the scene, as 3:2, of a run 1:1–3:2; empty where it has none.")
    source_id: str = Field(default="", description="Id of the memory; empty of a scene.")
    what: str = Field(default="", description="What the memory says, or the scene's title.")
    was: str = Field(default="", description="What it said before, where that was changed.")
    is_gone: bool = Field(default=False, description="What was changed is not stored any more.")


class DeletionResult(Deletion):
    """A deletion with its references and its undo number."""

    deleted: str = Field(description="Id of what is gone, such as C3, R0 or OL2.")
    name: str = Field(description="Its name; of a relationship both characters, of a thread its description.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)


class StoryChanges(base.StoryBase):
    """Recent author's changes, and undoable deletions."""

    def list(self, *, limit: base.Count = DEFAULT_CHANGES, as_of: base.Place = None) -> list[ListedChange]:
        """List what the author changed in memories and scenes, the latest first, what was taken back included.

        Args:
            limit: At most so many.
            as_of: Only changes of what lies before this position; None means of everything.
        """
        as_of = base.position_of(as_of)
        position = as_of or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            listed_changes = [
                listed_change(unit, change, position)
                for change in unit.journal.latest(limit, subjects=("memory", "scene"))
            ]
        return [listed_change for listed_change in listed_changes if listed_change is not None]

    alist = base.async_twin(list)


def changed_scene(scene: Scene, fields: Mapping[str, Any]) -> Scene:
    """Return a scene with fields of an image in the place of its own."""
    values = {name: value for name, value in fields.items() if name in SCENE_FIELDS}
    if values.get("record") is not None:
        values["record"] = SceneRecord.model_validate(values["record"])
    return scene.model_copy(update=values)


@contextmanager
def naming_later(unit: UnitOfWork, change: Change, scene: Scene) -> Iterator[None]:
    """Let a refusal to undo a change of a scene name the later changes of that scene."""
    try:
        yield
    except UserInputError as error:
        raise unit.journal.naming_later_of_scene(change, scene.scene_id, error) from error


def restore_scene(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> None:
    """Restore a scene as before a change.

    `StoryUndo.undo` calls it.
    """
    from runtime.ingest.scene_writes import replace_stored_scene

    scene = unit.scenes.require_id(change.entity_id)
    # Facts of the author may have come and gone since; what the scene itself says decides.
    with naming_later(unit, change, scene):
        require_as_left(change, unit.scenes.image(scene), but_for=("spans",))
    replace_stored_scene(unit, changed_scene(scene, change.before), stores=stores)
    if "spans" in change.before:
        unit.scenes.restore_spans(scene.scene_id, change.before["spans"])


TAKEN = ("ingest", "extract")
"""Kinds of runs that took scenes in, or read them."""


def restore_taken(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> None:
    """Undo all scenes of a change's run."""
    from runtime.ingest.scene_writes import replace_stored_scene

    for other_change in unit.journal.of_run(change):
        scene = unit.scenes.by_id(other_change.entity_id) if other_change.undone_at is None else None
        if scene is not None:
            is_as_left = unit.scenes.image_hash(scene) == other_change.after["image"]
            with naming_later(unit, other_change, scene):
                require_scene_as_left(other_change, scene, is_as_left=is_as_left)
            if "spans" in other_change.before:
                replace_stored_scene(unit, changed_scene(scene, other_change.before), stores=stores)
                unit.scenes.restore_spans(scene.scene_id, other_change.before["spans"])
            else:
                unit.scenes.delete_scene(scene.position)
        unit.journal.mark_undone(other_change.change_id)


def restore_links(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> None:
    """Derive a deleted scene that came back anew where names are known by now that were not when it went."""
    from runtime.ingest.scene_writes import replace_stored_scene

    scene = unit.scenes.by_id(change.entity_id)
    datetimes = (entity.updated_at for entity in unit.entities.list_all())
    if scene is not None and any(moment is not None and moment > change.created_at for moment in datetimes):
        replace_stored_scene(unit, scene, stores=stores)


class Standing(NamedTuple):
    """Places of scenes and of the author's separate statements."""

    scenes: Mapping[str, list[int]]
    said: Mapping[str, PlaceFields]

    @classmethod
    def of(cls, unit: UnitOfWork) -> Standing:
        """Return the places in a transaction."""
        return cls(unit.scenes.standing(), unit.scenes.said_places())

    def images(self, now: Standing) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return images of the moved places, before and after."""
        moved_ids = [scene_id for scene_id, place in self.scenes.items() if place != now.scenes[scene_id]]
        statements = [key for key, positions in self.said.items() if positions != now.said.get(key)]
        before, after = (
            {
                "places": {scene_id: standing_places.scenes[scene_id] for scene_id in moved_ids},
                "said": {key: standing_places.said[key] for key in statements},
            }
            for standing_places in (self, now)
        )
        return {**before, "said_rows": None}, {**after, "said_rows": last_rows(now.said)}


def keep_move(
    unit: UnitOfWork, source: StoryPosition, target: StoryPosition, standing_order: Standing
) -> Change | None:
    """Write down that a scene or chapter was moved, with where everything stood that has another place now."""
    before, after = standing_order.images(Standing.of(unit))
    places = before["places"]
    asked_numbers = [source.chapter_index, source.scene_index]
    first = next((scene_id for scene_id, place in places.items() if asked_numbers in (place, [place[0], None])), "")
    before, after = {"position": str(source), **before}, {"position": str(target), **after}
    return unit.journal.keep_fields("scene", "move", first, before, after) if places else None


@contextmanager
def _restoring_said(unit: UnitOfWork, change: Change) -> Iterator[None]:
    """Put back, after scenes, the positions of statements from before a change that are as it left them."""
    places_before, places_after = (image.get("said", {}) for image in (change.before, change.after))
    last, now = change.after.get("said_rows", {}), unit.scenes.said_places()
    yield
    unchanged = {key: now[key] for key in now.keys() - places_after.keys() if is_among(key, last)}
    unit.scenes.set_said_places(
        {**unchanged, **{key: places_before[key] for key in places_after if now.get(key) == places_after[key]}}
    )


def restore_places(unit: UnitOfWork, change: Change) -> None:
    """Restore scenes' places before a move.

    `StoryUndo.undo` calls it.
    """
    fields_before, remaining_fields = change.before, change.after
    now = unit.scenes.standing()
    require_as_left(
        change, {**remaining_fields, "places": {item: now.get(item) for item in remaining_fields["places"]}}
    )
    with _restoring_said(unit, change):
        if ":" in remaining_fields["position"]:
            back = {
                tuple(place): tuple(fields_before["places"][scene_id])
                for scene_id, place in remaining_fields["places"].items()
            }
            unit.scenes.rearrange(back, {})
        else:
            unit.scenes.move_chapter(int(remaining_fields["position"]), int(fields_before["position"]))


def keep_insertion(unit: UnitOfWork, scene: Scene | None, standing_order: Standing) -> Change | None:
    """Write down which scene was inserted, if any, with where everything stood that made room."""
    before, after = standing_order.images(Standing.of(unit))
    if scene is None and not before["places"]:
        return None
    scene_fields = {} if scene is None else {"title": scene.title, "text": scene.text}
    first = (
        min(before["places"], key=standing_order.scenes.__getitem__, default="") if scene is None else scene.scene_id
    )
    return unit.journal.keep_fields(
        "scene", "insert", first, {**dict.fromkeys(scene_fields), **before}, {**scene_fields, **after}
    )


def restore_gap(unit: UnitOfWork, change: Change) -> None:
    """Undo a scene insertion.

    `StoryUndo.undo` calls it.
    """
    scene, now = unit.scenes.require_id(change.entity_id), unit.scenes.standing()
    places_before, places_after = (image.get("places", {}) for image in (change.before, change.after))
    fields = {"title": scene.title, "text": scene.text, "places": {item: now.get(item) for item in places_after}}
    require_as_left(change, {**change.after, **fields})
    with _restoring_said(unit, change):
        if "text" in change.after:
            unit.scenes.delete_scene(scene.position)
        if any(place[0] != places_before[scene_id][0] for scene_id, place in places_after.items()):
            unit.scenes.close_chapter(min(places_before.values())[0])
        else:
            unit.scenes.rearrange(
                {tuple(place): tuple(places_before[scene_id]) for scene_id, place in places_after.items()}, {}
            )


def say_meant(unit: UnitOfWork, what: Waivable, found_id: str, note: str | None) -> int | None:
    """Waive a conflict or finding with a note, or end the waiver with None."""
    waivers = unit.projects.waived(what)
    before, after = {found_id: waivers.get(found_id)}, {found_id: note}
    _set_meant(unit, what, {**waivers, **after})
    return number_of(unit.journal.keep_fields("entity", "waive", what, before, after))


def restore_meant(unit: UnitOfWork, change: Change) -> None:
    """Restore a waiver before a change.

    `StoryUndo.undo` calls it.
    """
    what: Waivable = "conflicts" if change.entity_id == "conflicts" else "findings"
    waivers = unit.projects.waived(what)
    require_as_left(change, {entity_id: waivers.get(entity_id) for entity_id in change.after})
    _set_meant(unit, what, {**waivers, **change.before})


def _set_meant(unit: UnitOfWork, what: Waivable, notes: Mapping[str, str | None]) -> None:
    unit.projects.set_waived(what, {text: note for text, note in notes.items() if note is not None})


def listed_change(unit: UnitOfWork, change: Change, as_of: StoryPosition) -> ListedChange | None:
    """Return a change in words, None if still unknown at the cut."""
    fields: dict[str, Any] = {"is_gone": True}
    place: StoryPosition | Scene | StoryMemoryChunk | None = None
    if change.kind in TAKEN:
        places = sorted(
            base.story_position(other_change.after["position"]) for other_change in unit.journal.of_run(change)
        )
        is_gone = len(places) == 1 and unit.scenes.by_id(change.entity_id) is None
        place = places[-1]
        fields = {"position": "–".join(dict.fromkeys(map(str, (places[0], place)))), "is_gone": is_gone}
    elif change.subject == "scene":
        if scene := unit.scenes.by_id(change.entity_id):
            place = scene
            fields = {"position": str(scene.position), "what": scene.title, "was": change.before.get("position", "")}
        elif change.kind == "delete":
            place = StoryPosition(change.before["chapter_index"], change.before["scene_index"])
            fields = {"position": str(place), "what": change.before["title"]}
    elif memory := unit.memories.get(change.entity_id):
        place = memory.chunk
        fields = {
            "position": memory_place_text(place, always=""),
            "source_id": place.memory_id,
            "what": change.after.get("content", place.content),
            "was": change.before.get("content", ""),
        }
    else:
        fields["what"] = change.after.get("content", "")
    is_known = as_of == END_OF_STORY if place is None else as_of.admits(place.chapter_index, place.scene_index)
    return ListedChange.model_validate(change, from_attributes=True).model_copy(update=fields) if is_known else None


def followed_deletion(stores: MemoryStores, project_id: str, *, deletion: Deletion) -> DeletionResult:
    """Return the result of a deletion, with the index following it."""
    change = deletion.change
    return DeletionResult(
        **dict(deletion), deleted=change.entity_id, name=change.other_id, indexing=base.follow_edit(stores, project_id)
    )
