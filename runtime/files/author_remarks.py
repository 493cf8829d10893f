"""What an author, or the site that printed the story, says to readers between the lines: left out, and listed.

Only lines that can hardly be told by the story count. Those that a story may hold as well, such as a postscript, count
at the beginning and the end of a chapter alone; a line with speech in it never does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

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
    # The bars of a web page: 首页|原创书库|现代, 上一页 返回目录 下一页.
    r"|^[^|｜]{1,8}(?:\s*[|｜]\s*[^|｜]{1,8}){3,}[|｜]?$"
    r"|^\W*(?:(?:[上下前后後][一1]?[页頁章]|返回(?:目录|目錄|书页|書頁|首页|首頁)|加入[书書][签籤签]|章节目录|章節目錄|投推荐票|举报错误)\W*)+$"
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
