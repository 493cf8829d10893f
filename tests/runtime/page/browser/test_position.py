"""The slider in a real browser: by pointer and by keyboard it leads a view to its place."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import window_of

pytestmark = pytest.mark.slow


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
