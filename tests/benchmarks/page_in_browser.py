"""What the page takes in a real browser over a long story: `python -m tests.benchmarks.page_in_browser`.

A demo is told again and again, with ids of its own each time, until it holds so many memories; then every view is
opened by Debian's chromium, and used once. Before, the server's processor time for every view is measured without a
browser, as a machine with other work shows it more steadily than any clock: at the first visit of a position and at
visits after it. `--folder` keeps the story for another run; `--no-browser` leaves the browser out. The figures stand
in `docs/page.md`.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect
from pydantic import BaseModel, Field

from novelgen.models.record import SceneRecord
from runtime.doors.cli.opening import settle_imports
from runtime.files.project_files import load_characters, load_entities
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.page.frame import VIEWS
from runtime.stores import MemoryStores
from tests.runtime.doors.http.serving import client_of
from tests.support.browser import chromium, open_server, window_of
from tests.support.demo_project import copy_shipped_demos, demo_scenes, settings_for

PROJECT = "demo"
PLACES = [*VIEWS, "card?entity=C0"]
_ID = re.compile(r'"((?:M|OL)[0-9]+)"')

TIMES = (
    "(() => { const [it] = performance.getEntriesByType('navigation');"
    " return [it.responseEnd - it.startTime, it.domContentLoadedEventEnd - it.startTime,"
    " it.loadEventEnd - it.startTime, it.decodedBodySize / 1024,"
    " document.getElementsByTagName('*').length]; })()"
)

Use = Callable[[Page], None]


class Work(BaseModel):
    """How long the server's processor works for a view."""

    place: str
    first_ms: float = Field(description="Median over the first visits of some positions.")
    again_ms: float = Field(description="Median of the visits after those.")
    body_kb: float = Field(description="The longest page.")


class Figures(BaseModel):
    """What a page takes, medians."""

    place: str
    answered_ms: float = Field(description="Until the last byte.")
    ready_ms: float = Field(description="Until DOMContentLoaded.")
    loaded_ms: float
    body_kb: float
    elements: int
    slider_ms: float | None = Field(description="From a key on the slider to the frame that shows the place.")


def long_story(stores: MemoryStores, *, memories: int) -> None:
    """Tell the demo again and again until the project holds so many memories."""
    paths = stores.paths(PROJECT)
    stores.ensure_project(PROJECT, name=PROJECT, language="en")
    entities = load_entities(paths.entities_file)
    store_entities(stores, PROJECT, entities, characters=load_characters(paths.characters_file))
    told = demo_scenes(paths)
    chapters = max(each.chapter_index for each in told)
    again = _memories(stores) // 200
    while _memories(stores) < memories:
        scenes = [_told_again(each, again, chapters) for each in told]
        ingest_scenes(stores, PROJECT, scenes, index=False)
        again += 1
        print(f"\r{_memories(stores)} of {memories} memories", end="", file=sys.stderr, flush=True)


def _told_again(scene: SceneInput, again: int, chapters: int) -> SceneInput:
    chapter_index = scene.chapter_index + again * chapters
    record = scene.record
    if record is not None:
        renamed = _ID.sub(lambda found: f'"{found[1]}x{again}"' if again else found[0], record.model_dump_json())
        record = SceneRecord.model_validate_json(renamed).model_copy(update={"chapter_index": chapter_index})
    return scene.model_copy(update={"chapter_index": chapter_index, "record": record, "label": ""})


def _memories(stores: MemoryStores) -> int:
    with stores.database(PROJECT).read() as unit:
        return unit.memories.count()


