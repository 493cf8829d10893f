"""Looking after what a character remembers: correcting, deleting, and letting one memory stand for several."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field, ValidationError

from novelgen.chains.question_chains import ConsolidationChain, ConsolidationRequest
from novelgen.characters.consolidation import MemoryGroup, consolidated_memory, consolidation_groups
from novelgen.characters.events import derived_short, detected_tier, require_slot
from novelgen.characters.memory import CharacterChange, CharacterMemory
from novelgen.characters.mind import Mind
from novelgen.errors import UserInputError
from novelgen.language.scrub import scrub_text
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.nearest import did_you_mean
from runtime.files.file_reading import described
from runtime.ingest.character_events import embedded_texts, vectors_model
from runtime.storage.characters import MemoryVector
from runtime.story.async_twins import async_twin
from runtime.story.base import StoryBase

EDITABLE = (
    "content",
    "short",
    "event_type",
    "importance",
    "tier",
    "is_milestone",
    "participants",
    "emotion",
    "location",
    "slot",
    "how",
    "heard_from",
    "details",
)
"""Fields of a memory that can be corrected."""


class EditedMemory(BaseModel):
    """A memory that was corrected."""

    memory: CharacterMemory
    change_id: int = Field(description="For `undo`.")
    issues: list[ReportIssue] = Field(default_factory=list)


class CharacterConsolidation(BaseModel):
    """What consolidation did, or with `dry_run` would do."""

    groups: list[list[str]] = Field(default_factory=list, description="Ids of the memories that became one.")
    memories: list[CharacterMemory] = Field(default_factory=list, description="What stands for each group.")
    before: int = Field(description="Live memories before.")
    after: int = Field(description="Live memories after.")
    dry_run: bool = False
    change_id: int | None = Field(default=None, description="For `undo`; None where nothing was done.")
    issues: list[ReportIssue] = Field(default_factory=list)


class StoryCharacterCare(StoryBase):
    """Looking after what a character remembers: correcting, deleting, and letting one memory stand for several."""

    def edit_character_memory(self, *, character_id: str, memory_id: str, changes: Mapping[str, Any]) -> EditedMemory:
        """Correct a memory; a new content is embedded anew, and a new type or importance moves its tier."""
        if not changes:
            raise UserInputError(f"nothing to change; give a field and its value: {', '.join(EDITABLE)}")
        for name in changes:
            if name not in EDITABLE:
                meant = did_you_mean(name, EDITABLE) or f"; there are {', '.join(EDITABLE)}"
                raise UserInputError(f"a memory has no field {name!r} that can be changed{meant}")
        settings = self._stores.settings.memory.character_memory
        given = dict(changes)
        vectors: dict[str, MemoryVector] = {}
        issues: list[ReportIssue] = []
        if "content" in given:
            given["content"] = scrub_text(str(given["content"])).strip()
            if not given["content"]:
                raise UserInputError("the content is empty; delete the memory instead")
            given.setdefault("short", derived_short(given["content"]))
            vectors, issues = embedded_texts(self._stores, [given["content"]])
        if given.get("slot") is not None:
            require_slot(str(given["slot"]), settings)
        with self._stores.database(self.project_id).write() as unit:
            before = unit.characters.require(character_id, memory_id)
            try:
                after = CharacterMemory.model_validate({**before.model_dump(), **given})
            except ValidationError as error:
                raise UserInputError(described(error)) from error
            if "tier" not in given and {"event_type", "importance", "is_milestone"} & set(given):
                tier = detected_tier(
                    after.event_type,
                    after.importance,
                    settings,
                    interaction_type=after.interaction_type,
                    milestone=after.is_milestone,
                )
                after = after.model_copy(update={"tier": tier})
            vector = vectors.get(after.content)
            change = unit.characters.change(
                "edit", character_id, vectors={} if vector is None else {memory_id: vector}, changed=[(before, after)]
            )
        return EditedMemory(memory=after, change_id=change.change_id, issues=issues)

    def delete_character_memory(self, *, character_id: str, memory_id: str) -> CharacterChange:
        """Delete a memory; what it had put an end to, or stood for, holds again."""
        with self._stores.database(self.project_id).write() as unit:
            before = unit.characters.require(character_id, memory_id)
            after = before.model_copy(update={"status": "deleted"})
            return unit.characters.change("delete", character_id, changed=[(before, after)])

    def consolidate_character(
        self,
        *,
        character_id: str,
        target: int | None = None,
        model: BaseChatModel | None = None,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> CharacterConsolidation:
        """Let one memory stand for several of a character who has too many; `undo` takes it back."""
        settings = self._stores.settings.memory.character_memory
        moment = now or self._stores.clock()
        with self._stores.database(self.project_id).read() as unit:
            mind = self._stores.minds.mind(unit.characters, character_id, model=vectors_model(self._stores))
        view = mind.view(None, clock_now=moment)
        groups = consolidation_groups(mind, view, settings, target=target)
        live = int(view.live.sum())
        report = CharacterConsolidation(
            groups=[[each.memory_id for each in group.sources] for group in groups],
            before=live,
            after=live - sum(len(group.sources) - 1 for group in groups),
            dry_run=dry_run,
        )
        if dry_run or not groups:
            return report.model_copy(update={"dry_run": dry_run})
        chain = ConsolidationChain(model)
        told = [chain.invoke(ConsolidationRequest(sources=_as_chunks(self.project_id, group))) for group in groups]
        with self._stores.database(self.project_id).write() as unit:
            added: list[CharacterMemory] = []
            vectors: dict[str, MemoryVector] = {}
            changed: list[tuple[CharacterMemory, CharacterMemory]] = []
            for group, result in zip(groups, told, strict=True):
                memory = consolidated_memory(
                    group.sources,
                    memory_id=unit.characters.next_id(),
                    text=result.text.content,
                    short=result.text.short,
                    settings=settings,
                    created_at=moment,
                )
                added.append(memory)
                vector = _mean_vector(mind, group)
                if vector is not None:
                    vectors[memory.memory_id] = MemoryVector(self._stores.embeddings.model_name, vector)
                stood_for = {"status": "consolidated", "consolidated_into": memory.memory_id}
                changed += [(each, each.model_copy(update=stood_for)) for each in group.sources]
            change = unit.characters.change("consolidate", character_id, added=added, vectors=vectors, changed=changed)
        issues = [issue for result in told for issue in result.issues]
        return report.model_copy(update={"memories": added, "change_id": change.change_id, "issues": issues})

    aedit_character_memory = async_twin(edit_character_memory)
    adelete_character_memory = async_twin(delete_character_memory)
    aconsolidate_character = async_twin(consolidate_character)


def _as_chunks(project_id: str, group: MemoryGroup) -> list[StoryMemoryChunk]:
    """Return memories as the chain takes them, which knows those of stories."""
    return [
        StoryMemoryChunk(
            chunk_id=each.memory_id,
            project_id=project_id,
            content=each.content,
            short=each.short,
            content_type="memory",
            importance=each.importance,
            created_at=each.created_at,
        )
        for each in group.sources
    ]


def _mean_vector(mind: Mind, group: MemoryGroup) -> Any:
    """Return the embedding of the memory that stands for others: the mean of theirs; None where one has none.

    It is found as well by the mean as by an embedding of its text, which costs one.
    """
    places = [mind.place(each.memory_id) for each in group.sources]
    return mind.vectors[places].mean(axis=0) if mind.has_vector[places].all() else None
