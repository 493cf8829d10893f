"""Which sentences tell a note: in other order, partly, or of a hidden death."""

import pytest

from novelgen.memory.note_telling import note_telling

PEOPLE = [
    ["宋怀远", "老窑头"],
    ["宋蘅"],
    ["宋蓟"],
    ["郑观"],
    ["冯贵"],
    ["顾晚"],
    ["林叔"],
    ["白二"],
    ["裴照"],
    ["江寒"],
]
PEOPLE += [["何渡"], ["韩七"], ["陈伯"], ["霍启"], ["老篾"], ["陆文昭"], ["方老爷"]]
PEOPLE += [["Cora"], ["Finn"], ["Harlan"], ["Marsh"], ["Mira"], ["Tobias"], ["Pike"], ["Rudd"], ["Petra"], ["Joren"]]
PEOPLE += [["Veit"], ["Nadia"], ["Ezra"], ["Hugo"], ["Old Reed"], ["Joss"], ["Mr Field"]]

NOTES = {
    "宋蘅拧开宋蓟的锁底，抄下了釉方，宋蓟不知道。": (
        "宋蘅趁宋蓟洗澡，拧开锁底，抄下了釉方：玛瑙末一两二钱。|釉方已经抄好，锁底重新拧紧。",
        "“姐，你看我的锁做什么？”宋蓟走进来。|宋蓟把锁挂回脖子上，出去劈柴。|窑里的火已经熄了三天。",
    ),
    "顾晚在账本里夹了一封给总督的密信。": (
        "顾晚把写给总督的密信夹进账本。|“信夹在账本里，”她说，“是给总督的。”",
        "顾晚翻开账本，算起这个月的米钱。|总督的船队傍晚进了港。|她写了一封家信，请店小二送出去。",
    ),
    "林叔偷换了祠堂的钥匙。": (
        "祠堂钥匙被换过了。|钥匙是林叔偷偷换的，祠堂的门再也打不开。",
        "林叔站在祠堂门口抽烟。|他给马换了一副新鞍。|族长摸出钥匙，开了仓门。",
    ),
    "白二收了冯贵二百两银子，替他看着渡口。": (
        "冯贵付了银子，二百两，一文不少。|“渡口你替我看着，银子少不了你的。”冯贵说。",
        "白二在渡口撑船，一天也没有几个客人。|他数了数手里的银子，不够买一匹布。",
    ),
    "裴照把毒下在了药罐里，是她姑母吩咐的。": (
        "药罐里有毒。|“姑母吩咐我下的毒。”裴照哭着说。",
        "药罐在炉子上咕嘟咕嘟响。|大夫吩咐她每天换药。|姑母来看她，带了一盒点心。",
    ),
    "江寒真正的师父是青城派的叛徒何渡。": (
        "“我师父就是青城派的叛徒。”江寒说。",
        "青城派来了三个弟子，都佩着剑。|江寒给师父上了一炷香。|何渡坐在角落里喝酒。",
    ),
    "韩七把地图缝进了棉袄的夹层。": (
        "地图在棉袄夹层里。",
        "韩七披着棉袄，在火边打盹。|墙上挂着一张旧地图。|风从门缝里钻进来。",
    ),
    "陈伯在井里投了砒霜。": (
        "井里有砒霜。|砒霜是陈伯投的，井水喝不得了。",
        "陈伯从井里打上一桶水。|石子投进塘里，惊起一群鸭子。",
    ),
    "霍启私刻了太子的印章。": ("太子的印章是霍启刻的。|印章是私刻的。", "太子把印章搁在案上。|霍启刻了一匹小木马。"),
    "老篾其实叫陆文昭。": ("“我叫陆文昭。”老篾对宋蘅说。", "老篾叫了一声。|陆文昭坐在灯下写字。"),
    "宋怀远死了，瞒着郑观。": (
        "“他一死，郑观不用等到冬至，明天就能来收窑。”|埋在老窑里，就埋在第七排旁边。|没有人知道坡上死了一个人。|她爹的坟在坡后。|不能发丧。|爹去世以后，窑就冷了。|老窑头断气的时候，天还没亮。|人已埋了。",
        "郑观死死盯着她。|冯贵的爹死了三年。|他笑得要死。|郑观埋怨天气。|这是一条死路。|家父又咳血了。|冯贵死了心。|鱼死了。|院里埋着一坛酒。",
    ),
    "Cora copied the glaze recipe from the bottom of Finn's locket; Finn does not know.": (
        "Cora unscrewed the bottom of the locket and copied the recipe.|She hid her copy of the recipe.",
        '"What are you doing with my locket?" said Finn.|The glaze had run, and he threw the bowl down.',
    ),
    "Mira slipped a letter to the governor into the ledger.": (
        "When the ledger closed, a corner of the letter still showed.",
        "Mira opened the ledger and added up the price of rice.|The governor's fleet came in at dusk.",
    ),
    "Tobias swapped the key of the chapel.": (
        "The chapel key had been swapped.",
        "Tobias smoked at the chapel door.|He swapped his horse for a mule.|The warden took out a key.",
    ),
    "Pike took two hundred crowns from Rudd to watch the ferry for him.": (
        "Rudd paid him two hundred crowns.|You watch the ferry, and the crowns are yours.",
        "Pike worked the ferry and had few passengers.|He counted his crowns; they would not buy a coat.",
    ),
    "Petra poisoned the broth on her aunt's orders.": (
        "The broth was poisoned.|My aunt ordered me to poison it.",
        "The broth bubbled on the stove.|Her aunt came to see her.|The doctor ordered rest.",
    ),
    "Joren's real master was Veit, the traitor of the Grey Order.": (
        "Joren's master was that same traitor, Veit.",
        "Three pupils of the Grey Order came in with swords.|Joren lit a candle for his master.",
    ),
    "Nadia sewed the map into the lining of her coat.": (
        "The map was in the lining of the coat.",
        "Nadia slept by the fire in her coat.|She sewed a button on his shirt.",
    ),
    "Ezra dropped arsenic into the well.": (
        "There was arsenic in the well.",
        "He dropped a pebble and the ducks flew up.",
    ),
    "Hugo forged the prince's seal.": ("It was Hugo who had forged the seal.", "The prince laid his seal on the desk."),
    "Old Reed is really Joss.": ("Joss was what they had called Old Reed.", "Old Reed spoke.|Joss wrote by the lamp."),
    "Harlan is dead; Marsh must not know.": (
        "After his death Marsh need not wait.|Since he died, it is void.|Bury him.|Her father's grave lay here.",
        "Marsh was dead tired.|Rudd's father died.|She buried her face.|Marsh looked grave.|A dead branch.",
    ),
}


