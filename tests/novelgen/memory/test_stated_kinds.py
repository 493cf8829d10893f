"""Injuries, hours of death, counted and pledged things, and names of one character in notes."""

import pytest

from novelgen.memory.stated import named_ids_in, statements_of, told_of_somebody
from novelgen.models.entity import Entity

NAMES = {
    "character": ("周苇", "孙立国", "韩岭", "汪伯庸", "Anna", "Ben", "Perrin", "Mother Hobb"),
    "item": ("照片", "铜盒", "信", "刀", "密信", "the photographs", "the keys", "the Blind Needle"),
}
KNOWN = [
    Entity(entity_id=name, entity_type=entity_type, name=name) for entity_type, names in NAMES.items() for name in names
]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def sufferer(text: str, attribute: str) -> str | None:
    unset = told_of_somebody(text, KNOWN)
    return None if unset is None or unset.attribute != attribute else unset.entity_id


def holders(text: str) -> dict[str, str]:
    return {one.entity_id: one.value for one in statements_of(text, KNOWN) if one.attribute == "holder"}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        (
            "周苇",
            """周苇左手腕骨裂，打着石膏。
            方彪用铁管打断了周苇的左手腕。
            周苇的右臂上了夹板。
            周苇肩膀脱臼。
            周苇的手背被玻璃划伤。
            周苇崴了脚。
            周苇腿上中了一枪。
            周苇挨了一刀。
            周苇的脚崴了。
            周苇断了两根肋骨。
            周苇摔下楼梯，左腿骨折。
            周苇的手指被刀割破了。
            孙立国捅了周苇一刀。
            孙立国砍伤了周苇的右臂。""",
        ),
        (
            "Anna",
            """Anna cracked her wrist.
            Anna's arm is in plaster.
            Anna's wrist was put in a splint.
            Anna was shot in the shoulder.
            Anna dislocated her shoulder.
            Ben broke Anna's wrist.
            Anna has three cracked ribs.
            Anna took a knife in the side.
            Anna's shoulder is out of joint.
            Ben shot Anna in the arm.
            Anna's knee was smashed by a barrel.
            Anna slashed her hand on the wire.""",
        ),
        (
            None,
            """周苇打断了孙立国的话。
            周苇把夹板搬上了车。
            周苇把树枝折断了。
            周苇和孙立国断了来往。
            周苇没有骨折。
            周苇扭头看着孙立国。
            周苇打手势叫孙立国走。
            周苇手中刀落地。
            周苇的钱包被割破了。
            周苇买了烫伤膏。
            周苇会打石膏。
            周苇的石膏拆了，骨头长好了。
            Anna cracked the safe.
            Anna broke her promise.
            Anna shot a deer.
            Anna shot Ben's dog.
            Anna lost her head and shouted.
            Anna broke the leg of the table.
            Anna is in the cast of the play.
            Anna is out of plaster.
            Anna did not break her leg.
            Anna has never broken her arm.
            Anna cut her hair.
            Ben broke the back door.""",
        ),
    ],
)
def test_an_injury_is_of_whoever_suffers_it(name: str | None, texts: str) -> None:
    """Also without the word, and not a figure of speech, a denial or somebody else's."""
    assert {text: sufferer(text, "physical_state") for text in lines(texts)} == dict.fromkeys(lines(texts), name)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        (
            "汪伯庸",
            """汪伯庸卯时死了。
            汪伯庸子时咽的气。
            汪伯庸三更天死了。
            汪伯庸丑时三刻没了。
            汪伯庸五更去世。
            汪伯庸夜半病故。
            汪伯庸冬月初十卯时死了。
            汪伯庸未时去世。
            汪伯庸五更鼓响时去世了。""",
        ),
        (
            "Anna",
            """Anna died at the hour of the Rat.
            Anna died at vespers.
            Anna died a little before cockcrow.
            On Lady Day Anna died.
            Shortly before matins Anna died.
            Towards cockcrow Anna died.""",
        ),
        (
            None,
            """汪伯庸卯时差点死了。
            汪伯庸卯时没死。
            汪伯庸子时要被杀。
            据说汪伯庸卯时死了。
            汪伯庸未必死了。
            汪伯庸的父亲卯时死了。
            汪伯庸卯时打死了一只鼠。
            汪伯庸丑时三刻没了主意。
            Anna nearly died at matins.
            Anna did not die at vespers.
            Anna dreamt that she died at cockcrow.
            Anna's father died on Lady Day.
            Anna killed a rat at cockcrow.
            Anna died a little.""",
        ),
    ],
)
def test_a_death_has_an_hour(name: str | None, texts: str) -> None:
    """By the old hours, watches, offices and feasts."""
    stated = {
        text: next((one.entity_id for one in statements_of(text, KNOWN) if one.attribute == "status"), None)
        for text in lines(texts)
    }
    assert stated == dict.fromkeys(lines(texts), name)


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        (
            None,
            """Mother Hobb believes that Halvard Ysk is dead with the rest.
            Anna signed the map that led forty men to their death.
            Anna says that Perrin's brother is dead.
            Anna inherited the house when her aunt died.
            Anna killed a stranger.
            Anna would rather die than tell Ben.
            韩岭说二叔庚子年死在大沽口。
            韩岭要他等自己死的当天亲手交给周苇。
            韩岭的命令害死了四十个人。
            韩岭听说掌柜被杀了。
            韩岭杀了一个警察。
            韩岭发誓到死也不说。""",
        ),
        (
            "Ben",
            """Mother Hobb believes that Ben is dead.
            Anna fears that Ben was arrested.
            Anna told Perrin that Ben is dead.
            Anna nearly killed Ben.
            Anna mourns for Ben's death.
            Ben is said to be dead.""",
        ),
        (
            "周苇",
            """韩岭以为周苇死了。
            韩岭告诉孙立国周苇死了。
            孙立国抓走了周苇。
            韩岭说周苇是被孙立国杀的。
            韩岭为周苇的死伤心。
            韩岭认为是孙立国杀了周苇。""",
        ),
    ],
)
def test_a_death_that_is_not_set_is_of_the_dead(name: str | None, texts: str) -> None:
    """Not of whoever says, sees or causes it."""
    assert {text: sufferer(text, "status") for text in lines(texts)} == dict.fromkeys(lines(texts), name)


