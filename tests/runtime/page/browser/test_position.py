"""The slider in a real browser: by pointer and keyboard it leads every view to its place, and nothing is told early."""

import re

import httpx
from playwright.sync_api import Browser, Page, Response, expect

from runtime.page.frame import VIEWS
from tests.runtime.page.reading import later_words
from tests.support.browser import PATIENCE_MS, window_of

PLACED = [view for view in VIEWS if view != "health"]


def test_the_slider_is_moved_by_pointer(browser: Browser, demo_server: str) -> None:
    """While it is dragged it says where it is, and where it is let go the view follows, keeping what it showed."""
    with window_of(browser, demo_server) as window:
        page = window.open("/page/projects/demo/card?entity=C0")
        box = page.get_by_role("slider").bounding_box()
        assert box is not None
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] - 8, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] / 2, middle, steps=4)
        expect(page.locator("#told")).to_have_text(re.compile("on entering [34]:"))
        assert page.get_by_role("slider").get_attribute("aria-valuetext") == page.locator("#told").inner_text()
        told = page.locator("#told").inner_text()
        page.mouse.up()
        page.wait_for_url("**/card?entity=C0&as_of=*")
        expect(page.locator("#told")).to_have_text(told)
        assert page.get_by_role("slider").input_value() in ("11", "12")
        assert window.complaints == []


def test_the_slider_is_moved_by_keyboard(browser: Browser, demo_server: str) -> None:
    """Arrows move it and say where it is without leaving the page; Enter leads there, and so does the button."""
    with window_of(browser, demo_server, locale="zh-CN") as window:
        page = window.open("/page/projects/demo-zh/threads")
        slider = page.get_by_role("slider")
        expect(page.get_by_role("button", name="前往")).to_be_hidden()
        slider.focus()
        page.keyboard.press("Home")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        expect(page.locator("#told")).to_have_text("进入 2:1 时")
        assert page.url.endswith("/threads")
        page.keyboard.press("Enter")
        page.wait_for_url("**/threads?as_of=2%3A1")
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.get_by_role("button", name="前往").click()
        page.wait_for_url("**/threads?as_of=2%3A2")
        page.get_by_role("link", name="前进一场").click()
        page.wait_for_url("**/threads?as_of=2%3A3")
        page.get_by_role("link", name="到结尾").click()
        page.wait_for_url("**/threads")
        expect(page.locator("#told")).to_have_text("全书结尾")
        assert window.complaints == []


def test_no_view_tells_what_comes_later(browser: Browser, demo_server: str) -> None:
    """Neither a page nor an attribute in it nor what its scripts fetch has words that the story says only later."""
    project, as_of = "demo-zh", "4:2"
    with httpx.Client(base_url=demo_server, timeout=PATIENCE_MS / 1000) as client:
        later = later_words(client, project, as_of)
        names = client.get(f"/v1/projects/{project}/entities", params={"as_of": as_of}).json()["entities"]
    assert len(later) > 50
    with window_of(browser, demo_server) as window:
        answers: list[Response] = []
        window.page.on("response", lambda response: answers.append(response))
        views = [f"/page/projects/{project}/{view}?" for view in PLACED]
        views.append(f"/page/projects/{project}/card?entity={names[0]['entity_id']}&")
        for view in views:
            # What a browser keeps of the view as it is at the end is not told at an earlier place either.
            window.open(view)
        for view in views:
            answers.clear()
            page = window.open(f"{view}as_of={as_of}")
            _touch_everything(page)
            said = {"page": window.told()}
            bodies = [each for each in answers if "/static/" not in each.url and each.status not in range(300, 400)]
            said |= {each.url: each.text() for each in bodies}
            for where, text in said.items():
                assert [each for each in later if each in text] == [], (view, where)
        assert window.complaints == []


def _touch_everything(page: Page) -> None:
    """Open what is folded, point at what a view draws, touch the slider: a script may fetch only then."""
    page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    page.evaluate(
        "document.querySelectorAll('main a, main circle, main mark, main td, main button').forEach((each) => {"
        " for (const kind of ['mouseenter', 'mouseover', 'focusin'])"
        " each.dispatchEvent(new Event(kind, {bubbles: true})); });"
        "document.getElementById('known').dispatchEvent(new Event('input', {bubbles: true}));"
    )
    page.wait_for_load_state("networkidle")
