"""Cards and the picture of who knows what in a real browser: changed by hand, taken back, and silent about later."""

import re

import pytest
from playwright.sync_api import Browser, expect

from runtime.page.frame import ENGLISH
from tests.support.browser import PHONE, Window, window_of

HERE = "/page/projects/demo"


@pytest.mark.slow
def test_a_cell_says_why_is_corrected_and_taken_back(own_window: Window) -> None:
    """Pointed at, a cell tells how it is known without moving anything; corrected, it has the mark of the author."""
    page = own_window.open(f"{HERE}/knowledge?about=Elias&as_of=2:1")
    cell = page.get_by_role("button", name="Tobias Reed does not know").first
    before = cell.bounding_box()
    cell.focus()
    told = cell.evaluate("each => getComputedStyle(each, '::after').content")
    assert "Tobias Reed does not know" in told
    assert cell.bounding_box() == before
    fact = cell.get_attribute("value")
    cell.press("Enter")
    expect(page.locator("#cell")).to_contain_text("Tobias Reed does not know")
    assert own_window.barriers() == []
    page.locator("select[name=how]").select_option("overheard")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice")).to_contain_text("Your word")
    corrected = page.locator(f"button[value='{fact}']")
    expect(corrected).to_have_attribute("aria-label", re.compile("^Tobias Reed knows: overheard"))
    page.get_by_role("button", name="Take this back").click()
    expect(corrected).to_have_attribute("aria-label", re.compile("^Tobias Reed does not know"))
    assert own_window.complaints == []


def test_on_a_phone_the_picture_reads_as_a_list(browser: Browser, demo_server: str) -> None:
    """What somebody knows stands below each other, with the names in the cells and no wider than the window."""
    with window_of(browser, demo_server, size=PHONE, dark=True) as window:
        page = window.open(f"{HERE}/knowledge?of=C5&alone=1&as_of=2:1")
        expect(page.locator("thead")).to_be_hidden()
        expect(page.locator("tbody td").first).to_contain_text("Sparrow")
        assert window.overflow() <= 0
        assert window.barriers() == []
        assert window.complaints == []


@pytest.mark.slow
def test_two_tabs_overwrite_nothing_of_each_other(own_window: Window) -> None:
    """The second tab sends what it changed alone; of the same field both texts are shown, and brought together."""
    address = "/page/projects/demo/card?entity=C4"
    first, second = own_window.open(address), own_window.page.context.new_page()
    second.goto(own_window.page.url)
    for tab, field, text in ((first, "description", "Keeps an inn."), (second, "role", "innkeeper")):
        form = tab.locator('form[action*="card/edit"]')
        form.locator("xpath=ancestor::details").locator("summary").click()
        form.locator(f'[name="{field}"]').fill(text)
        form.locator("button").click()
    expect(second.locator("h1")).to_have_text(ENGLISH["changed_meanwhile"])
    assert second.locator("textarea").count() == 1, "the description, which this tab did not change, is not sent"
    second.locator("button.primary").click()
    expect(second.locator(".front")).to_contain_text("Keeps an inn.")
    expect(second.locator(".front")).to_contain_text("innkeeper")
