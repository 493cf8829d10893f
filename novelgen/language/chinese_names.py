"""Chinese names from speech, parts of speech, surnames and context."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from operator import add

from novelgen.language.language import CJK_RANGES, is_cjk, word_list, wording
from novelgen.language.matching import NameFinder, NameMatch
from novelgen.language.normalise import CHINESE_TITLES_AFTER, CHINESE_TITLES_BEFORE, is_description, simplified
from novelgen.language.sightings import FoundName, NameSighting, ScenePlace, clearly_most, found_names

_SURNAMES = frozenset(word_list("chinese_names_surnames"))
_SPEECH = wording("chinese_names_speech")
_MANNERS = word_list("chinese_names_manners")
_MANNER_END = re.compile(f"(?:{'|'.join(sorted(_MANNERS, key=len, reverse=True))})$")

_LEAD_INS = re.compile(wording("chinese_names_lead_ins"))

_QUOTE_OPEN = '“「『"'
_BEFORE_QUOTE = re.compile(
    rf"(?:^|[，。！？；：、”」』…\s])([{CJK_RANGES}·]{{1,14}}?)(?:{_SPEECH})(?:道|着|了)?[：:，,]?\s*[{_QUOTE_OPEN}]"
)
_AFTER_QUOTE = re.compile(rf"[”」』]\s*([{CJK_RANGES}·]{{1,10}}?)(?:{_SPEECH})(?:道|着|了)?[，。！；…]")

_NOT_IN_NAMES = frozenset(wording("chinese_names_not_in_names"))
_IN_GIVEN_NAMES = frozenset("之无若如可")
"""Words that also stand in given names, as those behind a surname do: 阮慎之."""

_NUMBERS = frozenset("一二两三四五六七八九十")
_NOT_FIRST = frozenset(wording("chinese_names_not_first"))
_NOT_LAST = frozenset(wording("chinese_names_not_last"))

_SURNAMES_ALSO_WORDS = _SURNAMES & (_NOT_FIRST | _NOT_IN_NAMES)
"""Surnames that mostly stand for something else: 何小满, 那英杰."""

_STOP = frozenset(word_list("chinese_names_stop"))
"""Words that stand where names do and name nobody: whole classes of people, ranks, times and manners."""

_BEFORE = frozenset(wording("chinese_names_before"))
_AFTER = frozenset(wording("chinese_names_after"))
_BEFORE_PERSONS = frozenset("与对被问和跟给让替谓请教斩杀救")
_BEFORE_PLACES = frozenset("在到往至去离出入住从回奔投抵取守")
_SPEAKS_AFTER = re.compile(rf"(?:{_SPEECH})")
_COUNTED_BEFORE = frozenset("那这此众诸各每某个位名两二三四五六七八九十几一数")

_PLACE_END = wording("chinese_names_place_end")
_LONG_PLACE_ENDS = tuple("客栈 山庄 学院 大学 中学 小区 酒楼 茶馆 医院 公寓 广场 车站 大陆 王国 帝国 灯塔".split())
_FACTION_END = "派帮教盟宗族军会党兵"
_LONG_FACTION_ENDS = ("公司", "集团", "家族", "联盟", "商会", "王朝", "门派", "佣兵团", "协会", "警局")
_ITEM_END = "剑刀棒枪珠镜袍箍印鼎丹符扇杖裟钵琴笛戟钩锤弓甲经书图诀功掌拳果旗榜"
_ENDS = frozenset(_PLACE_END + _FACTION_END + _ITEM_END)
_NUMBER_OF = re.compile("^[一二两三四五六七八九十百千万几数半]+[里座条个间处道位本把层重丈尺张部卷]")
_GENERIC_FIRST = frozenset("那这高深远本此我你下上满大小前后东西南北一二两三四几数各山全半每多新老古旧进出入开关回")
_SURNAMES_ALSO_VERBS = frozenset("谢连和于向应解习管相经封纪屈离干都通从安查容包牧闻")
_FOREIGN = re.compile(rf"[{CJK_RANGES}]{{1,6}}(?:·[{CJK_RANGES}]{{1,6}})+")
_LATIN_NAME = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]+(?:[ -][A-Z][a-z]+)*(?![A-Za-z0-9_])")
_TITLED = re.compile(r"《([^《》\n]{2,12})》")
_CHINESE = re.compile(rf"[{CJK_RANGES}]+")
_LEAST_COUNT = 2

_WRAPPED = re.compile(rf"(?<=[{CJK_RANGES}，、；：])\r?\n[ \u3000]?(?=[{CJK_RANGES}])")
"""A line that ends within a sentence."""
_NAME_PATTERN = re.compile(
    rf"姓(?P<surname>[{CJK_RANGES}]{{1,2}}?)[，、]?(?:双|单)?名(?:唤|叫|曰)?(?P<given>[{CJK_RANGES}]{{1,2}}?)"
    rf"(?:[，、]?(?:表)?字(?P<courtesy>[{CJK_RANGES}]{{2}}))?(?=[，。；：、！”」』])"
)
"""A person who says a name in full: 姓张，名飞，字翼德."""
_CALL_PATTERN = re.compile(
    rf"[，、；]?(?P<way>表字|字|小字|小名|乳名|别号|别字|道号|法号|法名|绰号|诨号|诨名|混名|外号|人称|人都称他|江湖上称)(?:叫做|唤做|叫作|唤作|叫|唤|作|做|是|为|曰)?"
    rf"(?P<name>[{CJK_RANGES}]{{2,4}}?)(?=[，。；、！：”」』])"
)
"""How somebody just named is called besides: 董卓字仲颖, 宋江，绰号及时雨."""
_SOMEBODY_ELSE = re.compile("[。！？女子妻妹弟兄徒孙同]|有一|一个|一位")
_NAME_SAID = rf"(?P<name>[{CJK_RANGES}]{{2,4}}?)(?=[，。；、！：”」』])"
_INTRODUCED = re.compile(rf"(?:名叫|名唤|名为|我叫|我名|自称|道号|法号|法名){_NAME_SAID}")
_CALLED = re.compile(rf"(?:[他她]叫(?={'|'.join(sorted(_SURNAMES))})|(?:大家|人人|都)[叫喊唤称][他她]){_NAME_SAID}")
"""How a person is called: 她叫柳四娘, 大家叫他聋伯."""
_TITLED_PERSON = re.compile(
    rf"(?:(?<![{CJK_RANGES}])|(?<=[的是叫找和与跟识见]))(?P<name>(?:{'|'.join(sorted(_SURNAMES))})[{CJK_RANGES}]{{1,2}}?)"
    r"(?=医生|大夫|老师|护士|律师|教授|警官|队长|师傅|记者|院长|校长)"
)
"""A full name before what somebody is: 许眠医生; counted in a short story alone."""

_NAMED_BEFORE = 60
"""So many characters before, in the same sentence or the one before, the name of who is called so stands."""

CLEAR_SPEAKER = 3
"""Who speaks so often is somebody, whatever part of speech the word is."""

LEAST_BEGUN = 3
SHARE_BEGUN = 0.4
"""Who never speaks, but begins so many clauses and so large a share of them with a surname, is somebody."""

OFTEN_BEGUN = 8
"""Who has a surname, speaks and begins so many clauses is somebody, whatever stands around."""

LEAST_ADDRESSED = 4
"""What somebody may be called by who has no name, as 小陈, 胖子 and 三爷, begins at least so many clauses."""

MOST_FOLLOWED_ALIKE = 0.5
"""What goes on with one and the same character more often is a part of something longer."""

_NICKNAMES = frozenset(word_list("chinese_names_nicknames"))
_KIN_BY_NUMBER = frozenset("爷叔伯哥姐嫂娘婶姑姨奶公妹弟舅少")

_EVEN = re.compile("(?P<word>连[\u3400-\u9fff]{2,3}?)[也都]")

RARELY = 20
"""So many times as often stands 子牙 as 于子牙, where the first character is a word that is a surname, too."""


@dataclass(slots=True)
class ChineseScene:
    """The signs of one scene: speakers, clause openings, words and foreign names."""

    text: str
    simple: str
    speakers: Counter[str] = field(default_factory=Counter)
    heads: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    titled: Counter[str] = field(default_factory=Counter)
    edges: bytes = b""
    """1 where the segmenter begins or ends a word."""


LONGEST_HEAD = 5
_COMPOUND = "compound"
"""In place of a part of speech: two words that together look like a name."""
_SURNAME_AND_WORD = "surname and word"
"""In place of a part of speech: a surname and a word, as in 陆行舟; of long stories few of them are names."""


@lru_cache(maxsize=4096)
def read_chinese(text: str) -> ChineseScene:
    """Return the signs of one scene, cached by text."""
    # The segmenter brings its dictionary along, a tenth of a second; stories without Chinese never need it.
    import rjieba  # noqa: PLC0415

    text = _WRAPPED.sub("", text)
    simple = simplified(text)
    scene = ChineseScene(text, simple)
    for pattern in (_BEFORE_QUOTE, _AFTER_QUOTE):
        for match in pattern.finditer(simple):
            start, end = _speaker_in(match.group(1))
            if end > start:
                scene.speakers[match.group(1)[start:end]] += 1
    clauses = _CHINESE.findall(simple)
    begins = [lead.end() if (lead := _LEAD_INS.match(clause)) else 0 for clause in clauses]
    # 那 is the surname of some, and stands before others.
    whole = [(clause, 0) for clause, begin in zip(clauses, begins, strict=True) if begin and clause[0] == "那"]
    for length in range(3, LONGEST_HEAD):
        scene.heads.update(clause[:length] for clause, _ in whole if length <= len(clause))
    for length in range(2, LONGEST_HEAD + 1):
        scene.heads.update(
            clause[begin : begin + length]
            for clause, begin in zip(clauses, begins, strict=True)
            if begin + length <= len(clause)
        )
    scene.others.update(filter(None, map(_foreign_name, _FOREIGN.findall(text))))
    scene.others.update(_LATIN_NAME.findall(text))
    scene.titled.update(_TITLED.findall(simple))
    previous, is_person = "", False
    edges, at = bytearray(len(simple) + 1), 0
    for word, tag in rjieba.tag(simple):
        edges[at] = True
        at += len(word)
        # The segmenter takes some full names for sayings: 白无咎.
        if (tag[0] == "n" and 1 < len(word) <= 6) or (tag == "i" and len(word) == FULL_NAME and has_surname(word)):
            scene.words.setdefault(word, tag)
        if len(previous) > 1 and len(word) == 1 and word in (_PLACE_END if is_person else _ENDS):
            scene.words.setdefault(previous + word, _COMPOUND)
        if is_person and previous in _SURNAMES and len(word) == FULL_NAME - 1 and tag[0] == "n":
            scene.words.setdefault(previous + word, _SURNAME_AND_WORD)
        previous = word if tag[0] == "n" and _CHINESE.fullmatch(word) else ""
        is_person = tag.startswith("nr")
    edges[at] = True
    scene.edges = bytes(edges)
    return scene


def _foreign_name(run: str) -> str:
    """The foreign name around a dot, bounded by impossible characters."""
    first, *rest = run.split("·")
    start = max((at + 1 for at, character in enumerate(first) if character in _NOT_IN_NAMES), default=0)
    last = rest[-1]
    end = min((at for at, character in enumerate(last) if character in _NOT_IN_NAMES), default=len(last))
    return "·".join([first[start:], *rest[:-1], last[:end]]) if first[start:] and end else ""


def _speaker_in(clause: str) -> tuple[int, int]:
    """The span of the speaker in a simplified clause, (0, 0) for none."""
    lead = _LEAD_INS.match(clause)
    start = lead.end() if lead else 0
    name = clause[start:]
    while (shorter := _MANNER_END.sub("", name)) != name:
        name = shorter
    value = name[1:] if name[:1] in _SURNAMES_ALSO_WORDS else name
    is_name = 1 < len(name) <= 5 + 6 * ("·" in name) and name not in _STOP and not _NOT_IN_NAMES.intersection(value)
    return (start, start + len(name)) if is_name else (0, 0)


@lru_cache(maxsize=65536)
def word_class(word: str) -> str:
    """The dictionary's part of speech of a word, empty if unknown."""
    import rjieba  # noqa: PLC0415

    if not rjieba.has_word(word):
        return ""
    tagged = rjieba.tag(word)
    return tagged[0][1] if len(tagged) == 1 else ""


