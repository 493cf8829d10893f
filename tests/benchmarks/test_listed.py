"""What the prompts list of what a scene touches, measured on the small hand-made book."""

from pathlib import Path

import pytest

from tests.benchmarks import listed

pytestmark = pytest.mark.slow

BOOK_FOLDER = Path(__file__).parents[1] / "data" / "bench_book"


def test_of_a_small_book_everything_that_is_touched_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """All of a short story has room in both prompts; with no room the measure says what is missing."""
    listed.main([str(BOOK_FOLDER)])
    reading, planning = capsys.readouterr().out.splitlines()
    assert reading.startswith("reading   entities 1.000  threads –  named 1.000")
    assert planning.startswith("planning  entities 1.000")
    listed.main([str(BOOK_FOLDER), "--list-tokens", "10", "--reading-alone", "--missing"])
    scarce, *missing = capsys.readouterr().out.splitlines()
    assert "entities 1.000" not in scarce
    assert missing
