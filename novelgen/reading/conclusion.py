"""Results of an extraction from the readings of windows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from novelgen.errors import DeadlineExceededError, ModelError, ModelUnavailableError
from novelgen.language.language import estimate_tokens, significant_words
from novelgen.language.matching import QuoteFinder
from novelgen.memory.attributes import slot_of
from novelgen.memory.merge import merge_records
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import failure_fields
from novelgen.models.context import IssueKind, ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.record import SceneRecord
from novelgen.reading.answer_reading import STAGE, TEMPORARY_LOOP_PREFIX, WindowReading
from novelgen.reading.change_reading import with_endings_of_the_scene
from novelgen.reading.known_story import TEMPORARY_ENTITY_PREFIX, as_entity
from novelgen.reading.model_record import ModelSceneRecord
from novelgen.reading.request import ExtractionFault, SceneRecordRequest, SceneRecordResult, UnverifiedFact

TOKENS_OF_A_SCENE_OF_SUBSTANCE = 40
"""A scene of fewer tokens may establish nothing."""

SHARED_SHARE = 1 / 3

MIN_SHARED_WORDS = 2
"""A fact without a quote may be of the scene when this share of its words, and this many, stand there."""


def is_of_substance(text: str) -> bool:
    """Tell whether a scene is long enough to establish something."""
    return estimate_tokens(text) >= TOKENS_OF_A_SCENE_OF_SUBSTANCE


def require_grounded(
    answer: ModelSceneRecord, *, text: str, example: ModelSceneRecord, must_have_facts: bool
) -> ModelSceneRecord:
    """Return an answer without the prompt example's content, or reject it."""
    if not answer.has_facts():
        if must_have_facts:
            raise UnusableAnswerError("empty", "no memories and no state changes, though the scene has content")
        return answer
    echoed = {memory.content for memory in example.memories}
    own = [memory for memory in answer.memories if memory.content not in echoed]
    if answer.memories and not own:
        raise UnusableAnswerError("echo", "the memories are those of the example, not of the scene")
    if not _is_grounded(answer, text):
        raise UnusableAnswerError("ungrounded", "no quote stands in the scene, and no fact speaks of it")
    return answer.model_copy(update={"memories": own})


def _is_grounded(answer: ModelSceneRecord, text: str) -> bool:
    finder = QuoteFinder(text)
    quotes = [memory.evidence for memory in answer.memories]
    quotes += [change.evidence for change in answer.state_changes]
    if any(finder.find(quote) for quote in quotes):
        return True
    words = significant_words(text)
    lines = [memory.content for memory in answer.memories]
    lines += [change.value for change in answer.state_changes if isinstance(change.value, str)]
    lines += [change.event for change in answer.relationship_changes]
    lines += [loop.description for loop in answer.open_loops_created]
    lines += [move.note for move in answer.open_loops_moved]
    return any(_speaks_of(text, words) for text in lines)


def _speaks_of(fact: str, scene_words: Collection[str]) -> bool:
    words = significant_words(fact)
    shared = len(words.intersection(scene_words))
    return shared >= max(MIN_SHARED_WORDS, SHARED_SHARE * len(words))


def concluded(request: SceneRecordRequest, *, text: str, readings: Sequence[WindowReading]) -> SceneRecordResult:
    """Merge the windows' facts and locate their evidence."""
    issues = [issue for reading in readings for issue in reading.issues]
    record = _merge_readings(request, readings)
    if not has_facts(record):
        message = f"no fact in a scene of {len(text)} characters"
        if is_of_substance(text):
            issues.append(_issue("malformed", message))
            return SceneRecordResult(status="failed", fault="empty", reason=message, issues=issues)
        issues.append(_issue("degraded", message))
    unverified = _unverified(record, QuoteFinder(text))
    if unverified:
        issues.append(_issue("degraded", f"the quotes of {len(unverified)} facts are not in the scene"))
    return SceneRecordResult(
        status="done",
        record=record,
        proposed_entities=[entity for reading in readings for entity in reading.proposed],
        new_names=[new_name for reading in readings for new_name in reading.new_names],
        same_entities=[same_entities for reading in readings for same_entities in reading.same_entities],
        unverified=unverified,
        unplaced=[item for reading in readings for item in reading.unplaced],
        issues=issues,
    )


