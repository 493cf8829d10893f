"""From whom an author's own words keep what they tell, by name, and whom they list as all who know it."""

import pytest

from novelgen.memory.kept_from import is_among_knowers, is_kept_from, is_told, lists_former_knowers
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.models.position import StoryPosition

ENGLISH = {"Nell": ["Nell"], "Tubby": ["Tubby"], "Guv'nor": ["Guv'nor"], "Dolly": ["Dolly"], "Vane": ["Vane"]}
CHINESE = {name: [name] for name in ("阿宁", "土比", "老板", "多莉", "韦恩")}


def _people(text: str) -> dict[str, list[str]]:
    return ENGLISH if text.isascii() else CHINESE


def _kept_from(text: str) -> set[str]:
    """Return the people from whom a text keeps itself by name."""
    people = _people(text)
    return {
        name
        for name, names in people.items()
        if is_kept_from(text, names, [other for others in people.values() for other in others if other not in names])
    }


def _knowers(text: str) -> dict[str, bool | None]:
    people = _people(text)
    return {
        name: is_among_knowers(
            text, names, [other for others in people.values() for other in others if other not in names]
        )
        for name, names in people.items()
    }


@pytest.mark.parametrize(
    "text",
    [
        "Dolly promised Vane to tell nobody who he is, not Nell either.",
        "Dolly promised Vane to tell nobody, least of all Nell.",
        "Dolly promised Vane to tell nobody who he is, and Nell least of all.",
        "Dolly promised to tell nobody, nor Nell either.",
        "Dolly swore not to breathe a word, not even to Nell.",
        "Dolly swore not to breathe a word to anyone, and least of all to Nell.",
        "Dolly swore to say nothing to anyone, especially Nell.",
        "Dolly will tell no one about Vane, Nell included.",
        "Dolly told nobody, Nell neither.",
        "The name of Vane must never reach Nell.",
        "It must not come to Nell's ears.",
        "No word of it may reach Nell.",
        "It must not get to Nell.",
        "Vane is a thief; Nell must not hear of it.",
        "Vane is a thief; Nell must not hear a word of it.",
        "Nell must never get wind of it.",
        "Nobody is to tell Nell.",
        "多莉答应韦恩谁也不说，连阿宁也不说。",
        "多莉发誓谁也不说，阿宁也不例外。",
        "多莉发誓谁都不告诉，包括阿宁。",
        "谁也不能说，特别是阿宁。",
        "韦恩的身份不许让阿宁知道。",
        "这件事不准阿宁知道。",
        "这件事绝不能传到阿宁耳朵里。",
        "这话不能传进阿宁的耳朵。",
        "韦恩的身份对谁都不能说，尤其不能告诉阿宁。",
        "对阿宁一个字也不提。",
        "连对阿宁也不能说。",
    ],
)
def test_a_promise_of_silence_is_kept_from_whom_it_names_last(text: str) -> None:
    """Those who promise, and to whom, know it."""
    assert _kept_from(text) == {"Nell" if text.isascii() else "阿宁"}


@pytest.mark.parametrize(
    "text",
    [
        "Everybody left Vane; not even Nell stayed.",
        "Nobody came, least of all Nell.",
        "Dolly told nobody but Nell.",
        "Dolly promised Nell to tell nobody.",
        "Dolly said nothing; Nell was there.",
        "Dolly promised not to go to sea, nor Nell either.",
        "Vane did not learn to swim, Nell neither.",
        "Nell will not hear of it that Tubby goes alone.",
        "Dolly must not go to Nell.",
        "The letter did not reach Nell until Monday.",
        "Dolly drinks, and keeps it from Nell's brother.",
        "阿宁对谁也不说。",
        "谁也不救他，包括阿宁。",
        "多莉谁也不怕，尤其是阿宁。",
        "多莉对阿宁发誓，谁也不说。",
        "除了阿宁谁也不告诉。",
        "多莉喝酒，瞒着阿宁的哥哥。",
        "多莉没告诉阿宁的妻子。",
    ],
)
def test_other_words_keep_nothing_from_whom_they_name(text: str) -> None:
    """Nor do words that keep it from a relation of theirs."""
    assert _kept_from(text) == set()


