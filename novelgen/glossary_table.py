"""Glossaries of translators' tools as tables with a term, translation and note in each row.

Read are the tables of LinguaGacha, AiNiee, SakuraLLM, GalTransl and OmegaT, and what a spreadsheet saves.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.models.entity import EntityType

GlossaryForm = Literal["csv", "tsv", "json", "text"]
MAX_TERMS = 20_000
MAX_TERM_CHARACTERS = 400
MAX_INFO_CHARACTERS = 4_000

_COLUMNS: Mapping[str, Sequence[str]] = {
    "src": ("src", "source", "term", "original", "org", "searchstr", "原文", "原名", "术语"),
    "dst": ("dst", "target", "translation", "rep", "replacestr", "译文", "译名", "翻译"),
    "info": ("info", "note", "notes", "comment", "description", "备注", "注释", "说明", "描述"),
    "type": ("type", "kind", "类型", "种类"),
    "of": ("of", "card", "卡片"),
    "speaker": ("speaker", "说话人"),
}
"""Fields of a row to what tools call them."""

_FIELD_OF = {name: field for field, names in _COLUMNS.items() for name in names}
_ARROW = re.compile(r"^(?P<src>[^\n]+?)\s*(?:->|→|=>)\s*(?P<dst>[^\n]*?)(?:\s*[#＃]\s*(?P<info>.*))?$")
_COMMENTS = ("//", "#")


class GlossaryTerm(BaseModel):
    """A row of a glossary."""

    src: str = Field(description="The term as the story writes it.")
    dst: str = Field(description="Its translation.")
    info: str = Field(default="", description="What translators note of it.")
    type: EntityType | None = Field(default=None, description="character, location, item, faction or term.")
    of: str = Field(default="", description="Name of the card of which the term is an alias; empty: it is the name.")
    speaker: str = Field(default="", description="Who uses an alias.")


class GlossaryTable(BaseModel):
    """The rows of a glossary, and what could not be read of it."""

    terms: list[GlossaryTerm] = Field(default_factory=list, description="Each term once; of several the last.")
    unread: list[str] = Field(default_factory=list, description="One sentence each.")


def read_glossary(text: str, form: GlossaryForm | None = None) -> GlossaryTable:
    """Read a glossary.

    Args:
        text: The whole file: CSV or TSV with or without a row of headings, a JSON list of `{src, dst, info}` or
            object of terms, or lines `src->dst #info`.
        form: csv, tsv, json or text; None tells it from the text.

    Raises:
        UserInputError: When it is no glossary, or has too many rows.
    """
    text = text.removeprefix("\ufeff")
    form = form or form_of(text)
    rows = _READERS[form](text)
    if len(rows) > MAX_TERMS:
        raise UserInputError(f"the glossary has {len(rows)} rows; the limit is {MAX_TERMS}, split it")
    table = GlossaryTable()
    terms: dict[tuple[str, str], GlossaryTerm] = {}
    for number, row in enumerate(rows, start=1):
        term = _term(row, number, table.unread)
        if term is None:
            continue
        key = (term.src, term.of)
        if key in terms and terms[key].dst != term.dst:
            table.unread.append(
                f"{term.src!r} is translated twice, as {terms[key].dst!r} and {term.dst!r}: the last counts"
            )
        terms[key] = term
    table.terms = list(terms.values())
    if not table.terms:
        raise UserInputError(
            "this is no glossary: each row needs a term and its translation, as CSV, TSV, a JSON list of "
            "objects with src, dst and info, or lines src->dst #info"
        )
    return table


def form_of(text: str) -> GlossaryForm:
    """Tell in which form a glossary is written."""
    if text.lstrip()[:1] in ("[", "{"):
        return "json"
    lines = _lines(text)
    if sum("\t" in line for line in lines) * 2 > len(lines):
        return "tsv"
    return "text" if sum(_ARROW.match(line) is not None for line in lines) * 2 > len(lines) else "csv"


def is_glossary(text: str) -> bool:
    """Tell whether nearly all lines of a text are a short term and another."""
    lines = _lines(text)
    entries = [line for line in lines if _is_entry(line)]
    return len(entries) >= 2 and len(entries) >= 0.9 * len(lines)


_LONGEST_ENTRY = 40
"""Characters of a term in a file that nobody has called a glossary."""


def _is_entry(line: str) -> bool:
    arrow = _ARROW.match(line)
    cells = [arrow["src"], arrow["dst"]] if arrow else [text.strip() for text in line.split("\t")]
    return 2 <= len(cells) <= 6 and bool(cells[1]) and 0 < len(cells[0]) <= _LONGEST_ENTRY


def _lines(text: str) -> list[str]:
    lines = (line.strip("\r\n ") for line in text.splitlines())
    return [line for line in lines if line.strip() and not line.lstrip().startswith(_COMMENTS)]


def _read_csv(text: str) -> list[dict[str, Any]]:
    return _table(list(csv.reader(io.StringIO(text))))


def _read_tsv(text: str) -> list[dict[str, Any]]:
    return _table([line.split("\t") for line in _lines(text)])


def _table(rows: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    filled_rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not filled_rows:
        return []
    headings = [_FIELD_OF.get(cell.strip().casefold(), "") for cell in filled_rows[0]]
    has_headings = {"src", "dst"} <= set(headings)
    fields = headings if has_headings else list(_COLUMNS)
    return [_row(zip(fields, row, strict=False)) for row in filled_rows[has_headings:]]


def _read_json(text: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UserInputError(f"the glossary is no JSON: {error}") from error
    if isinstance(document, Mapping):
        # A plain dictionary of terms to translations, or to what is said of them.
        document = [
            {"src": src, **(statement if isinstance(statement, Mapping) else {"dst": statement})}
            for src, statement in document.items()
        ]
    if not isinstance(document, list):
        raise UserInputError("a glossary in JSON is a list of objects with src, dst and info")
    return [
        _row((_FIELD_OF.get(str(name).casefold(), ""), value) for name, value in row.items())
        for row in document
        if isinstance(row, Mapping)
    ]


def _read_lines(text: str) -> list[dict[str, Any]]:
    matches = (_ARROW.match(line) for line in _lines(text))
    return [_row(match.groupdict().items()) for match in matches if match is not None]


def _row(cells: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for field, value in cells:
        if field and value not in (None, ""):
            row.setdefault(field, value)
    return row


_READERS = {"csv": _read_csv, "tsv": _read_tsv, "json": _read_json, "text": _read_lines}


def _term(row: Mapping[str, Any], number: int, unread_words: list[str]) -> GlossaryTerm | None:
    statements = {field: value.strip() for field, value in row.items() if isinstance(value, str) and value.strip()}
    src, dst = statements.get("src", ""), statements.get("dst", "")
    text = ", ".join(map(str, row.values()))[:100]
    if not src:
        unread_words.append(f"row {number} has no term: {text!r}")
        return None
    if not dst:
        unread_words.append(f"row {number} has no translation: {text!r}")
        return None
    if max(len(src), len(dst)) > MAX_TERM_CHARACTERS or len(statements.get("info", "")) > MAX_INFO_CHARACTERS:
        unread_words.append(f"row {number} is too long: {src[:60]!r}")
        return None
    kind = statements.pop("type", "").casefold()
    return GlossaryTerm.model_validate({**statements, "type": kind if kind in get_args(EntityType) else None})


def written_glossary(terms: Sequence[GlossaryTerm], form: GlossaryForm) -> str:
    """Return a glossary as text.

    CSV and JSON hold whole rows, and an import brings them back; TSV and lines `src->dst #info` hold what other tools
    read.
    """
    if form == "json":
        rows = [
            {"src": glossary_term.src, "dst": glossary_term.dst, "info": glossary_term.info, **_beside(glossary_term)}
            for glossary_term in terms
        ]
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    if form == "text":
        return "".join(
            f"{entry.src}->{entry.dst}{f' #{_one_line(entry.info)}' if entry.info else ''}\n" for entry in terms
        )
    if form == "tsv":
        return "".join(
            "\t".join(map(_one_line, (glossary_term.src, glossary_term.dst, glossary_term.info))).rstrip("\t") + "\n"
            for glossary_term in terms
        )
    file = io.StringIO()
    writer = csv.DictWriter(file, list(_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: value or "" for name, value in glossary_term.model_dump().items()} for glossary_term in terms
    )
    return file.getvalue()


def _beside(term: GlossaryTerm) -> dict[str, str]:
    return {name: value for name, value in (("type", term.type), ("of", term.of), ("speaker", term.speaker)) if value}


def _one_line(text: str) -> str:
    return " ".join(text.split())
