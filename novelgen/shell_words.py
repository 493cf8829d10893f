"""Values in the commands that messages name, as a shell reads them back."""

import re
import shlex

_SPECIAL_IN_QUOTES = re.compile(r'["$`\\\\!]')


def in_shell(value: str) -> str:
    """Return a value as a shell reads it back: in double quotes where that will do."""
    return shlex.quote(value) if _SPECIAL_IN_QUOTES.search(value) else f'"{value}"'
