"""The index of words: the terms of a text, and where they are written."""

import re
import unicodedata
from collections.abc import Sequence

from sqlalchemy import TextClause, text

from novelgen.language.language import CJK_RANGES, is_cjk
from runtime.storage.session import StorageSession

LONGEST_CHINESE_TERM = 4

_TOKEN = re.compile(rf"[{CJK_RANGES}]|[^\W_{CJK_RANGES}]+")

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")

_STOP_WORDS = frozenset(
    "a about after all an and any are as at be been before but by can could did do does for from had has have"
    " he her him his how i if in into is it its me my no not of off on or our out over s she so some such t than"
    " that the their them then there these they this those to under up us was we were what when where which who"
    " why will with would you your 的 了 着 过 吗 呢 吧 啊 和 与 及 在 是 有 我 你 他 她 它".split()
)


def index_tokens(text: str) -> list[str]:
    """Return the tokens of a stored text in order: folded words, and single Chinese characters.

    A Chinese word of any length is then a phrase of neighbouring tokens, so that no segmentation has to
    guess and words of one or two characters are found.
    """
    return _TOKEN.findall(_fold(text))


def lexical_terms(text: str) -> list[str]:
    """Return the terms to search for a query text."""
    terms: dict[str, None] = {}
    for run in _RUN.findall(_fold(text)):
        for term in _chinese_terms(run) if is_cjk(run[0]) else [run]:
            if term not in _STOP_WORDS:
                terms[term] = None
    return list(terms)


def term_tokens(term: str) -> list[str]:
    """Return the token sequence of a term."""
    return list(term) if term and is_cjk(term[0]) else [term]


def _fold(text: str) -> str:
    folded_text = unicodedata.normalize("NFKC", text).casefold()
    if not folded_text.isascii():
        decomposed = unicodedata.normalize("NFD", folded_text)
        folded_text = "".join(mark for mark in decomposed if unicodedata.category(mark) != "Mn")
    return _POSSESSIVE.sub("", folded_text)


def _chinese_terms(run: str) -> list[str]:
    pairs = [run[start : start + 2] for start in range(len(run) - 1)]
    return [run, *pairs] if len(run) <= LONGEST_CHINESE_TERM else pairs


_SQLITE_ADD = text("INSERT INTO memory_terms(rowid, scope, terms) VALUES (:row_id, :scope, :terms)")

# SQLite 3.40 has no contentless_delete: a row leaves a contentless table by the values that it came with.
_SQLITE_REMOVE = text(
    "INSERT INTO memory_terms(memory_terms, rowid, scope, terms) VALUES ('delete', :row_id, :scope, :terms)"
)

_POSTGRES_ADD = text(
    "INSERT INTO memory_terms(chunk_row_id, terms)"
    " VALUES (:row_id, array_to_tsvector(ARRAY[CAST(:scope AS text)]) || to_tsvector('simple', :terms))"
)

_POSTGRES_REMOVE = text("DELETE FROM memory_terms WHERE chunk_row_id = :row_id")


class LexicalIndex:
    """Adds and removes chunks of one project."""

    def __init__(self, session: StorageSession, project_number: int) -> None:
        self._session = session
        self._scope = scope_token(project_number)

    def add(self, rows: Sequence[tuple[int, str]]) -> None:
        """Index texts by new row ids."""
        self._run(_SQLITE_ADD if self._session.is_sqlite else _POSTGRES_ADD, rows)

    def remove(self, rows: Sequence[tuple[int, str]]) -> None:
        """Take out texts, given as (row_id, text as it was added)."""
        self._run(_SQLITE_REMOVE if self._session.is_sqlite else _POSTGRES_REMOVE, rows)

    def _run(self, statement: TextClause, rows: Sequence[tuple[int, str]]) -> None:
        parameters = [
            {"row_id": row_id, "scope": self._scope, "terms": " ".join(index_tokens(body))} for row_id, body in rows
        ]
        if parameters:
            self._session.run_many(statement, parameters)


def scope_token(project_number: int) -> str:
    """Return the word that marks a project's rows inside the index.

    It is in capitals, which no folded word of a text or query is.
    """
    return f"SCOPE{project_number}X"


def searchable_text(content: str, short: str | None) -> str:
    """Return the text of a chunk that can be found by words."""
    return f"{content}\n{short}" if short else content
