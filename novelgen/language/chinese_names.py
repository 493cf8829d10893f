"""Names in Chinese prose, told by who speaks, by parts of speech, surnames, and what stands before and after."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from novelgen.language.language import CJK_RANGES, is_cjk
from novelgen.language.matching import NameFinder, NameMatch
from novelgen.language.normalise import CHINESE_TITLES_AFTER
from novelgen.language.sightings import FoundName, NameSighting, ScenePlace, found_names

_SURNAMES = frozenset(
    """
    赵 钱 孙 李 周 吴 郑 王 冯 陈 褚 卫 蒋 沈 韩 杨 朱 秦 尤 许 何 吕 施 张 孔 曹 严 华 金 魏 陶 姜 戚 谢 邹 喻
    柏 窦 章 苏 潘 葛 范 彭 鲁 韦 马 苗 凤 方 俞 任 袁 柳 鲍 史 唐 费 薛 雷 贺 倪 汤 滕 殷 罗 毕 郝 邬 安 常 乐
    于 傅 齐 康 伍 余 顾 孟 黄 穆 萧 尹 姚 邵 汪 祁 毛 狄 米 贝 明 臧 戴 宋 庞 熊 纪 舒 屈 项 祝 董 梁 杜 阮 蓝
    闵 席 季 贾 路 江 童 颜 郭 梅 林 钟 徐 邱 骆 高 夏 蔡 田 樊 胡 凌 霍 虞 万 柯 卢 莫 房 解 应 宗 丁 宣 邓 郁
    杭 洪 包 左 石 崔 吉 龚 程 邢 裴 陆 荣 翁 荀 甄 封 储 靳 段 巫 乌 焦 牧 山 谷 车 侯 宓 蓬 全 班 仰 宁 仇 甘
    厉 祖 武 符 刘 景 詹 龙 叶 司 黎 薄 白 蒲 卓 蔺 屠 蒙 乔 阴 胥 闻 党 翟 谭 申 冉 雍 桑 桂 牛 寿 边 燕 温 庄
    晏 柴 瞿 阎 连 习 艾 容 向 古 易 廖 耿 满 匡 文 寇 广 欧 沃 利 越 师 巩 聂 晁 敖 冷 辛 那 简 饶 曾 沙 丰 关
    查 荆 游 权 盖 桓 公 岳 猪 肖 佟 闫 覃 涂 苟 代 楚 云 花 风 秋 慕 司马 上官 欧阳 夏侯 诸葛 东方 皇甫 尉迟
    公孙 慕容 令狐 司徒 司空 独孤 南宫 西门 端木 长孙 宇文 轩辕 百里 呼延 东郭 完颜 耶律 纳兰 拓跋 爱新觉罗
    """.split()
)

_SPEECH = "道|曰|云|说|问|答|叫|喊|喝|骂|嚷|言|吼|劝|叹|念|吟|诵|解释|补充|回应|追问|反问|开口|低语|嘀咕|喃喃|插嘴|提醒"

_MANNERS = """
    笑 冷笑 大笑 微笑 苦笑 哂笑 陪笑 赔笑 嘻嘻 呵呵 哈哈 含笑 忙 连忙 急忙 慌忙 急 慌 便 就 即 乃 遂 又 再 也 亦
    却 方 才 只 且 都 齐 齐声 一齐 同 厉声 高声 大声 低声 轻声 柔声 沉声 朗声 正色 怒 大怒 发怒 喝 骂 叫 问 答
    应 应声 回 回答 对 说 哭 泣 泣泪 垂泪 滴泪 含泪 叹 叹息 叹气 长叹 喜 大喜 欢喜 惊 大惊 听说 听见 听得 听了
    听 闻言 闻得 见说 见了 见 看了 上前 近前 向前 回头 抬头 低头 点头 摇头 摆手 拱手 合掌 躬身 起身 欠身 转身
    施礼 还礼 作礼 行礼 顿首 叩头 叩首 跪下 起来 答应 答礼 接口 接着 继续 忽然 忽 忍不住 不禁 不由 终于 突然
    立刻 马上 随即 于是 心中 心里 暗 暗暗 冷冷 淡淡 缓缓 慢慢 轻轻 缓 皱眉 皱着眉 笑着 哭着 指着 看着 望着 咬牙
    大叫 喝令 分付 吩咐 谢 称谢 奏 启 禀 报 告 请 求 祷 祝 赞 夸 止 拦 扯住 拉住 抱拳 怔怔 愣了 沉吟 沉默 道 着
    了 地 一声 一句 起 出声 开口 不 还 早 在旁 旁边 在 来
    """.split()

_MANNER_END = re.compile(f"(?:{'|'.join(sorted(_MANNERS, key=len, reverse=True))})$")

_LEAD_INS = re.compile(
    "^(?:却说|且说|话说|再说|单表|单说|只见|只听|但见|忽见|忽听|原来|正是|这时|此时|那时|于是|然后|而后|随后|不料|谁知|一旁|旁边"
    "|身旁|身边|坐在|站在|听|见|那个|这个|那位|这位|那|这|众|只|有|被|又|但|而|却|当下|不多时|一时|突然|忽然|唬得|慌得|喜得|急得|惊得|的)+"
)

_QUOTE_OPEN = '“「『"'
_BEFORE_QUOTE = re.compile(
    rf"(?:^|[，。！？；：、”」』…\s])([{CJK_RANGES}·]{{1,14}}?)(?:{_SPEECH})(?:道|着|了)?[：:，,]?\s*[{_QUOTE_OPEN}]"
)
_AFTER_QUOTE = re.compile(rf"[”」』]\s*([{CJK_RANGES}·]{{1,10}}?)(?:{_SPEECH})(?:道|着|了)?[，。！；…]")

_NOT_IN_NAMES = frozenset(
    "的了着是在把被将我你他她它俺咱吾汝谁这那哪此其之也就都又还没不很个们什怎啊吧呢吗么呀哩罢得而且或与和跟给让使向从对"
    "说道问答叫喊喝骂笑哭听见看闻想要去来到走上下出入有无已曾会能可该应当即便却才只因为所以若如但虽每各某几些"
)

_PRONOUNS = frozenset(
    """
    我们 你们 他们 她们 咱们 大家 众人 自己 有人 人家 对方 别人 两人 二人 三人 旁人 众 人 那人 这人 此人
    """.split()
)

_BEFORE_PERSONS = frozenset("与对被问和跟给让替")
_BEFORE_PLACES = frozenset("在到往至去离出入住从回奔投抵")
_FREE_BEFORE = frozenset("那这的了在到是与对向把被和给见请叫一个位，")
_FREE_AFTER = frozenset("道曰说的了在是把与和问笑听见又也")
_SAYING = frozenset("道曰")
_OPENING = frozenset("“「『")
_CALLING = frozenset("，！：")
_STRIP_BEFORE = "那这众被把与对向教叫请见随同和跟给让将替保乃是有又着"
_STRIP_AFTER = "道曰云说听闻见问笑叫喝去来乃是却又忙急在的与对把将不也"

_PLACE_END = (
    "山洞寺城国庄观宫河海岭村镇州府县岛峰桥街路巷岸湖江谷崖涧庙庵殿阁楼堂院园林关寨坡洲塔渡港湾门屋店馆厅室池坊坛"
)
_LONG_PLACE_ENDS = tuple(
    """
    客栈 山庄 学院 大学 中学 小区 酒楼 茶馆 医院 公寓 广场 车站 大陆 王国 帝国 灯塔
    """.split()
)
_FACTION_END = "派帮教盟宗族军会党"
_LONG_FACTION_ENDS = ("公司", "集团", "家族", "联盟", "商会", "王朝", "门派", "佣兵团", "协会", "警局")
_ITEM_END = "剑刀棒枪珠镜袍箍印鼎丹符扇杖裟钵琴笛戟钩锤弓甲经书图诀功掌拳果"
_ENDS = frozenset(_PLACE_END + _FACTION_END + _ITEM_END)
_COMPOUND = "compound"
"""In place of a part of speech: two words that together look like a name."""

_NUMBER_OF = re.compile("^[一二两三四五六七八九十百千万几数半]+[里座条个间处道位本把层重丈尺张部卷]")
_GENERIC_FIRST = frozenset("那这高深远本此我你下上满大小前后东西南北一二两三四几数各山全半每多新老古旧进出入开关回")

_FOREIGN = re.compile(rf"[{CJK_RANGES}]{{1,6}}(?:·[{CJK_RANGES}]{{1,6}})+")
_LATIN_NAME = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]+(?:[ -][A-Z][a-z]+)*(?![A-Za-z0-9_])")
_TITLED = re.compile(r"《([^《》\n]{2,12})》")
_CHINESE = re.compile(rf"[{CJK_RANGES}]+")

_LEAST_COUNT = 2

CLEAR_SPEAKER = 5
"""Who speaks so often is somebody, whatever part of speech the word is."""

SHARE_OF_ONE_NEIGHBOUR = 0.7
"""What has the same character beside it so often is part of a longer word."""

LEAST_SIGNS = 2.0
SHARE_OF_SIGNS = 0.12
"""A word tagged as a name counts when it stands as a person does (对X, X道, “X，) so often, and in such a share."""

COMMON_WORD = 200
"""Frequency in the segmenter's dictionary from which on a word that never speaks needs three times the signs."""