_AROUND_A_NAME = 8
"""Characters beside a word by which the segmenter reads it."""


def is_given_name_at(text: str, start: int, end: int) -> bool:
    """Tell whether two characters are the given name behind a surname: 归墟 in 吴归墟站在门口."""
    surname = simplified(text[max(0, start - 1) : start])
    if end - start != FULL_NAME - 1 or surname not in _SURNAMES or surname in _SURNAMES_ALSO_WORDS:
        return False
    import rjieba  # noqa: PLC0415

    before = max(0, start - _AROUND_A_NAME)
    at = before
    for word, tag in rjieba.tag(simplified(text[before : end + _AROUND_A_NAME])):
        if at == start - 1:
            return at + len(word) == end and tag.startswith("nr")
        at += len(word)
    return False


@dataclass(slots=True)
class _Signs:
    """The contexts of a word over the whole story."""

    count: int = 0
    good: int = 0
    persons: int = 0
    said: int = 0
    counted: int = 0
    plural: int = 0
    place: int = 0
    after: Counter[str] = field(default_factory=Counter)

    @property
    def goes_on_variously(self) -> bool:
        """Whether no one character follows it most often."""
        return max(self.after.values(), default=0) <= MOST_FOLLOWED_ALIKE * self.count


SHORT_STORY = 20_000
"""Characters of a text in which nobody can be named often; there the form of a name counts."""


