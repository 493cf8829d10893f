"""Lorebooks of SillyTavern and NovelAI: entries that are read at a word, always, or never; and the keys of a note."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder

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
_READ = {*_TEXT, *_KEYS, *_SECOND, *_TITLE, *_ALWAYS, *_HERE}


class LoreEntry(BaseModel):
    """An entry of a lorebook."""

    text: str
    title: str = ""
    keys: list[str] = Field(default_factory=list)
    always: bool = False
    is_off: bool = False
    start: str = Field(default="", description="It is read from this position on, as 3:1; empty: everywhere.")


class Lorebook(BaseModel):
    """The entries of a lorebook, and what could not be read of them."""

    entries: list[LoreEntry] = Field(default_factory=list)
    unread: list[str] = Field(default_factory=list, description="One sentence each.")


def read_lorebook(document: Any) -> Lorebook:
    """Read a world info of SillyTavern, a character's book, or a lorebook of NovelAI.

    Raises:
        UserInputError: When it is none of them, or has too many entries.
    """
    told = document.get("entries") if isinstance(document, Mapping) else None
    if isinstance(told, Mapping):
        told = list(told.values())
    if not isinstance(told, list) or not all(isinstance(each, Mapping) for each in told):
        raise UserInputError("this is no lorebook: a world info of SillyTavern or a lorebook of NovelAI has 'entries'")
    if len(told) > MAX_ENTRIES:
        raise UserInputError(f"the lorebook has {len(told)} entries; the limit is {MAX_ENTRIES}, split it")
    book = Lorebook()
    dropped: set[str] = set()
    for number, entry in enumerate(told, start=1):
        found = _entry(entry, number, book.unread)
        if found is not None:
            book.entries.append(found)
            dropped |= {name for name, value in entry.items() if name not in _READ and value not in _NOTHING}
    if dropped:
        book.unread.append(f"not kept of the entries: {', '.join(sorted(dropped))}")
    return book


_NOTHING: tuple[object, ...] = (None, "", 0, False, [], {})


def _entry(entry: Mapping[str, Any], number: int, unread: list[str]) -> LoreEntry | None:
    text, title = _first(entry, _TEXT), _first(entry, _TITLE)
    called = title if isinstance(title, str) and title.strip() else f"#{number}"
    if not isinstance(text, str) or not text.strip():
        unread.append(f"entry {called!r} has no text and is left out")
        return None
    if len(text) > MAX_ENTRY_CHARACTERS:
        unread.append(f"entry {called!r} is longer than {MAX_ENTRY_CHARACTERS} characters and is left out")
        return None
    keys = _texts(_first(entry, _KEYS))
    patterns = [each for each in keys if each.startswith("/") and each.rfind("/") > 0]
    if patterns:
        unread.append(f"entry {called!r}: patterns are no keys and were left out: {', '.join(patterns)}")
    if _texts(_first(entry, _SECOND)) and entry.get("selective", True):
        unread.append(f"entry {called!r}: its secondary keys are not asked; each of its first keys calls it")
    if len(keys) > MAX_KEYS:
        unread.append(f"entry {called!r}: only the first {MAX_KEYS} keys are taken")
    own = entry.get("extensions")
    said = own.get(OWN) if isinstance(own, Mapping) else None
    start = said.get("from", "") if isinstance(said, Mapping) else ""
    return LoreEntry(
        text=text.strip(),
        title=called if called == title else "",
        keys=[each for each in keys if each not in patterns][:MAX_KEYS],
        always=_first(entry, _ALWAYS) is True,
        is_off=entry.get("disable") is True or entry.get("enabled") is False,
        start=start if isinstance(start, str) else "",
    )


def written_lorebook(entries: Iterable[LoreEntry], form: LorebookForm) -> dict[str, Any]:
    """Return entries as a document of SillyTavern or NovelAI."""
    if form == "novelai":
        told = [
            {
                "text": each.text,
                "displayName": each.title or _head(each),
                "keys": each.keys,
                "enabled": not each.is_off,
                "forceActivation": each.always,
                **_own(each),
            }
            for each in entries
        ]
        return {"lorebookVersion": 5, "entries": told, "settings": {"orderByKeyLocations": False}, "categories": []}
    fixed = {"keysecondary": [], "selective": False, "order": 100, "position": 0, "probability": 100}
    fixed |= {"useProbability": False, "addMemo": True}
    numbered = {
        str(number): {
            "uid": number,
            "key": each.keys,
            "comment": each.title or _head(each),
            "content": each.text,
            "constant": each.always,
            "disable": each.is_off,
            "displayIndex": number,
            **fixed,
            **_own(each),
        }
        for number, each in enumerate(entries)
    }
    return {"entries": numbered}


def _own(entry: LoreEntry) -> dict[str, Any]:
    return {"extensions": {OWN: {"from": entry.start}}} if entry.start else {}


def _head(entry: LoreEntry) -> str:
    return entry.keys[0] if entry.keys else entry.text[:20]


def _first(entry: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((entry[each] for each in names if entry.get(each) is not None), None)


def _texts(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(clean for each in parts if isinstance(each, str) and (clean := " ".join(each.split()))))


KEY_TAG = "key:"
_WORD = re.compile(r"[^\W_]+")


def keys_of(tags: Iterable[str]) -> list[str]:
    """Return the keys among tags."""
    return [each.removeprefix(KEY_TAG) for each in tags if each.startswith(KEY_TAG)]


def with_keys(tags: Iterable[str], keys: Iterable[str]) -> list[str]:
    """Return tags with keys among them, without repeats."""
    return list(dict.fromkeys([*tags, *(KEY_TAG + clean for each in keys if (clean := " ".join(each.split())))]))


def is_called(tags: Sequence[str], text: str) -> bool:
    """Tell whether one of the keys stands in a text: Chinese anywhere, other words whole, in any case."""
    keys = keys_of(tags)
    if any(each in text for each in keys if has_cjk(each)):
        return True
    folded = text.casefold()
    # Of thousands of keys nearly none begins with a word of the text, and a finder for each would take its time.
    latin = [each.casefold() for each in keys if not has_cjk(each)]
    near = [each for each in latin if (word := _WORD.search(each)) and word.group() in folded]
    return bool(near and NameFinder(near).find(folded))
