"""Lines that begin something in a book: chapters with or without numbers, and volumes."""

import re
from bisect import bisect
from collections.abc import Sequence
from itertools import pairwise, takewhile
from statistics import median
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.language.numerals import CHINESE_NUMERAL
from runtime.files.chapter_text import CHAPTER_WORDS, ENDS_OF_SENTENCES, NUMBER_WORDS, chapter_number

HeadingKind = Literal["chapter", "named", "volume"]
"""`named` is a chapter without a number, such as a prologue."""

_ROMAN = r"(?:[IVXLC]+|[ivxlc]+)"
_WORD = f"(?i:{'|'.join(sorted((re.sub('-', '[ -]', word) for word in NUMBER_WORDS), key=len, reverse=True))})"
_MARK = r"^\s{0,3}(?:#{1,6}\s*)?[【\[]?"
_END = r"[】\]]?\s*$"
_SECTION = r"(?:\s*[：:]?\s*(?:[（(][^（()）\n]{1,10}[）)]|[上中下]))?"
"""第十二章上, 第十二章（二）: a chapter that its author posted in pieces; 第三章（补更）: a word to readers."""
_TITLE = r"(?:$|[】\]\s:：、.．·—-].{0,60}?)"
_CHINESE_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回]{_SECTION}{_TITLE}){_END}")
# Many sites print 第一章陨落 without a gap; a sentence that begins so ends in a stop.
_CLOSE_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*章[^\s，。；,;：:“”「」]{{1,20}}){_END}")
_LESSER_CHAPTER = re.compile(rf"{_MARK}(?P<title>第\s*{CHINESE_NUMERAL}\s*[节節话話集]{_TITLE}){_END}")
# A title may follow the number, a sentence not: "Chapter 2 The Storm", but not "Chapter two was over".
_ENGLISH_NUMBER = (
    rf"\s+(?:(?i:the)\s+)?(?:\d+|{_ROMAN}|{_WORD})"
    rf"(?:\s*$|\s*[.:—–-].{{0,300}}|\s+[A-Z\d\"'“‘].{{0,80}}|\s+[^a-z]{{0,300}})\s*$"
)
_ENGLISH_CHAPTER = re.compile(rf"{_MARK}(?P<title>(?i:{CHAPTER_WORDS}){_ENGLISH_NUMBER})")
_LONG_HEADING = re.compile(rf"{_MARK}(?i:{CHAPTER_WORDS})\s+(?:\d+|{_ROMAN})[.:—–-].{{40,}}")
"""A title so long that it may go on in the next lines, and may break after a comma."""
MOST_TITLE_LINES = 5
_ENGLISH_VOLUME = re.compile(rf"{_MARK}(?P<title>(?i:volume|vol\.|book|part){_ENGLISH_NUMBER})")
_NAMED_CHAPTER = re.compile(
    rf"{_MARK}(?P<title>(?i:prologue|epilogue|interlude|foreword|preface|afterword)(?:\s*$|\s+{_ROMAN}\s*$|\s+\d+\s*$|\s*[.:—–-].{{0,60}})"
    rf"|(?:楔子|序章|序幕|序言|引子|引言|终章|終章|尾声|尾聲|后记|後記|后序|完本感言|番外|外传|外傳)(?:篇)?(?:{CHINESE_NUMERAL})?{_TITLE}"
    rf"|(?:序|终|終){_END}){_END}"
)
_CHINESE_VOLUME_NAME = rf"(?:第\s*{CHINESE_NUMERAL}\s*[卷部]|卷\s*{CHINESE_NUMERAL})"
_CHINESE_VOLUME = re.compile(rf"{_MARK}(?P<title>{_CHINESE_VOLUME_NAME}{_TITLE}){_END}")
_VOLUME_AND_CHAPTER = re.compile(
    rf"{_MARK}(?P<volume>{_CHINESE_VOLUME_NAME}[^第]{{0,30}}?)\s*(?P<title>第\s*{CHINESE_NUMERAL}\s*[章回]{_SECTION}{_TITLE}){_END}"
)
_MARKDOWN_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,2})\s+(?P<title>.+?)\s*#*\s*$")
_BARE_NUMERAL = re.compile(rf"^\s*(?P<title>{_ROMAN}|\d{{1,3}})[.．、]?\s*$", re.IGNORECASE)
_TITLED_NUMERAL = re.compile(
    rf"^\s*(?P<title>(?:{_ROMAN}|\d{{1,3}})(?:[.．、:—–-]+\s*|\s{{2,}})[A-Z\"'“‘\u3400-\u9fff].{{0,70}}?)\s*$"
)