@pytest.mark.parametrize(
    ("things", "texts"),
    [
        (
            {"照片": "孙立国"},
            """周苇把十二张照片交给了孙立国。
            十二张照片在孙立国手里。
            周苇把这几张照片给了孙立国。
            周苇把所有的照片交给了孙立国。
            孙立国从周苇那里偷走了十二张照片。""",
        ),
        ({"铜盒": "孙立国", "照片": "孙立国"}, "周苇把铜盒和十二张照片交给了孙立国。"),
        (
            {"the photographs": "Ben"},
            """Anna gave Ben the twelve photographs.
            Anna gave Ben all twelve photographs.
            All the photographs are with Ben.
            Ben stole the 12 photographs.""",
        ),
        ({"the keys": "Ben"}, "Anna gave Ben both keys."),
        (
            {"信": "孙立国"},
            """周苇把信交给了孙立国。
            周苇把那两封信还给了孙立国。
            信在孙立国手里。
            信被孙立国拿走了。
            周苇把信塞给孙立国。""",
        ),
        ({"信": "孙立国", "刀": "孙立国"}, "周苇把信和刀交给了孙立国。"),
        ({"刀": "孙立国"}, "孙立国拿着那把刀。"),
        ({"密信": "孙立国"}, "周苇把密信交给了孙立国。"),
        (
            {"铜盒": "孙立国"},
            """周苇把铜盒当给了孙立国。
            周苇把铜盒押给孙立国，借了六十块。
            周苇把铜盒抵给了孙立国。
            周苇把铜盒押在了孙立国那里。
            周苇把铜盒交给孙立国作抵押。
            铜盒押在孙立国手里。""",
        ),
        (
            {"the Blind Needle": "Mother Hobb"},
            """Perrin gave the Blind Needle to Mother Hobb as a pledge for sixty marks.
            Perrin pawned the Blind Needle with Mother Hobb.
            Perrin left the Blind Needle with Mother Hobb as security for a debt of sixty marks.
            Perrin pledged the Blind Needle to Mother Hobb.
            The Blind Needle is in pawn with Mother Hobb.
            Perrin sold the Blind Needle to Mother Hobb for sixty marks.""",
        ),
        (
            {},
            """周苇想把十二张照片交给孙立国。
            周苇没有把十二张照片交给孙立国。
            周苇把一张照片的底片交给了孙立国。
            周苇把其中三张照片交给了孙立国。
            周苇把另外两张照片给了孙立国。
            周苇把一半照片交给了孙立国。
            Anna gave Ben two of the photographs.
            Anna gave Ben the other two keys.
            Anna gave Ben copies of all twelve photographs.
            Anna promised Ben both keys.
            Anna will give Ben both keys.
            周苇相信孙立国。
            周苇把信使交给了孙立国。
            周苇把信物交给了孙立国。
            周苇把剪刀交给了孙立国。
            孙立国拿着信封。
            周苇没把信交给孙立国。
            周苇写信给孙立国。
            周苇想把铜盒当给孙立国。
            周苇把铜盒当给了孙立国，第二天赎回来了。
            据说周苇把铜盒押给了孙立国。
            Perrin offered the Blind Needle to Mother Hobb as a pledge.
            Perrin pledged his word to Mother Hobb.
            Perrin gave the Blind Needle to Mother Hobb as a pledge, and redeemed it the next day.""",
        ),
    ],
)
def test_counted_short_and_pledged_things_pass_on(things: dict[str, str], texts: str) -> None:
    """With a number before them, a name of one character, or as a pledge."""
    assert {text: holders(text) for text in lines(texts)} == dict.fromkeys(lines(texts), things)


