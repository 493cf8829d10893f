"""One JSON object out of a model's text."""

import pytest

from novelgen.model_calls.answers import MAX_ANSWER_CHARACTERS, UnusableAnswerError, parse_json_object
from tests.faults.matrix import covers

PLAN = {"entities": ["C1"], "queries": []}
PLAN_TEXT = '{"entities": ["C1"], "queries": []}'


@covers(43, 44)
@pytest.mark.parametrize(
    "answer",
    [
        PLAN_TEXT,
        f"\ufeff{PLAN_TEXT}",
        f"```json\n{PLAN_TEXT}\n```",
        f"```\n{PLAN_TEXT}\n```\nI hope this helps {{name}}!",
        f"Here you are:\n{PLAN_TEXT}\nfontstyle fontstyle",
        f'<think>Maybe {{"entities": ["C9"], "queries": []}}?</think>{PLAN_TEXT}',
        f"<THINK>\nfirst </think> then\n{PLAN_TEXT}",
        f'Maybe {{"entities": ["C9"], "queries": []}}?\n</think>\n{PLAN_TEXT}',
        f'{PLAN_TEXT}<think>or {{"entities": ["C9"], "queries": []}}',
        f"<|im_start|>assistant\n{PLAN_TEXT}<|im_end|>\n<|im_start|>user\n{{",
        f'{PLAN_TEXT}</s>{{"entities": ["C9"], "queries": []}}',
        f'Draft: {{"entities": ["C9"], "queries": []}} Final: {PLAN_TEXT}',
        f'{PLAN_TEXT} with a note: {{"note": 1}}',
        f"The form {{entities, queries}} filled in: {PLAN_TEXT}",
        '{"entities": ["C1",], "queries": [],}',
        "{'entities': ['C1'], 'queries': []}",
        '{entities: ["C1"], queries: []}',
        '{"entities": ["C1"], // who\n "queries": [] /* none */}',
        "{“entities”: [“C1”], “queries”: []}",
        "{“entities”：［“C1”］，“queries”：［］}",
        '｛"entities"：["C1"]，"queries"：[]｝',
        '{"entities": [“C1”], "queries": []}',
        '{"entities": ["C1"], "queries": [], "entities": [], "queries": []}',
        '{"entities": [], "queries": null, "entities": ["C1"], "queries": []}',
    ],
)
def test_readable_answers(answer: str) -> None:
    """Whatever surrounds or disfigures a complete object, the object is found."""
    assert parse_json_object(answer, keys=("entities", "queries")) == PLAN


def test_text_in_strings_is_left_alone() -> None:
    """Chinese punctuation, braces, line breaks and escapes inside strings come out as they are."""
    answer = '{"entities": [“甲，乙：丙”, "丁：“戊”", "a{b}", "c\nd", "e\\"f"],}'
    assert parse_json_object(answer, keys=("entities",)) == {
        "entities": ["甲，乙：丙", "丁：“戊”", "a{b}", "c\nd", 'e"f']
    }


def test_repeated_lists_are_joined_and_a_cut_second_object_is_refused() -> None:
    """A key that comes twice loses neither list; a complete first object does not excuse a cut one."""
    answer = '{"queries": [{"query": "a"}], "queries": [{"query": "b"}]}'
    assert parse_json_object(answer, keys=()) == {"queries": [{"query": "a"}, {"query": "b"}]}
    with pytest.raises(UnusableAnswerError, match="ends within its JSON object"):
        parse_json_object(PLAN_TEXT + ' and {"entities": ["C2"', keys=("entities", "queries"))


@covers(42)
@pytest.mark.parametrize("text", [PLAN_TEXT, "{'entities': ['C1'], 'queries': [{'query': 'who, where'}]}"])
def test_cut_answer_is_refused_at_every_place(text: str) -> None:
    """However much of the object is there, an object that does not end is cut."""
    for end in range(1, len(text)):
        with pytest.raises(UnusableAnswerError, match="ends within its JSON object") as caught:
            parse_json_object("Here: " + text[:end], keys=("entities", "queries"))
        assert caught.value.fault == "cut"


@covers(45)
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "no readable JSON object"),
        ("I cannot help with that.", "no readable JSON object in the answer 'I cannot help"),
        ('["C1"]', "no readable JSON object"),
        (f"<think>{PLAN_TEXT}</think>", "no readable JSON object"),
        (f"<think>so {PLAN_TEXT}", "no readable JSON object"),
        ('{"entities": ["C1" "C2"]]', "no readable JSON object"),
        ('{"entities": [NaN]}', "the answer holds NaN"),
        ('{"entities": [-Infinity]}', "the answer holds -Infinity"),
        ("{'entities': [NaN]}", "the answer holds NaN"),
        ('{"a":' * 200_000, "too many to be read"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "nests too deep"),
        ("{'a':" + "[" * 5_000 + "]" * 5_000 + "}", "nests too deep"),
        ("x" * (MAX_ANSWER_CHARACTERS + 1), "too many to be read"),
    ],
)
def test_unreadable_answers(answer: str, message: str) -> None:
    """Prose, lists, reasoning alone, broken JSON, NaN and depth bombs are refused with what is wrong."""
    with pytest.raises(UnusableAnswerError, match=message) as caught:
        parse_json_object(answer, keys=("entities", "queries"))
    assert caught.value.fault == "not_json"
