"""Project ids: required, plain, path-free strings."""

from __future__ import annotations

import re
import unicodedata

from novelgen.errors import InvalidProjectIdError

MAX_PROJECT_ID_LENGTH = 100
_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
)


def require_project_id(value: object) -> str:
    """Return a project id that is safe as a key and as a folder name, or refuse it before anything is read.

    Args:
        value: What a caller passed. Letters of every script, digits, spaces, `-`, `_` and inner dots are fine.

    Returns:
        The id, in Unicode NFC.

    Raises:
        InvalidProjectIdError: When it is not a string, empty, longer than 100 characters, like a path
            (`../x`, `/etc`, `C:`), a device name (`nul`), or holds control or wildcard characters.
    """
    if not isinstance(value, str):
        raise InvalidProjectIdError(
            f"project_id must be a plain string, not {type(value).__name__}: {value!r}"
        )
    name = unicodedata.normalize("NFC", value)
    problem = _problem_with(name)
    if problem:
        raise InvalidProjectIdError(f"project_id {value!r} {problem}; use a plain name such as 'my-novel'")
    return name


def _problem_with(name: str) -> str | None:
    if not name.strip():
        return "is empty"
    if name != name.strip():
        return "begins or ends with white space"
    if len(name) > MAX_PROJECT_ID_LENGTH or len(name.encode("utf-8", "surrogatepass")) > 240:
        return f"is longer than {MAX_PROJECT_ID_LENGTH} characters"
    if _FORBIDDEN.search(name) or any(
        unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in name
    ):
        return "holds a path separator or a character that file names cannot hold"
    if name.startswith(".") or name.endswith("."):
        return "begins or ends with a dot"
    if name.split(".")[0].lower() in _DEVICE_NAMES:
        return "is the name of a device on some systems"
    return None
