"""Page frame: words, colours, position, last change, escaped HTML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from novelgen.context.labels import labels_for
from novelgen.context.prompt_block import ContextLine
from novelgen.models.context import ReportIssue
from novelgen.models.memory import memory_place_text, over_from
from novelgen.models.position import StoryPosition, place_text
from novelgen.words import filled
from novelgen.words.messages import message_in
from runtime.doors.http.app_state import app_state_of
from runtime.doors.http.problems import told
from runtime.files.chapter_names import ChapterNames, chapter_name
from runtime.story.projects import list_project_ids

PageLanguage = Literal["en", "zh"]


def _catalogue(language: PageLanguage) -> Mapping[str, str]:
    """Return a language's words, with a table per view."""
    text = Path(__file__).with_name(f"words.{language}.toml").read_text(encoding="utf-8")
    return {key: words for table in tomllib.loads(text).values() for key, words in table.items()}


ENGLISH = _catalogue("en")
CHINESE = _catalogue("zh")

CATALOGUES: Mapping[PageLanguage, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}
_WISH = re.compile(r"(?:^|,)\s*(en|zh)\b[^,;]{0,20}(?:;\s*q=([01](?:\.[0-9]{1,3})?))?", re.IGNORECASE)


def language_wished(header: str) -> PageLanguage:
    """Return the language of the page that a browser wishes for most, English where it has none of ours."""
    wishes = [(float(weight or 1), name.lower()) for name, weight in _WISH.findall(header[:500])]
    # Of those that weigh the same the first one counts.
    weight, name = max(wishes, key=itemgetter(0), default=(0.0, ""))
    return "zh" if weight and name == "zh" else "en"


NOTICE_FIELDS = frozenset(
    {
        "done",
        "told",
        "secret_from",
        "known_only_by",
        "known_to",
        "not_known_to",
        "knowers_over",
        "refuted",
        "lost",
        "undo",
    }
)
"""What an address says of a change: `did_` and `done` are a word, of whom, who alone knows it, that its list of
knowers is over, from whom it is kept, who of its scene knows it and who does not, which deaths are over,
how to undo it.

Lost are the facts without words."""

MAX_TOLD = 400

LONGEST_NAME = 60
"""Characters by which a memory is named."""


def named_by_words(content: str) -> str:
    """Return a memory's words, in short, by which a notice names it."""
    return f"“{content if len(content) <= LONGEST_NAME else f'{content[:LONGEST_NAME]}…'}”"


THEMES = ("system", "light", "dark")

LANGUAGE_COOKIE = "novelgen_language"
THEME_COOKIE = "novelgen_theme"

VIEWS = ("story", "write", "threads", "cards", "relationships", "timeline", "knowledge", "context", "check", "health")
"""The views of a project, in the order of the navigation; each has its route, template and word."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing from elsewhere and nothing inline: words of a story that got past escaping could still not run."""

MAX_TICKS = 60
"""So many chapters are told apart below the slider."""

MAX_SWITCHED = 30
"""So many projects are offered in the head of a page; the first page has all."""

_POSITION_VIEWS = frozenset(
    {"as_of", "known", "chapter", "scene", "shown", "start", "offset", "cell", "ended", "waiting", "rows"}
)
"""What an address says of one place of the story; it is not kept where the position changes."""
_COUNT = re.compile(r"[0-9]{1,7}")
_OWN_ADDRESS = re.compile(r"/(?:page/[^\\\s#]*)?")
_MOMENTARY = NOTICE_FIELDS | {"edit", "thread"}
"""What an address says of one moment; it is not kept on the way back."""

