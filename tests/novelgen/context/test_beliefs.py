"""What a point of view believes of a state that is over: only what it learnt while it held."""

from datetime import UTC, datetime
from typing import Any

import pytest

from novelgen.context.point_of_view import FoundStory, PointOfViewCut
from novelgen.language.resolver import NameResolver
from novelgen.memory.character_view import StoryKnowledge
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.memory.story_changes import StoryChanges
from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.folds import snapshot_of
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot, StateChange

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AS_OF = StoryPosition(9, 1)
ENTITIES = [
    Entity(entity_id=entity_id, entity_type=kind, name=name)  # type: ignore[arg-type]
    for entity_id, kind, name in [
        ("C0", "character", "Tom"),
        ("C1", "character", "Nils"),
        ("C2", "character", "Ben"),
        ("C3", "character", "陈默"),
        ("C4", "character", "林婶"),
        ("C5", "character", "周岚"),
        ("I0", "item", "silver watch"),
        ("I1", "item", "铜钥匙"),
        ("L0", "location", "mill"),
        ("L1", "location", "祠堂"),
    ]
]
KINDS = {entity.entity_id: entity.entity_type for entity in ENTITIES}
NAMES = {entity.entity_id: [entity.name] for entity in ENTITIES}
OF_START: tuple[int | None, int | None] = (None, None)


def stated(slot: str, value: Any, place: tuple[int | None, int | None]) -> StateChange:
    """Return what an author states from a place on."""
    entity_id, attribute = slot.split(".")
    chapter, scene = place
    return StateChange(
        entity_id=entity_id,
        entity_type=KINDS[entity_id],
        attribute=attribute,
        value=value,
        chapter_index=chapter,
        scene_index=scene,
        by_author=True,
        is_of_chapter=True,
    )


def known_states(
    pov: str,
    changes: list[StateChange],
    scenes: list[tuple[int, str, str]],
    notes: tuple[str, ...] = (),
    *,
    has_record: bool = True,
) -> list[EntityStateSnapshot]:
    """Return the states as far as a point of view knows them.

    Args:
        pov: The id of the character.
        changes: What the author states.
        scenes: Number in chapter 1, cast and text of each.
        notes: What notes after scene 1:1 say.
        has_record: The casts are stated.
    """
    story = KnowledgeStory(
        AS_OF,
        [
            KnowledgeScene(StoryPosition(1, number), frozenset(cast.split()), text, has_record=has_record)
            for number, cast, text in scenes
        ],
        memories=[
            KnowledgeMemory(
                f"note-N{number}", text, None, NameResolver(ENTITIES).entity_ids_in(text), noted_at=StoryPosition(1, 1)
            )
            for number, text in enumerate(notes)
        ],
        names=NAMES,
        entities=ENTITIES,
        character_ids=frozenset(one for one in KINDS if KINDS[one] == "character"),
    )
    whole = [
        snapshot_of("p", [one for one in changes if one.entity_id == entity_id], as_of=AS_OF, timestamp=NOW)
        for entity_id in dict.fromkeys(one.entity_id for one in changes)
    ]
    plan = {"characters": [pov], "purpose": " ".join(name for names in NAMES.values() for name in names)}
    cut = PointOfViewCut(
        found=FoundStory(
            outline=StoryOutline(project_id="p", entities=ENTITIES),
            search=SearchResult(candidates=()),
            states=[one for one in whole if one is not None],
            timeline=(),
        ),
        character_id=pov,
        view=StoryKnowledge(KnowledgeRules(story)).of(pov, is_shown=True),
        changes=StoryChanges(states=changes),
        request=MemoryContextRequest.model_validate(
            {"project_id": "p", "chapter_index": 9, "scene_index": 1, "scene_plan": plan}
        ),
    )
    return list(cut.known.states)


def seen(pov: str, changes: list[StateChange], scenes: list[tuple[int, str, str]]) -> dict[str, tuple[Any, bool]]:
    """Return what a point of view knows of each slot, and whether it merely believes it."""
    return {
        f"{state.entity_id}.{name}": (value, name in state.believed)
        for state in known_states(pov, changes, scenes)
        for name, value in state.state_data.items()
    }


