"""Words of the author's list of those to avoid."""

import pytest

from novelgen.checking.avoided import avoided_words


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("他取出殘魂，残魂一闪。", "残魂", ["殘魂", "残魂"]),
        ("She took the VPN, vpn and VPNs.", "Vpn", ["VPN", "vpn"]),
        ("İt was damn cold.", "damn", ["damn"]),
        ("A damned place.", "damn", []),
        ("无事。", "", []),
    ],
)
def test_a_word_is_found_in_every_spelling(text: str, word: str, found: list[str]) -> None:
    """Traditional or simplified, capital or small; letters as whole words alone."""
    told = avoided_words(text, [word])
    assert [text[start:end] for each in told for start, end in each.spans] == found


def test_the_most_frequent_comes_first_with_words_around_it() -> None:
    """A word that the list has twice is told once."""
    told = avoided_words("残魂，残魂。\n项上人头！", ["项上人头", "残魂", "残魂", "无"])
    assert [(each.word, len(each.spans)) for each in told] == [("残魂", 2), ("项上人头", 1)]
    assert told[0].quotes == ["残魂，残魂。 项上人头！"]
    assert told[1].quotes == ["残魂，残魂。 项上人头！"]
