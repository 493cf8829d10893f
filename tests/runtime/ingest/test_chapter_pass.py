"""The pass at the end of a chapter with a scripted model, in real stores."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from novelgen.errors import UnknownProjectError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.folds import said_pay_off
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.chapter_pass import ChapterPass, reconcile_chapter, reconcile_chapters
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_writes import memories_still_true
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.undo import StoryUndo
from tests.support.scripted_chat_model import ScriptedChatModel

TEXTS = {
    (1, 1): "Mary Grey lent the lamp to Tom Hale. A man in a hood watched them from the gate.",
    (1, 2): "The hooded rider followed Tom Hale to the mill. Tom Hale gave the lamp back at last.",
    (2, 1): "The hooded rider took off the hood, and it was Sexton Pike. Mary Grey wept.",
}
PEOPLE = [
    Entity(entity_id="C0", entity_type="character", name="Mary Grey", first_chapter=1, first_scene=1),
    Entity(entity_id="C1", entity_type="character", name="Tom Hale", first_chapter=1, first_scene=1),
    Entity(
        entity_id="C2",
        entity_type="character",
        name="man in a hood",
        description="He watches the gate.",
        first_chapter=1,
        first_scene=1,
    ),
    Entity(entity_id="C3", entity_type="character", name="the hooded rider", first_chapter=1, first_scene=2),
    Entity(entity_id="C4", entity_type="character", name="Sexton Pike", first_chapter=1, first_scene=1),
]
MEMORIES = {
    (1, 1): [("x-a", "Mary Grey lent the lamp to Tom Hale.", 9, ["C0", "C1"])],
    (1, 2): [
        ("x-b", "The hooded rider followed Tom Hale.", 9, ["C3", "C1"]),
        ("x-c", "Tom Hale gave the lamp back.", 9, ["C1"]),
    ],
    (2, 1): [("x-d", "Sexton Pike is the hooded rider.", 9, ["C3", "C4"])],
}
LOOPS = {
    (1, 1): [("OL0", "Will Tom return the lamp?", "high"), ("OL1", "Who is the man in the hood?", "high")],
    (1, 2): [("OL2", "Who rides in the hood?", "high")],
}


def read_scene(stores: MemoryStores, project: str, place: tuple[int, int], text: str, **record: Any) -> None:
    """Store a scene as a model read it."""
    told = {"chapter_index": place[0], "scene_index": place[1]}
    made = SceneRecord.model_validate({**told, **record})
    ingest_scene(stores, project, SceneInput(**told, text=text, record=made, record_origin="extracted"))


def read_story(stores: MemoryStores, project: str, *places: tuple[int, int], **loop: str) -> None:
    """Store scenes as a model read them; all when none are named. Loops have what is said of them besides."""
    store_entities(stores, project, PEOPLE, origin="extracted")
    for place in places or TEXTS:
        read_scene(
            stores,
            project,
            place,
            TEXTS[place],
            characters_present=list(dict.fromkeys(i for m in MEMORIES[place] for i in m[3])),
            summary=[TEXTS[place]],
            memories=[
                {"memory_id": name, "content": says, "importance": weight, "entities": who}
                for name, says, weight, who in MEMORIES[place]
            ],
            open_loops_created=[
                {"id": name, "description": says, "importance": weight, **loop}
                for name, says, weight in LOOPS.get(place, ())
            ],
        )


def saying(**answer: Any) -> ScriptedChatModel:
    """Return a model that gives one answer whatever it is asked."""
    whole = {"same_entities": [], "threads_ended": [], **answer}
    return ScriptedChatModel(answer=lambda _: json.dumps(whole, ensure_ascii=False))


def run(stores: MemoryStores, project: str, chapter: int = 1, **answer: Any) -> ChapterPass:
    """Reconcile a chapter with a model that says this."""
    return reconcile_chapter(stores, project, chapter, model=saying(**answer))


def names_as_of(stores: MemoryStores, project: str, *place: int) -> dict[str, set[str]]:
    """Return the names of everybody at a position."""
    as_of = StoryPosition(*place) if place else END_OF_STORY
    with stores.database(project).read() as unit:
        return {each.entity_id: set(each.names()) for each in unit.entities.list_as_of(as_of=as_of)}


def waiting(stores: MemoryStores, project: str, *place: int) -> set[str]:
    """Return the ids of the threads that wait at a position."""
    with stores.database(project).read() as unit:
        as_of = StoryPosition(*place) if place else END_OF_STORY
        return {thread.loop_id for thread in unit.threads.list_as_of(as_of=as_of)}


def of_entity(stores: MemoryStores, project: str, entity_id: str, *place: int) -> set[str]:
    """Return the ids of the memories of an entity at a position."""
    as_of = StoryPosition(*place) if place else END_OF_STORY
    with stores.database(project).read() as unit:
        wanted = MemoryFilter(as_of=as_of, entities=[entity_id], content_types=["memory"])
        return {stored.chunk.source_id or "" for stored in unit.memories.list_matching(wanted)}


SAME = {"a": "C2", "b": "C3", "how": "same", "scene": "1:2", "quote": "The hooded rider followed Tom Hale"}
UNMASKED = {"a": "C4", "b": "C3", "how": "unmasked", "scene": "2:1", "quote": "and it was Sexton Pike"}


@pytest.mark.slow
def test_two_entries_of_one_person_become_one(stores: MemoryStores, project: str) -> None:
    """A merge that a quote proves is stored, its names are kept together, and undoing it brings both back."""
    read_story(stores, project)
    before = names_as_of(stores, project)
    done = run(stores, project, same_entities=[SAME])
    assert (done.outcome, [(each.entity_id, each.other_id) for each in done.changes]) == ("done", [("C2", "C3")])
    assert names_as_of(stores, project)["C2"] == {"man in a hood", "the hooded rider"}
    assert of_entity(stores, project, "C2") == {"x-b", "x-d"}
    with stores.database(project).write() as unit:
        unit.merges.undo(done.changes[0].change_id)
    assert names_as_of(stores, project) == before
    again = reconcile_chapter(stores, project, 1, model=saying(same_entities=[SAME]), again=True)
    assert again.changes == []
    assert "undid" in again.issues[-1].message


def test_an_unmasking_counts_from_its_scene_on(stores: MemoryStores, project: str) -> None:
    """Before the scene both stand apart with their own names and memories; after it one has all of both."""
    read_story(stores, project)
    mask = PEOPLE[3].model_copy(update={"aliases": [EntityAlias(alias="rider", first_chapter=1, first_scene=2)]})
    store_entities(stores, project, [mask], origin="extracted")
    before = {place: names_as_of(stores, project, *place) for place in ((1, 2), (2, 1))}
    told_before = {who: of_entity(stores, project, who, 2, 1) for who in ("C3", "C4")}
    done = run(stores, project, chapter=2, same_entities=[UNMASKED])
    assert [(each.entity_id, each.other_id) for each in done.changes] == [("C4", "C3")]
    assert {place: names_as_of(stores, project, *place) for place in before} == before
    assert {who: of_entity(stores, project, who, 2, 1) for who in told_before} == told_before
    after = names_as_of(stores, project, 2, 2)
    assert "C3" not in after
    assert after["C4"] == {"Sexton Pike", "the hooded rider", "rider"}
    assert before[2, 1]["C4"] == {"C4"}
    assert of_entity(stores, project, "C4", 2, 2) == {"x-b", "x-d"}
    with stores.database(project).read() as unit:
        found = unit.memories.by_entities(["C4"], as_of=StoryPosition(2, 2), content_types=["memory"])
        early = unit.memories.by_entities(["C4"], as_of=StoryPosition(2, 1), content_types=["memory"])
        hits = unit.lexical.search(
            "hooded rider followed", memory_filter=MemoryFilter(as_of=StoryPosition(2, 2), entities=["C4"])
        )
    assert {each.source_id for each in found} == {"x-b", "x-d"}
    assert early == []
    assert hits
    with stores.database(project).write() as unit:
        unit.merges.undo(done.changes[0].change_id)
    assert "C3" in names_as_of(stores, project)


NOT_SAME = {"id": "C2", "names": ["the hooded rider"], "scene": "2:1", "quote": "and it was Sexton Pike"}


@pytest.mark.slow
def test_a_name_of_another_goes_again(stores: MemoryStores, project: str) -> None:
    """With who had it, where a merge or an unmasking brought it, and for good; else as an entity of its own."""
    read_story(stores, project)
    before = names_as_of(stores, project)
    run(stores, project, same_entities=[SAME])
    done = run(stores, project, chapter=2, not_same=[NOT_SAME])
    assert [(each.kind, each.other_id, each.undone_at is not None) for each in done.parted] == [("merge", "C3", True)]
    assert names_as_of(stores, project) == before
    assert of_entity(stores, project, "C3") == {"x-b", "x-d"}
    again = reconcile_chapter(stores, project, 1, model=saying(same_entities=[SAME]), again=True)
    assert again.changes == []

    def asked_again(**answer: Any) -> ChapterPass:
        return reconcile_chapter(stores, project, 2, model=saying(**answer), again=True)

    asked_again(same_entities=[UNMASKED])
    assert [each.other_id for each in asked_again(not_same=[{**NOT_SAME, "id": "C4"}]).parted] == ["C3"]
    assert names_as_of(stores, project) == before
    asked_again(known_names=[{"entity": "C4", "name": "the hood", "scene": "2:1"}])
    [change] = asked_again(not_same=[{**NOT_SAME, "id": "C4", "names": ["the hood"]}]).parted
    assert (change.kind, change.entity_id) == ("split", "C4")
    assert names_as_of(stores, project) == {**before, change.other_id: {"the hood"}}


def test_a_merge_that_cannot_be_undone_is_reported(stores: MemoryStores, project: str) -> None:
    """Where what it changed was changed again since, all stays, and the report says which change it was."""
    read_story(stores, project)
    [change] = run(stores, project, same_entities=[SAME]).changes
    told = PEOPLE[2].model_copy(update={"role": "a spy", "aliases": [EntityAlias(alias="the hooded rider")]})
    store_entities(stores, project, [told], origin="extracted")
    merged = names_as_of(stores, project)
    done = run(stores, project, chapter=2, not_same=[NOT_SAME])
    assert done.parted == []
    assert names_as_of(stores, project) == merged
    assert f"change {change.change_id}" in done.issues[-1].message


def test_a_name_that_an_author_wrote_stays(stores: MemoryStores, project: str) -> None:
    """An alias on an author's card is not taken away, though a merge by the model brought it first."""
    read_story(stores, project)
    run(stores, project, same_entities=[SAME])
    told = PEOPLE[2].model_copy(update={"aliases": [EntityAlias(alias="the hooded rider")]})
    store_entities(stores, project, [told], origin="author")
    done = run(stores, project, chapter=2, not_same=[NOT_SAME])
    assert done.parted == []
    assert "the hooded rider" in names_as_of(stores, project)["C2"]
    assert "an author's" in done.issues[-1].message


