"""Another age of a person than the story's is listed first."""

from dataclasses import replace

import pytest

from novelgen.checking.evidence import gather_evidence
from novelgen.checking.person_ages import OF_ANOTHER_AGE
from novelgen.checking.story import StoryBefore, read_draft
from novelgen.checking.touched import find_touched
from novelgen.language.chronology import TellingScene, scene_times
from novelgen.language.language import story_language
from novelgen.models.continuity import TouchedMatter
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from tests.novelgen.checking.small_story import entity, memory, state, told

ENGLISH = (entity("C0", "The Guv'nor"), entity("C1", "Alf"), entity("C2", "Maggie Lowe", "Maggie"))
CHINESE = (entity("C0", "秦班主", "班主"), entity("C1", "小豆子"), entity("C2", "白玉霜"))


def of_people(age: object, language: str) -> tuple[Entity, ...]:
    """Return the people, the first with an age on the card."""
    first, *others = ENGLISH if language == "en" else CHINESE
    return (first.model_copy(update={"profile": {} if age is None else {"age": age}}), *others)


def denials(draft: str, story: StoryBefore) -> list[TouchedMatter]:
    """Return the persons and numbers of a draft that the story gives another age or number."""
    read = read_draft(draft, story)
    return [
        matter
        for matter in find_touched(read, story, gather_evidence(read, story))
        if matter.kind == "number" or any(saying.score == OF_ANOTHER_AGE for saying in matter.sayings)
    ]


def story_of(
    draft: str, *, age: object = 61, text: str = "", memories: tuple[StoryMemoryChunk, ...] = ()
) -> StoryBefore:
    """Return the story before a draft, in its language."""
    language = story_language(draft)
    return replace(told(of_people(age, language), text=text, memories=memories), language=language)


@pytest.mark.parametrize(
    ("draft", "quote"),
    [
        ("\"I'm seventy-three,\" said the Guv'nor.", "seventy-three"),
        ("“I’m seventy-three,” said the Guv'nor.", "seventy-three"),
        ("Alf swept. \"I'm seventy-three now,\" the Guv'nor said.", "seventy-three"),
        ('The Guv\'nor sighed. "I turned forty last May."', "forty"),
        ('"Sweep it," said the Guv\'nor, "for I am seventy-three."', "seventy-three"),
        ("The Guv'nor came in late. He was seventy-three.", "seventy-three"),
        ("The Guv'nor came in late and sat down. Rain fell. He was seventy-three, and slow.", "seventy-three"),
        ("The Guv'nor was a man of forty.", "forty"),
        ("The Guv'nor, a man of forty, came in.", "forty"),
        ("The Guv'nor, aged 73, came in.", "73"),
        ("Aged 73, the Guv'nor came in.", "73"),
        ("The Guv'nor was not yet thirty.", "thirty"),
        ("The Guv'nor, who had just turned seventy-three, came in.", "seventy-three"),
        ('"The Guv\'nor is seventy-three," said Alf.', "seventy-three"),
        ("\"The Guv'nor's seventy-three, you know,\" said Alf.", "seventy-three"),
        ("The Guv'nor was seventy-three years old.", "seventy-three"),
        ("The Guv'nor was already in his forties.", "forties"),
        ("The Guv'nor was five-and-forty.", "five-and-forty"),
        ("He was forty, the Guv'nor, and slow.", "forty"),
        ("The Guv'nor was seventy-one that spring.", "seventy-one"),
        ("The Guv'nor, who was seventy-one that spring, ran in.", "seventy-one"),
        ("The Guv'nor was barely fifty-three at Michaelmas.", "fifty-three"),
        ("The Guv'nor came in. He was nearly eighty by then.", "eighty"),
        ("这年冬天班主刚好七十一岁。", "七十一"),
        ("“老朽今年七十三了，”班主说。", "七十三"),
        ("“我都七十三岁的人了。”班主叹道。", "七十三"),
        ("班主叹道：“我都七十三岁的人了。”", "七十三"),
        ("班主咳了一声。“我今年七十三，还能唱。”", "七十三"),
        ("“七十三了，唱不动了，”班主说。“我七十三了。”", "我七十三了"),
        ("班主年方十八。", "十八"),
        ("班主年过八旬，还在唱。", "八旬"),
        ("班主三十出头，还在唱。", "三十"),
        ("班主坐下了。他刚满十六。", "十六"),
        ("班主今年七十三了。", "七十三"),
        ("秦班主不到三十岁。", "三十"),
        ("七十三岁的秦班主还在唱。", "七十三"),
        ("“班主今年七十三了，”小豆子说。", "七十三"),
        ("班主是个四十来岁的男人。", "四十"),
        ("“我老了，今年七十三了，”班主说。", "七十三"),
        ("班主年近五旬。", "五旬"),
        ("班主年逾古稀。", "古稀"),
    ],
)
def test_another_age_than_on_the_card_is_listed_first_with_both_quotes(draft: str, quote: str) -> None:
    """Also without a unit, of the speaker or subject."""
    [matter] = denials(draft, story_of(draft))
    assert (matter.kind, matter.entity_id) == ("person", "C0")
    assert quote in matter.draft_quote
    assert quote in draft[slice(*matter.draft_span)]
    assert matter.sayings[0].text.endswith("61")


