"""Whether drafts and stored scenes hold, for Python programs, and the author's word on what is meant to be so."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

from novelgen.chains.checked_writing_chain import CheckedWritingChain, WrittenDraft, check_after_writing
from novelgen.models.continuity import DraftCheck
from novelgen.models.plan import ScenePlan
from runtime.async_twins import async_twin
from runtime.services import continuity as continuity_services
from runtime.services.continuity import StoredCheck, Waiver
from runtime.services.draft_checker import CheckOptions
from runtime.story_base import StoryBase
from runtime.story_filling import Progress, read_given


class StoryContinuity(StoryBase):
    """The part of a `Story` that checks drafts; see there."""

    def check(
        self,
        text: str,
        *,
        chapter_index: int,
        scene_index: int,
        plan: Any = None,
        pov: str | None = None,
        model: BaseChatModel | str | None = None,
        use_model: bool = True,
    ) -> DraftCheck:
        """Tell what a draft contradicts in the story strictly before its scene; nothing is stored.

        Args:
            text: The draft.
            chapter_index: Chapter of the scene that it is to become.
            scene_index: The scene within its chapter.
            plan: What the scene is meant to do, in the forms of `context`, which is no contradiction; None takes the
                project's own plan of the scene, where there is one.
            pov: From whose point of view: a name, an alias or an id; None takes the plan's.
            model: Chat model or its name; None takes that of `novelgen.open`, else that of the settings.
            use_model: False lets rules alone check.

        Returns:
            Findings with quotes of both sides, worst first, and the evidence that was gathered. What fails inside
            stands in its `report.issues`.

        Raises:
            UserInputError: When the text is empty, or the plan is none.
            UnknownProjectError: When nothing of the story is stored.
            ConfigurationError: When a model that is named cannot be built.
        """
        return continuity_services.check_draft(
            self._stores,
            self.project_id,
            text=text,
            chapter_index=chapter_index,
            scene_index=scene_index,
            plan=None if plan is None else read_given(ScenePlan, plan),
            pov=pov,
            model=model or self._chat_model,
            uses_model=use_model,
        )

    def check_stored(
        self,
        *,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        model: BaseChatModel | str | None = None,
        use_model: bool = True,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> StoredCheck:
        """Check stored scenes as they are written, each against what came before it.

        Args:
            chapter_index: Only this chapter; None means the whole book.
            scene_index: Only this scene of the chapter.
            model: As for `check`.
            use_model: As for `check`.
            workers: So many scenes are checked side by side; None takes that of the settings.
            progress: Called after each scene with the scenes done and the scenes in all.

        Raises:
            UnknownSceneError: When no scene is stored there.
            ConfigurationError: When a model that is named cannot be built.
            DatabaseError: When the scenes cannot be read.
        """
        return continuity_services.check_stored(
            self._stores,
            self.project_id,
            chapter_index=chapter_index,
            scene_index=scene_index,
            options=CheckOptions(model=model or self._chat_model, uses_model=use_model, workers=workers),
            progress=progress,
        )

    def waive_finding(self, issue_id: str, *, note: str = "") -> Waiver:
        """Say that a finding is meant so; it stays silent for as long as the draft's words and the evidence stand.

        Args:
            issue_id: As a check tells it.
            note: Why it is meant so.

        Raises:
            UserInputError: When that is no id of a finding.
        """
        return continuity_services.waive_finding(self._stores, self.project_id, issue_id=issue_id, note=note)

    def unwaive_finding(self, issue_id: str) -> Waiver:
        """Take a waiver back: the finding is told again.

        Args:
            issue_id: The finding.

        Raises:
            UserInputError: When it is not waived.
        """
        return continuity_services.unwaive_finding(self._stores, self.project_id, issue_id=issue_id)

    def waived_findings(self) -> list[Waiver]:
        """Return all findings that were waived."""
        return continuity_services.list_waivers(self._stores, self.project_id)

    def check_step(
        self, *, writer: BaseChatModel | None = None, repair: bool = False, use_model: bool = True
    ) -> CheckedWritingChain:
        """Return a step for LangChain chains that comes after the writer: it checks the draft.

        It takes a mapping with chapter_index, scene_index and draft (scene_plan and pov where given), as
        `RunnablePassthrough.assign(draft=writer)` makes it, and gives the draft with its check.

        Args:
            writer: The chat model that wrote it.
            repair: Let `writer` change what was found, once; the better draft is kept.
            use_model: As for `check`.

        Raises:
            UserInputError: When `repair` is asked for and there is no writer.
        """

        def checked(written: WrittenDraft) -> DraftCheck:
            return self.check(
                written.draft,
                chapter_index=written.chapter_index,
                scene_index=written.scene_index,
                plan=written.scene_plan,
                pov=written.pov or None,
                use_model=use_model,
            )

        return check_after_writing(checked, writer=writer, repair=repair)

    acheck = async_twin(check)
    acheck_stored = async_twin(check_stored)
    awaive_finding = async_twin(waive_finding)
    aunwaive_finding = async_twin(unwaive_finding)
    awaived_findings = async_twin(waived_findings)
