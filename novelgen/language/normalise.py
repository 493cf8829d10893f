"""Text cleaned at the border, keys by which two spellings of a name are one, names told from mere descriptions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from novelgen.errors import UserInputError
from novelgen.language.language import CJK_RANGES, has_cjk, is_cjk, word_list, wording

if TYPE_CHECKING:
    from opencc import OpenCC

SCENE_CHARACTER_LIMIT = 2_000_000
_LINE_ENDS = re.compile("\r\n?|\u0085|\u2028|\u2029")

_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\ud800-\udfff"  # lone surrogates
    "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069"  # direction marks, which can make text read otherwise
    "\ufffe\uffff]"  # non-characters
)

_IGNORABLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e0fff"
)
"""Unicode's Default_Ignorable_Code_Point without joiners, and without what means something behind an emoji."""
_EMOJI = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001ffff"
_JOINED_SCRIPTS = "\u0590-\u10ff\u1780-\u18af"
_TAGS = "\U000e0020-\U000e007f"
_INVISIBLE = re.compile(
    f"[{_IGNORABLE}]"
    f"|(?<![{_EMOJI}0-9#*])[\ufe00-\ufe0f]"
    f"|(?<![{_EMOJI}{_JOINED_SCRIPTS}])(?<![{_EMOJI}]\ufe0f)[\u200c\u200d]"
    f"|(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+"
)
_MAY_BE_INVISIBLE = re.compile(f"[{_IGNORABLE}{_TAGS}\u200c\u200d\ufe00-\ufe0f]")


def without_invisible(text: str) -> str:
    """Return a text without characters that show nothing, such as soft hyphens and zero-width spaces.

    Publishers and web sites put them into words, where they would part a name. Joiners and variation selectors of
    emoji stay, and joiners of scripts that need them.
    """
    return _INVISIBLE.sub("", text) if not text.isascii() and _MAY_BE_INVISIBLE.search(text) else text


def scrub_text(text: str) -> str:
    """Clean a text that comes from outside.

    Line ends become "\\n"; control characters but tab and line feed, lone surrogates, direction marks and
    invisible characters go. Scrubbing twice changes nothing more.
    """
    return without_invisible(_UNWANTED.sub("", _LINE_ENDS.sub("\n", text)))


def visible_places(text: str) -> tuple[str, list[int]]:
    """Return a text without invisible characters, and where each of its characters stood, its end as well."""
    places: list[int] = []
    start = 0
    for match in _INVISIBLE.finditer(text):
        places += range(start, match.start())
        start = match.end()
    places += range(start, len(text) + 1)
    return _INVISIBLE.sub("", text), places