@pytest.mark.parametrize("note", NOTES)
def test_a_sentence_tells_a_note_by_enough_of_its_words(note: str) -> None:
    """Order and form count for nothing; one thing of several does not tell it."""
    telling = note_telling(note, PEOPLE, own_names=["宋蓟", "郑观", "Finn", "Marsh"])
    told, quiet = (row.split("|") for row in NOTES[note])
    assert [text for text in told if not telling.sentences(text)] == []
    assert [text for text in quiet if telling.sentences(text)] == []


def test_two_neighbours_tell_what_each_has_a_part_of() -> None:
    """Three things of a note in two sentences; two of them are chance."""
    telling = note_telling("方老爷欠了赌坊八千两，已经把宅子押了出去。", PEOPLE)
    assert len(telling.sentences("方老爷昨夜输了八千两。宅子押给赌坊了。")) > 0
    assert telling.sentences("方老爷在赌坊门口遇见了表弟。宅子里的海棠开了。") == []
    telling = note_telling("Mr Field owes the casino eight thousand and has mortgaged the house.", PEOPLE)
    assert telling.sentences("Mr Field met his cousin outside the casino. The roses at the house were in bloom.") == []


LONG_NOTES = {
    "Harlan sold the seed vault's key to Rudd in March 2391, because the council had cut his rations.": (
        "Rudd had paid for the key of the vault, and Harlan had sold it.|Harlan sold the key.",
        "Harlan kept the ration book in a drawer.|The council met on the third deck.|Rudd turned the key.",
    ),
    "Mira burned the strike fund's ledger in the boiler room, and since then she pays the widows herself.": (
        "In the boiler room the ledger was already burning when Mira shut the iron door.|She burned the ledger.",
        "Mira paid the baker.|The widows came for their money.|The boiler room was hot.|He opened the ledger.",
    ),
    "Tobias let the prisoner out by the cellar hatch; he told the sergeant that the lock was broken.": (
        "It was Tobias who let the prisoner out.|The prisoner crept through the cellar hatch.",
        "The sergeant asked about the lock.|Tobias fetched coal from the cellar.",
    ),
    "On the night of 4 May 1921 Petra hid the survey map behind the altar, so that nobody would start the shaft.": (
        "Petra slid the map behind the altar.|Behind the altar the survey map lay where she had hidden it.",
        "The shaft was begun in June.|Nobody came to the altar that night.|It was a cold winter for Petra.",
    ),
    "顾晚把厂里的图纸卖给了港商，拿钱给弟弟治了病，后来又借了一笔高利贷还给车间主任。": (
        "图纸是顾晚卖给港商的。|港商手里那份图纸，是她卖的。",
        "顾晚的弟弟病好了。|车间主任借了一辆车。|港商请大家吃饭。|她把图纸铺在桌上。",
    ),
    "林叔一九七六年在河滩埋了一箱银元，怕抄家，只跟老婆说是送去了乡下，连儿子也没有提过。": (
        "银元就埋在河滩上。|林叔在河滩挖出那箱银元。",
        "林叔的老婆去了乡下。|儿子在河滩放羊。|那年抄家的人来了三次。",
    ),
    "裴照替江寒顶了偷布的罪，被记了大过，厂长答应年底替她销掉，她谁也没说。": (
        "偷布的罪是裴照顶下来的。|“那匹布是江寒偷的，罪你替他顶了？”",
        "厂长年底开了大会。|裴照量了一匹布。|江寒记了一笔账。",
    ),
    "八月十五那天夜里，白二把冯贵的船凿沉了，为的是让他赶不上码头的招工。": (
        "冯贵的船是白二凿沉的。",
        "码头又在招工。|冯贵坐船过江。|八月十五的月亮很圆。",
    ),
}


