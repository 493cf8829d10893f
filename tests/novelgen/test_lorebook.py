"""Lorebooks of other programs as they are read and written."""

from typing import Any

import pytest

from novelgen.errors import UserInputError
from novelgen.lorebook import MAX_ENTRIES, LoreEntry, is_called, read_lorebook, with_keys, written_lorebook

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


@pytest.mark.parametrize(
    ("text", "is_read"),
    [("他收起灵石。", True), ("A Spirit Stone glows.", True), ("spirit stones", False), ("他收起灵草。", False)],
)
def test_a_key_calls_its_note(text: str, is_read: bool) -> None:
    """Chinese anywhere, Latin words whole and in any case; other tags call nothing."""
    assert is_called(with_keys(["灵草"], ["灵石", "Spirit  stone"]), text) is is_read


@pytest.mark.parametrize(
    ("key", "text", "is_read"),
    [
        ("エリス", "エリスが来た", True),
        ("김철수", "김철수가 왔다", True),
        ("🔥", "她举起🔥", True),
        ("ดาบ", "เขาชักดาบออกมา", True),
        ("café", "the CAFÉ closes", True),
        ("café", "the cafés close", False),
        ("Иван", "иван пришёл", True),
        ("C++", "he writes C++ at night", True),
        ("エリス", "アリスが来た", False),
    ],
)
def test_keys_of_every_script_call_their_notes(key: str, text: str, is_read: bool) -> None:
    """Scripts without blanks and symbols count anywhere, others as whole words."""
    assert is_called(with_keys([], [key]), text) is is_read