TOM_THEN_NILS = [stated("I0.holder", "C0", (1, 1)), stated("I0.holder", "C1", (1, 2))]
FROM_START = [stated("I0.holder", "C0", OF_START), stated("I0.holder", "C1", (1, 2))]
CHINESE = [stated("I1.holder", "C3", (1, 1)), stated("I1.holder", "C4", (1, 2))]
CHINESE_FROM_START = [stated("I1.holder", "C3", OF_START), stated("I1.holder", "C4", (1, 2))]
GIVEN = (2, "C0 C1", "Tom gave Nils the silver watch.")
GIVEN_CHINESE = (2, "C3 C4", "陈默把铜钥匙交给了林婶。")
LOST = [stated("I0.holder", "C0", (1, 1)), stated("I0.holder", None, (1, 2))]
PLACED = [stated("I0.location_id", "L0", (1, 1)), stated("I0.location_id", None, (1, 2))]
RANK = [stated("C0.rank", "sergeant", (1, 1)), stated("C0.rank", "captain", (1, 2))]
RANK_CHINESE = [stated("C3.rank", "捕头", (1, 1)), stated("C3.rank", "县丞", (1, 2))]
NAME = [stated("C1.real_name", "Lars Holm", (1, 1)), stated("C1.real_name", "Lars Falk", (1, 2))]
TITLES = [stated("C0.titles", ["sergeant"], (1, 1)), stated("C0.titles", ["sergeant", "knight"], (1, 2))]
TRADE = [stated("C0.status", "a miller", OF_START), stated("C0.status", "a beggar", (1, 2))]


@pytest.mark.parametrize(
    ("pov", "slot", "changes", "scenes"),
    [
        # Named together only when it was over already.
        ("C2", "I0.holder", TOM_THEN_NILS, [GIVEN, (3, "C2", "Tom laughed. Ben missed the silver watch.")]),
        ("C2", "I0.holder", FROM_START, [GIVEN, (3, "C2", "Tom laughed. Ben missed the silver watch.")]),
        ("C2", "I0.holder", FROM_START, [GIVEN, (3, "C2", "It rained on Ben.")]),
        ("C2", "I0.holder", FROM_START, [GIVEN]),
        ("C5", "I1.holder", CHINESE, [GIVEN_CHINESE, (3, "C5", "陈默笑了。周岚想起铜钥匙。")]),
        ("C5", "I1.holder", CHINESE_FROM_START, [GIVEN_CHINESE, (3, "C5", "陈默笑了。周岚想起铜钥匙。")]),
        ("C5", "I1.holder", CHINESE_FROM_START, [GIVEN_CHINESE, (3, "C5", "下雨了。")]),
        # The scene in which it ends has the new holder beside the thing.
        ("C2", "I0.holder", TOM_THEN_NILS, [(2, "C1 C0", ""), (3, "C2", "Nils hid the silver watch. Tom left.")]),
        ("C2", "I0.holder", LOST, [(1, "C0", ""), (3, "C2", "Tom wept for the silver watch.")]),
        ("C2", "I0.location_id", PLACED, [(1, "C0", ""), (3, "C2", "At the mill Ben sought the silver watch.")]),
        ("C2", "C0.rank", RANK, [(1, "C1", ""), (3, "C2", "Once Tom was a sergeant, thought Ben.")]),
        ("C5", "C3.rank", RANK_CHINESE, [(1, "C4", ""), (3, "C5", "陈默从前是捕头，周岚听过。")]),
        ("C2", "C1.real_name", NAME, [(1, "C1", ""), (3, "C2", "Nils spoke of Lars Holm to Ben.")]),
        ("C2", "C0.status", TRADE, [(1, "C1", ""), (3, "C0 C2", "Tom met Ben.")]),
    ],
)
def test_a_mention_after_its_end_teaches_no_state(
    pov: str, slot: str, changes: list[StateChange], scenes: list[tuple[int, str, str]]
) -> None:
    """Whoever learnt nothing of a state while it held believes nothing of it."""
    assert not seen(pov, changes, scenes).get(slot, ("", False))[1]


