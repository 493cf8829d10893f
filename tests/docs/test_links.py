"""No link of the pages is dead, and the docs build without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, text_of

AT_THE_TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a hosting site makes them."""
    titles = re.findall(r"^#+ (.+)$", _CODE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().casefold()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", AT_THE_TOP)
def test_links_of_the_top_pages_lead_somewhere(page: str) -> None:
    """Each link of a page beside `docs` names a file and a heading that exist; those within docs the build checks."""
    dead = []
    for target in _LINK.findall(_CODE.sub("", text_of(page))):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = ROOT / (path or page)
        if not file.exists() or (anchor and anchor not in headings(file)):
            dead.append(target)
    assert dead == []


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
    assert (tmp_path / "site" / "walkthrough.zh.html").is_file()