@pytest.mark.parametrize(
    "draft",
    [
        "\"I'm sixty-one,\" said the Guv'nor.",
        "The Guv'nor was past sixty.",
        "The Guv'nor was a man of sixty-one.",
        "The Guv'nor was in his sixties.",
        "The Guv'nor was about sixty.",
        "The Guv'nor was sixty or so.",
        "\"I'm sixty-odd,\" said the Guv'nor.",
        "\"I'll be sixty-two next May,\" said the Guv'nor.",
        "\"I'm two steps behind,\" said the Guv'nor.",
        "\"I'm two, three steps behind,\" said the Guv'nor.",
        "\"I'm ten and a half miles away,\" said the Guv'nor.",
        "\"I'm seventy-three,\" said Alf to the Guv'nor.",
        "The Guv'nor sat down. \"I'm seventy-three,\" said Alf.",
        '"His wife is seventy-three," said the Guv\'nor.',
        "The Guv'nor's wife was seventy-three.",
        "\"You're seventy-three,\" said the Guv'nor to Alf.",
        "When he was seventeen, the Guv'nor came to Wapping.",
        "The Guv'nor came to Wapping when he was seventeen.",
        '"I was seven, and the hall was new," said the Guv\'nor.',
        "The Guv'nor walked as if he was seventy-three.",
        "The Guv'nor was not seventy-three.",
        "The Guv'nor looked seventy-three.",
        "The Guv'nor met a man of forty.",
        "The Guv'nor sat down. It was seven.",
        "The Guv'nor had been of age two years.",
        "The Guv'nor, it was seven, came in.",
        "The Guv'nor was one, and Alf another.",
        "The Guv'nor was ten years older than Alf.",
        "The Guv'nor was a man of 10,000 pounds.",
        "The Guv'nor counted two, three, four pence.",
        "The Guv'nor was seventy-one that spring's lambs short.",
        "The Guv'nor was sixty-one that spring.",
        "The Guv'nor came in. It was seven that evening.",
        "The Guv'nor paid seventy-one that spring.",
        "There were seventy-one with the Guv'nor that spring.",
        "那年春天班主数到七十一。",
        "“老朽今年六十一了，”班主说。",
        "班主年过六旬，还在唱。",
        "班主六十出头，还在唱。",
        "班主年逾花甲。",
        "班主六十来岁。",
        "班主六十上下。",
        "“给我三十两，”班主说。",
        "“我才三步远，”班主说。",
        "“我今年七十三了，”小豆子对班主说。",
        "班主坐下了。“我今年七十三了，”小豆子说。",
        "“我爹七十三了，”班主说。",
        "“你今年十三了，”班主说。",
        "班主的老婆七十三了。",
        "班主七岁那年进了戏班。",
        "“我十六岁的时候就会唱了，”班主说。",
        "班主看上去像七十三岁的人。",
        "班主不是七十三岁。",
        "班主看见一个四十岁的男人。",
        "班主比小豆子大十岁。",
        "“他小我三岁，”班主说。",
        "班主有个女儿，年方十八。",
        "“我有一个女儿，年方十八，”班主说。",
        "班主看着小豆子，今年十六了。",
        "班主等了三十多天。",
        "班主数到七十三，停下了。",
        "班主坐在第十三排。",
        "“今年三月，”班主说。",
        "班主打他十六岁起就认得他。",
    ],
)
def test_an_age_that_agrees_and_what_is_no_age_of_the_person_is_not_listed(draft: str) -> None:
    """Bounds, steps, money, another's age and the past deny nothing."""
    assert denials(draft, story_of(draft)) == []


