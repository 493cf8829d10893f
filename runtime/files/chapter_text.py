"""Chapters as plain text or Markdown: the numbers in their headings, and splitting them into titled scenes."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import east_asian_width

from novelgen.language.language import CJK_RANGES, count_words
from novelgen.language.normalise import without_invisible
from novelgen.language.numerals import ENGLISH_CARDINALS, ENGLISH_ORDINALS, HEADING_NUMERAL, chinese_number
from novelgen.language.sentences import SENTENCE_ENDS
from novelgen.models.plan import GeneratedChapter, GeneratedScene

_ROMAN_TENS = " x xx xxx xl l lx lxx lxxx xc".split(" ")
_ROMAN_UNITS = " i ii iii iv v vi vii viii ix".split(" ")
_ROMAN = {
    "c" * hundreds + ten + unit: 100 * hundreds + 10 * tens + units
    for hundreds in range(4)
    for tens, ten in enumerate(_ROMAN_TENS)
    for units, unit in enumerate(_ROMAN_UNITS)
}
NUMBER_WORDS = {
    word: number for words in (ENGLISH_CARDINALS, ENGLISH_ORDINALS) for number, word in enumerate(words, start=1)
}
"""Numbers below a hundred as headings write them: `three`, `third`, `twenty-one`, `twenty-first`."""
CHAPTER_WORDS = r"chapter|chap|stave|canto|episode|ch(?=[\s.#]*\d)|ep(?=[\s.#]*\d)"
AFTER_WORD = r"(?:\s*[.:#№]?\s*(?=\d)|\s*\.\s*|\s+)"
"""What stands between such a word and its number: `Chapter 1`, `Chapter.1`, `Ch. #1`, `EP.1`."""
TO = r"\s*[-–—~～至到、]\s*第?\s*"
"""Between the first and the last number of chapters under one heading: 第1-2章."""
_NUMBER_PATTERN = re.compile(
    rf"^(?:第?\s*(?P<chinese>{HEADING_NUMERAL})(?:{TO}(?P<last>{HEADING_NUMERAL}))?\s*[章回節节话話集]"
    rf"|章\s*节?\s*(?P<after>{HEADING_NUMERAL})"
    rf"|(?:(?:{CHAPTER_WORDS}|part){AFTER_WORD})?(?:the\s+)?"
    r"(?P<latin>\d{1,9}(?![.．]\d)|[a-z]{1,11}(?:[ -][a-z]{3,7})?)\b"
    r"(?:\s*[-–—~]\s*(?P<latin_last>\d{1,9})\b)?)",
    re.IGNORECASE,
)


class ChapterNumber(NamedTuple):
    """The number that a heading gives: 7 of `第7章（下）`, 3 to 4 of `第3-4章`."""

    first: int
    last: int


def chapter_numbers(title: str) -> ChapterNumber | None:
    """Return the numbers that a chapter's heading gives, or None when it gives none, as 番外 and 第1.5章 do."""
    match = _NUMBER_PATTERN.match(unicodedata.normalize("NFKC", title).strip())
    if match is None:
        return None
    chinese = match["chinese"] or match["after"]
    if chinese:
        first = chinese_number(chinese)
        last = chinese_number(match["last"]) if match["last"] else first
    else:
        number = _latin_number(match["latin"].casefold())
        if number is None:
            return None
        first, last = number, int(match["latin_last"] or number)
    return ChapterNumber(first, last if first < last < first + MOST_CHAPTERS_TOGETHER else first)


MOST_CHAPTERS_TOGETHER = 50


def chapter_number(title: str) -> int | None:
    """Return the first number that a chapter's heading gives, or None when it gives none."""
    numbers = chapter_numbers(title)
    return None if numbers is None else numbers.first


