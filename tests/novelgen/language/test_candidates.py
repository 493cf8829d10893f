"""Names that a text offers by itself, in English and Chinese."""

import pytest

from novelgen.language.candidates import (
    NameCandidate,
    SceneText,
    better_display_name,
    candidate_of,
    find_name_candidates,
    without_known,
)
from tests.novelgen.language.modern_stories import CHINESE_PEOPLE, ENGLISH_PEOPLE, MODERN_CHINESE, MODERN_ENGLISH

HARBOUR: list[SceneText] = [
    (
        1,
        1,
        (
            "CHAPTER THE FIRST\n\nThe rain fell on Gull Harbour. Captain Ada Morris stood at the rail of the Petrel. "
            "“We sail at dawn,” said Ada Morris.\n\n“You said that yesterday, Captain Morris,” said Ben. "
            "Then Ben Tully laughed."
        ),
    ),
    (
        1,
        2,
        (
            "“Where is Ben?” asked Ada. Nobody in Gull Harbour had seen Mr. Tully, and the Petrel's lamp was out. "
            "“Ben was here on Monday,” said Miss Holt. Perhaps Miss Holt knew more."
        ),
    ),
    (2, 1, "Miss Holt went to Gull Harbour again in March. “Look, Ada,” said Miss Holt, “the Petrel!”"),
]

GUARD: list[SceneText] = [
    (
        1,
        1,
        (
            "李云舟进了青石镇，只见老周在客栈门口站着。李云舟笑道：“老周，好久不见。”老周道：“云舟，你可回来了。”"
            "那店小二忙问：“客官从哪里来？”李云舟说：“从黑风山来。”"
        ),
    ),
    (
        1,
        2,
        (
            "“黑风山上有什么？”周大海低声问道。李云舟摇头道：“只有一把寒铁剑。”周大海把寒铁剑接过来，对李云舟说道："
            "“这寒铁剑是我师父的。”周大海叹道：“师父死在黑风山。”"
        ),
    ),
    (2, 1, "次日，云舟离了青石镇，往黑风山去了。周大海问：“他到青石镇做什么？”老周道：“我不知道。”"),
]


def _named(candidates: list[NameCandidate], name: str) -> NameCandidate:
    found = candidate_of(candidates, name)
    assert found is not None, f"{name!r} is not among {[each.names() for each in candidates]!r}"
    return found


def _names(scenes: list[SceneText], *, min_count: int = 1) -> set[str]:
    return {name for each in find_name_candidates(scenes, min_count=min_count) for name in each.names()}


def test_names_come_with_variants_places_and_lines() -> None:
    """Titles, given name and surname are one candidate, who speaks is a character; in both languages."""
    found = find_name_candidates(HARBOUR)
    ada = _named(found, "Ada")
    assert set(ada.names()) == {"Captain Ada Morris", "Ada Morris", "Captain Morris", "Ada"}
    assert (ada.kind, ada.first, ada.last, ada.scenes, ada.count, ada.speaks) == ("character", "1:1", "2:1", 3, 5, 2)
    assert set(_named(found, "Ben").names()) == {"Ben Tully", "Ben", "Mr. Tully"}
    assert _named(found, "Gull Harbour").kind == "location"
    assert _named(found, "Miss Holt").speaks == 2
    found = find_name_candidates(GUARD, min_count=2)
    hero = _named(found, "李云舟")
    assert {"李云舟", "云舟"} <= set(hero.names())
    assert (hero.kind, hero.first, hero.last) == ("character", "1:1", "2:1")
    assert hero.speaks == 3
    assert _named(found, "周大海").kind == "character"
    assert {_named(found, "黑风山").kind, _named(found, "青石镇").kind} == {"location"}
    assert _named(found, "寒铁剑").kind == "item"


def test_what_is_capitalised_for_other_reasons_is_no_name() -> None:
    """Headings, days, months, the first words of sentences and cries in capitals are not offered."""
    scenes: list[SceneText] = [
        (
            1,
            1,
            (
                "THE STORM BREAKS\n\nHowever hard it rained, Monday came. Nothing moved. Perhaps in April it would. "
                "“STOP!” he cried. “Oh, God! Yes, Sir, NO!” I ran, and I'm not sorry. English tea was served."
            ),
        )
    ]
    assert _names(scenes) == set()


