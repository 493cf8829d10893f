"""Headings, remarks and edits of any kind lose no line of a story and put no text in another's place."""

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import InvalidFileError
from runtime.care.importing import rearrangement
from runtime.files.chapter_headings import without_remarks
from runtime.files.file_reading import read_story_text
from runtime.files.manuscripts import read_manuscript, split_manuscript
from runtime.ingest.scene_input import SceneInput
from tests.fuzz.strategies import documented, fuzzed

_STORY_LINES = frozenset({"沈砚提灯入山。", "“谁？”他问。", "She left."})
_HEADINGS = "第一章 雪夜|第二章|第十二章上|第十二章下|第１２章　灯|楔子|番外 灯|尾声|第一卷 风起"
_OTHERS = "第二卷 云涌 第三章 渡口|Chapter 3|Interlude|Part Two|求月票！|PS：明天见。|作者有话说：|（本章完）|***|"
_LINES = st.sampled_from([*_HEADINGS.split("|"), *_OTHERS.split("|"), *sorted(_STORY_LINES)])


def _story(lines: list[str]) -> Counter[str]:
    return Counter(line for line in lines if line in _STORY_LINES)


@given(lines=st.lists(_LINES, max_size=30))
@fuzzed
def test_every_line_is_kept_or_listed(lines: list[str]) -> None:
    """What is left out of a chapter is in the list of remarks, each line once."""
    kept, remarks = without_remarks("\n".join(lines), chapter_number=1)
    told = [*kept.split("\n"), *(remark.text for remark in remarks)]
    assert Counter(filter(None, told)) == Counter(filter(None, lines))
    assert all(lines[remark.line - 1].strip() == remark.text for remark in remarks)


@given(lines=st.lists(_LINES, max_size=40))
@fuzzed
def test_no_line_of_the_story_is_lost(lines: list[str]) -> None:
    """Chapters, what stands before them and the remarks hold the story whole; numbers rise and parts hold chapters."""
    manuscript = split_manuscript("\n".join(lines))
    texts = [scene.content for chapter in manuscript.chapters for scene in chapter.scenes]
    told = [line for text in [*texts, manuscript.left_out] for line in text.split("\n")]
    told += [remark.text for remark in manuscript.remarks]
    assert _story(told) == _story(lines)
    numbers = [chapter.chapter_number for chapter in manuscript.chapters]
    assert numbers == sorted(set(numbers))
    assert all(part.first_chapter <= part.last_chapter for part in manuscript.parts)


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("gb18030", "replace")))
@fuzzed
def test_any_bytes_in_a_folder_of_chapters(tmp_path: Path, content: bytes) -> None:
    """A chapter's file is read, or refused by its name."""
    folder = tmp_path / "book"
    folder.mkdir(exist_ok=True)
    (folder / "第1章 雪.txt").write_bytes(content)
    with documented(InvalidFileError):
        read_story_text(folder / "第1章 雪.txt")
        read_manuscript(folder)


_TEXTS = st.sampled_from(["A", "B", "C", "D\nE", "D\nF"])
_PLACES = st.tuples(st.integers(0, 6), st.integers(1, 3))


@given(stored=st.dictionaries(_PLACES, _TEXTS, max_size=8), given_scenes=st.dictionaries(_PLACES, _TEXTS, max_size=8))
@fuzzed
def test_an_update_puts_no_two_scenes_at_one_place(
    stored: dict[tuple[int, int], str], given_scenes: dict[tuple[int, int], str]
) -> None:
    """Whatever was edited: moves are one to one, what waits is not taken in, and the rest is taken in once."""
    scenes = [
        SceneInput(chapter_index=chapter, scene_index=number, text=text)
        for (chapter, number), text in sorted(given_scenes.items())
    ]
    result = rearrangement(stored, scenes)
    stored_texts = {result.moves.get(place, place): text for place, text in stored.items()}
    assert len(stored_texts) == len(stored)
    taken_texts = {(scene.chapter_index, scene.scene_index): scene.text for scene in result.scenes}
    assert result.in_place == taken_texts.keys()
    waiting_chapters = set(result.changes.waiting_chapters)
    taken_in = [text for (chapter, _), text in given_scenes.items() if chapter not in waiting_chapters]
    assert Counter(taken_texts.values()) == Counter(taken_in)
    for place in taken_texts.keys() & stored_texts.keys():
        # Only a chapter that is known to be the same one has another text by now.
        assert taken_texts[place] == stored_texts[place] or place[0] in result.changes.changed_chapters
