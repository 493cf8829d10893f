"""Versions of scenes in their files, to tell edits of a file from edits here."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from novelgen.language.normalise import scrub_text
from runtime.ingest.likeness import are_alike
from runtime.ingest.scene_input import SceneInput, bare_text
from runtime.storage.chunks import text_hash
from runtime.storage.models import DeletedScene
from runtime.storage.records import Scene

FileEdit = Literal["same", "newer", "edited", "conflict"]
"""Where file and story differ: the file changed, the scene was edited here, or both."""


def file_version(title: str, text: str) -> dict[str, str]:
    """Return by which the title and text of a file are known again."""
    return {"title": scrub_text(title), "text": text_hash(scrub_text(text))}


def with_file_version(scene: SceneInput) -> SceneInput:
    """Return a scene as it comes from its file."""
    return scene.model_copy(update={"file_version": file_version(scene.title, scene.text)})


class Reconciliation(NamedTuple):
    """A scene of a file against the stored one."""

    edit: FileEdit
    scene: SceneInput
    """The title and text to store: for each its newer value."""


def reconciled(scene: SceneInput, stored_scene: Scene, *, is_edited: bool, overwrite: bool = False) -> Reconciliation:
    """Tell which of title and text the file changed, and which was edited here.

    Args:
        scene: The scene of the file.
        stored_scene: What stands in its place.
        is_edited: Whether a change by hand is known of a scene whose file's version is not.
        overwrite: Whether the file's text stands where both changed.
    """
    base, version = stored_scene.file_version, scene.file_version or file_version(scene.title, scene.text)
    stored_text = stored_scene.text or ""
    title_edit: FileEdit = "same"
    if scene.title and scene.title != stored_scene.title:
        title_edit = _edit(base, "title", version, stored_scene.title, is_edited=is_edited)
        if title_edit == "conflict" and not (stored_scene.title and (base is None or base.get("title"))):
            title_edit = "newer"
    text_edit: FileEdit = "same"
    if scene.text != stored_text:
        text_edit = _edit(base, "text", version, text_hash(stored_text), is_edited=is_edited)
        if text_edit == "conflict" and bare_text(scene.text) == bare_text(stored_text):
            text_edit = "same"
    edits = (title_edit, text_edit)
    if "conflict" in edits:
        kept_scene = _as_stored(scene, stored_scene).model_copy(update={"file_version": base})
        return Reconciliation("conflict", scene if overwrite else kept_scene)
    values = {
        "title": stored_scene.title if title_edit == "edited" or not scene.title else scene.title,
        "text": scene.text if text_edit == "newer" else stored_text,
    }
    edit: FileEdit = "newer" if "newer" in edits else "edited" if "edited" in edits else "same"
    return Reconciliation(edit, scene.model_copy(update=values))


class Deletion(NamedTuple):
    """The deletion of a scene that its file still has."""

    change_id: int
    is_conflict: bool
    """Whether the file changed since."""


def deletion_of(scene: SceneInput, deleted_scenes: Sequence[DeletedScene]) -> Deletion | None:
    """Return the deletion of a scene of a file, where nothing stands in its place."""
    if not scene.text.strip():
        return None
    version = scene.file_version or file_version(scene.title, scene.text)
    # One that came from no file is another's.
    of_files = [deleted for deleted in deleted_scenes if deleted.file_version != {}]
    for deleted in of_files:
        base = deleted.file_version or {}
        if base.get("text") == version["text"] or bare_text(deleted.text) == bare_text(scene.text):
            return Deletion(deleted.change_id, is_conflict=False)
    alike = (deleted for deleted in of_files if are_alike(deleted.text, scene.text))
    return next((Deletion(deleted.change_id, is_conflict=True) for deleted in alike), None)


def _as_stored(scene: SceneInput, stored_scene: Scene) -> SceneInput:
    return scene.model_copy(update={"title": stored_scene.title, "text": stored_scene.text or ""})


def _edit(
    base: Mapping[str, str] | None, name: str, version: Mapping[str, str], stored_value: str, *, is_edited: bool
) -> FileEdit:
    if base is None:
        return "conflict" if is_edited else "newer"
    if base.get(name) == version[name]:
        return "edited"
    return "newer" if base.get(name) == stored_value else "conflict"
