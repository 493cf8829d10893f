"""The text of a Word document, its headings as Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from zipfile import BadZipFile

from novelgen.errors import ConfigurationError, InvalidFileError
from runtime.projects.file_reading import MAX_FILE_BYTES

_HEADING_STYLE = re.compile(r"^(?:Heading|标题)\s*(?P<level>[1-6])$")


def docx_text(file: Path) -> str:
    """Return the paragraphs of a .docx file, headings marked by `#` as in Markdown.

    Raises:
        ConfigurationError: When python-docx is not installed.
        InvalidFileError: When the file cannot be read, is too large, or is no Word document.
    """
    try:
        import docx  # noqa: PLC0415 - an extra
        from docx.opc.exceptions import PackageNotFoundError  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigurationError(
            f"reading {str(file)!r} needs python-docx; install it: pip install 'novelgen[docx]'"
        ) from error
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise InvalidFileError(f"{str(file)!r} is larger than {MAX_FILE_BYTES} bytes; split the file")
        document = docx.Document(str(file))
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError, OSError) as error:
        raise InvalidFileError(f"cannot read {str(file)!r} as a Word document: {error}") from error
    return "\n\n".join(
        _line(each.text, each.style.name if each.style else "") for each in document.paragraphs
    )


def _line(text: str, style: str) -> str:
    match = _HEADING_STYLE.match(style)
    title = style == "Title"
    if not (match or title) or not text.strip():
        return text
    return f"{'#' * int(match['level']) if match else '#'} {' '.join(text.split())}"
