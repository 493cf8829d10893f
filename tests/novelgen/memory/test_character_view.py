"""What can be shown of one character's knowledge: where in doubt it is not known."""

from collections.abc import Sequence
from typing import Any

import pytest

from novelgen.language.language import has_cjk
from novelgen.language.resolver import NameResolver
from novelgen.memory.character_view import StoryKnowledge
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.entity import Entity
from novelgen.models.knowledge import KnowledgeEvent
from novelgen.models.position import Place, StoryPosition
from novelgen.models.state import OpenLoop, ThreadStep

NAMES = {"C1": ["Mira Vale", "Mira"], "C2": ["Lady Osric"], "C3": ["Pell Harrow"]}
BARGAIN = KnowledgeMemory(
    "M1",
    "Lady Osric promised Pell Harrow forty ducats for ruining Mira.",
    StoryPosition(1, 1),
    ("C2", "C3", "C1"),
    "other",
)


def _scene(number: int, present: str, text: str) -> KnowledgeScene:
    return KnowledgeScene(StoryPosition(1, number), frozenset(present.split()), text)


QUARRY = _scene(1, "C2 C3", "At the quarry Lady Osric counted the price of the orchard.")


def _shown(
    later: KnowledgeScene, memory: KnowledgeMemory, who: str, events: Sequence[KnowledgeEvent] = ()
) -> tuple[bool, bool]:
    """Return whether the rules hold it for known, and whether that can be shown."""
    story = KnowledgeStory(StoryPosition(9, 1), [QUARRY, later], [memory], NAMES, frozenset(NAMES), events)
    knowledge = StoryKnowledge(KnowledgeRules(story))
    return knowledge.of(who).knows_source("M1"), knowledge.of(who, is_shown=True).knows_source("M1")


def test_what_is_plotted_against_somebody_away_cannot_be_shown_to_be_known_to_them() -> None:
    """Unless a record says that they learnt it: then without a word of the text."""
    elsewhere = _scene(2, "C1", "Mira bound the last graft.")
    assert _shown(elsewhere, BARGAIN, "C1") == (True, False)
    assert _shown(elsewhere, BARGAIN, "C2") == (True, True)
    learnt = KnowledgeEvent(
        character_id="C1", source_id="M1", how="read", chapter_index=1, scene_index=2, certainty=0.3
    )
    assert _shown(_scene(2, "C1", "Mira read on."), BARGAIN, "C1", [learnt]) == (True, True)


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("“Lady Osric and Pell Harrow bow to Mira,” they said, and praised the weather.", False),
        ("Pell Harrow owned that he was promised forty ducats for ruining her.", True),
    ],
)
def test_a_name_tells_nothing_of_what_its_bearer_has_done(text: str, is_shown: bool) -> None:
    """A later scene tells a memory plainly by its other words; that its people are named in it is not enough."""
    plot = KnowledgeMemory("M1", BARGAIN.content, BARGAIN.position, ("C2", "C3"), "plan")
    assert _shown(_scene(2, "C1 C3", text), plot, "C1") == (True, is_shown)


SUPPER = KnowledgeMemory(
    "M2", "Pell Harrow told Mira that there was no news; a lie.", StoryPosition(1, 2), ("C3", "C1"), "other"
)
PLATE = KnowledgeMemory("M3", "Mira picked up the shards of the plate.", StoryPosition(1, 2), ("C1",), "event")


def _kept(source_id: str, number: int) -> KnowledgeEvent:
    return KnowledgeEvent(character_id="C1", source_id=source_id, kind="hidden", chapter_index=1, scene_index=number)


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Mira picked up the shards of her plate.", True),
        ("Pell Harrow deceives her.", False),
        ("Pell Harrow thinks of the forty ducats promised.", False),
    ],
)
def test_of_a_scene_with_a_secret_only_what_is_known_of_it_is_told(text: str, is_told: bool) -> None:
    """Where a record keeps something from somebody, what a narrator tells of the scene is told only as far as it says
    what they know: other words may tell the secret, and a secret of another scene may stand in it.
    """
    scenes = [QUARRY, _scene(2, "C1 C3", "They ate."), _scene(3, "C1", "Mira slept.")]
    events = [_kept("M1", 1), _kept("M2", 2)]
    story = KnowledgeStory(StoryPosition(9, 1), scenes, [BARGAIN, SUPPER, PLATE], NAMES, frozenset(NAMES), events)
    view = StoryKnowledge(KnowledgeRules(story)).of("C1", is_shown=True)
    assert view.knows_source("M3")
    assert view.witnessed_narration(text, 1, 2) == is_told


