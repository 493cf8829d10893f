"""Importing a manuscript again after its author edited it."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.care.importing import SourceImport, import_source
from runtime.care.manuscript_changes import rearrangement
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import RecordOrigin, SceneInput
from runtime.storage.records import Knowledge
from runtime.stores import MemoryStores

_numbers = itertools.count(1)
STORY = {
    "雪夜": "沈砚提灯入山。\n雪落无声。\n他没有回头。",
    "灯": "灯灭了。\n门外有人。\n他问是谁。",
    "渡口": "船来了。\n船上无人。\n只有一盏灯。",
    "客": "客人走了。\n留下一封信。\n信上无字。",
}


@pytest.fixture
def project(stores: MemoryStores, tmp_path: Path) -> str:
    """The story of four chapters, each with a record that a model made."""
    project_id = f"edited-{next(_numbers)}"
    _import(stores, tmp_path, project_id, list(STORY.values()))
    for number, title in enumerate(STORY, start=1):
        _record(stores, project_id, number, f"第{number}章说到{title}。")
    return project_id


def _import(
    stores: MemoryStores, tmp_path: Path, project_id: str, texts: Sequence[str], **options: Any
) -> SourceImport:
    file = tmp_path / "古灯.txt"
    told = [f"第{number}章\n\n{text}\n" for number, text in enumerate(texts, start=1)]
    file.write_text("\n".join(told), encoding="utf-8")
    return import_source(stores, file, project_id=project_id, index=False, **options)


def _record(
    stores: MemoryStores, project_id: str, chapter: int, summary: str, origin: RecordOrigin = "extracted", **told: Any
) -> None:
    with stores.database(project_id).read() as unit:
        text = unit.scenes.require(StoryPosition(chapter, 1)).text or ""
    given = {"chapter_index": chapter, "scene_index": 1, "summary": [summary], **told}
    record = SceneRecord.model_validate(given)
    scene = SceneInput(chapter_index=chapter, scene_index=1, text=text, record=record, record_origin=origin)
    ingest_scene(stores, project_id, scene)


def _told(stores: MemoryStores, project_id: str) -> dict[int, tuple[str, list[str]]]:
    """Return first line and summary of each chapter's first scene."""
    with stores.database(project_id).read() as unit:
        scenes = unit.scenes.list_as_of(with_text=True)
    return {
        each.chapter_index: ((each.text or "").split("\n")[0], each.record.summary if each.record else [])
        for each in scenes
        if each.scene_index == 1
    }


