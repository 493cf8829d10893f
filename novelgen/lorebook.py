"""Lorebooks of SillyTavern and NovelAI."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError

LorebookForm = Literal["sillytavern", "novelai"]
MAX_ENTRIES = 2_000
MAX_ENTRY_CHARACTERS = 20_000
MAX_KEYS = 100

OWN = "novelgen"
"""Among `extensions`: what only novelgen says of an entry."""

_TEXT = ("content", "text")
_KEYS = ("key", "keys")
_SECOND = ("keysecondary", "secondary_keys")
_TITLE = ("comment", "displayName", "name")
_ALWAYS = ("constant", "forceActivation")
_HERE = {"extensions", "disable", "enabled", "uid", "id", "selective", "lastUpdatedAt", "displayIndex", "addMemo"}
_READ_FIELDS = {*_TEXT, *_KEYS, *_SECOND, *_TITLE, *_ALWAYS, *_HERE}


class LoreEntry(BaseModel):
    """An entry of a lorebook."""

    text: str
    title: str = ""
    keys: list[str] = Field(default_factory=list)
    patterns: list[str] = Field(default_factory=list, description="Keys that are patterns; they call nothing here.")
    pinned: bool = False
    is_off: bool = False
    start: str = Field(default="", description="It is read from this position on, as 3:1; empty: everywhere.")

    def head(self) -> str:
        """Return the title, or the first key, or the first words."""
        return self.title or (self.keys[0] if self.keys else self.text[:20])


class Lorebook(BaseModel):
    """The entries of a lorebook, and its unreadable parts."""

    entries: list[LoreEntry] = Field(default_factory=list)
    unread: list[str] = Field(default_factory=list, description="One sentence each.")


def read_lorebook(document: Any) -> Lorebook:
    """Read a world info of SillyTavern, a character's book, a character card, or a lorebook of NovelAI.

    Raises:
        UserInputError: When it is none of them, or has too many entries.
    """
    document, card_name = _book_of_card(document)
    entries = document.get("entries") if isinstance(document, Mapping) else None
    if isinstance(entries, Mapping):
        entries = list(entries.values())
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise UserInputError(
            "this is no lorebook: a world info of SillyTavern or a lorebook of NovelAI has 'entries', "
            "and a character card has them in 'character_book'"
        )
    if len(entries) > MAX_ENTRIES:
        raise UserInputError(f"the lorebook has {len(entries)} entries; the limit is {MAX_ENTRIES}, split it")
    book = Lorebook()
    dropped: set[str] = set()
    for number, fields in enumerate(entries, start=1):
        entry = _entry(fields, number, book.unread, card_name=card_name)
        if entry is not None:
            book.entries.append(entry)
            dropped |= {name for name, value in fields.items() if name not in _READ_FIELDS and value not in _NOTHING}
    if dropped:
        book.unread.append(f"not kept of the entries: {', '.join(sorted(dropped))}")
    return book


def _book_of_card(document: Any) -> tuple[Any, str]:
    """Return the lorebook inside a character card with the character's name, or the document and no name."""
    if not isinstance(document, Mapping) or "entries" in document:
        return document, ""
    data = document.get("data")
    card = data if isinstance(data, Mapping) else document
    book = card.get("character_book")
    if not isinstance(book, Mapping):
        return document, ""
    name = card.get("name")
    return book, name.strip() if isinstance(name, str) else ""


_NOTHING: tuple[object, ...] = (None, "", 0, False, [], {})


_PLACEHOLDER = re.compile(r"\{\{\s*(?:char|user)\s*\}\}|<(?:USER|BOT)>", re.IGNORECASE)
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}|<BOT>", re.IGNORECASE)


def _entry(fields: Mapping[str, Any], number: int, unread_names: list[str], *, card_name: str) -> LoreEntry | None:
    text, title = _first(fields, _TEXT), _first(fields, _TITLE)
    label = title if isinstance(title, str) and title.strip() else f"#{number}"
    if not isinstance(text, str) or not text.strip():
        unread_names.append(f"entry {label!r} has no text and is left out")
        return None
    if len(text) > MAX_ENTRY_CHARACTERS:
        unread_names.append(f"entry {label!r} is longer than {MAX_ENTRY_CHARACTERS} characters and is left out")
        return None
    if card_name:
        text = _CHARACTER.sub(lambda _: card_name, text)
    if placeholders := sorted({match.group() for match in _PLACEHOLDER.finditer(text)}):
        unread_names.append(f"entry {label!r} holds {', '.join(placeholders)}; write the name in its place")
    keys = _texts(_first(fields, _KEYS))
    patterns = [key for key in keys if key.startswith("/") and key.rfind("/") > 0]
    if patterns:
        unread_names.append(
            f"entry {label!r}: patterns call nothing here, an export brings them back: {', '.join(patterns)}"
        )
    if _texts(_first(fields, _SECOND)) and fields.get("selective", True):
        unread_names.append(f"entry {label!r}: its secondary keys are not asked; each of its first keys calls it")
    if len(keys) > MAX_KEYS:
        unread_names.append(f"entry {label!r}: only the first {MAX_KEYS} keys are taken")
    extensions = fields.get("extensions")
    own = extensions.get(OWN) if isinstance(extensions, Mapping) else None
    start = own.get("from", "") if isinstance(own, Mapping) else ""
    entry = LoreEntry(
        text=text.strip(),
        title=label if label == title else "",
        keys=[key for key in keys if key not in patterns][:MAX_KEYS],
        patterns=patterns[:MAX_KEYS],
        pinned=_first(fields, _ALWAYS) is True,
        is_off=fields.get("disable") is True or fields.get("enabled") is False,
        start=start if isinstance(start, str) else "",
    )
    if not entry.keys and not entry.pinned:
        unread_names.append(f"entry {label!r} has no word for a key: only a search finds it; pin it or give it a key")
    return entry


def written_lorebook(entries: Iterable[LoreEntry], form: LorebookForm) -> dict[str, Any]:
    """Return entries as a document of SillyTavern or NovelAI."""
    if form == "novelai":
        told_entries = [
            {
                "text": lore_entry.text,
                "displayName": lore_entry.head(),
                "keys": [*lore_entry.keys, *lore_entry.patterns],
                "enabled": not lore_entry.is_off,
                "forceActivation": lore_entry.pinned,
                **_own(lore_entry),
            }
            for lore_entry in entries
        ]
        return {
            "lorebookVersion": 5,
            "entries": told_entries,
            "settings": {"orderByKeyLocations": False},
            "categories": [],
        }
    fixed = {"keysecondary": [], "selective": False, "order": 100, "position": 0, "probability": 100}
    fixed |= {"useProbability": False, "addMemo": True}
    entries_by_number = {
        str(number): {
            "uid": number,
            "key": [*lore_entry.keys, *lore_entry.patterns],
            "comment": lore_entry.head(),
            "content": lore_entry.text,
            "constant": lore_entry.pinned,
            "disable": lore_entry.is_off,
            "displayIndex": number,
            **fixed,
            **_own(lore_entry),
        }
        for number, lore_entry in enumerate(entries)
    }
    return {"entries": entries_by_number}


def _own(entry: LoreEntry) -> dict[str, Any]:
    return {"extensions": {OWN: {"from": entry.start}}} if entry.start else {}


def _first(entry: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((entry[name] for name in names if entry.get(name) is not None), None)


def _texts(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(clean for part in parts if isinstance(part, str) and (clean := " ".join(part.split()))))
