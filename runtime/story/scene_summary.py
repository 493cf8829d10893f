"""A scene in three to five bullets: by a model where there is one, else by rules in the scene's own sentences."""

from __future__ import annotations

from typing import Annotated, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.question_chains import SceneSummaryChain, SceneSummaryRequest
from novelgen.errors import UserInputError
from novelgen.language.extractive import bullets
from novelgen.language.scrub import require_size, scrub_text
from novelgen.models.context import ReportIssue
from runtime.settings import NovelgenSettings, load_settings
from runtime.story.async_twins import async_twin
from runtime.story.base import StoryBase
from runtime.story.extraction import build_extraction_model


class SceneSummary(BaseModel):
    """A scene in a few bullets."""

    bullets: list[str] = Field(default_factory=list, description="In the order of the scene.")
    made_by: Literal["model", "rules"] = "rules"
    issues: list[ReportIssue] = Field(default_factory=list, description="Why a model's summary is not told.")


class StorySceneSummary(StoryBase):
    """Summing up the text of a scene."""

    def sum_up_scene(
        self,
        text: Annotated[str, Field(min_length=1, max_length=200_000)],
        *,
        max_bullets: Annotated[int, Field(ge=1, le=20)] | None = None,
    ) -> SceneSummary:
        """Sum a scene up in three to five bullets, by the model where there is one, else in its own sentences.

        Args:
            text: The text of one finished scene.
            max_bullets: At most so many bullets; None takes the setting's.
        """
        settings = self._stores.settings
        return summarize_scene(text, chat_model=self._chat_model, max_bullets=max_bullets, settings=settings)

    asum_up_scene = async_twin(sum_up_scene)


def summarize_scene(
    text: str,
    *,
    chat_model: BaseChatModel | str | None = None,
    max_bullets: int | None = None,
    settings: NovelgenSettings | None = None,
) -> SceneSummary:
    """Sum a scene up; nothing is stored."""
    chosen = settings or load_settings()
    summarization = chosen.memory.summarization
    most = summarization.max_bullets if max_bullets is None else max_bullets
    if most < 1:
        raise UserInputError(f"max_bullets {most!r} leaves nothing; give 1 or more")
    scene = scrub_text(text)
    require_size(scene, "the scene")
    if not scene.strip():
        raise UserInputError("the scene is empty; there is nothing to sum up")
    by_rules = SceneSummary(bullets=bullets(scene, max_bullets=most))
    if not (chat_model or summarization.model or chosen.model):
        return by_rules
    chain = SceneSummaryChain(build_extraction_model(chosen, chat_model), timeout_s=summarization.timeout_s)
    answer = chain.invoke(SceneSummaryRequest(text=scene, max_bullets=most))
    if answer.issues:
        return by_rules.model_copy(update={"issues": answer.issues})
    return SceneSummary(bullets=answer.bullets, made_by="model")
