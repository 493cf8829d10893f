"""Which memories of a character tell what a listener may not hear."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
    keys = tuple((secret.text, tuple(secret.key_words)) for secret in closed)
    names = tuple(own_names)
    found = {
        place
        for place, memory in enumerate(memories)
        if memory.details.get(SECRET_DETAIL) in ids
        or any(_tells(text, keys, names) for text in _texts(memory))
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


def _texts(memory: CharacterMemory) -> Iterator[str]:
    """Everything of a memory that a recall gives out."""
    yield memory.content
    if memory.short is not None:
        yield memory.short
    beside = (memory.emotion, memory.location, memory.slot)
    yield from filter(None, beside)
    details = {name: value for name, value in memory.details.items() if name != SECRET_DETAIL}
    if details:
        yield json.dumps(details, ensure_ascii=False, default=str)


@lru_cache(maxsize=100_000)
def _tells(text: str, secrets: tuple[tuple[str, tuple[str, ...]], ...], own_names: tuple[str, ...]) -> bool:
    """Tell whether a text tells one of the secrets; remembered, for a character is asked at every remark."""
    return any(
        find_secret(text, Secret(secret_id="-", text=secret, key_words=list(key_words)), own_names=own_names)
        for secret, key_words in secrets
    )
