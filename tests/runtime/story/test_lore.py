"""A lorebook among the author's notes: what calls an entry, from where on, and how it goes in and out."""

import itertools
import json
from typing import Any

import pytest

from novelgen.errors import InvalidFileError, UserInputError
from novelgen.models.memory import BOOK
from runtime.stores import MemoryStores
from runtime.story.story import Story

_numbers = itertools.count(1)

WORLD = {
    "entries": {
        "0": {"key": ["灵石"], "comment": "灵石", "content": "一块灵石换一年口粮。"},
        "1": {"key": [], "comment": "天道", "content": "此界无人可飞升。", "constant": True},
        "2": {"key": ["魔教"], "comment": "魔教", "content": "魔教总坛在血海。", "disable": True},
        "3": {"key": ["坊市"], "content": "坊市三日一开。", "extensions": {"novelgen": {"from": "3:1"}}},
    }
}


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """An empty Chinese story with the lorebook."""
    project = f"lore-{next(_numbers)}"
    stores.create_project(project, language="zh")
    found = Story(stores, project)
    found.lore.import_book(json.dumps(WORLD))
    return found


def _read(story: Story, chapter: int, purpose: str) -> dict[str, Any]:
    context = story.context(chapter, 1, {"purpose": purpose})
    return {each.content: each for each in context.relevant_memories}


def _reasons(story: Story, chapter: int, purpose: str) -> dict[str, list[str]]:
    report = story.context(chapter, 1, {"purpose": purpose}).report
    notes = {each.note_id: each.title or each.text for each in story.lore.list()}
    return {
        notes[each.chunk_id]: [name for name in ("called", "pinned") if name in each.reasons]
        for each in report.items
        if each.chunk_id in notes
    }


@pytest.mark.slow
def test_an_entry_is_read_at_its_key_or_always_and_never_before_its_place(story: Story) -> None:
    """The plan's words call it; one that is off, or of later chapters, stays away; all know what the lorebook says."""
    told = _reasons(story, 2, "林凡带着灵石去坊市，遇上魔教")
    assert told["灵石"] == ["called"]
    assert told["天道"] == ["pinned"]
    assert {"魔教", "坊市三日一开。"}.isdisjoint(told)
    assert _reasons(story, 3, "去坊市")["坊市三日一开。"] == ["called"]
    assert _reasons(story, 3, "夜里读书").get("灵石", []) == []
    [memory] = [each for text, each in _read(story, 2, "灵石").items() if "灵石" in text]
    assert BOOK in [each.id for each in memory.attached_to]


@pytest.mark.slow
def test_a_note_is_an_entry_by_its_keys(story: Story) -> None:
    """What is noted with a key or as always read stands in the lorebook, and what is exported brings it back."""
    story.memories.add("教主怕水。", keys=["教主"], start="14:1")
    story.memories.add("月有两轮。", pinned=True)
    told = {each.text: each for each in story.lore.list()}
    assert (told["教主怕水。"].keys, told["教主怕水。"].start, told["月有两轮。"].pinned) == (["教主"], "14:1", True)
    assert "教主怕水。" not in [each.text for each in story.lore.list(as_of="14:0")]
    forms: tuple[Any, ...] = ("sillytavern", "novelai")
    for form in forms:
        again = story.lore.import_book(json.dumps(story.lore.export_book(form)))
        assert (again.added, again.were_there, again.change_id) == ([], 6, None)


def _book(**fields: Any) -> str:
    entry = {"uid": 0, "key": ["heron key"], "comment": "Heron key", "content": "The heron key is brass."}
    return json.dumps({"entries": {"0": entry | fields}})


def _heron(story: Story) -> list[tuple[str, list[str], bool, bool]]:
    entries = [entry for entry in story.lore.list() if entry.title == "Heron key"]
    return [(entry.text, entry.keys, entry.pinned, entry.is_off) for entry in entries]


@pytest.mark.slow
def test_an_entry_that_comes_again_replaces_its_older_self(story: Story) -> None:
    """Words, keys and switches follow the newer file, undo brings the older entry back, and another place stays."""
    [note_id] = story.lore.import_book(_book()).added
    silver = "The heron key is silver."
    again = story.lore.import_book(_book(content=silver, key=["heron key", "key"]))
    assert (again.added, again.updated, again.were_there) == ([], [note_id], 0)
    assert _heron(story) == [(silver, ["heron key", "key"], False, False)]
    assert "brass" not in "".join(_read(story, 2, "the heron key turns"))
    story.lore.import_book(_book(content=silver, key=["heron key", "key"], disable=True))
    assert _heron(story) == [(silver, ["heron key", "key"], False, True)]
    assert silver not in _read(story, 2, "the heron key turns")
    story.undo()
    story.undo(again.change_id)
    assert _heron(story) == [("The heron key is brass.", ["heron key"], False, False)]
    later = _book(content="The heron key is broken.", extensions={"novelgen": {"from": "3:1"}})
    assert len(story.lore.import_book(later).added) == 1
    assert len(_heron(story)) == 2
    assert "The heron key is brass." in _read(story, 2, "the heron key turns")