def settle_chinese(scenes: Sequence[tuple[ScenePlace, str]], *, is_short: bool = False) -> list[FoundName]:
    """Return the names of Chinese scenes, before any are taken together.

    Of a short story those that stand once are among them, too, where their form is a name's.
    """
    readings = [(place, read_chinese(text)) for place, text in scenes]
    speakers: Counter[str] = Counter()
    heads: Counter[str] = Counter()
    others: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for _, scene in readings:
        speakers.update(scene.speakers)
        heads.update(scene.heads)
        others.update(scene.others)
        titled.update(scene.titled)
        for word, tag in scene.words.items():
            if is_short or tag != _SURNAME_AND_WORD:
                tags[word][tag] += 1
    least = 3 if len(readings) > 5 and not is_short else 2
    proposed = {
        word
        for word, count in heads.items()
        if (count >= least or (is_short and _is_called_so(word))) and len(word) < LONGEST_HEAD and _may_name(word)
    }
    proposed |= {word for word in tags if _may_name(word) or looks_like_a_thing(word)}
    proposed |= {word for word in speakers if _may_name(word) and not _is_title_and_name(word, tags)}
    proposed -= _names_with_neighbour(proposed, tags, [scene.simple for _, scene in readings])
    signs = _signs(proposed, [scene for _, scene in readings])
    kept_names = {
        word
        for word in proposed
        if _is_somebody(word, signs, speakers, heads, tags)
        or _is_thing(word, signs[word], tags)
        or (is_short and _is_named_in_form(word, signs[word], heads[word], tags))
    }
    even_words = {match["word"] for _, scene in readings for match in _EVEN.finditer(scene.simple)}
    kept_names = {word for word in kept_names if not _is_name_and_word(word, kept_names, signs, even_words=even_words)}
    kept_names |= {
        word[1:] for word in kept_names if len(word) == 3 and has_surname(word) and _stands_alone(word[1:], signs)
    }
    kept_names |= {word for word in titled if titled[word] > 1}
    introduced_names, called_names = (
        {match["name"] for _, scene in readings for match in pattern.finditer(scene.simple)}
        for pattern in (_INTRODUCED, _CALLED)
    )
    if is_short:
        titled_names = {match["name"] for _, scene in readings for match in _TITLED_PERSON.finditer(scene.simple)}
        called_names |= {name for name in titled_names if not word_class(name) or word_class(name).startswith("nr")}
    kept_names |= {name for name in introduced_names | called_names if _may_name(name) and not looks_like_a_thing(name)}
    declared = _declared([scene.simple for _, scene in readings], kept_names)
    kept_names |= set(declared)
    finder = _Finder(kept_names | {name for name in others if not is_cjk(name[0]) or "·" in name})
    sightings = [(place, sighting) for place, scene in readings for sighting in _sightings(finder, scene)]
    name_matches = found_names(sightings)
    for name in name_matches:
        simple = simplified(name.name)
        name.speaks = speakers[simple]
        name.same_as = declared.get(simple, set())
        name.weigh("character", 2.0 * name.speaks + 0.5 * name.count * (simple in called_names))
        if is_short and _is_named_in_form(simple, signs.get(simple), heads[simple], tags):
            name.weigh("character", 1.5 * name.count)
        _weigh_form(name, simple, tags.get(simple, Counter()), is_titled=titled[simple] > 0)
    return [
        name_match
        for name_match in name_matches
        if name_match.count >= (1 if is_short else _LEAST_COUNT) or name_match.same_as or "·" in name_match.name
    ]


