"""Takes the pictures of the page anew: `python -m tests.docs.write_screenshots`, into `docs/images`."""

import datetime
import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from runtime.page.frame import VIEWS
from runtime.stores import MemoryStores
from tests.docs.pages import ROOT
from tests.support.browser import DESKTOP, PHONE, chromium, open_server, window_of
from tests.support.demo_project import DEMOS, copy_shipped_demos, ingest_demo, settings_for

FOLDER = ROOT / "docs" / "images"

NOW = datetime.datetime(2026, 11, 23, 9, 30, tzinfo=datetime.UTC)
"""When the pictures were taken, as the browser's clock has it."""

MAX_BYTES = 150_000

# Text on plain ground has few colours; with all of its edges smoothed a picture would be three times as large.
MAX_COLOURS = 128

Prepare = Callable[[Page], None]


def _nothing(page: Page) -> None:
    """Leave the view as it opens."""


def _lit_fact(page: Page) -> None:
    """Point at a passage that proves something, where there is one."""
    marks = page.locator("main mark")
    if marks.count():
        marks.first.hover()


def _context(page: Page) -> None:
    """Plan a scene, build its context, and show the prompt."""
    _fill(page, purpose="Ines shows the heron key to Sorrel and asks whose hand cut the last leaf")
    _fill(page, characters="Ines, Sorrel", location="the lock shop", pov="Ines")
    _fill(page, key_actions="Ines lays the key on the bench\nSorrel admits what he knows")
    _send(page)


def _check(page: Page) -> None:
    """Check a draft in which a dead man speaks."""
    draft = (
        "Elias Marrow stood in the door of the lock shop and shook the rain from his hat.\n\n"
        '"You kept the heron key," he said. Ines put it on the bench between them.'
    )
    _fill(page, chapter="3", scene="1", text=draft)
    _send(page)


def _desk(page: Page) -> None:
    """Plan the next chapter, so that what the story knows stands beside the desk."""
    _fill(page, purpose="Ines shows the heron key to Sorrel and asks whose hand cut the last leaf")
    _fill(page, characters="Ines, Sorrel", location="the lock shop")
    with page.expect_navigation():
        page.locator('button[name="do"][value="context"]').click()


def _fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        page.locator(f'main form [name="{name}"]:visible').first.fill(value)


def _send(page: Page) -> None:
    """Send the view's form, and show what came of it."""
    form = page.locator('main form[method="post"]').first
    with page.expect_navigation():
        form.locator("button:not([type=button])").last.click()
    page.locator("main section:visible, main .reader:visible").first.scroll_into_view_if_needed()


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture of the page.

    Args:
        name: Of its file: `page-<name>.png`.
        address: Of the page on the server.
        prepare: What is done on it first.
        locale: The language that the browser asks for.
        size: Of the window in pixels.
        is_dark: Whether the system is set to dark colours.
    """

    name: str
    address: str
    prepare: Prepare = _nothing
    locale: str = "en-US"
    size: Sequence[int] = DESKTOP
    is_dark: bool = False


QUERIES = {"story": "?chapter=2&scene=1", "relationships": "?as_of=5:1", "threads": "?as_of=5:1"}
"""Where a view opens for its picture; others at the end of the story."""

PREPARED: dict[str, Prepare] = {"story": _lit_fact, "write": _desk, "context": _context, "check": _check}
"""What is done in a view before its picture is taken."""


def shots() -> Iterator[Shot]:
    """Give every picture: each view in English and light, and some that show the rest."""
    yield Shot("projects", "/")
    for view in VIEWS:
        address = f"/page/projects/demo/{view}{QUERIES.get(view, '')}"
        yield Shot(view, address, PREPARED.get(view, _nothing))
    yield Shot("card", "/page/projects/demo/card?entity=C0&as_of=5:1")
    yield Shot("story-zh", "/page/projects/demo-zh/story?chapter=2&scene=1", _lit_fact, "zh-CN")
    yield Shot("knowledge-zh", "/page/projects/demo-zh/knowledge", locale="zh-CN")
    yield Shot("threads-dark", "/page/projects/demo/threads?as_of=5:1", is_dark=True)
    yield Shot("story-phone", "/page/projects/demo/story?chapter=2&scene=1", size=PHONE)


def main() -> None:
    """Take the pictures of both demos."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        projects_dir = Path(folder) / "projects"
        projects_dir.mkdir()
        copy_shipped_demos(projects_dir)
        with MemoryStores(settings_for(projects_dir)) as stores:
            for name in DEMOS:
                ingest_demo(stores, name)
        taken = {}
        with open_server(projects_dir) as server:
            for shot in shots():
                taken[f"page-{shot.name}.png"] = _take(browser, server, shot)
    for old in FOLDER.glob("page-*.png"):
        if old.name not in taken:
            old.unlink()
    for name, picture in taken.items():
        (FOLDER / name).write_bytes(picture)
        print(f"{name}: {len(picture) // 1000} KB")


def _take(browser: Browser, server: str, shot: Shot) -> bytes:
    """Return a picture as a small PNG.

    Raises:
        AssertionError: When the page complains, or the picture is too large for the repository.
    """
    with window_of(browser, server, locale=shot.locale, size=shot.size, dark=shot.is_dark) as window:
        window.page.clock.set_fixed_time(NOW)
        window.open(shot.address)
        shot.prepare(window.page)
        window.page.wait_for_load_state("networkidle")
        taken = window.page.screenshot(animations="disabled", caret="hide")
        assert window.complaints == [], (shot.name, window.complaints)
    small = io.BytesIO()
    picture = Image.open(io.BytesIO(taken)).convert("RGB")
    few = picture.quantize(MAX_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    few.save(small, "PNG", optimize=True)
    assert small.tell() < MAX_BYTES, (shot.name, small.tell())
    return small.getvalue()


if __name__ == "__main__":
    main()
