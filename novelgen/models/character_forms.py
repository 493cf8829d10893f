"""The forms in which people write down characters, read as one."""

from collections.abc import Collection, Mapping
from typing import Any

from novelgen.models.user_file import Character, CharactersConfig

_GROUPS: dict[str, str] = {
    **dict.fromkeys(
        ("supporting", "supporting_cast", "others", "配角", "其他", "其他人物", "次要人物"), "supporting_characters"
    ),
    **dict.fromkeys(("characters", "cast", "people", "人物", "角色", "人物列表", "角色列表"), "supporting_characters"),
    **dict.fromkeys(
        ("main_character", "hero", "heroine", "主角", "主人公", "男主", "女主", "男主角", "女主角"), "protagonist"
    ),
    **dict.fromkeys(("villain", "反派", "反派角色", "对手"), "antagonist"),
}
_FIELDS: dict[str, str] = {
    **dict.fromkeys(("姓名", "名字", "名称", "人名", "character_name"), "name"),
    **dict.fromkeys(("身份", "角色定位", "定位", "职业"), "role"),
    **dict.fromkeys(("别名", "又名", "外号", "绰号", "称呼", "nicknames", "alias"), "aliases"),
    **dict.fromkeys(("外貌", "外表", "长相", "样貌"), "appearance"),
    **dict.fromkeys(("性格", "个性"), "personality"),
    **dict.fromkeys(("背景", "经历", "简介", "描述", "介绍", "description", "bio", "backstory"), "background"),
    **dict.fromkeys(("动机", "目标"), "motivation"),
    **dict.fromkeys(("能力", "技能", "特长", "skills"), "abilities"),
    **dict.fromkeys(("关系", "人物关系"), "relationships"),
    "年龄": "age",
    "性别": "gender",
}
_TEXT_LISTS = ("aliases", "abilities")
_GROUP_NAMES = frozenset(CharactersConfig.model_fields) - {"extra"}
_SEPARATORS = str.maketrans(dict.fromkeys("，、；;|/", ","))


def read_characters(value: object) -> object:
    """Return characters in the fields of `CharactersConfig`.

    Args:
        value: A list of cards, a mapping of groups, or a mapping from names to cards, with English or Chinese keys.
            Anything else is returned as it is.

    """
    if isinstance(value, list | tuple):
        return {"supporting_characters": [_card(card) for card in value]}
    if not isinstance(value, Mapping):
        return value
    groups: dict[str, Any] = {}
    for key, content in value.items():
        name = _GROUPS.get(str(key).strip(), str(key))
        if name == "supporting_characters" and isinstance(content, Mapping):
            content = _cards_by_name(content)
        _add(groups, name, content)
    if _GROUP_NAMES & set(groups):
        return groups
    if value and all(_is_card(card) and _card(card).get("name", name) == name for name, card in value.items()):
        return {"supporting_characters": _cards_by_name(value)}
    if _is_card(value) and "name" in (card := _card(value)):
        return {"supporting_characters": [card]}
    return value


def require_characters(names: Collection[str]) -> None:
    """Reject a document without any known group of characters.

    Raises:
        ValueError: When there are keys and none of them is a group.
    """
    if names and not set(names) & _GROUP_NAMES:
        raise ValueError(
            f"characters has none under {', '.join(map(repr, list(names)[:8]))}; "
            "write protagonist, antagonist or supporting_characters, or a list of cards with a name"
        )


def _add(groups: dict[str, Any], name: str, content: Any) -> None:
    if name == "supporting_characters" and isinstance(content, list | tuple):
        groups[name] = [*groups.get(name, []), *(_card(card) for card in content)]
    elif name in ("protagonist", "antagonist"):
        cards = list(content) if isinstance(content, list | tuple) else [content]
        if name not in groups and cards:
            groups[name] = _card(cards.pop(0))
        if cards:
            groups["supporting_characters"] = [*groups.get("supporting_characters", []), *map(_card, cards)]
    else:
        groups[name] = content


def _cards_by_name(cards: Mapping[Any, Any]) -> Any:
    if not all(_is_card(card) for card in cards.values()):
        return cards
    return [{"name": str(name), **_card(card)} for name, card in cards.items()]


def _is_card(value: object) -> bool:
    """Tell whether a mapping has a field of a card."""
    return isinstance(value, Mapping) and any(
        _FIELDS.get(str(key).strip(), str(key)) in Character.model_fields for key in value
    )


def _card(value: Any) -> Any:
    """Return a card in `Character` fields, a bare text as its name."""
    if isinstance(value, str):
        return {"name": value}
    if not isinstance(value, Mapping):
        return value
    card: dict[str, Any] = {}
    for key, content in value.items():
        name = _FIELDS.get(str(key).strip(), str(key))
        is_free = name == key or (name not in value and name not in card)
        card[name if is_free else str(key)] = content
    for name in _TEXT_LISTS:
        if isinstance(card.get(name), str):
            card[name] = [text for part in card[name].translate(_SEPARATORS).split(",") if (text := part.strip())]
    return card
