"""Relationships, timeline and threads in a real browser: they follow the slider, and a thread is dragged to its end."""

import pytest
from playwright.sync_api import Browser, Page, expect

from runtime.page.frame import ENGLISH
from tests.support.browser import Window, window_of

pytestmark = pytest.mark.slow

LIVE = "[data-live]"


def test_a_picture_follows_the_slider_grows_and_tells_nothing_early(window: Window) -> None:
    """While the slider moves, by keyboard here, the picture becomes that of its place; Enter goes there.

    The wheel makes it larger around the pointer with all that is in it, and two clicks show the whole again.
    """
    address, drawn = "/page/projects/demo/relationships", "svg.graph.broad"
    page = window.open(f"{address}?as_of=2:1")
    there = page.locator(drawn).text_content() or ""
    page = window.open(address)
    assert there.strip()
    assert page.locator(drawn).text_content() != there
    slider = page.locator("#known")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(LIVE)).to_contain_text(ENGLISH["nothing_by_then"])
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.locator(drawn)).to_have_text(there)
    assert page.url.endswith(address)
    page.keyboard.press("Enter")
    page.wait_for_url("**?as_of=2%3A1**")
    expect(page.locator(drawn)).to_have_text(there)
    assert window.barriers() == []
    graph = page.locator(drawn)
    whole = graph.get_attribute("viewBox") or ""
    graph.hover()
    page.mouse.wheel(0, -300)
    expect(graph).not_to_have_attribute("viewBox", whole)
    assert float((graph.get_attribute("viewBox") or "").split()[2]) < float(whole.split()[2])
    graph.dblclick(position={"x": 5, "y": 5})
    expect(graph).to_have_attribute("viewBox", whole)
    assert window.complaints == []


def _tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    wanted = page.locator(selector)
    for _ in range(150):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"the keyboard never comes to {selector}")


def test_a_thread_is_dragged_to_its_end_and_taken_back(browser: Browser, own_server: str) -> None:
    """A dragged card asks how its thread ends; the board tells the end and takes it back; all goes by keyboard, too."""
    # So high that nothing scrolls between taking hold of a card and letting it go.
    with window_of(browser, own_server, size=(1280, 2400)) as window:
        page = window.open("/page/projects/demo/threads?as_of=4:1")
        waiting = page.locator('.planted [data-thread="OL1"]')
        waiting.drag_to(page.locator('[data-drop="dropped"]'))
        dialog = page.locator("#end-dialog")
        expect(dialog).to_be_visible()
        expect(dialog.locator("[data-what]")).to_have_text(waiting.locator(".what").text_content() or "")
        assert dialog.get_by_label(ENGLISH["how_ended"]).input_value() == "dropped"
        assert window.barriers() == []
        dialog.get_by_label(ENGLISH["summary_of_end"]).fill("Nobody asks any more.")
        dialog.get_by_role("button", name=ENGLISH["save"]).click()
        expect(page.locator('.dropped [data-thread="OL1"]')).to_contain_text("Nobody asks any more.")
        page.get_by_role("button", name=ENGLISH["take_back"]).click()
        expect(waiting).to_be_visible()

        waiting.locator(".what").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**thread=OL1**")
        _tab_to(page, '#thread input[name="summary"]')
        page.keyboard.type("It opens the box.")
        page.keyboard.press("Enter")
        expect(page.locator('.paid [data-thread="OL1"]')).to_contain_text("It opens the box.")
        _tab_to(page, ".notice button")
        page.keyboard.press("Enter")
        expect(waiting).to_be_visible()
        assert window.barriers() == []
        assert window.complaints == []
