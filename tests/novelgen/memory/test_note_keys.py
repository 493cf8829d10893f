"""Keys of notes: the texts that call a note."""

import pytest

from novelgen.memory.note_keys import is_called, with_keys


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
