"""Which memories of a character tell what a listener may not hear."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from novelgen.character_memory.memory import CharacterMemory
from novelgen.character_memory.secrets import Secret, find_secret

SECRET_DETAIL = "secret"
"""Under this name the details of a memory say which secret it tells: `details={"secret": "the-deal"}`."""


def withheld_places(
    memories: Sequence[CharacterMemory], closed: Sequence[Secret], *, own_names: Sequence[str] = ()
) -> list[int]:
    """Return the places of the memories that tell a secret, marked so or by their text, or stand for such.

    Args:
        memories: Of one character.
        closed: Secrets that the listener may not hear.
        own_names: Names of the character.
    """
    if not closed:
        return []
    ids = {secret.secret_id for secret in closed}
    found = {
        place
        for place, memory in enumerate(memories)
        if memory.details.get(SECRET_DETAIL) in ids
        or any(_tells(_text(memory), _key(secret), tuple(own_names)) for secret in closed)
    }
    told = {memories[place].memory_id for place in found}
    found |= {place for place, memory in enumerate(memories) if told.intersection(memory.stands_for)}
    return sorted(found)


def without_secrets(text: str, closed: Sequence[Secret], *, own_names: Sequence[str] = ()) -> str:
    """Return the lines of a text that tell none of the secrets."""
    return "\n".join(
        line
        for line in text.split("\n")
        if not any(find_secret(line, secret, own_names=own_names) for secret in closed)
    )


_Key = tuple[str, tuple[str, ...]]


def _key(secret: Secret) -> _Key:
    return secret.text, tuple(secret.key_words)


def _text(memory: CharacterMemory) -> str:
    details = {name: value for name, value in memory.details.items() if name != SECRET_DETAIL}
    told = json.dumps(details, ensure_ascii=False, default=str) if details else ""
    return "\n\n".join(
        filter(None, (memory.content, memory.short, memory.emotion, memory.location, memory.slot, told))
    )


@lru_cache(maxsize=200_000)
def _tells(text: str, secret: _Key, own_names: tuple[str, ...]) -> bool:
    """Tell whether a text tells a secret; remembered, for a character is asked at every remark."""
    given = Secret(secret_id="-", text=secret[0], key_words=list(secret[1]))
    return find_secret(text, given, own_names=own_names) is not None