@pytest.mark.parametrize(
    ("text", "knowers"),
    [
        ("The Guv'nor's box lies under the coal; only Nell and Tubby know it.", {"Nell", "Tubby"}),
        ("The Guv'nor's box lies under the coal, known only to Nell and Tubby.", {"Nell", "Tubby"}),
        ("The Guv'nor's box lies there; it is known to Nell and Tubby alone.", {"Nell", "Tubby"}),
        ("The Guv'nor is a thief; nobody but Nell and Tubby knows it.", {"Nell", "Tubby"}),
        ("The Guv'nor is a thief; nobody knows it except Nell.", {"Nell"}),
        ("Nell alone knows that the Guv'nor is a thief.", {"Nell"}),
        ("Nell and Tubby are the only ones who know that the Guv'nor is a thief.", {"Nell", "Tubby"}),
        ("The Guv'nor is a thief; only Nell, Tubby and the doctor know it.", {"Nell", "Tubby"}),
        ("The only one who knows that the Guv'nor is a thief is Nell.", {"Nell"}),
        ("The Guv'nor is a thief; the only person who knows it is Nell.", {"Nell"}),
        ("Nobody knows that the Guv'nor is a thief but Nell.", {"Nell"}),
        ("Only Nell knows Tubby drinks.", {"Nell", "Tubby"}),
        ("老板的钱箱埋在煤堆下，只有阿宁和土比知道。", {"阿宁", "土比"}),
        ("老板的钱箱埋在煤堆下，只有阿宁和土比两个人知道。", {"阿宁", "土比"}),
        ("老板的钱箱埋在煤堆下，除了阿宁和土比，没人知道。", {"阿宁", "土比"}),
        ("只有阿宁知道老板是贼。", {"阿宁"}),
        ("老板是贼，知道的人只有阿宁、土比。", {"阿宁", "土比"}),
        ("只有阿宁知道老板酗酒。", {"阿宁", "老板"}),
        ("只有阿宁知道老板酗酒的事。", {"阿宁", "老板"}),
        ("唯有阿宁和土比晓得老板嗜赌。", {"阿宁", "土比", "老板"}),
        ("除了阿宁，没人知道老板贪杯。", {"阿宁", "老板"}),
        ("只有阿宁知道老板中毒。", {"阿宁"}),
        ("老板是贼，此事唯有阿宁一人知晓。", {"阿宁"}),
        ("知道老板酗酒的只有阿宁。", {"阿宁", "老板"}),
        ("知道老板卖了船的人只有阿宁和土比。", {"阿宁", "土比", "老板"}),
        ("阿宁是唯一知道老板酗酒的人。", {"阿宁", "老板"}),
        ("老板是贼，阿宁是唯一知道此事的人。", {"阿宁"}),
    ],
)
def test_words_list_all_who_know_it(text: str, knowers: set[str]) -> None:
    assert _knowers(text) == {name: name in knowers for name in _people(text)}


def test_nobody_knows_it_but_those_whom_it_names() -> None:
    """Of "only he and Nell" the man is one of those whom the words name."""
    for text in ("The Guv'nor has a weak heart; nobody knows it.", "The Guv'nor is ill, unknown to anybody."):
        assert _knowers(text) == {name: None if name == "Guv'nor" else False for name in ENGLISH}
    for text in ("老板心脏不好，谁也不知道。", "老板心脏不好，没有人知道。", "老板心脏不好，无人知晓此事。"):
        assert _knowers(text) == {name: None if name == "老板" else False for name in CHINESE}
    assert _knowers("The Guv'nor is ill; only he and Nell know it.") == {
        "Nell": True,
        "Guv'nor": None,
        "Tubby": False,
        "Dolly": False,
        "Vane": False,
    }


