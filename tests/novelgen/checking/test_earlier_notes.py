"""Earlier notes that a later one ends, surely or perhaps."""

import pytest

from novelgen.checking.earlier_notes import MAX_PERHAPS_OVER, earlier_notes_ended
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk

KNOWN = [
    Entity(entity_id="C0", entity_type="character", name="Grady"),
    Entity(entity_id="C1", entity_type="character", name="Mr. Lisle"),
    Entity(entity_id="I0", entity_type="item", name="the sextant"),
    Entity(entity_id="C2", entity_type="character", name="陆行舟"),
    Entity(entity_id="C3", entity_type="character", name="哑伯"),
]


def note(text: str, number: int = 0, slot: str | None = None) -> StoryMemoryChunk:
    return StoryMemoryChunk(
        chunk_id=f"note-N{number}",
        project_id="p",
        chapter_index=1,
        scene_index=1,
        content=text,
        content_type="note",
        slot_type=slot,
    )


def ended(later: str, *earlier: StoryMemoryChunk) -> tuple[list[str], list[str]]:
    result = earlier_notes_ended(later, earlier, KNOWN)
    return [one.content for one in result.over], [one.content for one in result.perhaps_over]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Grady is in irons.", "Grady is free of the irons."),
        ("Grady is in irons.", "Grady is no longer in irons."),
        ("Grady is in irons.", "Grady is not in irons any more."),
        ("Grady wears irons.", "Grady does not wear irons any more."),
        ("Grady has a fever.", "Grady no longer has a fever, says the cook."),
        ("Grady is in the brig.", "Grady was let out of the brig."),
        ("陆行舟戴着镣铐。", "陆行舟不再戴镣铐。"),
        ("陆行舟戴着镣铐。", "陆行舟的镣铐解开了。"),
        ("陆行舟戴着镣铐。", "陆行舟解开了镣铐。"),
        ("陆行舟瘸着。", "陆行舟不瘸了。"),
    ],
)
def test_a_note_in_its_words_denied_is_over(earlier: str, later: str) -> None:
    """The same statement with "no longer", "free of", 不再, 解开; not of somebody else, nor the other way round."""
    assert ended(later, note(earlier)) == ([earlier], [])
    assert ended(earlier, note(later))[0] == []
    other = later.replace("Grady", "Mr. Lisle").replace("陆行舟", "哑伯")
    assert ended(other, note(earlier)) == ([], [])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Mr. Lisle is in command.", "Mr. Lisle was put off in a longboat."),
        ("Grady is in irons, and the key is with the cook.", "Grady is no longer in irons."),
        ("Grady is in irons at night.", "Grady is no longer in irons."),
        ("Grady is not in irons.", "Grady is no longer in irons."),
        ("Grady is in command.", "Grady was taken out of the boat."),
        ("陆行舟关在水牢里。", "陆行舟被放出来了。"),
        ("哑伯戴着镣铐。", "哑伯的绳子解开了。"),
        ("陆行舟不再说话。", "陆行舟不再喝酒了。"),
        ("陆行舟知道此事，戴着镣铐。", "陆行舟不再戴镣铐。"),
    ],
)
def test_what_rules_cannot_tell_is_shown_and_not_over(earlier: str, later: str) -> None:
    """Another event, more than one statement, or a longer one: the author decides."""
    over, perhaps = ended(later, note(earlier))
    assert over == []
    assert perhaps in ([earlier], [])
    if "Lisle" in earlier or "水牢" in earlier:
        assert perhaps == [earlier]


def test_what_a_state_tells_is_never_over_by_words() -> None:
    """Its own notes end it; it is shown."""
    told = note("The sextant was stolen; nobody knows who has it.", slot="I0.holder")
    assert ended("The sextant hung on the wall again.", told) == ([], [told.content])
    held = note("The sextant is with Grady.", slot="I0.holder")
    assert ended("The sextant is no longer with Grady.", held) == ([], [held.content])


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("Mr. Lisle has promised to burn the letters.", "Mr. Lisle was scalded on the hand.", False),
        ("The sextant is paste and brass.", "The sextant was stolen.", False),
        ("Everybody believes that Grady is drowned.", "Grady used to sing a lullaby to his mother.", False),
        ("Mr. Lisle is at the mill.", "Grady went to the mill.", False),
        ("Grady is drowned.", "Grady was found alive.", True),
        ("Grady owes Mr. Lisle a debt.", "Grady has paid the debt, as he swore.", True),
        ("陆行舟答应替哑伯送信。", "陆行舟伤了左手，包着布。", False),
        ("哑伯给陆行舟作了担保。", "哑伯在渡口卖了鱼。", False),
        ("陆行舟在水牢里。", "陆行舟逃了。", True),
        ("陆行舟欠哑伯三十两。", "陆行舟把欠的还清了。", True),
    ],
)
def test_only_a_note_of_the_same_kind_on_the_same_is_offered(earlier: str, later: str, is_offered: bool) -> None:
    """A holder, a place, life, a promise, a count, bonds or health of one person or thing; nothing else."""
    assert ended(later, note(earlier)) == ([], [earlier] if is_offered else [])


