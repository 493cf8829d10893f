"""What scenes changed: each kind, in both languages, and never anything that comes later."""

import itertools
from typing import Any, Literal

import pytest
from sqlalchemy import text as sql

from novelgen.context.difference_block import MAX_BLOCK_LINES, difference_block, difference_lines
from novelgen.context.story_difference import MAX_FACTS_OF_A_SCENE, StoryStretch, tell_difference
from novelgen.errors import InvalidPositionError, UnknownSceneError
from novelgen.models.entity import SAME_AS, Entity, EntityType
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story

_numbers = itertools.count(1)

_WORDS: dict[Literal["en", "zh"], dict[str, str]] = {
    "en": {
        "C0": "Mira",
        "C1": "Tomas",
        "C2": "Bela",
        "C3": "the hooded man",
        "L0": "the mill",
        "L1": "the quay",
        "I0": "the brass key",
        "hidden": "Tomas hid the brass key in the flour bin.",
        "given": "Tomas gave Mira the brass key on the quay.",
        "rope": "Who cut the rope?",
        "debt": "Will Bela pay for the boat?",
        "cut": "Bela cut it",
        "trace": "a knife was found",
        "leave": "leave the town",
        "stay": "find the boat",
        "friends": "friends",
        "close": "close",
        "cold": "cold",
        "quarrel": "they quarrelled over the key",
        "dead": "dead, drowned",
    },
    "zh": {
        "C0": "小满",
        "C1": "阿木",
        "C2": "贝拉",
        "C3": "蒙面人",
        "L0": "磨坊",
        "L1": "码头",
        "I0": "铜钥匙",
        "hidden": "阿木把铜钥匙藏在面粉缸里。",
        "given": "阿木在码头把铜钥匙交给小满。",
        "rope": "是谁割断了缆绳？",
        "debt": "贝拉会赔那条船吗？",
        "cut": "是贝拉割的",
        "trace": "找到一把刀",
        "leave": "离开镇子",
        "stay": "找到那条船",
        "friends": "朋友",
        "close": "亲近",
        "cold": "冷淡",
        "quarrel": "为钥匙吵了一架",
        "dead": "死亡，溺水",
    },
}
_TYPES: dict[str, EntityType] = {"C": "character", "L": "location", "I": "item"}


def _records(words: dict[str, str]) -> dict[tuple[int, int], dict[str, Any]]:
    first = {
        "location_id": "L0",
        "characters_present": ["C0", "C1", "C3"],
        "state_changes": [
            {"entity_id": "I0", "changes": {"holder": "C1"}},
            {"entity_id": "C0", "changes": {"location_id": "L0", "goals": [words["leave"]]}},
        ],
        "relationship_changes": [
            {
                "character_a": "C0",
                "character_b": "C1",
                "relationship_type": words["friends"],
                "status": words["close"],
                "dimensions": {"trust": 40},
            }
        ],
        "open_loops_created": [{"id": "OL0", "description": words["rope"], "importance": "high"}],
        "memories": [{"memory_id": "M1", "content": words["hidden"], "importance": 6, "entities": ["C1", "I0"]}],
    }
    second = {
        "location_id": "L1",
        "characters_present": ["C0", "C1", "C2"],
        "state_changes": [
            {"entity_id": "I0", "changes": {"holder": "C0"}},
            {"entity_id": "C0", "changes": {"location_id": "L1", "goals": [words["stay"]]}},
        ],
        "relationship_changes": [
            {
                "character_a": "C0",
                "character_b": "C1",
                "status": words["cold"],
                "event": words["quarrel"],
                "dimensions_a": {"trust": -30},
            }
        ],
        "open_loops_created": [{"id": "OL1", "description": words["debt"]}],
        "open_loops_advanced": [{"id": "OL0", "note": words["trace"]}],
        "memories": [{"memory_id": "M2", "content": words["given"], "importance": 8, "entities": ["C0", "C1", "I0"]}],
        "learned": [{"character_id": "C0", "memory_ids": ["M1"], "from_id": "C1"}],
    }
    third = {
        "characters_present": ["C0", "C1"],
        "state_changes": [
            {"entity_id": "I0", "changes": {"holder": None}},
            {"entity_id": "C1", "changes": {"status": words["dead"]}},
        ],
        "open_loops_resolved": [{"id": "OL0", "resolution_summary": words["cut"]}],
        "memories": [],
    }
    return {(1, 1): first, (1, 2): second, (1, 3): third}