@lru_cache(maxsize=65536)
def _may_name(word: str) -> bool:
    """Tell whether a word of simplified characters may be a name at all."""
    if word in _STOP or not 1 < len(word) <= 6 or _NOT_IN_NAMES.intersection(word[1:]) or _NUMBER_OF.match(word):
        return False
    if word[0] == "越" and "越" in word[1:]:
        # 越聚越多 is no 越聚越.
        return False
    if word[0] in _SURNAMES_ALSO_WORDS and has_surname(word):
        if word[0] == "那" and not _is_given_name(word[1:]):
            return False
        return word[1] not in _NOT_FIRST and word[-1] not in _NOT_LAST and word_class(word)[:2] in ("", "nr")
    if word[0] in _NOT_IN_NAMES:
        return False
    if _IN_GIVEN_NAMES.intersection(word[1:]) and not (len(word) == 3 and has_surname(word)):
        return False
    if len(word) == 2 and word[0] in CHINESE_TITLES_BEFORE and word[1] in _SURNAMES:
        return True
    if word[0] in _NOT_FIRST or word[-1] in _NOT_LAST:
        return False
    tag = word_class(word)
    return not tag or tag[0] in "njxq" or has_surname(word)


def _is_given_name(word: str) -> bool:
    """Tell whether what stands behind 那 may be a given name: 英杰, not 童子, 一位 or 里."""
    return word not in _STOP and word[0] not in _NUMBERS | {"里"} and word_class(word)[:2] in ("", "nr")