@pytest.mark.parametrize(
    "text", ["", "   \n\n", "12345 … !!", "it rained all night, and nobody came.", "下雨了。没有人来。"]
)
def test_a_text_without_names_offers_none(text: str) -> None:
    """Nothing is made up of punctuation, digits, small letters or plain words."""
    assert find_name_candidates([(1, 1, text)], min_count=1) == []


def test_words_at_the_head_of_a_sentence_are_no_names() -> None:
    """Not in dialect, not what mostly stands small, nor a rare one before a known name."""
    text = "“'Tis nowt,” said Joseph. “Ye'll not, ye won't. Aw'm tired.” Then Joseph sat. “T' maister's in t' fowld.”"
    assert _names([(1, 1, text)]) == {"Joseph"}
    text = "Water ran. The water rose. Cold water! Rose ran to the gate, and Rose wept. A gate, then Rose."
    assert _names([(1, 1, text)]) == {"Rose"}
    names = _names([(1, 1, "We saw Ada. " * 5 + "Hitherto Ada had waited. Tom knew Ben Holt.")])
    assert "Ada" in names
    assert "Hitherto Ada" not in names


def test_a_title_that_ends_a_sentence_begins_no_name() -> None:
    """A short one has a full stop of its own."""
    said = "“Tell me, Captain. Where's Wren?” asked Dr. Morris. Then she saw Wren, and Wren saw Dr. Morris, Captain. "
    names = [name for each in find_name_candidates([(1, 1, said * 3)]) for name in each.names()]
    assert {"Wren", "Dr. Morris"} <= set(names)
    assert not any("Captain." in name for name in names)


def test_a_person_is_listed_by_the_name_that_the_text_calls_them() -> None:
    """A title makes no name fuller: who is mostly called Lena is not listed as Mrs. Roe."""
    married = "Mrs. Lena Roe came in. “Sit down,” said Mrs. Roe. We saw Mrs. Roe. "
    found = _named(find_name_candidates([(1, 1, married + "We told Lena, and Lena laughed. " * 8)]), "Lena")
    assert "Mrs. Roe" in found.names()
    assert found.name == "Lena"


def test_men_and_women_of_one_surname_stay_apart() -> None:
    """Mr. and Mrs. of one name are two; a bare surname that both may bear means neither."""
    text = (
        "Mr. Grey came in. Then Mrs. Grey came in. “Sit,” said Mrs. Grey to Mr. Grey. "
        "He gave Mr. Grey a chair, and Mrs. Grey a cup. All called him Grey."
    )
    found = find_name_candidates([(1, 1, text)], min_count=1)
    assert sorted(map(sorted, (each.names() for each in found))) == [["Grey"], ["Mr. Grey"], ["Mrs. Grey"]]
    text = "Mr. Grey met Mrs. Grey. Then Mrs. Grey left Mr. Grey, and Mr. Grey wept. Mrs. Grey did not."
    found = find_name_candidates([(1, 1, text)], min_count=1)
    assert candidate_of(found, "Grey") is None
    assert _named(found, "mrs grey").name == "Mrs. Grey"


def test_names_in_other_writing_are_found_in_chinese_text() -> None:
    """With a dot, too, and a name that stands in scenes of both languages is counted in both."""
    text = "陈默对Alice说：“玛丽·格雷在等你。”Alice问道：“玛丽·格雷是谁？”陈默笑道：“你见过她吗？”"
    assert {"陈默", "Alice", "玛丽·格雷"} <= _names([(1, 1, text)])
    found = find_name_candidates(
        [(1, 1, "“Go,” said Alice. Then Alice went, and Bob with Alice."), (2, 1, "陈默问Alice：“去吗？”Alice说好。")],
        min_count=1,
    )
    alice = _named(found, "Alice")
    assert (alice.count, alice.scenes, alice.first, alice.last) == (5, 2, "1:1", "2:1")


def test_names_count_only_in_the_scenes_that_are_given() -> None:
    """In whatever order; whoever is first named later is not told of the scenes before; no scene offers none."""
    assert "Miss Holt" not in _names(HARBOUR[:1])
    assert _named(find_name_candidates(HARBOUR[:2], min_count=1), "Miss Holt").first == "1:2"
    assert find_name_candidates(HARBOUR[::-1]) == find_name_candidates(HARBOUR)
    assert find_name_candidates(GUARD[::-1]) == find_name_candidates(GUARD)
    assert find_name_candidates([]) == []


