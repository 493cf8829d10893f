"""What a draft touches is listed with what the story says of it; nobody is accused."""

from dataclasses import replace

import pytest

from novelgen.checking.evidence import gather_evidence
from novelgen.checking.person_traits import disability_sayings
from novelgen.checking.shared_words import nouns_of
from novelgen.checking.story import StoryBefore, read_draft
from novelgen.checking.touched import find_touched
from novelgen.language.language import story_language
from novelgen.models.continuity import TouchedMatter
from novelgen.models.entity import DATED, Entity, EntityType
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.state import GUESSED, PRESENCE_ATTRIBUTE, OpenLoop, StateChange
from tests.novelgen.checking.small_story import AS_OF, CHINESE, ENGLISH, entity, memory, state, told


def touched(draft: str, story: StoryBefore) -> list[TouchedMatter]:
    """Return what a draft touches, with the evidence that is gathered for it."""
    read = read_draft(draft, story)
    return find_touched(read, story, gather_evidence(read, story))


def sayings_of(name: str, matters: list[TouchedMatter]) -> list[str]:
    """Return what the story says of one matter."""
    [matter] = [each for each in matters if each.name == name]
    return [each.text for each in matter.sayings]


KNIFE = (*CHINESE[:4], entity("I0", "鹿角柄折刀"), entity("I1", "血字纸条"))
HORN = (*ENGLISH[:4], entity("I0", "the stag-horn knife"), entity("I1", "the Harrow ledger"))


@pytest.mark.parametrize(
    ("draft", "name"),
    [
        ("陆青崖把刀攥在手里。", "鹿角柄折刀"),
        ("陆青崖把鹿角柄折刀攥在手里。", "鹿角柄折刀"),
        ("他把那把旧刀揣进怀里。", "鹿角柄折刀"),
        ("他摸出折刀。", "鹿角柄折刀"),
        ("他掏出那張血字紙條。", "血字纸条"),
        ("那张纸条在陆青崖手里。", "血字纸条"),
        ("Anselm drew that knife from his coat.", "the stag-horn knife"),
        ("He laid down the old ledger.", "the Harrow ledger"),
    ],
)
def test_a_thing_is_known_by_its_everyday_names(draft: str, name: str) -> None:
    """把刀, 那把刀 and "the ledger" mean the thing whose holder the story told; the sentence is quoted."""
    language = story_language(draft)
    story = told(
        KNIFE if language == "zh" else HORN, changes=[state("I0", "holder", "C1"), state("I1", "holder", "C1")]
    )
    [matter] = touched(draft, replace(story, language=language))
    assert (matter.kind, matter.name, matter.draft_quote) == ("thing", name, draft)
    assert matter.sayings[0].text.endswith("苏晚棠" if language == "zh" else "Ottoline Fenn")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("attribute", ["location_id", "place"])
@pytest.mark.parametrize(
    ("place", "since", "is_told"),
    [(None, 2, False), (None, 3, False), (None, None, False), ("X", 2, False), ("X", None, False), ("X", 4, True)],
)
def test_whoever_has_a_thing_ends_its_older_place(
    language: str, attribute: str, place: str | None, since: int | None, is_told: bool
) -> None:
    """Also a loss; a newer place stands beside the holder, and a loss alone stands."""
    entities, draft = (CHINESE, "陆青崖打开罗盘。") if language == "zh" else (ENGLISH, "Rook opened the astrolabe.")
    held = state("I0", "holder", "C0", chapter=3)
    placed = held.model_copy(update={"attribute": attribute, "value": place, "chapter_index": since})
    placed = placed.model_copy(update={"scene_index": None}) if since is None else placed
    [thing] = [one for one in touched(draft, told(entities, changes=[placed, held])) if one.kind == "thing"]
    told_slots = {saying.source_id for saying in thing.sayings}
    assert told_slots == {"I0.holder", *([f"I0.{attribute}"] if is_told else [])}
    if place is None:
        lost = held.model_copy(update={"value": None, "chapter_index": 4})
        [thing] = [one for one in touched(draft, told(entities, changes=[placed, held, lost])) if one.kind == "thing"]
        assert [saying.source_id for saying in thing.sayings] == [f"I0.{attribute}"]