def _latin_number(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    first = re.split(r"[ -]", text)[0]
    return NUMBER_WORDS.get(text.replace(" ", "-")) or NUMBER_WORDS.get(first) or _ROMAN.get(first)


_TAG = re.compile(r"</?(?:h[1-6]|p|b|i|u|em|strong|center|span|div|font|br)\b[^<>]{0,80}>", re.IGNORECASE)
_ORNAMENTS = "☆★✦✧✿❀❁❖❧☙◎●○◆◇◈■□▲△▼▽※⊙〓♥♦♣♠❤"
_LEADING_MARKS = re.compile(rf"^[\s{_ORNAMENTS}*＊=＝~～\-—–_•·#＃>]+[、.．,，:：]?\s*")
_TRAILING_MARKS = re.compile(rf"[\s{_ORNAMENTS}*＊=＝~～\-—–_•·#＃]+$")
_BEFORE_HEADING = re.compile(
    r"^(?:(?:正文|VIP|免费|作品)(?:卷|章节?)?[\s.:：、·_—-]*|《[^《》]{1,30}》[\s.:：、·_—-]*)"
    r"(?=第|章|[0-9０-９]|chapter|ch\b|[楔序引番终終尾后後])",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"^[【\[〖［](?P<inner>[^【】\[\]〖〗［］]{1,80})[】\]〗］]\s*(?P<rest>.*)$")
LONGEST_HEADING = 500


def bare_heading(line: str) -> str:
    """Return a line as a heading is told by: without marks, emphasis, tags, brackets and 正文 around it."""
    if len(line) > LONGEST_HEADING:
        return line.strip()
    text = _TAG.sub("", without_invisible(line))
    text = _TRAILING_MARKS.sub("", _LEADING_MARKS.sub("", text.strip(), count=1))
    text = _BEFORE_HEADING.sub("", text, count=1)
    bracketed = _IN_BRACKETS.match(text)
    return f"{bracketed['inner']} {bracketed['rest']}".strip() if bracketed else text.strip()


SCENE_TITLE_FIELD = "title"
"""Where a scene's own title stands in `GeneratedScene.extra`."""

_BREAK_MARK = rf"[{_ORNAMENTS}*＊\-—–―_=＝~～·•・∙⋅§¤⁂⸻⁕✱✻✽❦#＃]"
_SCENE_BREAK = re.compile(
    rf"^\s*(?:(?:{_BREAK_MARK}\s*){{3,}}|(?:…\s*){{2,}}|(?:[.。．]\s*){{5,}}|[{_ORNAMENTS}*＊§¤⁂⸻⁕✱✻✽❦#＃~～]"
    r"|-?\s*(?i:o0o|0o0|x\s*x\s*x)\s*-?)\s*$"
)
"""A line of nothing but marks, as people part scenes."""
_MARKDOWN_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<title>.*?)\s*#*\s*$")
_SCENE_HEADING = re.compile(
    rf"^\s*(?P<title>第\s*{HEADING_NUMERAL}\s*场(?:[\s:：、.．].{{0,60}})?|scene\s+(?:\d+|[ivxlc]+)\b(?:\s*[:.\-–—].{{0,60}})?)\s*$",
    re.IGNORECASE,
)
_CHAPTER_HEADING = re.compile(
    rf"^(?P<title>第\s*{HEADING_NUMERAL}(?:{TO}{HEADING_NUMERAL})?\s*[章回](?:[\s:：、.．].{{0,80}})?"
    rf"|(?:chapter|ch){AFTER_WORD}(?:\d+|[ivxlc]+)\b.{{0,80}})$",
    re.IGNORECASE,
)
NUMBER_WORD = "|".join(sorted((re.sub("-", "[ -]", word) for word in ENGLISH_CARDINALS), key=len, reverse=True))
_NUMERAL_TITLE = re.compile(
    rf"^(?:(?P<number>\d{{1,3}}|[IVXLC]+|(?i:{NUMBER_WORD})|[〇零一二两三四五六七八九十百]{{1,5}})\s?[.．、:：—–-]+\s*"
    rf"|[（(](?P<inner>\d{{1,3}}|[〇零一二两三四五六七八九十百]{{1,5}})[）)]\s*"
    rf"|(?P<before_title>\d{{1,3}}|[〇零一二两三四五六七八九十百]{{1,5}})\s+(?=[{CJK_RANGES}]))"
    rf"(?=[A-Z\"'“‘{CJK_RANGES}])[^。，；;.?？!！…\n]{{1,60}}$"
)
"""`Five: The Black Sail`, `五、黑帆`, `5 黑帆`."""

ENDS_OF_SENTENCES = ("。", "，", "；", ",", ";")
"""A line that ends so is no heading, whatever it begins with."""

_FRONT_MATTER = re.compile(r"\A---\n(?:[\w-]+:.*\n|[ \t]+.*\n)*---\n")
_CHINESE = re.compile(f"[{CJK_RANGES}]")


def chapter_from_text(text: str, *, chapter_number: int) -> GeneratedChapter:
    """Split a chapter's text into scenes, numbered from 1.

    A line of marks such as `***`, `---`, `* * *`, `◇◇◇`, `§` or a lone `#` ends a scene; a Markdown heading, `第N场`
    or `Scene N` begins one and is its title. The first heading is the chapter's title where it stands before all text
    and does not read `第N场` or `Scene N`; so is `5. The Black Sail` or `五、黑帆` of
    chapter 5. Front matter of Markdown is left out.
    """
    title, body = _without_chapter_title(_FRONT_MATTER.sub("", text, count=1).split("\n"), chapter_number)
    scenes = ((own, "\n".join(lines).strip()) for own, lines in _scenes(body))
    generated = [
        GeneratedScene(
            scene_number=number,
            content=content,
            word_count=count_words(content),
            extra={SCENE_TITLE_FIELD: own} if own else {},
        )
        for number, (own, content) in enumerate((scene for scene in scenes if scene[1]), start=1)
    ]
    return GeneratedChapter(
        chapter_number=chapter_number,
        chapter_title=title,
        scenes=generated,
        total_words=sum(scene.word_count or 0 for scene in generated),
    )


