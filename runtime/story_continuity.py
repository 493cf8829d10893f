"""Whether drafts and stored scenes hold, for Python programs, and the author's word on what is meant to be so."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from novelgen.chains.checked_writing_chain import CheckedWritingChain, WrittenDraft, check_after_writing
from novelgen.models.continuity import DraftCheck
from runtime.story.base import StoryBase
from runtime.story.continuity import StoryContinuity


class StoryContinuity(StoryBase):
    """The part of a `Story` that checks drafts; see there."""

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
