"""Translation of messages into the reader's language.

Errors, issues, warnings and lines about the work are raised and written in English, as programs expect them. Where
people read them, `message_in` finds the English template of a message among those of `messages.zh.toml`, and says the
Chinese sentence with the same values; what stands in a place may be a message, too. What stands in quotes, a name or
the words of somebody else, is never changed: only the quotes around it are. A command between backticks stays as it is.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

from novelgen.words import entries, filled

_PLACE = re.compile(r"\{(\d+)\}")
_LITERAL = re.compile(r"(?<![\w'\"])(?:'((?:[^'\\]|\\.)*)'(?=$|[^\w'])|\"((?:[^\"\\]|\\.)*)\"(?=$|[^\w\"]))", re.DOTALL)
"""What Python writes in quotes: `'…'`, and `"…"` around what holds an apostrophe."""

_COMMAND = re.compile(r"`[^`]*`")
_HIDDEN = 0xF0000
"""Where a quoted character stands in Unicode's private plane, in which no sentence of ours has one."""

_HIDDEN_PLANE = re.compile("[\U000f0000-\U000fffff]+")
_PLACE_IN_QUOTES = re.compile(r"(\{\d+\})")
_QUOTE_PATTERN = re.compile("'([\U000f0000-\U000fffff\U00010000-\U000effff]*)'")
_LIST_PATTERN = re.compile(f"({_QUOTE_PATTERN.pattern})(?:, | or | and )(?=')")
_PROSE = re.compile(r"[a-z]{2,} [a-z]{2,}")
_MAY_PART = re.compile(r"(?=[;,(.]| \()")
_ONE = re.compile(
    r"(?<![\w.,:/'\"-])(1 (?:more |stale )?)(call|change|chapter|character|check|context|entit|entr|fact|file|finding"
    r"|memor|record|scene|text|time|vector)(ie)?s\b(?: (have|wait)\b)?"
)
_SINGULAR = {"have": " has", "wait": " waits"}
_LONGEST = 4000
"""Longer text is no message of ours."""


class _Template(NamedTuple):
    """An English sentence cut at its places, and its Chinese words."""

    parts: tuple[str, ...]
    chinese: str
    in_commands: frozenset[int]
    """Numbers of the places that stand in a command, which is copied as it is."""

    @property
    def only_joins(self) -> bool:
        """Whether it only joins other messages, which must then be translated."""
        return not any(map(str.isalpha, "".join(self.parts)))

    def values(self, message: str) -> list[str] | None:
        """Return the placeholders' values in a message, or None for another template."""
        first, *others = self.parts
        if not others:
            return [] if message == first else None
        last = others.pop()
        if len(message) < len(first) + len(last) or not (message.startswith(first) and message.endswith(last)):
            return None
        rest = message[len(first) : len(message) - len(last)]
        matches = []
        for part, following in zip(others, [*others[1:], ""], strict=False):
            at = _end_of_place(rest, part) if part else _parting(rest, until=following)
            if at < 0:
                return None
            matches.append(rest[:at])
            rest = rest[at + len(part) :]
        return [*matches, rest]

    def filled(self, values: Sequence[str]) -> str:
        """Return the Chinese sentence with these values."""
        return filled(self.chinese, "", *values)


def message_in(message: str, language: str) -> str:
    """Return a message in a language, unchanged without a template."""
    if language != "zh":
        return _ONE.sub(lambda one: one[1] + one[2] + ("y" if one[3] else "") + _SINGULAR.get(one[4], ""), message)
    # By the templates that leave the least of it unsaid.
    said_count, chinese = _best(_with_hidden_quotes(message))
    return _show_quotes(chinese) if said_count else message


def _with_hidden_quotes(text: str) -> str:
    """Return a text with hidden quotations, so that templates match own words only."""
    text = _COMMAND.sub(lambda command: _LITERAL.sub(lambda literal: _hidden(literal[0]), command[0]), text)
    return _LITERAL.sub(lambda literal: f"'{_hidden(literal[1] if literal[1] is not None else literal[2])}'", text)


def _hidden(text: str) -> str:
    pieces = _PLACE_IN_QUOTES.split(text)
    pieces[::2] = [
        "".join(chr(_HIDDEN + ord(text)) if ord(text) < 0x10000 else text for text in piece) for piece in pieces[::2]
    ]
    return "".join(pieces)


def _show_quotes(text: str) -> str:
    return _HIDDEN_PLANE.sub(lambda match: "".join(chr(ord(text) - _HIDDEN) for text in match[0]), text)


@lru_cache(maxsize=512)
def _best(message: str) -> tuple[int, str]:
    """Return how many characters templates say of a message, and the message in Chinese."""
    best = 0, _QUOTE_PATTERN.sub(r"“\1”", _LIST_PATTERN.sub(r"\1、", message))
    if len(message) > _LONGEST:
        return best
    for template in _templates():
        values = template.values(message)
        # A place that takes the whole message would say it of itself for ever.
        if values is None or message in values:
            continue
        lines = [(0, value) if number in template.in_commands else _best(value) for number, value in enumerate(values)]
        if template.only_joins and any(
            not part and _PROSE.search(_QUOTE_PATTERN.sub("", chinese)) for part, chinese in lines
        ):
            continue
        said_count = sum(map(len, template.parts)) + sum(number for number, _ in lines)
        if said_count > best[0]:
            best = said_count, template.filled([chinese for _, chinese in lines])
    return best


def _end_of_place(text: str, part: str) -> int:
    """Return the end of a placeholder before the next part."""
    first = text.find(part)
    if first < 0 or any(map(str.isalpha, part)):
        return first
    ends = (match.start() for match in re.finditer(re.escape(part), text))
    return next((end for end in ends if text[:end] in _plain_sentences()), first)


def _parting(text: str, *, until: str) -> int:
    """Return the end of the first of two adjacent placeholders."""
    both = text[: text.find(until)] if until and until in text else text
    for match in _MAY_PART.finditer(both):
        tail = both[match.start() :]
        if match.start() and any(template.values(tail) is not None for template in _templates() if template.parts[0]):
            return match.start()
    return len(both)


@cache
def _plain_sentences() -> frozenset[str]:
    return frozenset(template.parts[0] for template in _templates() if len(template.parts) == 1)


@cache
def _templates() -> tuple[_Template, ...]:
    """Return all templates, the longest first: the more a sentence says itself, the surer it is meant."""
    tables = entries("messages.zh")
    templates = (
        _template(tuple(_cut(_with_hidden_quotes(english))), chinese)
        for table in tables.values()
        for english, chinese in table.items()
    )
    return tuple(sorted(templates, key=lambda template: -sum(map(len, template.parts))))


def _template(parts: tuple[str, ...], chinese: str) -> _Template:
    backtick_counts = accumulate(part.count("`") for part in parts[:-1])
    return _Template(parts, chinese, frozenset(number for number, count in enumerate(backtick_counts) if count % 2))


def _cut(english: str) -> Iterator[str]:
    texts = _PLACE.split(english)[::2]
    return map(_unescaped, texts)


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
