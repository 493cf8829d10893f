"""A story that wants to be a script, in a browser that would run it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from runtime.page.frame import VIEWS
from tests.runtime.doors.http.serving import client_of
from tests.runtime.page.hostile_story import ADDRESS, EMOJI, EVIL, LONG, write_hostile_story
from tests.support.browser import PHONE, open_server, window_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hostile_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over a story whose every field wants to be HTML."""
    folder: Path = tmp_path_factory.mktemp("hostile") / "projects"
    folder.mkdir()
    with client_of(folder) as client:
        write_hostile_story(client)
    with open_server(folder) as address:
        yield address


def test_a_hostile_story_is_only_shown(browser: Browser, hostile_server: str) -> None:
    """Nothing of it runs, asks, loads or opens; no word is lost, and no line makes the page wider than the window."""
    with window_of(browser, hostile_server, size=PHONE) as window:
        page = window.page
        for view in [*VIEWS, "card?entity=C0", "story?as_of=1:1"]:
            window.open(f"{ADDRESS}/{view}")
            assert window.overflow() <= 0, view
            assert page.locator("main img, main script, main iframe").count() == 0
        window.open(f"{ADDRESS}/story")
        text = page.locator(".text").inner_text()
        assert EVIL in text
        assert EMOJI in text
        assert LONG in text
        assert window.complaints == []
