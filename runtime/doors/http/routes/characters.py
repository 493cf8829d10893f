"""Characters of a game, who remember by themselves, recall and speak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.characters.memory import CharacterChange, CharacterMemory, HowLearnt
from novelgen.characters.recall import Recall
from novelgen.characters.reply_check import ReplyFinding
from runtime.doors.answers import told
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import (
    READS,
    Body,
    EntityName,
    MemoryId,
    MomentText,
    PositionText,
    Project,
    moment,
    position,
)
from runtime.doors.http.routes.writing import wants_prompt
from runtime.story.character import Character
from runtime.story.character_care import EditedMemory
from runtime.story.characters import Remembered
from runtime.story.dispositions import Feelings
from runtime.story.replies import Keeping, Reply

router = AnsweringRouter(prefix="/v1/projects/{project_id}/characters/{character}", tags=["characters"])

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=400)]


class RememberRequest(Body):
    """What a character shall remember."""

    text: Text = Field(description="What happened, as the character would tell it.")
    event_type: str = Field(default="", max_length=400, description="conversation, gift_received, betrayal, ….")
    importance: int | None = Field(default=None, ge=1, le=10)
    participants: list[Name] = Field(default_factory=list, max_length=100)
    emotion: str = Field(default="", max_length=400)
    location: str = Field(default="", max_length=400)
    slot: str | None = Field(default=None, max_length=400, description="It is the one current value of this slot.")
    at: MomentText | None = None
    short: str | None = Field(default=None, max_length=2000)
    is_milestone: bool = False
    state_deltas: dict[str, Any] = Field(default_factory=dict)
    supersedes: str | None = Field(default=None, max_length=400)
    how: HowLearnt = "own_doing"
    heard_from: Name | None = None
    witnesses: list[Name] = Field(default_factory=list, max_length=100)
    details: dict[str, Any] = Field(default_factory=dict)
    create: bool = Field(default=False, description="Make the character, and the project, where there is none.")


class RecallRequest(Body):
    """What was said to a character, or what happens."""

    said: str = Field(default="", max_length=20_000, description="Empty: what weighs most by itself.")
    budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    as_of: MomentText | None = None
    to: Name | None = Field(default=None, description="To whom the character will speak; null keeps every secret.")
    story_as_of: PositionText | None = Field(default=None, description="What of the story may come back, too.")


class ReplyRequest(Body):
    """What was said to a character who shall answer."""

    said: Text
    to: Name = "player"
    talk: list[tuple[str, str]] = Field(default_factory=list, max_length=200, description="Who and what, before.")
    at: MomentText | None = None
    budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    keep: Keeping = "clean"
    story_as_of: PositionText | None = None


class ReplyCheck(Body):
    """What a character is about to say."""

    text: Text
    to: Name = "player"
    said: str = Field(default="", max_length=20_000)
    as_of: MomentText | None = None


class FeelingsChange(Body):
    """What moves in a character towards another."""

    other: Name = "player"
    event_type: str = Field(default="", max_length=400)
    deltas: dict[str, int] | None = None
    values: dict[str, int] | None = None
    at: MomentText | None = None


class CharacterMemoryEdit(Body):
    """Corrections of a character's memory."""

    changes: dict[str, Any] = Field(min_length=1, description="Fields to their new values.")


class CharacterMemories(BaseModel):
    """What a character knows, in the order of storing."""

    memories: list[CharacterMemory]


class ReplyFindings(BaseModel):
    """What is wrong with something that a character is about to say; empty where all is well."""

    findings: list[ReplyFinding]


class SpokenPiece(BaseModel):
    """A piece of what a character says."""

    text: str


class ServedCharacter:
    """A character that a request names; it is looked up in the thread that uses it."""

    def __init__(self, project: Project, name: str) -> None:
        self.house = project.house
        self._project = project
        self._name = name

    @property
    def character(self) -> Character:
        """The character."""
        return self._project.story.character(self._name)


async def _known(project: Project, character: EntityName) -> ServedCharacter:
    return ServedCharacter(project, character)


Known = Annotated[ServedCharacter, Depends(_known)]


def _speaker(known: Known) -> Character:
    """Look up who shall speak before the stream begins, so that nobody's name is still a plain refusal."""
    return known.character