def test_a_name_of_one_character_is_a_thing_where_one_stands() -> None:
    """So that the answer tells its holder where a note changes nothing."""
    assert named_ids_in("周苇把信给孙立国看了。", KNOWN) == ["周苇", "信", "孙立国"]
    assert named_ids_in("周苇相信孙立国，信任他，写了回信。", KNOWN) == ["周苇", "孙立国"]


def test_a_thing_taken_from_one_and_given_to_another_is_with_the_last() -> None:
    """In one sentence, also where it names from whom; a gift that is denied or only promised moves nothing."""
    kinds = {"Ada": "character", "Ben": "character", "Walter": "character", "the key": "item"}
    kinds |= {"林阿秀": "character", "贺老三": "character", "刘七": "character", "玉佩": "item"}
    entities = [
        Entity(entity_id=name, project_id="p", entity_type=kind, name=name)  # type: ignore[arg-type]
        for name, kind in kinds.items()
    ]
    holders = {
        "Walter took the key from Ben and gave it to Ada.": "Ada",
        "Walter took the key from Ben, and handed it to Ada.": "Ada",
        "Walter took the key from Ben, and Ada wept.": "Walter",
        "Walter never took the key from Ben, and gave it to Ada.": None,
        "Walter won the key at cards and gave it to Ada.": "Ada",
        "Walter redeemed the key and returned it to Ada.": "Ada",
        "Walter stole the key, which he sold to Ada.": None,
        "Walter has the key, which he bought from Ben.": "Walter",
        "Walter won the key at cards and offered it to Ada.": None,
        "Walter wanted to redeem the key and give it to Ada.": None,
        "Walter received the key and will give it to Ada.": None,
        "刘七从贺老三手里拿回玉佩，交给了林阿秀。": "林阿秀",
        "The key fell to the floor and Ada has it.": "Ada",
        "The key fell out of Ben's pocket, and Ada picked it up.": "Ada",
        "Ada picked up the key.": "Ada",
        "Ada gave the key to Ben to repair.": "Ben",
        "The key fell to the floor and Ada laughed.": None,
        "The key fell to the floor and Ada nearly caught it.": None,
        "玉佩从贺老三怀里掉出来，刘七捡走了。": "刘七",
        "玉佩落在井边，林阿秀拾到了。": "林阿秀",
        "刘七把玉佩交给贺老三修。": "贺老三",
        "玉佩没有了。": "",
        "玉佩没有了光泽。": None,
        "刘七把玉佩偷走，转手送给了林阿秀。": "林阿秀",
        "玉佩被刘七偷走，送给了林阿秀。": "林阿秀",
        "刘七买下玉佩，送给了林阿秀。": "林阿秀",
        "刘七把玉佩赎回来，还给了林阿秀。": "林阿秀",
        "刘七赢了玉佩，又输给了林阿秀。": "林阿秀",
        "刘七打算把玉佩赎回来，还给林阿秀。": None,
        "刘七赎回玉佩，想还给林阿秀。": None,
        "刘七接过玉佩，还给林阿秀一杯茶。": None,
        "刘七从贺老三手里拿回玉佩，林阿秀哭了。": "刘七",
        "刘七从贺老三手里拿回玉佩，没有交给林阿秀。": None,
        "刘七从贺老三手里拿回玉佩，答应交给林阿秀。": None,
    }
    for text, holder in holders.items():
        values = [one.value for one in statements_of(text, entities) if one.attribute == "holder"]
        assert (text, values) == (text, [] if holder is None else [holder])