def test_a_secret_may_not_be_told_by_a_bullet_of_another_scene() -> None:
    """What is kept from somebody since 1:1 is not told by words about 1:2, where nothing is kept from them."""
    story = KnowledgeStory(
        StoryPosition(9, 1),
        [QUARRY, _scene(2, "C1 C3", "They ate.")],
        [BARGAIN],
        NAMES,
        frozenset(NAMES),
        [_kept("M1", 1)],
    )
    view = StoryKnowledge(KnowledgeRules(story)).of("C1", is_shown=True)
    assert view.witnessed_narration("Pell Harrow eats well and says little.", 1, 2)
    assert not view.witnessed_narration("Pell Harrow eats well on the forty ducats promised.", 1, 2)


def test_what_was_kept_keeps_nothing_back_once_it_is_known() -> None:
    """A memory of the scene in which a secret came out is known, although it tells the secret again."""
    told = KnowledgeMemory(
        "M2", "Mira heard who promised forty ducats for her ruin.", StoryPosition(1, 2), ("C1",), "event"
    )
    learnt = KnowledgeEvent(
        character_id="C1", source_id="M1", how="told", learned_from="C3", chapter_index=1, scene_index=2
    )
    scenes = [QUARRY, _scene(2, "C1 C3", "They spoke.")]
    for events, is_known in (([_kept("M1", 1)], False), ([_kept("M1", 1), learnt], True)):
        story = KnowledgeStory(StoryPosition(9, 1), scenes, [BARGAIN, told], NAMES, frozenset(NAMES), events)
        view = StoryKnowledge(KnowledgeRules(story)).of("C1", is_shown=True)
        assert view.knows_source("M2") == is_known


CARDS = {
    "C1": ("character", "Hugh Ashby", "宋怀远"),
    "C2": ("character", "Nell", "宋蘅"),
    "C3": ("character", "Tom Reed", "孟小舟"),
    "C4": ("character", "Silas", "顾三篙"),
    "I1": ("item", "the brass fish", "铜鱼符"),
    "I2": ("item", "the silver lock", "银锁"),
}
OTHER_MOVES = """
宋怀远把铜鱼符交给了宋蘅。|宋蘅把铜鱼符交给了孟小舟，叫他不要给别人看。
宋怀远把铜鱼符交给了宋蘅，叫她收好。|宋蘅把铜鱼符交给了孟小舟，叫他收好。
铜鱼符在宋蘅手里。|铜鱼符在孟小舟手里。
宋怀远把铜鱼符交给了宋蘅。|铜鱼符在孟小舟手里。
铜鱼符藏在宋家窑的灶下。|宋蘅从灶下取出铜鱼符，交给了孟小舟。
宋怀远把铜鱼符交给了宋蘅。|孟小舟把铜鱼符还给了宋蘅。
宋怀远把铜鱼符交给了宋蘅。|宋蘅把铜鱼符交给了顾三篙。
Hugh Ashby gave the brass fish to Nell.|Nell gave the brass fish to Tom Reed and told him to show it to nobody.
Hugh Ashby gave the brass fish to Nell to keep it safe.|Nell gave the brass fish to Tom Reed to keep it safe.
The brass fish is with Nell.|The brass fish is with Tom Reed.
Nell hid the brass fish under the hearth.|Nell took the brass fish from under the hearth and gave it to Tom Reed.
Hugh Ashby gave the brass fish to Nell.|Tom Reed returned the brass fish to Nell.
Hugh Ashby gave the brass fish to Nell.|Nell gave the brass fish to Silas.
Nell believes that Tom Reed burned the mill.|Tom Reed gave Nell a letter; Nell no longer believes he burned the mill.
宋蘅以为孟小舟烧了磨坊。|孟小舟给了宋蘅一封信；宋蘅不再以为他烧了磨坊。
"""
TELLING = """
宋怀远把铜鱼符交给了宋蘅。|宋蘅说，铜鱼符是宋怀远交给宋蘅的，孟小舟没有作声。
宋蘅在酒壶里下了毒。|宋蘅把下了毒的酒壶交给了孟小舟。
铜鱼符在宋蘅手里。|宋蘅握着铜鱼符，孟小舟睡着了。
宋蘅是山贼头目。|孟小舟说宋蘅像山贼头目。
宋蘅拧开银锁，抄下了釉方。|宋蘅把抄下的釉方和银锁交给了孟小舟。
Nell poisoned the wine.|Nell gave the silver lock and the poisoned wine to Tom Reed.
Hugh Ashby gave the brass fish to Nell.|Nell owned to Tom Reed that Hugh Ashby gave her the brass fish.
The brass fish is with Nell.|Nell has the brass fish while Tom Reed sleeps.
Nell believes that Tom Reed burned the mill.|Tom Reed gave Nell a letter; Nell believes that he burned the mill.
Nell believes that Tom Reed burned the mill.|Nell gave Tom Reed a letter; she no longer believes he burned the mill.
宋蘅在酒壶里下了毒。|孟小舟给了宋蘅一封信；宋蘅在酒壶里下了毒。
Nell is a smuggler.|Tom Reed says Nell looks like a smuggler.
"""


