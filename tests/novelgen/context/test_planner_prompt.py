"""The texts that go into the planner's prompt."""

from typing import Any

from novelgen.context.retrieval_plan import (
    MAX_CARD_CHARACTERS,
    MAX_PLAN_CHARACTERS,
    SECTION_TOKENS,
    PromptSections,
    StorySoFar,
    background_text,
    cards_text,
    first_hits_text,
    listing_order,
    scene_plan_text,
    story_sections,
)
from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.memory.outline import ChapterSummary, OutlineScene, StoryOutline, StoryRecap
from novelgen.memory.search import Candidate, RetrieverHit, SearchResult
from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.state import EntityStateSnapshot, OpenLoop
from novelgen.models.user_file import Character, CharactersConfig, Settings
from tests.novelgen.context.sample_scenes import FERRY, SALT_GATE, known
from tests.support.stories import NOW


def scene(number: int, *people: str, place: str | None = None, told: str = "") -> OutlineScene:
    """A scene of chapter 1 with one bullet."""
    return OutlineScene(1, number, "", place, people, (), (told,) if told else ())


def sections_of(
    story: StorySoFar,
    *,
    language: StoryLanguage = "en",
    entities: list[Entity] | None = None,
    plan: ScenePlan | None = None,
) -> PromptSections:
    """The sections of a scene 1:90 that is planned on a story."""
    request = MemoryContextRequest(
        project_id="p", chapter_index=1, scene_index=90, scene_plan=plan or SALT_GATE.scene_plan
    )
    return story_sections(story, request, SALT_GATE.entities if entities is None else entities, language)


def outline(**fields: Any) -> StoryOutline:
    """An outline of the sample's story."""
    return StoryOutline(project_id="p", **fields)


def test_an_entity_has_a_line_with_what_tells_it_apart() -> None:
    """Id, kind, names, then description, status, holder and where it was last seen, in the story's language."""
    compass = Entity(entity_id="I1", entity_type="item", name="the brass compass", description="cracked glass")
    mara = known("C1", "character", "Mara Venn", "Mara")
    gate = known("L2", "location", "the Salt Gate")
    state = EntityStateSnapshot(
        project_id="p",
        entity_id="I1",
        entity_type="item",
        timestamp=NOW,
        state_data={"status": "broken", "holder": "C1"},
    )
    story = StorySoFar(
        outline(scenes=[scene(4, "C1", place="L2")], holders={"C1": ["I1"]}), states=[state], touched_ids=["I1"]
    )
    english = sections_of(story, entities=[mara, compass, gate])
    assert english.texts["known_entities"].splitlines() == [
        "I1 | item | the brass compass | cracked glass; broken; held by Mara Venn",
        "C1 | character | Mara Venn; Mara | last seen 1:4 the Salt Gate",
        "L2 | location | the Salt Gate | last seen 1:4",
    ]
    chinese = sections_of(story, entities=[mara, compass, gate], language="zh")
    assert "在Mara Venn手里" in chinese.texts["known_entities"]
    assert "最近见于 1:4 the Salt Gate" in chinese.texts["known_entities"]


def test_a_smaller_bound_gives_every_section_its_share() -> None:
    """A model of a small context is told less of each; what had no room is counted."""
    entities = [known(f"C{number}", "character", f"Person Number {number}") for number in range(400)]
    request = MemoryContextRequest(project_id="p", chapter_index=1, scene_index=90, scene_plan=ScenePlan())
    told = story_sections(StorySoFar(outline(scenes=[scene(4, "C1")])), request, entities, "en", max_tokens=2000)
    assert 0 < told.tokens["known_entities"] <= SECTION_TOKENS["known_entities"] / 4
    assert told.left_out["known_entities"] > 0


def test_those_seen_last_are_listed_however_many_are_known() -> None:
    """After what the plan touches come people, place and things of the last scenes; what had no room is counted."""
    entities = [known(f"C{number}", "character", f"Person Number {number}") for number in range(400)]
    entities += [known("L7", "location", "the new quay"), known("I9", "item", "the last letter")]
    scenes = [scene(number, f"C{number}") for number in range(1, 60)]
    scenes.append(scene(60, "C399", place="L7"))
    story = StorySoFar(outline(scenes=scenes, holders={"C399": ["I9"]}), touched_ids=["C200"])
    told = sections_of(story, entities=entities)
    lines = told.texts["known_entities"].splitlines()
    first = [line.split(" | ")[0] for line in lines[:6]]
    assert first == ["C200", "L7", "C399", "C59", "C58", "I9"]
    assert told.tokens["known_entities"] <= SECTION_TOKENS["known_entities"]
    assert told.left_out["known_entities"] == len(entities) - len(lines) > 0