def _signs(words: Iterable[str], scenes: Iterable[ChineseScene]) -> dict[str, _Signs]:
    words = list(words)
    full = {word for word in words if len(word) > 2 and has_surname(word) and word[-1] != "之"}
    finder = _Finder(words)
    signses_by_id: dict[str, _Signs] = defaultdict(_Signs)
    for scene in scenes:
        text, edges = scene.simple, scene.edges
        for match in finder.find(text):
            sign = signses_by_id[match.name]
            before, after = text[match.start - 1 : match.start] if match.start else "", text[match.end : match.end + 1]
            is_open, is_closed = not is_cjk(before or "，"), not is_cjk(after or "，")
            sign.count += 1
            is_whole = edges[match.start] and edges[match.end] and not edges[match.start + 2]
            is_free = (is_open or before in _BEFORE) and (is_closed or after in _AFTER)
            sign.good += is_free or (match.name in full and is_whole)
            sign.persons += before in _BEFORE_PERSONS
            sign.said += _SPEAKS_AFTER.match(text, match.end) is not None
            sign.counted += before in _COUNTED_BEFORE
            sign.plural += after == "们"
            sign.place += before in _BEFORE_PLACES
            if is_cjk(after or "，"):
                sign.after[after] += 1
    return signses_by_id


def _is_somebody(
    word: str, signs: dict[str, _Signs], speakers: Counter[str], heads: Counter[str], tags: dict[str, Counter[str]]
) -> bool:
    sign = signs.get(word)
    if sign is None or not _may_name(word) or (looks_like_a_thing(word) and not speakers[word]):
        return False
    if (
        speakers[word]
        and (has_surname(word) or word[0] in CHINESE_TITLES_BEFORE)
        and len(word) == 2
        and word[1] in _SURNAMES
    ):
        return True
    if sign.counted + sign.plural > 0.12 * sign.count:
        return False
    if _is_by_name(word, sign, heads[word]):
        return True
    share = sign.good / sign.count
    acts = max(sign.said, speakers[word]) + sign.persons
    tag = word_class(word)
    is_tagged = tag.startswith("nr") or any(other_word.startswith("nr") for other_word in tags.get(word, ()))
    if word[0] in _SURNAMES_ALSO_WORDS:
        is_begun = heads[word] >= max(LEAST_BEGUN, SHARE_BEGUN * sign.count) and sign.goes_on_variously
        # 何故 is a word of its own, and 何故反 none.
        is_split = len(word) > 2 and not word_class(word[:2])
        return is_begun and (acts > 0 or (is_split and (is_tagged or heads[word] >= LEAST_ADDRESSED)))
    if has_surname(word) and tag in ("", "nr", "nrt", "nrfg", "nz"):
        is_often = heads[word] >= max(OFTEN_BEGUN, SHARE_BEGUN * sign.count) and sign.goes_on_variously
        if not tag and acts > 0 and is_often and word[0] not in _SURNAMES_ALSO_VERBS:
            return True
        begins = heads[word] >= max(LEAST_BEGUN, SHARE_BEGUN * sign.count)
        if (is_tagged or len(word) > 2) and not tag and share >= 0.2 and begins:
            return True
        return share >= 0.3 and (acts >= 0.03 * sign.count or (is_tagged and len(word) > 2))
    is_clear = speakers[word] >= CLEAR_SPEAKER
    if word[0] in _NUMBERS:
        return is_clear and acts >= 0.08 * sign.count
    if is_tagged:
        return share >= 0.3 and acts >= 2 and acts >= 0.08 * sign.count
    if tag:
        return is_clear and acts >= 0.15 * sign.count and share >= 0.4
    return share >= 0.4 and (sign.said >= 3 or speakers[word] > 1) and acts >= 0.12 * sign.count


def _is_by_name(word: str, sign: _Signs, begun_count: int) -> bool:
    """Tell whether somebody without a name is called so, by a surname, a trait or a rank in the family."""
    if begun_count < max(LEAST_ADDRESSED, SHARE_BEGUN * sign.count) or len(word) > 3 or not sign.goes_on_variously:
        return False
    return _is_called_so(word)


