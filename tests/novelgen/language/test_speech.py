"""What is said aloud and by whom, where the words beside it leave no doubt."""

import pytest

from novelgen.language.resolver import NameResolver
from novelgen.language.speech import find_speeches, speech_at
from tests.novelgen.language.story_entities import entity

PEOPLE = [entity("C1", "Ada Voss", "Ada"), entity("C2", "Ben"), entity("C3", "陆青崖", "青崖"), entity("C4", "苏晚棠")]


def speakers(text: str, narrator_id: str | None = None) -> list[tuple[str, str | None]]:
    """The words of each speech without its marks, and who speaks."""
    mentions = NameResolver(PEOPLE).find_mentions(text)
    return [
        (text[each.start + 1 : each.end - 1], each.speaker_id)
        for each in find_speeches(text, mentions, narrator_id=narrator_id)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Sit down,” said old Ben.", [("Sit down,", "C2")]),
        ("“Sit down.” Ada whispered it to Ben.", [("Sit down.", "C1")]),
        ("Ada said quietly, “Sit down.”", [("Sit down.", "C1")]),
        ('"Sit down," said Ben. "It is late."', [("Sit down,", "C2"), ("It is late.", "C2")]),
        ("“Sit down,” he said to Ben.", [("Sit down,", None)]),
        ("“Sit down,” said Ben’s brother.", [("Sit down,", None)]),
        ("“Where is Ben?”\n\n“Sit down,” said Ada.", [("Where is Ben?", None), ("Sit down,", "C1")]),
        ("‘Sit down,’ said Ada.", [("Sit down,", "C1")]),
    ],
)
def test_an_english_speaker_is_who_is_named_beside_a_verb_of_speech(
    text: str, expected: list[tuple[str, str | None]]
) -> None:
    """Behind or before the words, and for all that is said in the same paragraph; a pronoun names nobody."""
    assert speakers(text) == expected


def test_the_narrator_is_who_says_i() -> None:
    """In a first person's narration, nobody where none is known; what is not said is narration."""
    text = "“Sit down,” said I. Ben sat."
    assert speakers(text, "C1") == [("Sit down,", "C1")]
    assert speakers(text) == [("Sit down,", None)]
    text = "Ada said, “Sit down.” Ben sat."
    speeches = find_speeches(text, [])
    assert speech_at(speeches, text.index("Sit")) is not None
    assert speech_at(speeches, text.index("Ben")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("陆青崖笑道：“请坐。”", [("请坐。", "C3")]),
        ("青崖推门进来，点头道：“请坐。”", [("请坐。", "C3")]),
        ("“请坐。”苏晚棠低声说。", [("请坐。", "C4")]),
        ("那船家道：“请坐。”", [("请坐。", None)]),
        ("陆青崖看她一眼，老船家道：“请坐。”", [("请坐。", None)]),
        ("陆青崖的师弟道：“请坐。”", [("请坐。", None)]),
    ],
)
def test_a_chinese_speaker_begins_the_clause(text: str, expected: list[tuple[str, str | None]]) -> None:
    """A clause that tells only the manner takes the subject before it; somebody unknown is not taken for another."""
    assert speakers(text) == expected
