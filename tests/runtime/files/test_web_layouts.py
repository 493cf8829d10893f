"""Web novels as sites and authors lay them out: volumes, folders of chapters, remarks, odd headings."""

import os
from pathlib import Path

import pytest

from novelgen.errors import InvalidFileError
from runtime.files.chapter_headings import without_remarks
from runtime.files.manuscripts import Manuscript, is_manuscript_folder, read_manuscript, split_manuscript
from tests.runtime.files.test_manuscripts import shape


def _parts(manuscript: Manuscript) -> list[tuple[str, int, int]]:
    return [(each.title, each.first_chapter, each.last_chapter) for each in manuscript.parts]


def test_volumes_are_parts_and_no_text() -> None:
    """Lines of a volume's own, or before a chapter's heading on its line, hold chapters together."""
    text = (
        "第一卷 风起\n\n第一章 雪夜\n\n沈砚入山。\n\n第二章 灯\n\n灯灭了。\n\n"
        "第二卷 云涌 第三章 渡口\n\n船来了。\n\n第二卷 云涌 第四章 客\n\n客走了。"
    )
    manuscript = split_manuscript(text)
    assert shape(manuscript) == [
        (1, "第一章 雪夜", ["沈砚入山。"]),
        (2, "第二章 灯", ["灯灭了。"]),
        (3, "第三章 渡口", ["船来了。"]),
        (4, "第四章 客", ["客走了。"]),
    ]
    assert _parts(manuscript) == [("第一卷 风起", 1, 2), ("第二卷 云涌", 3, 4)]
    assert [each.part for each in manuscript.preview()] == ["第一卷 风起"] * 2 + ["第二卷 云涌"] * 2


def test_english_volumes_and_books() -> None:
    """Volumes beside chapters, chapters where there are no others; numbers that begin anew are counted on."""
    text = "BOOK ONE\n\nChapter 1\n\nA.\n\nBook Two: The Sea\n\nChapter 2\n\nB."
    assert _parts(split_manuscript(text)) == [("BOOK ONE", 1, 1), ("Book Two: The Sea", 2, 2)]
    alone = split_manuscript("Prologue\n\nSnow.\n\nPart 1\n\nA.\n\nPart 2\n\nB.")
    assert [number for number, _, _ in shape(alone)] == [0, 1, 2]
    assert alone.parts == []
    text = "卷一 山\n第一章\n甲。\n第二章\n乙。\n卷二 水\n第一章\n丙。"
    manuscript = split_manuscript(text)
    assert [number for number, _, _ in shape(manuscript)] == [1, 2, 3]
    assert _parts(manuscript) == [("卷一 山", 1, 2), ("卷二 水", 3, 3)]


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("第十二章上", 12),
        ("第１２章　雪夜", 12),
        ("【第十二章】雪夜", 12),
        ("第十二章雪夜", 12),
        ("第十二话 雪夜", 12),
        ("### 第十二章 雪夜", 12),
        ("第12章（补更） 雪夜", 12),
        ("CHAPTER THE TWENTY-FIRST", 21),
        ("Chapter Thirty Two. Snow", 32),
        ("STAVE FOUR: Snow", 4),
        ("Chapter 12 - Snow", 12),
    ],
)
def test_headings_in_many_hands(heading: str, number: int) -> None:
    """Full-width digits, brackets, no gap, pieces and other units begin chapters as well."""
    manuscript = split_manuscript(f"{heading}\n\n灯亮了。\n")
    assert shape(manuscript)[0][0] == number
    assert shape(manuscript)[0][2] == ["灯亮了。"]


@pytest.mark.parametrize(
    "line",
    [
        "第一章写完了，他放下笔。",
        "第一回见到她，他没有说话，",
        "第三节课他睡着了。",
        "Part of him was gone.",
        "序章写得不好，他说。",
        "Chapter one of my life was over, and he knew it.",
        "他说第一章写完了。",
    ],
)
def test_sentences_that_begin_like_headings_stay(line: str) -> None:
    """A sentence is no heading, whatever it begins with."""
    manuscript = split_manuscript(f"{line}\n雪下了一夜。")
    assert shape(manuscript) == [(1, "", [f"{line}\n雪下了一夜。"])]