@pytest.mark.parametrize(
    "text",
    [
        "Only Nell knows where the box of the Guv'nor lies.",
        "Not only Nell knows it.",
        "Not the only one who knows that the Guv'nor drinks is Nell.",
        "Only Nell knows Tubby sometimes.",
        "Dolly thinks only Nell knows it.",
        "Only Nell knew that the Guv'nor was a thief until Dolly told the crew.",
        "The Guv'nor is ill; nobody knows what to do.",
        "The Guv'nor is ill; his wife does not know it.",
        "For two days all were sick, and nobody called him anything but Pudding.",
        "只有阿宁知道老板的钱箱在哪里。",
        "只有阿宁知道老板下落。",
        "知道老板下落的只有阿宁。",
        "阿宁是唯一知道老板身世的人。",
        "知道老板在哪里的只有阿宁。",
        "只有阿宁知道老板的身世。",
        "只有阿宁知道老板当年的事。",
        "只有阿宁知道老板去不去。",
        "只有阿宁知道老板多大年纪。",
        "只有阿宁不知道老板酗酒。",
        "不只有阿宁知道老板酗酒。",
        "土比以为只有阿宁知道老板酗酒。",
        "老板是贼，阿宁以为只有土比知道。",
        "老板心脏不好，起初只有阿宁知道。",
        "老板心脏不好，家里人都不知道。",
        "谁也不知道他真名叫什么，只叫他汤圆。",
    ],
)
def test_other_words_list_no_knowers(text: str) -> None:
    """A question that stays open, a belief, a former state or a group without a name."""
    assert set(_knowers(text).values()) == {None}


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("The Guv'nor has a bad heart; his wife does not know it.", True),
        ("The Guv'nor drinks behind his wife's back.", True),
        ("The Guv'nor sold the ship behind the crew's back.", True),
        ("The house is sold; her brother never suspected it.", True),
        ("The house is sold; Tubby suspects nothing.", True),
        ("The Guv'nor secretly drinks behind his wife's back.", False),
        ("Tubby loves Nell; his wife does not know it.", False),
        ("Tubby suspects Vane.", False),
        ("老板喝酒，瞒着他妻子。", True),
        ("老板卖了船，背着家里人。", True),
        ("老板喝酒，他妻子从未怀疑。", True),
        ("老板喝酒，瞒着阿宁的哥哥。", True),
        ("老板偷偷卖了船，瞒着船上的人。", False),
        ("老板怀疑阿宁。", False),
    ],
)
def test_words_that_keep_it_from_a_relation_or_a_group_hide_it_from_nobody_there(text: str, *, is_open: bool) -> None:
    """What is done in secret or thought stays so; a weak heart is no thought."""
    people = _people(text)
    rules = KnowledgeRules(KnowledgeStory(StoryPosition(9, 1), names=people, character_ids=frozenset(people)))
    assert rules.is_said_openly(text) is is_open


@pytest.mark.parametrize(
    "content",
    [
        "Ada stole a horse and told nobody.",
        "Ada has told no one that he wronged a man.",
        "Ada told Ben on his last night that he wronged a man; Ben has told nobody.",
        "Ada owes a debt that she has never told anyone of.",
        "Ada told nobody about the letter.",
        "Ada told no one of it, least of all Kit.",
        "Ada said nothing of it to anybody.",
        "Ada kept secret that she owes ten pounds.",
        "砚秋把底片放进茶叶罐里，谁也没告诉。",
        "砚秋没有告诉任何人底片藏在茶叶罐里。",
        "砚秋欠了钱，对谁也没说。",
        "砚秋欠了钱，从没对别人提过。",
    ],
)
def test_what_somebody_told_nobody_is_known_to_whom_it_names(content: str) -> None:
    """Nobody else knows it; whom it names may."""
    assert is_among_knowers(content, ["Sal"], ["Ada", "Ben", "砚秋", "小满"]) is False
    assert is_among_knowers(content, ["Ada", "砚秋"], ["Ben", "Sal", "小满"]) is None