@pytest.mark.slow
def test_only_chapters_whose_text_changed_are_taken_in_again(
    stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """What a model read from the old text goes with it; the other chapters keep all they have."""
    texts = list(STORY.values())
    texts[1] = texts[1].replace("门外有人", "门外无人")
    told = _import(stores, tmp_path, project, texts)
    assert (told.changes.changed_chapters, told.updated) == ([2], False)
    assert told.preview.kept_scenes == ["2:1"]
    assert _told(stores, project)[2] == ("灯灭了。", ["第2章说到灯。"])
    done = _import(stores, tmp_path, project, texts, update=True)
    assert done.preview.changed_scenes == ["2:1"]
    assert _told(stores, project) == {
        1: ("沈砚提灯入山。", ["第1章说到雪夜。"]),
        2: ("灯灭了。", []),
        3: ("船来了。", ["第3章说到渡口。"]),
        4: ("客人走了。", ["第4章说到客。"]),
    }
    again = _import(stores, tmp_path, project, texts, update=True)
    assert again.changes.is_empty
    assert again.preview.changed_scenes == []


@pytest.mark.slow
def test_where_lines_break_makes_no_other_text(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """A book stored with its broken lines is the same story once they are joined; what a model read of it stays."""
    joined = [text.replace("\n", "") for text in [*STORY.values()]]
    told = _import(stores, tmp_path, project, joined)
    assert told.changes.is_empty
    assert len(told.preview.same_scenes) == 4
    done = _import(stores, tmp_path, project, ["序。", *joined], update=True)
    assert (done.changes.changed_chapters, done.changes.moved_chapters) == ([], {1: 2, 2: 3, 3: 4, 4: 5})
    assert _told(stores, project)[3] == (joined[1], ["第2章说到灯。"])


@pytest.mark.slow
def test_the_authors_record_of_a_changed_chapter_stays(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """What the author said outlives the text; that it may be stale is told."""
    _record(stores, project, 2, "灯是他自己吹灭的。", "author")
    texts = list(STORY.values())
    texts[1] += "\n雪停了。"
    done = _import(stores, tmp_path, project, texts, update=True)
    assert _told(stores, project)[2] == ("灯灭了。", ["灯是他自己吹灭的。"])
    assert [issue.kind for issue in done.issues] == ["stale"]


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 2, 4])
def test_an_inserted_chapter_makes_room(stores: MemoryStores, project: str, tmp_path: Path, place: int) -> None:
    """Later chapters move with what was read from them, and no record comes to stand for another text."""
    texts = list(STORY.values())
    texts.insert(place, "新的一章。\n井里有月亮。")
    plain = _import(stores, tmp_path, project, texts)
    assert plain.changes.new_chapters == [place + 1]
    before = _told(stores, project)
    assert [first for first, _ in before.values()].count("客人走了。") == 1
    done = _import(stores, tmp_path, project, texts, update=True)
    told = _told(stores, project)
    assert [first for first, _ in told.values()] == [text.split("\n")[0] for text in texts]
    assert [summary for _, summary in told.values() if summary] == [
        [f"第{number}章说到{title}。"] for number, title in enumerate(STORY, start=1)
    ]
    assert told[place + 1][1] == []
    assert done.changes.waiting_chapters == []


@pytest.mark.slow
def test_who_knows_what_moves_with_its_chapter(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """What a record and the author say of a scene is the scene's; what is said of a place goes with the chapter."""
    people = [Entity(entity_id=f"C{number}", entity_type="character", name=f"甲{number}") for number in (0, 1)]
    store_entities(stores, project, people, origin="author")
    _record(
        stores,
        project,
        2,
        "他问是谁。",
        memories=[{"memory_id": "M1", "content": "他问是谁。", "entities": ["C0"], "hidden_from": ["C1"]}],
    )
    _record(stores, project, 3, "船上无人。", learned=[{"character_id": "C1", "memory_ids": ["M1"]}])
    doubts = {"character_id": "C0", "source_id": "M1", "kind": "doubts"}
    with stores.database(project).write() as unit:
        unit.knowledge.say(Knowledge(**doubts, chapter_index=3, scene_index=1))
        unit.knowledge.say(Knowledge(**doubts, chapter_index=3, scene_index=9))

    def said() -> list[tuple[str, str, int | None, int | None]]:
        with stores.database(project).read() as unit:
            return [
                (each.character_id, each.kind, each.chapter_index, each.scene_index) for each in unit.knowledge.said()
            ]

    assert said() == [("C1", "hidden", 2, 1), ("C1", "knows", 3, 1), ("C0", "doubts", 3, 1), ("C0", "doubts", 3, 9)]
    texts = list(STORY.values())
    texts.insert(2, "新的一章。\n井里有月亮。")
    _import(stores, tmp_path, project, texts, update=True)
    assert said() == [("C1", "hidden", 2, 1), ("C1", "knows", 4, 1), ("C0", "doubts", 4, 1), ("C0", "doubts", 4, 9)]
    with stores.database(project).read() as unit:
        assert unit.knowledge.said(as_of=StoryPosition(4, 1)) == unit.knowledge.said(as_of=StoryPosition(3))


@pytest.mark.slow
def test_a_chapter_that_is_gone_is_listed_and_holds_its_place(
    stores: MemoryStores, project: str, tmp_path: Path
) -> None:
    """Nothing is deleted: the chapters behind it wait until the author has deleted it, then they move up."""
    texts = list(STORY.values())
    del texts[1]
    first = _import(stores, tmp_path, project, texts, update=True)
    assert first.changes.gone_chapters == [2]
    assert first.changes.waiting_chapters == [2, 3]
    assert [each[0] for each in _told(stores, project).values()] == [
        "沈砚提灯入山。",
        "灯灭了。",
        "船来了。",
        "客人走了。",
    ]
    with stores.database(project).write() as unit:
        unit.scenes.delete_scene(StoryPosition(2, 1))
    second = _import(stores, tmp_path, project, texts, update=True)
    assert second.changes.moved_chapters == {3: 2, 4: 3}
    assert _told(stores, project) == {
        1: ("沈砚提灯入山。", ["第1章说到雪夜。"]),
        2: ("船来了。", ["第3章说到渡口。"]),
        3: ("客人走了。", ["第4章说到客。"]),
    }


@pytest.mark.slow
def test_a_dry_run_of_an_update_changes_nothing(stores: MemoryStores, project: str, tmp_path: Path) -> None:
    """It tells what would move and change; further chapters are new and nothing is gone."""
    before = _told(stores, project)
    texts = ["楔子里的雪。", *STORY.values()]
    told = _import(stores, tmp_path, project, texts, update=True, dry_run=True)
    assert told.changes.moved_chapters == {1: 2, 2: 3, 3: 4, 4: 5}
    assert _told(stores, project) == before
    done = _import(stores, tmp_path, project, [*STORY.values(), "天亮了。"])
    assert done.preview.new_scenes == ["5:1"]
    assert done.changes.is_empty


def _scenes(places: dict[tuple[int, int], str]) -> list[SceneInput]:
    return [
        SceneInput(chapter_index=chapter, scene_index=number, text=text) for (chapter, number), text in places.items()
    ]


def test_scenes_within_a_chapter_keep_what_was_read_from_them() -> None:
    """A scene before moves them, one gone stands aside; a part of a book says nothing of before it."""
    stored = {(1, 1): "A", (1, 2): "B", (1, 3): "C"}
    inserted = rearrangement(stored, _scenes({(1, 1): "A", (1, 2): "X", (1, 3): "B", (1, 4): "C"}))
    assert inserted.moves == {(1, 2): (1, 3), (1, 3): (1, 4)}
    gone = rearrangement(stored, _scenes({(1, 1): "B", (1, 2): "C"}))
    assert gone.moves == {(1, 1): (1, 4), (1, 2): (1, 1), (1, 3): (1, 2)}
    assert gone.changes.gone_scenes == ["1:4"]
    stored = {(number, 1): f"Text {number}." for number in range(1, 5)}
    found = rearrangement(stored, _scenes({(3, 1): "Text 3.", (4, 1): "Text 4.", (5, 1): "Text 5."}))
    assert found.changes.is_empty
    assert found.changes.new_chapters == [5]


BOOK = {
    "第1章 甲": "沈砚提灯入山。雪落无声。",
    "第7章 夜奔": "马跑了一夜。天亮到渡口。",
    "第7章 血压": "大夫按着手腕。他说不出话。",
    "第8章 丁": "客人走了。留下一封信。",
    "番外 旧信": "多年以后。那封信还在。",
}
FURTHER = "钟敲了七下。街上起雾了。"


def _take_in(stores: MemoryStores, folder: Path, project_id: str, book: dict[str, str], **options: Any) -> SourceImport:
    file = folder / "book.txt"
    file.write_text("\n\n".join(f"{heading}\n\n{text}" for heading, text in book.items()), encoding="utf-8")
    return import_source(stores, file, project_id=project_id, index=False, **options)


def _titles(stores: MemoryStores, project_id: str) -> list[str]:
    with stores.database(project_id).read() as unit:
        return [f"{each.position} {each.title}" for each in unit.scenes.list_as_of()]


@pytest.fixture
def book(stores: MemoryStores, tmp_path: Path) -> str:
    """A story in which a number stands twice, with a 番外 at its end."""
    project_id = f"doubled-{next(_numbers)}"
    _take_in(stores, tmp_path, project_id, BOOK)
    return project_id


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(
    ("further", "titles"),
    [
        ("第9章 新", ["5:1 第9章 新", "6:1 番外 旧信"]),
        ("第九章", ["5:1 第九章", "6:1 番外 旧信"]),
        ("番外 二", ["5:1 番外 旧信", "6:1 番外 二"]),
        ("第12章", ["5:1 第12章", "6:1 番外 旧信"]),
    ],
)
def test_one_more_chapter_is_appended(
    stores: MemoryStores, book: str, tmp_path: Path, further: str, titles: list[str], update: bool
) -> None:
    """Alone in its file, whatever its number; the preview says so before, and the same again changes nothing."""
    kept = [f"{number}:1 {title}" for number, title in enumerate([*BOOK][:4], start=1)]
    told = _take_in(stores, tmp_path, book, {further: FURTHER}, update=update, dry_run=True)
    assert told.preview.new_scenes == [next(each for each in titles if further in each).split(" ")[0]]
    assert told.preview.changed_scenes == told.preview.kept_scenes == []
    done = _take_in(stores, tmp_path, book, {further: FURTHER}, update=update)
    assert done.preview == told.preview
    assert _titles(stores, book) == [*kept, *titles]
    again = _take_in(stores, tmp_path, book, {further: FURTHER}, update=update)
    assert (again.preview.new_scenes, again.changes.is_empty) == ([], True)
    assert _titles(stores, book) == [*kept, *titles]


def test_an_edited_chapter_alone_follows_its_heading(stores: MemoryStores, book: str, tmp_path: Path) -> None:
    """In other digits, and where its number is not its place; no other chapter is gone or changed."""
    told = _take_in(stores, tmp_path, book, {"第八章 丁": "客人走了。门开着。风很大。"}, update=True)
    assert (told.preview.changed_scenes, told.changes.changed_chapters) == (["4:1"], [4])
    assert (told.changes.gone_chapters, told.changes.moved_chapters) == ([], {})
    assert _titles(stores, book)[3:] == ["4:1 第八章 丁", "5:1 番外 旧信"]


@pytest.mark.slow
def test_another_heading_takes_a_place_only_when_that_is_said(stores: MemoryStores, book: str, tmp_path: Path) -> None:
    """The preview names both chapters; without the word the stored one stays and the other waits."""
    other = {"第8章 别的": FURTHER}
    told = _take_in(stores, tmp_path, book, other, update=True)
    assert [each.model_dump() for each in told.changes.other_chapters] == [
        {"chapter": 4, "stored": "第8章 丁", "given": "第8章 别的"}
    ]
    assert not told.changes.is_empty
    assert _titles(stores, book)[3] == "4:1 第8章 丁"
    assert _take_in(stores, tmp_path, book, other, replace=True).preview.new_scenes == []
    assert _titles(stores, book)[3] == "4:1 第8章 丁"
    done = _take_in(stores, tmp_path, book, other, update=True, replace=True)
    assert done.preview.changed_scenes == ["4:1"]
    assert _titles(stores, book)[3] == "4:1 第8章 别的"


@pytest.mark.slow
def test_a_chapter_that_is_in_the_file_is_never_gone(stores: MemoryStores, tmp_path: Path) -> None:
    """An interlude that comes to stand between two numbers moves alone, and what stood before it stays."""
    project_id = f"interlude-{next(_numbers)}"
    stored = {"第1章": STORY["雪夜"], "第2章": STORY["灯"], "番外": STORY["渡口"]}
    _take_in(stores, tmp_path, project_id, stored)
    longer = {"楔子": "井里有月亮。", **stored, "第3章": STORY["客"]}
    done = _take_in(stores, tmp_path, project_id, longer, update=True)
    assert (done.changes.gone_chapters, done.changes.moved_chapters) == ([], {})
    assert done.changes.moved_scenes == {"3:1": "2:2"}
    assert _titles(stores, project_id) == ["0:1 楔子", "1:1 第1章", "2:1 第2章", "2:2 第2章 · 番外", "3:1 第3章"]
    joined = {"楔子": longer["楔子"], "第1章": STORY["雪夜"], "第2章": f"{STORY['灯']}\n{STORY['渡口']}"}
    assert _take_in(stores, tmp_path, project_id, joined, update=True, dry_run=True).changes.gone_chapters == [3]


def test_a_chapter_between_two_makes_room_with_an_update(stores: MemoryStores, tmp_path: Path) -> None:
    """Without it nothing that is stored moves, unless a number is free."""
    project_id = f"between-{next(_numbers)}"
    stored = {"第1章 甲": STORY["雪夜"], "第1章 乙": STORY["灯"], "第2章": STORY["渡口"], "第4章": STORY["客"]}
    _take_in(stores, tmp_path, project_id, stored)
    before = _titles(stores, project_id)
    assert _take_in(stores, tmp_path, project_id, {"第3章": FURTHER}).changes.moved_chapters == {4: 5}
    assert _titles(stores, project_id) == before
    _take_in(stores, tmp_path, project_id, {"第3章": FURTHER}, update=True)
    assert _titles(stores, project_id) == [*before[:3], "4:1 第3章", "5:1 第4章"]


def test_a_number_that_begins_again_in_a_volume_is_another_chapter(stores: MemoryStores, tmp_path: Path) -> None:
    """The third chapter of the second volume is not the third of the first."""
    project_id = f"volumes-{next(_numbers)}"
    file = tmp_path / "volumes.txt"
    chapters = [("第一卷 山", ["雪夜", "灯", "渡口"]), ("第二卷 水", ["客"])]
    told = [
        f"{volume}\n\n" + "\n\n".join(f"第{number}章\n\n{STORY[name]}" for number, name in enumerate(names, start=1))
        for volume, names in chapters
    ]
    file.write_text("\n\n".join(told), encoding="utf-8")
    import_source(stores, file, project_id=project_id, index=False)
    _take_in(stores, tmp_path, project_id, {"第2章": FURTHER}, update=True)
    assert _titles(stores, project_id)[-2:] == ["4:1 第1章", "5:1 第2章"]
    assert len(_titles(stores, project_id)) == 5


@pytest.mark.slow
def test_a_file_without_heading_bears_that_of_its_name(stores: MemoryStores, book: str, tmp_path: Path) -> None:
    """第9章.txt with nothing but its text, as many authors keep them."""
    file = tmp_path / "第9章 渡口.txt"
    file.write_text(FURTHER, encoding="utf-8")
    import_source(stores, file, project_id=book, index=False)
    assert _titles(stores, book)[4:] == ["5:1 第9章 渡口", "6:1 番外 旧信"]
