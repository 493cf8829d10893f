"""Glossaries in and out: translations on the cards, by language and position, undone whole."""

from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError, UserInputError
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story
from runtime.story.transfer import StoryTransfer

pytestmark = pytest.mark.slow

CHAPTER = "林晚把剑收起。“大师姐！”沈砚秋喊，灵石落了一地。"
TABLE = "src,dst,info\n林晚,Lin Wan,\n大师姐,Senior Sister,\n灵石,spirit stone,currency\n剑,sword,\n"


@pytest.fixture
def sect(stores: MemoryStores, project: str) -> Story:
    """A story of two chapters with two cards, one of them with a form of address."""
    story = Story(stores, project)
    scenes = [SceneInput(chapter_index=number, scene_index=1, text=CHAPTER) for number in (1, 2)]
    ingest_scenes(stores, project, scenes)
    story.entities.add("沈砚秋", start="1:1")
    story.entities.add("林晚", {"alias": {"alias": "大师姐", "speaker": "沈砚秋"}}, description="外门弟子", start="1:1")
    return story


def shown(story: Story, *, chapter: int | None = 2, to: str = "") -> dict[str, str]:
    """Return each name in the glossary of the chapter with its translation."""
    glossary = story.chunk_context(CHAPTER, chapter_index=chapter, to=to).glossary
    return {name.name: name.translation for entry in glossary for name in (entry, *entry.aliases) if name.translation}


def test_a_glossary_becomes_the_glossary_of_a_chapter(sect: Story) -> None:
    """Terms that cards bear are translated there, all others become cards that are known from the start."""
    done = sect.entities.import_glossary(TABLE)
    cards = {each.name: each for each in sect.entities.list()}
    assert done.added == [cards["灵石"].entity_id, cards["剑"].entity_id]
    assert done.updated == [cards["林晚"].entity_id]
    wanted = {"林晚": "Lin Wan", "大师姐": "Senior Sister", "灵石": "spirit stone", "剑": "sword"}
    assert shown(sect) == shown(sect, chapter=1) == shown(sect, chapter=None) == wanted
    assert (cards["灵石"].description, cards["林晚"].description) == ("currency", "外门弟子")
    assert "spirit stone (term); currency" in sect.chunk_context(CHAPTER, chapter_index=1).text


def test_the_same_again_changes_nothing(sect: Story) -> None:
    """A repeated import is counted; another translation takes the place of the old one."""
    sect.entities.import_glossary(TABLE)
    again = sect.entities.import_glossary(TABLE)
    assert (again.added, again.updated, again.were_there, again.change_id) == ([], [], 4, None)
    sect.entities.import_glossary("剑,blade\n灵石,spirit stone,money\n")
    assert shown(sect)["剑"] == "blade"
    assert "money" in sect.chunk_context(CHAPTER).text


def test_undo_takes_a_glossary_back_whole(sect: Story) -> None:
    """The cards that it brought go, and the others are as they were."""
    before = sect.entities.list()
    sect.entities.import_glossary(TABLE)
    sect.undo()
    assert sect.entities.list() == before
    done = sect.entities.import_glossary("灵石,spirit stone\n剑,sword\n")
    sect.memories.add("灵石不可交易。", attached_to=[done.added[0]])
    with pytest.raises(UserInputError, match=f"'{done.added[0]}' has memories"):
        sect.undo(done.change_id)


def test_several_languages_stand_side_by_side(sect: Story) -> None:
    """Each is told where it is asked for; what has none in it is told without."""
    sect.entities.import_glossary(TABLE, to="en")
    sect.entities.import_glossary("灵石,Geiststein\n", to="de")
    assert shown(sect, to="en")["灵石"] == "spirit stone"
    assert shown(sect, to="de") == {"灵石": "Geiststein"}
    assert sect.entities.export_glossary("tsv", to="de") == "灵石\tGeiststein\tcurrency\n"
    sect.entities.import_glossary("灵石,pierre\n")
    assert shown(sect, to="fr") == {"灵石": "pierre"}


def test_a_translation_may_change_in_the_story(sect: Story) -> None:
    """With a position earlier chapters keep what they had, and new cards are not known before."""
    sect.entities.import_glossary("灵石,spirit stone\n")
    done = sect.entities.import_glossary("灵石,soul stone\n剑,sword\n", start="2:1")
    assert len(done.added) == len(done.updated) == 1
    assert shown(sect, chapter=1)["灵石"] == "spirit stone"
    assert (shown(sect)["灵石"], shown(sect)["剑"]) == ("soul stone", "sword")


def test_a_title_of_several_is_translated_on_each(sect: Story) -> None:
    """掌门 of two sects."""
    sect.entities.add("莫归尘", aliases=["掌门"], start="1:1")
    sect.entities.add("白长老", aliases=["掌门"], start="1:1")
    done = sect.entities.import_glossary("掌门,the Sect Master\n")
    assert len(done.updated) == 2
    assert sect.entities.export_glossary("text") == "掌门->the Sect Master\n" * 2


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_export_brings_names_speakers_and_types_back(
    stores: MemoryStores, project: str, sect: Story, form: str
) -> None:
    """Into another project, as cards and forms of address."""
    sect.entities.import_glossary(TABLE)
    table = sect.entities.export_glossary(form, to="en")  # type: ignore[arg-type]
    stores.create_project(f"other-{project}", language="zh")
    other = Story(stores, f"other-{project}")
    other.entities.add("沈砚秋", start="1:1")
    other.entities.import_glossary(table)
    assert other.entities.export_glossary(form) == table  # type: ignore[arg-type]
    [alias] = next(each for each in other.entities.list() if each.name == "林晚").aliases
    assert (alias.alias, alias.speaker) == ("大师姐", "C0")


def test_what_is_not_taken_is_told(sect: Story) -> None:
    """Rows without a translation, and two spellings of one name with two translations."""
    done = sect.entities.import_glossary("靈石,spirit stone\n灵石,spirit gem\n剑,\n")
    assert [each.message for each in done.issues] == [
        "row 3 has no translation: '剑'",
        "'靈石' and '灵石' are one name, translated as 'spirit stone' and 'spirit gem': the last counts",
    ]


@pytest.mark.parametrize("name", ["terms.txt", "terms.csv", "terms.tsv", "terms.json"])
def test_a_glossary_is_no_chapter(stores: MemoryStores, project: str, tmp_path: Path, name: str) -> None:
    """The import of a manuscript names the command that takes it in, and stores nothing."""
    file = tmp_path / name
    file.write_text("灵石->spirit stone #currency\n归墟->the Ruins of Return\n", encoding="utf-8")
    before = Story(stores, project).scenes.list()
    with pytest.raises(InvalidFileError, match=f"`novelgen glossary import {project} {name}`"):
        StoryTransfer(stores, project).import_source(source=file)
    assert Story(stores, project).scenes.list() == before
