"""One character: memories, feelings, secrets and replies."""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from novelgen.characters.dispositions import PLAYER, clamped, status_words
from novelgen.characters.events import GivenEvent, typed_interaction
from novelgen.characters.memory import CharacterMemory, Moment, as_moment
from novelgen.characters.recall import Recall
from novelgen.characters.reply_check import (
    DEATH_SLOT,
    PLAYER_NAME_SLOT,
    KnownSlot,
    ReplyFinding,
    ReplyGround,
    check_reply,
    known_slots,
)
from novelgen.characters.reply_stream import (
    NEVER_ON_A_CARD,
    ReplyAnalysis,
    ReplyParts,
    ReplyRequest,
    SpokenTurn,
    card_text,
    read_analysis,
    reply_messages,
    require_own_words,
    require_whole,
    stream_text,
)
from novelgen.characters.secrets import find_secret
from novelgen.context.labels import labels_for
from novelgen.context.rendering import state_parts
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError, UserInputError
from novelgen.language.language import StoryLanguage
from novelgen.language.normalise import is_description, scrub_text
from novelgen.memory.attributes import STATUS_ATTRIBUTES, deaths
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import issue_kind_of
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.nearest import did_you_mean
from runtime.storage.models import MemoryFilter
from runtime.story.base import Place, async_stream, async_twin, known_entities, position_of
from runtime.story.character_news import CharacterNews
from runtime.story.character_part import (
    CharacterFeelings,
    Feelings,
    When,
    display_name,
    event_deltas,
    other_id_of,
    project_language,
    story_share,
)
from runtime.story.characters import CharacterMemories
from runtime.story.knowledge import knower_id
from runtime.story.secrets import CharacterSecrets, SecretView, flags_in, reveal_in, secret_view

logger = logging.getLogger(__name__)

BEFORE_THE_STORY = StoryPosition(1)

ALLEGIANCE_SLOT = "player_allegiance"
INFO_SLOT = "player_info"
"""Followed by the kind of the fact: `player_info:trade`."""

_KIND_OF_FACT = re.compile(r"(?P<kind>[^\W\d][\w /-]{0,29}?)\s*[:：]\s*(?P<fact>\S.*)", re.DOTALL)

MAX_QUOTED_CHARACTERS = 500

Keeping = Literal["clean", "always", "never"]
"""When a reply is remembered: where the check found nothing, whatever it found, or not by itself."""

_UNNAMED = {"en": "the visitor", "zh": "来客"}
"""What a player is called whose name is not known: a character knows no players."""

_MEMORY_TEXTS = {
    "en": "{other} said to me: “{said}” I answered: “{spoken}”",
    "zh": "{other}对我说：“{said}”我回答：“{spoken}”",
}
_NAME_TEXTS = {"en": "The player's name is {name}.", "zh": "玩家的名字是{name}。"}
_ALLIED = {"en": "The player is loyal to {name}.", "zh": "玩家效忠于{name}。"}


_FACT = {"en": "Of {other} I learnt: {fact}", "zh": "关于{other}，我得知：{fact}"}
"""Models write "likes mutton", which would be read as what the character itself likes."""

_SUBJECTLESS = re.compile(r"[a-z]|(?!玩家|对方|来客|来人|此人|[他她你])[\u4e00-\u9fff]")