@dataclass(slots=True)
class ChineseScene:
    """What one scene shows: who speaks, words by their part of speech, names in other writing."""

    speakers: Counter[str] = field(default_factory=Counter)
    words: dict[str, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    titled: Counter[str] = field(default_factory=Counter)


@lru_cache(maxsize=4096)
def read_chinese(text: str) -> ChineseScene:
    """Return what one scene shows; the same text is read once."""
    # The segmenter brings its dictionary along, a tenth of a second; stories without Chinese never need it.
    import rjieba  # noqa: PLC0415

    scene = ChineseScene()
    for pattern in (_BEFORE_QUOTE, _AFTER_QUOTE):
        for match in pattern.finditer(text):
            speaker = speaker_of(match.group(1))
            if speaker:
                scene.speakers[speaker] += 1
    scene.others.update(filter(None, map(_foreign_name, _FOREIGN.findall(text))))
    scene.others.update(_LATIN_NAME.findall(text))
    scene.titled.update(_TITLED.findall(text))
    previous, is_person = "", False
    for word, tag in rjieba.tag(text):
        if tag[0] == "n" and len(word) > 1:
            scene.words.setdefault(word, tag)
        if len(previous) > 1 and len(word) == 1 and word in (_PLACE_END if is_person else _ENDS):
            scene.words.setdefault(previous + word, _COMPOUND)
        previous = word if tag[0] == "n" and _CHINESE.fullmatch(word) else ""
        is_person = tag.startswith("nr")
    for speaker in scene.speakers:
        tags = [tag for _, tag in rjieba.tag(speaker)]
        acts = next((tag for tag in tags if tag[0] not in "nxmab"), "")
        scene.words.setdefault(speaker, acts or tags[-1])
    return scene


def _foreign_name(run: str) -> str:
    """The name in a run of characters with a dot: what cannot be part of a name ends it on both sides."""
    first, *rest = run.split("·")
    start = max((at + 1 for at, character in enumerate(first) if character in _NOT_IN_NAMES), default=0)
    last = rest[-1]
    end = min((at for at, character in enumerate(last) if character in _NOT_IN_NAMES), default=len(last))
    return "·".join([first[start:], *rest[:-1], last[:end]]) if first[start:] and end else ""


def speaker_of(clause: str) -> str:
    """Return who speaks in what stands before a verb of speech; empty where that names nobody."""
    name = _LEAD_INS.sub("", clause)
    while True:
        shorter = _MANNER_END.sub("", name)
        if shorter == name:
            break
        name = shorter
    if not 1 < len(name) <= 5 + 6 * ("·" in name) or name in _PRONOUNS or _NOT_IN_NAMES.intersection(name):
        return ""
    return name


def settle_chinese(scenes: Sequence[tuple[ScenePlace, str]]) -> list[FoundName]:
    """Return the names of Chinese scenes, before any are taken together."""
    read = [(place, text, read_chinese(text)) for place, text in scenes]
    speakers: Counter[str] = Counter()
    others: Counter[str] = Counter()
    titled: Counter[str] = Counter()
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for _, _, scene in read:
        speakers.update(scene.speakers)
        others.update(scene.others)
        titled.update(scene.titled)
        for word, tag in scene.words.items():
            tags[word][tag] += 1
    speakers = _without_tails(speakers)
    looked_for = set(speakers) | set(others) | set(titled) | set(_proposed(tags, speakers))
    finder = _Finder(looked_for)
    sightings = [(place, sighting) for place, text, _ in read for sighting in _sightings(finder, text)]
    found = found_names(sightings)
    for name in found:
        name.speaks = speakers[name.name]
        name.weigh("character", 2.0 * name.speaks)
        _weigh_form(name, tags.get(name.name, Counter()), is_titled=titled[name.name] > 0)
    return [each for each in found if _is_kept(each, tags.get(each.name, Counter()), others)]


def _without_tails(speakers: Counter[str]) -> Counter[str]:
    """Give what is said by 行者近前 to 行者, where that one speaks more often."""
    settled: Counter[str] = Counter()
    for name, count in speakers.items():
        heads = [name[:end] for end in range(2, len(name)) if speakers[name[:end]] > max(2, count)]
        tails = [name[start:] for start in range(1, len(name) - 1) if speakers[name[start:]] > 3 * count + 3]
        keeps_own = count > 2 or name[0] in _SURNAMES or (name[:2] in _SURNAMES)
        settled[heads[-1] if heads else tails[0] if tails and not keeps_own else name] += count
    return settled


def _proposed(tags: dict[str, Counter[str]], speakers: Counter[str]) -> Iterable[str]:
    for word, seen in tags.items():
        tag = seen.most_common(1)[0][0]
        bare = _stripped(word, speakers, tags)
        if not 1 < len(bare) <= 6 or _NOT_IN_NAMES.intersection(bare) or bare in _PRONOUNS:
            continue
        if tag == "n":
            if looks_like_a_thing(bare) or bare in speakers:
                yield bare
        elif tag == _COMPOUND:
            if word == bare and word[:-1] not in speakers:
                yield word
        else:
            yield bare


def _stripped(word: str, speakers: Counter[str], tags: dict[str, Counter[str]]) -> str:
    if len(word) > 2 and word[0] in _STRIP_BEFORE:
        word = word[1:]
    if len(word) > 2 and word[-1] in _STRIP_AFTER:
        word = word[:-1]
    for border in range(1, len(word) - 1):
        if word[border:] in speakers and word[:border] not in _SURNAMES and len(word) - border > 1:
            return word[border:]
    return word


def looks_like_a_thing(word: str) -> bool:
    """Tell whether a name of three and more characters ends as places, factions and things do."""
    if word.endswith(_LONG_PLACE_ENDS + _LONG_FACTION_ENDS):
        return len(word) > 2
    return len(word) > 2 and word[-1] in _PLACE_END + _FACTION_END + _ITEM_END


class _Finder:
    """Finds many names in Chinese text, from left to right, the longest first: `NameFinder`, without its exactness."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_first: dict[str, list[str]] = defaultdict(list)
        for name in sorted(names, key=lambda each: (-len(each), each)):
            if is_cjk(name[0]):
                self._by_first[name[0]].append(name)
        self._start = re.compile(f"[{''.join(map(re.escape, self._by_first))}]") if self._by_first else None
        self._latin = NameFinder(name for name in names if not is_cjk(name[0]))

    def find(self, text: str) -> Iterable[NameMatch]:
        """Return the matches, those in Latin letters last."""
        at = 0
        while self._start is not None and (hit := self._start.search(text, at)) is not None:
            at = hit.start() + 1
            for name in self._by_first[hit.group()]:
                if text.startswith(name, hit.start()):
                    at = hit.start() + len(name)
                    yield NameMatch(name, hit.start(), at)
                    break
        yield from self._latin.find(text)


def _sightings(finder: _Finder, text: str) -> Iterable[NameSighting]:
    for match in finder.find(text):
        before = text[match.start - 1 : match.start] if match.start else ""
        after = text[match.end : match.end + 1]
        yield NameSighting(
            match.name,
            person=1.0 * (before in _BEFORE_PERSONS)
            + 0.5 * (after in _SAYING)
            + (before in _OPENING and after in _CALLING),
            place=1.0 * (before in _BEFORE_PLACES),
            free=not before or _CHINESE.match(before) is None,
            before=before if before not in _FREE_BEFORE and _CHINESE.match(before) else "",
            after=after if after not in _FREE_AFTER and _CHINESE.match(after) else "",
        )


def _weigh_form(name: FoundName, tags: Counter[str], *, is_titled: bool) -> None:
    word = name.name
    if word.endswith(_LONG_PLACE_ENDS) or (len(word) > 2 and word[-1] in _PLACE_END):
        name.weigh("location", 1.0 * name.count)
    elif word.endswith(_LONG_FACTION_ENDS) or (len(word) > 2 and word[-1] in _FACTION_END):
        name.weigh("faction", 0.6 * name.count)
    elif len(word) > 2 and word[-1] in _ITEM_END and not name.speaks:
        name.weigh("item", 1.0 * name.count)
    elif tags["ns"]:
        name.weigh("location", 0.3 * name.count)
    if has_surname(word) and _tagged_person(tags) and not _looks_like_place(word):
        name.weigh("character", 0.5 * name.count)
    if is_titled:
        name.weigh("term", 0.5 * name.count)


def _looks_like_place(word: str) -> bool:
    return len(word) > 2 and word[-1] in _PLACE_END


def _tagged_person(tags: Counter[str]) -> bool:
    return any(tag.startswith("nr") for tag in tags)


def has_surname(name: str) -> bool:
    """Tell whether a name of two to four characters begins with a common surname."""
    if len(name) > 2 and name[:2] in _SURNAMES:
        return len(name) <= 4
    return name[0] in _SURNAMES and len(name) in (2, 3)


def _is_kept(found: FoundName, tags: Counter[str], others: Counter[str]) -> bool:
    name = found.name
    if name in others:
        return found.count >= _LEAST_COUNT or "·" in name
    if found.count < _LEAST_COUNT:
        return False
    person = found.weights.get("character", 0.0)
    if found.speaks >= CLEAR_SPEAKER or (found.speaks > 1 and _is_noun(tags)):
        return True
    if name in _PRONOUNS or _NUMBER_OF.match(name) or found.is_part_of_a_word(share=SHARE_OF_ONE_NEIGHBOUR):
        return False
    if looks_like_a_thing(name) and not (len(name) == 2 and name[0] in _GENERIC_FIRST):
        return name[0] not in "那这一二两三四几数各每"
    if has_surname(name) and len(name) == 3 and _tagged_person(tags):
        return found.free > 0
    if name.endswith(CHINESE_TITLES_AFTER) and has_surname(name):
        return True
    if not (_tagged_person(tags) or tags["ns"]):
        return False
    is_common = _frequency(name) >= COMMON_WORD
    return person >= LEAST_SIGNS * (3 if is_common else 1) and person >= SHARE_OF_SIGNS * found.count


@lru_cache(maxsize=65536)
def _frequency(word: str) -> int:
    import rjieba  # noqa: PLC0415

    return rjieba.suggest_freq(word) if rjieba.has_word(word) else 0


def _is_noun(tags: Counter[str]) -> bool:
    return any(tag.startswith(("n", "x", _COMPOUND)) for tag in tags)


def surname_of(name: str) -> str:
    """Return the surname with which a Chinese name begins, or an empty text."""
    if name[:2] in _SURNAMES and len(name) > 2:
        return name[:2]
    return name[0] if name[0] in _SURNAMES and len(name) > 1 else ""
