"""Prompts and streamed parsing of a character's reply."""

from __future__ import annotations

import contextvars
import queue
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from pydantic import BaseModel, Field, field_validator

from novelgen.characters.secrets import Secret, without_secrets
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelUnavailableError
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.answers import UnusableAnswerError, parse_json_object
from novelgen.model_calls.json_model import model_failure
from novelgen.model_calls.model_answer import is_cut, safe_cause, secrets_of, withheld_reason
from novelgen.model_calls.prompt_data import NOTHING, as_data, as_data_lines
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.entity import DATED, GUESSED_NAMES, SAME_AS, Entity

MAX_REPLY_CHARACTERS = 20_000
"""A model that says more than this is cut off: it repeats itself."""


class LearnedAboutPlayer(BaseModel):
    """New knowledge of the character about the player."""

    name: str | None = None
    allegiance: str | None = None
    notable_facts: list[str] = Field(default_factory=list)

    @field_validator("name", "allegiance", mode="before")
    @classmethod
    def _said_or_none(cls, value: Any) -> Any:
        """Models write "unknown" and "none" where they mean null."""
        if not isinstance(value, str) or value.strip().casefold() in _NOTHING_LEARNED:
            return None
        return value.strip()[:100]

    @field_validator("notable_facts", mode="before")
    @classmethod
    def _told_facts(cls, value: Any) -> Any:
        listing = [_one_text(item) for item in (value if isinstance(value, list) else [value])]
        return [text.strip()[:300] for text in listing if text.strip()][:5]


def _one_text(fact: Any) -> str:
    """Return a fact as text, a mapping as "kind: fact"."""
    if isinstance(fact, Mapping):
        lines = [value for name, value in fact.items() if name != "info_type" and isinstance(value, str)]
        kind = fact.get("info_type")
        return ": ".join(text for text in [kind, *lines[:1]] if isinstance(text, str) and text.strip()) if lines else ""
    return fact if isinstance(fact, str) else ""


_NOTHING_LEARNED = frozenset(("", "null", "none", "unknown", "n/a", "无", "未知", "不知道", "没有"))


