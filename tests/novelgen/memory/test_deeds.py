"""Deeds that notes tell, and people who are only spoken of."""

from novelgen.language.language import has_cjk, word_pattern
from novelgen.language.resolver import NameResolver
from novelgen.memory.deeds import deed_of, people_spoken_of
from novelgen.models.entity import Entity

ENGLISH = {"1": "Ada", "2": "Ben", "3": "Tess", "4": "Cora"}
CHINESE = {"1": "顾晚", "2": "程叔", "3": "沈舟", "4": "裴青"}

SPOKEN_OF = """
Ada told Ben that Tess is a thief.|3
Ada suspects that Tess is a thief.|3
Ada believes Tess set the fire.|3
Ada no longer believes that Tess set the fire.|3
Ada thinks Tess a liar.|3
Ada suspects Tess of helping Cora.|3 4
Ben was told by Ada in the yard that Tess had lent him the lamp.|3
Ada knows that Tess burned the letter.|3
Ada is convinced that Tess is guilty.|3
Ada told Ben where Tess lives.|3
She told Ben about Tess's debts.|3
In Tess's house Ada told Ben that Tess lies, and that Cora pays her.|3 4
Ada told Ben that Tess stole the lamp and struck Cora.|3
Tess stole the lamp, Ada told Ben.|3
Ada rode to the inn and swore that Tess was dead.|3
Ada says Tess is ill.|3
Ada wonders whether Tess and Cora are sisters.|3 4
顾晚告诉程叔，沈舟是贼。|3
顾晚告诉程叔沈舟从前是贼。|3
顾晚对程叔说沈舟放了火。|3
顾晚怀疑沈舟偷了账本。|3
顾晚怀疑沈舟。|3
顾晚以为沈舟死了。|3
顾晚认定是沈舟放的火。|3
顾晚相信沈舟和裴青是姐妹。|3 4
顾晚觉得沈舟的话不可信。|3
顾晚不再相信沈舟放了火。|3
顾晚知道沈舟烧了信。|3
顾晚把沈舟的身世告诉了程叔。|3
顾晚从程叔那里得知，沈舟是贼。|3
沈舟是贼，顾晚告诉程叔。|3
他向程叔承认沈舟是他的女儿。|3
顾晚警告程叔沈舟要来。|3
Ada told Tess that Ben is a thief.|2
Tess told Ada that Tess is innocent.|
Ada believes Tess.|
Ada trusts Tess.|
Ada does not know that Tess burned the letter.|
Nobody knows that Tess burned the letter.|
Everybody believes that Tess is a witch.|
Ada told Ben the news when Tess came in.|
Ada told Ben that Tess lies, and Tess heard it.|
Ada told Ben everything so that Tess could leave.|
Ada told Tess to watch Ben.|
Ada told Ben the truth and Tess wept.|
Ada told the story of the mill in front of Tess.|
Ada believes that the mill is haunted; Tess laughs.|
It is said that Tess is a witch.|
Ada gave Tess the lamp that Ben made.|
Ada knows Tess well.|
顾晚告诉沈舟，磨坊卖了。|
顾晚相信沈舟。|
顾晚不知道沈舟烧了信。|
没人知道沈舟烧了信。|
大家都说沈舟是妖怪。|
顾晚没告诉程叔沈舟来过。|
顾晚认识沈舟多年。|
顾晚告诉程叔磨坊卖了，沈舟在旁听着。|
顾晚说服沈舟留下。|
顾晚相信沈舟的话。|
沈舟说沈舟没有偷。|
据说沈舟是妖怪。|
顾晚听说磨坊卖了，去找沈舟。|
顾晚把沈舟打了一顿。|
"""

DOERS = """
顾晚拿沈舟的十块还给了程叔。|1|2
顾晚欠程叔四十块，拿沈舟的十块还给了他。|1|2
顾晚欠程叔四十块赌债，还了十块。|1|2
顾晚用沈舟的钱还清了赌债。|1|
顾晚用沈舟给的钱还清赌债。|1|3
顾晚替沈舟赎了棉袄。|1|
顾晚替沈舟赎回棉袄。|1|
顾晚凭沈舟的当票赎出棉袄。|1|
顾晚归还程叔的怀表。|1|
顾晚当着沈舟的面烧了信。|1|
顾晚输光了钱，用怀表抵债。|1|
顾晚向程叔借了十块，替沈舟垫付房租。|1|2
Ada owed Ben forty marks and paid him with Tess's ring.|1|2
Ada paid Ben with Tess's money.|1|2
Ada owes Ben forty marks, and paid back ten.|1|2
顾晚欠程叔四十块。||
顾晚欠程叔四十块，还没还清。||
顾晚欠程叔四十块，沈舟是保人。||
顾晚的债尚未还清。||
顾晚没还清赌债。||
顾晚还欠程叔三十块。||
顾晚是程叔的侄子，为人老实。||
顾晚用沈舟的怀表看时间。||
顾晚住在替程叔看门的屋里。||
Ada owes Ben forty marks.||
Ada owes Ben forty marks, and Tess is surety.||
"""


def _people(content: str) -> list[Entity]:
    names = CHINESE if has_cjk(content) else ENGLISH
    return [
        Entity(entity_id=entity_id, project_id="p", entity_type="character", name=name)
        for entity_id, name in names.items()
    ]


def _lines(table: str) -> list[list[str]]:
    return [line.split("|") for line in table.strip().splitlines()]


def test_people_in_object_clauses_alone_are_only_spoken_of() -> None:
    """Of saying, believing and knowing, where nothing denies it and they stand nowhere else."""
    results = []
    for content, _ in _lines(SPOKEN_OF):
        cards = _people(content)
        mentions = NameResolver(cards).find_mentions(content)
        results.append([content, " ".join(sorted(people_spoken_of(content, mentions, ENGLISH)))])
    assert results == _lines(SPOKEN_OF)


def test_a_debt_paid_with_the_money_of_another_is_a_deed() -> None:
    """Its doer may stand in a clause before, which tells a plain fact."""
    results = []
    for content, *_ in _lines(DOERS):
        cards = _people(content)
        deed = deed_of(content, NameResolver(cards).find_mentions(content), ENGLISH)
        people = [" ".join(sorted(one)) for one in (deed.doers, deed.others)] if deed else ["", ""]
        results.append([content, *people])
    assert results == _lines(DOERS)


def test_a_deadline_is_no_time_long_ago() -> None:
    """以前 after a day or a coming event says until when, alone it says long ago."""
    past = word_pattern("stated_past")
    of_past = ["李二郎以前是船夫。", "很久以前他偷了船。", "三年以前他走了。", "Ada once stole a horse."]
    of_deadlines = [
        "李二郎答应端午以前回来。",
        "她发誓天黑之前把信送到。",
        "中秋以前替她修屋顶。",
        "下雪之前他把羊赶下山。",
    ]
    assert [text for text in of_past if not past.search(text)] == []
    assert [text for text in of_deadlines if past.search(text)] == []