def test_known_joined_and_rare_names_are_told_apart() -> None:
    """The least count holds for all variants, known ones are not offered, joined ones have names and places of both."""
    assert "Mr. Tully" in _names(HARBOUR, min_count=4)
    assert "Mr. Tully" not in _names(HARBOUR, min_count=6)
    found = find_name_candidates(HARBOUR)
    rest = without_known(found, ["ada morris", "GULL HARBOUR"])
    assert candidate_of(rest, "Ada") is None
    assert candidate_of(rest, "Gull Harbour") is None
    assert candidate_of(rest, "Ben") is not None
    assert candidate_of(without_known(found, ["the Gull Harbour"]), "Gull Harbour") is None
    found = find_name_candidates(HARBOUR)
    one = _named(without_known(found, [], joined_names=[("Ben", "Miss Holt"), ("Ben", "Nobody")]), "Miss Holt")
    assert {"Ben Tully", "Miss Holt"} <= set(one.names())
    assert (one.first, one.last) == ("1:1", "2:1")
    assert one.count == _named(found, "Ben").count + _named(found, "Miss Holt").count


@pytest.mark.parametrize(("kept_kind", "other_kind"), [("unknown", "character"), ("character", "unknown")])
def test_joined_candidates_keep_the_kind_that_the_text_tells(kept_kind: str, other_kind: str) -> None:
    """A full name that stands once takes the kind of the short name that is joined to it."""
    kinds = {"Ben Tully": kept_kind, "Miss Holt": other_kind}
    found = [one.model_copy(update={"kind": kinds.get(one.name, one.kind)}) for one in find_name_candidates(HARBOUR)]
    assert _named(without_known(found, [], joined_names=[("Ben", "Miss Holt")]), "Miss Holt").kind == "character"


def _groups(text: str) -> list[set[str]]:
    return [set(each.names()) for each in find_name_candidates([(1, 1, text)], min_count=1)]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        pytest.param(
            "Jane Grey sang, and Jane Grey sat. Anne Grey read, and Anne Grey rose. “Well, Miss Anne,” said Miss Grey. "
            "Miss Grey took her shawl.\n\nMrs. John Grey saw Mr. John Grey. John Grey bowed to Mrs. John Grey, and "
            "Mrs. John Grey was glad of John Grey.\n\n",
            [
                {"Jane Grey", "Miss Grey"},
                {"Anne Grey", "Miss Anne"},
                {"John Grey", "Mr. John Grey"},
                {"Mrs. John Grey"},
            ],
            id="Miss Grey is who is not called Miss Anne; Mrs. John Grey is not John Grey",
        ),
        pytest.param(
            "Mr. Holt came. Mrs. Holt came. “Sit,” said Mrs. Holt to Mr. Holt. “Look,” said Holt, and he sat down. "
            "Then Holt took his hat. Nobody saw Holt till he was out of the gate. Where was Mrs. Holt?",
            [{"Mr. Holt", "Holt"}, {"Mrs. Holt"}],
            id="a surname that a man and his wife share is his where the text goes on with him",
        ),
        pytest.param(
            "Elizabeth Grey rose, and Elizabeth sang. “Lizzy,” he said, “dear Lizzy!” She was Lizzy to all the Greys, "
            "and the Greys were kind.\n\nSir Thomas came with Tom. “Tom,” said Sir Thomas. Then Tom left Sir Thomas.",
            [{"Elizabeth Grey", "Elizabeth", "Lizzy"}, {"Sir Thomas"}, {"Tom"}],
            id="Lizzy is Elizabeth where nobody else may be meant; Tom is not Sir Thomas, the Greys are no person",
        ),
        pytest.param(
            "We met James Vane. We told James, and James laughed. " * 8
            + "We saw St. James, and St. James was cold. " * 2,
            [{"James Vane", "James"}, {"St. James"}],
            id="a rank before a given name is no title of who bears that name",
        ),
    ],
)
def test_who_is_who_in_a_family(text: str, groups: list[set[str]]) -> None:
    """Names of one are together, and nobody is taken for a sister, a wife or a saint."""
    assert sorted(map(sorted, _groups(text))) == sorted(map(sorted, groups))