def _scene(words: dict[str, str], chapter: int, scene: int, **changes: Any) -> SceneInput:
    record = {**_records(words)[chapter, scene], **changes}
    present = "、".join(words[each] for each in record["characters_present"])
    return SceneInput(
        chapter_index=chapter,
        scene_index=scene,
        text=f"{present}. {words['L0']} {words['I0']} {words['L1'] if scene > 1 else ''}",
        record=SceneRecord(chapter_index=chapter, scene_index=scene, **record),
    )


def _story(stores: MemoryStores, language: Literal["en", "zh"], *places: tuple[int, int]) -> str:
    """Store the first scenes, in the second of which the hooded man turns out to be Tomas, where it is stored."""
    project_id, words = f"mill-{next(_numbers)}", _WORDS[language]
    unmasked = {SAME_AS: {"entity_id": "C1", "chapter_index": 1, "scene_index": 2}}
    stores.create_project(project_id, language=language)
    entities = [
        Entity(
            entity_id=entity_id,
            entity_type=_TYPES[entity_id[0]],
            name=words[entity_id],
            profile=unmasked if entity_id == "C3" and (1, 2) in places else {},
        )
        for entity_id in ("C0", "C1", "C2", "C3", "L0", "L1", "I0")
    ]
    store_entities(stores, project_id, entities)
    ingest_scenes(stores, project_id, [_scene(words, *place) for place in places], index=False)
    return project_id


ALL = ((1, 1), (1, 2), (1, 3))


def _told(stores: MemoryStores, project_id: str, chapter: int, scene: int) -> list[str]:
    difference = Story(stores, project_id).changes.of_scene(position=StoryPosition(chapter, scene))
    return [line.strip().removeprefix("- ") for line in difference_lines(difference)]


def test_what_was_stored_of_a_mask_is_told_by_the_shown_name_in_known_words(stores: MemoryStores) -> None:
    """Once it is known who was behind it, no id stands for the mask, in a context neither; `dead` is a word."""
    project_id = _story(stores, "zh", *ALL)
    with stores.database(project_id).write() as unit:
        stated = StateChange(entity_id="C3", attribute="status", value="dead", chapter_index=1, scene_index=3)
        unit.states.append([stated])
    told = "\n".join(_told(stores, project_id, 1, 3))
    assert f"{_WORDS['zh']['C1']}：已死" in told.replace(": ", "：")
    with stores.database(project_id).read() as unit:
        outline = unit.outline(as_of=StoryPosition(1, 4))
    assert (outline.masks, outline.names["C3"]) == ({"C3": "C1"}, _WORDS["zh"]["C1"])


def test_a_scene_tells_every_kind_of_change(stores: MemoryStores) -> None:
    """Each with names in the place of ids, what was before what is."""
    project_id = _story(stores, "en", *ALL)
    assert _told(stores, project_id, 1, 2) == [
        "What scene 1:2 changed:",
        "New facts:",
        "Tomas gave Mira the brass key on the quay.",
        "Who is who:",
        "the hooded man is Tomas",
        "For the first time:",
        "Bela",
        "the quay",
        "Changed hands:",
        "Mira now holds the brass key (was: Tomas)",
        "States:",
        "Mira: where: the mill → the quay; wants: now also find the boat (no longer: leave the town)",
        "Threads:",
        "planted: Will Bela pay for the boat?",
        "moved: Who cut the rope? (a knife was found)",
        "Who learnt what:",
        "Mira learnt from Tomas: Tomas hid the brass key in the flour bin.",
        "Relationships:",
        "Mira – Tomas: close → cold; Mira: distrust; they quarrelled over the key",
    ]


def test_a_chinese_story_is_told_in_chinese(stores: MemoryStores) -> None:
    """The same changes, in the story's words alone."""
    project_id = _story(stores, "zh", *ALL)
    assert _told(stores, project_id, 1, 2) == [
        "1:2 场的变化：",
        "新的事实：",
        "阿木在码头把铜钥匙交给小满。",
        "身份：",
        "蒙面人就是阿木",
        "初次出现：",
        "贝拉",
        "码头",
        "易手之物：",
        "铜钥匙：阿木 → 小满",
        "状态：",
        "小满：所在：磨坊 → 码头；目标：新增 找到那条船（不再有：离开镇子）",
        "线索：",
        "埋下：贝拉会赔那条船吗？",
        "有进展：是谁割断了缆绳？（找到一把刀）",
        "谁知道了什么：",
        "小满从阿木处得知：阿木把铜钥匙藏在面粉缸里。",
        "人物关系：",
        "小满 – 阿木：亲近 → 冷淡；小满：不信任；为钥匙吵了一架",
    ]


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("en", ["Tomas: dead, drowned", "nobody holds the brass key any more (was: Mira)"]),
        ("zh", ["阿木：死亡，溺水", "铜钥匙：小满 → 无人持有"]),
    ],
)
def test_the_last_scene_is_told_where_nothing_is_asked(
    stores: MemoryStores, language: Literal["en", "zh"], lines: list[str]
) -> None:
    """A death is no plain state, a thread that ends is told with how, and who was named before is no newcomer."""
    project_id = _story(stores, language, *ALL)
    difference = Story(stores, project_id).changes.between()
    assert (difference.first, difference.last) == ((1, 3), (1, 3))
    assert [(each.loop_id, each.kind, each.note) for each in difference.threads] == [
        ("OL0", "paid", _WORDS[language]["cut"])
    ]
    assert (difference.states, difference.newcomers, difference.facts) == ([], [], [])
    told = [line.strip().removeprefix("- ") for line in difference_lines(difference)]
    assert [line for line in lines if line not in told] == []