# What HTML cannot hold: control characters, and halves of characters, which UTF-8 has not.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Here(NamedTuple):
    """The point of the story as of which a page tells."""

    as_of: StoryPosition | None
    places: tuple[tuple[int, int], ...]
    names: ChapterNames = ChapterNames()
    """What the author calls the chapters."""

    @property
    def known(self) -> int:
        """The number of scenes before the position."""
        if self.as_of is None:
            return len(self.places)
        return sum(self.as_of.admits(*place) for place in self.places)

    @property
    def known_places(self) -> tuple[tuple[int, int], ...]:
        """Chapter and scene of the scenes before the position."""
        return self.places[: self.known]

    @property
    def next_scene(self) -> tuple[int, int]:
        """The next chapter and scene at the position, as the shell proposes."""
        if self.as_of is None or self.as_of.chapter_index is None:
            return self.names.next_chapter, 1
        if self.as_of.scene_index is not None:
            return self.as_of.chapter_index, self.as_of.scene_index
        # On entering a chapter nothing of it is known, whatever number its first scene has.
        following = self.places[self.known :]
        is_stored = bool(following) and following[0][0] == self.as_of.chapter_index
        return following[0] if is_stored else (self.as_of.chapter_index, 1)

    @property
    def chapter_starts(self) -> list[int]:
        """The number of scenes before each chapter, sampled for long books."""
        starts = [
            index for index, (before, place) in enumerate(pairwise(self.places), start=1) if before[0] != place[0]
        ]
        return starts[:: len(starts) // MAX_TICKS + 1]


class Frame:
    """Words, links and colours shared by the pages of one request."""

    as_of: StoryPosition | None = None
    view = ""

    def __init__(self, request: Request, project_id: str = "") -> None:
        self.request = request
        choice = request.cookies.get(LANGUAGE_COOKIE)
        wished = language_wished(request.headers.get("accept-language", ""))
        self.language: PageLanguage = "zh" if choice == "zh" else "en" if choice == "en" else wished
        theme = request.cookies.get(THEME_COOKIE)
        self.theme = theme if theme in THEMES else THEMES[0]
        self.always = labels_for(self.language).everywhere
        """The word for what always holds."""
        self.project_id = project_id
        self.may_write = request.scope.get("access", "all") == "all"
        url, query = request.url, request.query_params
        self.address = url.path + (f"?{url.query}" if url.query else "") if request.method == "GET" else "/"
        statements = {name: query.get(name, "")[:MAX_TOLD] for name in NOTICE_FIELDS}
        statements["lost"] = statements["lost"] if _COUNT.fullmatch(statements["lost"]) else ""
        self.notice = statements if project_id and f"did_{statements['done']}" in ENGLISH else None
        remaining_pairs = [(name, value) for name, value in query.multi_items() if name not in _MOMENTARY]
        self.back = url.path + (f"?{urlencode(remaining_pairs, errors='replace')}" if remaining_pairs else "")
        self.narrowed = {name: value for name, value in remaining_pairs if name not in _POSITION_VIEWS}

    @cached_property
    def here(self) -> Here | None:
        """The page's story position, or None without a project."""
        return None

    @property
    def standing(self) -> str:
        """The position in an address, empty at the end."""
        return "" if self.as_of is None else str(self.as_of)

    @cached_property
    def project_title(self) -> str:
        """The name that people know the project by."""
        return self.project_id

    @property
    def projects(self) -> list[str]:
        """Projects of the folder that one may go over to, this one among them."""
        listing = list_project_ids(app_state_of(self.request).stores.common)
        shown_ids = listing[:MAX_SWITCHED]
        return shown_ids if self.project_id in shown_ids else [self.project_id, *shown_ids[: MAX_SWITCHED - 1]]

    def word(self, key: str, /, **values: Any) -> str:
        """Return words of the page in its language."""
        return filled(CATALOGUES[self.language][key], **values)

    def word_or(self, key: str, /) -> str:
        """Return the word of a stored value, or the value where the catalogue has none."""
        return CATALOGUES[self.language].get(key, key)

    def said(self, message: str, /) -> str:
        """Return a message of ours in the language of the page."""
        return message_in(message, self.language)

    def word_of(self, kind: str, value: str, /) -> str:
        """Return a stored value's word by kind, or the value."""
        return CATALOGUES[self.language].get(f"{kind}_{value}", value)

    def where_in_trouble(self, issue: ReportIssue) -> str:
        """Return the troubled places of a project, apart from pending indexing."""
        is_waiting = (issue.stage, issue.kind) == ("index", "stale")
        kind = self.word("trouble_waits") if is_waiting else self.word_of("trouble", issue.kind)
        stage = CATALOGUES[self.language].get(f"stage_{issue.stage}") or self.word_of("retriever", issue.stage)
        return f"{stage}{self.word('colon')}{kind}"

    def place(self, chapter_index: int | None, scene_index: int | None = None) -> str:
        """Return a displayed place, marking chapters."""
        label = self.here.names.label(chapter_index, scene_index) if self.here and chapter_index is not None else ""
        if label and self.here:
            return self.here.names.place(chapter_index, scene_index)
        if self.here and chapter_index is not None:
            chapter_index, scene_index = self.here.names.begun_place(chapter_index, scene_index)
        if chapter_index is not None and scene_index is None:
            return self.word("chapter", number=chapter_index)
        return place_text(chapter_index, scene_index, always=self.always)

    def has_scene(self, chapter_index: int | None, scene_index: int | None) -> bool:
        """Tell whether a scene stands at a place."""
        if chapter_index is None or scene_index is None:
            return False
        return self.here is None or self.here.names.has_scene((chapter_index, scene_index))

    def place_link(self, chapter_index: int | None, scene_index: int | None = None) -> Markup:
        """Return a place with its scene's address where it is one."""
        text = escape(self.place(chapter_index, scene_index))
        if not self.has_scene(chapter_index, scene_index):
            return text
        return Markup('<a href="{}">{}</a>').format(self.link("story", chapter=chapter_index, scene=scene_index), text)

    def memory_place(self, thing: object) -> str:
        """Return the displayed place of a memory."""
        is_scene = self.here.names.has_scene if self.here else lambda _: True
        return memory_place_text(thing, always=self.always, after=labels_for(self.language).after, is_scene=is_scene)

    def memory_link(self, thing: object) -> Markup:
        """Return a linked place of a memory, without a link for notes."""
        text = self.memory_place(thing)
        chapter, scene = getattr(thing, "chapter_index", None), getattr(thing, "scene_index", None)
        return self.place_link(chapter, scene) if text == place_text(chapter, scene, always="") else escape(text)

    def readable_line(self, line: ContextLine) -> str:
        """Return a line of a context without what a prompt begins it with; `readable_place` tells its place."""
        text = line.text.removeprefix("- ")
        match = _PLACE_FIRST.match(text)
        return text if match is None else text[match.end() :]

    def readable_place(self, line: ContextLine) -> Markup:
        """Return the place of a line, linked to its scene."""
        match = _PLACE_FIRST.match(line.text.removeprefix("- "))
        if match is not None and match["place"] != place_text(line.chapter_index, line.scene_index, always=""):
            return escape(match["place"])
        return self.memory_link(line.item or line)

    def link(self, view: str, **query: Any) -> str:
        """Return the address of a view of the project, at the position of this page unless told otherwise."""
        return project_address(self.project_id, view, **{"as_of": self.standing, **query})

    def at(self, known_count: int) -> str:
        """Return this view's address at a number of scenes, keeping its filters."""
        places = self.here.places if self.here else ()
        as_of = "{}:{}".format(*places[known_count]) if known_count < len(places) else ""
        view = "card" if self.view == "cards" and "entity" in self.narrowed else self.view
        return project_address(self.project_id, view, **{**self.narrowed, "as_of": as_of})

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page."""
        # Of every page: its words, places and links.
        common = {"t": self.word, "word_or": self.word_or, "said": self.said, "place": self.place, "link": self.link}
        html = templates().get_template(f"{template}.html").render(frame=self, here=self.here, **common, **told(values))
        response = HTMLResponse(without_unprintable(html), status_code=status)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Content-Language"] = self.language
        return response


def project_address(project_id: str, view: str, /, **query: Any) -> str:
    """Return a project view's address, without empty parameters."""
    fields = {name: value for name, value in query.items() if value not in (None, "")}
    address = f"/page/projects/{quote(project_id, safe='', errors='replace')}/{view}"
    return f"{address}?{urlencode(fields, errors='replace')}" if fields else address


def own_address(address: str) -> str:
    """Return an own address, or the first page, preventing open redirects."""
    return address if _OWN_ADDRESS.fullmatch(address) else "/"


def without_unprintable(html: str) -> str:
    """Return a text with unprintable characters replaced."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", html)


_LINE = re.compile("[^\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]+")


class Piece(NamedTuple):
    """A stretch of text within one paragraph."""

    text: str
    numbers: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()


def marked_paragraphs(text: str, passages: Mapping[int, tuple[int, int]]) -> list[list[Piece]]:
    """Return the lines of a text that are not empty, cut where marked passages begin and end.

    A passage over several paragraphs begins in one and ends in another.
    """
    within = {number: span for number, span in passages.items() if max(0, span[0]) < min(len(text), span[1])}
    borders = sorted({border for span in within.values() for border in span})
    paragraphs: list[list[Piece]] = []
    last: dict[int, tuple[int, int]] = {}
    for line in _LINE.finditer(text):
        if not line[0].strip():
            continue
        start, end = line.span()
        pieces: list[Piece] = []
        for begin, stop in pairwise([start, *(border for border in borders if start < border < end), end]):
            numbers = tuple(number for number, (first, after) in within.items() if first < stop and begin < after)
            pieces.append(Piece(text[begin:stop], numbers, tuple(number for number in numbers if number not in last)))
            last |= dict.fromkeys(numbers, (len(paragraphs), len(pieces) - 1))
        paragraphs.append(pieces)
    for number in within:
        if number in last:
            paragraph, index = last[number]
            piece = paragraphs[paragraph][index]
            paragraphs[paragraph][index] = piece._replace(ends=(*piece.ends, number))
    return paragraphs


_PLACE_FIRST = re.compile(r"\[(?P<place>[^\]\n]*\d+:\d+[^\]\n]*)\] ")

_EMPHASIS = re.compile(
    r"(?P<sign>\*{1,3})(?=[^\s*])(?P<words>[^*\n]*[^\s*])(?P=sign)(?!\*)|(?<!\w)(?P<bar>_{1,3})(?=[^\s_])(?P<inner>[^_\n]*[^\s_])(?P=bar)(?!\w)"
)


def without_emphasis(text: str) -> str:
    """Return a text without Markdown's signs of emphasis, which only the stored text keeps."""
    return _EMPHASIS.sub(lambda match: match["words"] or match["inner"], text)


def _over_from(superseded_by: str) -> str:
    """Return the place from which on the author ended a memory, empty if something replaced it."""
    place = over_from(superseded_by)
    return "" if place is None else str(StoryPosition(*place))


def _says_number(title: str) -> bool:
    """Return whether a chapter's title says by itself which chapter it is."""
    name = chapter_name(title)
    return name is not None and name.number is not None


@lru_cache(maxsize=1)
def templates() -> Environment:
    """Return the templates, with escaping and strict variables."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(project_address=project_address, views=VIEWS, marked=marked_paragraphs)
    environment.globals.update(says_number=_says_number)
    environment.filters.update(plain=without_emphasis, over_from=_over_from)
    return environment