@pytest.mark.parametrize(
    ("draft", "text", "sentence"),
    [
        (
            "\"I'm seventy-three,\" said the Guv'nor.",
            "The Guv'nor came in late. He was sixty-one. Alf swept.",
            "He was sixty-one.",
        ),
        (
            "The Guv'nor was seventy-three.",
            "Alf swept. \"I'm sixty-one,\" said the Guv'nor. Rain fell.",
            "\"I'm sixty-one,\" said the Guv'nor.",
        ),
        ("“老朽今年七十三了，”班主说。", "班主来晚了。他六十一岁了。小豆子扫地。", "他六十一岁了。"),
        ("班主七十三了。", "小豆子扫地。“我今年六十一，”班主说。", "“我今年六十一，”班主说。"),
    ],
)
def test_an_age_in_the_text_stands_beside_another_of_the_draft(draft: str, text: str, sentence: str) -> None:
    """Without a card's age the last text that tells it decides, and is quoted."""
    [matter] = denials(draft, story_of(draft, age=None, text=text))
    assert (matter.sayings[0].source, matter.sayings[0].text, matter.sayings[0].quote) == (
        "passage",
        sentence,
        sentence,
    )
    beside_card = denials(draft, story_of(draft, text=text))[0].sayings
    assert [one.source for one in beside_card[:2]] == ["state", "passage"]


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("\"I'm seventy-three,\" said the Guv'nor.", "The Guv'nor came in. Alf swept. He was sixty-one."),
        ("\"I'm seventy-three,\" said the Guv'nor.", "The Guv'nor came to Wapping when he was twelve."),
        ("\"I'm seventy-three,\" said the Guv'nor.", "\"I'm twelve,\" said Alf to the Guv'nor."),
        ("“老朽今年七十三了，”班主说。", "班主十二岁那年进了戏班。"),
        ("“老朽今年七十三了，”班主说。", "“我今年十二了，”小豆子对班主说。"),
        ("“老朽今年七十三了，”班主说。", "班主数了十二两。"),
    ],
)
def test_an_age_of_another_or_of_the_past_in_the_text_denies_nothing(draft: str, text: str) -> None:
    """A pronoun means the last one named, a speaker themselves."""
    assert denials(draft, story_of(draft, age=None, text=text)) == []


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        ("\"I'm seventy-three,\" said the Guv'nor.", "The Guv'nor is sixty-one."),
        ("“老朽今年七十三了，”班主说。", "秦班主六十一岁。"),
    ],
)
def test_an_age_in_a_note_stands_beside_another_of_the_draft(draft: str, note: str) -> None:
    """The note is of the person; one that agrees, or is another's, denies nothing."""
    of_note = memory(note, "C0").model_copy(update={"content_type": "note"})
    [matter] = [one for one in denials(draft, story_of(draft, age=None, memories=(of_note,))) if one.kind == "person"]
    assert matter.sayings[0].text == note
    same = {"en": "The Guv'nor is seventy-three.", "zh": "秦班主七十三岁。"}[story_language(draft)]
    agreeing = memory(same, "C0").model_copy(update={"content_type": "note"})
    assert denials(draft, story_of(draft, age=None, memories=(agreeing,))) == []
    kin = {"en": "The Guv'nor's wife is sixty-one.", "zh": "秦班主的老婆六十一岁。"}[story_language(draft)]
    of_kin = memory(kin, "C0").model_copy(update={"content_type": "note"})
    assert denials(draft, story_of(draft, age=None, memories=(of_kin,))) == []