def test_nothing_of_the_future_is_told(stores: MemoryStores) -> None:
    """What a scene in the middle changed is the same before and after later scenes are stored, also taken in anew."""
    project_id = _story(stores, "en", (1, 1), (1, 2))
    before = Story(stores, project_id).changes.between()
    words = _WORDS["en"]
    ingest_scenes(stores, project_id, [_scene(words, 1, 3)], index=False)
    middle = StoryPosition(1, 2)
    assert Story(stores, project_id).changes.of_scene(position=middle) == before
    assert Story(stores, project_id).changes.between(until=StoryPosition(1, 3)) == before
    ingest_scenes(stores, project_id, [_scene(words, 1, 2, learned=[])], index=False)
    anew = Story(stores, project_id).changes.of_scenes(taken=[(1, 2)])
    assert anew == before.model_copy(update={"learnt": []})
    assert "drowned" not in anew.model_dump_json()


def test_a_stretch_tells_how_it_ends_against_how_it_began(stores: MemoryStores) -> None:
    """What is the same at both ends is no change, and what happened between stands with its scene."""
    project_id = _story(stores, "en", *ALL)
    whole = Story(stores, project_id).changes.between(since=StoryPosition(1, 2))
    assert [(each.was, each.now) for each in whole.handovers] == [("C1", None)]
    assert {each.loop_id: each.kind for each in whole.threads} == {"OL0": "paid", "OL1": "planted"}
    lines = difference_lines(whole)
    assert lines[0] == "What changed from scene 1:2 to 1:3:"
    assert "  - [1:2] Tomas gave Mira the brass key on the quay." in lines
    chapter = Story(stores, project_id).changes.of_scene(position=StoryPosition(1))
    assert [each.scene_index for each in chapter.scenes] == [1, 2, 3]


def test_facts_are_bounded_best_first(stores: MemoryStores) -> None:
    """The weightiest of a scene are listed, the rest is counted; one that ends an earlier one says so."""
    words = _WORDS["en"]
    project_id = _story(stores, "en", (1, 1))
    memories = [
        {"memory_id": f"M{number}", "content": f"Stone {number} fell.", "importance": number} for number in range(2, 11)
    ]
    memories[-1]["supersedes"] = "M1"
    ingest_scenes(stores, project_id, [_scene(words, 1, 2, memories=memories)], index=False)
    difference = Story(stores, project_id).changes.between()
    assert [each.importance for each in difference.facts] == list(range(10, 10 - MAX_FACTS_OF_A_SCENE, -1))
    assert difference.facts_in_all == 9
    assert difference.facts[0].replaces == words["hidden"]
    lines = difference_lines(difference)
    assert "  - Stone 10 fell. (in place of: Tomas hid the brass key in the flour bin.)" in lines
    assert "  - and 2 more" in lines
    block = difference_block(difference)
    assert block[1] == "  - Stone 10 fell."
    assert sum(line.startswith("  - Stone") for line in block) < 5
    assert len(block) <= MAX_BLOCK_LINES


def test_a_thread_is_told_when_it_becomes_overdue_and_not_again(stores: MemoryStores) -> None:
    """It is overdue on entering its last scene; the scene before it tells so, later ones do not."""
    project_id = _story(stores, "en", *ALL)
    added = Story(stores, project_id).threads.add(description="Who rings the bell?", start=StoryPosition(1, 2))
    Story(stores, project_id).threads.edit(loop_id=added.loop_id, due_by=StoryPosition(1, 3))
    told = _told(stores, project_id, 1, 2)
    assert any(line.startswith("overdue since now: Who rings the bell?") for line in told)
    assert not any("bell" in line for line in _told(stores, project_id, 1, 3))