def test_what_an_author_made_one_stays_one(stores: MemoryStores, project: str) -> None:
    """An author's merge, a display name, and what no quote proves are reported and left alone."""
    read_story(stores, project)
    with stores.database(project).write() as unit:
        unit.merges.merge("C2", "C3")
    merged = names_as_of(stores, project)
    shown = {**NOT_SAME, "names": ["man in a hood"]}
    unproven = {**NOT_SAME, "quote": "words that stand nowhere"}
    done = run(stores, project, chapter=2, not_same=[NOT_SAME, shown, unproven, {**NOT_SAME, "id": "C0"}])
    assert done.parted == []
    assert names_as_of(stores, project) == merged
    told = " ".join(issue.message for issue in done.issues)
    for reason in ("an author made C3 and C2 one", "display name", "without a quote", "has none of them"):
        assert reason in told


def test_who_is_first_seen_where_the_mask_falls_is_merged(stores: MemoryStores, project: str) -> None:
    """Where one of the two was never on stage before, nothing earlier can tell, so that they become one whole."""
    read_story(stores, project)
    store_entities(
        stores, project, [PEOPLE[4].model_copy(update={"first_chapter": 2, "first_scene": 1})], origin="extracted"
    )
    run(stores, project, chapter=2, same_entities=[UNMASKED])
    assert names_as_of(stores, project, 2, 1)["C4"] == {"the hooded rider"}
    assert names_as_of(stores, project)["C4"] == {"Sexton Pike", "the hooded rider"}
    with stores.database(project).read() as unit:
        assert unit.entities.get("C3") is None


