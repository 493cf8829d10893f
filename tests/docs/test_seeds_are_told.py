"""The page on what the seeds ask names tests that are there."""

import re

from tests.docs.pages import ROOT, text_of


def test_every_test_that_the_page_names_is_there() -> None:
    """A file named with its folder stands there; one named alone stands somewhere under tests."""
    named = set(re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", text_of("docs/seeds.md")))
    assert len(named) > 30
    by_name = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    missing = [each for each in named if not ((ROOT / each).is_file() if "/" in each else each in by_name)]
    assert missing == []