def test_what_somebody_is_kept_from_is_told(stores: MemoryStores) -> None:
    """Who was there and knows it is no news; who does not know it is, and so is a whole tale."""
    words = _WORDS["en"]
    project_id = _story(stores, "en", (1, 1))
    secret = {"memory_id": "M2", "content": "The bin is empty.", "known_by": ["C0"], "hidden_from": ["C1", "C2"]}
    tale = {"character_id": "C2", "from_id": "C0"}
    ingest_scenes(stores, project_id, [_scene(words, 1, 2, memories=[secret], learned=[tale])], index=False)
    lines = _told(stores, project_id, 1, 2)
    start = lines.index("Who learnt what:")
    assert lines[start + 1 : start + 3] == [
        "Bela learnt from Mira: all that Mira has lived through",
        "Tomas, Bela does not know: The bin is empty.",
    ]


@pytest.mark.parametrize(
    ("carried", "told"),
    [(["the brass key"], None), (["I0"], None), (["the brass key", "a lamp"], "Mira: carries: the brass key, a lamp")],
)
def test_what_changed_hands_is_told_once(stores: MemoryStores, carried: list[str], told: str | None) -> None:
    """A list of what somebody carries is a state of its own only where it tells more."""
    project_id = _story(stores, "en", (1, 1))
    changes = [{"entity_id": "I0", "changes": {"holder": "C0"}}, {"entity_id": "C0", "changes": {"inventory": carried}}]
    ingest_scenes(stores, project_id, [_scene(_WORDS["en"], 1, 2, state_changes=changes)], index=False)
    lines = _told(stores, project_id, 1, 2)
    assert "Mira now holds the brass key (was: Tomas)" in lines
    assert [line for line in lines if "carries" in line] == ([told] if told else [])


def test_what_somebody_knows_loses_nothing(stores: MemoryStores) -> None:
    """Of a list of knowledge, which keeps its newest entries alone, what came is told and what went is not."""
    project_id = _story(stores, "en", (1, 1))
    known = {2: ["the bin is full", "rain is near"], 3: ["rain is near", "Bela lied"], 4: ["Bela lied"]}
    for number, entries in known.items():
        changes = [{"entity_id": "C0", "changes": {"knowledge": entries}}]
        record = SceneRecord.model_validate({"chapter_index": 1, "scene_index": number, "state_changes": changes})
        rain = SceneInput(chapter_index=1, scene_index=number, text="Rain.", record=record)
        ingest_scenes(stores, project_id, [rain], index=False)
    assert "Mira: knows: now also Bela lied" in _told(stores, project_id, 1, 3)
    assert _told(stores, project_id, 1, 4)[1:] == ["nothing that is known"]


def test_nobody_is_shown_by_an_id(stores: MemoryStores) -> None:
    """Somebody whose name the story has not shown yet is told of in words."""
    words = _WORDS["en"]
    project_id = _story(stores, "en", (1, 1))
    changes = [{"entity_id": "I0", "changes": {"holder": "C9"}}]
    ingest_scenes(stores, project_id, [_scene(words, 1, 2, state_changes=changes)], index=False)
    assert "somebody not named yet now holds the brass key (was: Tomas)" in _told(stores, project_id, 1, 2)


@pytest.mark.parametrize(
    ("language", "remark"), [("en", "stored as text alone, so that nobody said what they changed: 1:2"), ("zh", "1:2")]
)
def test_a_scene_without_a_record_says_so(stores: MemoryStores, language: Literal["en", "zh"], remark: str) -> None:
    """It tells nothing, and that is not to be read as nothing having changed."""
    project_id = _story(stores, language, (1, 1))
    plain = SceneInput(chapter_index=1, scene_index=2, text="……")
    ingest_scenes(stores, project_id, [plain], index=False)
    difference = Story(stores, project_id).changes.between()
    assert difference.is_empty
    assert difference_lines(difference)[-1].endswith(remark)
    assert Story(stores, project_id).changes.of_scenes(taken=[(1, 2)]) is None


def test_a_scene_that_changes_nothing(stores: MemoryStores) -> None:
    """It is told as such, and no report has a block for it."""
    project_id = _story(stores, "en", (1, 1))
    empty = SceneInput(chapter_index=1, scene_index=2, text="Rain.", record=SceneRecord(chapter_index=1, scene_index=2))
    ingest_scenes(stores, project_id, [empty], index=False)
    difference = Story(stores, project_id).changes.between()
    assert difference_lines(difference) == ["What scene 1:2 changed:", "nothing that is known"]
    assert difference.model_dump(mode="json").keys() == {"project_id", "language", "first", "last", "scenes", "names"}
    assert Story(stores, project_id).changes.of_scenes(taken=[(1, 2)]) is None
    assert Story(stores, project_id).changes.of_scenes(taken=[]) is None