@pytest.mark.parametrize(
    ("pov", "slot", "changes", "scenes", "value"),
    [
        # Named together while it held: they still believe it.
        ("C2", "I0.holder", TOM_THEN_NILS, [(1, "C0 C2", "Tom wound the silver watch. Ben saw it."), GIVEN], "C0"),
        ("C2", "I0.holder", FROM_START, [(1, "C0 C2", "Tom wound the silver watch. Ben saw it."), GIVEN], "C0"),
        ("C2", "I0.holder", LOST, [(1, "C0 C2", "Tom wound the silver watch."), (2, "C0", "It fell.")], "C0"),
        ("C5", "I1.holder", CHINESE, [(1, "C3 C5", "陈默摸出铜钥匙，周岚看见了。"), GIVEN_CHINESE], "C3"),
        ("C5", "I1.holder", CHINESE_FROM_START, [(1, "C3 C5", "陈默摸出铜钥匙，周岚看见了。"), GIVEN_CHINESE], "C3"),
        ("C0", "I0.holder", FROM_START, [(1, "C0", ""), (2, "C1", "")], "C0"),
        ("C2", "I0.location_id", PLACED, [(1, "C2", "At the mill Ben saw the silver watch."), (2, "C0", "")], "L0"),
        ("C2", "C0.rank", RANK, [(1, "C0 C2", "The sergeant was Tom. Ben saluted."), (2, "C0", "")], "sergeant"),
        ("C5", "C3.rank", RANK_CHINESE, [(1, "C3 C5", "捕头陈默来了。"), (2, "C3", "")], "捕头"),
        ("C2", "C1.real_name", NAME, [(1, "C1 C2", "Nils was Lars Holm to Ben."), (2, "C1", "")], "Lars Holm"),
        ("C2", "C0.status", TRADE, [(1, "C0 C2", "Good day."), (3, "C0", "")], "a miller"),
        # A longer list ends nothing of the shorter one.
        ("C2", "C0.titles", TITLES, [(2, "C0", ""), (3, "C0 C2", "Tom the sergeant met Ben.")], ["sergeant"]),
    ],
)
def test_what_they_learnt_while_it_held_they_still_believe(
    pov: str, slot: str, changes: list[StateChange], scenes: list[tuple[int, str, str]], value: Any
) -> None:
    """A scene that names both, the holding itself, or a meeting for what shows."""
    assert seen(pov, changes, scenes)[slot] == (value, True)


def test_what_still_holds_is_known_as_before() -> None:
    """Nobody needs a scene for how all began; and a state that is said again has not ended."""
    assert seen("C2", [FROM_START[0]], [(3, "C2", "It rained.")])["I0.holder"] == ("C0", False)
    again = [TOM_THEN_NILS[0], stated("I0.holder", "C0", (1, 2))]
    scenes = [(1, "C0", ""), (3, "C2", "Tom wound the silver watch. Ben saw it.")]
    assert seen("C2", again, scenes)["I0.holder"] == ("C0", False)


@pytest.mark.parametrize(
    ("pov", "slot", "change", "text", "note", "is_known"),
    [
        ("C2", "I0.where", "the mill", "", "The silver watch is hidden in the mill; only Ben knows it.", True),
        ("C2", "I0.where", "the mill", "", "The silver watch is not in the mill; only Ben knows it.", False),
        ("C2", "I0.where", "the mill", "", "The silver watch is hidden in the mill; only Tom knows it.", False),
        ("C5", "I1.where", "祠堂", "", "铜钥匙藏在祠堂后面，只有周岚知道。", True),
        ("C5", "I1.where", "祠堂", "", "陈默以为铜钥匙在祠堂，只有周岚知道。", False),
        ("C2", "I0.where", "mill", "“Silver watch and chain lie in the mill,” said Ben.", "", True),
    ],
)
def test_a_known_note_or_the_scene_before_says_where_a_thing_is(
    pov: str, slot: str, change: str, text: str, note: str, is_known: bool
) -> None:
    """In plain words; a name may begin its sentence."""
    scenes = [(1, pov, text), (2, "C0 C3", "It rained.")]
    states = known_states(pov, [stated(slot, change, (1, 1))], scenes, (note,) if note else ())
    assert [state.state_data.get("where") for state in states] == ([change] if is_known else [])


@pytest.mark.parametrize(
    ("note", "text", "guesses"),
    [
        ("Nils is dead; Tom poisoned him.", "They mourned. “Nils is dead,” said Tom to Ben.", {"status": (1, 3)}),
        ("Nils is dead; Tom poisoned him.", "They mourned. “Nils is not dead,” said Tom to Ben.", None),
        ("Nils is dead, and Ben does not know it.", "They mourned. “Nils is dead,” said Tom to Ben.", None),
    ],
)
def test_a_state_said_aloud_is_known_as_a_guess(
    note: str, text: str, guesses: dict[str, tuple[int, int]] | None
) -> None:
    """Also where its note tells more than was said, and not where it is kept from them."""
    death = stated("C1.status", "dead", (1, 1))
    scenes = [(1, "C0", "It rained."), (2, "C0", "It rained on."), (3, "C0 C2", text)]
    states = known_states("C2", [death], scenes, (note,))
    assert [state.guessed_in for state in states] == ([] if guesses is None else [guesses])


AWAY = [(1, "C0 C2", ""), (2, "C0 C1", ""), (3, "C1", "")]
AWAY_CHINESE = [(1, "C3 C5", ""), (2, "C3 C4", ""), (3, "C4", "")]
MET = [*AWAY, (4, "C0 C2", ""), (5, "C2", "")]
MET_CHINESE = [*AWAY_CHINESE, (4, "C3 C5", ""), (5, "C5", "")]
MET_THEN = [*AWAY, (4, "C0 C2", ""), (5, "C0 C1", "")]
MET_TWICE = [*AWAY, (4, "C0 C1", ""), (5, "C1 C2", ""), (6, "C0 C1 C2", "")]


