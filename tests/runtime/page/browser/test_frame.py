"""The frame of every page by keyboard: the skip link, the order of tabs, menus, and choices that are kept."""

from tests.support.browser import Window

FOCUSED = "[document.activeElement.tagName, document.activeElement.textContent.trim() || document.activeElement.id]"


def test_the_keyboard_goes_through_the_head_and_its_menus(window: Window) -> None:
    """The first tab offers to skip the head; without skipping come the home, the project, the look, views, position.

    A menu opens at Enter, closes at Escape with the focus back on it, and at a press elsewhere.
    """
    page = window.open("/page/projects/demo/cards?as_of=3:1")
    passed = []
    for _ in range(18):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(FOCUSED)[1])
    views = "Story Write Threads Cards Relationships Timeline Knowledge Context Check Health".split()
    assert passed == ["Skip to the content", "novelgen", "demo", "中文", "Colours", *views, "To the end", "‹", "known"]
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[1] == "›"

    page = window.open("/page/projects/demo/cards")
    page.keyboard.press("Tab")
    assert page.locator(".skip").bounding_box()["y"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
    row, focused = (page.locator(each).bounding_box() for each in (".position", ":focus"))
    assert row is not None
    assert focused is not None
    assert focused["y"] >= row["y"] + row["height"]

    menu = page.locator("details.menu", has_text="Colours")
    summary = menu.locator("summary")
    summary.focus()
    page.keyboard.press("Enter")
    assert menu.get_attribute("open") is not None
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert menu.get_attribute("open") is None
    assert page.evaluate("document.activeElement.textContent") == "Colours"
    summary.click()
    assert menu.get_attribute("open") is not None
    page.locator("main h1").click()
    assert menu.get_attribute("open") is None
