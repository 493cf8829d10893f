"""Who is dead, bound or held does not act: only what is certain is found, in English and in Chinese."""

from dataclasses import replace

import pytest

from novelgen.checking.story import StoryBefore
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.story import KnowledgeScene
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from tests.novelgen.checking.small_story import CHINESE, ENGLISH, found, memory, state, told

DEAD = state("C2", "status", "dead, drowned at the weir")
DEAD_ZH = state("C2", "status", "死亡")


def after_the_death(draft: str) -> StoryBefore:
    """The story in the draft's language, in which the captain has died."""
    return told(CHINESE, changes=[DEAD_ZH]) if "。" in draft else told(ENGLISH, changes=[DEAD])


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
        ("Ottoline lit the stove. Captain Varley sat by it.", "Captain Varley sat by it."),
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
    assert "韩铁山已死（3:2：" in issue.message


@pytest.mark.parametrize(
    ("draft", "quote"),
    [("雨停了。韓鐵山推門進來。", "韓鐵山推門進來。"), ("雨停了，韩铁山推门进来。", "韩铁山推门进来。")],
)
def test_either_script_reads_the_other(draft: str, quote: str) -> None:
    """A death in traditional characters is found in a draft in either, and quoted as it is written."""
    people = [each.model_copy(update={"name": "韓鐵山", "aliases": []}) for each in CHINESE if each.entity_id == "C2"]
    (issue,) = found(draft, told(people, memories=[memory("韓鐵山被顧捕頭殺死。", "C2")]))
    assert (issue.rule, issue.draft_quote, issue.evidence[0].text) == ("dead_act", quote, "韓鐵山被顧捕頭殺死。")


@pytest.mark.parametrize(("has_record", "findings"), [(False, 1), (True, 0)])
def test_an_authors_note_of_a_death_outweighs_a_guess(has_record: bool, findings: int) -> None:
    """Only a record that has them on stage later puts the author's own word in doubt."""
    note = memory("Captain Varley is dead.", "C2").model_copy(update={"content_type": "note"})
    story = told(ENGLISH, memories=[note])
    later = KnowledgeScene(StoryPosition(4, 3), frozenset({"C2"}), has_record=has_record)
    knowledge = replace(story.knowledge.story, scenes=[*story.scenes, later])
    story = replace(story, knowledge=KnowledgeRules(knowledge))
    assert len(found("The rain stopped. Captain Varley sat down beside her.", story)) == findings


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
def test_what_is_past_dreamt_painted_or_only_said_is_no_act(draft: str) -> None:
    """A memory, a dream, a portrait, a ghost, a grave, somebody else's words: the dead may be in all of them."""
    assert found(draft, after_the_death(draft)) == []


def test_a_death_told_after_all_talk_of_life_is_certain() -> None:
    """That somebody was thought alive puts a death in doubt until the story tells it again."""
    hoped = memory("The mate thinks Captain Varley is alive.", "C2", chapter=4)
    draft = "Captain Varley sat down as if he had never been away."
    assert found(draft, told(ENGLISH, changes=[DEAD], memories=[hoped])) == []
    known = state("C2", "status", "dead (known)", chapter=5).model_copy(update={"scene_index": 0})
    (issue,) = found(draft, told(ENGLISH, changes=[DEAD, known], memories=[hoped]))
    assert issue.rule == "dead_act"


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
        ("顾捕头一刀杀死韩铁山，众人逃散。", True),
        ("韩铁山被顾捕头一箭射死。", True),
        ("韩铁山险些被顾捕头打死。", False),
        ("韩铁山打死顾捕头。", False),
        ("顾捕头扬言要杀死韩铁山。", False),
    ],
)
def test_a_memory_tells_a_death_by_the_words_beside_a_name(content: str, *, is_dead: bool) -> None:
    """Who is killed is dead, not who kills; what nearly happened or is only said is not certain."""
    is_chinese = "。" in content
    story = told(CHINESE if is_chinese else ENGLISH, memories=[memory(content, "C2", "C3", event_type="fight")])
    draft = "韩铁山推门进来。" if is_chinese else "Captain Varley sat down beside the stove."
    assert bool(found(draft, story)) is is_dead


ARRESTED = state("C2", "status", "arrested for the fire")
BOUND_ZH = state("C2", "status", "被绑在盐仓柱上")


def test_who_was_arrested_does_not_act_elsewhere() -> None:
    """Unless a later status, a memory of a rescue or a later scene with them frees them."""
    draft = "Ottoline opened the door. Captain Varley came in and shook the snow from his coat."
    (issue,) = found(draft, told(ENGLISH, changes=[ARRESTED]))
    assert (issue.rule, issue.entity_ids) == ("absent_act", ["C2"])
    assert "arrested for the fire" in issue.message
    released = state("C2", "status", "released without charge", chapter=4)
    rescue = memory("Anselm rescued Captain Varley from the gaol.", "C0", "C2", chapter=4)
    assert found(draft, told(ENGLISH, changes=[ARRESTED, released])) == []
    assert found(draft, told(ENGLISH, changes=[ARRESTED], memories=[rescue])) == []
    assert found(draft, told(ENGLISH, changes=[ARRESTED], on_stage=[(4, "C1 C2")])) == []


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
    """What frees in a modern story counts as a rescue; a surname or description that others share is not certain."""
    story = told(CHINESE, changes=[state("C2", "status", "被捕，羁押在看守所")])
    assert found("上午办了取保候审。韩铁山站在门口，冲她点头。", story) == []
    assert len(found("天亮了。韩铁山站在门口，冲她点头。", story)) == 1
    people = [*ENGLISH, ENGLISH[2].model_copy(update={"entity_id": "C9", "name": "Edith Varley", "aliases": []})]
    story = told(people, changes=[DEAD])
    assert found("Varley sat down beside the stove.", story) == []
    assert len(found("Captain Varley sat down beside the stove.", story)) == 1


def test_a_state_in_code_is_told_in_words() -> None:
    """An author's alive=false is told as a death, and what holds from a chapter on names its first scene."""
    for entities, attribute, said in (
        (CHINESE, "alive", "韩铁山已死（3:1：韩铁山：已死）"),
        (ENGLISH, "alive", "dead"),
    ):
        dead = state("C2", attribute, value=False).model_copy(update={"scene_index": 0})
        draft = "韩铁山推门进来。" if entities is CHINESE else "Captain Varley sat down beside the stove."
        (issue,) = found(draft, told(entities, changes=[dead]))
        assert said in issue.message
        assert "alive" not in issue.message
        assert "False" not in issue.message