def test_of_the_others_the_weightier_come_first() -> None:
    """Often and lately on stage, or in a weighty open thread, comes before once and long ago."""
    entities = [known(f"C{number}", "character", f"Person {number}") for number in range(5)]
    scenes = [scene(1, "C1"), *(scene(number, "C2") for number in range(2, 9))]
    scenes += [scene(number) for number in range(10, 20)]
    loop = OpenLoop(loop_id="OL1", description="the feud", importance="critical", related_entities=["C3"])
    ordered = listing_order(entities, outline(scenes=scenes, open_loops=[loop]), touched_ids=["C4"])
    assert [entity.entity_id for entity in ordered] == ["C4", "C2", "C3", "C1", "C0"]


def test_the_last_scenes_are_told_and_the_chapter_before_them() -> None:
    """The last four with place and people, the latest whole; earlier ones of the chapter in a line each."""
    scenes = [scene(number, "C1", told=f"Thing {number} happened.") for number in range(1, 7)]
    summary = ChapterSummary(chapter_index=0, summary="The war began.")
    story = StorySoFar(outline(scenes=scenes, chapter_summaries=[summary]), StoryRecap(scenes=scenes))
    texts = sections_of(story).texts
    assert texts["last_scenes"].splitlines() == [
        f"[1:{number}] Mara Venn: Thing {number} happened." for number in (3, 4, 5, 6)
    ]
    assert texts["chapter_so_far"].splitlines() == [
        "[chapter 0] The war began.",
        "[1:1] Thing 1 happened.",
        "[1:2] Thing 2 happened.",
    ]


def test_threads_that_the_scene_could_pay_come_first_with_their_ids() -> None:
    """What the plan speaks of comes before what is older and weightier; state and people are told in both languages."""
    loops = [
        OpenLoop(loop_id="OL1", description="Who rings it?", importance="critical", age_scenes=50),
        OpenLoop(loop_id="OL2", description="Why the brass compass cracked", status="advanced", age_scenes=1),
        *(
            OpenLoop(loop_id=f"OL{number}", description="a vow", related_entities=["C1"], age_scenes=90)
            for number in (4, 5, 6)
        ),
    ]
    story = StorySoFar(outline(open_loops=loops, scenes=[scene(1, "C1", told="A vow is made.")]))
    told = sections_of(story).texts["threads"].splitlines()
    assert told[0] == "- OL2 [medium, 1 scenes old, moving] Why the brass compass cracked"
    assert "- OL4 [medium, 90 scenes old] a vow (Mara Venn)" in told
    assert len(told) == len(loops)
    assert "- OL1 [关键，已过 50 场] Who rings it?" in sections_of(story, language="zh").texts["threads"]


def test_every_section_keeps_its_budget_and_counts_what_it_left_out() -> None:
    """However long the story, lines enter whole or not at all."""
    scenes = [scene(number, "C1", told=f"Thing {number}. " * 60) for number in range(1, 60)]
    loops = [OpenLoop(loop_id=f"OL{number}", description="why? " * 40) for number in range(90)]
    states = [
        EntityStateSnapshot(
            project_id="p",
            entity_id=each.entity_id,
            entity_type=each.entity_type,
            timestamp=NOW,
            state_data={"status": "tired " * 30, "goals": ["a goal " * 20] * 3},
        )
        for each in SALT_GATE.entities
    ]
    summaries = [ChapterSummary(chapter_index=0, summary="before " * 900)]
    story = StorySoFar(
        outline(scenes=scenes, open_loops=loops, chapter_summaries=summaries),
        StoryRecap(scenes=scenes),
        states=states,
        state_ids=[state.entity_id for state in states],
    )
    told = sections_of(story)
    for name in ("last_scenes", "chapter_so_far", "threads", "states", "known_entities"):
        assert 0 < told.tokens[name] <= SECTION_TOKENS[name], name
    assert set(told.left_out) == {"chapter_so_far", "threads", "states"}
    assert told.left_out["threads"] == len(loops) - len(told.texts["threads"].splitlines())


def test_nothing_known_is_said() -> None:
    """In the story's language; newcomers, and what filters can name, are told, most used first."""
    for language, nothing in (("en", "(none)"), ("zh", "（无）")):
        told = sections_of(StorySoFar(outline()), entities=[], language=language)
        assert set(told.texts.values()) == {nothing}
        assert told.left_out == {}
    recap = StoryRecap(content_types=["scene", "memory"], tags=["oath", "debt"])
    texts = sections_of(StorySoFar(outline(), recap, newcomers=["Quillon Hask"])).texts
    assert (texts["newcomers"], texts["content_types"], texts["tags"]) == (
        "Quillon Hask",
        "scene, memory",
        "oath, debt",
    )


