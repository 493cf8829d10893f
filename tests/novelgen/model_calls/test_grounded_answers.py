"""Refusing what a model wrote where it is broken off or says more than it was shown."""

import pytest

from novelgen.model_calls.answers import UnusableAnswerError, require_grounded, whole_sentences


@pytest.mark.parametrize(
    ("shown", "text", "names"),
    [
        ("孙悟空打败了白骨精，回到山里。", "悟空打败了白骨精。", ["孙悟空", "悟空", "八戒"]),
        ("Ada Byron hid the brass key.", "Ada hid the brass key.", ["Ada Byron", "Ada", "Ben"]),
        ("Ada hid the brass key.", "ADA hid the brass key.", ["Ada"]),
    ],
)
def test_a_name_within_a_shown_name_was_shown(shown: str, text: str, names: list[str]) -> None:
    """Who is called by a part of a name that was shown brings nobody new in."""
    require_grounded(text, source=shown, names=names)


@pytest.mark.parametrize(
    ("shown", "text", "foreign"),
    [
        ("悟空打败了白骨精，回到山里。", "孙悟空打败了白骨精。", "孙悟空"),
        ("Ada hid the brass key.", "Ada Byron hid the brass key.", "Ada Byron"),
        ("Ada hid the brass key.", "Ben hid the brass key.", "Ben"),
        ("The Joneses hid the brass key.", "Jones hid the brass key.", "Jones"),
    ],
)
def test_a_name_that_was_not_shown_is_refused(shown: str, text: str, foreign: str) -> None:
    """The whole of a name may be known later only."""
    names = ["孙悟空", "悟空", "Ada", "Ada Byron", "Ben", "Jones"]
    with pytest.raises(UnusableAnswerError, match=f"'{foreign}' is not named"):
        require_grounded(text, source=shown, names=names)


@pytest.mark.parametrize("text", ["Ada left.  She\n came back.", "阿黛走了。\n她回来了！", "Ada said, “Go.”"])
def test_whole_sentences_are_put_on_one_line(text: str) -> None:
    """White space alone is changed."""
    assert whole_sentences(text, field="summary", max_tokens=99) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" \n", "summary is empty"),
        ("Ada left. " * 20, "summary is longer than 20 tokens"),
        ("Ada left. Then Ben", "summary does not end with a whole sentence: 'Ada left. Then Ben'"),
        ("阿黛走了，然后", "summary does not end with a whole sentence: '阿黛走了，然后'"),
    ],
)
def test_what_is_not_whole_is_refused(text: str, said: str) -> None:
    """The message names the field and what is wrong with it."""
    with pytest.raises(UnusableAnswerError, match=said):
        whole_sentences(text, field="summary", max_tokens=20)