@pytest.mark.slow
def test_a_deleted_scene_changed_nothing(stores: MemoryStores) -> None:
    """The last one that is left is told of; the deleted one is not there to be asked of."""
    project_id = _story(stores, "en", (1, 1), (1, 2))
    Story(stores, project_id).scenes.delete(StoryPosition(1, 2))
    left = Story(stores, project_id).changes.between()
    assert left.last == (1, 1)
    assert [(each.was, each.now) for each in left.handovers] == [(None, "C1")]
    assert "Tomas now holds the brass key" in _told(stores, project_id, 1, 1)
    with pytest.raises(UnknownSceneError, match="1:2"):
        Story(stores, project_id).changes.of_scene(position=StoryPosition(1, 2))
    with pytest.raises(UnknownSceneError, match="chapter 7"):
        Story(stores, project_id).changes.of_scene(position=StoryPosition(7))
    with pytest.raises(InvalidPositionError, match="turn them round"):
        Story(stores, project_id).changes.between(since=StoryPosition(1, 2), until=StoryPosition(1, 1))


def test_of_a_whole_book_the_last_scene_is_told_with_totals(stores: MemoryStores) -> None:
    """Scenes of one chapter that follow one another are told of together; those of two are not."""
    project_id = _story(stores, "en", *ALL)
    together = Story(stores, project_id).changes.of_scenes(taken=ALL)
    assert (together.first, together.last, together.totals) == ((1, 1), (1, 3), None)
    apart = Story(stores, project_id).changes.of_scenes(taken=[(1, 1), (1, 3)])
    assert (apart.first, apart.totals.scenes, apart.totals.facts) == ((1, 3), 2, 0)
    last = SceneInput(
        chapter_index=2,
        scene_index=1,
        text="Bela waits.",
        record=SceneRecord(chapter_index=2, scene_index=1, key_events=["Bela waits for the boat."]),
    )
    ingest_scenes(stores, project_id, [last], index=False)
    whole = Story(stores, project_id).changes.of_scenes(taken=[*ALL, (2, 1)])
    assert [fact.content for fact in whole.facts] == ["Bela waits for the boat."]
    assert (whole.first, whole.last) == ((2, 1), (2, 1))
    totals = (whole.totals.scenes, whole.totals.threads_ended, whole.totals.deaths)
    assert totals == (4, 1, 1)
    assert difference_block(whole)[-1].startswith("  All 4 scenes taken in: ")


def test_what_cannot_be_told_does_not_undo_what_is_stored(stores: MemoryStores) -> None:
    """A database that fails while changes are read leaves an issue in their place."""
    project_id = _story(stores, "en", (1, 1))
    with stores.database(project_id).write() as unit:
        unit._session.connection.execute(sql("ALTER TABLE knowledge_events RENAME TO lost"))
    changes = Story(stores, project_id).changes.of_scenes(taken=[(1, 1)])
    assert [(each.stage, each.kind) for each in changes.issues] == [("changes", "unavailable")]


@pytest.mark.slow
def test_a_program_that_stores_scene_by_scene_does_not_pay_for_it(stores: MemoryStores) -> None:
    """One finished scene comes back without what it changed; that is asked for by itself."""
    project_id = _story(stores, "en", (1, 1))
    scene = _scene(_WORDS["en"], 1, 2)
    report = Story(stores, project_id).scenes.store(position=StoryPosition(1, 2), text=scene.text, record=scene.record)
    assert report.changes is None
    assert "changes" not in report.model_dump()
    assert not Story(stores, project_id).changes.between().is_empty


@pytest.mark.parametrize("is_sure", [True, False])
def test_a_place_on_stage_by_a_guess_alone_is_marked(is_sure: bool) -> None:
    """It was spoken of before; a place that the author says is sure."""
    ford = Entity(entity_id="L0", entity_type="location", name="the ford", first_chapter=1, first_scene=1)
    stretch = StoryStretch(
        project_id="guessed",
        language="en",
        since=StoryPosition(1, 2),
        until=StoryPosition(1, 3),
        entities_before=[ford],
        entities=[ford],
        seen=["L0"],
        surely_seen=frozenset({"L0"} if is_sure else ()),
    )
    difference = tell_difference(stretch)
    assert [newcomer.is_guessed for newcomer in difference.newcomers] == [not is_sure]
    lines = [line.strip() for line in difference_lines(difference)]
    assert "- the ford (spoken of before)" + ("" if is_sure else " (guess)") in lines
