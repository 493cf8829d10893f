"""Commands that are shown: what stands in them is written as a shell reads it."""

import re
import shlex
from collections.abc import Iterable
from functools import partial

_COMMAND = r"(novelgen(?: [a-z][a-z-]*)+ )"
_SPECIAL_IN_QUOTES = re.compile(r'["$`\\\\!]')

_arguments: set[str] = set()


def in_shell(value: str) -> str:
    """Return a value as a shell reads it back: in double quotes where that will do."""
    return shlex.quote(value) if _SPECIAL_IN_QUOTES.search(value) else f'"{value}"'


def note_arguments(arguments: Iterable[str]) -> None:
    """Note the arguments of this run, such as the id of its project, of which a shell would read more than a word."""
    _arguments.clear()
    _arguments.update(filter(_is_special, arguments))


def with_quoted_arguments(text: str) -> str:
    """Quote the arguments of this run where the commands of a text begin with them."""
    for argument in _arguments:
        text = re.sub(_COMMAND + re.escape(argument), partial(_quote_argument, argument), text)
    return text


def _quote_argument(argument: str, command: re.Match[str]) -> str:
    return command[1] + shlex.quote(argument)


def _is_special(argument: str) -> bool:
    # `shlex` quotes letters of other scripts, too, which no shell needs.
    plain = "".join("a" if character.isalnum() else character for character in argument)
    return shlex.quote(plain) != plain
