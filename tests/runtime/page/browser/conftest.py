"""A browser per worker, and a server over both demos that nothing changes."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.browser import Window, chromium, chromium_path, open_server, window_of


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser, closed before other tests, whose event loops could not run beside its own.

    Without one the tests that need it are skipped, never in CI, which installs it.
    """
    if chromium_path() is None:
        if os.environ.get("NOVELGEN_TEST_BROWSER") == "required":
            pytest.fail("NOVELGEN_TEST_BROWSER=required, and there is no chromium")
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="package")
def demo_server(ingested_demos: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over both demos, only to be read."""
    folder = tmp_path_factory.mktemp("read") / "projects"
    shutil.copytree(ingested_demos, folder)
    with open_server(folder) as address:
        yield address


@pytest.fixture
def window(browser: Browser, demo_server: str) -> Iterator[Window]:
    """A fresh window on the demos."""
    with window_of(browser, demo_server) as opened:
        yield opened


@pytest.fixture
def own_server(demo_folder: Path) -> Iterator[str]:
    """A server over demos that may be changed."""
    with open_server(demo_folder) as address:
        yield address


@pytest.fixture
def own_window(browser: Browser, own_server: str) -> Iterator[Window]:
    """A window on demos that may be changed."""
    with window_of(browser, own_server) as opened:
        yield opened