@pytest.mark.parametrize("note", LONG_NOTES)
def test_the_first_clause_of_a_long_note_tells_it(note: str) -> None:
    """Reasons and consequences make a note long, not less told; a date is no clause."""
    telling = note_telling(note, PEOPLE, own_names=["Marsh", "郑观"])
    texts, others = (row.split("|") for row in LONG_NOTES[note])
    assert [text for text in texts if not telling.sentences(text)] == []
    assert [text for text in others if telling.sentences(text)] == []


@pytest.mark.parametrize(
    ("note", "text", "others"),
    [
        (
            "Old Reed, the ferryman, is really Joss, who ran from the Grey Order in the year of the flood.",
            "Old Reed put down his pole. Joss never could bear a wet coat.",
            ["Old Reed put down his pole. The river was high.", "Joss was dead, they said. It rained. Old Reed sang."],
        ),
        (
            "老篾其实就是陆文昭，当年从书院逃出来，在河边编了二十年竹器。",
            "老篾放下篾刀。陆文昭这辈子最恨别人叫他先生。",
            ["老篾放下篾刀。河水涨了。", "都说陆文昭死了。雨下了一夜。老篾唱起歌。"],
        ),
    ],
)
def test_two_names_in_one_breath_tell_that_they_are_one(note: str, text: str, others: list[str]) -> None:
    """In one sentence or in two neighbours; either name alone tells nothing."""
    telling = note_telling(note, PEOPLE)
    assert len(telling.sentences(text)) == 2
    assert [other for other in others if telling.sentences(other)] == []
    assert not note_telling(note.replace("really ", "a friend of ").replace("其实就是", "认识"), PEOPLE).identities
