"""The prompt by which a model speaks as a character: who it is, what it remembers, feels and may tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage

from novelgen.characters.secrets import Secret
from novelgen.characters.withheld import without_secrets
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompt_data import NOTHING, as_data, as_data_lines
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.entity import Entity

PROMPT_NAME = "character_reply"

MAX_CARD_CHARACTERS = 4_000

MAX_TURNS = 20
"""So many turns of the talk are told, the last ones."""

MAX_SAID_CHARACTERS = 4_000

NEVER_ON_A_CARD = frozenset(("secret", "secrets", "current_state"))
"""Fields of a profile that no prompt holds: secrets have conditions, and a state of the beginning is over."""

SpokenTurn = tuple[str, str]
"""Who spoke, and what."""


class ReplyRequest(NamedTuple):
    """What a reply is asked with."""

    character: str
    other: str
    card: str
    memories: str
    feelings: Sequence[str]
    secrets: Sequence[str]
    hints: Sequence[str]
    talk: Sequence[SpokenTurn]
    said: str
    interaction_types: Sequence[str]


def reply_messages(request: ReplyRequest, language: StoryLanguage) -> list[BaseMessage]:
    """Return the prompt of a reply; whatever a player says stands in it as data."""
    nothing = NOTHING[language]
    talk = [f"{as_data(who)}: {as_data(what[:MAX_SAID_CHARACTERS])}" for who, what in request.talk[-MAX_TURNS:]]
    values = {
        "character": as_data(request.character),
        "other": as_data(request.other),
        "card": as_data_lines(request.card) or nothing,
        "memories": as_data_lines(request.memories) or nothing,
        "feelings": _listed(request.feelings) or nothing,
        "secrets": _listed(request.secrets) or nothing,
        "hints": _listed(request.hints) or nothing,
        "talk": "\n".join(talk) or nothing,
        "said": as_data(request.said[:MAX_SAID_CHARACTERS]) or nothing,
        "interaction_types": ", ".join(request.interaction_types),
    }
    prompt = load_chat_prompt(PROMPT_NAME, language, variables=values.keys())
    return prompt.invoke(values).to_messages()


def card_text(entity: Entity, closed: Sequence[Secret] = ()) -> str:
    """Return what a character is like, without what its listener may not hear."""
    lines = [entity.name + (f", {entity.role}" if entity.role else "")]
    lines += [entity.description] if entity.description else []
    lines += _fields(entity.profile)
    told = without_secrets("\n".join(lines), closed, own_names=entity.names())
    return told[:MAX_CARD_CHARACTERS]


def _fields(profile: Mapping[str, Any], within: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in profile.items():
        if str(name).casefold() in NEVER_ON_A_CARD:
            continue
        title = f"{within}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            lines += _fields(value, f"{title}: ")
        elif isinstance(value, list):
            told = ", ".join(str(each) for each in value if isinstance(each, str | int | float))
            lines += [f"{title}: {told}"] if told else []
        elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            lines.append(f"{title}: {value}")
    return lines


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"- {as_data(text)}" for text in texts)
