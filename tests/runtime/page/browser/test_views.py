"""Every view in a real browser: it loads without complaint, in one language, nobody is kept out."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser

from runtime.page.frame import CHINESE, VIEWS
from tests.runtime.doors.cli.test_chinese_throughout import english_in
from tests.support.browser import DESKTOP, PHONE, Window, window_of

pytestmark = pytest.mark.slow

LOOKS: dict[str, dict[str, Any]] = {
    "demo": {"locale": "en-US", "size": DESKTOP, "dark": False},
    "demo-zh": {"locale": "zh-CN", "size": PHONE, "dark": True},
}
"""A desk by day, and in the other language a phone by night."""

WITHIN = (
    "story?as_of=3:1",
    "story?show=scenes",
    "story?show=summaries&chapter=1",
    "story?show=changes",
    "story/text?chapter=2&scene=1",
    "story/place?chapter=2&scene=1",
    "card?entity=C0",
    "card/merge?keep=C6&gone=C7",
    "who-is-who",
    "cards/new?kind=item",
    "relationships?person=C0",
    "timeline?as_of=1:1",
    "threads?thread=OL4",
    "knowledge?cell=M075:C0",
    "reading",
)
"""What lies within the views: for barriers every second one is looked at in either look."""

SAID = """() => [document.body.innerText,
  ...[...document.querySelectorAll("details:not([open])")].map((each) => each.textContent),
  ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((each) =>
    ["aria-label", "title", "placeholder"].map((name) => each.getAttribute(name) ?? "")),
].join("\\n")"""

NAMES = re.compile(
    r"English|Markdown|zip|TOML|Ollama|LM Studio|NOVELGEN_\w+|memory(\.\w+)+|price_\w+|EPUB|Word"
    r"|\b(?:txt|md|docx|epub|GBK|Big5|Chapter)\b|放不下：[a-z_, ]+"
)
"""Of the other language, of formats, programs and settings, as they are typed."""


def _english(window: Window) -> list[str]:
    """Return the lines of a page that hold English, but for the other language and the other project."""
    said = NAMES.sub(" ", window.page.evaluate(SAID))
    return sorted(set(english_in(said)) - {"demo"})


@pytest.mark.parametrize("project", LOOKS)
def test_every_view_loads_clean(browser: Browser, demo_server: str, project: str) -> None:
    """A view of either demo, and what lies within it, opens without an error in the console or a request elsewhere,
    axe finds no barrier, the page as a whole is no wider than the window, and one of a Chinese story has no English
    but names, ids and commands: neither of ours nor of the browser.
    """
    looked_at = WITHIN[list(LOOKS).index(project) :: 2]
    found: dict[str, list[str]] = {}
    with window_of(browser, demo_server, **LOOKS[project]) as window:
        for address in ("/", "/page/import", "/page/jobs"):
            found[address] = _faults(window, address)
        for each in (*VIEWS, *(WITHIN if project == "demo-zh" else looked_at)):
            found[each] = _faults(window, f"/page/projects/{project}/{each}", is_looked_at=each in (*VIEWS, *looked_at))
        if project == "demo-zh":
            for view, fields in (("context", {"purpose": "开门"}), ("check", {"text": "骆守成站在门外，拿着铜钥匙。"})):
                page = window.open(f"/page/projects/demo-zh/{view}")
                for name, said in fields.items():
                    page.locator(f"main [name={name}]").fill(said)
                page.locator("main form button.primary").first.click()
                page.wait_for_load_state()
                found[f"{view} answered"] = _english(window)
    assert {each: faults for each, faults in found.items() if faults} == {}


def _faults(window: Window, address: str, *, is_looked_at: bool = True) -> list[str]:
    window.complaints.clear()
    window.open(address)
    faults = [*(window.barriers() if is_looked_at else ()), *window.complaints]
    if address != "/" and window.page.evaluate("document.documentElement.lang").startswith("zh"):
        faults += _english(window)
    if window.page.locator("main h1").count() != 1:
        faults.append("not one heading")
    if window.overflow() > 0:
        faults.append(f"{window.overflow()} px too wide")
    return faults


def test_every_view_works_without_a_script(browser: Browser, demo_server: str) -> None:
    """With scripts forbidden a view has its text, and its head, its menus and its steps through the story lead on."""
    with window_of(browser, demo_server, size=PHONE, java_script_enabled=False) as window:
        page = window.page
        for view in VIEWS:
            window.open(f"/page/projects/demo/{view}")
            assert page.locator("main h1").count() == 1
            assert window.overflow() <= 0, view
        window.open("/page/projects/demo/threads")
        page.get_by_role("link", name="One scene back").click()
        assert page.url.endswith("/threads?as_of=6%3A3")
        page.get_by_role("slider").focus()
        page.keyboard.press("Home")
        page.get_by_role("button", name="Go").click()
        assert page.url.endswith("/threads?as_of=1%3A1")
        page.get_by_text("Colours").click()
        page.get_by_role("link", name="dark", exact=True).click()
        assert page.locator("html").get_attribute("data-theme") == "dark"
        assert page.url.endswith("/threads?as_of=1%3A1")
        page.get_by_label("Project demo: go to another").click()
        page.get_by_role("link", name="demo-zh").click()
        assert page.url.endswith("/page/projects/demo-zh/threads")
        assert window.complaints == []


def test_files_are_chosen_by_a_button_of_the_page(browser: Browser, demo_server: str) -> None:
    """The browser's own button, in its own language, is out of sight; ours names the file that was chosen."""
    with window_of(browser, demo_server, locale="zh-CN") as window:
        page = window.open("/page/projects/demo-zh/check")
        button = page.get_by_role("button", name=CHINESE["pick_file"]).first
        with page.expect_file_chooser() as choosing:
            button.click()
        assert page.get_by_text(CHINESE["no_file"]).first.is_visible()
        choosing.value.set_files({"name": "第一章.txt", "mimeType": "text/plain", "buffer": b"{}"})
        assert page.get_by_text("第一章.txt").first.is_visible()
        assert window.barriers() == []
