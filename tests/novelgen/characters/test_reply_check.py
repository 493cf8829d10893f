"""What is wrong with a reply is found, told in the story's language, and nothing else is."""

import pytest

from novelgen.characters.reply_check import KnownSlot, ReplyGround, check_reply, known_slots, slot_value
from novelgen.characters.secrets import Secret

ENGLISH = ReplyGround(
    closed_secrets=[
        Secret(secret_id="deal", text="I made a deal with the bandits of Iron Hollow for protection."),
        Secret(secret_id="grave", text="The old well hides the body of the tax collector.", never=True),
    ],
    known_names=["Gregor", "Elena", "Mira", "Bjorn", "Aldric", "Iron Hollow", "Thornwick", "Osmund"],
    known_text="gregor sells lamps. the harvest feast of saint wilga is near.",
    slots=[
        KnownSlot("player_name", "Theron", "The player's name is Theron.", ("Jasper",)),
        KnownSlot("player_allegiance", "the watch", "", ("the bandits",)),
        KnownSlot("npc_death_status:Osmund", "Osmund", "Osmund is dead."),
    ],
    own_names=["Gregor"],
    listener_names=["Theron"],
)
CHINESE = ReplyGround(
    closed_secrets=[Secret(secret_id="交易", text="我和铁谷的强盗做了交易，用粮食换取保护。")],
    known_names=["格雷戈", "埃琳娜", "米拉", "比约恩", "阿德里克", "铁谷", "奥斯蒙"],
    slots=[
        KnownSlot("player_name", "特伦", "玩家的名字是特伦。", ("贾斯帕",)),
        KnownSlot("player_allegiance", "守夜人", "", ("强盗",)),
        KnownSlot("npc_death_status:奥斯蒙", "奥斯蒙"),
    ],
    own_names=["格雷戈"],
    listener_names=["特伦"],
    language="zh",
)


@pytest.mark.parametrize(
    ("text", "kind", "quote", "evidence"),
    [
        ("Well. I made a deal with bandits, for protection.", "leaked_secret", "made a deal", "deal"),
        ("The old well hides a body, the tax collector's.", "leaked_secret", "tax collector", "grave"),
        ("[warmly] Old Barnaby at the mill asked after you.", "unknown_name", "Barnaby", ""),
        ("Zorblax told me the bridge is out.", "unknown_name", "Zorblax", ""),
        ("I heard it from Grigor, the merchant.", "unknown_name", "Grigor", "Gregor"),
        ("You should speak to Captain Aldrick before dark.", "unknown_name", "Aldrick", "Aldric"),
        ("Welcome back, Jasper! Sit down.", "contradicted_slot", "Jasper", "Theron"),
        ("Thank you, Elena.", "contradicted_slot", "Elena", "Theron"),
        ("Your name is Marten, isn't it?", "contradicted_slot", "Marten", "Theron"),
        ("So you are Jasper, the one with the lamp.", "contradicted_slot", "Jasper", "Theron"),
        ("You ride with the bandits, I hear.", "contradicted_slot", "the bandits", "the watch"),
        ("Osmund is waiting for you at the inn.", "contradicted_slot", "Osmund is waiting", "dead"),
        ("好吧。我和强盗做了交易，拿粮食换保护。", "leaked_secret", "交易", "交易"),
        ("昨天王大锤来过，他说要找你。", "unknown_name", "王大锤", ""),
        ("我听葛雷格说，桥断了。", "unknown_name", "葛雷格", ""),
        ("小心，别惊动了埃林娜。", "unknown_name", "埃林娜", "埃琳娜"),
        ("李掌柜不肯多说。", "unknown_name", "李掌柜", ""),
        ("那是我表妹柳如眉送的。", "unknown_name", "柳如眉", ""),
        ("巴罗斯克昨晚来了。", "unknown_name", "巴罗斯克", ""),
        ("欢迎回来，贾斯帕！", "contradicted_slot", "贾斯帕", "特伦"),
        ("你叫米拉，对吗？", "contradicted_slot", "米拉", "特伦"),
        ("听说你在替强盗做事。", "contradicted_slot", "强盗", "守夜人"),
        ("奥斯蒙还活着，在酒馆里。", "contradicted_slot", "奥斯蒙还活着", "奥斯蒙"),
    ],
)
def test_what_is_wrong_with_a_reply_is_found(text: str, kind: str, quote: str, evidence: str) -> None:
    """Seed 002.40, 002.42: leaks, invented people with who may be meant, slots turned round; each with its place."""
    [found] = check_reply(text, ENGLISH if text.isascii() else CHINESE)
    assert found.kind == kind
    assert quote in found.quote == text[found.start : found.end]
    assert evidence in found.evidence + found.message
    assert found.message.isascii() == text.isascii()


