"""Who is dead, bound or held does not act: only what is certain is found, in English and in Chinese."""

from __future__ import annotations

import pytest

from novelgen.models.plan import ScenePlan
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, found, memory, state, told

DEAD = state("C2", "status", "dead, drowned at the weir")
DEAD_ZH = state("C2", "status", "死亡")


@pytest.mark.parametrize(
    ("draft", "quote"),
    [
        (
            "The rain had stopped. “Bring the lamp,” said Varley, who stood by the hatch. Nobody moved.",
            "“Bring the lamp,” said Varley, who stood by the hatch.",
        ),
        (
            "Ottoline lit the stove. Captain Varley sat down beside her and stretched his boots to the fire.",
            "Captain Varley sat down beside her and stretched his boots to the fire.",
        ),
        (
            "I went up to the loft. There I found Captain Varley waiting in his shirt-sleeves.",
            "There I found Captain Varley waiting in his shirt-sleeves.",
        ),
    ],
)
def test_somebody_dead_who_speaks_acts_or_is_met_is_found(draft: str, quote: str) -> None:
    """The finding quotes the sentence, names who it is, and shows the state that tells the death."""
    (issue,) = found(draft, told(ENGLISH, changes=[DEAD]))
    assert (issue.kind, issue.rule, issue.entity_ids) == ("dead_or_absent", "dead_act", ["C2"])
    assert issue.draft_quote == quote == draft[slice(*issue.draft_span)]
    assert (issue.evidence[0].source_id, issue.evidence[0].chapter_index) == ("C2.status", 3)
    assert "Varley" in issue.message
    assert "drowned at the weir" in issue.message


@pytest.mark.parametrize(
    ("draft", "quote"),
    [
        ("雨停了。韩铁山也跟在后面，提着灯笼进门来。", "韩铁山也跟在后面，提着灯笼进门来。"),
        ("雨停了，韩铁山笑道：“且坐下说话。”众人不语。", "韩铁山笑道：“且坐下说话。”"),
    ],
)
def test_somebody_dead_who_acts_is_found_in_chinese(draft: str, quote: str) -> None:
    """In Chinese the clause that names them as its subject is quoted, and the message is Chinese."""
    (issue,) = found(draft, told(CHINESE, changes=[DEAD_ZH]))
    assert (issue.rule, issue.entity_ids, issue.draft_quote) == ("dead_act", ["C2"], quote)
    assert "第3章第2场已死" in issue.message


@pytest.mark.parametrize(
    "draft",
    [
        "Years ago Captain Varley sat at this very table and dealt the cards.",
        "She dreamt that night. Captain Varley came up the stairs and smiled at her.",
        "The portrait hung over the hearth. Captain Varley smiled down upon them all.",
        "A ghost stood in the lane. Captain Varley raised his dripping hat.",
        "They stood about the grave. Captain Varley lay with his sword upon his breast.",
        "“Captain Varley took the north road,” said Ottoline, “the day before it happened.”",
        "They carried the body of Captain Varley up from the weir.",
        "It was an old video. Captain Varley stood on the quay and waved at whoever held the camera.",
        "There was a voicemail from March. Captain Varley coughed and asked her to ring him back.",
        (
            "“My cousin wrote to me,” said Ottoline, and unfolded the sheet. Varley begged her to sell. Varley asked"
            " after the mill."
        ),
        "Pym tells it as he would tell it to a jury. Captain Varley comes in at nine. Captain Varley walks to the bar.",
        "It seemed to her that the house listened. Captain Varley stood in every doorway.",
        "A child had been named after Captain Varley. Captain Varley sat in the mud and ate a button.",
        "“You will be Mr. Rook,” said young Varley.",
        "Captain Varley’s brother sat down beside the stove.",
        "Pym, disguised in a dead man’s coat, went to the gate. Captain Varley nodded to the guard.",
        "Ottoline and the others spoke of Varley until the lamp failed.",
    ],
)
def test_what_is_past_dreamt_painted_or_only_said_is_no_act(draft: str) -> None:
    """A memory, a dream, a portrait, a ghost, a grave, somebody else's words: the dead may be in all of them."""
    assert found(draft, told(ENGLISH, changes=[DEAD])) == []