@pytest.mark.parametrize("draft", ["刀光一闪。", "He bought a ledger.", "他刀功了得。"])
def test_a_bare_word_means_no_known_thing(draft: str) -> None:
    """Without what points to it, a word for a kind of thing may be any."""
    language = story_language(draft)
    story = told(
        KNIFE if language == "zh" else HORN, changes=[state("I0", "holder", "C1"), state("I1", "holder", "C1")]
    )
    assert touched(draft, replace(story, language=language)) == []


@pytest.mark.parametrize("plan", [None, ScenePlan(purpose="韩铁山已死，众人安葬他。", characters=["韩铁山"])])
def test_a_death_comes_first_whatever_the_plan_names(plan: ScenePlan | None) -> None:
    """The plan of the scene silences nothing; people come before things, and the dead before the living."""
    story = told(CHINESE, changes=[state("C2", "status", "死亡"), state("I0", "holder", "C1")], plan=plan)
    matters = touched("陆青崖把罗盘递给韩铁山，韩铁山接过来笑了笑。", story)
    assert (matters[0].name, matters[0].sayings[0].text) == ("韩铁山", "韩铁山：状况：死亡")
    kinds = [each.kind for each in matters]
    assert kinds.index("thing") > kinds.index("person")


def test_a_memory_that_tells_a_death_and_a_note_come_first() -> None:
    """Where no state says it, the memory of the death does; a note of the author's stands before other memories."""
    death = memory("韩铁山被顾捕头杀死。", "C2", "C3", event_type="death")
    note = memory("韩铁山不会水。", "C2").model_copy(update={"content_type": "note", "source_id": "N0"})
    walk = memory("韩铁山去了码头。", "C2").model_copy(update={"source_id": "M9"})
    matters = touched("韩铁山走了进来。", told(CHINESE, memories=[walk, death, note]))
    assert sayings_of("韩铁山", matters)[:2] == ["韩铁山被顾捕头杀死。", "韩铁山不会水。"]


def test_a_note_of_a_thing_without_a_card_is_listed() -> None:
    """What the author said of the knife stands beside the sentence in which the draft has it."""
    note = memory("刀在顾捕头手里。", "C3").model_copy(update={"content_type": "note", "source_id": "N0"})
    matters = touched("陆青崖把刀攥在手里。", told(CHINESE, memories=[note]))
    assert "刀在顾捕头手里。" in [saying.text for each in matters for saying in each.sayings]


ORDINARY_TEXT = {
    "zh": "陈默答应替赵凯想办法。赵凯欠了韩三整整八千块钱。何小满递给他一张带血的纸条。赵凯的左腿被打断。",
    "en": "Annie put the compass in the drawer. It was the Petrel, and the oars were gone. Hale dug up the lantern.",
}


@pytest.mark.parametrize(
    ("draft", "kind", "name", "sentence"),
    [
        ("周放掏出那张纸条。", "thing", "纸条", "何小满递给他一张带血的纸条。"),
        ("何小满在门口等他，问起纸条。", "person", "何小满", "何小满递给他一张带血的纸条。"),
        ("The oars lay in the boat.", "thing", "oars", "It was the Petrel, and the oars were gone."),
        ("He lit his lantern.", "thing", "lantern", "Hale dug up the lantern."),
    ],
)
def test_what_no_card_explains_is_quoted_from_the_text(draft: str, kind: str, name: str, sentence: str) -> None:
    """In an unread story without cards the sentences that share a rare noun stand beside the draft's."""
    language = story_language(draft)
    story = told(CHINESE if language == "zh" else ENGLISH, text=ORDINARY_TEXT[language])
    [matter] = [each for each in touched(draft, replace(story, language=language)) if each.name == name]
    assert (matter.kind, matter.draft_quote) == (kind, draft)
    assert [(each.source, each.text, each.quote) for each in matter.sayings] == [("passage", sentence, sentence)]


@pytest.mark.parametrize("draft", ["他的左腿站得笔直。", "He saw a compass."])
def test_a_part_of_the_body_or_a_bare_noun_explains_nothing(draft: str) -> None:
    """Everybody has a leg, and a compass may be any."""
    language = story_language(draft)
    story = told(CHINESE if language == "zh" else ENGLISH, text=ORDINARY_TEXT[language])
    assert [each for each in touched(draft, replace(story, language=language)) if each.kind == "thing"] == []


