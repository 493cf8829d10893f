"""One JSON object out of a model's text."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.model_calls.answers import MAX_ANSWER_CHARACTERS, UnusableAnswerError, parse_json_object
from tests.faults.matrix import covers
from tests.fuzz.strategies import fuzzed

PLAN = {"entities": ["C1"], "queries": []}
FINAL = "<|start|>assistant<|channel|>final<|message|>"
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
        f'<|channel|>analysis<|message|>{{"entities": ["C9"], "queries": []}} No.<|end|>{FINAL}{PLAN_TEXT}<|return|>',
        f"We want {{a}}.<|end|><|start|>assistant<|channel|>final<|constrain|>json<|message|>{PLAN_TEXT}",
        f"<|channel|>final<|message|>{PLAN_TEXT}<|end|><|start|>user<|channel|>analysis<|message|>{{",
        f'analysisWe need {{"entities": ["C9"], "queries": []}}.assistantfinal{PLAN_TEXT}',
        f'[THINK]{{"entities": ["C9"], "queries": []}}[/THINK]{PLAN_TEXT}',
        f'<thought>{{"entities": ["C9"], "queries": []}}</thought>{PLAN_TEXT}',
        f'<seed:think>{{"entities": ["C9"], "queries": []}}</seed:think>{PLAN_TEXT}',
        f'◁think▷{{"entities": ["C9"], "queries": []}}◁/think▷{PLAN_TEXT}',
        f'<|START_THINKING|>{{"entities": ["C9"], "queries": []}}<|END_THINKING|><|START_RESPONSE|>{PLAN_TEXT}',
        f'<|begin_of_thought|>{{"entities": ["C9"], "queries": []}}<|end_of_thought|>{PLAN_TEXT}',
        '{"entities": ["C1"] "queries": []}',
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


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        (
            '{"short": "沈青说"给你"，把钥匙交出", "importance": 6}',
            {"short": '沈青说"给你"，把钥匙交出', "importance": 6},
        ),
        ('{"short": "沈青说“给"你”，走了", "tags": []}', {"short": '沈青说“给"你”，走了', "tags": []}),
        ('{"a": "she said "no".", "b": ["x"]}', {"a": 'she said "no".', "b": ["x"]}),
        ('{"a": ""No" was said", "b": "x"}', {"a": '"No" was said', "b": "x"}),
        ('{"a": "she said "no"", "b": [""]}', {"a": 'she said "no"', "b": [""]}),
        ("{'a': 'it's late', 'b': 1}", {"a": "it's late", "b": 1}),
        ('{"a": ["x" "y"], "b": 1.5}', {"a": ["x", "y"], "b": 1.5}),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}),
        ('{"a": None, "b": True, "c": [False]}', {"a": None, "b": True, "c": [False]}),
        ('Well: {"a": "he "x"" "b": None} I hope it helps', {"a": 'he "x"', "b": None}),
    ],
)
def test_broken_json_is_read_where_nothing_is_invented(answer: str, fields: dict[str, Any]) -> None:
    """Quotation marks within a string, lost commas and Python's constants are read as they are meant."""
    assert parse_json_object(answer, keys=("a",) if "a" in fields else ("short",)) == fields


WORDS = st.sampled_from(
    ["the key", '"no"', '，"好"，', "it's", "a: b", "{x}", "[y]", "\\n", "沈青", "，", "", " ", "1", "None"]
)
STRINGS = st.lists(WORDS, max_size=4).map("".join)
OBJECTS = st.dictionaries(
    st.sampled_from("abcd"), STRINGS | st.integers(-9, 99) | st.none() | st.booleans() | st.lists(STRINGS, max_size=3)
)


def carelessly(value: Any, lost: int) -> str:
    """Write JSON as careless models do: quotes unescaped, each so-many-th comma lost, constants of Python."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(carelessly(each, lost) for each in value) + "]"
    if isinstance(value, dict):
        members = [f'"{key}": {carelessly(each, lost)}' for key, each in value.items()]
        return (
            "{"
            + "".join(
                member + ("" if at == len(members) else " " if at % lost == 0 else ", ")
                for at, member in enumerate(members, 1)
            )
            + "}"
        )
    return str(value)


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string of a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value:
            yield from strings_of(each)
        if isinstance(value, dict):
            yield from strings_of(list(value.values()))


@given(fields=OBJECTS, lost=st.integers(1, 4), end=st.integers(0, 400))
@fuzzed
def test_no_repair_says_what_was_not_said(fields: dict[str, Any], lost: int, end: int) -> None:
    """Every string of what is read stands in the answer, and a cut answer is refused."""
    text = carelessly(fields, lost)
    for answer in (text, text[:end]):
        try:
            read = parse_json_object(answer, keys=())
        except UnusableAnswerError:
            continue
        assert all(
            each in answer or json.dumps(each, ensure_ascii=False)[1:-1] in answer or "\n" in each
            for each in strings_of(read)
        )
        assert len(answer) == len(text) or is_whole(answer)


def is_whole(answer: str) -> bool:
    """Whether an answer closes as many brackets as it opens."""
    return answer.count("{") == answer.count("}") > 0 and answer.count("[") == answer.count("]")


@pytest.mark.parametrize(
    "answer",
    [
        '{"a": "he said "no", and',
        '{"a": "he said "no"", "b": ["x"',
        '{"a": [{"b": "he said "no""}, {"b": "and',
        '{"a": "沈青说"给你","把钥匙", "x": 1}',
        '{"a": tru, "b": undefined}',
        '{"a": 1,, "b": "x "y" z"}',
    ],
)
def test_a_repair_that_loses_or_guesses_is_refused(answer: str) -> None:
    """What is cut or can be read in two ways is asked about again."""
    with pytest.raises(UnusableAnswerError):
        parse_json_object(answer, keys=("a",))


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
        (f'{{"entities": [{"9" * 6000}], "queries": []}}', "a number of 6000 digits"),
        (f"{{'entities': [{'9' * 6000}], 'queries': []}}", "a number of 6000 digits"),
        (f'{{"entities": ["x "y" z"], "queries": [{"9" * 6000}]}}', "no readable JSON object"),
        ('{"entities": [1e999], "queries": []}', "the answer holds 1e999"),
        ("<|channel|>analysis<|message|>" + PLAN_TEXT + "<|end|>", "no readable JSON object"),
        ("<|channel|>commentary<|message|>" + PLAN_TEXT, "no readable JSON object"),
        ("analysis" + PLAN_TEXT, "no readable JSON object"),
        ('{"a": ' + '["' * 20_000 + "}", "no readable JSON object"),
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