class ReplyAnalysis(BaseModel):
    """A model's analysis of an interaction.

    Missing fields count as empty.
    """

    interaction_type: str = ""
    player_tone: str = ""
    emotional_impact: str = ""
    memory: str = Field(default="", description="One sentence of what happened, in the character's own view.")
    changes: dict[str, float] = Field(
        default_factory=dict, description="Proposed changes by dimension, as the model wrote them."
    )
    learned_about_player: LearnedAboutPlayer = Field(default_factory=LearnedAboutPlayer)

    @field_validator("interaction_type", "player_tone", "emotional_impact", "memory", mode="before")
    @classmethod
    def _one_line(cls, value: Any) -> str:
        return " ".join(value.split())[:500] if isinstance(value, str) else ""

    @field_validator("learned_about_player", mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        return value if isinstance(value, dict | LearnedAboutPlayer) else {}


def read_analysis(text: str) -> ReplyAnalysis:
    """Read the analysis behind a reply, also where it stands within an `analysis` beside a `response`."""
    results = parse_json_object(text, keys=())
    inner = results.get("analysis")
    fields = {**results, **inner} if isinstance(inner, dict) else results
    changes = {key: value for key, value in fields.items() if key.endswith("_change") and type(value) in (int, float)}
    analysis_fields = {name: fields[name] for name in ReplyAnalysis.model_fields if name in fields}
    return ReplyAnalysis(**{**analysis_fields, "changes": changes})


# --- Parting what is said from the analysis ---

_MARK = re.compile(r"`{3}|\{\s*[\"\n]|</?analysis>|={4,}|<\|[a-z_]+\|>")
_MARK_BEGUN = re.compile(r"(?:`{1,2}|\{\s*|</?[a-z]{0,8}|<\|[a-z_]{0,20}\|?|={1,3})\Z")
_OBJECT = re.compile(r"(?:`{3}(?:json)?\s*)?(?:\[\s*)?\{")
_OBJECT_BEGUN = re.compile(r"(?:`{1,3}(?:j(?:s(?:on?)?)?)?\s*)?(?:\[\s*)?\Z")
_THOUGHT = re.compile(
    r"(?i:<think(?:ing)?>|\[think\]|<thought>|<reasoning>)|<\|(?:start|channel)\|>"
    r"|(?:analysis|commentary)(?=[A-Z\"'{\u3400-\u9fff])"
)
_THOUGHT_END = re.compile(
    r"(?i:</think(?:ing)?>|\[/think\]|</thought>|</reasoning>)"
    r"|<\|channel\|>\s*final[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|assistantfinal"
)
_THOUGHT_MARKS = (
    "<thinking>",
    "<think>",
    "<thought>",
    "<reasoning>",
    "[think]",
    "<|start|>",
    "<|channel|>",
    "analysis",
    "commentary",
)
"""Beginnings of what a model thinks before it speaks; gpt-oss speaks in the channel `final` alone."""
_RESPONSE = re.compile(r'"(?:response|dialogue|reply|speech)"\s*:\s*"')
_HALF = r"\\u[dD][89abAB].."
"""An emoji is written as two escapes; half of one is no character that a store accepts."""
_VALUE = re.compile(rf'(?:[^"\\]|\\[^u]|{_HALF}(?:\\u.{{4}}|(?=[^\\]|\\[^u]))|(?!{_HALF})\\u.{{4}})*', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u(?P<code>.{4})|(?P<mark>.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "", "b": "", "f": ""}


class ReplyParts(NamedTuple):
    """The character's speech so far, and the unheard analysis.

    A model is asked for speech and then a fenced JSON object. One that answers with one JSON object instead
    (`{"response": "…", "analysis": {…}}`) has its response heard just so; reasoning in front is passed over.
    """

    spoken: str = ""
    behind: str = ""
    held: str = ""
    """What has come and may be either."""
    mode: Literal["start", "thought", "speech", "object", "value", "behind"] = "start"

    @property
    def is_one_object(self) -> bool:
        """Whether one object holds both the speech and the analysis."""
        return _RESPONSE.search(self.behind) is not None

    def then(self, piece: str) -> ReplyParts:
        """Return the parts with one more chunk.

        Speech is never taken back.
        """
        spoken_text, behind, buffer, mode = self
        if mode in ("object", "value", "behind"):
            behind += piece
        buffer += piece
        if mode == "start":
            buffer = buffer.lstrip()
            while (thought := _THOUGHT.match(buffer)) and (end := _THOUGHT_END.search(buffer)):
                buffer = buffer[end.end() :].lstrip()
            if thought:
                return ReplyParts(held=buffer, mode="thought")
            if _OBJECT.match(buffer):
                return ReplyParts(behind=buffer, held=buffer, mode="object").then("")
            folded_text = buffer.casefold()
            if _OBJECT_BEGUN.match(buffer) or any(mark.startswith(folded_text) for mark in _THOUGHT_MARKS):
                return ReplyParts(held=buffer)
            mode = "speech"
        if mode == "thought":
            end = _THOUGHT_END.search(buffer)
            return ReplyParts().then(buffer[end.end() :]) if end else ReplyParts(held=buffer, mode=mode)
        if mode == "speech":
            first = len(buffer) - len(buffer.lstrip())
            mark = _MARK.search(buffer, first)
            match = mark or _MARK_BEGUN.search(buffer, first)
            statement = buffer[: match.start() if match else None].rstrip()
            rest = buffer[len(statement) :]
            return (
                ReplyParts(spoken_text + statement, rest, "", "behind")
                if mark
                else ReplyParts(spoken_text + statement, "", rest, mode)
            )
        if mode == "object" and (key := _RESPONSE.search(buffer)):
            mode, buffer = "value", buffer[key.end() :]
        if mode == "value" and (value := _VALUE.match(buffer)):
            statement = _ESCAPE.sub(_unescaped, value[0]).encode("utf-16", "surrogatepass").decode("utf-16", "ignore")
            spoken_text, buffer = (
                spoken_text + (statement if spoken_text else statement.lstrip()),
                buffer[value.end() :],
            )
            mode = "behind" if buffer.startswith('"') else mode
        return ReplyParts(spoken_text, behind, "" if mode == "behind" else buffer, mode)


def _unescaped(escape: re.Match[str]) -> str:
    if escape["mark"]:
        return _ESCAPES.get(escape["mark"], escape["mark"])
    try:
        return chr(int(escape["code"], 16))
    except ValueError:
        return ""


# --- A stream within its time ---


def stream_text(model: BaseChatModel, messages: list[BaseMessage], *, deadline: Deadline) -> Iterator[str]:
    """Yield the text of a model's answer as it comes, and no longer than until a deadline.

    The model runs in a daemon thread: one that hangs is left behind. A consumer that stops early stops it at its
    next token.

    Raises:
        DeadlineExceededError: When the answer did not end in its time.
        ModelUnavailableError: When the model fails, or never ends.
        UnusableAnswerError: When the provider says that the answer was cut or withheld.
    """
    pieces: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
    is_given_up = threading.Event()
    run_in_context = contextvars.copy_context().run

    def ask() -> None:
        try:
            for chunk in model.stream(messages):
                if is_given_up.is_set():
                    return
                pieces.put(str(chunk.text))
                require_not_ended_early(chunk)
        except Exception as error:  # noqa: BLE001 - a provider's package may fail in any way; raised by the consumer
            pieces.put(error)
        else:
            pieces.put(None)

    threading.Thread(target=run_in_context, args=(ask,), name="novelgen-reply", daemon=True).start()
    length = 0
    try:
        while True:
            try:
                piece = pieces.get(timeout=max(deadline.remaining_s, 0.001))
            except queue.Empty:
                raise DeadlineExceededError(
                    "the reply did not end in its time; raise timeout_s or look at why the model hangs"
                ) from None
            if piece is None:
                return
            if isinstance(piece, UnusableAnswerError):
                raise piece
            if isinstance(piece, Exception):
                raise model_failure(piece, model) from safe_cause(piece, secrets=secrets_of(model))
            length += len(piece)
            if length > MAX_REPLY_CHARACTERS:
                raise ModelUnavailableError(
                    f"the reply is longer than {MAX_REPLY_CHARACTERS:,} characters; the model repeats itself"
                )
            yield piece
    finally:
        is_given_up.set()


def require_not_ended_early(chunk: BaseMessage) -> None:
    """Refuse an answer of which its provider says that it was cut or withheld."""
    if is_cut(chunk):
        raise UnusableAnswerError("cut", "the reply was cut at its token limit")
    withheld = withheld_reason(chunk)
    if withheld is not None:
        raise UnusableAnswerError("withheld", f"the model or its provider withheld the answer: {withheld!r}")


def require_whole(parts: ReplyParts) -> None:
    """Refuse a reply that ends within the object that holds it."""
    if parts.mode in ("object", "value"):
        raise UnusableAnswerError("cut", "the reply ends within its JSON object")


def require_own_words(speech: str, analysis: ReplyAnalysis) -> None:
    """Refuse a model's refusal in place of its part.

    A character may well say that it cannot help; a model that plays it tells the analysis of that, too.
    """
    if analysis == ReplyAnalysis() and _REFUSAL.match(speech):
        raise UnusableAnswerError("withheld", "the reply is a refusal of the model, no words of the character")


_REFUSAL = re.compile(
    r"(?:(?:i['’]m |i am )?(?:very |really |so )?sorry\b|unfortunately\b|i apologi[sz]e\b)?[,.]? ?(?:but )?"
    r"(?:i (?:can['’]t|cannot|can not|won['’]t|am unable to|am not able to)|i['’]m (?:unable|not able) to)"
    r" (?:help|assist|comply|fulfil|fulfill|continue|engage|generate|create|provide|produce|write|respond|participate)"
    r"\b[^.!?\n]*\b(?:(?:that|this)(?=\s*(?:[.!?,]|$))|requests?|content|role-?play|prompt|topic|conversation)\b"
    r"|as an? (?:ai|artificial intelligence|(?:large )?language model)\b|i['’]m an? (?:ai|(?:large )?language model)\b"
    r"|(?:很|非常|十分)?(?:抱歉|对不起)[，,。 ]*(?:但是?)?(?:作为[^，。]{0,12}[，,])?我?(?:不能|无法|没办法|没法)"
    r"(?:协助|帮助|提供|满足|回答|回应|继续|完成|生成|创作|参与|讨论)[^。！？\n]*(?:请求|要求|内容|问题|话题|这个|此类|这类|该)"
    r"|(?:作为|我是)一?[个名款]?(?:AI|人工智能|大?语言模型)",
    re.IGNORECASE,
)
"""Boilerplate with which models and their services refuse."""


PROMPT_NAME = "character_reply"
MAX_CARD_CHARACTERS = 4_000

MAX_TURNS = 20
"""So many turns of the talk are told, the last ones."""

MAX_SAID_CHARACTERS = 4_000

NEVER_ON_A_CARD = frozenset(("secret", "secrets", "current_state", DATED, GUESSED_NAMES, SAME_AS))
"""Fields of a profile that no prompt holds: secrets have conditions, a state of the beginning is over, and what holds
from later positions on stands in its fields where it holds."""

SpokenTurn = tuple[str, str]
"""Who spoke, and what."""


class ReplyRequest(NamedTuple):
    """The request of a reply."""

    character: str
    other: str
    card: str
    world: Sequence[str]
    memories: str
    feelings: Sequence[str]
    secrets: Sequence[str]
    hints: Sequence[str]
    talk: Sequence[SpokenTurn]
    said: str
    interaction_types: Sequence[str]


def reply_messages(request: ReplyRequest, language: StoryLanguage) -> list[BaseMessage]:
    """Return the prompt of a reply, with the player's words as data."""
    nothing = NOTHING[language]
    talk = [f"{as_data(who)}: {as_data(what[:MAX_SAID_CHARACTERS])}" for who, what in request.talk[-MAX_TURNS:]]
    values = {
        "character": as_data(request.character),
        "other": as_data(request.other),
        "card": as_data_lines(request.card) or nothing,
        "world": _list_lines(request.world) or nothing,
        "memories": as_data_lines(request.memories) or nothing,
        "feelings": _list_lines(request.feelings) or nothing,
        "secrets": _list_lines(request.secrets) or nothing,
        "hints": _list_lines(request.hints) or nothing,
        "talk": "\n".join(talk) or nothing,
        "said": as_data(request.said[:MAX_SAID_CHARACTERS]) or nothing,
        "interaction_types": ", ".join(request.interaction_types),
    }
    prompt = load_chat_prompt(PROMPT_NAME, language, variables=values.keys())
    return prompt.invoke(values).to_messages()


def card_text(entity: Entity, closed: Sequence[Secret] = (), *, stands: Sequence[str] = ()) -> str:
    """Return a character's card text without secrets closed to the listener."""
    lines = [entity.name + (f", {entity.role}" if entity.role else "")]
    lines += [entity.description] if entity.description else []
    lines += [*_fields(entity.profile), *stands]
    text = without_secrets("\n".join(lines), closed, own_names=entity.names())
    return text[:MAX_CARD_CHARACTERS]


def _fields(profile: Mapping[str, Any], within: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in profile.items():
        if str(name).casefold() in NEVER_ON_A_CARD:
            continue
        title = f"{within}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            lines += _fields(value, f"{title}: ")
        elif isinstance(value, list):
            text = ", ".join(str(item) for item in value if isinstance(item, str | int | float))
            lines += [f"{title}: {text}"] if text else []
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            lines.append(f"{title}: {value}")
    return lines


def _list_lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {as_data(text)}" for text in texts)
