"""Planning and checking in a real browser: a form, its block, a ban and back, a dropped plan, a draft's findings."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from runtime.page.frame import CATALOGUES
from tests.support.browser import PHONE, Window, open_server, window_of
from tests.support.scripted_judge import scripted_judge

DRAFT = "雨停了。陆定波从怀里掏出鹭鸶钥匙，放在柜台上。\n\n屋里很静。"


def _clean(window: Window) -> None:
    assert window.barriers() == []
    assert window.complaints == []


@pytest.mark.slow
def test_a_plan_becomes_a_context_and_a_pin_shows_its_effect(browser: Browser, own_server: str) -> None:
    """The form gives the block, to be copied; leaving a memory out shows what that does, and is taken back."""
    words = CATALOGUES["en"]
    with window_of(browser, own_server, permissions=["clipboard-read", "clipboard-write"]) as window:
        page = window.open("/page/projects/demo/context?as_of=3:1")
        page.get_by_label(words["purpose"]).fill("They open the box under the bell.")
        who = page.get_by_label(words["who"])
        who.press_sequentially("Ines Marrow, Sp")
        offered = page.locator("#people-so-far option").evaluate_all("all => all.map((each) => each.value)")
        assert "Ines Marrow, Sparrow" in offered
        assert "Ines Marrow, Ines Marrow" not in offered
        who.fill("Ines Marrow, Sparrow")
        page.get_by_role("button", name=words["build"]).click()
        expect(page.locator("#prompt")).to_contain_text("Ines Marrow")
        page.get_by_role("button", name=words["copy"], exact=True).click()
        expect(page.get_by_role("button", name=words["copied"])).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == page.locator("#prompt").text_content()
        _clean(window)

        page.locator("#why-in > summary").click()
        receipts = page.locator("#need-memories li")
        first = receipts.first.locator("p").first.text_content() or ""
        page.get_by_label(words["sort_by"]).select_option("story")
        page.get_by_label(words["find"], exact=True).fill(first[:25])
        expect(page.locator("#need-memories li:visible")).to_have_count(1)
        page.reload()
        expect(page.locator("#prompt")).to_contain_text("Ines Marrow")

        page.locator("#why-in > summary").click()
        receipts.first.get_by_role("button", name=words["ban"]).click()
        expect(page.locator(".changes.out")).to_contain_text(first)
        expect(page.locator("#prompt")).not_to_contain_text(first)
        _clean(window)
        page.get_by_role("button", name=words["take_back"]).click()
        expect(page.locator(".difference")).to_contain_text(words["nothing_changed"])
        expect(page.locator("#prompt")).to_contain_text(first)

        page.locator("details", has_text=words["bounds"]).locator("summary").first.click()
        page.get_by_label(words["memory_budget"]).fill("60")
        page.get_by_role("button", name=words["build"]).click()
        expect(page.locator(".tokens-then-now")).to_contain_text("→")
        expect(page.locator(".changes.out").first).to_be_visible()
        assert window.complaints == []


@pytest.mark.slow
def test_a_plan_file_is_dropped_on_a_phone(browser: Browser, demo_server: str) -> None:
    """A dropped plan is built at once, in the language of the visitor, one part above the other."""
    plan = {"purpose": "他们打开钟下的匣子。", "characters": ["骆青荇"], "location": "江心洲钟楼"}
    with window_of(browser, demo_server, locale="zh-CN", size=PHONE, dark=True) as window:
        page = window.open("/page/projects/demo-zh/context?as_of=3:1")
        window.drop("body", "plan.json", json.dumps(plan, ensure_ascii=False).encode())
        expect(page.locator(".readable").first).to_be_visible()
        expect(page.locator("[name=location]")).to_have_value("江心洲钟楼")
        assert "as_of=3%3A1" in page.url
        assert window.overflow() <= 0
        _clean(window)
        window.drop("body", "plan.json", b"{broken")
        expect(page.locator("h1")).to_have_text(CATALOGUES["zh"]["something_wrong"])


@pytest.mark.slow
def test_a_finding_is_joined_to_the_draft_waived_and_told_again(browser: Browser, demo_folder: Path) -> None:
    """Pointer, keys and tap join the words of both sides; a waiver silences a finding until it is taken back."""
    words = CATALOGUES["zh"]
    judge = scripted_judge(DRAFT.split("。")[1], subject="陆定波", why="钥匙不在他手里。")
    with (
        open_server(demo_folder, chat_model=judge) as address,
        window_of(browser, address, locale="zh-CN", size=PHONE, has_touch=True) as window,
    ):
        page = window.open("/page/projects/demo-zh/check?as_of=3:1")
        page.locator("textarea[name=text]").fill(DRAFT)
        page.reload()
        # An accident does not cost the draft.
        expect(page.locator("textarea[name=text]")).to_have_value(DRAFT)
        page.locator("input[name=with_model]").check()
        page.get_by_role("button", name=words["check_draft"]).click()
        page.wait_for_selector("#note-1")
        finding, mark = page.locator("#note-1"), page.locator("article mark").first
        mark.hover()
        expect(finding).to_have_class(re.compile(r"\blit\b"))
        finding.focus()
        expect(mark).to_have_class(re.compile(r"\blit\b"))
        mark.tap()
        expect(finding).to_be_focused()
        finding.press("n")
        expect(page.locator("li.finding:focus")).to_have_count(1)
        assert window.overflow() <= 0
        _clean(window)

        count = page.locator("li.finding").count()
        finding.locator("summary").click()
        finding.get_by_label(words["waive_note"]).fill("A dream.")
        finding.get_by_role("button", name=words["waive"]).click()
        expect(page.locator("li.finding")).to_have_count(count - 1)
        expect(page.get_by_text("A dream.").first).to_be_visible()
        _clean(window)
        page.locator("aside .rows").get_by_role("button", name=words["unwaive"]).click()
        expect(page.locator("li.finding")).to_have_count(count)


def test_a_draft_in_gbk_is_dropped_and_noise_is_refused(browser: Browser, demo_server: str) -> None:
    """The box gets the text as an import reads it; what cannot be read leaves the box as it was."""
    with window_of(browser, demo_server, locale="zh-CN") as window:
        page = window.open("/page/projects/demo-zh/check?as_of=3:1")
        window.drop("body", "draft.txt", DRAFT.encode("gbk"))
        expect(page.locator("#draft-text")).to_have_value(DRAFT)
        with page.expect_response("**/page/text") as refused:
            window.drop("body", "noise.txt", bytes(range(256)) * 9)
        assert refused.value.status == 422
        expect(page.locator("#draft-text")).to_have_value(DRAFT)
        assert "noise.txt" in page.locator("#draft-text").evaluate("area => area.validationMessage")


@pytest.mark.slow
@pytest.mark.parametrize("button", ["what_story_knows", "check_draft"])
def test_a_result_of_the_desk_is_in_view_on_a_phone(browser: Browser, own_server: str, button: str) -> None:
    """Below a form that is longer than the window, what it asked for is at the top of the window."""
    words = CATALOGUES["en"]
    with window_of(browser, own_server, size=PHONE) as window:
        page = window.open("/page/projects/demo/write")
        page.get_by_label(words["purpose"]).fill("They open the box under the bell.")
        page.locator("#desk-text").fill("# Chapter 40: The Door\n\nElias Marrow stood in the door of the lock shop.")
        assert page.locator("#desk-title").get_attribute("placeholder") == "Chapter 40: The Door"
        page.get_by_role("button", name=words[button], exact=True).click()
        window.settle()
        top, height = page.locator("#beside").evaluate("each => [each.getBoundingClientRect().top, innerHeight]")
        assert -1 <= top < height / 3
        _clean(window)