def scrub_tree(value: Any) -> Any:
    """Clean every text of plain data, as a JSON file holds it."""
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, Mapping):
        return {scrub_tree(key): scrub_tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [scrub_tree(item) for item in value]
    return value


def visible_name(name: str) -> str:
    """Return a name cleaned, or refuse one that nobody can see.

    Raises:
        UserInputError: When it holds nothing but blanks, marks of direction, control characters and their kind.
    """
    cleaned = scrub_text(name).strip()
    if not any(unicodedata.category(character)[0] in "LNPSM" for character in cleaned):
        raise UserInputError(f"the name {name!r} has no visible character; write one that people can read")
    return cleaned


def is_visible_name(name: str) -> bool:
    """Tell whether a name has a character that people can see."""
    try:
        return bool(visible_name(name))
    except UserInputError:
        return False


def texts_within(value: Any) -> Iterator[str]:
    """Yield every text of plain data, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from texts_within(item)


def require_size(text: str, what: str, *, limit_characters: int = SCENE_CHARACTER_LIMIT) -> None:
    """Refuse a text that is too long to be taken in."""
    if len(text) > limit_characters:
        raise UserInputError(
            f"{what} has {len(text):,} characters, more than the limit of {limit_characters:,}; split it"
        )


DEEPEST = 100
"""Levels to which what comes in may nest: what is stored is shown, exported and imported again."""


def is_deeper(value: Any, *, than: int) -> bool:
    """Return whether lists and mappings exceed a nesting depth, without recursion."""
    level = [value]
    for _ in range(than):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
    return any(isinstance(item, dict | list) for item in level)


_SAME_LENGTH_FORMS = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\u3000\u00a0\u2007\u202f"), ord(" ")),
    **dict.fromkeys(map(ord, "’‘ʼ′`´"), ord("'")),
    **dict.fromkeys(map(ord, "•‧・･∙⋅"), ord("·")),
    **dict.fromkeys(map(ord, "‐‑"), ord("-")),
}

_POSSESSIVE = re.compile(r"(?<=\w)'s?$", re.IGNORECASE)
_QUOTES_AROUND = '"“”「」『』《》〈〉【】 \t\n'
_SPACES = re.compile(r"\s+")
_SPACE_BY_DOT = re.compile(r"\s*·\s*")
_SPACE_IN_CHINESE = re.compile(rf"(?<=[{CJK_RANGES}])\s+(?=[{CJK_RANGES}])")
ARTICLES = frozenset({"the", "a", "an"})

MALE_TITLES = frozenset(word_list("normalise_male_titles"))
FEMALE_TITLES = frozenset(word_list("normalise_female_titles"))
OTHER_TITLES = frozenset(word_list("normalise_other_titles"))

TITLES = MALE_TITLES | FEMALE_TITLES | OTHER_TITLES
"""English words before a name that do not belong to it, in the form of `name_key`."""

_CHINESE_TITLES = word_list("normalise_chinese_titles")
CHINESE_TITLES_AFTER = tuple(sorted(_CHINESE_TITLES, key=len, reverse=True))
CHINESE_TITLES_BEFORE = ("老", "小", "阿")


def fold_width(text: str) -> str:
    """Replace full-width letters and typographic apostrophes, dots, hyphens and spaces, one for one.

    The result has the length of the text, so that positions in it are positions in the text.
    """
    return text.translate(_SAME_LENGTH_FORMS)


class _Translation(dict[int, str | int]):
    """A translation table that remembers characters by number."""

    def __init__(self, of: Callable[[int], str | int]) -> None:
        self._of = of

    def __missing__(self, number: int) -> str | int:
        self[number] = self._of(number)
        return self[number]


@lru_cache(maxsize=1)
def _converter() -> OpenCC:
    from opencc import OpenCC  # noqa: PLC0415

    return OpenCC("t2s")


def _simple(number: int) -> str | int:
    # Loading the table costs a twentieth of a second; stories without Chinese never need it.
    simple = _converter().convert(chr(number)) if is_cjk(chr(number)) else chr(number)
    return simple if len(simple) == 1 else number


_SIMPLE = _Translation(_simple)
_FOLDING = _Translation(lambda number: _SIMPLE[_SAME_LENGTH_FORMS.get(number, number)])


def simplified(text: str) -> str:
    """Return a text with each traditional character replaced by the simplified one, none more and none less."""
    if text.isascii():
        return text
    return text.translate(_SIMPLE)


@lru_cache(maxsize=2)
def same_characters(text: str) -> str:
    """Return the text in simplified, folded characters of equal length, cached."""
    return text if text.isascii() else text.translate(_FOLDING)


@lru_cache(maxsize=16384)
def name_key(name: str) -> str:
    """Return the key under which all spellings of one name are equal.

    Width, case, full stops, quotation marks around the name, the kind of apostrophe and middle dot, white
    space, a possessive ending and traditional or simplified characters do not count; titles and articles do.
    """
    text = unicodedata.normalize("NFKC", fold_width(without_invisible(name))).casefold().replace(".", "")
    text = _POSSESSIVE.sub("", text.strip(_QUOTES_AROUND).strip("'"))
    text = _SPACE_BY_DOT.sub("·", _SPACES.sub(" ", text))
    return simplified(_SPACE_IN_CHINESE.sub("", text).strip())


def title_free_key(name: str) -> str:
    """Return the key of a name without the titles and articles around it.

    "Dr. John Watson" and "John Watson" share it, and so do 高才先生 and 高才. A name that is
    nothing but a title (师父, "the doctor") keeps its whole key: it is a name of its own.
    """
    key = name_key(name)
    if has_cjk(key):
        for title in CHINESE_TITLES_AFTER:
            if key.endswith(title) and len(key) > len(title):
                return key[: -len(title)]
        return key[1] if len(key) == 2 and key[0] in CHINESE_TITLES_BEFORE else key
    words = key.split(" ")
    while len(words) > 1 and words[0] in TITLES | ARTICLES:
        words = words[1:]
    return key if words[0] in TITLES else " ".join(words)


def title_gender(name: str) -> str | None:
    """Return "male" or "female" when a title before the name says so, else None."""
    for word in name_key(name).split(" ")[:-1]:
        if word in FEMALE_TITLES:
            return "female"
        if word in MALE_TITLES:
            return "male"
        if word not in TITLES and word not in ARTICLES:
            return None
    return None


_CHINESE_DESCRIPTION = re.compile(wording("normalise_chinese_description"))

_WORD = re.compile(r"[^\W\d_]+")
_THIS_OR_THAT = frozenset({"this", "that", "same", "another", "one"})
_PLACES_OF_ANYBODY = frozenset(word_list("normalise_places_of_anybody"))

_CHINESE_PLACE_OF_ANYBODY = re.compile(wording("normalise_chinese_place_of_anybody"))


def is_description(name: str) -> bool:
    """Tell whether a name only describes its bearer, so that it may be said of others as well.

    English: no capitalised word beside titles and articles ("the old man", "doctor", "the Captain").
    Chinese: made of a demonstrative or number and a common noun for a person (那怪, 老儿, 师父).
    """
    if has_cjk(name):
        return _CHINESE_DESCRIPTION.match(name_key(name)) is not None
    words = _WORD.findall(fold_width(name))
    return not any(word[0].isupper() and word.casefold() not in TITLES | ARTICLES for word in words)


def is_any_place(name: str) -> bool:
    """Return whether a name is generic ("the room", 客店)."""
    key = name_key(name)
    if has_cjk(key):
        return _CHINESE_PLACE_OF_ANYBODY.match(key) is not None
    words = [word for word in key.split(" ") if word not in TITLES | ARTICLES | _THIS_OR_THAT]
    return len(words) == 1 and words[0] in _PLACES_OF_ANYBODY


def is_possessive(name: str) -> bool:
    """Tell whether something is said to be somebody's: "Mrs. Gray's" is a place of hers, not Mrs. Gray."""
    return _POSSESSIVE.search(fold_width(name).strip()) is not None