@pytest.mark.parametrize(
    ("draft", "dead"),
    [
        ("Maggie Lowe sang. The Guv'nor was seventy-three. Alf swept the stage.", "Alf"),
        ("白玉霜唱了。班主七十三了。小豆子扫地。", "小豆子"),
    ],
)
def test_who_is_of_another_age_comes_after_the_dead_and_before_all_others(draft: str, dead: str) -> None:
    """However late the draft tells it."""
    story = story_of(draft)
    story = replace(story, changes=[state("C1", "status", "dead")])
    read = read_draft(draft, story)
    matters = find_touched(read, story, gather_evidence(read, story))
    assert [matter.entity_id for matter in matters if matter.kind == "person"][:2] == ["C1", "C0"]
    assert matters[0].name == dead


def test_a_narrator_who_says_i_has_an_age_without_a_name() -> None:
    """Who tells the story as "I" is known to the draft."""
    teller, *others = of_people(61, "en")
    people = (teller.model_copy(update={"role": "narrator"}), *others)
    draft = "I swept the stage. I was seventy-three, and I knew it."
    [matter] = denials(draft, replace(told(people), language="en"))
    assert (matter.entity_id, matter.draft_quote) == ("C0", "I was seventy-three, and I knew it.")
    assert denials("I swept the stage. I was sixty-one, and I knew it.", replace(told(people), language="en")) == []


BORN_IN_1904 = {"en": "The Guv'nor was born in 1904.", "zh": "秦班主生于1904年。"}


def past_denials(draft: str, **said: str | int) -> list[TouchedMatter]:
    """Return the first person where a draft denies their age."""
    language = story_language(draft)
    story = story_of(draft, age=said.get("age"), text=str(said.get("text", "")))
    note = said.get("note") or (BORN_IN_1904[language] if said.get("is_born") else "")
    first, *others = story.entities
    profile = first.profile | ({"birth_year": said["birth"]} if "birth" in said else {})
    people = (
        first.model_copy(update={"profile": profile, "aliases": [*first.aliases, EntityAlias(alias="Guv'nor")]}),
        *others,
    )
    memories = [memory(str(note), "C0").model_copy(update={"content_type": "note"})] if note else []
    times = scene_times([TellingScene(2, 2, story_time=str(said["now"]))]) if "now" in said else []
    matters = denials(draft, replace(story, entities=people, memories=memories, story_times=times))
    return [matter for matter in matters if matter.entity_id == "C0"]