@pytest.mark.parametrize(
    "content",
    [
        "Ada told everybody.",
        "Nobody told Ada of the sale.",
        "Ada did not tell Ben the price.",
        "Ada told nobody the price but Ben.",
        "Ada cannot tell anyone from his brother.",
        "砚秋把话告诉了小满。",
        "谁也没想到船会沉。",
        "谁也没告诉砚秋船会沉。",
        "大家围着火坐，谁也没说话。",
        "砚秋没跟任何人打招呼就走了。",
    ],
)
def test_who_was_told_or_said_nothing_keeps_it_from_nobody_else(content: str) -> None:
    """A saying to somebody and mere silence list nobody."""
    assert is_among_knowers(content, ["Sal"], ["Ada", "Ben", "砚秋", "小满"]) is None


@pytest.mark.parametrize(
    ("content", "is_known"),
    [
        ("Roe told Nell and Tom about it.", True),
        ("Roe confessed everything to Nell.", True),
        ("Nell was told.", True),
        ("Nell learns of it.", True),
        ("Nell learns to swim.", False),
        ("Roe told Nell to wait.", False),
        ("Roe wants to tell Nell.", False),
        ("Roe did not tell Nell.", False),
        ("Will Roe tell Nell?", False),
        ("Roe told Tom of Nell.", False),
        ("柳十三把这事告诉了阿宁和沈青。", True),
        ("柳十三对阿宁说了实话。", True),
        ("阿宁终于得知真相。", True),
        ("柳十三没告诉阿宁。", False),
        ("柳十三想告诉阿宁。", False),
        ("柳十三差点告诉了阿宁。", False),
        ("柳十三告诉了沈青阿宁的事。", False),
    ],
)
def test_a_text_tells_somebody_only_in_words_that_say_so(content: str, is_known: bool) -> None:
    assert is_told(content, ["Nell", "阿宁"], ["Roe", "Tom", "柳十三", "沈青"]) is is_known


def _list_in(text: str) -> tuple[set[str], bool]:
    """Return the only knowers, and whether that is over."""
    knowers = _knowers(text)
    assert len(set(knowers.values())) > 1 or set(knowers.values()) == {None}
    return {name for name, is_knower in knowers.items() if is_knower}, lists_former_knowers(text, list(knowers))


@pytest.mark.parametrize(
    "text",
    [
        "Vane was kind before he died; nobody but Nell knows it.",
        "Only Nell knows it unless Tubby guessed.",
        "Nobody knows it except Nell, since Vane died before he could speak.",
        "Everybody knows Vane; only Nell knows that he is a thief.",
        "韦恩直到天亮才走，只有阿宁知道。",
        "只有阿宁知道：韦恩以前是贼。",
        "人人都知道韦恩，只有阿宁知道他是贼。",
        "韦恩快死了，没人知道，除了阿宁。",
    ],
)
def test_a_list_of_knowers_holds_beside_other_clauses(text: str) -> None:
    """Their times, reasons and conditions are those of something else."""
    assert _list_in(text) == ({"Nell" if text.isascii() else "阿宁"}, False)


