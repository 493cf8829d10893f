"""Types of pairs, told from either side.

A type reads from the first of a pair to the second. Told the other way round its roles are turned ("mother-daughter",
"daughter-mother"), or, where no words say how ("mentor", 师徒), the type keeps its words and reads from the second.
"""

from __future__ import annotations

import re
from typing import Any, Literal

_ROLES = frozenset(
    """
    parent father mother dad mum mom grandparent grandfather grandmother uncle aunt stepfather stepmother stepparent
    godfather godmother godparent son daughter child grandson granddaughter grandchild nephew niece stepson
    stepdaughter stepchild godson goddaughter godchild brother sister husband wife bride groom fiancé fiancée lover
    mistress beloved mentor mentee protégé protégée protege protegee student teacher tutor pupil master mistress
    apprentice servant maid butler valet slave owner lord lady vassal liege knight squire king queen prince princess
    emperor subject ruler employer employee boss worker clerk partner captain mate sailor officer soldier commander
    subordinate superior inferior general leader follower doctor patient nurse lawyer client landlord landlady tenant
    host guest killer murderer victim hunter prey quarry captor captive jailer gaoler jailor prisoner guard ward
    guardian warden convict lender borrower creditor debtor buyer seller merchant customer supplier patron artist
    painter sitter model author reader protector protected saviour savior rescuer rescued healer wounded betrayer
    betrayed deceiver deceived tempter avenger blackmailer spy handler agent informer detective suspect inspector
    judge accused accuser witness priest penitent confessor god worshipper creator creature maker elder younger senior
    junior hero villain coach player director actor singer accompanist trainer trainee sponsor donor giver receiver
    sender recipient heir benefactor beneficiary testator chief deputy head assistant predecessor successor 父亲 母亲
    爸爸 妈妈 爹 娘 儿子 女儿 祖父 祖母 爷爷 奶奶 外公 外婆 孙子 孙女 外孙 外孙女 叔叔 伯伯 叔父 伯父 姑姑 姑母 舅舅
    姨母 侄子 侄女 侄儿 外甥 外甥女 哥哥 姐姐 弟弟 妹妹 兄长 丈夫 妻子 岳父 岳母 女婿 公公 婆婆 儿媳 养父 养母 养子
    养女 义父 义母 义子 义女 师父 师傅 师尊 徒弟 弟子 徒儿 老师 学生 主人 主子 仆人 奴仆 奴婢 丫鬟 侍女 随从 护卫 君主
    皇帝 臣子 将军 士兵 上司 下属 老板 伙计 掌柜 东家 雇主 雇工 债主 欠债人 债务人 凶手 死者 被害人 受害者 俘虏 捕者
    恩人 被救者 救命恩人 医生 大夫 病人 房东 房客 租客 客人 主客 猎人 猎物 狱卒 囚犯 保护者 被保护者
    """.split()
)
"""Words that name one role of two."""

_ALIKE = frozenset(
    """
    married engaged betrothed family kin related unrelated close friendly hostile estranged neutral allied kindred
    friends enemies foes rivals lovers sweethearts spouses siblings twins brothers sisters cousins relatives kinsmen
    partners colleagues comrades companions neighbours neighbors allies strangers acquaintances classmates schoolmates
    shipmates housemates roommates workmates playmates soulmates accomplices conspirators confidants confidantes equals
    adversaries opponents competitors peers exes intimates pals chums mates friendship rivalry enmity marriage
    """.split()
)
"""Words of both alike: of nothing else is it certain, as of "loves", that it is not said of one alone."""

_CHINESE_ALIKE = re.compile(
    r"(?:(?:多年|儿时|结义|结拜|异姓|亲|老|好|旧|青梅竹马)的?)*"
    r"(?:朋友|好友|挚友|密友|老友|旧友|盟友|战友|校友|室友|敌人|仇敌|仇人|死敌|宿敌|劲敌|对手|死对头|冤家|情敌|恋人|情人|情侣|爱侣|夫妻|夫妇"
    r"|未婚夫妻|同门|同窗|同学|同僚|同事|同伴|伙伴|搭档|同伙|同谋|同乡|同袍|邻居|亲戚|亲人|家人|手足|姐妹|姊妹|兄弟|表亲|堂亲|知己|知音|陌生人|路人"
    r"|旧识|相识|故人|双胞胎|孪生|敌对|对立|友好|亲密|疏远|疏离|和睦|冷淡|青梅竹马)(?:关系)?"
)

_BOND = r"(?P<bond> (?:relationship|bond|pair|tie|ties))?"
_SPACED, _SIGN, _WORD, _HYPHEN = (
    re.compile(
        rf"(?P<one>(?:(?!{between}).)+)(?P<between>{between})(?P<other>(?:(?!{between}).)+?){_BOND}", re.IGNORECASE
    )
    for between in (r" ?/ ?| ?→ ?| [-–—] ", r"[–—]", r" and |与", r"[-和]")
)
"""Between two roles; a word between long ones may as well be a part of what both are."""

MAX_WORDS_OF_A_ROLE = 3

_DIRECTED = re.compile(
    r"\b(?:of|to|with|by|for|from|at|over|under|after|her|his|him|she|he|they|who)\b|'s\b|’s\b", re.I
)


def turned_type(name: str) -> str | None:
    """Return a type told from the other side, or None."""
    turned_items = [_turned_item(item) for item in name.split("、")]
    return None if None in turned_items else "、".join(filter(None, turned_items))


def _turned_item(statement: str) -> str | None:
    roles = _SPACED.fullmatch(statement) or _SIGN.fullmatch(statement)
    if roles is None and (roles := _WORD.fullmatch(statement)) is not None:
        longest = max(len(roles[side].split()) for side in ("one", "other"))
        if longest > MAX_WORDS_OF_A_ROLE or _DIRECTED.search(statement):
            return statement if _is_alike(statement) else None
    if roles is None:
        roles = _HYPHEN.fullmatch(statement)
        if roles is not None and not {roles["one"].casefold(), roles["other"].casefold()} <= _ROLES:
            roles = None
    if roles is None:
        return statement if _is_alike(statement) else None
    one, other = roles["one"], roles["other"]
    if one[0].isupper() and other[0].islower():
        one, other = one[0].lower() + one[1:], other[0].upper() + other[1:]
    return f"{other}{roles['between']}{one}{roles['bond'] or ''}"


def _is_alike(statement: str) -> bool:
    """Tell whether words fit both."""
    text = statement.strip().casefold()
    if not text or _CHINESE_ALIKE.fullmatch(text):
        return True
    words = re.split(r"[ -]", text)
    return words[-1] in _ALIKE and words[0] not in _ROLES and _DIRECTED.search(text) is None


def turned_pair_type(relationship_type: str, *, type_reads_back: bool) -> dict[str, Any]:
    """Return the fields of a turned pair's type."""
    turned = None if type_reads_back else turned_type(relationship_type)
    return {
        "relationship_type": relationship_type if turned is None else turned,
        "type_reads_back": turned is None and not type_reads_back,
    }


Side = Literal["a", "b"]


def read_sides(
    relationship_type: str, *, type_reads_back: bool, is_from_second: bool = False
) -> tuple[tuple[Side, Side], str]:
    """Return both sides in reading order, and the type.

    The second comes first where that is wished and the type can be turned.
    """
    if type_reads_back:
        return ("b", "a"), relationship_type
    turned = turned_type(relationship_type) if is_from_second else None
    return (("a", "b"), relationship_type) if turned is None else (("b", "a"), turned)