@pytest.mark.parametrize(("pairs", "is_known"), [(OTHER_MOVES, True), (TELLING, False)])
def test_a_hidden_move_of_a_thing_hides_no_other_that_they_lived_through(pairs: str, is_known: bool) -> None:
    """Tom Reed was in the later move, or has the thing now."""
    casts = ("C1 C2", "C2 C3", "C2 C3 C4", "C3 C4")
    scenes = [_scene(number, cast, "It rained.") for number, cast in enumerate(casts, 1)]
    hidden = KnowledgeEvent(
        character_id="C3", source_id="N0", kind="hidden", chapter_index=1, scene_index=1, by_author=True
    )
    for pair in pairs.strip().splitlines():
        cards = [
            Entity(entity_id=entity_id, project_id="p", entity_type=kind, name=chinese if has_cjk(pair) else english)
            for entity_id, (kind, english, chinese) in CARDS.items()
        ]
        find_ids = NameResolver(cards).entity_ids_in
        notes = [
            KnowledgeMemory(f"N{number}", text, None, list(find_ids(text)), "other", noted_at=StoryPosition(1, place))
            for (number, text), place in zip(enumerate(pair.split("|")), (1, 3), strict=True)
        ]
        names = {card.entity_id: [card.name] for card in cards}
        people = frozenset({"C1", "C2", "C3", "C4"})
        story = KnowledgeStory(StoryPosition(1, 5), scenes, notes, names, people, [hidden], entities=cards)
        view = StoryKnowledge(KnowledgeRules(story)).of("C3", is_shown=True)
        assert (pair, *map(view.knows_source, ("N0", "N1"))) == (pair, False, is_known)


THREAD_NAMES = {"C1": ["Mira", "阿宁"], "C2": ["Lady Osric", "柳十三"], "C3": ["Pell Harrow", "哑伯"]}
STATED = KnowledgeScene(StoryPosition(1, 1), frozenset({"C2", "C3"}), "It snowed.")
GUESSED = KnowledgeScene(StoryPosition(1, 2), frozenset({"C2"}), "It rained.", has_record=False)
WITH_MIRA = KnowledgeScene(StoryPosition(1, 2), frozenset({"C1", "C2"}), "It rained.", has_record=False)
FIRST_GUESSED = KnowledgeScene(StoryPosition(1, 1), frozenset({"C2", "C3"}), "It snowed.", has_record=False)
FIRST_WITH_MIRA = KnowledgeScene(StoryPosition(1, 1), frozenset({"C1", "C2"}), "It snowed.", has_record=False)
MOVED_BEFORE_MIRA = KnowledgeScene(StoryPosition(1, 2), frozenset({"C1", "C2"}), "It rained.")
MOVED_ELSEWHERE = KnowledgeScene(StoryPosition(1, 2), frozenset({"C2"}), "It rained.")
ASKS = ("Why does Lady Osric pay Pell Harrow?", "柳十三为什么付钱给哑伯？")
KEPT = ("Lady Osric owes Pell Harrow a ship and keeps it from Mira.", "柳十三欠了哑伯一条船，瞒着阿宁。")
AGAIN = ("Lady Osric pays again.", "柳十三又付了一次。")
TELLS = ("Lady Osric told Mira about it.", "柳十三把这事告诉了阿宁。")
TELLS_PELL = ("Lady Osric told Pell Harrow about it.", "柳十三把这事告诉了哑伯。")
APART = ("Lady Osric asks Pell Harrow about it behind Mira's back.", "柳十三瞒着阿宁向哑伯打听。")
THINKS = ("Lady Osric secretly burned the letter.", "柳十三暗中烧了信。")


