"""What the pages lead to is there: links, tests, pictures; and the docs build without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.page.frame import VIEWS
from tests.docs.pages import PAGES, ROOT, text_of
from tests.docs.write_screenshots import FOLDER, MAX_BYTES, shots

AT_THE_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
RECORDS = tuple(page for page in PAGES if page.startswith("docs/research/"))
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)?images/([^)]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a hosting site makes them."""
    titles = re.findall(r"^#+ (.+)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().casefold()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", AT_THE_TOP + RECORDS)
def test_links_of_pages_outside_the_site_lead_somewhere(page: str) -> None:
    """Each link names a file and a heading that exist; the build checks the pages of the site."""
    dead = []
    for target in _LINK.findall(_CODE.sub("", text_of(page))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        if not file.exists() or (anchor and anchor not in headings(file)):
            dead.append(target)
    assert dead == []


def test_the_site_does_not_link_to_the_records() -> None:
    """The build leaves the records out, and only mentions a link to them."""
    links = [(page, target) for page in PAGES if page.startswith("docs/") for target in _LINK.findall(text_of(page))]
    assert [link for link in links if link[0] not in RECORDS and "research/" in link[1]] == []


@pytest.mark.slow
def test_the_docs_build_without_a_warning(tmp_path: Path) -> None:
    """Dead links, missing anchors and pages that no menu names stop the build; nothing is fetched."""
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "-f",
            ".mkdocs.yml",
            "--strict",  # not --quiet, which keeps warnings from being counted
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "site" / "tutorials" / "walkthrough.zh.html").is_file()
    assert not (tmp_path / "site" / "research").exists()


def test_every_test_that_the_page_names_is_there() -> None:
    """A file named with its folder stands there; one named alone stands somewhere under tests."""
    named = set(re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", text_of("docs/research/seeds.md")))
    assert len(named) > 30
    by_name = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    missing = [each for each in named if not ((ROOT / each).is_file() if "/" in each else each in by_name)]
    assert missing == []


def test_every_picture_is_shown_and_told() -> None:
    """The page about the page shows what the command takes, and says in words what is on it."""
    shown = {name: alt for alt, name in _PICTURE.findall(text_of("docs/how-to/page.md"))}
    taken = {f"page-{each.name}.png" for each in shots()}
    assert shown.keys() == taken
    assert taken == {each.name for each in FOLDER.iterdir()}
    assert taken >= {f"page-{view}.png" for view in VIEWS}
    assert [name for name, alt in shown.items() if len(alt) < 40] == []


def test_pictures_stay_small() -> None:
    """No picture is larger than the command lets it be, and all together stay below two megabytes."""
    sizes = [each.stat().st_size for each in FOLDER.iterdir()]
    assert max(sizes) < MAX_BYTES
    assert sum(sizes) < 2_000_000
    assert FOLDER.is_relative_to(ROOT / "docs")