@pytest.mark.parametrize(("draft", "name"), [("“铁山，你来了。”", "铁山"), ("Ottoline sat down.", "Ottoline")])
def test_a_given_name_is_that_of_the_only_bearer(draft: str, name: str) -> None:
    """A card of a full name without an alias is found by the name that people call each other."""
    language = story_language(draft)
    people = (
        (entity("C0", "陆青崖"), entity("C2", "韩铁山"))
        if language == "zh"
        else (entity("C0", "Anselm Rook"), entity("C2", "Ottoline Fenn"))
    )
    story = told(people, changes=[state("C2", "status", "dead")], on_stage=())
    [matter] = touched(draft, replace(story, language=language))
    assert (matter.kind, matter.entity_id) == ("person", "C2")
    others = (*people, entity("C3", "李铁山" if language == "zh" else "Ottoline Gray"))
    story = told(others, changes=[state("C2", "status", "dead")], on_stage=())
    assert touched(draft, replace(story, language=language)) == []


def test_a_sum_as_people_say_it_is_a_number_of_the_sentence_beside_its_speaker() -> None:
    """五千块 is money; who says it stands in the next sentence; the story's sentence is quoted alone."""
    story = told((*CHINESE[:2], entity("C2", "韩三")), text=ORDINARY_TEXT["zh"])
    matters = touched("“五千块，我一分没少你的。”韩三说。", replace(story, language="zh"))
    [number] = [each for each in matters if each.kind == "number"]
    assert (number.name, number.sayings[0].text) == ("五千块", "赵凯欠了韩三整整八千块钱。")


@pytest.mark.parametrize(
    ("people", "draft", "description", "category", "kind"),
    [
        (ENGLISH, "Anselm looked at the lamp.", "Who broke the lamp of Anselm?", "", "question"),
        (ENGLISH, "Anselm looked at the lamp.", "The broken lamp", "mystery", "question"),
        (ENGLISH, "Anselm looked at the lamp.", "Anselm promises to mend the lamp", "promise", "promise"),
        (CHINESE, "陆青崖看着那盏灯。", "是谁打碎了那盏灯？", "", "question"),
        (CHINESE, "陆青崖看着那盏灯。", "陆青崖答应修好那盏灯", "承诺", "promise"),
    ],
)
def test_an_open_question_is_no_promise(
    people: tuple[Entity, ...], draft: str, description: str, category: str, kind: str
) -> None:
    """By its category or its words."""
    thread = OpenLoop(loop_id="OL0", description=description, category=category, related_entities=["C0", "C1"])
    story = replace(told(people), threads=[thread], language=story_language(draft))
    assert [matter.kind for matter in touched(draft, story) if matter.sayings[0].source == "thread"] == [kind]


@pytest.mark.parametrize("related", [["C0"], []])
@pytest.mark.parametrize(
    ("people", "promise", "ending", "same", "other"),
    [
        (
            ENGLISH,
            "Anselm promised to mend the roof before Easter",
            "Easter came and the roof leaked",
            "Anselm kept his word and mended the roof before Easter.",
            "Anselm looked at the lamp before supper.",
        ),
        (
            CHINESE,
            "陆青崖答应中秋以前修好屋顶",
            "中秋过了，他没有来",
            "陆青崖守了诺，中秋以前修好了屋顶。",
            "陆青崖看着那盏灯。",
        ),
    ],
)
def test_a_promise_that_is_over_stands_beside_a_sentence_that_says_it_again(
    people: tuple[Entity, ...], promise: str, ending: str, same: str, other: str, related: list[str]
) -> None:
    """With how it ended, at the place of its end; no other sentence on its people lists it.

    Its words name its people where its author does not.
    """
    thread = OpenLoop(
        loop_id="OL0",
        description=promise,
        category="promise",
        related_entities=related,
        status="abandoned",
        chapter_index=1,
        scene_index=1,
        last_chapter_index=1,
        last_scene_index=2,
        resolution_summary=ending,
    )
    story = replace(told(people), threads=[thread], language=story_language(promise))
    [saying] = [one for matter in touched(same, story) for one in matter.sayings if one.source == "thread"]
    assert (promise in saying.text, ending in saying.text, saying.scene_index) == (True, True, 2)
    assert not [one for matter in touched(other, story) for one in matter.sayings if one.source == "thread"]


