"""Titles and capitals without end take time that grows with the text, not with its square."""

import pytest

from novelgen.language.candidates import find_name_candidates
from novelgen.language.english_names import read_english


@pytest.mark.parametrize("piece", ["Mr. ", "A B ", "Ines ", "A. "])
def test_words_that_are_taken_together_are_bounded(piece: str) -> None:
    """However long a run is, no step looks at more than sixty words of it."""
    runs = read_english(piece * 5_000).runs
    assert max(len(run.words) for run in runs) <= 60


def test_a_name_in_such_a_text_is_still_told() -> None:
    """The rest of the text is read as ever."""
    told = "The door opened. Then Mr. Harker said no. She saw Mr. Harker there, and Mr. Harker laughed. "
    found = find_name_candidates([(1, 1, "Mr. " * 5_000 + told)])
    assert "Mr. Harker" in [each.name for each in found]