@pytest.mark.parametrize(
    "text",
    [
        "此人姓韩，名岳，字伯远。韩岳曰：“何事？”伯远笑道：“无事。”众人拜韩伯远。伯远曰：“坐。”韩岳问曰：“谁？”",
        "此人姓韓，名岳，字伯遠。韓岳曰：「何事？」伯遠笑道：「無事。」眾人拜韓伯遠。伯遠曰：「坐。」韓岳問曰：「誰？」",
    ],
)
def test_a_courtesy_name_is_his_of_whom_the_text_says_so(text: str) -> None:
    """姓…名…字… makes one of three names, in simplified and in traditional characters; 众人 is nobody."""
    found = find_name_candidates([(1, 1, text)], min_count=1)
    names = {"韩岳", "伯远", "韩伯远"} if "韩" in text else {"韓岳", "伯遠", "韓伯遠"}
    assert names in [set(each.names()) for each in found]
    assert not any(name in each.names() for each in found for name in ("众人", "眾人"))


def test_a_name_ends_before_its_verb_and_begins_after_one() -> None:
    """Words of every story and manners are no names; of a countryman the one who is called so is somebody else."""
    text = (
        "韩岳回府。韩岳道：“来人。”韩岳命左右退下。众人谢韩岳，一人大惊，忙问韩岳。韩岳一面寻思，一面道：“明白。”"
        "左右道：“是。”半日，韩岳回道：“去罢。”众人又谢韩岳。一人道：“好。”大惊道：“不好。”忙问道：“如何？”"
    )
    assert {frozenset(each) for each in _groups(text * 3)} == {frozenset({"韩岳"})}
    text = (
        "韩岳道：“开门。”韩岳又道：“来。”韩岳大怒，喝退左右。韩岳上马。韩岳出门。韩岳下马。韩岳入内。韩岳笑道：“请。”当日，闻韩岳至，众人出迎。"
        "众人说：闻韩岳去，皆散。闻韩岳曰：“走。”有一僧，却是韩岳同乡：法名普净。普净道：“贫僧有礼。”普净笑道：“请。”"
    )
    assert {frozenset(each) for each in _groups(text * 3)} == {frozenset({"韩岳"}), frozenset({"普净"})}


def test_what_is_only_likely_is_asked() -> None:
    """A surname with a title, or a short form that several may bear, stays apart and names whom it may be."""
    chinese = "韩岳道：“走。”韩将军笑道：“好。”韩岳道：“快走。”韩岳问：“谁？”韩将军道：“我。”韩岳叹道：“罢了。”" * 2
    found = find_name_candidates([(1, 1, chinese)], min_count=1)
    assert _named(found, "韩将军").same_as == "韩岳"
    assert not _named(found, "韩岳").same_as
    english = (
        "Lord Henry rose. Harry rose. “Harry,” said Lord Henry. Lord Henry left Harry. Lord Henry was gone, and Harry."
    )
    assert _named(find_name_candidates([(1, 1, english)], min_count=1), "Harry").same_as == "Lord Henry"


def test_who_never_speaks_but_begins_clauses_is_offered() -> None:
    """A short story's silent hero is named as often as who speaks in it."""
    told = (
        "林凡摸了摸怀里的戒指。“等我回来。”林凡对林雪儿说。林雪儿点头，林凡转身离去。林凡走了很远。"
        "林啸天冷笑一声，林凡握紧拳头。林雪儿站在门口。林啸天道：“你走不了。”"
    )
    assert [each.name for each in find_name_candidates([(1, 1, told)])] == ["林凡", "林雪儿", "林啸天"]


def test_names_of_modern_prose_need_no_verbs_of_speech() -> None:
    """Who begins clauses with a surname and two characters is named, 之 and 无 among them, and so is 阿 with one."""
    told = (
        "沈大头扛着锄头站在雨里，沈大头打了个喷嚏。那是沈大头捡来的狗，沈大头蹲下了。陆无咎收了伞。陆无咎抖落雨水，陆无咎推门进来。"
        "顾衡之道：“进来。”顾衡之放下茶盏。顾衡之便点起灯来。阿蛮问：“谁？”阿蛮在门口，阿蛮便笑了。"
    )
    assert {each.name for each in find_name_candidates([(1, 1, told)])} == {"沈大头", "陆无咎", "顾衡之", "阿蛮"}