class Heading(NamedTuple):
    """A line that begins something."""

    line: int
    title: str
    kind: HeadingKind = "chapter"
    end: int | None = None
    """The line after it, where its title takes more than one line."""

    @property
    def text_from(self) -> int:
        """The first line of what it begins."""
        return self.end or self.line + 1


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a book in the order of their lines.

    Chapters are `第三回 …`, `第12章`, `Chapter IV. …`, `Chapter the First`, `Prologue`, `楔子`, `番外`; where none of
    these has a number, `第3节`, `第3话`. Volumes are `第一卷 …`, `卷二`, `Volume II`, `Book One`, `Part 3`. Where no
    chapter says so, the Markdown headings of the highest level that occurs more than once are the chapters, else lines
    with nothing but numerals that count up from 1, or with numerals and titles that do; else the volumes are. A table
    of contents is none of it.
    """
    return _without_contents(lines, _all_headings(lines))


def _all_headings(lines: Sequence[str]) -> list[Heading]:
    volumes = [*_matching(lines, _CHINESE_VOLUME, "volume"), *_matching(lines, _ENGLISH_VOLUME, "volume")]
    numbered = numbered_headings(lines)
    named = _matching(lines, _NAMED_CHAPTER, "named")
    if numbered or (named and not volumes):
        taken = {heading.line for heading in (*numbered, *named)}
        apart = [each for each in volumes if each.line not in taken]
        together = _volumes_beside_chapters(lines)
        return sorted([*numbered, *named, *apart, *together], key=lambda each: (each.line, each.kind != "volume"))
    if not volumes:
        for level in ("#", "##"):
            marked = [
                Heading(index, match["title"])
                for index, line in enumerate(lines)
                if (match := _MARKDOWN_HEADING.match(line)) and match["level"] == level
            ]
            if len(marked) > 1:
                return marked
    for pattern, fewest in ((_BARE_NUMERAL, max(2, len(volumes))), (_TITLED_NUMERAL, max(3, len(volumes)))):
        counted = _counting_up(lines, _matching(lines, pattern, "chapter"), volumes)
        if len(counted) >= fewest:
            return sorted([*named, *counted, *volumes])
    return sorted([*named, *(each._replace(kind="chapter") for each in volumes)])


def numbered_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of chapters that have numbers, in the order of their lines."""
    found = {
        heading.line: heading
        for pattern in (_CLOSE_CHAPTER, _CHINESE_CHAPTER, _ENGLISH_CHAPTER, _VOLUME_AND_CHAPTER)
        for heading in _matching(lines, pattern, "chapter")
    }
    return [found[line] for line in sorted(found)] or _matching(lines, _LESSER_CHAPTER, "chapter")


def heading_of(line: str) -> Heading | None:
    """Return the heading that a single line is, such as the name of a file, or None."""
    found = [each for each in find_headings([line]) if each.kind != "volume"]
    return found[0] if found else None


def _volumes_beside_chapters(lines: Sequence[str]) -> list[Heading]:
    """Find the volume in lines such as 第一卷 风起 第三章 雪夜, where it changes."""
    found: list[Heading] = []
    for index, line in enumerate(lines):
        match = _matched(line, _VOLUME_AND_CHAPTER)
        if match is not None and (not found or found[-1].title != match["volume"].strip()):
            found.append(Heading(index, match["volume"].strip(), "volume"))
    return found


def _matching(lines: Sequence[str], pattern: re.Pattern[str], kind: HeadingKind) -> list[Heading]:
    return [
        _whole_title(lines, index, match["title"].strip(), kind)
        for index, line in enumerate(lines)
        if (match := _matched(line, pattern))
    ]