def test_a_re_ingest_after_an_unmasking_keeps_them_apart_before(stores: MemoryStores, project: str) -> None:
    """Scenes that are stored anew link the mask before the scene and who it was after it."""
    read_story(stores, project)
    run(stores, project, chapter=2, same_entities=[UNMASKED])
    for chapter, number in ((1, 3), (2, 2)):
        text = "The hooded rider came to Mary Grey and spoke."
        ingest_scene(stores, project, SceneInput(chapter_index=chapter, scene_index=number, text=text))
    with stores.database(project).read() as unit:
        early, late = (unit.scenes.require(StoryPosition(*place)) for place in ((1, 3), (2, 2)))
    assert ("C3" in early.participants, "C4" in early.participants) == (True, False)
    assert ("C3" in late.participants, "C4" in late.participants) == (False, True)


def test_threads_end_in_the_scene_that_ended_them(stores: MemoryStores, project: str) -> None:
    """From the scene that is named on, with a note how; of two that ask the same the later one ends, in any order."""
    read_story(stores, project)
    ended = {"id": "OL0", "outcome": "already answered", "scene": "1:2", "note": "given back", "quote": "M3"}
    done = run(stores, project, threads_ended=[ended], threads_joined=[{"id": "OL1", "same_as": "OL2"}])
    assert done.ended_threads == ["OL0", "OL2"]
    assert "OL0" in waiting(stores, project, 1, 2)
    assert "OL0" not in waiting(stores, project, 2, 1)
    with stores.database(project).read() as unit:
        threads = [unit.threads.get(each) for each in done.ended_threads]
    assert [each and (each.status, each.resolution_summary) for each in threads] == [
        ("resolved", "given back"),
        ("abandoned", "same as OL1"),
    ]