@pytest.mark.parametrize(
    "draft",
    [
        "当年，韩铁山坐在这张桌前，给众人斟酒。",
        "她做了一个梦。韩铁山推门进来，笑着看她。",
        "墙上挂着一幅画像。韩铁山笑着望向众人。",
        "众人说起韩铁山，都不言语。",
        "她跪在坟前。韩铁山笑了一声，却只是风。",
        "她翻出去年的视频。韩铁山站在台上唱歌。",
        "邻居给她讲那天早上的事。韩铁山坐在门口，骂了半日。",
        "孩子做了个纸人，叫它韩铁山。韩铁山坐在桌上，孩子给它斟酒。",
        "晚棠道：“韩铁山拿走了那盏灯。”",
        "韩铁山的弟弟坐在炉边。",
    ],
)
def test_what_is_past_or_dreamt_is_no_act_in_chinese(draft: str) -> None:
    """The same holds in Chinese."""
    assert found(draft, told(CHINESE, changes=[DEAD_ZH])) == []


def test_who_came_back_to_life_or_was_on_stage_since_may_act() -> None:
    """A later state that they live, or a later scene with them, leaves nothing certain."""
    draft = "Captain Varley sat down beside the stove."
    alive = state("C2", "status", "alive, hidden at the mill", chapter=4)
    assert found(draft, told(ENGLISH, changes=[DEAD, alive])) == []
    assert found(draft, told(ENGLISH, changes=[DEAD], on_stage=[(4, "C0 C2")])) == []
    assert len(found(draft, told(ENGLISH, changes=[DEAD]))) == 1


@pytest.mark.parametrize(
    "plan",
    [
        ScenePlan(characters=["Varley", "Ottoline"]),
        ScenePlan(characters=["Ottoline"], key_actions=["Captain Varley comes back from the weir"]),
    ],
)
def test_whom_the_plan_brings_may_act(plan: ScenePlan) -> None:
    """The plan says what is meant to change."""
    draft = "Captain Varley sat down beside the stove."
    assert found(draft, told(ENGLISH, changes=[DEAD], plan=plan)) == []


@pytest.mark.parametrize(
    ("content", "is_dead"),
    [
        ("Sergeant Pym shot at the boat and Captain Varley was killed.", True),
        ("Sergeant Pym killed Captain Varley on the quay.", True),
        ("Captain Varley was nearly killed on the quay.", False),
        ("Sergeant Pym swears that Captain Varley is dead.", False),
        ("Captain Varley killed Sergeant Pym on the quay.", False),
    ],
)
def test_a_memory_tells_a_death_by_the_words_beside_a_name(content: str, *, is_dead: bool) -> None:
    """Who is killed is dead, not who kills; what nearly happened or is only said is not certain."""
    story = told(ENGLISH, memories=[memory(content, "C2", "C3", event_type="fight")])
    assert bool(found("Captain Varley sat down beside the stove.", story)) is is_dead


@pytest.mark.parametrize(
    ("content", "is_dead"),
    [
        ("顾捕头一刀杀死韩铁山，众人逃散。", True),
        ("韩铁山被顾捕头一箭射死。", True),
        ("韩铁山险些被顾捕头打死。", False),
        ("韩铁山打死顾捕头。", False),
        ("顾捕头扬言要杀死韩铁山。", False),
    ],
)
def test_a_memory_tells_a_death_in_chinese(content: str, *, is_dead: bool) -> None:
    """The same holds in Chinese."""
    story = told(CHINESE, memories=[memory(content, "C2", "C3", event_type="fight")])
    assert bool(found("韩铁山推门进来。", story)) is is_dead


ARRESTED = state("C2", "status", "arrested for the fire")
BOUND_ZH = state("C2", "status", "被绑在盐仓柱上")


def test_who_was_arrested_does_not_act_elsewhere() -> None:
    """Somebody held whom nothing has freed is found when they act where nobody holds them."""
    draft = "Ottoline opened the door. Captain Varley came in and shook the snow from his coat."
    (issue,) = found(draft, told(ENGLISH, changes=[ARRESTED]))
    assert (issue.rule, issue.entity_ids) == ("absent_act", ["C2"])
    assert "arrested for the fire" in issue.message


