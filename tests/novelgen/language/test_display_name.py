"""A better display name."""

import pytest

from novelgen.language.candidates import better_display_name

CHINESE = ["山脚下有人叫喊。", "行者道：师父。", "行者笑了，老孙也笑。", "行者与长老同行。", "长老道。", "长老问。"]
ENGLISH = [
    "A voice cried under the hill.",
    "Tom Hale rose.",
    "Old Tom Hale, called Hale, spoke.",
    "Tom Hale left. The fellow laughed.",
    "The fellow laughed.",
    "The fellow wept.",
]


@pytest.mark.parametrize(
    ("name", "others", "texts", "better"),
    [
        ("山脚下叫喊的人", ["老孙", "行者", "长老"], CHINESE, "行者"),
        ("the voice under the hill", ["the fellow", "Tom Hale"], ENGLISH, "Tom Hale"),
        ("the voice under the hill", ["Hale of the mill", "the fellow"], ENGLISH, None),
        ("Mr. Thomas Tom Hale", ["Tom Hale", "Hale"], ENGLISH, None),
        ("Tom Hale", ["Hale"], ENGLISH, None),
        ("the voice under the hill", [], ENGLISH, None),
        ("the voice under the hill", ["Tom Hale"], [], None),
    ],
)
def test_a_makeshift_name_gives_way(name: str, others: list[str], texts: list[str], better: str | None) -> None:
    """The name of most scenes is taken, never a description, a part of a fuller name, or one of few scenes."""
    assert better_display_name(name, others, texts) == better


def test_a_name_that_others_bear_is_not_taken() -> None:
    """What two bear would make them alike in every list."""
    assert better_display_name("山脚下叫喊的人", ["行者", "老孙"], CHINESE, taken={"行者"}) is None