@pytest.mark.parametrize("outcome", ["part", "advanced", "一部分"])
def test_a_thread_of_which_a_part_is_answered_goes_on(stores: MemoryStores, project: str, outcome: str) -> None:
    """A review that lists it among the ended ones, half answered, ends nothing."""
    read_story(stores, project)
    ended = {"id": "OL0", "outcome": outcome, "scene": "1:2", "note": "half of it", "quote": "M3"}
    assert run(stores, project, threads_ended=[ended]).ended_threads == []
    assert "OL0" in waiting(stores, project)


def test_a_joined_thread_leaves_its_term_to_the_older(stores: MemoryStores, project: str) -> None:
    """From the scene of the later one on, where the older has none of its own; read anew, the scene takes it back."""
    read_story(stores, project)
    read_story(stores, project, (1, 2), pay_off="when the hood is off")
    run(stores, project, threads_joined=[{"id": "OL2", "same_as": "OL1"}])

    def pay_off(*place: int) -> str:
        with stores.database(project).read() as unit:
            return said_pay_off(unit.threads.events(as_of=StoryPosition(*place))["OL1"])

    assert (pay_off(1, 2), pay_off(2, 1)) == ("", "when the hood is off")
    assert {"OL0", "OL1"} <= waiting(stores, project, 2, 1)
    read_story(stores, project, (1, 2), pay_off="when the hood is off")
    assert pay_off(2, 1) == ""


def test_importance_is_set_beside_the_others(stores: MemoryStores, project: str) -> None:
    """Corrections reach the memories and the records; numbers beyond the scale are cut; a point is none."""
    read_story(stores, project)
    done = run(stores, project, importance=[{"id": "M1", "importance": 3}, {"id": "M2", "importance": 0}])
    assert done.weighed_memories == 2
    with stores.database(project).read() as unit:
        weights = {
            stored.chunk.source_id: stored.chunk.importance
            for stored in unit.memories.list_matching(MemoryFilter(content_types=["memory"]))
        }
    assert weights == {"x-a": 3, "x-b": 1, "x-c": 9, "x-d": 9}
    again = reconcile_chapter(stores, project, 1, model=saying(importance=[{"id": "M3", "importance": 8}]), again=True)
    assert again.weighed_memories == 0