def _matched(line: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    is_sentence = line.rstrip().endswith(ENDS_OF_SENTENCES) and not _LONG_HEADING.match(line)
    return None if is_sentence else pattern.match(line)


def _whole_title(lines: Sequence[str], index: int, title: str, kind: HeadingKind) -> Heading:
    """Let a long title go on to the empty line that ends it; text that follows at once is longer than a title."""
    if not _LONG_HEADING.match(lines[index]) or (index and lines[index - 1].strip()):
        return Heading(index, title, kind)
    further = list(takewhile(str.strip, lines[index + 1 : index + 1 + MOST_TITLE_LINES]))
    if not further or len(further) == MOST_TITLE_LINES:
        return Heading(index, title, kind)
    return Heading(index, " ".join([title, *(line.strip() for line in further)]), kind, index + 1 + len(further))


def _counting_up(lines: Sequence[str], found: Sequence[Heading], volumes: Sequence[Heading]) -> list[Heading]:
    """Return those that count up from 1, in a volume again or further; those of a table of contents have no text."""
    counted: list[Heading] = []
    numbers = [_number(heading) for heading in found]
    breaks = [volume.line for volume in volumes]
    wanted = 1
    for index, (heading, number) in enumerate(zip(found, numbers, strict=True)):
        begins_anew = number == 1 and counted and bisect(breaks, counted[-1].line) < bisect(breaks, heading.line)
        if number != wanted and not begins_anew:
            continue
        after = (found[at].line for at in range(index + 1, len(found)) if numbers[at] in (1, number + 1))
        volume = bisect(breaks, heading.line)
        end = min(next(after, len(lines)), breaks[volume] if volume < len(breaks) else len(lines))
        if any(line.strip() for line in lines[heading.text_from : end]):
            counted.append(heading)
            wanted = number + 1
    return counted


SHORT_ENTRY = 400
"""So many characters are told of a chapter in a table of contents at most, on average."""


def _without_contents(lines: Sequence[str], headings: Sequence[Heading]) -> list[Heading]:
    """Take the entries of a table of contents out: chapters with hardly a text, of which longer ones follow.

    What follows its last entry, a title page or a preface, begins no chapter either.
    """
    if not headings:
        return []
    ends = [each.line for each in headings[1:]] + [len(lines)]
    sizes = [
        sum(len(line.strip()) for line in lines[each.text_from : end]) for each, end in zip(headings, ends, strict=True)
    ]
    numbered = [index for index, each in enumerate(headings) if each.kind == "chapter"]
    starts = numbered[:1] + [
        index for before, index in pairwise(numbered) if _number(headings[index]) <= _number(headings[before])
    ]
    begin = 0
    for start, following in pairwise(starts):
        entries = [sizes[index] for index in numbered if start <= index < following][:-1]
        rest = [sizes[index] for index in numbered if index >= following]
        is_contents = bool(entries) and median(entries) <= min(SHORT_ENTRY, median(rest) / 4)
        if not is_contents:
            break
        begin = following
    kept = list(headings[begin:])
    # What stands between the contents and the first chapter and is not told of again is a preface or a volume's name.
    later = {each.title.casefold() for each in kept}
    last = max((index for index in numbered if index < begin), default=-1)
    apart = [each for each in headings[last + 1 : begin] if each.title.casefold() not in later]
    return [*apart, *kept]


def _number(heading: Heading) -> int:
    return chapter_number(heading.title) or 0


MAX_REMARK_CHARACTERS = 150
"""A line longer than this is a paragraph of the story."""
MAX_CLOSING_CHARACTERS = 1_500
"""So much may follow the line 作者有话说 at the end of a chapter."""

_VOTES = r"(?:月票|推荐票|推薦票|首订|首訂|追读|追讀)"
_WISH = r"(?:推荐|推薦|收藏|订阅|訂閱|打赏|打賞|鲜花|鮮花|票票|五星|好评|支持|票)"
_HOW = r"[求跪]{1,3}(?:一下|个|点|波|张|下)?"
_ANYWHERE = re.compile(
    rf"{_HOW}{_VOTES}|^[（(【\[].{{0,60}}{_HOW}{_WISH}.{{0,60}}[）)】\]]$"
    rf"|(?:投|砸)(?:个|点|张|几张|一下|出|下)?.{{0,4}}{_VOTES}"
    r"|感谢.{0,80}(?:打赏|月票|推荐票|盟主|舵主|订阅)|感謝.{0,80}(?:打賞|月票|推薦票|訂閱)"
    r"|手机用户请|手機用戶請|请记住本站|請記住本站|一秒记住|无弹窗|無彈窗|最新章节|最新章節|本书首发|本書首發|最快更新"
    r"|章未完.{0,6}(?:点击|點擊|请|請|翻页)|喜欢.{0,30}请大家收藏"
    r"|^\W*(?:本章完|未完待续|未完待續|本卷完)\W*$"
    r"|^\W*(?:https?://|www\.)\S+\W*$"
    r"|(?i:patreon\.com)"
    # The bars of a web page: 首页|原创书库|现代, 上一页 返回目录 下一页, Previous Chapter | Next Chapter.
    r"|^[^|｜]{1,8}(?:\s*[|｜]\s*[^|｜]{1,8}){3,}[|｜]?$"
    r"|^\W*(?:(?:[上下前后後][一1]?[页頁章]|(?:返回)?(?:目录|目錄|书页|書頁|首页|首頁)|加入[书書][签籤签]|章节目录|章節目錄|投推荐票|举报错误)\W*)+$"
    r"|^\W*(?i:(?:prev(?:ious)?(?: chapter)?|table of contents|index|home)\W+)+(?i:next(?: chapter)?)\W*$"
    r"|^\W*本站.{0,12}(?:招收|招聘|管理员|管理員|首发|首發|网址|網址|域名)"
)
_AT_THE_EDGE = re.compile(
    r"^\W*(?:[Pp][Ss]|[Pp]\.[Ss]\.?)\s*\d?\s*[:：.．、，].*[\u3400-\u9fff]"
    r"|^\W*(?:求票|加更|更新(?:说明|預告|预告)|请假|請假|上架感言|第[一二三四五六七八九十]+更)(?:\W|$)"
    r"|^\W*(?:今天|今日|明天|明日|晚上|稍后).{0,12}(?:还有一更|還有一更|加更|两更|三更)"
    rf"|{_HOW}{_WISH}|^\W*新书.{{0,20}}(?:支持|收藏)"
    r"|(?i:(?:please|don['’]t forget to) (?:vote|rate|review|comment|follow)|^\W*thank(?:s| you) for reading)"
)
_NOTE = re.compile(
    r"^\W*(?:作者有话(?:要)?说|作者有話(?:要)?說|作者的话|作者的話|作者按|作者说|author['’]?s?\s+notes?|a/n)\W*(?P<said>.*)$",
    re.IGNORECASE,
)
_SPEECH = re.compile('[“”「」『』"]')


class Remark(BaseModel):
    """A remark that is no part of the story."""

    chapter_number: int
    line: int = Field(description="Of the chapter's text, from 1.")
    text: str


def without_remarks(text: str, *, chapter_number: int) -> tuple[str, list[Remark]]:
    """Take what is said to readers out of a chapter."""
    lines = text.split("\n")
    found = {index for index, line in enumerate(lines) if _is_remark(line, _ANYWHERE)}
    found |= _notes(lines)
    found |= _edge(lines, found, range(len(lines)))
    found |= _edge(lines, found, range(len(lines) - 1, -1, -1))
    if all(index in found or not line.strip() for index, line in enumerate(lines)):
        # A chapter of nothing but words to readers is the author's to judge.
        return text, []
    remarks = [
        Remark(chapter_number=chapter_number, line=index + 1, text=lines[index].strip())
        for index in sorted(found)
        if lines[index].strip()
    ]
    return "\n".join(line for index, line in enumerate(lines) if index not in found), remarks


def _is_remark(line: str, pattern: re.Pattern[str]) -> bool:
    told = line.strip()
    return 0 < len(told) <= MAX_REMARK_CHARACTERS and pattern.search(told) is not None and _SPEECH.search(told) is None


def _edge(lines: Sequence[str], found: set[int], order: range) -> set[int]:
    """Find the remarks that stand before all story, or, in reverse order, after it."""
    edge: set[int] = set()
    for index in order:
        if _is_remark(lines[index], _AT_THE_EDGE):
            edge.add(index)
        elif lines[index].strip() and index not in found:
            break
    return edge


def _notes(lines: Sequence[str]) -> set[int]:
    """Find the author's notes: their own paragraph at the beginning, all that follows at the end."""
    found: set[int] = set()
    for index, line in enumerate(lines):
        match = _NOTE.match(line)
        if match is None or len(line.strip()) > MAX_REMARK_CHARACTERS + MAX_CLOSING_CHARACTERS:
            continue
        rest = sum(len(each.strip()) for each in lines[index + 1 :])
        if rest <= MAX_CLOSING_CHARACTERS and rest <= sum(len(each.strip()) for each in lines[:index]):
            return found | set(range(index, len(lines)))
        found.add(index)
        if not match["said"].strip():
            following = next((at for at in range(index + 1, len(lines)) if lines[at].strip()), None)
            if following is not None and len(lines[following]) <= MAX_REMARK_CHARACTERS:
                found.add(following)
    return found