@pytest.mark.parametrize(
    "text",
    [
        "Vane gave the watch to Nell before he died; only Nell knows it.",
        "Vane kissed Nell before he left. Only Nell knows it.",
        "Before he died Vane kissed Nell; only Nell knew it.",
        "Only Nell knows: Vane waited until midnight.",
        "Only Nell knows that Vane waited until midnight.",
        "Vane hid the will (only Nell knows it) before he died.",
        "Vane said goodbye and only Nell knows it.",
        "Vane showed her where it lay and only Nell knows it.",
        "Only Nell knows it because Vane told her before he died.",
        "Only Nell knew that Vane had waited at the mill until midnight.",
        "Vane told Nell that Tubby will leave; only Nell knows.",
        "Vane stole Dolly's ring; only Nell knows it.",
        "Dolly's ring was stolen by Vane; only Nell knows it.",
        "Vane owes Nell forty pounds; nobody but Nell knows it.",
        "Vane will leave Dolly in spring; only Nell knows it.",
        "Vane was poor, and pawned his gun; only Nell knows it.",
        "韦恩临死前把表交给阿宁，只有阿宁知道。",
        "只有阿宁知道韦恩偷了表。",
        "除了阿宁没人知道韦恩开船前把信烧了。",
        "韦恩从前偷过马只有阿宁知道。",
        "韦恩藏起了遗嘱（只有阿宁知道），直到他死。",
        "韦恩告诉阿宁：他不肯嫁女儿。只有阿宁知道。",
        "韦恩欠阿宁三万元赌债，这件事除了阿宁谁也不知道。",
        "韦恩扣下了多莉的稿子，只有阿宁知道。",
        "多莉的稿子被韦恩扣下了，只有阿宁知道。",
        "韦恩缺钱，把枪当了，只有阿宁知道。",
        "韦恩向阿宁承认多莉偷了钱，只有阿宁知道。",
    ],
)
def test_who_tells_or_does_it_is_outside_no_list(text: str) -> None:
    """Nor who owes or intends it; whom it is done to, or is spoken of, is not in it."""
    assert _list_in(text) == ({"Nell", "Vane"} if text.isascii() else {"阿宁", "韦恩"}, False)


@pytest.mark.parametrize(
    "text",
    [
        "Vane's father is really Tubby; only Nell knows it.",
        "Vane was cheated; only Nell knows it.",
        "Vane has consumption; only Nell knows it.",
        "Vane will die before spring; only Nell knows it.",
        "Vane inherited the mill; only Nell knows it.",
        "Somebody stole Vane's ring; only Nell knows it.",
        "Vane's brother stole the ring; only Nell knows it.",
        "Vane unknowingly drank the poison; only Nell knows it.",
        "Vane walked in his sleep and lit the fire; only Nell knows it.",
        "Nell loves Vane; only Nell knows it.",
        "Tubby left town. Vane's father was a thief; only Nell knows it.",
        "Only Nell knows that Dolly has consumption; Vane has just arrived.",
        "韦恩的父亲其实是土比，只有阿宁知道。",
        "韦恩被骗了，把房子卖给了土比，只有阿宁知道。",
        "韦恩得了肺病，只有阿宁知道。",
        "韦恩快要升官了，只有阿宁知道。",
        "有人扣下了韦恩的稿子，只有阿宁知道。",
        "韦恩的哥哥偷了钱，只有阿宁知道。",
        "韦恩无意中喝了毒酒，只有阿宁知道。",
        "阿宁骗了韦恩，只有阿宁知道。",
        "土比走了。韦恩的父亲是赌徒，只有阿宁知道。",
        "给韦恩的信被烧了，只有阿宁知道。",
    ],
)
def test_whom_it_befalls_is_outside_a_list(text: str) -> None:
    assert _list_in(text) == ({"Nell" if text.isascii() else "阿宁"}, False)