def told(stores: MemoryStores, project: str, *place: int) -> dict[str, tuple[list[str], list[str | None]]]:
    """Return for each scene of chapter 1 which memories it has and repeats, and what holds at a position."""
    with stores.database(project).read() as unit:
        records = [scene.record for scene in unit.scenes.list_as_of() if scene.record]
        held = memories_still_true(unit, StoryPosition(*place) if place else END_OF_STORY)
    of_scenes = {
        f"{record.chapter_index}:{record.scene_index}": (
            [each.memory_id for each in record.memories],
            [each.memory_id for each in record.memories_repeated],
        )
        for record in records
    }
    return {**of_scenes, "held": (sorted(each.source_id or "" for each in held), [])}


def test_a_memory_that_tells_the_same_again_becomes_a_repetition(stores: MemoryStores, project: str) -> None:
    """The earlier one stays; the later scene links to it, and undoing the change brings the other back."""
    read_story(stores, project)
    done = run(stores, project, memories_joined=[{"id": "M3", "same_as": "M1"}])
    assert done.joined_memories == {"x-c": "x-a"}
    now = told(stores, project)
    assert (now["1:1"], now["1:2"]) == ((["x-a"], []), (["x-b"], ["x-a"]))
    assert run(stores, project).outcome == "unchanged"
    StoryUndo(stores, project).undo()
    assert told(stores, project)["1:2"] == (["x-b", "x-c"], [])


def test_a_fuller_later_memory_stands_for_the_earlier(stores: MemoryStores, project: str) -> None:
    """Where the later one stays, both are stored: up to its scene the earlier one holds, after it the later."""
    read_story(stores, project)
    done = run(stores, project, memories_joined=[{"id": "M1", "same_as": "M3"}])
    assert done.joined_memories == {"x-a": "x-c"}
    assert told(stores, project, 1, 2)["held"] == (["x-a"], [])
    assert told(stores, project)["held"] == (["x-b", "x-c", "x-d"], [])


def test_a_name_counts_from_the_scene_that_gives_it(stores: MemoryStores, project: str) -> None:
    """A known person's new name is unknown before the scene that gives it."""
    read_story(stores, project)
    done = run(
        stores,
        project,
        chapter=2,
        known_names=[{"entity": "C0", "name": "Mary", "scene": "2:1", "quote": "Mary Grey wept"}],
    )
    assert [each.name for each in done.names] == ["Mary"]
    assert "Mary" not in names_as_of(stores, project, 2, 1)["C0"]
    assert "Mary" in names_as_of(stores, project, 2, 2)["C0"]


@pytest.mark.slow
def test_what_no_list_holds_and_no_quote_proves_is_reported(stores: MemoryStores, project: str) -> None:
    """Made-up ids, scenes, numbers and quotes change nothing, and each is told."""
    cases: list[dict[str, Any]] = [
        {"same_entities": [{**SAME, "quote": "words that stand nowhere"}]},
        {"same_entities": [{**SAME, "b": "C99"}]},
        {"same_entities": [{**SAME, "b": "C2"}]},
        {"known_names": [{"entity": "C99", "name": "Nobody"}]},
        {"known_names": [{"entity": "C0", "name": "Napoleon", "quote": "nowhere"}]},
        {"threads_ended": [{"id": "OL99", "scene": "1:1"}]},
        {"threads_ended": [{"id": "OL0", "scene": "9:9", "quote": "nowhere"}]},
        {"threads_joined": [{"id": "OL0", "same_as": "OL99"}]},
        {"memories_joined": [{"id": "M1", "same_as": "M99"}]},
        {"memories_joined": [{"id": "M1", "same_as": "M1"}]},
        {"importance": [{"id": "M99", "importance": 2}, {"id": "x-a", "importance": 2}]},
    ]
    read_story(stores, project)
    before = names_as_of(stores, project), waiting(stores, project)
    for answer in cases:
        done = reconcile_chapter(stores, project, 1, model=saying(**answer), again=True)
        assert (done.outcome, done.changes, done.names, done.ended_threads) == ("done", [], [], [])
        assert done.weighed_memories == 0
        assert [issue.kind for issue in done.issues if issue.stage == "reconcile"] == ["unresolved"] * len(
            next(iter(answer.values()))
        )
        assert (names_as_of(stores, project), waiting(stores, project)) == before