def test_rare_names_are_offered_where_few_are_named_often() -> None:
    """A first chapter names hardly anybody three times; a long list leaves out who is named once."""
    assert _named(find_name_candidates(HARBOUR[:1]), "Ben Tully").count == 2
    many = [(1, number, f"Then {name} came to {name}, and {name} sat.") for number, name in enumerate(_MANY, start=1)]
    found = find_name_candidates([*many, (2, 1, "It was Zadok who spoke.")])
    assert len(found) == len(_MANY)
    assert candidate_of(found, "Zadok") is None


_MANY = [f"B{vowel}{middle}{end}" for vowel in "aeiou" for middle in "ldrt" for end in ("on", "is", "em", "uk")]


CHINESE = ["山脚下有人叫喊。", "行者道：师父。", "行者笑了，老孙也笑。", "行者与长老同行。", "长老道。", "长老问。"]
ENGLISH = [
    "A voice cried under the hill.",
    "Tom Hale rose.",
    "Old Tom Hale, called Hale, spoke.",
    "Tom Hale left. The fellow laughed.",
    "The fellow laughed.",
    "The fellow wept.",
]


@pytest.mark.parametrize(
    ("name", "others", "texts", "better"),
    [
        ("山脚下叫喊的人", ["老孙", "行者", "长老"], CHINESE, "行者"),
        ("the voice under the hill", ["the fellow", "Tom Hale"], ENGLISH, "Tom Hale"),
        ("the voice under the hill", ["Hale of the mill", "the fellow"], ENGLISH, None),
        ("Mr. Thomas Tom Hale", ["Tom Hale", "Hale"], ENGLISH, None),
        ("Tom Hale", ["Hale"], ENGLISH, None),
        ("the voice under the hill", [], ENGLISH, None),
        ("the voice under the hill", ["Tom Hale"], [], None),
    ],
)
def test_a_makeshift_name_gives_way(name: str, others: list[str], texts: list[str], better: str | None) -> None:
    """The name of most scenes is taken, never a description, a part of a fuller name, or one of few scenes."""
    assert better_display_name(name, others, texts) == better


def test_a_name_that_others_bear_is_not_taken() -> None:
    """What two bear would make them alike in every list."""
    assert better_display_name("山脚下叫喊的人", ["行者", "老孙"], CHINESE, taken_names={"行者"}) is None


@pytest.mark.parametrize(
    ("texts", "people"), [(MODERN_CHINESE, CHINESE_PEOPLE), (MODERN_ENGLISH, ENGLISH_PEOPLE)], ids=["zh", "en"]
)
def test_everybody_of_a_modern_story_is_offered(texts: list[str], people: set[str]) -> None:
    """Nobody is left out for a surname that is a word, too, or for being dead; who is no person is no character."""
    found = find_name_candidates([(number, 1, text) for number, text in enumerate(texts, start=1)])
    assert people <= {name for each in found for name in each.names()}
    characters = {each.name for each in found if each.kind == "character" and each.count >= 3}
    assert all(set(each.names()) & people for each in found if each.name in characters)


@pytest.mark.parametrize(
    "opening", ["何必", "何况", "曾经", "向来", "左手", "莫非", "那男人", "那孩子", "向窗外", "何故"]
)
def test_a_word_that_begins_like_a_name_is_none(opening: str) -> None:
    """However many clauses it begins: 何必, 向窗外 and 那男人 name nobody."""
    ends = ["说过这样的话", "走到这一步", "还要再等一年", "抬头看了看天", "笑起来像个孩子", "把门关上了"]
    text = "。".join(f"{opening}{end}" for end in ends) + "。李明说：“走吧。”李明笑了。李明走了。"
    assert not [
        name for each in find_name_candidates([(1, 1, text)]) for name in each.names() if name[0] in "何曾向左莫那"
    ]


FIRST_CHAPTER = (
    "渡轮靠上码头的时候，何小满先看见的是灯塔。“小满！”一个高大的胖子在岸上挥手，“不认得我啦？郑大海，跟你抢过糖的。”"
    "“胖子？”她笑了。郑大海拍拍船舷。“三爷请我来补族谱。”她要查清楚父亲何书远是怎么不见的。胖子没有接话。小满上了坡。"
    "老板娘沈若兰人人喊她兰姐。她是三爷的独生女儿。“窗子向北。”兰姐把钥匙放在柜台上，“二〇四住着一位周先生，怕吵。”"
    "“周先生是什么人？”"
)