def test_who_is_dead_or_held_is_whoever_suffers_it() -> None:
    """So that the answer names the one to change, and nobody where others without a card suffer it."""
    people_by_text = {
        "周苇被孙立国逮捕了。": "周苇",
        "孙立国逮捕了周苇。": "周苇",
        "孙立国把周苇抓了起来。": "周苇",
        "孙立国把周苇绑在柱子上。": "周苇",
        "周苇关在黑礁屿北边的水洞里。": "周苇",
        "周苇扑住洋枪，中枪死在黑礁屿。": "周苇",
        "周苇劫了商船，杀了十七个人。": None,
        "周苇把狗绑在树上。": None,
        "周苇把自己关在屋里写信。": None,
        "Anna is locked in the cellar.": "Anna",
        "Anna was taken away by Ben in handcuffs.": "Anna",
        "Anna threw herself on the gun and was shot dead.": "Anna",
        "Anna fell, and killed a dog.": None,
    }
    assert {text: sufferer(text, "status") for text in people_by_text} == people_by_text
    assert [sufferer(text, "physical_state") for text in ("周苇的右腿膝盖打碎了。", "周苇的房门打碎了。")] == [
        "周苇",
        None,
    ]


def test_a_figure_of_speech_and_a_death_in_a_play_state_nothing() -> None:
    """Nor do the death of a relative, damage to a part or a shop shut for the night."""
    entities = [*KNOWN, Entity(entity_id="醉仙楼", entity_type="location", name="醉仙楼")]
    entities.append(Entity(entity_id="the inn", entity_type="location", name="the inn"))
    nothing = lines("""
        Anna is dead on her feet.
        Anna is dead right.
        Anna was dead last in the race.
        Anna is dead to the world.
        Anna dropped dead-tired into bed.
        Anna is presumed dead.
        Anna was declared dead.
        Anna is dead, by all accounts.
        Anna was shot dead in the film.
        Anna was killed in the other timeline.
        Anna died for four minutes on the operating table.
        Anna died, but the medic brought her back.
        Anna lost her life jacket.
        Anna was beaten to death's door.
        Anna passed away the time with cards.
        Anna was killed at chess.
        The keys were burnt at the edges.
        The keys are lost on Ben.
        The inn was closed when Ben came.
        The inn was deserted at midnight.
        周苇死死抓着铜盒。
        周苇死盯着门口。
        周苇死缠烂打。
        周苇死定了。
        周苇死了丈夫。
        周苇死了这条心。
        周苇去世的师父叫云鹤。
        周苇病死的猫埋在后院。
        周苇被杀得大败。
        周苇死而无憾。
        周苇在小说里死了。
        周苇在前世战死了。
        周苇哭得死去活来。
        周苇原来叫人送信了。
        周苇本来叫了车。
        醉仙楼昨夜关门了。""")
    assert {text: [*statements_of(text, entities)] for text in nothing} == {text: [] for text in nothing}
    dead = lines("""
        Anna was dead last night.
        Anna is dead, killed by a mine.
        Anna was found dead in the inn.
        Anna died on the last day of the game.
        Anna lost her life at sea.
        周苇死了好几年了。
        周苇死在了北岸。
        周苇死的时候才十九。
        周苇战死的时候，韩岭不在。
        周苇死后，韩岭搬走了。
        周苇死透了。
        周苇已经去世十年了。""")
    values = {text: [one.attribute for one in statements_of(text, entities)] for text in dead}
    assert values == {text: ["status"] for text in dead}
    assert [one.value for one in statements_of("周苇其实叫方秀英。", entities)] == ["方秀英"]