def test_promises_and_numbers_come_last() -> None:
    """An open thread of whom the draft names, and a number of which the story says another."""
    thread = OpenLoop(loop_id="OL0", description="Anselm owes Pym a debt", related_entities=["C0", "C3"])
    paid = memory("Anselm lent Pym forty pounds for the voyage.", "C0", "C3")
    story = told(ENGLISH, memories=[paid])
    story = replace(story, threads=[thread])
    matters = touched("Anselm asked Pym for the ninety pounds of the voyage.", story)
    assert [each.kind for each in matters][-2:] == ["promise", "number"]
    assert (matters[-1].name, matters[-1].sayings[0].text) == ("ninety pounds", paid.content)
    same = touched("Anselm asked Pym for the forty pounds of the voyage.", story)
    assert "number" not in [each.kind for each in same]


@pytest.mark.parametrize(
    ("name", "kind", "field", "value", "draft"),
    [
        ("the ring", "item", "origin", "silver, with a band of ivy", "The ring was gold, with a band of roses."),
        ("the ring", "item", "appearance", "silver, with a band of ivy", "The ring was gold, with a band of roses."),
        ("the hall", "location", "atmosphere", "dark and cold", "The hall was bright, and warm as summer."),
        ("铜哨", "item", "appearance", "银的，刻着一圈常春藤", "铜哨是金的，刻着一圈玫瑰。"),
    ],
)
def test_fields_of_a_things_card_stand_beside_it(
    name: str, kind: EntityType, field: str, value: str, draft: str
) -> None:
    """As those of a person do."""
    thing = Entity(entity_id="I7", entity_type=kind, name=name, profile={field: value})
    people = CHINESE if story_language(draft) == "zh" else ENGLISH
    story = replace(told((*people, thing)), language=story_language(draft))
    [matter] = [matter for matter in touched(draft, story) if matter.entity_id == "I7"]
    assert any(value in saying.text for saying in matter.sayings)


@pytest.mark.parametrize("draft", ["他数出三十三块钱来。", "他欠五十多块钱。", "他摸出八吊钱。"])
def test_a_unit_of_money_is_no_thing(draft: str) -> None:
    """The number says it."""
    plain = read_draft(draft, told(CHINESE))
    assert [plain.plain[noun.span.start : noun.span.end] for noun in nouns_of(plain)] == []


@pytest.mark.parametrize(
    ("draft", "description", "sum_in_draft"),
    [
        (
            "The debt of nine hundred pounds was his last thought.",
            "The debt of 1,150 pounds to the bank",
            "nine hundred",
        ),
        ("The debt of 1,150 pounds was his last thought.", "The debt of 1,150 pounds to the bank", None),
        ("他最后想到的是那笔九百元的欠款。", "欠银行一千一百五十元的欠款", "九百元"),
        ("他最后想到的是那笔一千一百五十元的欠款。", "欠银行一千一百五十元的欠款", None),
    ],
)
def test_a_sum_is_compared_with_that_of_an_open_thread(draft: str, description: str, sum_in_draft: str | None) -> None:
    """Though nobody of the thread is named."""
    thread = OpenLoop(loop_id="OL0", description=description, category="debt", related_entities=["C0"])
    language = story_language(draft)
    story = replace(told(CHINESE if language == "zh" else ENGLISH), threads=[thread], language=language)
    sums = [matter for matter in touched(draft, story) if matter.kind == "number"]
    assert [sum_in_draft in matter.name for matter in sums] == [True] * (sum_in_draft is not None)


def test_a_guessed_place_is_marked() -> None:
    """Where rules alone say that somebody was last seen, the list says that it is a guess."""
    place = StateChange(
        entity_id="C2",
        attribute=PRESENCE_ATTRIBUTE,
        value={"location_id": None, GUESSED: True},
        chapter_index=2,
        scene_index=2,
        kind="presence",
    )
    matters = touched("韩铁山走了进来。", told(CHINESE, changes=[place]))
    [saying] = [each for matter in matters for each in matter.sayings if each.source == "presence"]
    assert saying.is_guess


def test_nothing_of_a_draft_that_touches_nothing() -> None:
    """Weather is in no story's facts."""
    assert touched("下了一整天的雨。", told(CHINESE)) == []
    assert told(CHINESE).as_of == AS_OF


