"""Checks of many drafts in one process: a file of drafts in, a file for each check out."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from novelgen.errors import InvalidFileError, NovelgenError
from novelgen.language.scrub import require_size
from novelgen.models.continuity import DraftCheck
from novelgen.models.plan import ScenePlan
from novelgen.models.position import ChapterIndex, SceneIndex
from runtime.files.atomic_files import write_text_atomically
from runtime.files.file_reading import read_json_file, read_text_file, validated
from runtime.files.numbered_lines import NumberedLine, read_numbered_lines
from runtime.story.async_twins import async_twin
from runtime.story.base import DRAFT_CHARACTERS
from runtime.story.draft_checker import CheckOptions, DraftChecker, DraftScene, Progress
from runtime.story.indexing import StoryIndexing
from runtime.story.projects import StoryProjects


class DraftLine(BaseModel):
    """A line of a file of drafts, without whatever else is on it."""

    model_config = ConfigDict(strict=True)

    id: str
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    text: str
    scene_plan: ScenePlan | None = None
    pov: str = ""


class DraftsReport(BaseModel):
    """What became of many drafts; one that failed does not stop the others."""

    asked: int = 0
    written: int = 0
    kept: int = Field(default=0, description="Drafts whose check was there already.")
    findings: int = Field(default=0, description="In the checks that were written, without the waived ones.")
    failures: list[str] = Field(default_factory=list)
    rules_alone: bool = Field(default=False, description="Whether no model looked at any of them.")
    degraded: list[str] = Field(default_factory=list, description="What was missing, each told once.")


class StoryDraftBatches(StoryIndexing, StoryProjects):
    """Checks of many drafts in one process: a file of drafts in, a file for each check out."""

    def check_drafts(
        self,
        *,
        drafts_file: Path,
        folder: Path,
        options: CheckOptions | None = None,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> DraftsReport:
        """Check every draft of a file and write what was found as `<id>.json` to a folder."""
        self.require_stored()
        checker = DraftChecker(self._stores, self.project_id, options)
        lines = _read_draft_lines(drafts_file)
        self.await_index()
        folder.mkdir(parents=True, exist_ok=True)
        report = DraftsReport(asked=len(lines), rules_alone=checker.rules_alone)
        check = partial(_checked, checker, folder, resume)
        for outcome in checker.in_order(check, lines, progress=progress):
            if isinstance(outcome, str):
                report.failures.append(outcome)
            elif outcome is None:
                report.kept += 1
            else:
                report.written += 1
                report.findings += len(outcome.issues)
                told = (f"{each.stage} {each.kind}: {each.message}" for each in outcome.report.issues)
                report.degraded = list(dict.fromkeys([*report.degraded, *told]))
        return report

    acheck_drafts = async_twin(check_drafts)


def _read_draft_lines(file: Path) -> list[NumberedLine[DraftLine]]:
    text = read_text_file(file)
    id_fields = ("draft_id", "id")
    lines = list(read_numbered_lines(text, DraftLine, file=file, id_fields=id_fields, example="D001"))
    if not lines:
        raise InvalidFileError(f"{str(file)!r} holds no draft; write one JSON object per line")
    return lines


def _checked(
    checker: DraftChecker, folder: Path, resume: bool, line: NumberedLine[DraftLine]
) -> DraftCheck | str | None:
    """Check and write one draft; return why it failed as text, or None where its check was there already."""
    draft = line.value
    if draft is None:
        return line.problem
    file = folder / f"{draft.id}.json"
    if resume and _is_check_of(file, draft):
        return None
    try:
        require_size(draft.text, "the draft", limit_characters=DRAFT_CHARACTERS)
        check = checker.check(
            DraftScene(draft.text, draft.chapter_index, draft.scene_index, plan=draft.scene_plan, pov=draft.pov)
        )
        write_text_atomically(
            file, json.dumps(check.model_dump(mode="json"), ensure_ascii=False, indent=2), root=folder
        )
    except NovelgenError as error:
        return f"line {line.number}, draft {draft.id!r}: {error}"
    return check


def _is_check_of(file: Path, draft: DraftLine) -> bool:
    if not file.exists():
        return False
    try:
        check = validated(DraftCheck, read_json_file(file), where=repr(str(file)))
    except InvalidFileError:
        return False
    is_whole = all(each.kind not in ("timeout", "unavailable") for each in check.report.issues)
    return is_whole and (check.chapter_index, check.scene_index) == (draft.chapter_index, draft.scene_index)
