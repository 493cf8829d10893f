"""Values of states that the words of a note say."""

from novelgen.memory.whereabouts import tells_value

VALUES = """
The plate is hidden under the sundial; only Odrin and Tess know it.|the plate|the sundial|location|yes
The plate lies at the sundial.|the plate|the sundial|location|yes
Odrin buried the plate beneath the sundial.|the plate|the sundial|location|yes
Hobb keeps the plate; only Tess knows it.|the plate|Hobb|character|yes
The plate is in Hobb's cellar.|the plate|Hobb|character|yes
Hobb is gravely ill; nobody may know it.|Hobb|gravely ill||yes
The mill is half burnt down.|the mill|half burnt down||yes
Perrin put the plate into the chest.|the plate|the chest|item|yes
铜盘藏在日晷下面，只有顾晚和沈舟知道。|铜盘|日晷|location|yes
顾晚把铜盘埋到日晷底下。|铜盘|日晷|location|yes
铜盘在顾晚手里。|铜盘|顾晚|character|yes
顾晚一直收着铜盘。|铜盘|顾晚|character|yes
程叔病得很重。|程叔|病得很重||yes
铜盘放进了箱子。|铜盘|箱子|item|yes
Hobb gave the plate to Perrin as a pledge.|the plate|Perrin|character|yes
Perrin bought the plate, and Hobb gave it to Tess.|the plate|Tess|character|yes
The plate was sold to Perrin in the end.|the plate|Perrin|character|yes
Hobb handed Perrin the plate.|the plate|Perrin|character|yes
Perrin stole the plate.|the plate|Perrin|character|yes
刘七把铜盘偷走，转手送给了顾晚。|铜盘|顾晚|character|yes
铜盘落到了顾晚手里。|铜盘|顾晚|character|yes
程叔还给了顾晚铜盘。|铜盘|顾晚|character|yes
顾晚把铜盘买回来了。|铜盘|顾晚|character|yes
The plate is not under the sundial.|the plate|the sundial|location|no
Hobb gave Perrin a look at the plate.|the plate|Perrin|character|no
Hobb promised the plate to Perrin.|the plate|Perrin|character|no
Perrin stole the plate and sold it to Tess.|the plate|Perrin|character|no
Hobb polished the plate and gave his coat to Perrin.|the plate|Perrin|character|no
程叔答应把铜盘还给顾晚。|铜盘|顾晚|character|no
程叔没把铜盘还给顾晚。|铜盘|顾晚|character|no
顾晚偷走铜盘，卖给了程叔。|铜盘|顾晚|character|no
程叔拿着铜盘，还给顾晚一杯茶。|铜盘|顾晚|character|no
The plate is older than the sundial.|the plate|the sundial|location|no
Odrin took the plate from under the sundial.|the plate|the sundial|location|no
Odrin believes the plate is under the sundial.|the plate|the sundial|location|no
Is the plate under the sundial?|the plate|the sundial|location|no
The plate was once under the sundial.|the plate|the sundial|location|no
Hobb wants the plate.|the plate|Hobb|character|no
Hobb asked Odrin for the plate.|the plate|Hobb|character|no
Hobb gave the plate to Perrin as a pledge.|the plate|Hobb|character|no
Odrin sits at the sundial. The plate is bronze.|the plate|the sundial|location|no
Hobb is seven.|Hobb|ill||no
铜盘不在日晷下。|铜盘|日晷|location|no
顾晚从日晷下取走了铜盘。|铜盘|日晷|location|no
顾晚以为铜盘在日晷下。|铜盘|日晷|location|no
铜盘在日晷下吗？|铜盘|日晷|location|no
顾晚想要铜盘。|铜盘|顾晚|character|no
顾晚把铜盘交给了程叔。|铜盘|顾晚|character|no
铜盘比日晷还旧。|铜盘|日晷|location|no
"""


def lines() -> list[list[str]]:
    return [line.split("|") for line in VALUES.strip().splitlines()]


def told(line: list[str]) -> str:
    content, name, value, kind, _ = line
    return "yes" if tells_value(content, [name], [value], kind=kind or None) else "no"  # type: ignore[arg-type]


def test_a_note_says_a_value_of_its_bearer_in_plain_words() -> None:
    """Where it names both in a sentence with words of holding or place, and nothing denies, doubts or asks it."""
    assert [[*line[:-1], told(line)] for line in lines()] == lines()