@pytest.mark.parametrize(
    "text",
    [
        "Vane is ill. He told nobody but Nell.",
        "Vane is ill. He has told only Nell.",
        "Vane is ill; he only told Nell.",
        "Vane never told anyone except Nell that he is ill.",
        "Vane is ill and confided it only to Nell.",
        "Vane is ill. Nell is the only one he told.",
        "Vane is ill. He let only Nell know.",
        "Vane told only Nell that Tubby stole the ring.",
        "The box lies under the mill; it stays between Vane and Nell.",
        "The box lies under the mill, a secret between Vane and Nell.",
        "Vane stole Dolly's ring; that is a secret between him and Nell.",
        "Vane and Nell buried the box; they agreed to tell no one.",
        "韦恩扣下了多莉的稿子。他只告诉了阿宁一人。",
        "韦恩扣下了多莉的稿子，只对阿宁说过。",
        "韦恩扣下了多莉的稿子，这事他只跟阿宁讲过。",
        "韦恩病得很重，这话只说给阿宁一个人听。",
        "韦恩病得很重，他只让阿宁知道。",
        "韦恩病得很重，除了阿宁没对第二个人说过。",
        "韦恩欠了钱。他谁也没告诉，除了阿宁。",
        "韦恩杀了人，这事他单单跟阿宁一个人说过。",
        "韦恩杀了人。这事只有韦恩自己和阿宁知道。",
        "箱子在灯塔里，这是韦恩和阿宁之间的秘密。",
        "韦恩把多莉的稿子藏在天花板里，这是他和阿宁之间的秘密。",
        "韦恩和阿宁把箱子埋了，他们俩约定谁也不说。",
    ],
)
def test_what_is_told_to_some_alone_is_known_to_them_and_the_teller(text: str) -> None:
    knowers = {name for name, is_knower in _knowers(text).items() if is_knower is not False}
    assert knowers == ({"Nell", "Vane"} if text.isascii() else {"阿宁", "韦恩"})


@pytest.mark.parametrize(
    "text",
    [
        "Vane is Tubby's son; the nurse told only Nell.",
        "Vane is Tubby's son. His mother has told only Nell.",
        "韦恩是土比的儿子，哑伯只告诉了阿宁一人。",
        "韦恩是土比的儿子，他母亲只告诉了阿宁。",
    ],
)
def test_a_teller_without_a_known_name_is_nobody_named_before(text: str) -> None:
    assert _list_in(text) == ({"Nell" if text.isascii() else "阿宁"}, False)


@pytest.mark.parametrize(
    "text",
    [
        "Vane told only Nell the price.",
        "Vane only told Nell to wait.",
        "Vane only just told Nell.",
        "Vane has promised to tell nobody but Nell.",
        "Tubby thinks Vane told only Nell.",
        "Vane spoke only to Nell all evening.",
        "The mill lies between Vane and Nell.",
        "Nell is the only one he loves.",
        "Vane and Nell agreed to meet at the mill.",
        "韦恩只告诉阿宁他的名字。",
        "韦恩不只告诉了阿宁。",
        "韦恩只跟阿宁说过话。",
        "韦恩只跟阿宁讲过价。",
        "多莉以为韦恩只告诉了阿宁一人。",
        "韦恩说他只告诉了阿宁一人。",
        "韦恩和阿宁之间有一个秘密。",
        "韦恩和阿宁约好了见面，谁也没说话。",
    ],
)
def test_other_sayings_list_no_knowers(text: str) -> None:
    assert _list_in(text) == (set(), False)


@pytest.mark.parametrize(
    "text",
    [
        "Only Nell knew it until the trial.",
        "Until the trial only Nell knew it.",
        "Before he died, only Nell knew it.",
        "Vane is ill; at first, only Nell knew it.",
        "Vane is ill; only Nell knew it before he died.",
        "Vane is ill; before the trial it was known only to Nell.",
        "Vane is ill; only Nell knows it. Soon everybody will know.",
        "Only Nell knew that Vane was a thief; now everybody knows it.",
        "Nobody knew it except Nell until the trial.",
        "Only Nell knew it, but it came out at the trial.",
        "只有阿宁知道，直到开庭。",
        "直到开庭，只有阿宁知道。",
        "韦恩是贼，开庭前，只有阿宁知道。",
        "韦恩是贼，死前除了阿宁没人知道。",
        "韦恩是贼，以前只有阿宁知道。",
        "韦恩是贼，只有阿宁知道，很快人人都会知道。",
        "只有阿宁知道韦恩是贼，直到土比说出来。",
        "只有阿宁知道韦恩酗酒，直到土比撞见。",
    ],
)
def test_a_list_of_knowers_that_is_over_or_to_come_keeps_it_from_nobody(text: str) -> None:
    assert _list_in(text) == (set(), True)