def _is_called_so(word: str) -> bool:
    """Tell whether a word is how somebody without a name is called: 小陈, 三爷, 胖子."""
    is_familiar = word[0] in CHINESE_TITLES_BEFORE and word[1:] in _SURNAMES and not word_class(word)
    is_by_rank = len(word) == 2 and word[0] in _NUMBERS and word[1] in _KIN_BY_NUMBER
    return is_familiar or is_by_rank or word in _NICKNAMES


def _is_named_in_form(word: str, sign: _Signs | None, begun_count: int, tags: dict[str, Counter[str]]) -> bool:
    """Tell whether a rare word has the form of a name."""
    if sign is None or not _may_name(word) or sign.plural:
        return False
    is_tagged = any(tag.startswith("nr") for tag in tags.get(word, ()))
    is_kin = len(word) == 2 and word[1] in _KIN_BY_NUMBER
    if _is_called_so(word) or (has_surname(word) and word[1:] in CHINESE_TITLES_AFTER) or (is_kin and is_tagged):
        return begun_count > 0 or sign.good > 0
    if not has_surname(word) or word_class(word)[:2] not in ("", "nr") or sign.counted > MOST_COUNTED * sign.count:
        return False
    is_various = sign.count > 1 and sign.goes_on_variously
    if len(word) < FULL_NAME:
        # The dictionary has 罗盘 and 蓝布 as people.
        is_unknown = word[0] not in _SURNAMES_ALSO_WORDS and not word_class(word)
        return is_unknown and is_tagged and is_various and sign.good + sign.persons + begun_count > 0
    if len(word) > FULL_NAME:
        return False
    if looks_like_a_thing(word):
        # 郑大海拍拍船舷: who acts is no place.
        is_begun = is_various and begun_count > sign.place
        return is_begun and any(word_class(after)[:1] == "v" for after in sign.after)
    return sign.good > 0 and (is_tagged or is_various)


MOST_COUNTED = 0.25
"""What stands behind 那个 and 一位 more often is no name."""

FULL_NAME = 3
"""Characters of most names of a surname and a given name."""


def _is_thing(word: str, sign: _Signs | None, tags: dict[str, Counter[str]]) -> bool:
    """Tell whether a word names a place, a faction or a thing."""
    counter = tags.get(word)
    if sign is None or not counter or sign.count < _LEAST_COUNT or word in _STOP or _NUMBER_OF.match(word):
        return False
    if looks_like_a_thing(word):
        return word[0] not in _GENERIC_FIRST and word[0] not in _NOT_FIRST
    return counter["ns"] > 0 and word_class(word) == "ns" and sign.place >= 0.1 * sign.count


def _stands_alone(value: str, signs: dict[str, _Signs]) -> bool:
    """Tell whether the given name of somebody is used by itself, too."""
    sign = signs.get(value)
    return sign is not None and sign.count >= _LEAST_COUNT and sign.good >= 0.4 * sign.count and _may_name(value)


def _declared(texts: Iterable[str], kept_texts: set[str]) -> dict[str, set[str]]:
    """Return by name the other names that the text says its bearer has."""
    pairs: Counter[tuple[str, str]] = Counter()
    finder = _Finder(kept_texts)
    for text in texts:
        for match in _NAME_PATTERN.finditer(text):
            if match["surname"] in _SURNAMES:
                full = match["surname"] + match["given"]
                pairs[full, full] += 1
                if match["courtesy"]:
                    pairs[full, match["courtesy"]] += 1
                    pairs[full, match["surname"] + match["courtesy"]] += 1
        for match in _CALL_PATTERN.finditer(text):
            if match["way"] in ("字", "表字") and len(match["name"]) != 2:
                continue
            before = text[max(0, match.start() - _NAMED_BEFORE) : match.start()]
            full = _last_named(before, finder, is_near=match["way"] == "字")
            if (
                not full
                or looks_like_a_thing(full)
                or full == match["name"]
                or _NOT_IN_NAMES.intersection(match["name"])
            ):
                continue
            pairs[full, match["name"]] += 1
            if surname_of(full) and match["way"] in ("字", "表字"):
                pairs[full, surname_of(full) + match["name"]] += 1
    owner: dict[str, str] = {}
    for (full, other), _ in pairs.most_common():
        owner.setdefault(other, full)
    same: dict[str, set[str]] = defaultdict(set)
    for other, full in owner.items():
        same[full].add(other)
        same[other].add(full)
    return same


def _is_title_and_name(word: str, tags: Mapping[str, Counter[str]]) -> bool:
    """Tell whether a word is a rank and a full name: 宗主顾怀山."""
    name = word[-FULL_NAME:]
    return len(word) > FULL_NAME and has_surname(name) and name in tags