@pytest.mark.parametrize(
    ("draft", "name", "field", "value"),
    [
        ("陆青崖两条腿都稳稳当当。", "陆青崖", "appearance", "右膝有弹头，走路瘸"),
        ("陆青崖用左手小指勾住绳子。", "陆青崖", "appearance", "左手小指伸不直"),
        ("Anselm Rook ran down the stairs.", "Anselm Rook", "appearance", "lame since the war"),
        ("Anselm Rook lit his father's pipe.", "Anselm Rook", "description", "Never smoked a pipe."),
    ],
)
def test_a_trait_on_the_card_stands_first(draft: str, name: str, field: str, value: str) -> None:
    """Where it shares a part of the body, a sense or a word with the sentence; any other comes last."""
    language = story_language(draft)
    person, *others = CHINESE if language == "zh" else ENGLISH
    changes = {"description": value} if field == "description" else {"profile": {field: value}}
    person = person.model_copy(update=changes)
    memories = [memory(f"{name} X", "C0", slot="C0.fact")]
    story = replace(told((person, *others), memories=memories), language=language)
    assert sayings_of(name, touched(draft, story))[0].endswith(value)
    other = "陆青崖坐下。" if language == "zh" else "Anselm Rook sat down."
    assert not sayings_of(name, touched(other, story))[0].endswith(value)


def test_a_dated_trait_stands_at_its_scene_and_its_storage_nowhere() -> None:
    """The value that holds by then, from where it holds on; no line of the list in which values are stored."""
    dated_values = [
        {"field": "appearance", "value": "右腿有点跛"},
        {"field": "appearance", "value": "跛是装的", "start": [2, 1]},
    ]
    person = CHINESE[0].model_copy(update={"profile": {"appearance": "跛是装的", DATED: dated_values}})
    matters = touched("陆青崖的跛是装的。", told((person, *CHINESE[1:])))
    [saying] = [saying for matter in matters for saying in matter.sayings if saying.source == "state"]
    assert saying.text.endswith("跛是装的")
    assert (saying.chapter_index, saying.scene_index, saying.by_author) == (2, 0, True)


@pytest.mark.parametrize(
    ("draft", "name", "text"),
    [
        ("陆青崖大声说：“走。”", "陆青崖", "陆青崖听不见，也不会说。"),
        ("“Go,” said Anselm Rook.", "Anselm Rook", "Anselm Rook is deaf and mute."),
    ],
)
def test_a_disability_in_the_text_is_quoted(draft: str, name: str, text: str) -> None:
    """Where the draft uses what the person lacks; not of another person in the same sentence, nor where it agrees."""
    language = story_language(draft)
    people = CHINESE if language == "zh" else ENGLISH
    other = people[1].name
    story = replace(told(people, text=text), language=language)
    assert sayings_of(name, touched(draft, story))[0] == text
    story = replace(told(people, text=text.replace(name, other) + f" {name}."), language=language)
    assert text.replace(name, other) not in str(touched(draft, story))


@pytest.mark.parametrize(
    ("text", "is_loss"),
    [
        ("陆青崖是哑巴。", True),
        ("陆青崖哑了。", True),
        ("陆青崖哑哑地暗笑。", False),
        ("陆青崖哑然失笑。", False),
        ("陆青崖哑口无言。", False),
    ],
)
def test_a_hoarse_laugh_is_no_disability(text: str, is_loss: bool) -> None:
    """哑哑 is a sound, 哑然 and 哑口 are astonishment."""
    story = replace(told(CHINESE, text=text), language="zh")
    entity_id = next(entity.entity_id for entity in CHINESE if entity.name == "陆青崖")
    sayings = disability_sayings(entity_id, ["陆青崖大声说：“走。”"], story)
    assert [saying.text for saying in sayings] == ([text] if is_loss else [])


def test_a_kind_of_wood_is_no_person() -> None:
    """A noun that the dictionary calls a name is a person with a surname alone."""
    story = replace(told(CHINESE, text="陆青崖拄一根紫檀拐杖。"), language="zh")
    matters = touched("陆青崖拄着紫檀拐杖。", story)
    assert [matter.kind for matter in matters if matter.name == "紫檀"] in ([], ["thing"])
    assert "紫檀" in str(matters)


