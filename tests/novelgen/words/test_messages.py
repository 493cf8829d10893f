"""What the source says in English to people has a Chinese sentence, with the same values, and no other does."""

import importlib.util
import os
import re
from functools import cache
from pathlib import Path

import pydantic_core
import pytest

from novelgen.model_calls.model_answer import CHECK_THE_SERVER
from novelgen.words import filled, words
from novelgen.words.messages import message_in
from tests.novelgen.words.message_sources import SOURCE, catalogue, message_templates

_PLACE = re.compile(r"\{(\d+)\}")
SENTENCES = {english: chinese for table in catalogue().values() for english, chinese in table.items()}


def test_chinese_stands_among_chinese_without_spaces() -> None:
    """A value that is Chinese itself is set without the spaces that one in letters has."""
    assert message_in("the draft is empty", "zh") == "草稿是空的"
    assert message_in("OL3 is empty", "zh") == "OL3 是空的"
    assert filled("{name} 已并入 {other}", name="青荇", other="C3") == "青荇已并入 C3"
    assert filled("{}: {} of {}", "the 青 荇", 3, "x") == "the 青 荇: 3 of x"
    assert filled("建卡片：`novelgen card add {1} 名字`", "", "雾屿") == "建卡片：`novelgen card add 雾屿 名字`"
    assert (
        filled("新建：novelgen card add {name} 名字；{name} 有", name="雾屿")
        == "新建：novelgen card add 雾屿 名字；雾屿有"
    )


@pytest.mark.slow
def test_every_sentence_of_the_source_has_chinese() -> None:
    """Whoever writes a new error, issue or warning writes its Chinese."""
    missing = {template: place for template, place in message_templates().items() if template not in SENTENCES}
    assert not missing


@pytest.mark.slow
def test_no_chinese_sentence_is_left_whose_english_is_gone() -> None:
    """The catalogue holds what the source says now; what was reworded is not kept beside."""
    assert not set(catalogue()["source"]) - set(message_templates())


@pytest.mark.parametrize("table", ["words", "libraries"])
def test_other_words_stand_where_they_are_said_to(table: str) -> None:
    """Short words stand in our own source, those of libraries in theirs."""
    text = _own_source() if table == "words" else _sources_of_libraries()
    strange = [english for english in catalogue()[table] if not all(part in text for part in _words_of(english))]
    assert not strange


def _words_of(english: str) -> list[str]:
    parts = (part.strip(" .,:;()?") for part in re.split(r"\{\d+\}|'|s\b", english))
    return [part for part in parts if part]


@cache
def _own_source() -> str:
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(SOURCE.glob("[nr][ou][vn]*/**/*.py")))
    return text + text.replace("_", " ")


@cache
def _sources_of_libraries() -> str:
    files = [file for name in ("click", "json", "zipfile") for file in _files_of(name)]
    # pydantic says its own in Rust, and tells what it says.
    listed = pydantic_core._pydantic_core.list_all_errors()
    of_values = [each["message_template_python"].replace("{field_type}", "List") for each in listed]
    of_values += [each.replace("{expected_plural}", "") for each in of_values]
    of_system = [os.strerror(number) for number in range(1, 134)]
    words = ("File", "Directory", "Path")
    return "\n".join([*(file.read_text(encoding="utf-8") for file in files), *of_values, *of_system, *words])


def _files_of(package: str) -> list[Path]:
    found = importlib.util.find_spec(package)
    assert found is not None
    assert found.origin is not None
    origin = Path(found.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


@pytest.mark.slow
def test_a_message_is_said_in_chinese_with_its_values() -> None:
    """Of each sentence the Chinese one has all its values, each in its place."""
    assert not [english for english in SENTENCES if not _is_said_whole(english)]


def _is_said_whole(english: str) -> bool:
    places = [int(place) for place in _PLACE.findall(english)]
    if sorted({int(place) for place in _PLACE.findall(SENTENCES[english])}) != places or len(set(places)) < len(places):
        return False
    message, chinese = (_unescaped(_PLACE.sub(r"@\1", told)) for told in (english, SENTENCES[english]))
    said = message_in(message, "zh")
    # Where two places are neighbours, nothing tells where the one ends.
    return all(f"@{place}" in said for place in places) if "}{" in english else said == chinese


def _unescaped(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("there is no setting 'modl'; did you mean 'model'?", "没有设置“modl”；是不是“model”？"),
        ("error: no thread 'L9' is stored; list them to find its id", "错误：没有存入线索“L9”；请列出它们，找到编号"),
        ("give one of 'a', 'b' or 'c'", "请给出其中一个：“a”、“b”、“c”"),
        ("Nothing that novelgen says.", "Nothing that novelgen says."),
        ("Something else, of libraries: two words", "Something else, of libraries: two words"),
        (
            "the model gave no answer: TypeError: \"'NoneType' object is not iterable\"; " + CHECK_THE_SERVER,
            "模型没有回答：TypeError：“'NoneType' object is not iterable”；请检查模型、它的地址和服务器",
        ),
        (
            """no readable JSON object in the answer '{"title": "the draft is empty", "tags": [1, 2]}'""",
            """回答中没有可读的 JSON 对象：“{"title": "the draft is empty", "tags": [1, 2]}”""",
        ),
        (
            "no thread 'the \"draft\" is empty' is stored; list them to find its id",
            '没有存入线索“the "draft" is empty”；请列出它们，找到编号',
        ),
        (
            "what else could not be placed: 'Zhao' (C3 bears it; same_entities if they are one), 'OL2'",
            "其余未能归位的：“Zhao”（C3 用这个名字；若是同一个，请用 same_entities）、“OL2”",
        ),
    ],
)
def test_messages_stand_in_messages(message: str, said: str) -> None:
    """What stands in a place is said in Chinese, too, and quoted as Chinese quotes; what nobody knows stays."""
    assert message_in(message, "zh") == said
    assert message_in(message, "en") == message


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("stored: 1 chapters, 1 scenes, 21 memories", "stored: 1 chapter, 1 scene, 21 memories"),
        ("1 memories wait; 1 scenes have no text", "1 memory waits; 1 scene has no text"),
        ("scene 1:1 scenes, '1 scenes'", "scene 1:1 scenes, '1 scenes'"),
    ],
)
def test_one_of_a_thing_is_told_as_one(message: str, said: str) -> None:
    """Sentences of the source count in plurals; who reads English is told of one as one, names and places apart."""
    assert message_in(message, "en") == said
    assert words("commands", "en")["line.scenes"].format(1) == "1 scene"
    assert words("commands", "en")["line.scenes"].format("1,200") == "1,200 scenes"
    assert filled("{count:more scene lies|more scenes lie} ahead", count=1) == "1 more scene lies ahead"


def test_a_command_in_a_message_stays_as_a_shell_reads_it() -> None:
    """Its quotes and words are copied, not translated."""
    command = '`novelgen card add p "铺 子" --kind location`'
    message = f"no location 'X' is known by then; none is known yet; one without a card gets it with {command}"
    chinese = message_in(message, "zh")
    assert command in chinese
    assert "“X”" in chinese