def test_first_hits_are_short_ranked_and_bounded() -> None:
    """Facts before passages, the better found first, in their short form, within the budget."""

    def candidate(name: str, rank: int, **fields: Any) -> Candidate:
        chunk = StoryMemoryChunk(
            chunk_id=name, project_id="p", chapter_index=1, scene_index=2, content=f"{name} " * 400, **fields
        )
        return Candidate(chunk, (RetrieverHit("semantic", rank, 0),))

    facts = [candidate(f"fact{n}", n, content_type="memory", short=f"fact {n}") for n in (2, 1)]
    passages = [candidate(f"text{n:02}", 1) for n in range(40)]
    lines = first_hits_text(SearchResult((*passages, *facts)), "en").splitlines()
    assert lines[:2] == ["- [1:2] fact 1", "- [1:2] fact 2"]
    assert estimate_tokens("\n".join(lines)) <= SECTION_TOKENS["first_hits"]
    assert 2 < len(lines) < 42
    assert first_hits_text(SearchResult(), "zh") == "（无）"


def test_plan_is_labelled_in_its_language_and_bounded() -> None:
    """Every part has a line of its own, empty ones none, and megabytes of plan are clipped."""
    assert scene_plan_text(FERRY.scene_plan, "zh").splitlines()[:2] == [
        "地点：青石镇外的旧渡口，雨夜",
        "人物：沈怀舟、柳如烟、老赵",
    ]
    assert scene_plan_text(ScenePlan(scene_number=1, purpose="Rest"), "en") == "Purpose: Rest"
    assert scene_plan_text(ScenePlan(scene_number=1), "en") == "(none)"
    scene_plan = ScenePlan(scene_number=1, key_actions=["run " * 100] * 1000)
    assert len(scene_plan_text(scene_plan, "en")) == MAX_PLAN_CHARACTERS


def test_kind_intensity_and_length_of_the_scene_are_told() -> None:
    """Seeds 001.2 and 004.3: in the plan's language, after what happens; whose point of view it is, too."""
    plan = ScenePlan(scene_number=1, purpose="Rest", scene_type="battle", intensity="high", estimated_words=1200)
    assert scene_plan_text(plan, "en").splitlines() == [
        "Purpose: Rest",
        "Kind of scene: battle",
        "Intensity: high",
        "Planned length in words: 1200",
    ]
    assert "场景类型：battle" in scene_plan_text(plan, "zh")
    seen = plan.model_copy(update={"characters": ["Mara"], "pov": "Mara"})
    assert scene_plan_text(seen, "en").splitlines()[:2] == ["Characters: Mara", "Point of view: Mara"]
    assert "视角：Mara" in scene_plan_text(seen, "zh")


def test_cards_of_the_plans_characters_are_told() -> None:
    """Seed 001.3: those whom the plan names by name or alias, one line each and bounded; others are not."""
    cast = CharactersConfig(
        protagonist=Character(name="Mara Venn", role="protagonist", aliases=["the pilot"], motivation="x" * 900),
        antagonist=Character(name="Lord Kerrin", role="antagonist"),
        supporting_characters=[Character(name="Tobias\nCrake", personality="wary")],
    )
    request = MemoryContextRequest(
        project_id="p",
        chapter_index=1,
        scene_index=2,
        scene_plan=ScenePlan(scene_number=2, characters=["the pilot"], pov="Tobias Crake"),
        characters=cast,
    )
    lines = cards_text(request, "en").splitlines()
    assert [line.split(":")[0] for line in lines] == ["Mara Venn", "Tobias Crake"]
    assert "the pilot" in lines[0]
    assert len(lines[0]) <= MAX_CARD_CHARACTERS
    assert lines[1] == "Tobias Crake: wary"
    assert cards_text(FERRY.request, "zh") == "（无）"


def test_background_tells_the_chapters_plan() -> None:
    """Settings, hints, the chapter's earlier scenes, and, as such, those that are planned after it."""
    scenes = [ScenePlan(scene_number=number, purpose=f"purpose {number}") for number in (1, 2, 3)]
    request = MemoryContextRequest(
        project_id="p",
        chapter_index=1,
        scene_index=2,
        scene_plan=scenes[1],
        settings=Settings(project_name="Salt", world_description="An island"),
        chapter_plan=ChapterPlan(chapter_number=1, chapter_title="Ebb", scenes=scenes),
        hints=["mind the oath"],
    )
    assert background_text(request, "en").splitlines() == [
        "Remark: mind the oath",
        "Chapter: Ebb",
        "Earlier in the chapter: purpose 1",
        "Planned later in the chapter: purpose 3",
        "Story: Salt",
        "World: An island",
    ]
    assert background_text(FERRY.request, "zh") == "（无）"
