"""Tests of what is distilled from a scene without a model."""

import pytest

from novelgen.language.extractive import (
    BULLET_CHARACTERS,
    bullets,
    gist,
    salient_sentences,
    short_form,
    with_whole_quotations,
)
from novelgen.language.resolver import Mention


def best(text: str, named: list[Mention]) -> str:
    """The best sentence of a text."""
    (sentence,) = salient_sentences(text, named, limit=1)
    return text[sentence.start : sentence.end]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("It rained all day. I swear to return the key. They ate.", "I swear to return the key."),
        ("天色已晚，风很大。我答应你，明年必来。众人吃饭。", "我答应你，明年必来。"),
        ("She sang a song. He was murdered in the hall. They ate.", "He was murdered in the hall."),
        ("桃花开得正好。原来那人是个妖怪变作的。众人吃饭。", "原来那人是个妖怪变作的。"),
    ],
)
def test_promises_deaths_and_secrets_are_found(text: str, sentence: str) -> None:
    """A sentence that promises, kills or reveals beats one that sets a mood, in both languages."""
    assert best(text, []) == sentence


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("他说：“请你替我送到霞飞路。", "他说：“请你替我送到霞飞路。…”"),
        ("我答应过她的。”他说。", "“…我答应过她的。”他说。"),
        ("「去吧。他说「来…", "「去吧。他说「来…」…」"),
        ("“去吧。”他说。", "“去吧。”他说。"),
        ("She said, “Take it to the mill.", "She said, “Take it to the mill.…”"),
        ('She said, "Take it to the mill.', 'She said, "Take it to the mill.…"'),
        ('I promised her that, Sparrow."', '"…I promised her that, Sparrow."'),
        ('"Go," she said.', '"Go," she said.'),
        ("It’s the dogs’ hour.", "It’s the dogs’ hour."),
    ],
)
def test_a_part_of_a_speech_has_its_quotation_whole(part: str, whole: str) -> None:
    """Opened and closed, in both languages; what is whole, and an apostrophe, stays."""
    assert with_whole_quotations(part) == whole


@pytest.mark.parametrize(
    "text",
    ["天黑了。“我答应你，明年必来。你等着我。”他走了。", '"I promise to come back. Wait for me," he said. He left.'],
)
def test_no_quotation_of_a_summary_is_open(text: str) -> None:
    """Of all lines that rules make of a scene, also of one that is cut."""
    for line in [*bullets(text), gist(text), *bullets(text.replace("明年", "明年" * 200)), gist(text * 9)]:
        assert line.count("“") == line.count("”")
        assert line.count('"') % 2 == 0


def test_the_best_sentences_come_first_and_whole() -> None:
    """Named entities count, limits hold, and a better sentence that is too long is not cut."""
    text = "Anna walked along. Anna met Boris there."
    assert (
        best(text, [Mention("C1", "Anna", 0, 4), Mention("C1", "Anna", 19, 23), Mention("C2", "Boris", 28, 33)])
        == text[19:]
    )
    text = "He died there. Birds sang above. She gave it away."
    scores = [sentence.score for sentence in salient_sentences(text, [], limit=5)]
    assert scores == [3.0, 2.0]
    assert len(salient_sentences(text, [], limit=1)) == 1
    assert salient_sentences(text, [], limit=0) == []
    text = "He swore that he would kill " + "the man who " * 10 + "came. She gave him the\nring."
    assert short_form(text, []) == "She gave him the ring."


@pytest.mark.parametrize("text", ["", "Birds sang above.", "He died " + "and died " * 12 + "."])
def test_without_a_fitting_sentence_there_is_no_short_form(text: str) -> None:
    """Empty, weightless and overlong text has none."""
    assert short_form(text, []) is None


@pytest.mark.parametrize(("sentences", "count"), [(1, 1), (2, 2), (3, 3), (12, 3), (24, 4), (60, 5), (500, 5)])
def test_a_scene_has_three_to_five_bullets(sentences: int, count: int) -> None:
    """Seed 000.36: more for a longer scene, never more than it has sentences."""
    assert len(bullets(" ".join(f"They went to hill {number}." for number in range(sentences)))) == count


def test_bullets_are_the_weightiest_of_each_stretch_in_order() -> None:
    """What promises, kills or reveals stands for its third of the scene; long ones are clipped, blanks are one."""
    text = (
        "It rained. I swear to return the key. They ate. She sang. He was murdered in\n the hall. They slept. "
        "It dawned. The secret was out. They left."
    )
    assert bullets(text) == ["I swear to return the key.", "He was murdered in the hall.", "The secret was out."]
    assert len(bullets(text, max_bullets=1)) == 1
    assert bullets("我答应你，明年必来。天黑了。众人吃饭。") == ["我答应你，明年必来。", "天黑了。", "众人吃饭。"]
    [clipped] = bullets(f"{'word ' * 90}.")
    assert (len(clipped), clipped[-1]) == (BULLET_CHARACTERS, "…")
    assert bullets(" \n ") == []