@pytest.mark.parametrize("is_note", [True, False])
@pytest.mark.parametrize(
    ("draft", "name", "said"),
    [
        ("There were nine old councillors in the council.", "nine old councillors", "There are seven councillors."),
        ("Anselm lit 12 lamps in the council.", "12 lamps", "The council owns twenty-one oil lamps."),
        ("那晚有九名老议员到了。", "九名老议员", "议会有七个议员。"),
    ],
)
def test_another_count_of_the_same_things_is_listed(draft: str, name: str, said: str, is_note: bool) -> None:
    """A note says it of the things by themselves; a text where it shares something else with the draft."""
    language = story_language(draft)
    note = memory(said).model_copy(update={"content_type": "note", "source_id": "N0"})
    shared = {"en": " They met in the council that evening.", "zh": "老的那晚也到了。"}[language]
    kinds = {"memories": [note]} if is_note else {"text": said.rstrip(".。") + ", " + shared}
    story = replace(told(CHINESE if language == "zh" else ENGLISH, **kinds), language=language)
    [matter] = [each for each in touched(draft, story) if each.kind == "number"]
    assert (matter.name, matter.draft_quote) == (name, draft)
    assert said.rstrip(".。") in matter.sayings[0].text


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        ("There were seven councillors.", "There are seven councillors."),
        ("There were six or seven councillors.", "There are seven councillors."),
        ("She took nine steps.", "It is seven steps to the door."),
        ("There were not nine councillors.", "There are seven councillors."),
        ("One councillor spoke.", "There are seven councillors."),
        ("来了七位议员。", "议会有七个议员。"),
        ("第九个议员来了。", "议会有七个议员。"),
        ("来了九个渔夫。", "议会有七个议员。"),
    ],
)
def test_the_same_count_and_other_things_are_not_listed(draft: str, note: str) -> None:
    """A range that holds the number, steps, a denial, one of them, an ordinal and other things say nothing else."""
    language = story_language(draft)
    noted = memory(note).model_copy(update={"content_type": "note", "source_id": "N0"})
    story = replace(told(CHINESE if language == "zh" else ENGLISH, memories=[noted]), language=language)
    assert [each.name for each in touched(draft, story) if each.kind == "number"] == []


def test_an_adverb_an_adjective_and_a_participle_are_no_things() -> None:
    """Of what an article points to the nouns alone are looked up."""
    draft = "The right lamp swung. Her once warm coat left him. The boy touched the yellow van, his ruined family bed."
    story = told(ENGLISH, text="Once it was right, warm and yellow; she touched it, left it ruined.")
    names = [draft[span.start : span.end] for _, span, *_ in nouns_of(read_draft(draft, story))]
    assert names == ["lamp", "coat", "boy", "van", "family", "bed"]


@pytest.mark.parametrize(
    ("draft", "nouns"),
    [
        ("He hung the grey shabby coat on the wooden greenish door.", ["coat", "door"]),
        ("The crimson eastern lantern fell on the public music box.", ["lantern", "music", "box"]),
        ("那只破旧的木箱压着灰色衣服，陈旧的钥匙放在木制地板上。", ["木箱", "衣服", "钥匙", "地板"]),
        ("他望着夜色的边缘，人质的绳子断了。", ["夜色", "边缘", "人质", "绳子"]),
    ],
)
def test_an_adjective_without_a_telling_ending_is_no_thing(draft: str, nouns: list[str]) -> None:
    """Neither those of the word lists nor those that stand before their noun; nouns with such an ending are."""
    story = told(CHINESE if story_language(draft) == "zh" else ENGLISH)
    assert [draft[span.start : span.end] for _, span, *_ in nouns_of(read_draft(draft, story))] == nouns