def test_few_are_shown_the_likest_first() -> None:
    """Those that share words, then the newest; nothing for ever, of others, past, or after a description."""
    earlier = [
        note("Grady is the cook's son.", 1),
        note("Grady won at dice.", 2),
        note("Mr. Lisle is in command.", 3),
        note("Grady waits in the longboat.", 4),
        note("Grady is in the galley.", 5),
        note("Grady is on deck.", 6),
        note("Grady is tired.", 7),
        note("Grady is at the helm.", 8),
    ]
    shown = ended("Grady was put off in the longboat.", *earlier)[1]
    assert shown == ["Grady waits in the longboat.", "Grady is at the helm.", "Grady is on deck."]
    assert len(shown) == MAX_PERHAPS_OVER
    assert ended("A storm is coming.", *earlier) == ([], [])
    assert ended("Grady, who sings, is tall.", *earlier) == ([], [])


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Mr. Lisle has the sextant of his father, or so he says.", "Grady has the sextant."),
        ("Mr. Lisle always carries the sextant on his back.", "The sextant was lost in the storm."),
        ("陆行舟一直带着母亲给他的六分仪，从不离身。", "六分仪在哑伯手里了。"),
    ],
)
def test_a_note_on_a_holder_that_set_no_state_is_perhaps_over(earlier: str, later: str) -> None:
    """By a newer holder of the same thing, though it begins with somebody else; not by what tells of no holder."""
    known = [*KNOWN, Entity(entity_id="I1", entity_type="item", name="六分仪")]
    result = earlier_notes_ended(later, [note(earlier)], known)
    assert [one.content for one in result.perhaps_over] == [earlier]
    other = "哑伯修好了六分仪。" if "六分仪" in later else "Grady cleaned the sextant."
    assert earlier_notes_ended(other, [note(earlier)], known).perhaps_over == []


HOUSE = [
    *KNOWN,
    Entity(entity_id="C5", entity_type="character", name="何守成"),
    Entity(entity_id="C6", entity_type="character", name="赵国栋"),
    Entity(entity_id="C7", entity_type="character", name="沈仲年"),
    Entity(entity_id="L0", entity_type="location", name="西仓"),
    Entity(entity_id="L1", entity_type="location", name="the granary"),
    Entity(entity_id="C8", entity_type="character", name="Wren"),
    Entity(entity_id="I5", entity_type="item", name="the moon key"),
    Entity(entity_id="I6", entity_type="item", name="the green lantern"),
]


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("何守成说三千块钱是沈仲年拿的（他在撒谎）。", "何守成左腿被横梁砸断，右手烧伤，往后要拄拐。", False),
        ("一九六八年挪用公款三千元、放火烧账的是赵国栋，不是沈仲年。", "赵国栋被检察院带走了。", False),
        ("Wren has the moon key.", "Wren lost the green lantern in the canal.", False),
        ("Wren has the moon key.", "Wren has lost the moon key.", True),
        ("Wren has a rusty sword.", "Wren lost the rusty sword.", True),
        ("西仓里有四十二担陈茶。", "西仓烧毁了，四十二担茶只剩一包。", True),
        ("The tea is in the granary.", "The granary burnt down.", True),
        ("沈仲年住在西仓。", "西仓烧毁了。", True),
        ("铜钥匙能开西仓。", "西仓烧毁了。", False),
        ("西仓里有四十二担陈茶。", "西仓修好了。", False),
        ("Wren has seen the granary.", "The granary burnt down.", False),
    ],
)
def test_only_a_note_on_the_same_thing_or_in_what_is_destroyed_is_offered(
    earlier: str, later: str, is_offered: bool
) -> None:
    """Two things of one holder have nothing to do with each other; what was in a burnt place may be gone."""
    result = earlier_notes_ended(later, [note(earlier)], HOUSE)
    assert [one.content for one in result.perhaps_over] == ([earlier] if is_offered else [])