@pytest.mark.parametrize("language", [0, 1], ids=["en", "zh"])
@pytest.mark.parametrize(
    ("thread", "moves", "scenes", "said", "knows", "guess"),
    [
        # Hidden by the guess of a move's cast.
        (ASKS, [AGAIN], (STATED, GUESSED), "", False, (1, 2)),
        (ASKS, [AGAIN], (STATED, WITH_MIRA), "", False, (1, 2)),
        (ASKS, [APART, AGAIN], (STATED, GUESSED), "", False, (1, 2)),
        (KEPT, [TELLS_PELL], (STATED, GUESSED), "", False, (1, 2)),
        (ASKS, [TELLS_PELL], (STATED, WITH_MIRA), "", False, (1, 2)),
        # Hidden by that of its planting.
        (ASKS, [AGAIN], (FIRST_GUESSED, MOVED_ELSEWHERE), "", False, (1, 1)),
        (ASKS, [AGAIN], (FIRST_GUESSED, GUESSED), "", False, (1, 1)),
        (ASKS, [], (FIRST_GUESSED, GUESSED), "", False, (1, 1)),
        # Hidden for sure.
        (ASKS, [], (STATED, GUESSED), "", False, None),
        (ASKS, [AGAIN], (STATED, MOVED_ELSEWHERE), "", False, None),
        (ASKS, [APART], (STATED, GUESSED), "", False, None),
        (ASKS, [APART], (STATED, WITH_MIRA), "", False, None),
        (ASKS, [THINKS], (STATED, WITH_MIRA), "", False, None),
        (KEPT, [AGAIN], (STATED, GUESSED), "", False, None),
        (KEPT, [], (FIRST_GUESSED, GUESSED), "", False, None),
        (ASKS, [AGAIN], (STATED, GUESSED), "hidden", False, None),
        (ASKS, [AGAIN], (FIRST_WITH_MIRA, GUESSED), "deceived", False, None),
        # Known by a guess.
        (ASKS, [], (FIRST_WITH_MIRA, GUESSED), "", True, (1, 1)),
        (ASKS, [AGAIN], (FIRST_WITH_MIRA, WITH_MIRA), "", True, (1, 1)),
        (ASKS, [AGAIN], (FIRST_WITH_MIRA, MOVED_ELSEWHERE), "", True, (1, 1)),
        # Known for sure.
        (ASKS, [AGAIN], (FIRST_WITH_MIRA, MOVED_BEFORE_MIRA), "", True, None),
        (ASKS, [TELLS], (FIRST_WITH_MIRA, GUESSED), "", True, None),
        (ASKS, [TELLS], (STATED, GUESSED), "", True, None),
        (KEPT, [TELLS], (STATED, GUESSED), "", True, None),
        (ASKS, [AGAIN], (STATED, MOVED_BEFORE_MIRA), "", True, None),
        (ASKS, [], (FIRST_WITH_MIRA, GUESSED), "knows", True, None),
        (ASKS, [AGAIN], (STATED, GUESSED), "knows", True, None),
    ],
)
def test_a_thread_is_known_or_hidden_by_a_guess_alone_where_a_cast_is_not_stated(
    language: int,
    thread: Sequence[str],
    moves: Sequence[Sequence[str]],
    scenes: Sequence[KnowledgeScene],
    said: Any,
    *,
    knows: bool,
    guess: Place | None,
) -> None:
    """That of its planting or of a move, as what is hidden or known by a note: what is said is no guess."""
    at = {"character_id": "C1", "chapter_index": 1, "scene_index": 1, "by_author": True}
    events = [KnowledgeEvent(source_id="OL0", kind=said, **at)] if said else []
    story = KnowledgeStory(StoryPosition(1, 3), scenes, (), THREAD_NAMES, frozenset(THREAD_NAMES), events)
    steps = [ThreadStep(note=move[language], chapter_index=1, scene_index=2) for move in moves]
    entities = ["C2", "C3"]
    place = {"chapter_index": 1, "scene_index": 1}
    loop = OpenLoop(loop_id="OL0", description=thread[language], related_entities=entities, steps=steps, **place)
    view = StoryKnowledge(KnowledgeRules(story)).of("C1", is_shown=True)
    knowing = view.knowing_of_thread(loop)
    position = view.guess_of(knowing) if knowing.knows else view.doubt_of_thread(loop)
    assert (knowing.knows, position) == (knows, None if guess is None else StoryPosition(*guess))


