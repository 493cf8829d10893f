"""Whether drafts and stored scenes hold: their contradictions of what lies strictly before them, and waivers."""

from __future__ import annotations

import re

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.errors import UnknownSceneError, UserInputError
from novelgen.models.continuity import DraftCheck
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from runtime.services.draft_checker import CheckOptions, DraftChecker, DraftScene, Progress
from runtime.services.indexing import await_index
from runtime.stores import MemoryStores

_FINDING_ID = re.compile(r"K[0-9a-f]{12}")


class StoredCheck(BaseModel):
    """The checks of stored scenes, each against what came before it, in story order."""

    checks: list[DraftCheck] = Field(default_factory=list)
    without_text: int = Field(default=0, description="Scenes that were chosen and have no text.")


class Waiver(BaseModel):
    """A finding that the author means to be so."""

    issue_id: str
    note: str = ""


def check_draft(
    stores: MemoryStores,
    project_id: str,
    *,
    text: str,
    chapter_index: int,
    scene_index: int,
    plan: ScenePlan | None = None,
    pov: str | None = None,
    model: BaseChatModel | str | None = None,
    uses_model: bool = True,
) -> DraftCheck:
    """Check a draft against everything strictly before its scene; nothing is stored.

    What fails inside (index, database, model) is in the report's issues, and the check says what it could find.
    """
    checker = DraftChecker(stores, project_id, CheckOptions(model=model, uses_model=uses_model))
    await_index(stores, project_id)
    return checker.check(DraftScene(text, chapter_index, scene_index, plan=plan, pov=pov or ""))


def check_stored(
    stores: MemoryStores,
    project_id: str,
    *,
    chapter_index: int | None = None,
    scene_index: int | None = None,
    options: CheckOptions | None = None,
    progress: Progress | None = None,
) -> StoredCheck:
    """Check stored scenes as they are written, each against what came before it."""
    if scene_index is not None and chapter_index is None:
        raise UserInputError(f"scene {scene_index!r} was named without its chapter; name both")
    checker = DraftChecker(stores, project_id, options)
    with stores.database(project_id).read() as unit:
        scenes = [
            each
            for each in unit.scenes.list_as_of(with_text=True)
            if chapter_index in (None, each.chapter_index) and scene_index in (None, each.scene_index)
        ]
    if not scenes and chapter_index is not None:
        where = str(StoryPosition(chapter_index, scene_index))
        raise UnknownSceneError(f"no scene is stored at {where!r}; see `novelgen scene list {project_id}`")
    drafts = [
        DraftScene(each.text, each.chapter_index, each.scene_index, pov=each.pov or "")
        for each in scenes
        if each.text and each.text.strip()
    ]
    await_index(stores, project_id)
    checks = list(checker.in_order(checker.check, drafts, progress=progress))
    return StoredCheck(checks=checks, without_text=len(scenes) - len(drafts))


def scene_of_draft(stores: MemoryStores, project_id: str, *, as_of: StoryPosition) -> tuple[int, int]:
    """Return chapter and scene of a draft that continues the story at a position."""
    if as_of.chapter_index is not None:
        # On entering a chapter nothing of it is known, whatever number its first scene has.
        return as_of.chapter_index, as_of.scene_index or 0
    with stores.database(project_id).read() as unit:
        last = next(iter(unit.scenes.list_as_of(last=1)), None)
    return (1, 1) if last is None else (last.chapter_index, last.scene_index + 1)


def waive_finding(stores: MemoryStores, project_id: str, *, issue_id: str, note: str = "") -> Waiver:
    """Mark a finding as meant by the author; it is silent for as long as the draft's words and the evidence stand."""
    if not _FINDING_ID.fullmatch(issue_id):
        raise UserInputError(
            f"{issue_id!r} is no id of a finding; use one that `novelgen check {project_id} …` shows, such as "
            "K0123456789ab"
        )
    with stores.database(project_id).write() as unit:
        unit.projects.set_waived("findings", {**unit.projects.waived("findings"), issue_id: note})
    return Waiver(issue_id=issue_id, note=note)


def unwaive_finding(stores: MemoryStores, project_id: str, *, issue_id: str) -> Waiver:
    """Take a waiver back: the finding is told again."""
    with stores.database(project_id).write() as unit:
        waived = unit.projects.waived("findings")
        if issue_id not in waived:
            listed = ", ".join(waived) or "none"
            raise UserInputError(f"finding {issue_id!r} is not waived; waived are: {listed}")
        note = waived.pop(issue_id)
        unit.projects.set_waived("findings", waived)
    return Waiver(issue_id=issue_id, note=note)


def list_waivers(stores: MemoryStores, project_id: str) -> list[Waiver]:
    """Return all findings that the author waived."""
    with stores.database(project_id).read() as unit:
        return [Waiver(issue_id=name, note=note) for name, note in unit.projects.waived("findings").items()]