def _notes(*texts: str, entity_id: str = "C0") -> list[StoryMemoryChunk]:
    return [
        memory(text, entity_id).model_copy(update={"content_type": "note", "source_id": f"N{number}"})
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("draft", "statement", "newer"),
    [
        (
            "陆青崖睁着眼睛，左眼右眼都看得清清楚楚。",
            ("injuries", "右眼失明"),
            ("陆青崖欠韩家八两。", "陆青崖去了码头。", "陆青崖会水。", "陆青崖爱喝酒。", "陆青崖住在渡口。"),
        ),
        (
            "Anselm Rook watched the gulls with both eyes.",
            ("injuries", "blind in the right eye"),
            ("Anselm Rook owes a debt.", "Anselm Rook swims.", "Anselm Rook drinks.", "Anselm Rook is a miller."),
        ),
        (
            "陆青崖从校场走进来。",
            ("location_id", "水牢"),
            ("陆青崖欠韩家八两。", "陆青崖去了码头。", "陆青崖会水。", "陆青崖爱喝酒。", "陆青崖住在渡口。"),
        ),
    ],
)
def test_no_number_of_newer_notes_hides_a_state(draft: str, statement: tuple[str, str], newer: tuple[str, ...]) -> None:
    """What shares a part of the body or a sense with the sentence stands first, states before notes at equal ground."""
    language = story_language(draft)
    people = CHINESE if language == "zh" else ENGLISH
    attribute, value = statement
    story = told(people, changes=[state("C0", attribute, value)], memories=_notes(*newer))
    sayings = sayings_of(people[0].name, touched(draft, replace(story, language=language)))
    assert sayings[0].endswith(value)
    assert len([text for text in sayings if text in newer]) >= 3


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        ("陆青崖提起两桶水，又用双手舞剑。", "陆青崖左手断了，提不得水。"),
        ("陆青崖大声说：“走。”", "陆青崖是个哑巴。"),
        ("陆青崖今年二十三岁。", "陆青崖十七岁。"),
        ("Anselm Rook, who was fourteen, counted the steps.", "Anselm Rook is eleven and cannot read."),
        ("“Go,” said Anselm Rook.", "Anselm Rook is mute."),
        ("Anselm Rook stood in the Salt Chapel.", "Anselm Rook never enters the Salt Chapel."),
    ],
)
def test_an_older_note_that_the_sentence_bears_on_comes_before_newer_ones(draft: str, note: str) -> None:
    """By a limb, a sense, an age, a place; the newer ones stay behind it."""
    language = story_language(draft)
    name = "陆青崖" if language == "zh" else "Anselm Rook"
    newer = [f"{name}{text}" for text in ("欠债。", "爱酒。", "会水。", "怕狗。")]
    story = told(CHINESE if language == "zh" else ENGLISH, memories=_notes(note, *newer))
    sayings = sayings_of(name, touched(draft, replace(story, language=language)))
    assert sayings[0] == note
    assert set(newer) <= set(sayings)


def test_an_age_on_the_card_stands_beside_another_age_however_many_notes_there_are() -> None:
    """The field shares its number with the sentence, no note does."""
    person = ENGLISH[0].model_copy(update={"profile": {"age": 11}})
    notes = _notes(
        "Anselm Rook won at dice.", "Anselm Rook has a mat.", "Anselm Rook is a friend.", "Anselm Rook hums."
    )
    story = told((person, *ENGLISH[1:]), memories=notes)
    draft = "Anselm Rook, who was fourteen, counted the steps aloud."
    assert sayings_of("Anselm Rook", touched(draft, story))[0].endswith("age: 11")


@pytest.mark.parametrize(
    ("draft", "field", "value", "is_denied"),
    [
        ("Anselm Rook, who was eighty, won a purse at dice from a friend.", "age", 74, True),
        ("Anselm Rook won a purse at dice from a friend. He was twenty-five and knew it.", "age", "thirty-one", True),
        ("Anselm Rook, twenty-five, won a purse at dice from a friend.", "age", "31", True),
        ("Anselm Rook, who was seventy-four, won a purse at dice from a friend.", "age", 74, False),
        ("At eight, Anselm Rook won a purse at dice from a friend.", "age", 74, False),
        ("Anselm Rook won a purse at dice from a friend. Varley was twenty.", "age", 74, False),
        ("Anselm Rook has two scars and won a purse at dice from a friend.", "appearance", "three scars", True),
        ("陆青崖今年十五了，和朋友掷骰子赢了钱。", "age", "十二", True),
        ("陆青崖和朋友掷骰子赢了钱。他今年才十五岁。", "age", "12", True),
        ("陆青崖今年十二了，和朋友掷骰子赢了钱。", "age", "十二", False),
        ("陆青崖身高七尺，和朋友掷骰子赢了钱。", "appearance", "身高八尺", True),
    ],
)
def test_a_field_whose_number_a_sentence_denies_stands_before_any_note(
    draft: str, field: str, value: str | int, is_denied: bool
) -> None:
    """However much the notes share with the sentence; the same number, an hour and somebody else's deny nothing."""
    language = story_language(draft)
    people = CHINESE if language == "zh" else ENGLISH
    person = people[0].model_copy(update={"profile": {field: value}})
    shared = "和朋友掷骰子赢了钱" if language == "zh" else "won a purse at dice from a friend"
    often = ("又", "再次", "总算", "果然") if language == "zh" else ("once", "again", "twice", "today")
    notes = _notes(
        *(f"{person.name}{word}{shared}。" if language == "zh" else f"{person.name} {shared} {word}." for word in often)
    )
    story = replace(told((person, *people[1:]), memories=notes), language=language)
    first = sayings_of(person.name, touched(draft, story))[0]
    assert first.endswith(str(value)) is is_denied