def test_a_first_chapter_offers_whom_it_names_once() -> None:
    """By the form of a name: a surname with a given name or a title, a rank in the family, a by-name. A scene that is
    no story offers fewer, and a long story asks for more than the form.
    """
    candidates = find_name_candidates([(1, 1, FIRST_CHAPTER)], is_story=True)
    people = {"何小满", "小满", "胖子", "郑大海", "三爷", "何书远", "沈若兰", "兰姐", "周先生"}
    assert {name for candidate in candidates for name in candidate.names()} == people
    assert {candidate.kind for candidate in candidates} == {"character"}
    long = [(1, 1, FIRST_CHAPTER), *((chapter, 1, "雨下了一夜。" * 1000) for chapter in range(2, 6))]
    rare = {"何书远", "沈若兰"}
    for scenes, is_story in (([(1, 1, FIRST_CHAPTER)], False), (long, True)):
        offered = find_name_candidates(scenes, is_story=is_story)
        assert rare.isdisjoint(candidate.name for candidate in offered)


@pytest.mark.parametrize(
    ("text", "names", "kinds"),
    [
        ("It was signed H. Quayle, Chair, Amenities, and Wren read it.", {"H. Quayle", "Wren"}, {}),
        ("On the Wednesday Sergeant Beck came. We saw Beck.", {"Sergeant Beck", "Beck"}, {"Beck": "character"}),
        ("He took the March Hare by the ear, and the March Hare ran.", {"March Hare"}, {}),
        ("On Friday Wren left. We saw Wren, on the fifth, in Friday Street.", {"Wren", "Friday Street"}, {}),
        ("We met on the Fourteenth of October, and on Easter Monday we saw Wren.", {"Wren"}, {}),
        ("She was married to Bert Tully in six weeks.", {"Bert Tully"}, {"Bert Tully": "character"}),
        ("The doctor at St Brannoc's saw Wren.", {"St Brannoc", "Wren"}, {"St Brannoc": "location"}),
        ("She hung the St Christopher on Wren, and St John said it.", {"St Christopher", "Wren", "St John"}, {}),
        ("He knew Dinah'll come, and saw Dinah.", {"Dinah"}, {"Dinah": "character"}),
    ],
)
def test_days_offices_and_saints_are_told_from_people(text: str, names: set[str], kinds: dict[str, str]) -> None:
    """Days, dates and offices are nobody; a given name and a surname are no place, and a saint's house is one."""
    candidates = find_name_candidates([(1, 1, text)], min_count=1)
    assert {name for candidate in candidates for name in candidate.names()} == names
    assert {name: _named(candidates, name).kind for name in kinds} == kinds
    assert {candidate.kind for candidate in candidates if candidate.name == "St Christopher"} <= {"term"}


def test_who_stands_at_the_head_of_sentences_alone_is_somebody() -> None:
    """By a given name, or where two sentences begin so, before a name that is known; what stands there once is not."""
    known = "We saw Wren Tully. We saw Del Tully. We saw Mack Tully. "
    assert "Ivy Tully" in _names([(1, 1, known + "Ivy Tully saw it.")])
    assert "Joost Tully" not in _names([(1, 1, known + "Joost Tully saw it.")])
    assert "Joost Tully" in _names([(1, 1, known + "Joost Tully saw it. Joost Tully wept.")])


@pytest.mark.parametrize(
    ("text", "card", "fuller"),
    [
        ("We saw Gus. “Sit,” said Gus to me. “Gus Pellow!” said Ada to Gus.", ["Gus", "Augustin"], "Gus Pellow"),
        (FIRST_CHAPTER, ["小满"], "何小满"),
    ],
)
def test_a_fuller_name_of_a_card_is_asked(text: str, card: list[str], fuller: str) -> None:
    """A card with the short name alone does not hide the full one; with both, or the full one, nothing is asked."""
    found = find_name_candidates([(1, 1, text)], is_story=True)
    asked = _named(without_known(found, card), fuller)
    assert (asked.names(), asked.same_as, asked.count) == ([fuller], card[0], 1)
    for known in ([*card, fuller], [fuller]):
        assert candidate_of(without_known(found, known), fuller) is None
        assert candidate_of(without_known(found, known), card[0]) is None