THREAD_CARDS = {
    "C1": ("character", "Odrin", "欧林"),
    "C2": ("character", "Tess", "阿苔"),
    "C3": ("character", "Perrin", "裴仁"),
    "C4": ("character", "Hobb", "贺婆"),
    "C5": ("character", "Irune", "伊如"),
    "I1": ("item", "the plate", "银盘"),
}
KEPT_NOTES = """
Odrin told Tess to take the plate to Irune into her own hand, and not to tell Perrin.
- Tess must take the plate to Irune/Tess is to take the plate to Irune into her own hand.
+ Where is the plate?/Perrin must find the plate/Irune has called Tess before the council
Odrin ordered Tess to burn the ledger before the Marshal comes and to keep it from Perrin.
- Tess will burn the ledger
+ When will the Marshal come?/Who has the ledger?
Hobb owes Irune two hundred marks since the fair. Perrin does not know it.
- Hobb must pay Irune two hundred marks.
+ Perrin owes Hobb forty marks
Irune asked Hobb to poison the well at midnight, behind Perrin's back.
- Will Hobb poison the well?
+ Who will repair the well?
Odrin hid the plate under the sundial. Perrin does not know.
- Odrin hid the plate under the sundial; who will find it?
+ Odrin must mend the sundial/Why does Odrin pace round the sundial at night?
Tess plans to leave the city by boat on Friday and has not told Perrin.
- Tess plans to leave the city by boat
+ Tess plans to marry Hobb
Odrin swore to Irune to forgive the debt and to tear up the bond. They keep it from Perrin.
- Odrin will tear up the bond for Irune
+ Perrin must pay his debt
Hobb is to open the gate to the riders at dawn; Perrin is not to know.
- Hobb promised to open the gate to the riders
+ Hobb promised Perrin to wake him at dawn
Odrin lies to Perrin about the drowned ship; Perrin does not know it.
- Odrin lies about the drowned ship
+ The drowned ship must be raised
欧林吩咐阿苔把银盘亲手交到伊如手里，不要告诉裴仁。
- 阿苔要把银盘交给伊如/阿苔得把银盘亲手交到伊如手里
+ 银盘在哪里/裴仁要找到银盘/贺婆要把骡子牵到集市
阿苔答应欧林在雪化之前守住银盘，这事瞒着裴仁。
- 阿苔守住银盘，直到雪化
+ 贺婆答应马帮看守骡子
贺婆欠了伊如两百两银子，裴仁不知道。
- 贺婆欠伊如两百两银子，要还
+ 裴仁欠贺婆四十两银子
伊如叫贺婆半夜在井里下毒，瞒着裴仁。
- 贺婆会不会在井里下毒
+ 谁来修井
欧林把银盘藏在日晷底下，裴仁不知道。
- 银盘藏在日晷底下，谁会找到
+ 欧林要修好日晷
阿苔打算星期五坐船离开县城，她告诉了贺婆，没告诉裴仁。
- 阿苔打算坐船离开县城
+ 阿苔打算嫁给贺婆的儿子
伊如让阿苔仿刻行会的印章，别让裴仁知道。
- 阿苔要仿刻行会的印章
+ 裴仁要加入行会
贺婆天亮时要给马帮开城门，裴仁不知道。
- 贺婆答应给马帮开城门
+ 马帮什么时候到
欧林要阿苔烧掉账本，这件事不能让裴仁知道。
- 阿苔必须烧掉账本
+ 谁拿着账本
欧林对伊如发誓撕掉借据、不再讨债，这件事瞒着裴仁。
- 欧林发誓撕掉借据
+ 裴仁得还清欠债
伊如托阿苔去南岸接她的儿子回来，裴仁不知道。
- 阿苔要去南岸接伊如的儿子
+ 阿苔要去南岸买药
Hobb told Irune to sell the mules to the riders and to say nothing to Perrin.
- Irune must sell the mules to the riders
+ Hobb must feed the mules/The riders have threatened Irune
Odrin asked Irune to forge the will of the old count. Perrin does not know about it.
- Irune promised to forge the count's will
+ Who inherits from the old count?/The old count asked Perrin to find his son
Tess vowed revenge on Hobb for her brother. She hides it from Perrin.
- Tess vowed revenge on Hobb
+ Tess looks for her brother
Irune ordered Hobb to watch the harbour and to report every ship, and not to tell Perrin.
- Hobb watches the harbour and reports every ship
+ Irune ordered a ship for Perrin
Odrin told Tess to take the plate to Irune, and not to tell Perrin.
- Tess must take the plate to Irune before the snow comes
+ Odrin told Perrin to polish the plate
欧林叫贺婆把骡子卖给马帮，不许告诉裴仁。
- 贺婆要把骡子卖给马帮
+ 贺婆要喂骡子/马帮威胁伊如
欧林请伊如伪造老伯爵的遗嘱，裴仁不知道。
- 伊如答应伪造遗嘱
+ 老伯爵的家产归谁
贺婆要把木箱埋在果园里，不能让裴仁知道。
- 贺婆得把木箱埋在果园
+ 贺婆要修剪果园
阿苔发誓替哥哥向贺婆报仇，这事瞒着裴仁。
- 阿苔发誓向贺婆报仇
+ 阿苔在找失散的哥哥
伊如命贺婆盯住港口，每来一条船都要报信，别告诉裴仁。
- 贺婆盯住港口报信
+ 伊如替裴仁订了一条船
"""