def failed(
    error: ModelError | DeadlineExceededError, *, window: int, windows: int, issues: Sequence[ReportIssue]
) -> SceneRecordResult:
    """Return the result of an extraction that an error ended."""
    where = f"window {window} of {windows}: " if windows > 1 else ""
    fields = failure_fields(error, stage=STAGE, message=f"{where}{error}")
    fields["issues"] = [*issues, *fields["issues"]]
    return SceneRecordResult(fault=_fault(error), **fields)


def has_facts(record: SceneRecord) -> bool:
    """Tell whether a record establishes anything that a later scene could contradict or pick up."""
    return bool(
        record.memories
        or record.memories_repeated
        or record.state_changes
        or record.relationship_changes
        or record.open_loops_created
        or record.open_loops_advanced
        or record.open_loops_resolved
    )


def _merge_readings(request: SceneRecordRequest, readings: Sequence[WindowReading]) -> SceneRecord:
    if not readings:
        return SceneRecord(chapter_index=request.chapter_index, scene_index=request.scene_index, title=request.title)
    record = merge_records([reading.record for reading in readings], max_bullets=request.max_bullets)
    if not record.is_flashback:
        before = {state.entity_id: state.state_data for state in request.states}
        record = with_endings_of_the_scene(record, before=before)
    return record.model_copy(update={"title": request.title}) if request.title else record


def _unverified(record: SceneRecord, finder: QuoteFinder) -> list[UnverifiedFact]:
    facts = [
        UnverifiedFact(kind="memory", id=memory.memory_id, says=memory.content, quote=memory.evidence)
        for memory in record.memories
    ]
    facts += [
        UnverifiedFact(
            kind="state_change", id=slot_of(change.entity_id, attribute), says=str(value), quote=change.evidence
        )
        for change in record.state_changes
        for attribute, value in change.changes.items()
        if change.evidence or (value is not None and not change.only_ends)
    ]
    located = {fact.id for fact in facts if finder.find(fact.quote)}
    return [fact for fact in facts if fact.id not in located]


def _fault(error: ModelError | DeadlineExceededError) -> ExtractionFault:
    if isinstance(error, UnusableAnswerError):
        return error.fault
    if isinstance(error, DeadlineExceededError):
        return "timeout"
    return "unavailable" if isinstance(error, ModelUnavailableError) else "schema"


def _issue(kind: IssueKind, message: str) -> ReportIssue:
    return ReportIssue(stage=STAGE, kind=kind, message=message)


AllocatedKind = EntityType | Literal["open_loop"]


def with_given_ids(
    result: SceneRecordResult, allocate: Callable[[AllocatedKind], str], *, known_loops: Mapping[str, str] | None = None
) -> tuple[SceneRecordResult, list[Entity]]:
    """Replace the temporary ids of a result, and return the entities that it brings."""
    record = result.record
    if record is None:
        return result, []
    values = {entity.temporary_id: allocate(entity.entity_type) for entity in result.proposed_entities}
    loops_by_id = known_loops or {}
    values |= {
        loop.id: loops_by_id.get(loop.id) or allocate("open_loop")
        for loop in record.open_loops_created
        if loop.id.startswith(TEMPORARY_LOOP_PREFIX)
    }
    # The scene holds the name, if only within a longer one that counts as somebody else's ("the sign of the four").
    chapter, scene = record.chapter_index, record.scene_index
    place = {"first_chapter": chapter, "first_scene": scene, "name_first_chapter": chapter, "name_first_scene": scene}
    entities = [
        as_entity(entity).model_copy(update={"entity_id": values[entity.temporary_id], **place})
        for entity in result.proposed_entities
    ]
    speaking = {"record", "new_names", "same_entities"}
    return SceneRecordResult.model_validate(
        {**dict(result), **_replace_ids(result.model_dump(include=speaking), values)}
    ), entities


def _replace_ids(value: Any, values: Mapping[str, str]) -> Any:
    """Replace temporary ids in whole strings and slots, not in free text."""
    if isinstance(value, dict):
        return {key: _replace_ids(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_ids(item, values) for item in value]
    if not isinstance(value, str) or not value.startswith(TEMPORARY_ENTITY_PREFIX):
        return value
    entity, dot, attribute = value.partition(".")
    return f"{values[entity]}{dot}{attribute}" if entity in values else value
