"""Every view in a real browser: it loads without complaint, nobody is kept out, and links lead somewhere."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from runtime.page.frame import VIEWS
from tests.support.browser import DESKTOP, PHONE, Window, window_of

LOOKS: dict[str, dict[str, Any]] = {
    "demo": {"locale": "en-US", "size": DESKTOP, "dark": False},
    "demo-zh": {"locale": "zh-CN", "size": PHONE, "dark": True},
}
"""A desk by day, and in the other language a phone by night."""

WITHIN = (
    "story?as_of=3:1",
    "story?show=scenes",
    "story?show=summaries",
    "story?show=changes",
    "story/text?chapter=2&scene=1",
    "story/place?chapter=2&scene=1",
    "card?entity=C0",
    "card/merge?keep=C6&gone=C7",
    "who-is-who",
    "relationships?person=C0",
    "timeline?as_of=1:1",
    "threads?thread=OL4",
    "knowledge?cell=M075:C0",
    "reading",
)
"""What lies within the views: every second one is looked at in either look."""


@pytest.mark.parametrize("project", LOOKS)
def test_every_view_loads_clean(browser: Browser, demo_server: str, project: str) -> None:
    """A view of either demo, and what lies within it, opens without an error in the console or a request elsewhere,
    axe finds no barrier, and the page as a whole is no wider than the window.
    """
    with window_of(browser, demo_server, **LOOKS[project]) as window:
        addresses = ["/", "/page/import", "/page/jobs"]
        addresses += [f"/page/projects/{project}/{each}" for each in (*VIEWS, *WITHIN[list(LOOKS).index(project) :: 2])]
        found = {each: faults for each in addresses if (faults := _faults(window, each))}
    assert found == {}


def _faults(window: Window, address: str) -> list[str]:
    window.complaints.clear()
    window.open(address)
    faults = [*window.barriers(), *window.complaints]
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