def test_a_chapter_is_asked_once_until_its_scenes_change(stores: MemoryStores, project: str) -> None:
    """A second run asks nothing; a scene that is read anew, even to the same, has the chapter asked again."""
    read_story(stores, project)
    model = saying(importance=[{"id": "M2", "importance": 3}])
    outcomes = [reconcile_chapter(stores, project, 1, model=model).outcome for _ in range(2)]
    assert outcomes == ["done", "unchanged"]
    assert len(model.prompts) == 1
    read_story(stores, project, (1, 2))
    assert reconcile_chapter(stores, project, 1, model=model).weighed_memories == 1
    read_scene(stores, project, (1, 2), TEXTS[1, 2] + " It rained.", summary=["It rained."])
    assert reconcile_chapter(stores, project, 1, model=model).outcome == "done"
    assert len(model.prompts) == 3


def test_what_is_cut_off_an_answer_is_said_aloud(stores: MemoryStores, project: str) -> None:
    """Of an answer that is taken, too: what stood beyond the bounds of its lists is not stored."""
    read_story(stores, project)
    done = run(stores, project, importance=[{"id": f"M1{'.' * number}", "importance": 9} for number in range(81)])
    assert (done.outcome, [each.kind for each in done.issues]) == ("done", ["over_limit"])
    assert "importance: 80 of 81" in done.issues[0].message


def test_a_chapter_that_is_not_read_whole_waits(stores: MemoryStores, project: str) -> None:
    """With a scene that nobody read the model is not asked; only a project that does not exist is an error."""
    read_story(stores, project, (1, 1))
    ingest_scene(stores, project, SceneInput(chapter_index=1, scene_index=2, text=TEXTS[1, 2]))
    model = saying()
    assert reconcile_chapter(stores, project, 1, model=model).outcome == "waiting"
    assert reconcile_chapter(stores, project, 7, model=model).outcome == "waiting"
    assert model.prompts == []
    with pytest.raises(UnknownProjectError):
        reconcile_chapter(stores, "nobody", 1)


def test_an_unusable_answer_is_told_and_tried_again(stores: MemoryStores, project: str) -> None:
    """The pass fails aloud, changes nothing, and the next run asks again."""
    read_story(stores, project)
    failed = reconcile_chapter(stores, project, 1, model=ScriptedChatModel(answer=lambda _: "no JSON"))
    assert (failed.outcome, failed.model_calls, [each.kind for each in failed.issues]) == ("failed", 2, ["malformed"])
    assert run(stores, project, same_entities=[SAME]).outcome == "done"


def test_a_chapter_that_changes_meanwhile_is_left_alone(stores: MemoryStores, project: str) -> None:
    """When a scene is read anew while the model thinks, its answer is dropped."""
    read_story(stores, project)

    def answer(_: object) -> str:
        scene = SceneInput(chapter_index=1, scene_index=2, text="Another text.")
        ingest_scene(stores, project, scene)
        return json.dumps({"same_entities": [SAME], "threads_ended": []})

    done = reconcile_chapter(stores, project, 1, model=ScriptedChatModel(answer=answer))
    assert (done.outcome, done.changes) == ("overtaken", [])


def test_equal_names_become_one_without_a_model(stores: MemoryStores, project: str) -> None:
    """A title makes no other person, but Mrs. does, and so does another one of a kind."""
    read_story(stores, project)
    others = [
        ("C5", "Mr. Tom Hale", {}),
        ("C6", "Mrs. Mary Grey", {}),
        ("C7", "Ned Fox", {"generic": True}),
        ("C8", "Ned Fox", {"generic": True}),
    ]
    people = [
        PEOPLE[3].model_copy(update={"entity_id": entity_id, "name": name, "profile": profile})
        for entity_id, name, profile in others
    ]
    store_entities(stores, project, people, origin="extracted")
    done = reconcile_chapter(stores, project, 1)
    assert [(each.entity_id, each.other_id) for each in done.changes] == [("C1", "C5")]
    assert {"C6", "C7", "C8"} <= set(names_as_of(stores, project))


