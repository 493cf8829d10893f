"""Every view in a real browser: it loads without complaint, and nobody is kept out."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from runtime.server.page.frame import VIEWS
from tests.support.browser import window_of


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("project", "locale"), [("demo", "en-US"), ("demo-zh", "zh-CN")])
def test_a_view_loads_clean(browser: Browser, demo_server: str, project: str, locale: str, view: str) -> None:
    """A view of either demo opens without an error in the console or a request elsewhere, and axe finds no barrier."""
    with window_of(browser, demo_server, locale=locale) as window:
        window.open(f"/page/projects/{project}/{view}")
        assert window.page.locator("main h1").count() == 1
        assert window.barriers() == []
        assert window.complaints == []
