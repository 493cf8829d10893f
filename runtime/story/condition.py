"""What a project holds now and what to do next, told after import, ingest and extraction; and its vector index."""

from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage, stated_language
from novelgen.words import words
from runtime.ingest.indexing import (
    IndexingResult,
    apply_embedding_settings,
    drain_outbox,
    rebuild_if_bloated,
    reindex,
    verify_after_crash,
    verify_index,
)
from runtime.story.base import Progress, StoryBase, async_twin

StepKind = Literal["take_in", "page", "retry", "read", "people", "index", "context"]

_EXAMPLE_MODEL = "openai:gpt-4.1-mini"


class NextStep(BaseModel):
    """Something worth doing now."""

    kind: StepKind
    command: str = Field(description="As it is typed.")
    reason: str = Field(description="Why, in the story's language.")


class StoryCondition(BaseModel):
    """What a project holds now, and what is worth doing next, the most urgent first."""

    project_id: str
    language: StoryLanguage = "en"
    chapters: int = 0
    scenes: int = 0
    characters_of_text: int = 0
    people: int = 0
    entities: int = 0
    threads: int = Field(default=0, description="Open ones.")
    scenes_with_record: int = 0
    scenes_failed: int = Field(default=0, description="A model could not read them.")
    scenes_waiting: int = Field(default=0, description="Nobody told what they establish; failed ones not counted.")
    memories: int = 0
    indexable: int = Field(default=0, description="Memories that belong into the vector index.")
    unindexed: int = Field(default=0, description="Changes that the vector index has yet to follow.")
    next_steps: list[NextStep] = Field(default_factory=list)


class StoryConditions(StoryBase):
    """What a project holds now and what to do next."""

    def story_condition(self) -> StoryCondition:
        """Return what a project holds now, and what to do next."""
        with self._stores.database(self.project_id).read() as unit:
            census = unit.scenes.census()
            entities = unit.entities.list_all()
            outbox = unit.outbox.counts()
            condition = StoryCondition(
                project_id=self.project_id,
                language=stated_language(unit.projects.require().language) or "en",
                chapters=census.chapters,
                scenes=census.scenes,
                characters_of_text=census.characters,
                people=sum(each.entity.entity_type == "character" for each in entities),
                entities=len(entities),
                threads=unit.threads.count_waiting(),
                scenes_with_record=census.with_record,
                scenes_failed=census.failed,
                scenes_waiting=census.scenes - census.with_record - census.failed,
                memories=unit.memories.count(),
                indexable=unit.memories.count_indexable(),
                unindexed=outbox["pending"] + outbox["failed"],
            )
        settings = self._stores.settings
        return condition.model_copy(
            update={"next_steps": _next_steps(condition, bool(settings.memory.summarization.model or settings.model))}
        )

    astory_condition = async_twin(story_condition)


def next_steps_in(condition: StoryCondition, language: StoryLanguage) -> list[NextStep]:
    """Return the next steps with their reasons in a language, which need not be the story's."""
    return [
        each.model_copy(update={"reason": _reason(condition, each.kind, language)}) for each in condition.next_steps
    ]


def _reason(condition: StoryCondition, kind: StepKind, language: StoryLanguage) -> str:
    numbers = condition.model_dump(include={"scenes", "scenes_failed", "scenes_waiting", "unindexed"})
    told = {name.removeprefix("scenes_"): number for name, number in numbers.items()}
    # What is to be taken out of the index waits, too, and is no memory any more.
    told["unindexed"] = min(condition.unindexed, condition.indexable or condition.unindexed)
    return words("story", language).text(f"next.{kind}", **told)


def _next_steps(condition: StoryCondition, has_model: bool) -> list[NextStep]:
    project_id = condition.project_id
    by_model = "" if has_model else f" --model {_EXAMPLE_MODEL}"
    purpose = words("story", condition.language)["command.purpose"]
    is_new = condition.scenes > 0 and not condition.people
    read: tuple[StepKind, bool, str] = (
        "read",
        has_model and condition.scenes_waiting > 0,
        f"novelgen extract {project_id}",
    )
    people: tuple[StepKind, bool, str] = ("people", is_new, f"novelgen entity candidates {project_id}")
    # A model is named where one is set: all else works without.
    wanted: list[tuple[StepKind, bool, str]] = [
        ("take_in", not condition.scenes, f"novelgen ingest {project_id}"),
        ("page", is_new, "novelgen serve"),
        ("retry", condition.scenes_failed > 0, f"novelgen extract {project_id} --retry{by_model}"),
        read,
        people,
        ("index", condition.unindexed > 0, f"novelgen index {project_id}"),
        ("context", condition.scenes > 0, f'novelgen context {project_id} --purpose "{purpose}"'),
    ]
    return [
        NextStep(kind=kind, command=command, reason=_reason(condition, kind, condition.language))
        for kind, is_wanted, command in wanted
        if is_wanted
    ]


class ReindexResult(BaseModel):
    """A vector index that was built anew."""

    chosen: int = 0
    """Memories that are embedded otherwise than before, since a setting changed."""
    indexing: IndexingResult
    verification: str
    is_sound: bool


class StoryIndexing(StoryBase):
    """The vector index of a project: following the database, and building it anew."""

    def reindex(self, *, progress: Progress | None = None) -> ReindexResult:
        """Build the vector index anew, as is needed when the embedding model changes; the database stays as it is.

        Args:
            progress: Called with the memories done and the memories in all.

        Raises:
            StoreError: When the database, the embedding model or the index fails; the old index stays.
        """
        chosen = apply_embedding_settings(self._stores, self.project_id)
        indexing = reindex(self._stores, self.project_id, progress=progress)
        verification = verify_index(self._stores, self.project_id)
        return ReindexResult(
            chosen=chosen, indexing=indexing, verification=str(verification), is_sound=verification.is_sound
        )

    def index_project(self, *, progress: Callable[[int, int], Any] | None = None) -> IndexingResult:
        """Bring the vector index up to what the database says, going on where an earlier run stopped."""
        result = drain_outbox(self._stores, self.project_id, progress=progress)
        return rebuild_if_bloated(
            self._stores, self.project_id, verify_after_crash(self._stores, self.project_id, result)
        )

    areindex = async_twin(reindex)
    aindex_project = async_twin(index_project)