def test_somebody_met_without_a_name_is_listed_under_the_one_that_came(stores: MemoryStores, project: str) -> None:
    """The name that the story uses becomes the display name, and before the scene that gives it nobody reads it."""
    later = EntityAlias(alias="Ned Fox", first_chapter=1, first_scene=2)
    voice = {"entity_id": "C9", "name": "the voice under the hill", "aliases": [later]}
    store_entities(stores, project, [PEOPLE[0].model_copy(update=voice)], origin="extracted")
    for number, text in enumerate(("A voice cried.", "Ned Fox rose.", "Ned Fox sat.", "Ned Fox left."), start=1):
        read_scene(stores, project, (1, number), text, characters_present=["C9"])
    assert reconcile_chapter(stores, project, 1).display_names == {"C9": "Ned Fox"}

    def name_as_of(*place: int) -> str:
        with stores.database(project).read() as unit:
            [entity] = unit.entities.list_as_of(as_of=StoryPosition(*place))
        return entity.name

    assert (name_as_of(1, 2), name_as_of(1, 3)) == ("the voice under the hill", "Ned Fox")
    assert names_as_of(stores, project)["C9"] == {"Ned Fox", "the voice under the hill"}


def test_what_authors_made_is_not_merged(stores: MemoryStores, project: str) -> None:
    """Two entities of an author stay two, and the proposal is told."""
    read_story(stores, project)
    store_entities(stores, project, [PEOPLE[2], PEOPLE[3]], origin="author")
    done = run(stores, project, same_entities=[SAME])
    assert done.changes == []
    assert "author" in done.issues[-1].message


@pytest.mark.slow
def test_trifles_fade_and_weighty_threads_do_not(stores: MemoryStores, project: str) -> None:
    """A thread of low importance ends after long silence, at the end of the chapter that notices it."""
    store_entities(stores, project, PEOPLE, origin="extracted")
    for number in range(1, 23):
        created = [
            {"id": "OL0", "description": "Who paid the beer?", "importance": "low"},
            {"id": "OL1", "description": "Who killed the steward?", "importance": "critical"},
        ]
        place = (1 if number == 1 else 4, number)
        read_scene(stores, project, place, "They rode on.", open_loops_created=created if number == 1 else [])
    done = reconcile_chapter(stores, project, 4)
    assert done.ended_threads == ["OL0"]
    assert waiting(stores, project) == {"OL1"}
    assert waiting(stores, project, 4, 22) == {"OL0", "OL1"}


def test_the_prompt_shows_descriptions_places_and_first_sentences(stores: MemoryStores, project: str) -> None:
    """New people stand with what tells them apart; what later chapters show is not in the prompt."""
    read_story(stores, project)
    model = saying()
    reconcile_chapter(stores, project, 1, model=model)
    told = model.prompts[0][1].text
    line = next(line for line in told.splitlines() if line.startswith("C2 |"))
    assert line == (
        "C2 | character | man in a hood | He watches the gate. | 1:1 | “A man in a hood watched them from the gate.”"
    )
    assert "took off the hood" not in told
    assert "M3 | 1:2 | 9 | Tom Hale gave the lamp back." in told


def test_all_chapters_are_reconciled_in_order(stores: MemoryStores, project: str) -> None:
    """Without a list every chapter is taken, and progress counts them."""
    read_story(stores, project)
    steps: list[tuple[int, int]] = []
    note: Callable[[int, int], None] = lambda done, whole: steps.append((done, whole))  # noqa: E731
    done = reconcile_chapters(stores, project, model=saying(), progress=note)
    assert [(each.chapter_index, each.outcome) for each in done] == [(1, "done"), (2, "done")]
    assert steps == [(1, 2), (2, 2)]