def wound(value: Any = "left arm broken", scene: int = 2, slot: str = "C0.physical_state") -> StateChange:
    return stated(slot, value, (1, scene - 1))


@pytest.mark.parametrize(
    ("changes", "scenes", "value"),
    [
        ([wound()], MET, "left arm broken"),
        ([wound(scene=3)], MET, "left arm broken"),
        ([wound()], MET_TWICE, "left arm broken"),
        ([wound("dead", slot="C0.status")], MET, "dead"),
        ([wound("missing a leg", slot="C0.condition")], MET, "missing a leg"),
        ([wound("in grey silk", slot="C0.dress")], MET, "in grey silk"),
        ([wound("a scar on the chin", slot="C0.appearance")], MET, "a scar on the chin"),
        ([wound(["blind in one eye"], slot="C0.injuries")], MET, ["blind in one eye"]),
        ([wound("the captain of the guard", slot="C0.description")], MET, "the captain of the guard"),
        # It is met before its end, or its end itself is met.
        ([wound(), wound("healed", 5)], MET_THEN, "left arm broken"),
        ([wound(), wound("healed", 6)], MET_TWICE, "healed"),
        ([wound(), wound("lame", 4)], MET, "lame"),
        ([wound("左臂折断", slot="C3.physical_state")], MET_CHINESE, "左臂折断"),
        ([wound("一身孝服", slot="C3.dress", scene=3)], MET_CHINESE, "一身孝服"),
        ([wound("死了", slot="C3.status")], MET_CHINESE, "死了"),
    ],
)
def test_any_meeting_while_it_holds_shows_how_somebody_is(
    changes: list[StateChange], scenes: list[tuple[int, str, str]], value: Any
) -> None:
    """Not only one in the scene in which it begins; where nobody states the casts, it is a guess."""
    slot = f"{changes[-1].entity_id}.{changes[-1].attribute}"
    pov = "C5" if slot.startswith("C3") else "C2"
    assert seen(pov, changes, scenes)[slot][0] == value
    [sure], [guess] = (known_states(pov, changes, scenes, has_record=has_record) for has_record in (True, False))
    assert not sure.guessed_in
    assert list(guess.guessed_in) == [changes[-1].attribute]


@pytest.mark.parametrize(
    ("changes", "scenes", "notes"),
    [
        ([wound()], AWAY, ()),
        ([wound()], [*AWAY, (4, "C1 C2", "Nils laughed."), (5, "C0", "")], ()),
        # It was over before they met.
        ([wound(), wound(None, 4)], MET, ()),
        ([wound(), wound(None, 5)], MET_TWICE, ()),
        ([wound("左臂折断", slot="C3.physical_state"), wound(None, 3, "C3.physical_state")], MET_CHINESE, ()),
        # It is kept from them.
        ([wound("dead", slot="C0.status")], MET, ("Tom is dead, and Ben does not know it.",)),
        ([wound()], MET, ("Tom has a broken left arm; only Nils knows it.",)),
        ([wound()], MET, ("Tom broke his arm behind Ben's back.",)),
        ([wound("secretly with child")], MET, ()),
        ([wound("a broken arm, hidden from Ben")], MET, ()),
        ([wound("左臂折断，瞒着周岚", slot="C3.physical_state")], MET_CHINESE, ()),
        ([wound("左臂折断", slot="C3.physical_state")], MET_CHINESE, ("陈默的左臂断了，只有林婶知道。",)),
        # It does not show, or not any longer.
        ([wound("fled the country", slot="C0.goals")], MET, ()),
        ([wound("afraid", slot="C0.emotional_state")], MET, ()),
        ([wound(["a stolen watch"], slot="C0.inventory")], MET, ()),
        ([wound("Lars Falk", slot="C0.identity")], MET, ()),
        ([wound("L0", slot="C0.location_id")], MET, ()),
        ([wound(["kneeling"], slot="C0.for_now")], MET, ()),
        ([wound("broken", slot="I0.condition")], MET, ()),
    ],
)
def test_no_other_meeting_shows_how_somebody_is(
    changes: list[StateChange], scenes: list[tuple[int, str, str]], notes: tuple[str, ...]
) -> None:
    """One before or after it, one from which it is kept, or of what nobody sees."""
    pov = "C5" if changes[0].entity_id == "C3" else "C2"
    states = known_states(pov, changes, scenes, notes)
    assert not any(value for state in states for value in state.state_data.values())