def test_who_was_bound_does_not_move_about() -> None:
    """Somebody bound is found when they ride or walk, even before those who bound them; to speak they are free."""
    story = told(CHINESE, changes=[BOUND_ZH])
    (issue,) = found("顾捕头守在桥头。韩铁山骑着马上前，众人都让开了。", story)
    assert (issue.rule, issue.entity_ids) == ("absent_act", ["C2"])
    assert found("顾捕头守在桥头。韩铁山冷冷看他，一言不发。", story) == []


@pytest.mark.parametrize(
    "draft",
    [
        "They had released him at noon. Captain Varley came in and shook the snow from his coat.",
        "The cell was cold. Captain Varley came to the grating and asked for water.",
        "Sergeant Pym opened the door. Captain Varley came in and shook the snow from his coat.",
        "He was out on bail. Captain Varley came in and shook the snow from his coat.",
        "They came for her at noon. The phone rang once. Captain Varley laughed, and she heard doors behind him.",
        "Three months later the ice broke. Captain Varley sat down beside the stove.",
        (
            "At the prison they let her wait. Captain Varley sat down behind the glass. He was thinner, and would not"
            " look at her for a long while, and when he did it was with his head on one side, as if she were a ship he"
            " had sold. She had brought tobacco, and a book, and a pair of woollen socks, and she put them one by one"
            " after another upon the shelf. Captain Varley took up the socks."
        ),
    ],
)
def test_who_is_freed_or_in_custody_may_act(draft: str) -> None:
    """The draft itself tells that they are free, or shows them in custody, or with who arrested them."""
    arrest = memory("Sergeant Pym arrested Captain Varley for the fire.", "C2", "C3")
    assert found(draft, told(ENGLISH, changes=[ARRESTED], memories=[arrest])) == []


def test_who_is_out_on_bail_may_act_in_chinese() -> None:
    """What a modern story calls a release frees as a rescue does."""
    story = told(CHINESE, changes=[state("C2", "status", "被捕，羁押在看守所")])
    assert found("上午办了取保候审。韩铁山站在门口，冲她点头。", story) == []
    assert len(found("天亮了。韩铁山站在门口，冲她点头。", story)) == 1


def test_who_was_freed_since_may_act() -> None:
    """A later status, a memory of a rescue, or a later scene with them frees them."""
    draft = "Ottoline opened the door. Captain Varley came in and shook the snow from his coat."
    released = state("C2", "status", "released without charge", chapter=4)
    rescue = memory("Anselm rescued Captain Varley from the gaol.", "C0", "C2", chapter=4)
    assert found(draft, told(ENGLISH, changes=[ARRESTED, released])) == []
    assert found(draft, told(ENGLISH, changes=[ARRESTED], memories=[rescue])) == []
    assert found(draft, told(ENGLISH, changes=[ARRESTED], on_stage=[(4, "C1 C2")])) == []


def test_a_name_that_others_share_is_not_certain() -> None:
    """A surname that another one bears as well, or a mere description, names nobody for certain."""
    people = [*ENGLISH, ENGLISH[2].model_copy(update={"entity_id": "C9", "name": "Edith Varley", "aliases": []})]
    story = told(people, changes=[DEAD])
    assert found("Varley sat down beside the stove.", story) == []
    assert len(found("Captain Varley sat down beside the stove.", story)) == 1


SINCE = [(1, "C0 C1"), (2, "C0"), (3, "C0 C1"), (4, "C0"), (4, "C1"), (4, "C3"), (4, "C0")]
LATE = "They spoke of the late Captain Varley, and of his boat."
LATE_ZH = "众人又说起已故的韩铁山，还有他的船。"


