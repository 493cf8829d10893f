"""A real browser without a screen, Debian's chromium driven by Playwright, and a server for it to visit."""

import base64
import contextlib
import os
import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from axe_playwright_python.sync_playwright import Axe
from langchain_core.language_models import BaseChatModel
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from runtime.doors.http.app import build_app
from runtime.doors.http.settings import ServerSettings
from tests.runtime.doors.http.serving import project_stores

CHROMIUM_VARIABLE = "NOVELGEN_TEST_CHROMIUM"
"""Path of a browser; otherwise the one of the distribution is taken."""

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Without these it talks to its maker at every start.
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split()

PATIENCE_MS = 120_000
"""A machine that does much besides is slow, not wrong; what is waited for comes at once elsewhere."""

DESKTOP = (1280, 800)
PHONE = (390, 844)


def chromium_path() -> str | None:
    """Return where a browser lies, or None where there is none."""
    return os.environ.get(CHROMIUM_VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def open_server(projects_dir: Path, *, chat_model: BaseChatModel | None = None, **settings: Any) -> Iterator[str]:
    """The address of a server over a folder of projects, in a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        stores = project_stores(projects_dir, **settings)
        app = build_app(stores, ServerSettings(port=port), chat_model=chat_model)
        config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            app.state.novelgen.jobs.stop()
            server.should_exit = True
            thread.join()


_DROP = """([selector, name, content]) => {
  const dataTransfer = new DataTransfer();
  const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  dataTransfer.items.add(new File([bytes], name));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    document.querySelector(selector).dispatchEvent(
      new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer }));
  }
}"""


@dataclass
class Window:
    """A window of the browser that notes errors of scripts and of the console, and requests that went elsewhere."""

    page: Page
    server: str
    complaints: list[str] = field(default_factory=list)

    def open(self, address: str) -> Page:
        """Go to an address of the server."""
        self.page.goto(self.server + address)
        return self.page

    def settle(self) -> None:
        """Wait until a page that was just opened has come to rest, and the focus stands where its script sets it."""
        self.page.wait_for_load_state("load")
        # The page's own script waits for a picture and a turn after the load: this is behind it in both queues.
        self.page.evaluate("new Promise((rest) => requestAnimationFrame(() => setTimeout(() => setTimeout(rest))))")

    def drop(self, selector: str, name: str, content: bytes) -> None:
        """Let a file fall onto an element, as a hand with a mouse does."""
        self.page.evaluate(_DROP, [selector, name, base64.b64encode(content).decode()])

    def overflow(self) -> int:
        """Return by how many pixels the page as a whole is wider than the window."""
        return int(self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))

    def told(self) -> str:
        """Return all that the page says: its text, also where it is folded away, and every attribute."""
        return str(
            self.page.evaluate(
                "[document.documentElement.textContent, ...[...document.querySelectorAll('*')]"
                ".flatMap((each) => [...each.attributes].map((one) => one.value))].join('\\n')"
            )
        )

    def barriers(self) -> list[str]:
        """Return what axe finds on the page that keeps people out (WCAG 2.2 A and AA), with where."""
        # What the row that stays covers for the moment can be scrolled from under it: axe looks from the top.
        self.page.evaluate("scrollTo(0, 0)")
        levels = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        # What passed is not gathered: of a large page that is most of the work.
        found = Axe().run(self.page, options={"runOnly": levels, "resultTypes": ["violations"]})
        return [
            f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes']][:5]}"
            for each in found.response["violations"]
        ]


@contextlib.contextmanager
def window_of(
    browser: Browser,
    server: str,
    *,
    locale: str = "en-US",
    size: Sequence[int] = DESKTOP,
    dark: bool = False,
    **options: Any,
) -> Iterator[Window]:
    """A fresh window, as of somebody who was never here, with further options of Playwright's contexts."""
    context: BrowserContext = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        locale=locale,
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
        **options,
    )
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    try:
        # Playwright's own scripts, such as axe, need no leave of the page's policy: they run beside it.
        window = Window(context.new_page(), server)
        page = window.page
        page.on(
            "console",
            lambda message: window.complaints.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: window.complaints.append(f"script: {error}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((server, "data:", "blob:"))
                else window.complaints.append(f"went elsewhere: {request.url[:200]}")
            ),
        )
        # Nothing of the page asks or tells in a box of the browser's own; a story's script would.
        page.on("dialog", lambda dialog: (window.complaints.append("dialog"), dialog.dismiss()))
        yield window
    finally:
        context.close()