def _names_with_neighbour(proposed: set[str], tags: Mapping[str, Counter[str]], texts: Sequence[str]) -> set[str]:
    """Return the proposed words that are rarer than the person's name with which they begin: 周福正 beside 周福."""
    pairs = {
        word: word[:-1]
        for word in proposed
        if len(word) == FULL_NAME and len(surname_of(word)) == 1 and not looks_like_a_thing(word)
        if word[:-1] in proposed and "nr" in tags.get(word[:-1], ())
    }
    finders = (_Finder(pairs), _Finder(set(pairs.values())))
    counts = Counter(match.name for finder in finders for text in texts for match in finder.find(text))
    return {word for word, name in pairs.items() if counts[name] >= 2 * counts[word]}


def _last_named(before: str, finder: _Finder, *, is_near: bool) -> str:
    """The last named person before a place, optionally directly before it."""
    last = next(reversed(list(finder.find(before))), None)
    if last is None or (last.end < len(before) and (is_near or _SOMEBODY_ELSE.search(before, last.end))):
        return ""
    return last.name


def _is_name_and_word(
    word: str, kept_names: set[str], signs: dict[str, _Signs], *, even_words: Set[str] = frozenset()
) -> bool:
    """Return whether a word is a name plus a neighbour: 贾政回, 谢宋江, 连香菱.

    The even words are those of which a text says 连香菱也 or 连香菱都.
    """
    count = signs[word].count
    if len(word) > 2 and word[:-1] in kept_names and signs[word[:-1]].count >= 2 * count:
        return True
    if len(word) < 3 or word[1:] not in kept_names or signs[word[1:]].count < 2 * count:
        return False
    if word[0] not in _SURNAMES:
        return True
    is_rare = signs[word[1:]].count >= RARELY * count
    return word in even_words or (word[0] in _SURNAMES_ALSO_VERBS and (has_surname(word[1:]) or is_rare))


def looks_like_a_thing(word: str) -> bool:
    """Tell whether a name of three and more characters ends as places, factions and things do."""
    simple = simplified(word)
    if simple.endswith(_LONG_PLACE_ENDS + _LONG_FACTION_ENDS):
        return len(word) > 2
    return len(word) > 2 and simple[-1] in _ENDS


class _Finder:
    """Finds many names in Chinese text, from left to right, the longest first: `NameFinder`, without its exactness."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_pair: dict[str, list[str]] = defaultdict(list)
        listing = list(names)
        for name in sorted(listing, key=lambda text: (-len(text), text)):
            if is_cjk(name[0]):
                self._by_pair[name[:2]].append(name)
        self._latin = NameFinder(name for name in listing if not is_cjk(name[0]))

    def find(self, text: str) -> Iterable[NameMatch]:
        """Return the matches, those in Latin letters last."""
        at = 0
        # Nearly every character begins some name, so that the pairs are gone through without looking for those.
        for start, names in enumerate(map(self._by_pair.get, map(add, text, text[1:]))):
            if names is not None and start >= at:
                for name in names:
                    if text.startswith(name, start):
                        at = start + len(name)
                        yield NameMatch(name, start, at)
                        break
        yield from self._latin.find(text)


def _sightings(finder: _Finder, scene: ChineseScene) -> Iterable[NameSighting]:
    text = scene.simple
    name_matches = list(finder.find(text))
    for match, following in zip_longest(name_matches, name_matches[1:]):
        is_followed = following is not None and following.start == match.end
        before = text[match.start - 1 : match.start] if match.start else ""
        after = text[match.end : match.end + 1]
        yield NameSighting(
            scene.text[match.start : match.end],
            {
                "character": 1.0 * (before in _BEFORE_PERSONS) + 0.5 * (after in "道曰" and bool(after)),
                "location": 1.0 * (before in _BEFORE_PLACES and bool(before)),
            },
            free=not before or not is_cjk(before),
            beside=scene.text[following.start : following.end] if is_followed else "",
        )


def _weigh_form(name: FoundName, word: str, tags: Counter[str], *, is_titled: bool) -> None:
    if word.endswith(_LONG_PLACE_ENDS) or (len(word) > 2 and word[-1] in _PLACE_END):
        name.weigh("location", 1.0 * name.count)
    elif word.endswith(_LONG_FACTION_ENDS) or (len(word) > 2 and word[-1] in _FACTION_END):
        name.weigh("faction", 0.6 * name.count)
    elif len(word) > 2 and word[-1] in _ITEM_END and not name.speaks:
        name.weigh("item", 1.0 * name.count)
    elif tags["ns"]:
        name.weigh("location", 0.3 * name.count)
    if has_surname(word) and not tags["ns"] and not (len(word) > 2 and word[-1] in _ENDS):
        name.weigh("character", 0.5 * name.count)
    if is_titled:
        name.weigh("term", 0.5 * name.count)


def has_surname(name: str) -> bool:
    """Tell whether a name of two to four characters begins with a common surname."""
    name = simplified(name)
    if len(name) > 2 and name[:2] in _SURNAMES:
        return len(name) <= 4
    return name[0] in _SURNAMES and len(name) in (2, 3)


def surname_of(name: str) -> str:
    """Return the surname with which a Chinese name begins, or an empty text."""
    simple = simplified(name)
    if simple[:2] in _SURNAMES and len(name) > 2:
        return name[:2]
    return name[0] if simple[0] in _SURNAMES and len(name) > 1 else ""


# --- Variants: 孙悟空, 悟空; 宋江, 宋押司 ---

LEAST_SIDE_BY_SIDE = 3
"""A title that stands before one and the same name so often is likely to be that one's: 武成王黄飞虎."""

