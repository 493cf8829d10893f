"""Chapters as plain text or Markdown: the numbers in their headings, and splitting them into titled scenes."""

import re
import unicodedata
from collections.abc import Sequence
from unicodedata import east_asian_width

from novelgen.language.language import CJK_RANGES, count_cjk
from novelgen.language.numerals import CHINESE_NUMERAL, ENGLISH_CARDINALS, ENGLISH_ORDINALS, chinese_number
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
CHAPTER_WORDS = "chapter|chap\\.|stave|canto"
_NUMBERED = re.compile(
    rf"^(?:第\s*(?P<chinese>{CHINESE_NUMERAL})\s*[章回节節话話集]"
    rf"|(?:(?:{CHAPTER_WORDS}|part)\s+)?(?:the\s+)?(?P<latin>\d{{1,9}}|[a-z]{{1,11}}(?:[ -][a-z]{{3,7}})?)\b)",
    re.IGNORECASE,
)


def chapter_number(title: str) -> int | None:
    """Return the number that a chapter's heading gives, or None when it gives none."""
    match = _NUMBERED.match(unicodedata.normalize("NFKC", title).strip())
    if match is None:
        return None
    if match["chinese"]:
        return chinese_number(match["chinese"])
    text = match["latin"].casefold()
    if text.isdigit():
        return int(text)
    first = re.split(r"[ -]", text)[0]
    return NUMBER_WORDS.get(text.replace(" ", "-")) or NUMBER_WORDS.get(first) or _ROMAN.get(first)


SCENE_TITLE_FIELD = "title"
"""Where a scene's own title stands in `GeneratedScene.extra`."""

_SCENE_BREAK = re.compile(r"^\s*(?:(?:[*＊]\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,}|§|⁂|#)\s*$")
_MARKDOWN_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<title>.*?)\s*#*\s*$")
_SCENE_HEADING = re.compile(
    rf"^\s*(?P<title>第\s*{CHINESE_NUMERAL}\s*场(?:[\s:：、.．].{{0,60}})?|scene\s+(?:\d+|[ivxlc]+)\b(?:\s*[:.\-–—].{{0,60}})?)\s*$",
    re.IGNORECASE,
)
_CHAPTER_HEADING = re.compile(
    rf"^\s*(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回](?:[\s:：、.．].{{0,80}})?|chapter\s+(?:\d+|[ivxlc]+)\b.{{0,80}})\s*$",
    re.IGNORECASE,
)
ENDS_OF_SENTENCES = ("。", "，", "；", ",", ";")
"""A line that ends so is no heading, whatever it begins with."""

_FRONT_MATTER = re.compile(r"\A---\n(?:[\w-]+:.*\n|[ \t]+.*\n)*---\n")
_CHINESE = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def chapter_from_text(text: str, *, chapter_number: int) -> GeneratedChapter:
    """Split a chapter's text into scenes, numbered from 1.

    A line of `***`, `---`, `* * *`, `§` or a lone `#` ends a scene; a Markdown heading, `第N场` or `Scene N`
    begins one and is its title. The first heading is the chapter's title where it stands before all text
    and does not read `第N场` or `Scene N`. Front matter of Markdown is left out.
    """
    title, body = _without_chapter_title(_FRONT_MATTER.sub("", text, count=1).split("\n"))
    told = ((own, "\n".join(lines).strip()) for own, lines in _scenes(body))
    generated = [
        GeneratedScene(
            scene_number=number,
            content=content,
            word_count=count_words(content),
            extra={SCENE_TITLE_FIELD: own} if own else {},
        )
        for number, (own, content) in enumerate((each for each in told if each[1]), start=1)
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
    """Return the width at which the lines of a text were broken; None where each line is a paragraph."""
    widths = sorted(_width(line) for line in lines if line.strip())
    if len(widths) < LEAST_WRAPPED_LINES:
        return None
    widest = widths[len(widths) * 98 // 100]
    nearly_full = sum(each > widest - NEARLY_FULL for each in widths)
    return widest if widest in WRAPPED_AT and nearly_full >= SHARE_WRAPPED * len(widths) else None


def unwrapped(text: str, width: int) -> str:
    """Return a text with each paragraph on one line, of which a line ended where no more had room."""
    before, *lines = text.split("\n")
    told = [before.rstrip()]
    for line in lines:
        # Of a letter that is quoted every line stands away from the margin, of a Chinese paragraph the first one.
        own = line.lstrip(" ")
        is_inset = own != line and not before.startswith(line[: -len(own)] + before.strip()[:1])
        begins = None if is_inset or (own != line and _CHINESE.match(own)) else _GOES_ON.match(own)
        if begins is not None and before.strip() and _is_broken(before, begins[0], width):
            is_chinese = any(_CHINESE.match(each) or each in "，、；：。！？" for each in (told[-1][-1], own[0]))
            told[-1] += ("" if is_chinese or own[0] == "—" else " ") + own.rstrip()
        else:
            told.append(line.rstrip())
        before = line.rstrip()
    return "\n".join(told)


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
    told = line.rstrip()
    return len(told) + (0 if told.isascii() else sum(east_asian_width(each) in "WF" for each in told))


def count_words(text: str) -> int:
    """Count the words of a text: every Chinese character is one, and every run of other letters."""
    chinese = count_cjk(text)
    return chinese + len(_WORD.findall(_CHINESE.sub(" ", text)))


def _without_chapter_title(lines: list[str]) -> tuple[str, list[str]]:
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return "", []
    is_sentence = lines[first].rstrip().endswith(ENDS_OF_SENTENCES)
    heading = _MARKDOWN_HEADING.match(lines[first]) or (None if is_sentence else _CHAPTER_HEADING.match(lines[first]))
    if heading is None or _SCENE_HEADING.match(heading["title"]):
        return "", lines
    return heading["title"].strip(), lines[first + 1 :]


def _scenes(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Return the titles and lines of scenes; a heading that no text follows is that of the next one."""
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