SIXTY_ONE: dict[str, str | int] = {"age": 61}
BORN: dict[str, str | int] = {"is_born": True}


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("三十年前，班主进了戏班。那年他才十七。", SIXTY_ONE),
        ("四十年前的冬天，班主头一回登台，那一年他刚满九岁。", SIXTY_ONE),
        ("1921年，班主进了戏班。那年他才十三。", BORN),
        ("1921年，班主进了戏班。那年他才十三岁。", {"birth": "1904年"}),
        ("宣统二年，戏班散了。那年班主才二十岁。", {"note": "秦班主生于光绪三十年。"}),
        ("永和二十年，班主进京。那年他刚满十岁。", {"note": "秦班主生于永和三年。"}),
        ("民国十年，班主登台。那年他才十二。", {"note": "民国十年秦班主十七岁。"}),
        ("1921年班主才三十岁。", {"age": 61, "now": "1932年春"}),
        ("“十年前我才十七，”班主说。", SIXTY_ONE),
        ("二十年前，班主还在县里。那时他才二十出头。", {"text": "班主来晚了。他六十一岁了。小豆子扫地。"}),
        ("1921年，班主登台，那年他才九岁。", {"text": "1921年班主进了戏班，那年他十七岁。小豆子扫地。"}),
        ("1921年发大水。戏台淹了。那一年班主刚满九岁。", BORN),
        ("班主二十年前才十九岁。", SIXTY_ONE),
        ("班主今年七十三了。", {"note": "秦班主生于1904年。", "now": "1932年春"}),
        ("民国十年那年班主才九岁。", {"note": "秦班主生于光绪三十年。"}),
        ("班主说：“三十年前闹匪，那年我才十二。”", SIXTY_ONE),
        ("“班主，您都七十三了，”小豆子说。", SIXTY_ONE),
        ("“你才五十三岁，班主，”小豆子说。", SIXTY_ONE),
        ("小豆子对班主说：“你今年七十三了。”", SIXTY_ONE),
        ("\"You're only fifty-three, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("“You’re only fifty-three, Guv’nor,” said Alf.", SIXTY_ONE),
        ('"Guv\'nor, you\'re seventy-three," said Alf. "Sit down."', SIXTY_ONE),
        ('"You are seventy-three now, Guv\'nor, and no dancer," said Alf.', SIXTY_ONE),
        ("\"You're seventy-three,\" said Alf to the Guv'nor.", SIXTY_ONE),
        ("\"You're seventy-three,\" Alf told the Guv'nor.", SIXTY_ONE),
        ("Alf looked at the Guv'nor. \"You're only fifty-three, Father.\"", SIXTY_ONE),
        ('The Guv\'nor coughed. "I am done for."\n\n"You\'re only fifty-three, Father," said Alf.', SIXTY_ONE),
        ("\"But you're forty, Guv'nor!\" said Alf.", SIXTY_ONE),
        ("\"You'll be seventy-three in May, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("Thirty years ago the Guv'nor was only seventeen.", SIXTY_ONE),
        ("In 1921 the Guv'nor was thirteen.", BORN),
        ("The Guv'nor was thirteen in 1921.", BORN),
        ("光绪二十年，班主在上海唱戏。那一年他才三岁。", {"note": "秦班主是光绪八年生的。"}),
        ("民国二年，戏班到了汉口，那时班主刚满三十岁。", {"birth": "1904年"}),
        ("“二十年前班主还不满二十岁，”小豆子说。", SIXTY_ONE),
        ("班主望着台下。五十年前，他才二十五岁，也站在这里。", SIXTY_ONE),
        ("咸丰五年那一年，班主年方十八。", {"note": "咸丰五年，秦班主九岁。"}),
        ("“那是四十年前的事了。那年我才五岁，”班主说。", SIXTY_ONE),
        ("小豆子望着班主说：“你才七十岁。”", SIXTY_ONE),
        ("小豆子向班主鞠了一躬。“您都五十岁了，班主。”", SIXTY_ONE),
        ("“班主，你今年四十五了吧，”白玉霜说。", SIXTY_ONE),
        ("\"You're seventy, Guv'nor. Rest,\" said Maggie.", SIXTY_ONE),
        ("Maggie turned to the Guv'nor. \"You're barely fifty,\" she said.", SIXTY_ONE),
        ("\"Now, Guv'nor, you're forty-nine years old,\" said Maggie.", SIXTY_ONE),
        ('"Oh, Guv\'nor," Alf said. "You\'re only fifty, Guv\'nor."', SIXTY_ONE),
        ("Forty years ago the Guv'nor was nine years old.", SIXTY_ONE),
        ("In 1930 the Guv'nor was forty.", BORN),
    ],
)
def test_an_age_of_a_year_that_is_told_or_of_who_is_spoken_to_denies(draft: str, said: dict[str, str | int]) -> None:
    """那年 has the year told before it, "you" the one by whose name a speech calls."""
    assert past_denials(draft, **said)


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        ("班主进了戏班。那年他才十七。", SIXTY_ONE),
        ("那一年班主刚满九岁。", SIXTY_ONE),
        ("班主进戏班那年才十二岁。", SIXTY_ONE),
        ("那时班主才十七岁，还不会唱。", SIXTY_ONE),
        ("当年他才十七，班主想。班主当年才十七岁。", SIXTY_ONE),
        ("班主闭上眼。那年冬天他十七岁，雪下得很大。", SIXTY_ONE),
        ("四十四年前，班主进了戏班。那年他才十七。", SIXTY_ONE),
        ("四十多年前，班主进了戏班。那年他才十七。", SIXTY_ONE),
        ("四十年前，班主进了戏班。那年他才十九。", SIXTY_ONE),
        ("1921年，班主进了戏班。那年他才十七。", BORN),
        ("1921年，班主进了戏班。那年他十八岁。", BORN),
        ("景泰五年，班主进了戏班。那年他才九岁。", {"note": "秦班主生于永和三年。"}),
        ("1921年发大水。又过了几年，班主进了戏班，那年他才三十。", BORN),
        ("三十年前，班主的儿子才十七。", SIXTY_ONE),
        ("三十年前，班主的儿子进了戏班，那年他才九岁。", {}),
        ("“老朽今年七十三了，”班主说。", {"text": "班主进了戏班。那年他才十七。"}),
        ("“老朽今年七十三了，”班主说。", {"text": "1921年，班主进了戏班。那年他才十七。"}),
        ("1921年进班的班主今年六十一了。", SIXTY_ONE),
        ("班主三十年前进了戏班，如今六十一了。", SIXTY_ONE),
        ("多年前，班主进了戏班。那年他才十七。", SIXTY_ONE),
        ("三十年后，班主九十一岁。", SIXTY_ONE),
        ("民国十年，班主十七岁。", {"note": "秦班主生于光绪三十年。"}),
        ("班主今年二十八。", {"note": "秦班主生于1904年。", "now": "1932年春"}),
        ("1921年班主才五十岁。", {"age": 61, "now": "1932年春"}),
        ("1921年，小豆子进了戏班。那年他才九岁。", BORN),
        ("三十年前的事了。小豆子听人讲过，那年他爹才十七。", SIXTY_ONE),
        ("那年的班主才十七岁，小豆子还没出生。", SIXTY_ONE),
        ("“班主，您六十一了，”小豆子说。", SIXTY_ONE),
        ("“你都十三了，”班主说。", SIXTY_ONE),
        ("“要是你七十三了，班主，我就是皇帝，”小豆子说。", SIXTY_ONE),
        ("“班主，你娘七十三了，”小豆子说。", SIXTY_ONE),
        ("\"You're only sixty-one, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("\"You're only fifty-three, Alf,\" said the Guv'nor.", SIXTY_ONE),
        ("The Guv'nor sat down. \"You're only fifty-three, boy,\" he said.", SIXTY_ONE),
        ("\"You're fifty-three, and the Guv'nor knows it,\" said Alf to Maggie.", SIXTY_ONE),
        ('"You were fifty-three, Guv\'nor," said Alf.', SIXTY_ONE),
        ("\"If you're fifty-three, Guv'nor, I'm the King,\" said Alf.", SIXTY_ONE),
        ("\"Tell her you're fifty-three, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("\"You're fifty-three miles off, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("\"You're two steps behind, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("Maggie and Alf sat by the Guv'nor. \"You're forty,\" said Alf.", SIXTY_ONE),
        ("\"The Guv'nor, he's old, and you're forty,\" said Alf.", SIXTY_ONE),
        ("\"You're not fifty-three, Guv'nor,\" said Alf.", SIXTY_ONE),
        ('"Are you fifty-three, Guv\'nor?" said Alf.', SIXTY_ONE),
        ("You are forty, reader, and the Guv'nor is old.", SIXTY_ONE),
        ("\"You're older than fifty-three, Guv'nor,\" said Alf.", SIXTY_ONE),
        ("\"Alf, Maggie, you're twelve,\" said the Guv'nor.", SIXTY_ONE),
        ("Forty-four years ago the Guv'nor was only seventeen.", SIXTY_ONE),
        ("In 1921 the Guv'nor was seventeen.", SIXTY_ONE),
        ("In 1921 the Guv'nor was seventeen.", BORN),
        ("The Guv'nor was seventeen in 1921.", SIXTY_ONE),
        ('"Thirty years ago my son was seventeen," said the Guv\'nor.', SIXTY_ONE),
        ("光绪二十年，班主在上海唱戏。那一年他才十二岁。", {"note": "秦班主是光绪八年生的。"}),
        ("那时候班主才十八岁，刚进戏班。", SIXTY_ONE),
        ("“那年我才五岁，”班主说。", SIXTY_ONE),
        ("“当时我才十九，”班主说。“什么也不懂。”", SIXTY_ONE),
        ("那会儿班主三十出头，嗓子正好。", SIXTY_ONE),
        ("父亲走的那年，班主刚满九岁。", SIXTY_ONE),
        ("那一年班主十九岁，小豆子的娘还没嫁人。", BORN),
        ("班主记得1920年的那场雪，后来，那年他三十岁。", BORN),
        ("二十年前，班主才四十岁。", SIXTY_ONE),
        ("二十多年前班主才三十五六岁。", SIXTY_ONE),
        ("几十年前，班主刚满九岁就登台了。", SIXTY_ONE),
        ("班主说起三十年前的旧事，小豆子今年才十六。", SIXTY_ONE),
        ("小豆子对班主说：“我今年十三了。”", SIXTY_ONE),
        ("小豆子看着班主。“他说你才五十，”小豆子说。", SIXTY_ONE),
        ("“您六十多了，班主，”小豆子说。", SIXTY_ONE),
        ("\"You're past sixty, Guv'nor,\" said Maggie.", SIXTY_ONE),
        ("\"You're forty, Maggie,\" said Alf. The Guv'nor laughed.", SIXTY_ONE),
        ("The Guv'nor laughed. \"You're forty, my girl,\" said Maggie to Alf.", SIXTY_ONE),
        ("\"Ask the Guv'nor, you're twelve,\" said Maggie.", SIXTY_ONE),
        ("\"You're seven minutes late, Guv'nor,\" said Maggie.", SIXTY_ONE),
        ("\"You're the man of seventy, Guv'nor, in the play,\" said Maggie.", SIXTY_ONE),
        ("\"When you're seventy, Guv'nor, we shall see,\" said Maggie.", SIXTY_ONE),
        ("\"Say you're fifty, Guv'nor,\" said Maggie.", SIXTY_ONE),
        ("Twenty years ago the Guv'nor was forty.", SIXTY_ONE),
        ("In 1930 the Guv'nor was twenty-six.", BORN),
        ("The Guv'nor was twenty-five in 1930.", BORN),
    ],
)
def test_an_age_of_a_year_nobody_tells_or_that_agrees_denies_nothing(draft: str, said: dict[str, str | int]) -> None:
    """Without a year 那年 may be any; "you" may be anybody."""
    assert past_denials(draft, **said) == []