CLEAN_ENGLISH = [
    "Well, God help us. I saw Elena by the well. Thank you, my friend. Ale? Of course. Bread too.",
    "Trust me, Theron, the harvest was poor. Autumn comes early to Thornwick, and Elena worries.",
    "Aldric keeps the gate shut at night. Iron Hollow is no place for you; the bandits there are no merchants.",
    "Fine steel, this. Mira will pour you an ale if you ask her kindly. Mornings are cold up here.",
    "You once rode with the bandits. No longer, and I thank you for it.",
    "Osmund was a good man. He died at the ford, and nobody came for him.",
    "[quietly] Hush. Not here. Come back after the feast of Saint Wilga, on Monday.",
    "Nobody knows. Folk say many things. Merchants come, soldiers go, and God sees it all.",
    "Good morning, stranger! Looking for lamps? Oil costs three coppers, wicks are one.",
    "Bjorn's hammer wakes the whole village. Ask Mira's brother, if you can find him.",
    "Bandits. Wolves. Winter. Take your choice; I fear taxes most.",
    "He said nothing. She laughed. They went away, and that was the end of it.",
    "*shrugs* What can I say? Father always told me: never lend a lamp to a fool.",
    "“Come in,” I said to Mira, and she did. That is all I know, Theron.",
    "You are Elena's friend, they say, and Uncle Aldric likes you, too.",
    "Read the Book of Tides if you must. You are Mira and Bjorn's guest.",
    "The English have a word for it. So do the French. We in Thornwick just call it bad luck.",
]
CLEAN_CHINESE = [
    "天快黑了，你先回去吧，路上小心。",
    "欢迎回来，特伦。村里最近不太平，夜里别出门。",
    "比约恩可以作证，埃琳娜把钥匙给了我。",
    "铁谷的强盗很凶，别去。",
    "我爷爷说过，高山上的雪今年化得早，安静点好。麦子收成不错，多谢你的关心。",
    "周围都是强盗，方才有人来过，高兴就好，金子都没了。",
    "马匹都给抢走了，柳树下有口井，石头很沉，白天别去，安心吧，钱我会还的。",
    "老人说得对，阿爸说今年雨水多，马上就来。",
    "温和一点，平安就好。江边有船，林子在北边，石头在路中间，白天来过两个人。",
    "你以前跟强盗混过，如今不同了，我心里有数。",
    "奥斯蒙死在渡口，谁也没有去接他。",
    "早上好，客人。要灯吗？灯油三个铜板，灯芯一个。",
    "米拉在酒馆等你。告诉她，我晚点到。",
    "［低声］别在这里说。阿德里克就在门外。",
    "谢谢你，朋友。什么时候再来？下雪之前，好吗？",
]


@pytest.mark.parametrize(
    ("text", "ground"), [*((each, ENGLISH) for each in CLEAN_ENGLISH), *((each, CHINESE) for each in CLEAN_CHINESE)]
)
def test_a_clean_reply_raises_no_alarm(text: str, ground: ReplyGround) -> None:
    """Talk of known people, of trades, weekdays and God, of what used to be; words like names (高山, 马匹) are none."""
    assert check_reply(text, ground) == []


@pytest.mark.parametrize(
    ("slot", "content", "value"),
    [
        ("player_name", "The player told me their name is Theron.", "Theron"),
        ("player_name", "She is called Ines of Marrow, she says.", "Ines of Marrow"),
        ("player_name", "Theron", "Theron"),
        ("player_name", "The stranger said to call her Maren.", "Maren"),
        ("player_name", "She calls herself Maren Vale.", "Maren Vale"),
        ("player_name", "She gave her name as Maren.", "Maren"),
        ("player_name", "Corwin says it is Maren.", "Maren"),
        ("player_name", "来人自报姓名：苏棠。", "苏棠"),
        ("player_name", "她说她真名其实叫苏晚棠。", "苏晚棠"),
        ("player_name", "玩家说他叫特伦。", "特伦"),
        ("player_allegiance", "玩家效忠于守夜人。", "守夜人"),
        ("player_allegiance", "The player is loyal to the watch.", "the watch"),
        ("npc_belief_about_player", "I think the player is a hero.", "I think the player is a hero"),
    ],
)
def test_the_value_of_a_slot_is_read_out_of_what_is_remembered(slot: str, content: str, value: str) -> None:
    """A sentence, or the bare value."""
    assert slot_value(slot, content) == value


def test_earlier_values_of_a_slot_come_along() -> None:
    """As what a reply may wrongly go on saying; surname and title of somebody known name nobody new."""
    [slot] = known_slots([("player_name", "Theron")], {"player_name": ["His name is Jasper."]})
    assert slot.earlier == ("Jasper",)
    ground = ReplyGround(known_names=["沈砚秋"], listener_names=["苏晚棠"], language="zh")
    assert check_reply("苏姑娘，请坐。沈掌柜马上就来。", ground) == []
    assert [each.quote for each in check_reply("苏姑娘，去问周大叔。", ground)] == ["周大叔"]


def test_a_chinese_finding_calls_the_slot_by_its_chinese_name() -> None:
    """No word of a setting stands in it; somebody dead under two names is found once."""
    [found] = check_reply("你叫米拉，对吗？", CHINESE)
    assert "玩家姓名" in found.message
    assert not any(character.isascii() and character.isalpha() for character in found.message)
    slots = [KnownSlot(f"npc_death_status:{name}", "dead since April") for name in ("Wren", "Matthias Wren")]
    [finding] = check_reply("Matthias Wren is alive and well.", ReplyGround(slots=slots))
    assert finding.quote == "Matthias Wren is alive"
