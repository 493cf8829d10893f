"""Summaries of chapters, parts and scenes."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.question_chains import SceneSummaryChain, SceneSummaryRequest, SummaryChain, SummaryRequest
from novelgen.errors import UserInputError
from novelgen.language.extractive import bullets
from novelgen.language.normalise import require_size, scrub_text
from novelgen.memory.outline import SummaryOrigin
from novelgen.models.context import ReportIssue
from novelgen.models.position import END_OF_STORY
from runtime.settings import NovelgenSettings, load_settings
from runtime.storage.columns import SummaryLevel
from runtime.storage.database import UnitOfWork
from runtime.storage.outline import StandingSummary, StorySummaries
from runtime.story.base import ChangeNumber, Number, Place, StoryBase, async_twin, position_of
from runtime.story.extraction import build_extraction_model
from runtime.story.versions import Version, require_version, summary_version

SummaryState = Literal["current", "outdated", "withheld", "unfinished"]


class ListedSummary(BaseModel):
    """A chapter or part with its summary."""

    level: SummaryLevel
    number: int
    title: str = ""
    first_chapter: int
    last_chapter: int
    told: str = Field(default="", description="What a context tells once it is over; empty: nothing is known.")
    origin: SummaryOrigin = "made"
    written: str = Field(default="", description="What somebody wrote, where that is not what is told.")
    state: SummaryState = Field(
        default="current",
        description="outdated: older than its scenes; withheld: scenes went elsewhere; unfinished: goes on.",
    )
    version: str = Field(default="", description="Of what was written; a change may name it.")
    change_id: ChangeNumber = None


class SummaryWriting(BaseModel):
    """A model's summaries.

    Failures keep the extractive ones.
    """

    written: list[ListedSummary] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(default_factory=list)


class SceneSummary(BaseModel):
    """A scene in a few bullets."""

    bullets: list[str] = Field(default_factory=list, description="In the order of the scene.")
    made_by: Literal["model", "rules"] = "rules"
    issues: list[ReportIssue] = Field(default_factory=list, description="Why a model's summary is not told.")


class StorySummarizing(StoryBase):
    """Summaries of chapters and parts, and of a scene's text."""

    def get(self, *, level: SummaryLevel, number: int) -> ListedSummary:
        """Return one chapter or part."""
        listed_summaries = self.list()
        summary = next(
            (summary for summary in listed_summaries if (summary.level, summary.number) == (level, number)), None
        )
        if summary is None:
            known_numbers = [summary.number for summary in listed_summaries if summary.level == level]
            raise UserInputError(
                f"nothing is stored of {level} {number!r} of {self.project_id!r}; there are {known_numbers!r}"
            )
        return summary

    def write(
        self, *, level: SummaryLevel, number: Number, text: str, expected_version: Version | None = None
    ) -> ListedSummary:
        """Store a person's summary.

        An empty text restores the extractive one.

        Args:
            level: `chapter` or `part`.
            number: Of the chapter or part.
            text: The summary; empty lets the made one hold again.
            expected_version: The `version` that was read; None changes whatever stands.

        Raises:
            StaleVersionError: When somebody wrote another one since that version was read.
        """
        summary = self.get(level=level, number=number)
        with self._stores.database(self.project_id).write() as unit:
            version = _version(summary, unit.summaries.list_as_of(as_of=END_OF_STORY))
            labels_by_field = {"text": summary.written or summary.told}
            subject = f"summary of {level} {number}"
            require_version(
                expected_version, version, subject=subject, stored_fields=labels_by_field, sent_fields={"text": text}
            )
            with unit.journal.changing_summary(level, number) as journal_entry:
                _store(unit, summary, text, "author")
        return self.get(level=level, number=number).model_copy(update={"change_id": journal_entry.change_id})

    def write_with_model(
        self,
        *,
        only: tuple[SummaryLevel, int] | None = None,
        model: str | BaseChatModel | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> SummaryWriting:
        """Let a model write missing summaries of finished ranges, chapters first.

        Each is stored by itself, so that a broken run goes on where it stopped; one whose scenes change meanwhile is
        dropped. No transaction is open while the model writes.
        """
        writer = build_extraction_model(self._stores.settings, model)
        chosen_summaries = [self.get(level=only[0], number=only[1])] if only else self.list()
        wanted_summaries = [
            summary
            for summary in chosen_summaries
            if only or (summary.state != "unfinished" and summary.origin == "made" and bool(summary.told))
        ]
        if only:
            _require_writable(self.project_id, wanted_summaries[0])
        chain = SummaryChain(writer, timeout_s=self._stores.settings.memory.summarization.timeout_s)
        result = SummaryWriting()
        for done_count, summary in enumerate(wanted_summaries, start=1):
            self._write_one(chain, summary, result)
            if progress is not None:
                progress(done_count, len(wanted_summaries))
        return result

    def _write_one(self, chain: SummaryChain, summary: ListedSummary, result: SummaryWriting) -> None:
        chapters = (summary.first_chapter, summary.last_chapter)
        with self._stores.database(self.project_id).read() as unit:
            events = unit.summaries.events(*chapters)
            before = unit.summaries.source_hash(*chapters)
            names = [name for entity in unit.entities.list_all() for name in entity.entity.names()]
        if not events:
            return
        answer = chain.invoke(SummaryRequest(events=events, names=names))
        place = f"{summary.level} {summary.number}"
        if not answer.text:
            result.issues += [
                issue.model_copy(update={"message": f"{place}: {issue.message}"}) for issue in answer.issues
            ]
            return
        with self._stores.database(self.project_id).write() as unit:
            if unit.summaries.source_hash(*chapters) != before:
                message = f"{place} changed meanwhile; what the model wrote was dropped"
                result.issues.append(ReportIssue(stage="summary", kind="stale", message=message))
                return
            with unit.journal.changing_summary(summary.level, summary.number) as journal_entry:
                _store(unit, summary, answer.text, "model")
        now = {"told": answer.text, "origin": "model", "state": "current", "change_id": journal_entry.change_id}
        result.written.append(summary.model_copy(update=now))

    def summarize(
        self,
        text: Annotated[str, Field(min_length=1, max_length=200_000)],
        *,
        max_bullets: Annotated[int, Field(ge=1, le=20)] | None = None,
    ) -> SceneSummary:
        """Summarise a scene in three to five bullets, by model or extraction.

        Args:
            text: The text of one finished scene.
            max_bullets: At most so many bullets; None takes the setting's.
        """
        settings = self._stores.settings
        return summarize_scene(text, chat_model=self._chat_model, max_bullets=max_bullets, settings=settings)

    def list(self, *, as_of: Place = None) -> list[ListedSummary]:
        """Return every stored chapter and every part that has begun, chapters first, in order.

        Args:
            as_of: Only what has begun before this position, and what was told by then; None means the end of the story.

        Raises:
            UnknownProjectError: When no such project is stored.
        """
        chapters_per_part = self._stores.settings.memory.summarization.chapters_per_part
        position = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            places = unit.scenes.places(as_of=position)
            chapters = sorted({chapter_index for chapter_index, _ in places})
            last = max(chapters, default=-1)
            parts = unit.story_parts(last_chapter=last, chapters_per_part=chapters_per_part)
            story_summaries = unit.story_summaries(chapters_per_part=chapters_per_part, as_of=position)
            written_summaries = unit.summaries.list_as_of(as_of=position)
            own = unit.summaries.list_as_of(as_of=END_OF_STORY)
        listed_summaries = [
            ListedSummary(level="chapter", number=number, first_chapter=number, last_chapter=number)
            for number in chapters
        ] + [
            ListedSummary(level="part", **part.model_dump())
            for part in parts
            if any(part.holds(chapter) for chapter in chapters)
        ]
        over = max((chapter for chapter in chapters if position.admits(chapter, None)), default=-1)
        return [
            _completed(summary, story_summaries, written_summaries, over).model_copy(
                update={"version": _version(summary, own)}
            )
            for summary in listed_summaries
        ]

    alist = async_twin(list)
    aget = async_twin(get)
    awrite_with_model = async_twin(write_with_model)
    awrite = async_twin(write)
    asummarize = async_twin(summarize)


def _version(summary: ListedSummary, written_summaries: Sequence[StandingSummary]) -> str:
    return summary_version(
        [
            other_summary
            for other_summary in written_summaries
            if (other_summary.summary.level, other_summary.summary.number) == (summary.level, summary.number)
        ]
    )


def _store(unit: UnitOfWork, summary: ListedSummary, text: str, origin: Literal["author", "model"]) -> None:
    unit.summaries.write(
        summary.level, summary.number, text, chapters=(summary.first_chapter, summary.last_chapter), origin=origin
    )


def _require_writable(project_id: str, summary: ListedSummary) -> None:
    place = f"{summary.level} {summary.number}"
    if summary.state == "unfinished":
        raise UserInputError(f"{place!r} is not over yet; write it when its last chapter is stored")
    if summary.origin == "author":
        raise UserInputError(
            f"you wrote {place!r} yourself; take that away with `novelgen summary edit` before a model writes it"
        )
    if not summary.told:
        raise UserInputError(
            f"no record tells what happens in {place!r}; let a model read its scenes first with "
            f"`novelgen extract {project_id}`"
        )


def _completed(
    summary: ListedSummary,
    story_summaries: StorySummaries,
    written_summaries: Sequence[StandingSummary],
    last_over: int,
) -> ListedSummary:
    """Fill in a range's summary and its state."""
    texts = {
        ("chapter", summary.chapter_index): (summary.summary, summary.origin) for summary in story_summaries.chapters
    }
    texts |= {("part", part.part_number): (part.summary, part.origin) for part in story_summaries.parts}
    text, origin = texts.get((summary.level, summary.number), ("", "made"))
    own = [
        other_summary
        for other_summary in written_summaries
        if (other_summary.summary.level, other_summary.summary.number) == (summary.level, summary.number)
    ]
    shown_summary = next((summary for summary in own if summary.summary.text == text), own[-1] if own else None)
    state: SummaryState = shown_summary.standing if shown_summary else "current"
    unused = "" if shown_summary is None or shown_summary.summary.text == text else shown_summary.summary.text
    is_over = summary.last_chapter <= last_over
    return summary.model_copy(
        update={"told": text, "origin": origin, "written": unused, "state": state if is_over else "unfinished"}
    )


def summarize_scene(
    text: str,
    *,
    chat_model: BaseChatModel | str | None = None,
    max_bullets: int | None = None,
    settings: NovelgenSettings | None = None,
) -> SceneSummary:
    """Summarise a scene, without storing."""
    chosen_novelgen_settings = settings or load_settings()
    summarization = chosen_novelgen_settings.memory.summarization
    most = summarization.max_bullets if max_bullets is None else max_bullets
    if most < 1:
        raise UserInputError(f"max_bullets {most!r} leaves nothing; give 1 or more")
    scene = scrub_text(text)
    require_size(scene, "the scene")
    if not scene.strip():
        raise UserInputError("the scene is empty; there is nothing to sum up")
    by_rules = SceneSummary(bullets=bullets(scene, max_bullets=most))
    if not (chat_model or summarization.model or chosen_novelgen_settings.model):
        return by_rules
    chain = SceneSummaryChain(
        build_extraction_model(chosen_novelgen_settings, chat_model), timeout_s=summarization.timeout_s
    )
    answer = chain.invoke(SceneSummaryRequest(text=scene, max_bullets=most))
    if answer.issues:
        return by_rules.model_copy(update={"issues": answer.issues})
    return SceneSummary(bullets=answer.bullets, made_by="model")