@pytest.mark.parametrize(
    "text",
    [
        "Dolly thinks only Nell knows it.",
        "Dolly said only Nell knew it.",
        "Tubby believes Vane is ill and only Nell knows it.",
        "Only Nell knows where Vane went before the trial.",
        "Only Nell knows the way before dawn.",
        "Only Nell knows Vane by sight.",
        "Not only Nell knew it before the trial.",
        "Nobody knows when Vane left before dawn.",
        "Vane left before only Nell knew the way.",
        "阿宁以为开庭前只有土比知道。",
        "只有阿宁知道韦恩死前去了哪里。",
        "只有阿宁知道怎么在天亮前出城。",
        "只有阿宁知道韦恩是不是贼。",
        "只有阿宁天亮前走了。",
    ],
)
def test_no_list_of_knowers_is_neither_taken_nor_over(text: str) -> None:
    assert _list_in(text) == (set(), False)


@pytest.mark.parametrize(
    "text",
    [
        "Vane is pregnant; only Nell knows it.",
        "Vane was wounded, and nobody but Nell knows it.",
        "Only Nell knows that Vane is engaged.",
        "Vane is ill; only Nell knows it.",
        "韦恩怀了孩子，这事只有阿宁知道。",
        "韦恩受了伤，除了阿宁没人知道。",
        "只有阿宁知道韦恩订了婚。",
        "韦恩病了，没人知道，除了阿宁。",
    ],
)
def test_who_cannot_but_know_their_state_is_outside_no_list(text: str) -> None:
    assert _list_in(text) == ({"Nell", "Vane"} if text.isascii() else {"阿宁", "韦恩"}, False)


def test_whom_later_words_tell_it_is_in_the_list() -> None:
    for text in (
        "Vane has consumption; only Nell knew it, but later she told Tubby.",
        "Vane has consumption; only Nell knew it. Now Tubby knows it, too.",
        "Only Nell knew that Vane has consumption; Tubby has just been told.",
    ):
        assert _list_in(text) == ({"Nell", "Tubby"}, False)
    for text in (
        "韦恩是贼，只有阿宁知道，后来她告诉了土比。",
        "韦恩死在冷库里；局里只有阿宁知道，现在多了土比。",
        "韦恩是贼，只有阿宁知道，刚刚又告诉了土比。",
    ):
        assert _list_in(text) == ({"阿宁", "土比"}, False)
    for text in (
        "Vane is ill; until now only Nell knew it, Tubby has just learnt it.",
        "韦恩是贼；原来只有阿宁知道，如今土比也知道了。",
    ):
        names = {"Nell", "Tubby"} if text.isascii() else {"阿宁", "土比"}
        assert _knowers(text) == {name: True if name in names else None for name in _people(text)}
        assert lists_former_knowers(text, list(_people(text)))
    for text in (
        "Only Nell knows that Vane later told Tubby a lie.",
        "Only Nell knows that Vane is ill; Tubby has just arrived.",
    ):
        assert _knowers(text)["Tubby"] is False
    assert _knowers("韦恩是贼，只有阿宁知道，现在多了一把锁，土比在看门。")["土比"] is False