def _speaking_model(project: Project) -> BaseChatModel:
    return project.speaking_model()


@router.get("/memories")
def list_character_memories(
    known: Known,
    as_of: Annotated[str | None, Query(max_length=40, description="Only what it knew strictly before.")] = None,
    with_former: bool = True,
) -> CharacterMemories:
    """List what a character knows, in the order of storing."""
    return CharacterMemories(memories=known.character.memories(as_of=moment(as_of), with_former=with_former))


@router.post("/memories", status_code=201)
def remember_event(project: Project, character: EntityName, body: RememberRequest) -> Remembered:
    """Let a character remember an event."""
    given = dict(body) | {"at": moment(body.at)}
    create = given.pop("create")
    if create:
        project.house.stores.of(project.project_id).ensure_project(project.project_id)
    return project.story.character(character, create=create).remember(**given)


@router.patch("/memories/{memory_id}")
def edit_character_memory(known: Known, memory_id: MemoryId, body: CharacterMemoryEdit) -> EditedMemory:
    """Correct a memory of a character."""
    return known.character.edit(memory_id, **body.changes)


@router.delete("/memories/{memory_id}")
def delete_character_memory(known: Known, memory_id: MemoryId) -> CharacterChange:
    """Delete a memory of a character; what it had put an end to holds again."""
    return known.character.delete(memory_id)


@router.post("/undo")
def undo_character_change(
    known: Known, change_id: Annotated[int | None, Query(description="Without it the last one.")] = None
) -> CharacterChange:
    """Undo a change of a character's memories."""
    return known.character.undo(change_id)


@router.post(
    "/recall",
    response_model=Recall,
    openapi_extra=READS,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def recall_memories(known: Known, request: Request, body: RecallRequest) -> Response:
    """Return what comes back to a character at a remark, within a budget; with `Accept: text/plain` as a prompt."""
    recall = known.character.recall(
        body.said,
        budget_tokens=body.budget_tokens,
        as_of=moment(body.as_of),
        to=body.to,
        story_as_of=None if body.story_as_of is None else position(body.story_as_of),
    )
    if wants_prompt(request):
        return Response(recall.as_prompt(), media_type="text/plain; charset=utf-8")
    recall = told(recall, folders=known.house.secret_folders)
    return Response(recall.model_dump_json(), media_type="application/json")


@router.get("/feelings")
def get_feelings(
    known: Known,
    other: Annotated[str, Query(min_length=1, max_length=400, description="For whom.")] = "player",
    as_of: Annotated[str | None, Query(max_length=40)] = None,
) -> Feelings:
    """Tell what a character feels for another."""
    return known.character.feelings(other, as_of=moment(as_of))


@router.post("/feelings")
def change_feelings(known: Known, body: FeelingsChange) -> Feelings:
    """Move what a character feels for another."""
    return known.character.feel(
        body.other, event_type=body.event_type, deltas=body.deltas, values=body.values, at=moment(body.at)
    )


@router.post("/check-reply", openapi_extra=READS)
def check_reply(known: Known, body: ReplyCheck) -> ReplyFindings:
    """Find what is wrong with something that a character is about to say; nothing is stored."""
    findings = known.character.check_reply(body.text, to=body.to, said=body.said, as_of=moment(body.as_of))
    return ReplyFindings(findings=findings)


@router.post("/reply", response_class=EventSourceResponse)
def stream_reply(
    project: Project,
    speaker: Annotated[Character, Depends(_speaker)],
    model: Annotated[BaseChatModel, Depends(_speaking_model)],
    body: ReplyRequest,
) -> Iterator[ServerSentEvent]:
    """Let the model speak as a character: `text` events as it speaks, then one `reply` with what came of it."""
    spoken = speaker.stream_reply(
        model,
        body.said,
        to=body.to,
        talk=body.talk,
        at=moment(body.at),
        budget_tokens=body.budget_tokens,
        keep=body.keep,
        story_as_of=position(body.story_as_of),
    )
    folders = project.house.secret_folders
    for part in spoken:
        if isinstance(part, Reply):
            yield ServerSentEvent(event="reply", raw_data=told(part, folders=folders).model_dump_json())
        else:
            yield ServerSentEvent(event="text", raw_data=SpokenPiece(text=part).model_dump_json())
