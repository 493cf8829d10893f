"""A story on its way in, in a real browser: from the drop of files to the first context."""

from pathlib import Path

import docx
import pytest
from playwright.sync_api import Browser, expect

from runtime.page.frame import CATALOGUES
from tests.support.browser import open_server, window_of

pytestmark = pytest.mark.slow

PATIENCE_MS = 60_000

CHINESE_STORY = [
    ("第一章 雪夜", "雪下了一夜。沈青提着灯上山，路上一个人也没有遇见。"),
    ("第二章 破庙", "破庙里坐着一个老人，名叫陆鸣。他说灯不能灭。"),
]


def _write_docx(file: Path) -> None:
    document = docx.Document()
    for title, text in CHINESE_STORY:
        document.add_heading(title, level=1)
        document.add_paragraph(text)
    document.save(str(file))


def test_a_story_comes_in_from_the_drop_to_its_context(browser: Browser, tmp_path: Path) -> None:
    """A dropped book is shown as it would be cut, taken in while one watches, read, and gives its first context."""
    words = CATALOGUES["zh"]
    book = tmp_path / "book.docx"
    _write_docx(book)
    folder = tmp_path / "projects"
    folder.mkdir()
    with open_server(folder) as server, window_of(browser, server, locale="zh-CN") as window:
        page = window.open("/")
        page.set_default_timeout(PATIENCE_MS)
        assert window.barriers() == []
        window.drop("form[data-drop]", book.name, book.read_bytes())
        page.wait_for_url("**/page/imports/*")
        for title, _ in CHINESE_STORY:
            expect(page.get_by_role("cell", name=title)).to_be_visible()
        assert window.barriers() == []
        page.get_by_role("button", name=words["take_in"]).click()
        page.wait_for_url("**/page/jobs/*")
        page.get_by_role("link", name=words["to_context"]).wait_for()
        assert window.barriers() == []
        page.get_by_role("link", name=words["to_story"]).click()
        expect(page.get_by_text(CHINESE_STORY[-1][1][:10]).first).to_be_visible()
        page.go_back()
        page.get_by_role("link", name=words["to_context"]).click()
        page.locator("textarea[name=purpose]").fill("沈青守着灯。")
        page.get_by_role("button", name=words["build"]).click()
        expect(page.locator("#known-title")).to_be_visible()
        for view in ("health", "reading"):
            window.open(f"/page/projects/book/{view}")
            assert window.barriers() == []
        window.open("/page/projects/book/health")
        page.locator("details.fold summary").click()
        delete = page.get_by_role("button", name=words["delete_for_good"])
        expect(delete).to_be_disabled()
        page.locator("input[name=confirm]").fill("book")
        delete.click()
        expect(page.get_by_text(words["no_projects"])).to_be_visible()
        assert window.complaints == []