class Reply(BaseModel):
    """A character's reply with its effects, the last item of a stream."""

    character_id: str
    to: str
    said: str
    spoken: str = Field(description="What the character said, as far as it came.")
    is_complete: bool = Field(description="Whether the model came to its end.")
    findings: list[ReplyFinding] = Field(default_factory=list, description="What is wrong with it.")
    is_stored: bool = Field(default=False, description="Whether it is remembered; see `issues` where not.")
    analysis: ReplyAnalysis = ReplyAnalysis()
    interaction_type: str = Field(default="", description="One of the valid types.")
    deltas: dict[str, int] = Field(
        default_factory=dict, description="By how much feelings move; they do once the reply is stored."
    )
    memory: CharacterMemory | None = None
    learned: list[CharacterMemory] = Field(default_factory=list, description="What it learnt of the other.")
    revealed: list[str] = Field(default_factory=list, description="Ids of the secrets that it told.")
    feelings: Feelings | None = Field(default=None, description="What it feels afterwards.")
    issues: list[ReportIssue] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The speaker, the listener and the moment."""

    to: str
    said: str
    talk: Sequence[SpokenTurn]
    at: Moment | None
    now: datetime
    story_as_of: StoryPosition | None = None
    world: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Met:
    """A character and its listener, as a reply finds them."""

    own: Entity
    other: Entity | None
    called: str
    entities: Sequence[Entity]
    language: StoryLanguage
    view: SecretView
    slots: Sequence[KnownSlot]


class CharacterReplies(CharacterMemories, CharacterFeelings):
    """A character's replies: streamed, checked and remembered."""

    def check_reply(
        self, text: str, *, to: str = PLAYER, said: str = "", as_of: When = None, story_as_of: Place = None
    ) -> list[ReplyFinding]:
        """Check a planned reply of the character, without storing.

        A secret that the listener may not hear, a name that the story does not know (with the one that may be meant),
        what goes against a slot, such as the player's name, and somebody who lives though the story had them die.
        Rules find it: what is told in wholly other words is not found.

        Args:
            text: What is said.
            to: To whom.
            said: What it answers.
            as_of: As things stood then; None means now.
            story_as_of: Held against what the story lets the character know strictly before this place; None leaves
                the story out.

        Returns:
            Findings in the order of the text, each with a quote and where it stands; empty where all is well.
        """
        encounter = self._read_encounter(to, said, as_of=as_of)
        return self._checked(
            scrub_text(text), self._ground(encounter, to, [said], story_as_of=position_of(story_as_of))
        )

    def stream_reply(
        self,
        chat_model: BaseChatModel,
        said: str,
        *,
        to: str = PLAYER,
        talk: Sequence[tuple[str, str]] = (),
        at: When = None,
        budget_tokens: int | None = None,
        timeout_s: float | None = None,
        keep: Keeping = "clean",
        story_as_of: Place = None,
        world: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> Iterator[str | Reply]:
        """Stream the character's reply from a model, ending with a `Reply`.

        Args:
            chat_model: Any LangChain chat model.
            said: What was said to the character.
            to: Who said it.
            talk: The turns before, as pairs of who and what.
            at: When it is said.
            budget_tokens: Of the memories in the prompt; None takes the setting `recall_budget_tokens`.
            timeout_s: The reply must be whole by then; None takes the setting `model_timeout_s`.
            keep: When it is remembered: "clean" where the check found nothing, "always", or "never".
            story_as_of: Of the story what it let the character know strictly before this place may come back, too:
                its memories, how the character itself stands, and who is dead.
            world: How the world stands as the character knows it, a line each: the hour, who else is there, the news.
            flags: Flags of the game of which the character knows; their values are told with it.

        Yields:
            Texts, then one `Reply`: what was found, stored and changed. A model that fails or hangs ends in a reply
            that says so in `issues`, and of which nothing is stored.

        Raises:
            UserInputError: When nothing was said, or a flag is not set.
        """
        if not callable(getattr(chat_model, "stream", None)):
            raise UserInputError(f"chat_model cannot be {chat_model!r}; pass a LangChain chat model")
        for turn in talk:
            is_pair = isinstance(turn, tuple | list) and len(turn) == 2
            if not is_pair or not all(isinstance(text, str) for text in turn):
                raise UserInputError(f"talk cannot hold {turn!r}; pass pairs of who and what: ('Ines', 'Hello.')")
        if not said.strip():
            raise UserInputError("nothing was said to the character; pass what the player says")
        clean = scrub_text(said).strip()
        lines = [*(scrub_text(line) for line in world), *self._flag_lines(flags)]
        request = _Asked(to, clean, tuple(talk), as_moment(at), self._clock(), position_of(story_as_of), lines)
        return self._streamed(
            request, chat_model, budget_tokens, timeout_s or self._stores.settings.model_timeout_s, keep
        )

    def keep_reply(self, reply: Reply, *, at: When = None) -> Reply:
        """Remember a reply that was not remembered by itself, whatever the check found.

        Args:
            reply: As the stream yielded it.
            at: When it was said.
        """
        if reply.is_stored:
            return reply
        request = _Asked(reply.to, reply.said, (), as_moment(at), self._clock())
        return self._stored(request, reply, self._read_encounter(request.to, request.said))

    acheck_reply = async_twin(check_reply)
    astream_reply = async_stream(stream_reply)
    akeep_reply = async_twin(keep_reply)

    def _streamed(
        self,
        requested_request: _Asked,
        model: BaseChatModel,
        budget_tokens: int | None,
        timeout_s: float,
        keep: Keeping,
    ) -> Iterator[str | Reply]:
        encounter = self._read_encounter(requested_request.to, requested_request.said)
        request, recall_result = self._request(requested_request, encounter, budget_tokens)
        issues = list(recall_result.issues)
        reply_parts = ReplyParts()
        is_complete = False
        try:
            for piece in stream_text(
                model, reply_messages(request, encounter.language), deadline=Deadline.after(timeout_s)
            ):
                before, reply_parts = reply_parts, reply_parts.then(piece)
                if reply_parts.spoken != before.spoken:
                    yield reply_parts.spoken[len(before.spoken) :]
            is_complete = True
        except (DeadlineExceededError, ModelError) as error:
            issues.append(ReportIssue(stage="reply", kind=issue_kind_of(error), message=str(error)))
        reply = Reply(
            character_id=self.character_id,
            to=requested_request.to,
            said=requested_request.said,
            spoken=scrub_text(reply_parts.spoken.strip()),
            is_complete=is_complete,
            issues=issues,
        )
        yield self._end_reply(requested_request, reply, reply_parts, encounter, keep)

    def _end_reply(self, request: _Asked, reply: Reply, parts: ReplyParts, encounter: _Met, keep: Keeping) -> Reply:
        """Read a reply's analysis, check it and store it if permitted."""
        issues = list(reply.issues)
        if not reply.is_complete:
            return reply
        try:
            require_whole(parts)
            if not reply.spoken:
                issues.append(ReportIssue(stage="reply", kind="malformed", message="the model said nothing"))
                return reply.model_copy(update={"issues": issues})
            analysis, unread_issues = _analysis(parts)
            require_own_words(reply.spoken, analysis)
        except UnusableAnswerError as error:
            issues.append(ReportIssue(stage="reply", kind=issue_kind_of(error), message=str(error)))
            return reply.model_copy(update={"is_complete": False, "issues": issues})
        issues += unread_issues
        settings = self._stores.settings.memory.character_memory
        fallback = settings.valid_interaction_types[0] if settings.valid_interaction_types else ""
        interaction_type = fallback
        if analysis.interaction_type:
            interaction_type, problem = typed_interaction(analysis.interaction_type, settings)
            if problem is not None:
                logger.warning("reply: %s", problem)
                issues.append(ReportIssue(stage="analysis", kind="malformed", message=problem))
        heard_names = [request.said, *(what for _, what in request.talk), *request.world]
        ground = self._ground(encounter, request.to, heard_names, story_as_of=request.story_as_of)
        findings = self._checked(reply.spoken, ground)
        by_rule = event_deltas(interaction_type, None, {}, settings)
        finished_reply = reply.model_copy(
            update={
                "analysis": analysis,
                "interaction_type": interaction_type,
                # A type that has a rule moves what its rule names; a model's word counts for the rest, within bounds.
                "deltas": {**clamped(analysis.changes, settings), **by_rule},
                "findings": findings,
                "issues": issues,
            }
        )
        if keep == "always" or (keep == "clean" and not findings):
            return self._stored(request, finished_reply, encounter)
        if keep == "clean":
            message = "not remembered, for the check found something; keep_reply remembers it all the same"
            issues.append(ReportIssue(stage="check", kind="not_written", message=message))
        return finished_reply

    def _stored(self, request: _Asked, reply: Reply, encounter: _Met) -> Reply:
        """Store a reply's memory, learned facts and told secrets."""
        own_names = encounter.own.names()
        secrets = [secret for secret in encounter.view.open if find_secret(reply.spoken, secret, own_names=own_names)]
        issues = list(reply.issues)
        content = reply.analysis.memory
        if not content or any(find_secret(content, secret, own_names=own_names) for secret in encounter.view.closed):
            content = _MEMORY_TEXTS[encounter.language].format(
                other=encounter.called,
                said=request.said[:MAX_QUOTED_CHARACTERS],
                spoken=reply.spoken[:MAX_QUOTED_CHARACTERS],
            )
        changes: dict[str, Any] = {f"{name}_change": by for name, by in reply.deltas.items()}
        memory_result = self._remember(
            GivenEvent(
                content=content,
                event_type=reply.interaction_type,
                interaction_type=reply.interaction_type or None,
                participants=(request.to,),
                emotion=reply.analysis.emotional_impact,
                state_deltas={**changes, **({"secret_revealed": True} if secrets else {})},
                details={"said": request.said[:MAX_QUOTED_CHARACTERS], "spoken": reply.spoken[:MAX_QUOTED_CHARACTERS]},
            ),
            at=request.at,
            now=request.now,
        )
        issues += memory_result.issues
        with self._stores.database(self.project_id).write() as unit:
            for secret in secrets:
                if not secret.never:
                    reveal_in(unit, self.character_id, secret.secret_id, to=request.to, at=request.at, now=request.now)
        learned_memories, unfounded = self._store_learnings(request, reply.analysis, encounter)
        return reply.model_copy(
            update={
                "is_stored": True,
                "memory": memory_result.memory,
                "learned": learned_memories,
                "revealed": [secret.secret_id for secret in secrets],
                "feelings": self.feelings(request.to),
                "issues": [*issues, *unfounded],
            }
        )

    def _store_learnings(
        self, request: _Asked, analysis: ReplyAnalysis, encounter: _Met
    ) -> tuple[list[CharacterMemory], list[ReportIssue]]:
        """Store facts about the listener, without names it did not say."""
        learned_about_player = analysis.learned_about_player
        heard_text = "\n".join([request.said, *(what for who, what in request.talk)]).casefold()
        events: list[GivenEvent] = []
        issues: list[ReportIssue] = []
        values_by_slot = {slot.slot: slot.value for slot in encounter.slots}
        for slot, value, sentence, delta in (
            (PLAYER_NAME_SLOT, learned_about_player.name, _NAME_TEXTS, {"player_name_learned": True}),
            (ALLEGIANCE_SLOT, learned_about_player.allegiance, _ALLIED, {}),
        ):
            if value is None or values_by_slot.get(slot) == value:
                continue
            if value.casefold() not in heard_text:
                message = f"{value!r} was not said and is not taken as {slot}"
                issues.append(ReportIssue(stage="analysis", kind="unresolved", message=message))
                continue
            info = _info(request, sentence[encounter.language].format(name=value), slot)
            events.append(info.model_copy(update={"state_deltas": delta}))
        is_kept_by_kind = INFO_SLOT in self._stores.settings.memory.character_memory.known_slot_types()
        for told_text in learned_about_player.notable_facts:
            parted = _KIND_OF_FACT.fullmatch(told_text)
            fact = parted["fact"] if parted else told_text
            text = (
                _FACT[encounter.language].format(other=encounter.called, fact=fact)
                if _SUBJECTLESS.match(fact)
                else fact
            )
            kept_as = f"{INFO_SLOT}:{parted['kind'].casefold()}" if parted and is_kept_by_kind else None
            events.append(_info(request, text, kept_as))
        return [self._remember(event, at=request.at, now=request.now).memory for event in events], issues

    def _request(
        self, requested_request: _Asked, encounter: _Met, budget_tokens: int | None
    ) -> tuple[ReplyRequest, Recall]:
        recall_result = self.recall(
            requested_request.said,
            budget_tokens=budget_tokens,
            to=requested_request.to,
            story_as_of=requested_request.story_as_of,
        )
        feelings = self.feelings(requested_request.to)
        with self._stores.database(self.project_id).read() as unit:
            # Without a place in the story only what was said of it outside of the scenes.
            stated = unit.states.snapshots([self.character_id], as_of=requested_request.story_as_of or BEFORE_THE_STORY)
            names = unit.characters.names()
        labels = labels_for(encounter.language)
        stands = [
            text
            for snapshot in stated
            for name, text in state_parts(snapshot, names, labels)
            if name not in NEVER_ON_A_CARD
        ]
        words = [word.replace(feelings.other_name, encounter.called) for word in feelings.words]
        settings = self._stores.settings.memory.character_memory
        request = ReplyRequest(
            character=encounter.own.name,
            other=encounter.called,
            card=card_text(encounter.own, encounter.view.closed, stands=stands),
            world=requested_request.world,
            memories=recall_result.as_prompt(encounter.language),
            feelings=[*words, status_words(feelings.status, encounter.language)],
            secrets=[secret.text for secret in encounter.view.open],
            hints=encounter.view.hints,
            talk=requested_request.talk,
            said=requested_request.said,
            interaction_types=settings.valid_interaction_types,
        )
        return request, recall_result

    def _read_encounter(self, to: str, statement: str, *, as_of: When = None) -> _Met:
        """Read the listener, its names and the permitted secrets."""
        slots = self._slots(as_of)
        with self._stores.database(self.project_id).read() as unit:
            entities = known_entities(unit, None)
            own = next(entity for entity in entities if entity.entity_id == self.character_id)
            other_id = other_id_of(unit, to)
            call_name = display_name(unit, other_id)
            language = project_language(unit, f"{statement} {own.name}")
            view = secret_view(unit, self.character_id, to, as_of=as_moment(as_of))
        if other_id == PLAYER:
            call_name = next((slot.value for slot in slots if slot.slot == PLAYER_NAME_SLOT), _UNNAMED[language])
        other = next((entity for entity in entities if entity.entity_id == other_id), None)
        return _Met(own, other, call_name, entities, language, view, slots)

    def _slots(self, as_of: When = None) -> list[KnownSlot]:
        active: list[tuple[str, str]] = []
        earlier: dict[str, list[str]] = {}
        for memory in self.memories(as_of=as_of):
            if memory.slot is not None and memory.superseded_by is None:
                active.append((memory.slot, memory.content))
            elif memory.slot is not None:
                earlier.setdefault(memory.slot, []).append(memory.content)
        return known_slots(active, earlier)

    def _flag_lines(self, flags: Sequence[str]) -> list[str]:
        if not flags:
            return []
        with self._stores.database(self.project_id).read() as unit:
            values = flags_in(unit, None)
        for name in flags:
            if name not in values:
                raise UserInputError(f"no flag is called {name!r}{did_you_mean(name, values) or '; set it first'}")
        return [f"{name}: {json.dumps(values[name], ensure_ascii=False)}" for name in flags]

    def _dead(self, place: StoryPosition, entities: Sequence[Entity]) -> list[KnownSlot]:
        """Return the dead before a place, by name, as far as known."""
        with self._stores.database(self.project_id).read() as unit:
            dead = deaths(unit.states.stated(attributes=STATUS_ATTRIBUTES, as_of=place))
            memories = unit.memories.list_matching(MemoryFilter(as_of=place, event_types=["death"])) if dead else []
            knower = knower_id(unit, self.character_id, place)
        if not dead:
            return []
        share = story_share(self._stores, self.project_id, character_id=knower, as_of=place, model=None)
        known_ids = {memory.memory_id for memory in share.mind.memories}
        slots: list[KnownSlot] = []
        for entity in entities:
            about = {
                memory.chunk.memory_id for memory in memories if entity.entity_id in memory.chunk.entities_mentioned
            }
            # Of a death that no memory tells, everybody may know.
            if entity.entity_id in dead and (not about or known_ids & about):
                value = str(dead[entity.entity_id].value)
                slots += [KnownSlot(f"{DEATH_SLOT}:{name}", value) for name in entity.names()]
        return slots

    def _ground(
        self, encounter: _Met, to: str, statements: Sequence[str], *, story_as_of: StoryPosition | None
    ) -> ReplyGround:
        dead = [] if story_as_of is None else self._dead(story_as_of, encounter.entities)
        slots = [*encounter.slots, *dead]
        player_name = [slot.value for slot in slots if slot.slot == PLAYER_NAME_SLOT] if encounter.other is None else []
        if encounter.other is not None or to not in (PLAYER, *player_name):
            # The slot is about the player; another listener has a name of his own.
            slots = [slot for slot in slots if slot.slot != PLAYER_NAME_SLOT]
        listener = (
            encounter.other.names() if encounter.other else [name for name in (to, *player_name) if name != PLAYER]
        )
        lines = [
            card_text(encounter.own),
            *statements,
            *(secret.text for secret in encounter.view.open),
            *encounter.view.hints,
        ]
        return ReplyGround(
            closed_secrets=encounter.view.closed,
            known_names=[name for entity in encounter.entities for name in entity.names() if not is_description(name)],
            known_text="\n".join(lines),
            slots=slots,
            own_names=encounter.own.names(),
            listener_names=listener,
            language=encounter.language,
        )

    def _checked(self, text: str, ground: ReplyGround) -> list[ReplyFinding]:
        """Check a reply, and let names pass that stand anywhere in the story."""
        findings = check_reply(text, ground)
        unknown_names = {finding.quote for finding in findings if finding.kind == "unknown_name"}
        if unknown_names:
            with self._stores.database(self.project_id).read() as unit:
                told_names = {name for name in unknown_names if unit.play.is_told_in_story(name)}
            findings = [
                finding for finding in findings if finding.kind != "unknown_name" or finding.quote not in told_names
            ]
        return findings


class Character(CharacterNews, CharacterReplies, CharacterSecrets):
    """A character with its own memory, safe between threads.

    `Story.character` gives it.

    Nobody recalls what another learnt. Moments are pairs of session and turn, which order what is played as chapters
    and scenes order a book, or datetimes; what is read as of a moment was learnt strictly before it.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        entity: The character.
        clock: Tells the present moment; None takes that of the stores. A game with a calendar of its own passes its
            own.
    """

    def __repr__(self) -> str:
        return f"Character({self.name!r}, {self.character_id!r}, project {self.project_id!r})"

    def as_tools(self, *, to: str | None = None, story_as_of: Place = None) -> list[BaseTool]:
        """Return LangChain tools for a model that plays this character: character_remember and character_recall.

        Args:
            to: To whom it speaks, as for `recall`; None keeps every secret back.
            story_as_of: What the story let the character know strictly before this place is recalled, too.
        """
        # Tools are a door: they stand above the story that they are made of.
        from runtime.doors.langchain import build_character_tools

        return build_character_tools(self._stores, self, to=to, story_as_of=position_of(story_as_of))


def _analysis(parts: ReplyParts) -> tuple[ReplyAnalysis, list[ReportIssue]]:
    """Read the analysis after the speech, rejecting half an object."""
    behind = parts.behind
    if not behind.strip():
        message = "the model gave no analysis; the type is taken as plain talk and nothing as learnt"
        return ReplyAnalysis(), [ReportIssue(stage="analysis", kind="malformed", message=message)]
    try:
        return read_analysis(behind), []
    except UnusableAnswerError as error:
        if error.fault == "cut" and parts.is_one_object:
            raise
        message = f"the analysis cannot be read, so that nothing counts as learnt: {error}"
        return ReplyAnalysis(), [ReportIssue(stage="analysis", kind=issue_kind_of(error), message=message)]


def _info(request: _Asked, text: str, slot: str | None) -> GivenEvent:
    return GivenEvent(content=text, event_type="player_info", participants=(request.to,), slot=slot)