def test_words_of_time_and_degree_are_no_names_in_chinese() -> None:
    """天黑 is no place, 越聚越多 nobody, and 安家费 is money; who stands beside them is found."""
    text = (
        "从早上干到天黑。人越聚越多，没有人说话。还有一笔“安家费”，何家没有领过安家费。"
        "林晚走了。“走吧。”林晚说。天黑，林晚点灯。"
    )
    assert {candidate.name for candidate in find_name_candidates([(1, 1, text)], is_story=True)} == {"林晚"}


FIRST_OF_A_SECT = (
    "“罗七没来？”门外有人喊。罗七正把水桶靠墙放下，没有答话。管事曹禄靠在门框上，账房替曹禄记了一笔。"
    "这是沈万霖的房子。他见过沈万霖，也见过白无咎。白无咎的刀挂在墙上。他知道白无咎不在山中。"
    "“你的姑姑是谁？”“她叫柳四娘，早就走了。”到重阳还有三天，重阳之前他要下山。"
    "“谁偷了罗盘？”堂主贺远山问。没有人笑。贺远山闭上眼睛。桌上只有一只罗盘。"
    "守门的聋了多年，大家叫他聋伯。聋伯从不抬头。大家都叫他别去。"
)


def test_a_first_chapter_offers_whom_it_names_in_several_ways() -> None:
    """A surname with one character, with a word or in a saying's form stands twice, in different ways; a verb behind
    a name is no part of it, nor is a rank before it; a feast is a time, and what the dictionary knows is a thing.
    """
    candidates = find_name_candidates([(1, 1, FIRST_OF_A_SECT)], is_story=True)
    people = {"罗七", "曹禄", "沈万霖", "白无咎", "柳四娘", "贺远山", "聋伯"}
    assert {name for candidate in candidates for name in candidate.names()} == people
    assert {candidate.kind for candidate in candidates} == {"character"}


def test_a_known_name_with_a_verb_behind_it_is_no_candidate() -> None:
    """桂婶用 of 桂婶; a longer name that begins alike is one."""
    [some, *_] = find_name_candidates([(1, number, "沈伯年说：“好。”沈伯年走了。") for number in range(1, 4)])
    candidates = [some.model_copy(update={"name": name, "variants": []}) for name in ("桂婶用", "沈伯年")]
    assert [one.name for one in without_known(candidates, ["桂婶", "沈伯"])] == ["沈伯年"]
    assert len(without_known(candidates, [])) == 2


@pytest.mark.parametrize(
    ("text", "name", "is_offered"),
    [
        ('"Shut the door," Augustin said. "It is late."', "Augustin", True),
        ("“Matthew's the elder,” she said.\n\n“Matthew minds everything.”", "Matthew", True),
        ("走廊很白。许眠医生摘下口罩。", "许眠", True),
        ("“云港，你认识罗芸老师吗？”沈砚秋随口问。", "罗芸", True),
        ("“云港，你认识罗芸老师吗？”沈砚秋随口问。", "沈砚秋随口", False),
        ("钱太太堵在楼梯口。楼梯口没有人。", "楼梯口", False),
        ("碗里盛着白米饭，白米饭凉了。", "白米饭", False),
    ],
)
def test_names_of_a_first_chapter(text: str, name: str, is_offered: bool) -> None:
    """Who is named once is offered, what is no name is not."""
    offered = [one for candidate in find_name_candidates([(1, 1, text)], is_story=True) for one in candidate.names()]
    assert (name in offered) is is_offered


def test_who_is_looked_at_is_no_place() -> None:
    """“At” behind a look or a smile speaks of nobody's being a place."""
    (vash,) = find_name_candidates([(1, 1, "He looked at Isaura Vash, and she laughed.")], is_story=True)
    assert (vash.name, vash.kind == "location") == ("Isaura Vash", False)


def test_even_somebody_is_no_surname() -> None:
    """连 before a name with 也 or 都 is a word; the surname stays a name where it bears one."""
    text = (
        "楼下铃响，小满噔噔噔跑上来。\n\n铜钥匙日夜挂在老板腰间，连小满也不许碰。\n\n“周先生要不要拍张照？”小满说。\n\n"
        "小满低下头。"
    )
    assert [one.name for one in find_name_candidates([(1, 1, text)]) if "小满" in one.name] == ["小满"]
    surname = "连小满推门进来。“周先生早。”连小满说。\n\n连小满低下头。小满的手在抖，小满不说话，小满走了，小满回来了。"
    assert "连小满" in [one.name for one in find_name_candidates([(1, 1, surname)])]
