"""Pages, help and labels use the words of the glossary."""

import json
import re
import tomllib

import pytest

from tests.docs.pages import PAGES, ROOT, text_of

REJECTED = re.compile(r"(?i)(?<![-_\w])(open[ -]loops?|chunks?|retrieval arms?)(?![-_\w])|未了之事|分块|常驻")
"""Words that the glossary rejects, of those that mean nothing else."""

GLOSSARY = "docs/glossary.md"
SITE = [page for page in PAGES if not page.startswith("docs/research/") and page != GLOSSARY]
LABELS = ("runtime/page/words.en.toml", "runtime/page/words.zh.toml", "novelgen/words/commands.zh.toml")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def rejected_words(text: str) -> list[str]:
    """Return the rejected words of a text, code left out."""
    return [match.group() for match in REJECTED.finditer(_CODE.sub("", text))]


def texts_of(data: object) -> list[str]:
    """Return every value of nested data that is a text, names of arguments such as `CHUNK` left out."""
    if isinstance(data, str):
        return [] if data.isupper() else [data]
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else []
    return [text for value in values for text in texts_of(value)]


@pytest.mark.parametrize("page", SITE)
def test_a_page_uses_the_words_of_the_glossary(page: str) -> None:
    """Outside of code no page calls a thing by a word that the glossary rejects."""
    assert rejected_words(text_of(page)) == []


@pytest.mark.parametrize("file", LABELS)
def test_labels_use_the_words_of_the_glossary(file: str) -> None:
    """Labels of the page and of the command line."""
    values = texts_of(tomllib.loads((ROOT / file).read_text(encoding="utf-8")))
    assert [(value, rejected_words(value)) for value in values if rejected_words(value)] == []


def test_help_uses_the_words_of_the_glossary() -> None:
    """The help of every command, in both languages."""
    manifest = json.loads((ROOT / "runtime/doors/cli/manifest.json").read_text(encoding="utf-8"))
    chinese = tomllib.loads((ROOT / "novelgen/words/help.zh.toml").read_text(encoding="utf-8"))
    values = [*texts_of(manifest), *texts_of(chinese)]
    assert len(values) > 500
    assert [(value, rejected_words(value)) for value in values if rejected_words(value)] == []


def test_the_glossary_names_each_rejected_word() -> None:
    """What the test rejects stands in the table of words that are not used."""
    table = text_of(GLOSSARY).partition("## Words that novelgen does not use")[2]
    for word in ("chunk", "open loop", "arm", "未了之事", "分块", "常驻"):
        assert word in table
