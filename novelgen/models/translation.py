"""How the names of an entity are translated, as its profile holds it.

`profile["translation"]` is that of the display name, `profile["alias_translations"]` a mapping of aliases to
theirs. A translation is a text, or an object with the text under `translation`, as translators' tools write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from novelgen.models.entity import Entity

TRANSLATION = "translation"
ALIAS_TRANSLATIONS = "alias_translations"


def profile_with_names(entity: Entity, names: Sequence[str], *, is_told: bool) -> dict[str, Any]:
    """Return an entity's profile with the translations of some of its names only.

    A translation tells a name, so that one that the story has not shown yet must not be translated either.

    Args:
        entity: The entity whole.
        names: The names that are shown.
        is_told: Whether the rest of the profile is shown as well.
    """
    rest = {
        key: value for key, value in entity.profile.items() if key not in (TRANSLATION, ALIAS_TRANSLATIONS)
    }
    shown: dict[str, Any] = dict(rest) if is_told else {}
    if entity.name in names and TRANSLATION in entity.profile:
        shown[TRANSLATION] = entity.profile[TRANSLATION]
    by_alias = entity.profile.get(ALIAS_TRANSLATIONS)
    if isinstance(by_alias, dict):
        translated = {name: each for name, each in by_alias.items() if name in names}
        shown |= {ALIAS_TRANSLATIONS: translated} if translated else {}
    return shown


def translation_of(entity: Entity, name: str) -> str:
    """Return how one of an entity's names is translated; empty when nobody said."""
    if name == entity.name and TRANSLATION in entity.profile:
        return _text(entity.profile[TRANSLATION])
    by_alias = entity.profile.get(ALIAS_TRANSLATIONS)
    return _text(by_alias.get(name)) if isinstance(by_alias, dict) else ""


def _text(value: Any) -> str:
    inner = value.get(TRANSLATION) if isinstance(value, dict) else value
    return inner.strip() if isinstance(inner, str) else ""