@pytest.mark.parametrize("name", ["颜若兰", "沈从文", "林如海", "程当归", "许等闲"])
@pytest.mark.parametrize(
    ("draft", "is_denied"),
    [("{0}二十九岁，还没有出嫁。", True), ("{0}十九岁，还没有出嫁。", False), ("倘若{0}二十九岁，就好了。", False)],
)
def test_a_word_within_a_name_changes_no_age(name: str, draft: str, is_denied: bool) -> None:
    """若 of 颜若兰 is no condition, 从 of 沈从文 no time."""
    text = f"进来的是他女儿{name}，十九岁，手里端着一碗银耳。"
    story = replace(told((entity("C0", name), entity("C1", "秦班主")), text=text), language="zh")
    assert bool(denials(draft.format(name), story)) == is_denied


AT_AN_AGE = """
The Guv'nor swung the axe at the door; at fifty-eight he was still the strongest man in the house.
The Guv'nor swung the axe; at forty-five he was the strongest man in the house.
At fifty-eight the Guv'nor was still the strongest man in the hall.
The Guv'nor came in. At forty, he was still quick.
The Guv'nor lifted the chest, and at forty he was still strong enough for it.
The Guv'nor was still dancing at seventy-three.
The Guv'nor laughed; he was still handsome at forty-five, and knew it.
"At seventy-three the Guv'nor is still on his feet," said Alf.
The Guv'nor bowed; at the age of fifty he was still no early riser.
Now, at forty-four, the Guv'nor began to tire.
班主推开门，五十八岁的他还是全班力气最大的。
班主推开门；他今年五十八，还唱得动。
班主推开门，五十八岁的他仍旧腰板笔直。
班主咳了一声。四十八岁的他还能翻跟头。
班主咳了一声，他今年四十八，还能翻跟头。
班主咳了一声，今年四十八的他还能翻跟头。
班主咳了一声，他如今五十岁了，还能翻跟头。
年已七十三的班主还在唱。
班主笑了，他也才四十出头。
班主叹了口气，七十三岁的人了，还要登台。
"""
AT_ANOTHER_TIME = """
At seventeen the Guv'nor went to sea.
The Guv'nor looked at Alf; at twenty he was still a boy.
Alf kissed the Guv'nor; at twenty he was still a boy.
Alf swept, and at twenty he was still a boy. The Guv'nor sat.
The Guv'nor had one son. At twenty he was still a boy.
The Guv'nor remembered the war; at seventeen he was a drummer boy.
The Guv'nor thought of Wapping, where at fifteen he was a potboy.
At fifteen he had left home, the Guv'nor said.
The Guv'nor came in. At eight he was still asleep.
The Guv'nor was still waiting at ten.
The Guv'nor was still waiting at twelve, and Alf slept.
The Guv'nor came in; at sixty-one he was still the strongest man in the house.
The Guv'nor was still dancing at sixty-one.
The Guv'nor came in; at fifty-eight Alf was still the strongest man in the house.
The Guv'nor, at nine, climbed the ladder.
The Guv'nor sold the barley at forty, and was glad.
The barley was still selling at forty, and the Guv'nor was glad.
The Guv'nor hoped that at seventy he would still be on his feet.
The Guv'nor said that at seventy he will still dance.
The Guv'nor looked at thirty, and went on.
The Guv'nor had been a wonder: at twenty he was the best dancer in London.
As the Guv'nor told it, at twenty he was still a clerk.
Once, at thirty, the Guv'nor was still a clerk.
Years ago the Guv'nor sang; at thirty he was still a clerk.
班主想起从前，十八岁的他还在跑龙套。
班主推开门，六十一岁的他还是全班力气最大的。
班主推开门；他今年六十一，还唱得动。
班主看着小豆子，十二岁的他还在练功。
那年班主刚进戏班，十八岁的他什么都不懂。
班主记得，十八岁的她第一次登台。
班主说，到了七十岁的他也要唱。
当年十八岁的他在班主门下学戏。
三十年前的班主，十九岁的他还没成名。
班主看见一个四十八岁的他乡客。
照片里，二十岁的他站在班主旁边。
"""


@pytest.mark.parametrize(("drafts", "is_denied"), [(AT_AN_AGE, True), (AT_ANOTHER_TIME, False)])
def test_at_an_age_somebody_still_is_something_whatever_newer_notes_say(drafts: str, *, is_denied: bool) -> None:
    """Six notes share words with the draft; what was once, an hour or a price is no age of now."""
    for draft in drafts.strip().splitlines():
        notes = {"en": "The Guv'nor keeps the strongest door number {}.", "zh": "班主守着第{}扇门。"}[
            story_language(draft)
        ]
        memories = tuple(
            memory(notes.format(number), "C0").model_copy(update={"content_type": "note"}) for number in range(1, 7)
        )
        matters = [matter for matter in denials(draft, story_of(draft, memories=memories)) if matter.entity_id == "C0"]
        firsts = [matter.sayings[0].text[-2:] for matter in matters]
        assert (draft, firsts) == (draft, ["61"] if is_denied else [])