_KINSHIP = frozenset("氏母婆嫂妹姐姑妈娘妻妃夫")
"""Who is called by a surname and one of these is a relative of those of that surname."""


def chinese_groups(names: Sequence[FoundName]) -> list[list[FoundName]]:
    """Group variants of one name, leaving ambiguous ones alone."""
    by_name = {simplified(name_match.name): name_match for name_match in names}
    parent = {name: name for name in by_name}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for name, named_name_match in by_name.items():
        for other in sorted(named_name_match.same_as):
            if other in by_name:
                parent[root(other)] = root(name)
    longer = _by_part(by_name)
    for short in sorted(by_name, key=len):
        hosts: Counter[str] = Counter()
        for entity_id in longer[short]:
            if root(entity_id) != root(short):
                hosts[root(entity_id)] += by_name[entity_id].count
        if host := clearly_most(hosts):
            parent[root(short)] = host
    groups: dict[str, list[FoundName]] = defaultdict(list)
    for name, named_name_match in by_name.items():
        groups[root(name)].append(named_name_match)
    return list(groups.values())


def _by_part(names: Iterable[str]) -> dict[str, list[str]]:
    longer: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for part in _parts(name):
            longer[part].append(name)
    return longer


def _parts(name: str) -> Iterable[str]:
    """The shorter names that a longer one holds: 悟空 in 孙悟空, 观音 in 观音菩萨."""
    if "·" in name:
        yield from name.split("·")
        return
    title = next((text for text in CHINESE_TITLES_AFTER if name.endswith(text) and len(name) - len(text) > 1), "")
    before = surname_of(name) or (name[0] if name[0] in CHINESE_TITLES_BEFORE else "")
    if title:
        yield name[: -len(title)]
    elif before and len(name) - len(before) > 1:
        yield name[len(before) :]


def chinese_questions(groups: dict[int, Sequence[FoundName]]) -> dict[int, int]:
    """Return the groups that may share a bearer, with the other's number."""
    bearer = {simplified(name_match.name): at for at, group in groups.items() for name_match in group}
    counts = {at: sum(name_match.count for name_match in group) for at, group in groups.items()}
    longer = _by_part(bearer)
    families: dict[str, set[int]] = defaultdict(set)
    for name, at in bearer.items():
        is_named = has_surname(name) and not name.endswith(CHINESE_TITLES_AFTER)
        if is_named and not looks_like_a_thing(name) and not is_description(name):
            families[surname_of(name)].add(at)
    found_counts: dict[int, int] = {}
    for name, at in bearer.items():
        asked_numbers = {bearer[entity_id] for entity_id in longer[name]} | families.get(_surname_meant(name), set())
        beside = [
            (other, count)
            for name_match in groups[at]
            for other, count in name_match.beside.items()
            if name_match.name == name
        ]
        asked_numbers |= {
            bearer[simplified(other)]
            for other, count in beside
            if count >= LEAST_SIDE_BY_SIDE
            and simplified(other) in bearer
            and count * 2 > sum(number for _, number in beside)
        }
        asked_numbers.discard(at)
        if asked_numbers and at not in found_counts:
            found_counts[at] = max(asked_numbers, key=lambda other: counts[other])
    return found_counts


def _surname_meant(name: str) -> str:
    """The surname in 老孙, 孙先生 or 孙押司, empty for other names."""
    if len(name) == 2 and name[0] in CHINESE_TITLES_BEFORE:
        return name[1]
    surname = surname_of(name)
    title = name[len(surname) :]
    if not surname or _KINSHIP.intersection(title):
        return ""
    return surname if title in CHINESE_TITLES_AFTER else ""