@pytest.mark.parametrize("is_author", [True, False], ids=["author", "record"])
def test_a_thread_that_tells_a_kept_note_is_hidden_and_no_other_with_its_names(*, is_author: bool) -> None:
    """From Perrin: the thread says less than the note, or says it as an order."""
    scenes = [_scene(1, "C1 C2", "It rained."), _scene(2, "C3 C4", "It snowed.")]
    content = ""
    for line in KEPT_NOTES.strip().splitlines():
        sign, _, threads = line.partition(" ")
        if sign not in "-+":
            content = line
            continue
        cards = [
            Entity(entity_id=entity_id, project_id="p", entity_type=kind, name=chinese if has_cjk(line) else english)
            for entity_id, (kind, english, chinese) in THREAD_CARDS.items()
        ]
        find_ids = NameResolver(cards).entity_ids_in
        note = KnowledgeMemory(
            "N0", content, None, list(find_ids(content)), "other", noted_at=StoryPosition(1, 1 if is_author else 2)
        )
        names = {card.entity_id: [card.name] for card in cards}
        people = frozenset(THREAD_CARDS) - {"I1"}
        story = KnowledgeStory(StoryPosition(2, 1), scenes, [note], names, people, [], entities=cards)
        view = StoryKnowledge(KnowledgeRules(story)).of("C3", is_shown=True)
        place: dict[str, Any] = (
            {"chapter_index": 1, "scene_index": 1, "said_from": (1, 2)}
            if is_author
            else {"chapter_index": 1, "scene_index": 2}
        )
        for text in threads.split("/"):
            loop = OpenLoop(
                loop_id="OL0", description=text, related_entities=sorted(people & {*find_ids(text)}), **place
            )
            assert (content, text, view.knows_thread(loop)) == (content, text, sign == "+")
