"""Lorebooks of other programs as they are read and written."""

from typing import Any

import pytest

from novelgen.errors import UserInputError
from novelgen.lorebook import MAX_ENTRIES, LoreEntry, read_lorebook, written_lorebook

STONE = LoreEntry(text="一块灵石换一年口粮。", title="灵石", keys=["灵石", "spirit stone"], start="3:1")
HEAVEN = LoreEntry(text="Nobody ascends.", title="Heaven", pinned=True)
CULT = LoreEntry(text="魔教总坛在血海。", title="魔教", keys=["魔教"], is_off=True)


@pytest.mark.parametrize("form", ["sillytavern", "novelai"])
def test_what_is_written_is_read_back(form: Any) -> None:
    """Texts, titles, keys, always, off and the position survive both formats."""
    book = read_lorebook(written_lorebook([STONE, HEAVEN, CULT], form))
    assert book.entries == [STONE, HEAVEN, CULT]


def test_an_entry_of_sillytavern_is_read_whatever_the_dice_say() -> None:
    """The fields that are the same for all entries leave nothing to chance, to order or to second keys."""
    [entry] = written_lorebook([HEAVEN], "sillytavern")["entries"].values()
    fixed = {"selective": False, "keysecondary": [], "order": 100, "position": 0, "addMemo": True}
    assert entry.items() >= {**fixed, "probability": 100, "useProbability": False, "constant": True}.items()


def test_what_cannot_be_kept_is_told() -> None:
    """Patterns, secondary keys, empty entries and fields of other programs are named, and spoil nothing."""
    entries = [
        {"key": ["/a.*b/i", "stone"], "keysecondary": ["gold"], "comment": "Stone", "content": "Dear.", "order": 100},
        {"keys": "sea, blood", "enabled": True, "text": "Far.", "contextConfig": {"budgetPriority": 400}},
        {"key": ["x"], "content": " "},
        {"key": ["x"], "content": "x" * 20_001},
    ]
    book = read_lorebook({"entries": dict(enumerate(entries))})
    assert [each.keys for each in book.entries] == [["stone"], ["sea", "blood"]]
    told = "\n".join(book.unread)
    for part in ("'Stone': patterns", "/a.*b/i", "secondary keys", "'#3' has no text", "'#4' is longer", "order"):
        assert part in told
    assert "contextConfig" in told


@pytest.mark.parametrize("document", [[], {"entries": 3}, {"entries": ["x"]}, {"entries": [{}] * (MAX_ENTRIES + 1)}])
def test_what_is_no_lorebook_is_refused(document: Any) -> None:
    """Neither another JSON nor one beyond the limit is taken in."""
    with pytest.raises(UserInputError, match="lorebook"):
        read_lorebook(document)