def test_entries_of_one_title_or_one_key_stay_apart(story: Story) -> None:
    """Only what has the same title and a key in common, or the same keys without a title, is the same entry."""
    entries = [
        {"key": ["a"], "comment": "Gate", "content": "The gate is iron."},
        {"key": ["b"], "comment": "Gate", "content": "The gate sings."},
        {"key": ["c"], "comment": "Door", "content": "The door is oak."},
        {"key": ["c"], "comment": "Latch", "content": "The latch is gold."},
    ]
    assert len(story.lore.import_book(json.dumps({"entries": entries})).added) == 4
    again = story.lore.import_book(json.dumps({"entries": [*entries, {"key": ["灵石"], "content": "灵石很贵。"}]}))
    assert (again.added, again.were_there, len(again.updated)) == ([], 4, 1)
    assert "灵石很贵。" in [entry.text for entry in story.lore.list()]


@pytest.mark.slow
def test_every_entry_is_kept_and_exported(story: Story) -> None:
    """Entries with a pattern alone or without a key are in the list and in the file, and come back the same."""
    entries = [
        {"key": ["/龙+/"], "content": "龙冬天不出洞。"},
        {"key": [], "vectorized": True, "content": "桥上不许骑马。"},
        {"key": ["エリス"], "content": "エリスは左利きだ。"},
        {"key": ["🔥"], "content": "火的记号是进攻。"},
        {"key": ["김철수"], "content": "김철수는 의사다."},
    ]
    taken = story.lore.import_book(json.dumps({"entries": entries}))
    assert len(taken.added) == 5
    exported = story.lore.export_book()["entries"].values()
    assert {entry["content"]: entry["key"] for entry in exported}.items() >= {
        entry["content"]: entry["key"] for entry in entries
    }.items()
    assert story.lore.import_book(json.dumps(story.lore.export_book())).were_there == 9
    for plan, text in (("エリスが来た", entries[2]), ("她举起🔥", entries[3]), ("김철수가 왔다", entries[4])):
        report = story.context(2, 1, {"purpose": plan}).report
        notes = {entry.note_id: entry.text for entry in story.lore.list()}
        assert [notes[item.chunk_id] for item in report.items if "called" in item.reasons] == [text["content"]]


def test_a_character_card_brings_its_book_and_cards_go_out_as_entries(story: Story) -> None:
    """The book of a card is read with the name in place of its mark; an export may hold the story's cards."""
    book = {"entries": [{"keys": ["salt"], "content": "{{char}} fears salt; {{user}} does not.", "enabled": True}]}
    taken = story.lore.import_book(
        json.dumps({"spec": "chara_card_v2", "data": {"name": "Ines", "character_book": book}})
    )
    assert [entry.text for entry in story.lore.list() if "salt" in entry.keys] == [
        "Ines fears salt; {{user}} does not."
    ]
    assert "{{user}}" in taken.issues[0].message
    story.entities.add("沈青", kind="character", fields={"description": "渔家女", "alias": "青姑"})
    assert "沈青" not in json.dumps(story.lore.export_book(), ensure_ascii=False)
    [card] = [entry for entry in story.lore.export_book(cards=True)["entries"].values() if entry["comment"] == "沈青"]
    assert card["key"] == ["沈青", "青姑"]
    assert "渔家女" in card["content"]


@pytest.mark.slow
def test_an_import_is_undone_whole(story: Story) -> None:
    """One change takes all entries back; what else is noted stays."""
    story.undo()
    assert story.lore.list() == []
    added = story.lore.import_book(json.dumps(WORLD), start="2:1")
    assert sorted(each.start for each in story.lore.list()) == ["2:1", "2:1", "2:1", "3:1"]
    assert added.change_id is not None
    story.undo(added.change_id)
    assert story.lore.list() == []


@pytest.mark.slow
def test_what_is_no_lorebook_changes_nothing(story: Story) -> None:
    """Text that is no JSON and a position that is none are refused or told."""
    with pytest.raises(InvalidFileError, match="the lorebook is not JSON"):
        story.lore.import_book("{]")
    with pytest.raises(UserInputError, match="no lorebook"):
        story.lore.import_book("{}")
    entry = {"text": "Moss.", "keys": ["moss"], "extensions": {"novelgen": {"from": "soon"}}}
    taken = story.lore.import_book(json.dumps({"entries": [entry]}))
    assert len(taken.added) == 1
    assert "soon" in taken.issues[0].message
