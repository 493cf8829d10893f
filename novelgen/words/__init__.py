"""All displayed words as TOML files per subject and language.

`words("threads", "zh")` gives the table of `threads.zh.toml`. A key of a nested table is written `table.key`. Text with
`{places}` is filled in by `text`; lists and numbers are returned as they are by `[...]`. `{count:scene|scenes}` is a
number with its noun.
"""

import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

LANGUAGES = ("en", "zh")
_HAN = r"[\u3400-\u9fff“”《》]"
_LOOSE = re.compile(rf"({_HAN})(?:\0 \0?| \0)(?={_HAN})")

_COMMAND = re.compile(r"(`[^`]*`|novelgen [^；。，]*)")


class _Counting(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        one, stands_between, many = format_spec.partition("|")
        if stands_between:
            return f"{value} {one if str(value) == '1' else many}"
        return str(super().format_field(value, format_spec))


class _Filling(_Counting):
    def format_field(self, value: Any, format_spec: str) -> str:
        return f"\0{super().format_field(value, format_spec)}\0"


class _Counted(str):
    """A text with a `{0:scene|scenes}`: the number, and the word that fits it."""

    __slots__ = ()

    def format(self, *values: object, **fields: object) -> str:
        return _Counting().vformat(self, values, fields)


def filled(template: str, *values: object, **fields: object) -> str:
    """Return a filled template, without spaces between Chinese parts outside of commands."""
    parts = _COMMAND.split(_Filling().vformat(template, values, fields))
    parts[::2] = [_LOOSE.sub(r"\1", part) for part in parts[::2]]
    return "".join(parts).replace("\0", "")


class Words(Mapping[str, Any]):
    """The words of one subject and language by key.

    A missing key raises KeyError.
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def text(self, key: str, **values: object) -> str:
        """Return a text with its places filled in."""
        template: str = self._entries[key]
        return filled(template, **values) if values else template

    def table(self, prefix: str) -> dict[str, Any]:
        """Return a nested table by its keys."""
        start = f"{prefix}."
        return {key.removeprefix(start): value for key, value in self._entries.items() if key.startswith(start)}


def entries(name: str) -> dict[str, Any]:
    """Return a catalogue as in its file, some keyed by English sentences."""
    file = resources.files(__name__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def words(subject: str, language: str, table: str = "") -> Words:
    """Return the words of a subject, in English for any language but Chinese."""
    if table:
        return Words(words(subject, language).table(table))
    return Words(dict(_flat(entries(f"{subject}.{'zh' if language == 'zh' else 'en'}"), "")))


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, _Counted(value) if isinstance(value, str) and "|" in value else value
