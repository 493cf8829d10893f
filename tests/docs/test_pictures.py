"""The pictures in the docs: those that the command takes, each shown and told in words."""

import re

from runtime.page.frame import VIEWS
from tests.docs.pages import ROOT, text_of
from tests.docs.write_screenshots import FOLDER, MAX_BYTES, shots

_PICTURE = re.compile(r"!\[([^\]]*)\]\(images/([^)]+)\)")


def test_every_picture_is_shown_and_told() -> None:
    """The page about the page shows what the command takes, and says in words what is on it."""
    shown = {name: alt for alt, name in _PICTURE.findall(text_of("docs/page.md"))}
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