@pytest.mark.parametrize(
    ("draft", "is_named"),
    [
        ("阿蛮今年二十三岁。", False),
        ("阿蛮十三岁那年来的。", False),
        ("他花了三百一十三文。", False),
        ("“十三，你来。”", True),
        ("十三笑了。", True),
    ],
)
def test_a_given_name_within_a_number_or_a_word_is_nobodys(draft: str, is_named: bool) -> None:
    """二十三岁 does not name 柳十三."""
    for names in (("柳十三",), ("柳十三", "十三")):
        story = told((entity("C0", *names),), changes=[state("C0", "status", "dead")], on_stage=())
        matters = touched(draft, replace(story, language="zh"))
        assert any(matter.entity_id == "C0" for matter in matters) is is_named
    story = told((entity("C0", "李天明"),), changes=[state("C0", "status", "dead")], on_stage=())
    assert touched("今天明白了。", replace(story, language="zh")) == []


@pytest.mark.parametrize(
    ("draft", "names", "head"),
    [
        ("Miss Pryce sat down.", ("Tamsin Pryce", "Miss Pryce", "Tamsin"), "Tamsin Pryce (Miss Pryce)"),
        ("Tamsin sat down.", ("Tamsin Pryce", "Miss Pryce", "Tamsin"), "Tamsin Pryce"),
        ("红丹少了一枚。", ("还魂丹", "红丹"), "还魂丹（红丹）"),
    ],
)
def test_a_matter_is_headed_by_the_cards_name(draft: str, names: tuple[str, ...], head: str) -> None:
    """With the alias of the draft; a state names its holder by the card."""
    language = story_language(draft)
    bearer = entity("C0" if language == "en" else "I0", names[0], *names[1:])
    story = told((bearer, entity("I9", "the black letter")), changes=[state(bearer.entity_id, "condition", "hurt")])
    [matter] = touched(draft, replace(story, language=language))
    assert matter.name == head
    story = told((bearer, entity("I9", "the black letter")), changes=[state("I9", "holder", bearer.entity_id)])
    if language == "en":
        [letter] = [each for each in touched(f"{draft} The black letter lay there.", story) if each.kind == "thing"]
        assert letter.sayings[0].text.endswith("Tamsin Pryce")


@pytest.mark.parametrize(
    ("draft", "text", "noun"),
    [
        ("He leaned at the rail.", "The next sea took him off the rail.", "rail"),
        ("她攥紧了那个领口。", "他盯着砚秋的领口。", "领口"),
    ],
)
def test_in_a_told_story_a_noun_alone_is_one_of_many(draft: str, text: str, noun: str) -> None:
    """Its sentences are quoted where they share more with the draft's, or nothing else tells the story."""
    language = story_language(draft)
    people = CHINESE if language == "zh" else ENGLISH
    untold = replace(told(people, text=text), language=language)
    assert noun in [matter.name for matter in touched(draft, untold)]
    story = replace(told(people, text=text, memories=_notes("X.")), language=language)
    assert [matter.name for matter in touched(draft, story) if matter.kind == "thing"] == []
    same = {"en": "He leaned hard against the rail of oak.", "zh": "她又一次攥紧了那个领口。"}[language]
    kept = touched(same, replace(story, knowledge=told(people, text=same).knowledge))
    assert [matter.name for matter in kept if matter.kind == "thing"] == [noun]


def test_who_is_called_by_a_name_after_a_loss_lacks_it() -> None:
    """守药园的是个哑巴，大家叫他哑伯: the name itself says nothing, the sentence before it does."""
    people = (entity("C0", "哑伯"), entity("L0", "药园"))
    text = "守药园的是个哑巴，大家叫他哑伯。"
    story = replace(told(people, text=text), language="zh")
    assert sayings_of("哑伯", touched("哑伯开口说：“莲开了。”", story))[0] == text
    other = replace(told(people, text="门口坐着个哑巴，哑伯走了过去。"), language="zh")
    assert disability_sayings("C0", ["哑伯开口说：“莲开了。”"], other) == []
