"""Correcting the story in a real browser: words and facts light each other, changes keep the place and are undone."""

import pytest
from playwright.sync_api import Browser, expect

from runtime.page.frame import ENGLISH
from tests.support.browser import window_of

pytestmark = pytest.mark.slow

CHOOSE_WORDS = """([start, end]) => {
  const line = document.querySelector("article .text p").firstChild;
  const range = document.createRange();
  range.setStart(line, start);
  range.setEnd(line, end);
  document.getSelection().removeAllRanges();
  document.getSelection().addRange(range);
}"""


def test_a_fact_is_noted_proved_edited_and_taken_back(browser: Browser, own_server: str) -> None:
    """Words chosen in the text become a fact; keys light both; an edit stays in place and its undo restores it."""
    with window_of(browser, own_server) as window:
        page = window.open("/page/projects/demo/story?chapter=1&scene=1")
        page.evaluate(CHOOSE_WORDS, [0, 43])
        page.get_by_role("button", name=ENGLISH["fact_from_words"]).click()
        expect(page.locator("#add-evidence")).to_have_value("Rain had found its old way through the roof")
        page.locator("#add-text").fill("It rains into the lock shop.")
        page.locator("#add-fact").get_by_role("button", name=ENGLISH["save"]).click()
        expect(page.locator("#done")).to_contain_text(ENGLISH["did_add"])
        fact = page.locator("li[data-note='1']")
        expect(fact).to_contain_text("It rains into the lock shop.")

        # By keys: from fact to words and back, without a pointer.
        window.settle()
        page.locator("body").press("j")
        expect(fact).to_be_focused()
        expect(page.locator("mark[data-notes='1']")).to_have_class("lit")
        page.locator("sup a[data-notes='1']").focus()
        expect(fact).to_have_class("lit")
        page.locator("nav.turn a").first.focus()
        expect(fact).not_to_have_class("lit")
        assert window.barriers() == []

        # An edit from far down the page comes back to the same place.
        second = page.locator("li[data-note]:has([id='fact-memory-M003'])")
        second.focus()
        page.keyboard.press("e")
        expect(page.locator("#edit-text")).to_be_focused()
        page.locator("#edit-text").fill("Ines promised Sparrow that Nell will be free.")
        page.locator(".edit-fact").get_by_role("button", name=ENGLISH["save"]).first.click()
        expect(page.locator("#done")).to_contain_text(
            ENGLISH["did_change"].format(name="“Ines promised Sparrow that Nell will be free.”")
        )
        expect(second).to_be_in_viewport()
        expect(second).to_contain_text("Ines promised Sparrow that Nell will be free.")
        assert window.barriers() == []
        page.get_by_role("button", name=ENGLISH["take_back"]).click()
        expect(page.locator("#done")).to_contain_text(ENGLISH["did_undo"])
        expect(second).to_contain_text("not through a grating")
        assert window.complaints == []
