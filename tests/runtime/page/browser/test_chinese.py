"""A Chinese author sees no English on any page of a Chinese story, neither of ours nor of the browser."""

import re

import pytest
from playwright.sync_api import Browser

from runtime.page.frame import CHINESE, VIEWS
from tests.runtime.doors.cli.test_chinese_throughout import english_in
from tests.support.browser import Window, window_of

PAGES = [
    *VIEWS,
    *("story?show=scenes", "story?show=summaries&chapter=1", "story?show=changes", "story/text?chapter=1&scene=1"),
    *("story/place?chapter=1&scene=1", "reading", "cards/new?kind=item", "who-is-who"),
    *("relationships?person=C0", "knowledge?as_of=3:1", "threads?as_of=3:1", "../../import", "../../jobs"),
]

SAID = """() => [document.body.innerText,
  ...[...document.querySelectorAll("details:not([open])")].map((each) => each.textContent),
  ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((each) =>
    ["aria-label", "title", "placeholder"].map((name) => each.getAttribute(name) ?? "")),
].join("\\n")"""

NAMES = re.compile(
    r"English|Markdown|zip|TOML|Ollama|LM Studio|NOVELGEN_\w+|card-templates|memory(\.\w+)+|price_\w+|EPUB|Word"
    r"|\b(?:txt|md|docx|epub|GBK|Big5|Chapter)\b|放不下：[a-z_, ]+"
)
"""Of the other language, of formats, programs and settings, as they are typed."""


def _english(window: Window) -> list[str]:
    """Return the lines of a page that hold English, but for the other language and the other project."""
    said = NAMES.sub(" ", window.page.evaluate(SAID))
    return sorted(set(english_in(said)) - {"demo"})


def test_every_page_of_a_chinese_story_is_chinese(browser: Browser, demo_server: str) -> None:
    """All views, lists and forms, a context and a check hold no English but names, ids and commands."""
    english: dict[str, list[str]] = {}
    with window_of(browser, demo_server, locale="zh-CN") as window:
        for address in PAGES:
            window.open(f"/page/projects/demo-zh/{address}")
            english[address] = _english(window)
        for view, fields in (("context", {"purpose": "开门"}), ("check", {"text": "骆守成站在门外，拿着铜钥匙。"})):
            page = window.open(f"/page/projects/demo-zh/{view}")
            for name, said in fields.items():
                page.locator(f"main [name={name}]").fill(said)
            page.locator("main form button.primary").first.click()
            page.wait_for_load_state()
            english[f"{view} answered"] = _english(window)
    found = [f"{address}: {line}" for address, lines in english.items() for line in lines]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("address", ["../../import", "check"])
def test_files_are_chosen_by_a_button_of_the_page(browser: Browser, demo_server: str, address: str) -> None:
    """The browser's own button, in its own language, is out of sight; ours names the file that was chosen."""
    with window_of(browser, demo_server, locale="zh-CN") as window:
        page = window.open(f"/page/projects/demo-zh/{address}")
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        button = page.get_by_role("button", name=CHINESE["pick_file"]).first
        with page.expect_file_chooser() as choosing:
            button.click()
        assert page.get_by_text(CHINESE["no_file"]).first.is_visible()
        choosing.value.set_files({"name": "第一章.txt", "mimeType": "text/plain", "buffer": b"{}"})
        assert page.get_by_text("第一章.txt").first.is_visible()
        assert window.barriers() == []
