"""The Chinese edition of a page says what the English one says, and Chinese pages link to Chinese ones."""

import posixpath
import re

import pytest

from tests.docs.pages import PAGES, blocks_of, text_of

WHOLE = ("docs/reference/http.md", "docs/reference/file-formats.md")
"""Pages of which the Chinese edition has each section, table, block and name."""

CHINESE = [page for page in PAGES if page.endswith(".zh.md")]
_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"`([\w.\-/{}\[\]]+)`", re.ASCII)
_KEY = re.compile(r'"(\w+)":', re.ASCII)
_LINK = re.compile(r"\]\(([^)\s]+\.md)\)")


def chinese_of(page: str) -> str:
    """Return the path of a page's Chinese edition."""
    return f"{page.removesuffix('.md')}.zh.md"


def rows_and_headings(page: str) -> list[str]:
    """Return the depth of each heading and the number of cells of each row of a table, in order."""
    lines = _BLOCK.sub("", text_of(page)).splitlines()
    return [
        line.split(" ")[0] if line.startswith("#") else f"{line.count(' | ')} cells"
        for line in lines
        if line.startswith(("#", "|"))
    ]


@pytest.mark.parametrize("page", WHOLE)
def test_both_editions_have_the_same_sections_and_tables(page: str) -> None:
    """Heading by heading and row by row."""
    assert rows_and_headings(chinese_of(page)) == rows_and_headings(page)


@pytest.mark.parametrize("page", WHOLE)
def test_both_editions_name_the_same_things(page: str) -> None:
    """Routes, fields, files and errors: each word of code that both languages write alike."""
    english, chinese = (set(_NAME.findall(_BLOCK.sub("", text_of(each)))) for each in (page, chinese_of(page)))
    assert chinese ^ english == set()


@pytest.mark.parametrize("page", WHOLE)
def test_both_editions_have_the_same_blocks(page: str) -> None:
    """In the same languages and with the same keys; the story in them is Chinese there."""
    english, chinese = (
        [(block.language, block.file is None, _KEY.findall(block.text)) for block in blocks_of(each)]
        for each in (page, chinese_of(page))
    )
    assert chinese == english


@pytest.mark.parametrize("page", CHINESE)
def test_a_chinese_page_links_to_chinese_pages(page: str) -> None:
    """A link to a whole page leads to its Chinese edition, where it has one, save from one edition to the other."""
    linked = {
        posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in _LINK.findall(text_of(page))
    }
    assert sorted(link for link in linked if chinese_of(link) in PAGES and chinese_of(link) != page) == []
