"""What an author does in a real browser besides: cards by the first button and by ticks, a move and back, books out."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from runtime.page.frame import ENGLISH
from tests.support.browser import Window, open_server, window_of

HERE = "/page/projects/demo"
OPENING = "Rain had found its old way through the roof"


@pytest.fixture
def own_window(browser: Browser, demo_folder: Path) -> Iterator[Window]:
    """A window on demos that may be changed."""
    with open_server(demo_folder) as address, window_of(browser, address) as opened:
        yield opened


def test_cards_are_made_and_a_move_is_taken_back(own_window: Window) -> None:
    """The first button makes a card, ticks make several, each to be undone; a scene that was moved goes back."""
    page = own_window.open(f"{HERE}/cards")
    page.locator("main a.button, main button").first.click()
    page.get_by_label(ENGLISH["name"], exact=True).fill("Widow Tarn")
    page.get_by_role("button", name=ENGLISH["add"], exact=True).click()
    expect(page.locator("h1")).to_have_text("Widow Tarn")
    expect(page.locator("#done")).to_contain_text(ENGLISH["did_confirm_card"].format(name="Widow Tarn"))

    page = own_window.open(f"{HERE}/who-is-who")
    ticks = page.get_by_role("checkbox")
    names = [ticks.nth(at).get_attribute("value") or "" for at in (0, 1)]
    for name in names:
        page.get_by_role("checkbox", name=name, exact=True).check()
    assert own_window.barriers() == []
    page.get_by_role("button", name=ENGLISH["make_cards"]).click()
    expect(page.locator("#done")).to_contain_text(names[1])
    for name in names:
        expect(page.get_by_role("checkbox", name=name, exact=True)).to_have_count(0)
    page.locator(".changes").get_by_role("button", name=re.compile(re.escape(names[1]))).click()
    expect(page.get_by_role("checkbox", name=names[1], exact=True)).to_have_count(1)
    expect(page.get_by_role("checkbox", name=names[0], exact=True)).to_have_count(0)

    page = own_window.open(f"{HERE}/story?show=scenes")
    stood = page.locator("tbody").inner_text()
    page = own_window.open(f"{HERE}/story/place?chapter=1&scene=1")
    form = page.locator("form", has=page.locator("[name=to_chapter]"))
    form.locator("[name=to_chapter]").fill("2")
    form.locator("[name=to_scene]").fill("1")
    form.get_by_role("checkbox").check()
    form.get_by_role("button").click()
    expect(page.locator("#done")).to_contain_text(ENGLISH["did_scene_move"])
    assert page.locator("tbody").inner_text() != stood
    page.get_by_role("button", name=ENGLISH["take_back"]).click()
    expect(page.locator("#done")).to_contain_text(ENGLISH["did_undo"])
    assert page.locator("tbody").inner_text() == stood
    assert own_window.complaints == []


def test_the_wheel_zooms_and_the_story_is_taken_along(window: Window, tmp_path: Path) -> None:
    """The graph grows around the pointer with all that is in it; each kind of book opens and holds the text."""
    page = window.open(f"{HERE}/relationships")
    graph = page.locator("svg.graph")
    whole = graph.get_attribute("viewBox") or ""
    counts = [graph.locator(each).count() for each in ("[data-who]", ".arrow")]
    assert min(counts) > 1
    graph.hover()
    page.mouse.wheel(0, -300)
    expect(graph).not_to_have_attribute("viewBox", whole)
    assert float((graph.get_attribute("viewBox") or "").split()[2]) < float(whole.split()[2])
    assert [graph.locator(each).count() for each in ("[data-who]", ".arrow")] == counts
    graph.dblclick(position={"x": 5, "y": 5})
    expect(graph).to_have_attribute("viewBox", whole)

    page = window.open(f"{HERE}/health")
    for kind in ("txt", "docx", "epub"):
        with page.expect_download() as coming:
            page.get_by_role("link", name=f".{kind}", exact=True).click()
        file = tmp_path / f"story.{kind}"
        coming.value.save_as(file)
        assert coming.value.suggested_filename == f"demo.{kind}"
        if kind == "txt":
            text = file.read_text(encoding="utf-8")
        else:
            with zipfile.ZipFile(file) as book:
                text = "".join(book.read(name).decode() for name in book.namelist() if name.endswith(("xml", "html")))
        assert OPENING in text, kind
    assert window.complaints == []