def test_chapters_without_numbers_keep_the_numbers_of_the_others() -> None:
    """A prologue is chapter 0, an interlude goes with the chapter before, an epilogue is the next chapter."""
    text = "楔子 雪\n甲。\n第一章\n乙。\n番外 灯\n丙。\n第二章\n丁。\n尾声\n戊。"
    manuscript = split_manuscript(text)
    assert [(number, scenes) for number, _, scenes in shape(manuscript)] == [
        (0, ["甲。"]),
        (1, ["乙。", "丙。"]),
        (2, ["丁。"]),
        (3, ["戊。"]),
    ]
    assert manuscript.chapters[1].scenes[1].extra["title"] == "番外 灯"
    english = split_manuscript(
        "Prologue\n\nA.\n\nChapter 1\n\nB.\n\nInterlude\n\nC.\n\nChapter 2\n\nD.\n\nEpilogue\n\nE."
    )
    assert [(number, len(scenes)) for number, _, scenes in shape(english)] == [(0, 1), (1, 2), (2, 1), (3, 1)]


def test_a_chapter_posted_in_pieces_is_one() -> None:
    """第十二章上 and 第十二章下 are scenes of chapter 12, each with its own heading as title."""
    manuscript = split_manuscript("第十一章\n甲。\n第十二章上\n乙。\n第十二章下\n丙。\n第十三章\n丁。")
    assert [(number, scenes) for number, _, scenes in shape(manuscript)] == [
        (11, ["甲。"]),
        (12, ["乙。", "丙。"]),
        (13, ["丁。"]),
    ]
    assert manuscript.chapters[1].scenes[1].extra["title"] == "第十二章下"


@pytest.mark.parametrize(
    "remark",
    [
        "求月票，求推荐票！",
        "（求收藏！）",
        "PS：明天加更，谢谢大家。",
        "感谢书友山中客打赏的一千起点币",
        "（本章完）",
        "手机用户请浏览m.example.com阅读，更优质的阅读体验。",
        "本章未完，请点击下一页继续阅读",
        "上一页 目录 后一页",
        "Previous Chapter | Table of Contents | Next Chapter",
        "首页|原创书库|现代|古代|排行榜",
        "本站长期招收作品更新管理员",
        "Thanks for reading! Please vote and comment.",
    ],
)
def test_remarks_are_left_out_and_listed(remark: str) -> None:
    """What is said to readers at the end of a chapter is no part of the story."""
    text, remarks = without_remarks(f"灯灭了。\n\n他没有动。\n\n{remark}\n", chapter_number=7)
    assert text.split() == ["灯灭了。", "他没有动。"]
    assert [(each.chapter_number, each.line, each.text) for each in remarks] == [(7, 5, remark)]


@pytest.mark.parametrize(
    "line",
    [
        "“求月票做什么？”他问。",
        "他求推荐一位名医，走遍了城。",
        "PS：我在渡口等你。",
        "He thanked her for reading the letter.",
        "他把书翻到下一页，停住了。",
        "本站的灯还亮着。",
    ],
)
def test_what_the_story_may_hold_stays(line: str) -> None:
    """Speech, letters and plain narration in the middle of a chapter are the story's."""
    text = f"灯灭了。\n{line}\n他没有动。"
    assert without_remarks(text, chapter_number=1) == (text, [])


def test_a_note_of_the_author_takes_what_follows_it() -> None:
    """At the end the rest, at the beginning its paragraph; a chapter of remarks alone, or kept ones, stay."""
    story = "沈砚提灯入山，雪落无声。\n" * 4
    text, remarks = without_remarks(f"{story}作者有话说：\n今天写得慢。\n明天见。", chapter_number=1)
    assert text.strip() == story.strip()
    assert [each.text for each in remarks] == ["作者有话说：", "今天写得慢。", "明天见。"]
    english, noted = without_remarks(f"A/N: I am back!\n\n{story}", chapter_number=1)
    assert english.strip() == story.strip()
    assert [each.line for each in noted] == [1]
    assert without_remarks("求月票！\n", chapter_number=1) == ("求月票！\n", [])
    text = "第一章\n\n灯灭了。\n\n求月票！"
    assert shape(split_manuscript(text)) == [(1, "第一章", ["灯灭了。"])]
    kept = split_manuscript(text, keep_remarks=True)
    assert shape(kept) == [(1, "第一章", ["灯灭了。\n\n求月票！"])]
    assert kept.remarks == []


def _folder(tmp_path: Path, files: dict[str, str], *, codec: str = "utf-8") -> Path:
    folder = tmp_path / "古灯"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode(codec))
    return folder