WRAPPED_AT = range(50, 161)
LEAST_WRAPPED_LINES = 12
SHARE_WRAPPED = 0.5
NEARLY_FULL = 16
"""In a text whose lines were broken at a width so large a share of them is so nearly as wide as that."""

_GOES_ON = re.compile(rf"(?!—*[\[［〔①-⑳])(?:—*[{CJK_RANGES}“‘「『（《]|[\w“‘\"'(—-]\S*)")
"""What a line begins with that goes on with the one before: no space, no mark of Markdown or of a footnote."""


def wrapped_at(lines: Sequence[str]) -> int | None:
    """Return the wrapping width of a text, None for whole paragraphs."""
    widths = sorted(_width(line) for line in lines if line.strip())
    if len(widths) < LEAST_WRAPPED_LINES:
        return None
    widest = widths[len(widths) * 98 // 100]
    nearly_full = sum(width > widest - NEARLY_FULL for width in widths)
    return widest if widest in WRAPPED_AT and nearly_full >= SHARE_WRAPPED * len(widths) else None


def unwrapped(text: str, width: int) -> str:
    """Return a text with each paragraph on one line, of which a line ended where no more had room."""
    before, *lines = text.split("\n")
    told_texts = [before.rstrip()]
    for line in lines:
        # Of a letter that is quoted every line stands away from the margin, of a Chinese paragraph the first one.
        own = line.lstrip(" ")
        is_inset = own != line and not before.startswith(line[: -len(own)] + before.strip()[:1])
        begins = None if is_inset or (own != line and _CHINESE.match(own)) else _GOES_ON.match(own)
        if begins is not None and before.strip() and _is_broken(before, begins[0], width):
            is_chinese = any(_CHINESE.match(item) or item in "，、；：。！？" for item in (told_texts[-1][-1], own[0]))
            told_texts[-1] += ("" if is_chinese or own[0] == "—" else " ") + own.rstrip()
        else:
            told_texts.append(line.rstrip())
        before = line.rstrip()
    return "\n".join(told_texts)


def _is_broken(before: str, word: str, width: int) -> bool:
    """Tell whether a line ended because the next word had no room, and not because its paragraph did."""
    if before.startswith("#"):
        return False
    within_sentence = before.rstrip()[-1] not in SENTENCE_ENDS
    return _width(before) + _width(word) > width - 2 or (
        within_sentence and (word[0].islower() or _width(before) > width - NEARLY_FULL)
    )


def _width(line: str) -> int:
    """Columns that a line takes in a terminal."""
    text = line.rstrip()
    return len(text) + (0 if text.isascii() else sum(east_asian_width(text) in "WF" for text in text))


def numeral_title_number(lines: Sequence[str], first: int) -> int | None:
    """Return the number of a numbered title.

    Where titles below it count on, it is that of a part, and None is returned.
    """
    number = _titled_number(lines, first)
    if number is None:
        return None
    is_part = any(_titled_number(lines, index) == number + 1 for index in range(first + 1, len(lines)))
    return None if is_part else number


def _titled_number(lines: Sequence[str], index: int) -> int | None:
    match = _NUMERAL_TITLE.match(bare_heading(lines[index]))
    is_alone = not "".join(lines[index + 1 : index + 2])[:1].strip()
    if match is None or not is_alone:
        return None
    number = match["number"] or match["inner"] or match["before_title"]
    return chinese_number(number) if re.fullmatch(HEADING_NUMERAL, number) else _latin_number(number.casefold())


def _without_chapter_title(lines: list[str], chapter_index: int) -> tuple[str, list[str]]:
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return "", []
    is_sentence = lines[first].rstrip().endswith(ENDS_OF_SENTENCES)
    by_number = None if is_sentence else _CHAPTER_HEADING.match(bare_heading(lines[first]))
    heading = _MARKDOWN_HEADING.match(lines[first]) or by_number
    if heading is None and numeral_title_number(lines, first) == chapter_index:
        return bare_heading(lines[first]), lines[first + 1 :]
    if heading is None or _SCENE_HEADING.match(heading["title"]):
        return "", lines
    return heading["title"].strip(), lines[first + 1 :]


def _scenes(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return scenes as titles and lines, joining headings without text."""
    scenes: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        heading = _MARKDOWN_HEADING.match(line) or _SCENE_HEADING.match(line)
        if _SCENE_BREAK.match(line):
            scenes.append(("", []))
        elif heading is None:
            scenes[-1][1].append(line)
        else:
            scenes.append((heading["title"].strip(), []))
    return scenes