TOLD = [
    Entity(entity_id="C0", entity_type="character", name="Daniel Reese", aliases=[EntityAlias(alias="Daniel")]),
    Entity(entity_id="C1", entity_type="character", name="Clara"),
    Entity(entity_id="C2", entity_type="character", name="沈砚秋"),
    Entity(entity_id="C3", entity_type="character", name="阿蓼"),
    Entity(entity_id="I0", entity_type="item", name="白鹭"),
    Entity(entity_id="I1", entity_type="item", name="the lamp"),
]


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("Daniel Reese has a white scar on his left hand.", "Daniel told Clara in May that he is hers to hold.", False),
        ("Clara promised Daniel to keep the door shut.", "Clara told Daniel that she promised to keep it shut.", False),
        ("Clara promised Daniel to keep the door shut.", "Clara broke her promise to keep the door shut.", True),
        ("沈砚秋答应阿蓼看守院门。", "沈砚秋告诉阿蓼，她没有忘记答应过看守院门。", False),
        ("沈砚秋的伤还在，有一道疤。", "沈砚秋告诉阿蓼，她的伤是假的，没有好了。", False),
        ("白鹭是阿蓼借给沈砚秋用的琴，不是送给她的。", "白鹭又回到沈砚秋手里了。", False),
        ("白鹭是阿蓼借给沈砚秋用的琴，不是送给她的。", "白鹭又回到阿蓼手里了。", True),
        ("The lamp is lent to Clara, and she keeps it.", "The lamp is back with Clara.", False),
        ("The lamp is lent to Clara, and she keeps it.", "The lamp is back with Daniel.", True),
    ],
)
def test_what_is_told_or_was_lent_to_the_holder_is_not_over(earlier: str, later: str, is_offered: bool) -> None:
    """A tale changes nothing of its subject, and a thing that comes back to its borrower ends no loan."""
    result = earlier_notes_ended(later, [note(earlier)], TOLD)
    assert (result.over, bool(result.perhaps_over)) == ([], is_offered)


PLACED = [
    *(
        Entity(entity_id=f"C{number}", entity_type="character", name=name)
        for number, name in enumerate(("Anna", "Tom", "Mara", "Captain Voss", "阿宁", "沈砚秋", "老周", "林渡"))
    ),
    *(
        Entity(entity_id=f"I{number}", entity_type="item", name=name)
        for number, name in enumerate(
            ("the letter", "the brass key", "the ledger", "the seal", "铜印", "密信", "铜钥匙", "账本")
        )
    ),
]


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("The letter is hidden behind the clock.", "The letter is gone.", True),
        ("Anna carries the letter in her bodice.", "Anna hides the letter under the hearthstone.", True),
        ("The brass key hangs at Tom's belt.", "Tom gives the brass key to Mara.", True),
        ("The ledger lies in the captain's desk, under the charts.", "The ledger was stolen in the night.", True),
        (
            "Mara keeps the seal in a tin box beneath her bed.",
            "The seal is missing, and nobody dares tell Captain Voss.",
            True,
        ),
        ("Tom has the ledger and reads in it every evening.", "The ledger has disappeared from Tom's room.", True),
        ("The letter is written in green ink.", "The letter is gone.", False),
        ("Tom found the brass key in the churchyard when he was a boy.", "The brass key is missing.", False),
        ("Mara keeps the seal in a tin box beneath her bed.", "Mara keeps the ledger in the attic from now on.", False),
        ("Anna carries the letter in her bodice.", "Anna is gone; her bed is cold.", False),
        ("The brass key opens the vault under the chapel.", "Tom gives the brass key to Mara.", False),
        ("Captain Voss is afraid of what is in the ledger.", "The ledger was stolen in the night.", False),
        ("The ledger has vanished; nobody can say since when.", "The ledger turned up in the hayloft.", True),
        ("Tom is afraid that Mara will find the letter.", "Tom lost the letter in the marsh.", False),
        ("The letter is hidden behind the clock.", "The letter is still hidden behind the clock.", False),
        ("铜印锁在铁皮箱里。", "铜印不见了。", True),
        ("阿宁把密信贴身带着。", "阿宁把密信藏到了灶台底下。", True),
        ("铜钥匙挂在老周腰上。", "老周把铜钥匙交给了林渡。", True),
        ("账本压在掌柜的枕头底下，谁也不许碰。", "账本昨夜被人偷了。", True),
        ("沈砚秋收着铜印，平日不示人。", "铜印丢了，沈砚秋不敢声张。", True),
        ("密信夹在《诗经》里，放在书架顶层。", "密信没了踪影。", True),
        ("铜印是先帝所赐，缺了一角。", "铜印不见了。", False),
        ("老周当年在渡口捡到铜钥匙。", "铜钥匙丢了。", False),
        ("沈砚秋收着铜印，平日不示人。", "沈砚秋把账本收进了阁楼。", False),
        ("阿宁把密信贴身带着。", "阿宁不见了，床铺是凉的。", False),
        ("铜钥匙能开西仓的门。", "老周把铜钥匙交给了林渡。", False),
        ("林渡一直想看账本里写了什么。", "账本昨夜被人偷了。", False),
        ("账本失踪了，谁也说不清是什么时候。", "账本在阁楼上找到了。", True),
        ("阿宁怕林渡发现账本。", "阿宁把账本弄丢了。", False),
        ("密信藏在钟后面。", "密信还藏在钟后面。", False),
    ],
)
def test_where_a_thing_was_is_offered_once_it_is_gone_or_elsewhere(earlier: str, later: str, is_offered: bool) -> None:
    """Its place, holder or loss by a note on the same thing; not what only names it, nor another thing."""
    result = earlier_notes_ended(later, [note(earlier)], PLACED)
    assert (result.over, bool(result.perhaps_over)) == ([], is_offered)


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("Anna is in love with Tom.", "Anna went to the market.", False),
        ("Anna is at the inn.", "Anna has gone to London.", True),
        ("老周打牌很在行。", "老周出海去了。", False),
        ("老周断了胳膊。", "老周的胳膊好了。", True),
    ],
)
def test_love_and_skill_are_no_places(earlier: str, later: str, is_offered: bool) -> None:
    result = earlier_notes_ended(later, [note(earlier)], PLACED)
    assert (result.over, bool(result.perhaps_over)) == ([], is_offered)