@pytest.mark.parametrize(
    ("names", "titles"),
    [
        (["第2章 灯.txt", "第10章 客.txt", "第1章 雪.txt"], {1: "第1章 雪", 2: "第2章 灯", 10: "第10章 客"}),
        (["第二章 灯.txt", "第十章 客.txt", "第一章.txt"], {1: "第一章", 2: "第二章 灯", 10: "第十章 客"}),
        (["002 灯.txt", "001 雪.txt", "010.txt"], {1: "雪", 2: "灯", 10: ""}),
        (["Chapter 2 - Lamp.txt", "Chapter 1 - Snow.txt"], {1: "Snow", 2: "Lamp"}),
        (["chapter_002.md", "chapter_001.txt"], {1: "", 2: ""}),
        (["楔子.txt", "第００１章 雪.txt"], {0: "楔子", 1: "第001章 雪"}),
    ],
)
def test_a_folder_of_chapters(tmp_path: Path, names: list[str], titles: dict[int, str]) -> None:
    """Each file is one chapter with the number and title of its name, in the order of the numbers."""
    folder = _folder(tmp_path, {name: f"{name}里的故事。" for name in names})
    assert is_manuscript_folder(folder)
    manuscript = read_manuscript(folder)
    assert {each.chapter_number: each.chapter_title for each in manuscript.chapters} == titles
    assert [each.chapter_number for each in manuscript.chapters] == sorted(titles)


def test_a_folder_with_volumes_in_gbk(tmp_path: Path) -> None:
    """Folders in it are volumes, a heading in the file is not told twice, and other files are named."""
    files = {
        "第一卷 风起/第001章 雪夜.txt": "第001章 雪夜\r\n\r\n沈砚提灯入山，雪落无声。\r\n求月票！\r\n",
        "第一卷 风起/第002章 灯.txt": "　　灯灭了，他站在门外，没有说话。",
        "第二卷 云涌/第003章 渡口.txt": "船来了，船上没有人，只有一盏灯。",
        "简介.txt": "一个关于灯的故事。",
    }
    manuscript = read_manuscript(_folder(tmp_path, files, codec="gbk"))
    assert [(number, title) for number, title, _ in shape(manuscript)] == [
        (1, "第001章 雪夜"),
        (2, "第002章 灯"),
        (3, "第003章 渡口"),
    ]
    assert shape(manuscript)[0][2] == ["沈砚提灯入山，雪落无声。"]
    assert _parts(manuscript) == [("第一卷 风起", 1, 2), ("第二卷 云涌", 3, 3)]
    assert manuscript.encodings == ["GB18030"]
    assert [each.text for each in manuscript.remarks] == ["求月票！"]
    assert manuscript.passed_over == ["简介.txt"]


def test_many_chapters_in_one_file_of_a_folder_are_split(tmp_path: Path) -> None:
    """Thirty chapters in chapter_001.txt are thirty chapters."""
    text = "\n".join(f"第{number}章\n故事{number}。" for number in range(1, 31))
    manuscript = read_manuscript(_folder(tmp_path, {"chapter_001.txt": text}))
    assert [each.chapter_number for each in manuscript.chapters] == list(range(1, 31))


def test_a_folder_without_text_is_refused(tmp_path: Path) -> None:
    """Empty chapters are no story; a folder of anything else is no manuscript."""
    with pytest.raises(InvalidFileError, match="holds no text"):
        read_manuscript(_folder(tmp_path, {"第1章.txt": "\n\n"}))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x", encoding="utf-8")
    assert not is_manuscript_folder(tmp_path / "other")


def test_what_lies_beside_the_volumes_is_read_where_it_belongs(tmp_path: Path) -> None:
    """A prologue is before all volumes, a side story after them: nothing of it is known before the story ends."""
    names = ("番外 江南.txt", "楔子.txt", "卷一 山/第001章 雪.txt", "卷二 水/第002章 船.txt")
    folder = _folder(tmp_path, {name: f"{Path(name).stem}的正文。" for name in names})
    told = [(number, text) for number, _, texts in shape(read_manuscript(folder)) for text in texts]
    assert told == [(0, "楔子的正文。"), (1, "第001章 雪的正文。"), (2, "第002章 船的正文。"), (3, "番外 江南的正文。")]


SNOW = "林海点灯。外面的雪下了一夜，门口的脚印早就看不见了。\n\n" * 20
RAIN = "Ada climbed the stairs and lit the lamp. Roe asked what she had seen.\n\n" * 12