def test_somebody_dead_before_the_story_is_not_met_last_night() -> None:
    """Whom the text calls dead by the way, and who was never on stage, was met by nobody yesterday."""
    draft = "“I had a long talk last night with Captain Varley,” said Ottoline. “He was in high spirits.”"
    (issue,) = found(draft, told(ENGLISH, on_stage=SINCE, text=LATE))
    assert (issue.rule, issue.entity_ids) == ("dead_met", ["C2"])
    assert (issue.evidence[0].source, issue.evidence[0].quote) == ("passage", "the late Captain Varley")
    assert issue.evidence[0].text == LATE
    (issue,) = found("晚棠道：“我昨夜遇见韩铁山，说了半日话。”", told(CHINESE, on_stage=SINCE, text=LATE_ZH))
    assert (issue.rule, issue.entity_ids) == ("dead_met", ["C2"])


@pytest.mark.parametrize(
    "draft",
    [
        "“I had a long talk with Captain Varley once,” said Ottoline.",
        "“I dreamt last night that I spoke with Captain Varley,” said Ottoline.",
        "“Last night I saw Captain Varley’s boat,” said Ottoline.",
        "“I never spoke with Captain Varley yesterday, nor any day,” said Ottoline.",
    ],
)
def test_to_have_met_the_dead_long_ago_or_in_a_dream_is_right(draft: str) -> None:
    """Without a word for yesterday or today it may have been in their lifetime."""
    assert found(draft, told(ENGLISH, on_stage=SINCE, text=LATE)) == []


def test_who_died_lately_may_have_been_met_last_night() -> None:
    """Where only a scene or two have passed since the death, last night may lie before it."""
    draft = "“I had a long talk last night with Captain Varley,” said Ottoline."
    assert found(draft, told(ENGLISH, changes=[DEAD])) == []


SAILED = state("C2", "status", "sailed for Lisbon")


def test_who_went_away_is_not_there_all_along() -> None:
    """Somebody whom the story sent away and nobody met since is found where they sit as if they had never gone."""
    draft = "Ottoline mended a net. Captain Varley sat in the window, smoking."
    (issue,) = found(draft, told(ENGLISH, changes=[SAILED]))
    assert (issue.rule, issue.severity, issue.entity_ids) == ("gone_act", "medium", ["C2"])
    left = state("C2", "location_id", None)
    (issue,) = found("晚棠在补网。韩铁山此时正坐在窗前，默默听着。", told(CHINESE, changes=[left]))
    assert issue.rule == "gone_act"
    assert "已经离开" in issue.message


@pytest.mark.parametrize(
    "draft",
    [
        "The mail-boat had arrived. Captain Varley sat in the window, smoking.",
        "Captain Varley came in and sat down in the window.",
        "At Lisbon they called upon the harbour office. Captain Varley rose and bowed.",
        "A month went by. Captain Varley sat in the window, smoking.",
        "The phone rings at two. It is Lisbon. Captain Varley laughs, and there is traffic behind him.",
        "An e-mail from Lisbon: all well. Captain Varley sends his love and asks for his razor.",
        "She knew it by the smell of tobacco: he was back. Captain Varley sat in the window.",
    ],
)
def test_who_comes_back_or_is_visited_may_act(draft: str) -> None:
    """An arrival, a return or a visit in the draft tells how they are there."""
    assert found(draft, told(ENGLISH, changes=[SAILED])) == []


def test_who_is_heard_on_the_telephone_in_chinese_may_be_anywhere() -> None:
    """A call, a message or a skip of time explains them in Chinese as well."""
    story = told(CHINESE, changes=[state("C2", "location_id", None)])
    assert found("手机响了，是韩铁山。“我快化了。”韩铁山笑着说。", story) == []
    assert found("一个月过去了。韩铁山坐在窗前吃饭。", story) == []
    assert len(found("晚棠在补网。韩铁山坐在窗前吃饭。", story)) == 1


def test_who_was_met_again_or_placed_elsewhere_has_not_gone() -> None:
    """A later scene with them or a later place puts the departure out."""
    draft = "Captain Varley sat in the window, smoking."
    back = state("C2", "location_id", "the mill", chapter=4)
    assert found(draft, told(ENGLISH, changes=[SAILED, back])) == []
    assert found(draft, told(ENGLISH, changes=[SAILED], on_stage=[(4, "C2"), (4, "C0")])) == []
    assert found(draft, told(ENGLISH, changes=[SAILED], on_stage=[(3, "C2")])) == []