def test_a_plain_killing_loss_seizure_or_hiding_sets_its_state() -> None:
    """Of the victim or the thing, and nothing after a denial or for a plan."""
    entities = [*KNOWN, Entity(entity_id="祠堂", entity_type="location", name="祠堂")]
    entities.append(Entity(entity_id="the archive", entity_type="location", name="the archive"))
    stated = {
        "Anna killed Ben.": ["Ben status dead"],
        "Anna beat Ben to death with a shovel.": ["Ben status dead"],
        "Ben did not survive the decompression.": ["Ben status dead"],
        "Ben never regained consciousness.": ["Ben status dead"],
        "Ben succumbed to pneumonia.": ["Ben status dead"],
        "Ben is long dead.": ["Ben status dead"],
        "Anna confiscated the keys from Ben.": ["the keys holder Anna"],
        "The keys were found on Ben's body by Anna.": ["the keys holder Anna"],
        "Perrin brought the keys back to Anna on Ben's behalf.": ["the keys holder Anna"],
        "Anna left Ben the keys in her will.": ["the keys holder Ben"],
        "The keys passed from Ben to Anna.": ["the keys holder Anna"],
        "Perrin gave Anna the keys and Ben the photographs.": ["the keys holder Anna", "the photographs holder Ben"],
        "Anna hid the keys in the archive.": ["the keys location_id the archive"],
        "The keys are hidden under the floor of the archive.": ["the keys location_id the archive"],
        "Anna nearly killed Ben.": [],
        "Anna killed Ben's dog.": [],
        "Anna killed Ben with kindness.": [],
        "Nobody killed Ben.": [],
        "Ben did not survive the audition.": [],
        "Ben fell in love.": [],
        "Anna will leave Ben the keys.": [],
        "Perrin owes Anna the keys and Ben the photographs.": [],
        "Perrin brought the keys back to Anna, who refused them.": [],
        "Anna wanted to hide the keys in the archive.": [],
        "The keys were hidden in the archive, and Ben dug them up.": [],
        "韩岭杀了周苇。": ["周苇 status 已死"],
        "韩岭一刀捅死了周苇。": ["周苇 status 已死"],
        "韩岭把周苇打死了。": ["周苇 status 已死"],
        "周苇因公殉职。": ["周苇 status 已死"],
        "周苇没救回来。": ["周苇 status 已死"],
        "周苇没能挺过这个冬天。": ["周苇 status 已死"],
        "周苇昨夜归西了。": ["周苇 status 已死"],
        "周苇伤重不治身亡。": ["周苇 status 已死"],
        "周苇服毒自尽。": ["周苇 status 已死"],
        "韩岭没收了铜盒。": ["铜盒 holder 韩岭"],
        "韩岭从周苇的尸体上搜出了铜盒。": ["铜盒 holder 韩岭"],
        "韩岭向周苇借了铜盒。": ["铜盒 holder 韩岭"],
        "韩岭托周苇把铜盒还给了孙立国。": ["铜盒 holder 孙立国"],
        "韩岭失手摔碎了铜盒。": ["铜盒 holder "],
        "铜盒让韩岭给弄丢了。": ["铜盒 holder "],
        "韩岭把铜盒藏在祠堂的牌位后面。": ["铜盒 location_id 祠堂"],
        "铜盒埋在祠堂后院。": ["铜盒 location_id 祠堂"],
        "韩岭想杀了周苇。": [],
        "韩岭杀了周苇的威风。": [],
        "周苇为韩岭牺牲了很多。": [],
        "周苇牺牲了休息时间。": [],
        "周苇自杀未遂。": [],
        "周苇没救韩岭。": [],
        "周苇没熬过三天就辞了工。": [],
        "韩岭没收到铜盒。": [],
        "韩岭托周苇把铜盒还给孙立国。": [],
        "韩岭差点摔碎了铜盒。": [],
        "韩岭打算把铜盒藏在祠堂。": [],
        "铜盒藏在祠堂，后来被取走了。": [],
    }
    values = {
        text: [f"{one.entity_id} {one.attribute} {one.value}" for one in statements_of(text, entities)]
        for text in stated
    }
    assert values == stated
    assert [sufferer(text, "status") for text in ("Anna took the keys from the dead Ben.", "周苇累得要死。")] == [
        "Ben",
        None,
    ]
    assert sufferer("韩岭失手摔碎了铜盒。", "physical_state") is None