def _book(headings: list[str], body: str = SNOW) -> str:
    return "".join(f"{heading}\n\n{body}" for heading in headings)


@pytest.mark.parametrize(
    "headings",
    [
        ["正文 第一章 雪夜", "正文 第二章 灯下"],
        ["☆、第一章 雪夜", "☆、第二章 灯下"],
        ["　　　　第一章 雪夜", "\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0第二章 灯下"],
        ["**第一章 雪夜**", "__第二章 灯下__"],
        ["====第一章====", "——第二章——"],
        ["<h1>第一章 雪夜</h1>", "<b>第二章</b>"],
        ["《古灯》第一章 雪夜", "《古灯》第二章 灯下"],
        ["\u200b第一章 雪夜", "\ufeff第\u00ad二章 灯下"],
        ["第壹章 雪夜", "第贰章 灯下"],
        ["第一万章 雪夜", "第一万零一章 灯下"],
        ["001章 雪夜", "002章 灯下"],
        ["三十章", "三十一章"],
        ["章一", "章二 灯下"],
        ["第一章师父，您怎么了", "第二章灯下：旧人"],
        ["第1-2章 雪夜", "第3、4章 灯下"],
        ["Ch. 1: The Lamp", "Ch. 2: The Key"],
        ["Chapter.1 Lamp", "Chapter.2 Key"],
        ["EP.1", "Ep 2"],
        ["Episode 1: The Lamp", "Episode 2: The Key"],
        ["Act I", "Act II"],
        ["Day 1", "Day 2"],
        [" " * 30 + "Chapter 1", "**Chapter 2**"],
        ["Chapter 1 the lamp", "Chapter 2 the key"],
        ["（一）", "（二）"],
        ["一、雪夜", "二、灯下", "三、归途"],
        ["01 雪夜", "02 灯下", "03 归途"],
        ["### The Lamp", "### The Key"],
    ],
    ids=lambda headings: headings[0].strip(),
)
def test_headings_as_people_type_them(headings: list[str]) -> None:
    """Each begins a chapter, nothing is left out, and no number looks odd."""
    manuscript = split_manuscript(_book(headings, RAIN if headings[0].strip("* #").isascii() else SNOW))
    assert len(manuscript.chapters) == len(headings)
    assert (manuscript.left_out, manuscript.odd_numbers, manuscript.unread_headings) == ("", [], [])


def test_a_heading_of_another_form_within_a_book_is_read_where_its_number_follows() -> None:
    """A sentence that begins like one and follows no number is text."""
    manuscript = split_manuscript(_book(["第一章 雪夜", "第二章师父，您怎么了", "第七章他写完了：好", "第三章 归途"]))
    assert [title for _, title, _ in shape(manuscript)] == ["第一章 雪夜", "第二章师父，您怎么了", "第三章 归途"]
    assert [line.text for line in manuscript.unread_headings] == ["第七章他写完了：好"]


def test_a_number_between_two_others_belongs_to_the_chapter_before() -> None:
    """第1.5章 is a scene of chapter 1, titled by its heading."""
    manuscript = split_manuscript(_book(["第1章 雪", "第1.5章 夜", "第2章 灯"]))
    assert [(number, len(scenes)) for number, _, scenes in shape(manuscript)] == [(1, 2), (2, 1)]
    assert manuscript.chapters[0].scenes[1].extra["title"] == "第1.5章 夜"


@pytest.mark.parametrize(
    ("before", "chapters"), [("《古灯》\n作者：某人\n简介：灯灭了。", [1, 2]), (SNOW, [0, 1, 2]), (SNOW * 8, [0, 1, 2])]
)
def test_what_stands_before_the_first_heading_is_a_chapter_or_shown(before: str, chapters: list[int]) -> None:
    """A title page is left out and shown; more is a chapter of its own."""
    manuscript = split_manuscript(f"{before}\n\n{_book(['第一章 雪', '第二章 灯'])}")
    assert [number for number, _, _ in shape(manuscript)] == chapters
    assert manuscript.left_out == ("" if len(chapters) == 3 else before)


def test_an_opening_after_a_table_of_contents_is_no_part_of_it() -> None:
    """The entries are dropped, the text that follows them is a chapter."""
    contents = "目录\n第一章 雪\n第二章 灯\n第三章 归"
    manuscript = split_manuscript(f"{contents}\n\n{SNOW}\n\n{_book(['第一章 雪', '第二章 灯', '第三章 归'])}")
    assert [number for number, _, _ in shape(manuscript)] == [0, 1, 2, 3]
    assert "第一章" not in shape(manuscript)[0][2][0]


