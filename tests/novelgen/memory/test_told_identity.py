"""What tells that two names are one person's, and nothing else."""

import pytest

from novelgen.memory.told_identity import tells_identity, tells_only_identity

ENGLISH = [["Daniel Voss", "Voss"], ["Julian Ashcombe"]]
CHINESE = [["陆九"], ["顾衍之"]]


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
