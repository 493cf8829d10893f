"""A surname or a given name alone, where a text uses it for one full name only."""

import pytest

from novelgen.language.short_names import short_names


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("Jonas Pruett", "Jonas Pruett came in. “No,” said Pruett.", ["Pruett"]),
        ("Daniel Reese", "Mr. Reese sat down. She called Daniel.", ["Daniel"]),
        ("Jonas Pruett", "Jonas Pruett came in. He said no.", []),
        ("Clara Aldane", "Clara Aldane met Luke Aldane. All the Aldane land was his, said Aldane.", []),
        ("Jonas Pruett", "Jonas Pruett and Mrs. Pruett came. “No,” said Pruett.", []),
        ("Daniel Reese", "Daniel Moore waved. She called Daniel.", []),
        ("Will Stone", "They threw a stone. The Stone was old. Will you come?", []),
        ("Pruett", "“No,” said Pruett.", []),
        ("沈砚秋", "“砚秋，过来。”顾老说。沈砚秋过来了。", ["砚秋"]),
        ("沈砚秋", "沈砚秋过来了。", []),
        ("张海棠", "院里开着花。海棠红了。", []),
        ("林渡", "“渡，过来。”", []),
    ],
)
def test_a_short_name_is_used_alone_and_for_one(name: str, text: str, names: list[str]) -> None:
    """A family, a title of the other sex, another bearer and a common word give none."""
    assert short_names(name, [text]) == names


def test_what_others_are_called_is_no_short_name() -> None:
    """Neither a word of another full name, nor a given name that another Chinese name ends with."""
    text = "“No,” said Pruett. He called Jonas."
    assert short_names("Jonas Pruett", [text]) == ["Pruett", "Jonas"]
    assert short_names("Jonas Pruett", [text], other_names=["Amy Pruett"]) == ["Jonas"]
    assert short_names("Jonas Pruett", [text], other_names=["Mr. Jonas Pruett"]) == ["Pruett", "Jonas"]
    assert short_names("沈砚秋", ["“砚秋，过来。”"], other_names=["陆砚秋"]) == []