@pytest.mark.parametrize(
    ("headings", "body"),
    [
        (["夜·一 雪", "夜·二 灯", "夜·三 归"], SNOW),
        (["第一夜", "第二夜", "第三夜"], SNOW),
        (["Verse 1", "Verse 2: Rain", "Verse 3"], RAIN),
        (["~ The Lamp ~", "~ The Key ~", "~ The Door ~"], RAIN),
        (["THE LAMP", "THE KEY", "THE DOOR"], RAIN),
    ],
)
def test_lines_that_look_like_headings_are_shown_and_an_example_reads_them(headings: list[str], body: str) -> None:
    """One of them is the form of all; what has none is given line by line."""
    text = _book(headings, body)
    manuscript = split_manuscript(text)
    assert len(manuscript.chapters) == 1
    assert [line.text for line in manuscript.unread_headings] == headings
    forms = headings if headings[0].isupper() else headings[:1]
    told = split_manuscript(text, headings=forms)
    assert [title for _, title, _ in shape(told)] == [heading.strip("~ ") for heading in headings]
    assert told.unread_headings == []
    with pytest.raises(InvalidFileError, match="no line reads like the heading 'Log 7'"):
        split_manuscript(text, headings=["Log 7"])


@pytest.mark.parametrize(
    "line",
    [
        "***",
        "◇◇◇",
        "※※※",
        "~~~",
        "• • •",
        "⸻",
        "■",
        "＊",
        "————————",
        "……",
        "-=-=-",
        "~*~*~",
        "x x x",
        "* * *",
        "===",
        "#",
    ],
)
def test_scene_breaks_as_people_type_them(line: str) -> None:
    """A line of nothing but marks ends a scene."""
    manuscript = split_manuscript(f"第一章\n\n灯亮了。\n\n{line}\n\n灯灭了。")
    assert shape(manuscript) == [(1, "第一章", ["灯亮了。", "灯灭了。"])]


@pytest.mark.parametrize("line", ["“……”", "…", "-", "—", "？！", "?", "1", "好……", "(…)"])
def test_lines_that_part_no_scenes(line: str) -> None:
    """Silence in quotation marks, a dash, a question mark."""
    assert len(split_manuscript(f"第一章\n\n灯亮了。\n\n{line}\n\n灯灭了。").chapters[0].scenes) == 1


@pytest.mark.parametrize(
    "remark",
    [
        "（求月票，求打赏，感谢书友“夜雨声烦”的100币打赏，今天双更！）",
        "（今天的第二更，感谢盟主“一夜听春雨”！）",
        "感谢「山中客」打赏的一千起点币",
        "（第一卷 完）",
        "（全书完）",
    ],
)
def test_a_remark_with_the_name_of_a_reader_is_found(remark: str) -> None:
    """A name in quotation marks is no speech."""
    text, remarks = without_remarks(f"灯灭了。\n\n他没有动。\n\n{remark}\n", chapter_number=1)
    assert text.split() == ["灯灭了。", "他没有动。"]
    assert [each.text for each in remarks] == [remark]


def test_an_import_of_a_folder_never_leaves_it(tmp_path: Path) -> None:
    """Links that lead out, and pipes, are passed over and named; links within are read."""
    folder = _folder(tmp_path, {"第1章.txt": "灯亮了。", "卷一/第8章.txt": "灯灭了。"})
    (tmp_path / "secret.txt").write_text("sk-secret", encoding="utf-8")
    (folder / "第2章.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "第4章.txt").symlink_to("/proc/self/environ")
    (folder / "第5章.txt").symlink_to(folder / "第1章.txt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "第6章.txt").write_text("sk-secret", encoding="utf-8")
    (folder / "卷二").symlink_to(tmp_path / "other")
    os.mkfifo(folder / "第7章.txt")
    manuscript = read_manuscript(folder)
    assert [(number, scenes) for number, _, scenes in shape(manuscript)] == [
        (1, ["灯亮了。"]),
        (5, ["灯亮了。"]),
        (8, ["灯灭了。"]),
    ]
    assert sorted(manuscript.passed_over) == ["卷二", "第2章.txt", "第4章.txt", "第7章.txt"]
