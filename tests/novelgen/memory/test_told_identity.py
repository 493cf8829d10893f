"""What tells that two names are one person's, and nothing else."""

import pytest

from novelgen.memory.told_identity import tells_identity, tells_only_identity

ENGLISH = [["Daniel Voss", "Voss"], ["Julian Ashcombe"]]
CHINESE = [["陆九"], ["顾衍之"]]
OTHERS = ["Ada", "Tom Hale", "Tom", "沈鸢", "阿福"]


@pytest.mark.parametrize(
    "text",
    [
        "Voss is really called Julian Ashcombe.",
        "Daniel Voss is Julian Ashcombe in disguise.",
        "Voss's real name is Julian Ashcombe.",
        "His real name is Julian Ashcombe.",
        "Voss is none other than Ashcombe, Julian Ashcombe.",
        "Voss and Julian Ashcombe are the same man.",
        "Voss is an alias of Julian Ashcombe.",
        "陆九其实就是顾衍之。",
        "陆九的真名是顾衍之。",
        "陆九和顾衍之是同一个人。",
        "陆九是顾衍之的化名。",
        "他真名叫顾衍之。",
    ],
)
def test_names_and_words_of_being_tell_the_identity_alone(text: str) -> None:
    """In both languages, of both names, or of one and that it is a real name."""
    assert tells_only_identity(text, ENGLISH) or tells_only_identity(text, CHINESE)


@pytest.mark.parametrize(
    "text",
    [
        "Voss is really Julian Ashcombe, who burned the will.",
        "Voss is not Julian Ashcombe.",
        "Voss is Julian Ashcombe's man.",
        "Voss is a man of Julian Ashcombe.",
        "Voss and Julian Ashcombe are two people.",
        "Voss called.",
        "陆九其实就是顾衍之，烧了遗嘱。",
        "陆九不是顾衍之。",
        "陆九是顾衍之的人。",
        "陆九和顾衍之是两个人。",
        "陆九叫人。",
    ],
)
def test_what_tells_more_or_something_else_is_not_the_identity_alone(text: str) -> None:
    """A deed beside it, a denial, and what somebody's man is called."""
    assert not tells_only_identity(text, ENGLISH)
    assert not tells_only_identity(text, CHINESE)


def test_what_tells_more_still_tells_the_identity() -> None:
    """What names neither, or one of them alone, does not."""
    assert tells_identity("Voss is really Julian Ashcombe, who burned the will.", ENGLISH)
    assert not tells_identity("Voss was tired.", ENGLISH)
    assert not tells_identity("She is tired.", ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "Voss is really called Julian Ashcombe; only Tom knows it.",
        "Voss is Julian Ashcombe. Ada does not know it.",
        "Voss is Julian Ashcombe, but nobody but Tom Hale knows it.",
        "Only Tom and Voss know that Voss is really Julian Ashcombe.",
        "Nobody knows that Voss is Julian Ashcombe.",
        "Ada must never learn that Voss is Julian Ashcombe.",
        "Voss's real name is Julian Ashcombe, hidden from Ada.",
        "Unknown to Ada, Voss is Julian Ashcombe.",
        "陆九其实就是顾衍之，只有阿福知道。",
        "瞒着沈鸢：陆九其实就是顾衍之。",
        "沈鸢不知道陆九就是顾衍之。",
        "除了阿福没人知道陆九是顾衍之。",
        "陆九真名叫顾衍之，没有人知道这件事。",
    ],
)
def test_who_knows_an_identity_is_nothing_else(text: str) -> None:
    """A list of knowers, and words that keep it from somebody."""
    assert tells_only_identity(text, ENGLISH, OTHERS) or tells_only_identity(text, CHINESE, OTHERS)


@pytest.mark.parametrize(
    "text",
    [
        "Voss told Tom that he is Julian Ashcombe and showed him a letter; only Tom knows it.",
        "Voss told Tom that he is Julian Ashcombe; only Tom knows it.",
        "Voss is really Julian Ashcombe, who burned the will; only Tom knows it.",
        "Voss is Julian Ashcombe; Ada does not know that he burned the will.",
        "Only Tom knows that Voss is Julian Ashcombe's man.",
        "Voss is not Julian Ashcombe; only Tom knows it.",
        "Tom is Julian Ashcombe's son; Voss does not know it.",
        "Only Tom knew that Voss was Julian Ashcombe until the trial.",
        "Ada knows that Voss is Julian Ashcombe.",
        "陆九告诉阿福他就是顾衍之，还给他看了信，只有阿福知道。",
        "陆九其实就是顾衍之，烧了遗嘱，只有阿福知道。",
        "陆九是顾衍之的人，沈鸢不知道。",
        "阿福是顾衍之的儿子，陆九不知道。",
        "沈鸢不知道陆九就是顾衍之的弟弟。",
    ],
)
def test_a_deed_beside_who_knows_it_is_more_than_the_identity(text: str) -> None:
    """Also of others, and where the knowing ends or is told itself."""
    assert not tells_only_identity(text, ENGLISH, OTHERS)
    assert not tells_only_identity(text, CHINESE, OTHERS)
