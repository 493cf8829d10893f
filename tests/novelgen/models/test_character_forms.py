"""The forms in which people write down characters."""

from typing import Any

import pytest

from novelgen.models.character_forms import read_characters
from novelgen.models.plan import given_characters
from novelgen.models.user_file import CharactersConfig


def _names(value: object) -> list[str]:
    return [character.name for character in CharactersConfig.model_validate(given_characters(value)).everyone()]


@pytest.mark.parametrize(
    "form",
    [
        [{"name": "Ada"}, {"name": "Roe"}],
        ["Ada", "Roe"],
        {"characters": [{"name": "Ada"}, {"name": "Roe"}]},
        {"characters": {"Ada": {"age": 31}, "Roe": {"role": "captain"}}},
        {"Ada": {"age": 31}, "Roe": {"role": "captain"}},
        {"protagonist": {"name": "Ada"}, "supporting": [{"name": "Roe"}]},
        {"protagonist": [{"name": "Ada"}, {"name": "Roe"}]},
        {"主角": {"姓名": "Ada"}, "配角": [{"名字": "Roe"}]},
        {"人物": [{"姓名": "Ada"}, {"姓名": "Roe"}]},
        {"hero": {"name": "Ada"}, "cast": ["Roe"]},
    ],
)
def test_lists_wrappers_and_chinese_keys_are_read(form: Any) -> None:
    """Everybody is read, in order, whatever the form."""
    assert _names(form) == ["Ada", "Roe"]


def test_fields_of_a_card_are_read_and_no_field_is_lost() -> None:
    """Chinese keys become fields; a second text for one field stays under its own key."""
    [card] = read_characters(
        [{"姓名": "沈青", "别名": "青姑、阿青", "年龄": 19, "背景": "渔家女", "描述": "左手有疤", "血型": "A"}]
    )[  # type: ignore[index]
        "supporting_characters"
    ]
    assert card == {
        "name": "沈青",
        "aliases": ["青姑", "阿青"],
        "age": 19,
        "background": "渔家女",
        "描述": "左手有疤",
        "血型": "A",
    }
    assert _names({"姓名": "沈青", "性格": "稳重"}) == ["沈青"]
    assert _names([]) == _names({}) == []


@pytest.mark.parametrize("form", [{"charaters_list": "Ada, Roe"}, {"世界观": "雪国", "门派": ["归墟"]}, {"a": 1}])
def test_a_document_without_characters_is_refused(form: Any) -> None:
    """The error names the keys that stand there and the keys that are read."""
    with pytest.raises(ValueError, match=f"none under '{next(iter(form))}'.*; write protagonist"):
        given_characters(form)
