"""Which memories of a character tell what a listener may not hear."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

from novelgen.characters.memory import CharacterMemory
from novelgen.characters.mind import Mind
from novelgen.characters.secrets import Secret, find_secret

SECRET_DETAIL = "secret"
"""Under this name the details of a memory say which secret it tells: `details={"secret": "the-deal"}`."""


def withheld_places(mind: Mind, closed: Sequence[Secret], *, own_names: Sequence[str] = ()) -> list[int]:
    """Return the places of the memories that tell a secret, marked so or by their text, or stand for such.

    What was found in a mind is kept with it, for a character is asked again at every remark.
    """
    if not closed:
        return []
    asked = tuple((each.secret_id, each.text, tuple(each.key_words)) for each in closed), tuple(own_names)
    places = _FOUND.setdefault(mind, {}).get(asked)
    if places is None:
        places = _FOUND[mind][asked] = _found_places(mind.memories, closed, asked, own_names)
    return places


_Asked = tuple[tuple[tuple[str, str, tuple[str, ...]], ...], tuple[str, ...]]
_FOUND: WeakKeyDictionary[Mind, dict[_Asked, list[int]]] = WeakKeyDictionary()


def _found_places(
    memories: Sequence[CharacterMemory], closed: Sequence[Secret], asked: _Asked, own_names: Sequence[str]
) -> list[int]:
    ids = {secret.secret_id for secret in closed}
    known = _judged(asked)

    def tells(text: str) -> bool:
        found = known.get(text)
        if found is None:
            found = known[text] = any(find_secret(text, each, own_names=own_names) for each in closed)
        return found

    found = {
        place
        for place, memory in enumerate(memories)
        if memory.details.get(SECRET_DETAIL) in ids or any(map(tells, _texts(memory)))
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


def _texts(memory: CharacterMemory) -> list[str]:
    """Return everything of a memory that a recall gives out."""
    texts = [
        text
        for text in (memory.content, memory.short, memory.emotion, memory.location, memory.slot)
        if text is not None and len(text) > 0
    ]
    details = {name: value for name, value in memory.details.items() if name != SECRET_DETAIL}
    return [*texts, json.dumps(details, ensure_ascii=False, default=str)] if details else texts


MAX_JUDGED_SECRETS = 64
"""Groups of secrets whose judgements stay at hand; a character is asked again at every remark."""


@lru_cache(maxsize=MAX_JUDGED_SECRETS)
def _judged(asked: _Asked) -> _Judgements:
    """Return where it is kept which texts tell one of these secrets."""
    return _Judgements()


class _Judgements(dict[str, bool]):
    """Text to whether it tells a secret; bounded, for texts come and go."""

    def __setitem__(self, text: str, tells: bool) -> None:
        if len(self) >= MAX_JUDGED_TEXTS:
            self.clear()
        super().__setitem__(text, tells)


MAX_JUDGED_TEXTS = 50_000
