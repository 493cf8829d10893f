"""Commands that are shown: what stands in them is written as a shell reads it."""

import re
import shlex
from collections.abc import Iterable

_COMMAND = r"(novelgen(?: [a-z][a-z-]*)+ )"

_arguments: set[str] = set()


def note_arguments(arguments: Iterable[str]) -> None:
    """Remember the arguments of this run."""
    _arguments.clear()
    _arguments.update(argument for argument in arguments if argument and _is_special(argument))


def with_quoted_arguments(text: str) -> str:
    """Quote the arguments of this run where the commands of a text begin with them."""
    if not _arguments:
        return text
    listed = "|".join(map(re.escape, sorted(_arguments, key=len, reverse=True)))
    return re.sub(rf"{_COMMAND}({listed})(?!\w)", lambda match: match[1] + shlex.quote(match[2]), text)


def _is_special(argument: str) -> bool:
    # `shlex` quotes letters of other scripts, too, which no shell needs.
    plain = "".join("a" if character.isalnum() else character for character in argument)
    return shlex.quote(plain) != plain