PEOPLE_OF_PROMISES = ("Hugh", "Nell", "Tom", "Jem", "顾晚", "许海", "孟小舟", "阿九")
PROMISES_OF_SILENCE = """
Nell promised Hugh to tell nobody that he cut the rope.|Hugh Nell
Nell swore to keep it secret that Hugh cut the rope.|Hugh Nell
Nell promised Hugh never to tell anyone that he cut the rope.|Hugh Nell
Nell agreed to hold her tongue about the cut rope.|Nell
Hugh cut the rope, and Nell has promised not to tell a soul.|Hugh Nell
Nell vowed that she would never tell anybody about the rope.|Nell
Jem has sworn to say nothing of the packet.|Jem
Hugh made Nell swear to tell no one about the rope.|Hugh Nell
Hugh and Nell agreed to keep it between themselves that the rope was cut.|Hugh Nell
Nell gave Hugh her word to keep his secret.|Hugh Nell
Nell is sworn to secrecy about Hugh's debt.|Hugh Nell
Nell promised Hugh she'd keep quiet about the rope.|Hugh Nell
Hugh swore Jem to silence about the packet.|Hugh Jem
Nell promised never to speak of the rope again.|Nell
Nell pledged not to breathe a word of what Hugh did.|Hugh Nell
Nell and Jem promised each other not to let on.|Nell Jem
顾晚答应许海不告诉任何人是他割断了绳子。|顾晚 许海
顾晚发誓保密，绝不说出许海割断绳子的事。|顾晚 许海
顾晚和许海约好谁也不说。|顾晚 许海
顾晚答应许海绝不把割绳子的事说出去。|顾晚 许海
许海让阿九发誓对谁也不提那个包裹。|许海 阿九
顾晚向许海保证不对别人说。|顾晚 许海
顾晚许诺替许海保守秘密。|顾晚 许海
阿九立誓守口如瓶。|阿九
顾晚答应过许海，这件事永远不向任何人透露。|顾晚 许海
顾晚同意对割绳的事保密。|顾晚
顾晚与阿九说好了，谁都不告诉。|顾晚 阿九
顾晚承诺不会声张。|顾晚
顾晚答应许海把这件事烂在肚子里。|顾晚 许海
孟小舟发誓不把顾晚的身世告诉别人。|孟小舟 顾晚
"""
OTHER_PROMISES = """
Nell promised Hugh to mend the gate.
Nell would not promise to tell nobody.
Nell broke her promise to tell nobody about the rope.
Nell promised to tell everyone about the rope.
Hugh wonders if Nell promised to tell nobody.
Nell agreed to keep the secret drawer locked.
Nell promised not to tell Hugh.
Nell promised to say nothing rude at dinner.
Nell had sworn to tell nobody, but in the end she told everyone.
Did Nell promise to tell nobody?
Tom promised to be quiet at dinner.
Hugh ordered Nell to say nothing more.
Nell promised to speak of Hugh to the judge.
The people swore to keep the secret ballot.
Nell cannot promise to keep it secret.
Tom agreed to keep the accounts.
顾晚答应许海修好大门。
顾晚没有答应保密。
顾晚不肯发誓保密。
顾晚发誓从不说谎。
顾晚答应不说话。
顾晚保证不再迟到，也不告诉许海。
顾晚答应告诉所有人。
顾晚违背了保密的诺言。
如果顾晚答应保密，许海就放他走。
顾晚答应许海不说脏话。
顾晚拒绝答应谁也不说。
顾晚发誓不再提起笔写字。
顾晚答应许海不说破嘴皮也要劝。
顾晚答应不走。
"""


def _not_among_knowers(text: str) -> set[str]:
    return {
        name
        for name in PEOPLE_OF_PROMISES
        if is_among_knowers(text, [name], [other for other in PEOPLE_OF_PROMISES if other != name]) is False
    }


def test_a_promise_of_silence_is_known_to_whom_it_names() -> None:
    """No other promise lists anybody, nor one that is denied, asked for in vain or broken."""
    for text, knowers in (line.split("|") for line in PROMISES_OF_SILENCE.strip().splitlines()):
        assert (text, {*PEOPLE_OF_PROMISES} - _not_among_knowers(text)) == (text, {*knowers.split()})
    for text in OTHER_PROMISES.strip().splitlines():
        assert (text, _not_among_knowers(text)) == (text, set())
