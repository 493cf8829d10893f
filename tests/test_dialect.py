"""Names and docstrings of the packages stay in the field's words.

The limits are measured over `novelgen/` and `runtime/`. Comparable libraries (httpx, langgraph, SQLAlchemy) have .0-.8
% bare participles, no loop variable called "each" and first sentences of 7-13 words.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTICIPLES = frozenset(
    """told asked given found said kept shown named wanted meant taken known held gone brought left missed standing
    waiting called heard chosen placed filled rendered begun opened joined received answered awaited understood
    learnt learned lived felt spoken unread unsaid untold unknown heeded unheeded proven drawn needed owed
    resolved settled waived looked voiced worded touched tied thrown typed claimed borrowed lent spread narrowed
    reached remembered recalled forgotten noticed quoted traced retold foretold stood saw spent done met got
    made seen listed ended folded numbered ranked planted planned counted attached merged replaced linked
    dated""".split()
)
MAX_PARTICIPLES = 0.008
MAX_RELATIVE_CLAUSES = 0.04
MAX_SEMICOLONS = 0.02
MAX_WORDS = 11.0
_RELATIVE = re.compile(r"\b(?:who|whom|whose|what)\b", re.IGNORECASE)


def _trees() -> Iterator[ast.Module]:
    for package in ("novelgen", "runtime"):
        for path in sorted((ROOT / package).rglob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


def _bound_names(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield the names of variables, parameters and functions, without dunders."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = node.name
            else:
                continue
            if not name.startswith("__"):
                yield name.strip("_").lower()


def _first_paragraphs(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield the first paragraph of each docstring on one line."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node)
                if docstring:
                    yield " ".join(re.split(r"\n\s*\n", docstring.strip())[0].split())


@pytest.fixture(scope="module")
def names() -> Counter[str]:
    return Counter(_bound_names(_trees()))


@pytest.fixture(scope="module")
def paragraphs() -> list[str]:
    return list(_first_paragraphs(_trees()))


@pytest.mark.slow
def test_names_are_nouns(names: Counter[str]) -> None:
    """At most .8 % of the names are bare participles, as in comparable libraries."""
    participles = Counter({name: count for name, count in names.items() if name in PARTICIPLES})
    assert participles.total() / names.total() <= MAX_PARTICIPLES, participles.most_common(20)


def test_loop_variables_name_their_elements(names: Counter[str]) -> None:
    """No variable is called "each"."""
    assert names["each"] == 0


@pytest.mark.slow
def test_docstrings_define_by_nouns(paragraphs: list[str]) -> None:
    """At most 4 % of the first paragraphs define by who, whom, whose or what."""
    clauses = [paragraph for paragraph in paragraphs if _RELATIVE.search(paragraph)]
    assert len(clauses) / len(paragraphs) <= MAX_RELATIVE_CLAUSES, clauses[:20]


def test_docstrings_are_single_sentences(paragraphs: list[str]) -> None:
    """At most 2 % of the first paragraphs have a semicolon."""
    semicolons = [paragraph for paragraph in paragraphs if ";" in paragraph]
    assert len(semicolons) / len(paragraphs) <= MAX_SEMICOLONS, semicolons[:20]


def test_docstrings_are_short(paragraphs: list[str]) -> None:
    """The first paragraph has 11 words in the mean."""
    assert sum(len(paragraph.split()) for paragraph in paragraphs) / len(paragraphs) <= MAX_WORDS