@pytest.mark.parametrize(
    ("earlier", "later", "is_offered"),
    [
        ("陆行舟左手腕骨裂，打着石膏。", "陆行舟左手腕的石膏拆了，骨头长好了。", True),
        ("陆行舟左臂骨折，四十天不许提重。", "哑伯的左臂好了，陆行舟拆了夹板。", True),
        ("哑伯打断了陆行舟的左腿。", "陆行舟能走路了。", True),
        ("陆行舟挨了一刀。", "陆行舟的伤好了。", True),
        ("陆行舟崴了脚。", "陆行舟脚不疼了。", True),
        ("Grady cracked his wrist.", "Grady's splint came off.", True),
        ("Grady cracked his wrist.", "Mr. Lisle took the splint off Grady's wrist.", True),
        ("Mr. Lisle broke Grady's arm.", "Grady's arm is sound again.", True),
        ("Grady broke his leg.", "Grady threw away his crutches.", True),
        ("Grady has three cracked ribs.", "Grady's ribs have knit.", True),
        ("陆行舟左臂断了。", "陆行舟的左腿好了。", False),
        ("陆行舟右臂骨折了。", "陆行舟的左臂好了。", False),
        ("陆行舟左臂骨折了。", "哑伯的左臂好了。", False),
        ("陆行舟戴着镣铐。", "陆行舟的腿好了。", False),
        ("陆行舟谎称信没送；信还在罐里，放在衣柜顶上。", "陆行舟左手腕的石膏拆了。", False),
        ("陆行舟左腿骨折。", "陆行舟的腿还没好。", False),
        ("陆行舟左腿骨折。", "等陆行舟的腿好了，就去找哑伯。", False),
        ("Grady cracked his wrist.", "Grady's leg has healed.", False),
        ("Grady broke his right arm.", "Grady's left arm is mended.", False),
        ("Grady is in irons.", "Grady's wrist is mended.", False),
        ("Grady swore to find the sextant.", "Grady's wrist is mended.", False),
        ("Grady broke his leg.", "Grady hopes his leg has healed.", False),
        ("Grady broke his leg.", "Grady's leg has not healed.", False),
        ("Grady's arm is in plaster.", "Grady will be out of plaster in June.", False),
    ],
)
def test_a_healing_offers_the_injury_of_the_same_limb(earlier: str, later: str, is_offered: bool) -> None:
    """Of the same person; no other limb, and no other matter."""
    assert ended(later, note(earlier)) == ([], [earlier] if is_offered else [])


def test_the_limb_that_healed_comes_first() -> None:
    """Then injuries that name no limb."""
    earlier = [note("陆行舟左臂骨折。", 1), note("陆行舟挨了一刀。", 2), note("陆行舟右腿骨折。", 3)]
    assert ended("陆行舟的左臂好了。", *earlier)[1] == ["陆行舟左臂骨折。", "陆行舟挨了一刀。"]