def measure_work(projects_dir: Path, *, runs: int) -> list[Work]:
    """Ask a server in this process for every view so often at each of some positions, and count processor time.

    What the process holds from its start is left out of collecting garbage first, as `novelgen serve` does.
    """
    with client_of(projects_dir) as client:
        places = client.get(f"/page/projects/{PROJECT}/places").json()["places"]
        asked = [f"as_of={chapter}:{scene}" for chapter, scene in places[-2 :: -(len(places) // 8)][:3]]
        client.get(f"/page/projects/{PROJECT}/context")
        settle_imports()
        return [_work(client, each, ["", *asked], runs) for each in PLACES]


def _work(client: TestClient, place: str, positions: Sequence[str], runs: int) -> Work:
    first: list[float] = []
    again: list[float] = []
    longest = 0
    for position in positions:
        joined = f"{place}{'&' if '?' in place else '?'}{position}"
        for visit in range(1 + runs):
            started_s = time.process_time()
            answer = client.get(f"/page/projects/{PROJECT}/{joined}")
            taken_ms = (time.process_time() - started_s) * 1000
            answer.raise_for_status()
            (again if visit else first).append(taken_ms)
            longest = max(longest, len(answer.content))
    return Work(place=place, first_ms=median(first), again_ms=median(again), body_kb=longest / 1024)


def measure(server: str, *, runs: int) -> list[Figures]:
    """Open every view so often, and move the slider on it with the keyboard.

    Args:
        server: Address of the server.
        runs: How often each.
    """
    with chromium() as browser, window_of(browser, server) as window:
        window.open("/")
        return [_figures(window.page, f"{server}/page/projects/{PROJECT}", each, runs) for each in PLACES]


def _figures(page: Page, project: str, place: str, runs: int) -> Figures:
    taken: list[list[float]] = []
    moves: list[float] = []
    page.goto(f"{project}/{place}")
    for _ in range(runs):
        page.goto(f"{project}/{place}")
        taken.append(page.evaluate(TIMES))
        if page.locator("#known").count():
            moves.append(_moved(page))
    answered, ready, loaded, body, elements = (median(each) for each in zip(*taken, strict=True))
    return Figures(
        place=place,
        answered_ms=answered,
        ready_ms=ready,
        loaded_ms=loaded,
        body_kb=body,
        elements=int(elements),
        slider_ms=median(moves) if moves else None,
    )


def _moved(page: Page) -> float:
    """Return how long the slider takes to name the next place, once it knows all of them."""
    page.locator("#known").focus()
    with page.expect_response("**/places"):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#told")).to_contain_text("Chapter", timeout=60_000)
    took_ms: Any = page.evaluate(
        "new Promise((done) => { const slider = document.getElementById('known'); const start = performance.now();"
        " slider.value = Number(slider.value) - 1; slider.dispatchEvent(new Event('input', {bubbles: true}));"
        " requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))); })"
    )
    return float(took_ms)


def render_work(figures: Sequence[Work]) -> str:
    """Return the server's processor time as a table of `docs/page.md`."""
    lines = ["| view | first visit, ms | after it, ms | KB |", "|---|---|---|---|"]
    lines += [
        f"| {each.place.partition('?')[0]} | {each.first_ms:.0f} | {each.again_ms:.0f} | {each.body_kb:.0f} |"
        for each in figures
    ]
    return "\n".join(lines)


def render(figures: Sequence[Figures]) -> str:
    """Return the figures as a table of `docs/page.md`."""
    lines = ["| view | answered | ready | KB | elements | slider |", "|---|---|---|---|---|---|"]
    for each in figures:
        slider = "" if each.slider_ms is None else f"{each.slider_ms:.0f}"
        times = f"{each.answered_ms:.0f} | {each.ready_ms:.0f}"
        name = each.place.partition("?")[0]
        lines.append(f"| {name} | {times} | {each.body_kb:.0f} | {each.elements} | {slider} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.page_in_browser", description=__doc__)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--no-browser", action="store_true", help="processor time alone")
    parser.add_argument("--folder", type=Path, help="where the story is kept; without it nowhere")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="novelgen-page-") as folder:
        projects_dir = given.folder or Path(folder)
        if not (projects_dir / PROJECT).is_dir():
            projects_dir.mkdir(parents=True, exist_ok=True)
            copy_shipped_demos(projects_dir)
        with MemoryStores(settings_for(projects_dir)) as stores:
            started_s = time.monotonic()
            long_story(stores, memories=given.memories)
            print(f"told in {time.monotonic() - started_s:.0f} s", file=sys.stderr)
        print(render_work(measure_work(projects_dir, runs=given.runs)), flush=True)
        if given.no_browser:
            return 0
        with open_server(projects_dir) as server:
            print(render(measure(server, runs=given.runs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
