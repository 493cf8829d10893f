"""State lines within a token budget."""

from typing import Any

import pytest

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import render_states, render_value, shown_state
from novelgen.language.language import estimate_tokens
from novelgen.models.folds import snapshot_of
from novelgen.models.position import END_OF_STORY
from novelgen.models.state import EntityStateSnapshot, StateChange
from tests.support.stories import NOW, PROJECT

ENGLISH = labels_for("en")
CHINESE = labels_for("zh")


def snapshot(entity_id: str, **state: Any) -> EntityStateSnapshot:
    """Return a snapshot with that state."""
    return EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id=entity_id, timestamp=NOW, state_data=state
    )


ADA = snapshot("C0", goals=["find the key", "leave"], status="alive", emotional_state="calm")
BEN = snapshot("C1", status="asleep", knowledge=["where the boat is"])


def test_every_entity_is_served_before_any_is_served_twice() -> None:
    """The weightiest first; what somebody wants, knows and feels stands apart from what holds."""
    rendered = render_states([ADA, BEN], {}, labels=ENGLISH, budget_tokens=11, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": "- C0: status: alive", "C1": "- C1: status: asleep"}
    assert rendered.dropped["C0"] == ["goals", "emotional_state"]
    rendered = render_states([ADA, BEN], {}, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": "- C0: status: alive", "C1": "- C1: status: asleep"}
    assert rendered.minds["C0"] == "- C0: wants: find the key, leave; mood: calm"
    assert rendered.minds["C1"] == "- C1: knows: where the boat is"


def test_what_nobody_stated_or_named_is_not_told() -> None:
    """A presence that rules guess has no line, and no place or thing is told by its id."""
    guess = {"location_id": "L9", "chapter_index": 2, "scene_index": 1, "guessed": True}
    seen = [snapshot("C0", presence=guess), snapshot("C1", status="alive", presence=guess)]
    rendered = render_states(seen, {}, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert (rendered.lines, rendered.minds) == ({"C1": "- C1: status: alive"}, {})
    seen_there = [snapshot("C0", presence={**guess, "guessed": False})]
    rendered = render_states(seen_there, {"C0": "Ada"}, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": "- Ada: last seen at: scene 2:1"}
    keeper = snapshot("C0", status="alive", location_id="L7").model_copy(update={"holds": ["I4"]})
    rendered = render_states([keeper], {"C0": "Ada"}, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": "- Ada: status: alive"}


@pytest.mark.parametrize("attribute", ["disguise", "real_name"])
def test_nobody_passes_for_whom_they_are_called(attribute: str) -> None:
    """By id or name, as after a merge of a mask with its person; another name stays."""
    names = {"C0": "Ada", "C1": "Nan Reed"}
    for value in ("C0", "Ada"):
        seen = [snapshot("C0", status="alive", **{attribute: value})]
        rendered = render_states(seen, names, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
        assert rendered.lines == {"C0": "- Ada: status: alive"}
    for value in ("C1", "Nan Reed"):
        seen = [snapshot("C0", **{attribute: value})]
        rendered = render_states(seen, names, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
        assert "Nan Reed" in rendered.lines["C0"]


def test_presence_is_shown_only_where_no_place_is_stated() -> None:
    """An explicit place outranks where somebody was last seen."""
    seen = {"location_id": "L9", "chapter_index": 2, "scene_index": 1}
    both = snapshot("C0", location_id="L0", presence=seen)
    alone = snapshot("C1", presence=seen)
    nowhere = snapshot("C2", presence={**seen, "location_id": None})
    rendered = render_states(
        [both, alone, nowhere],
        {"L0": "the cellar", "L9": "the pier"},
        labels=ENGLISH,
        budget_tokens=99,
        count_tokens=estimate_tokens,
    )
    assert rendered.lines["C0"] == "- C0: where: the cellar"
    assert rendered.lines["C1"] == "- C1: last seen at: the pier"
    assert rendered.lines["C2"] == "- C2: last seen at: scene 2:1"


@pytest.mark.parametrize(
    ("budget", "line", "held"),
    [(99, "- Ada: status: alive; holds: the key", {"I0": "C0"}), (6, "- Ada: status: alive", {})],
)
def test_a_thing_of_which_only_the_holder_is_known_is_told_by_its_holder(
    budget: int, line: str, held: dict[str, str]
) -> None:
    """It has no line of its own; it counts as told only where its holder's line has room to say so."""
    keeper = snapshot("C0", status="alive").model_copy(update={"holds": ["I0"]})
    names = {"C0": "Ada", "I0": "the key"}
    rendered = render_states(
        [keeper, snapshot("I0", holder="C0")], names, labels=ENGLISH, budget_tokens=budget, count_tokens=estimate_tokens
    )
    assert (rendered.lines, rendered.held) == ({"C0": line}, held)


@pytest.mark.parametrize(
    ("value", "text"),
    [("C0", "Ada"), (["C0", "rope"], "Ada, rope"), ({"who": "C0"}, "who: Ada"), (3, "3"), (True, "yes")],
)
def test_values_of_every_shape_render(value: Any, text: str) -> None:
    """Ids become names, lists and dicts are joined."""
    assert render_value(value, {"C0": "Ada"}, ENGLISH) == text


@pytest.mark.parametrize(
    ("labels", "line"),
    [(ENGLISH, "- C0: body: hale; status: alive (unverified)"), (CHINESE, "- C0：身体：hale；状况：在世（未证实）")],
)
def test_what_no_quote_proves_comes_last_and_says_so(labels: Labels, line: str) -> None:
    """An unverified attribute gives way to the proven ones of its entity, and is marked."""
    doubtful = ADA.model_copy(
        update={"state_data": {"status": "alive", "physical_state": "hale"}, "unverified": ["status"]}
    )
    rendered = render_states([doubtful], {}, labels=labels, budget_tokens=99, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": line}


def folded(*changes: tuple[str, Any, int], presence: int | None = None) -> EntityStateSnapshot:
    """Return the fold of changes of C0: attribute, value and scene of chapter 1, and where it was last seen."""
    told = [
        StateChange(entity_id="C0", attribute=name, value=value, chapter_index=1, scene_index=scene)
        for name, value, scene in changes
    ]
    if presence is not None:
        where = {"chapter_index": 1, "scene_index": presence}
        told.append(StateChange(entity_id="C0", attribute="presence", value=where, kind="presence", **where))
    state = snapshot_of(PROJECT, told, as_of=END_OF_STORY, timestamp=NOW)
    assert state is not None
    return state


def line_of(state: EntityStateSnapshot) -> str:
    """Return what the block says of a state, facts and mind."""
    rendered = render_states([state], {}, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    return " | ".join([*rendered.lines.values(), *rendered.minds.values()])


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (
            folded(("status", "in the launch, pistol drawn", 3), ("disguise", "a sailor", 2), ("location_id", "L1", 4)),
            "- C0: status [1:3]: in the launch, pistol drawn; disguise [1:2]: a sailor; where: L1",
        ),
        (folded(("status", "asleep", 3), presence=5), "- C0: status [1:3]: asleep"),
        (folded(("status", "asleep", 3), presence=3), "- C0: status: asleep"),
        (folded(("identity", "the heir", 1), ("status", "asleep", 3)), "- C0: status: asleep; identity: the heir"),
    ],
)
def test_what_may_be_over_is_told_with_its_scene(state: EntityStateSnapshot, line: str) -> None:
    """A state that somebody has been seen or changed since stands with the scene that said it; what lasts does not."""
    assert line_of(state) == line


def test_a_thing_is_where_its_holder_is_and_the_dead_want_nothing() -> None:
    """Unless its place was said later; what the dead knew is told, their mood and aims are not."""
    assert line_of(folded(("location_id", "L1", 1), ("holder", "C1", 2))) == "- C0: held by: C1"
    assert line_of(folded(("location_id", "L1", 3), ("holder", "C1", 2))) == "- C0: where: L1; held by [1:2]: C1"
    state = folded(
        ("emotional_state", "fury", 1), ("goals", ["revenge"], 1), ("knowledge", ["the way"], 1), ("status", "dead", 2)
    )
    assert line_of(state) == "- C0: status: dead | - C0: knows: the way"


def placed(entity_id: str, scene: int, *, holds: list[str] | None = None, **state: Any) -> EntityStateSnapshot:
    """Return a snapshot all of which a scene of chapter 1 said."""
    since: dict[str, tuple[int, int | None]] = dict.fromkeys(state, (1, scene))
    return snapshot(entity_id, **state).model_copy(update={"since": since, "holds": holds or []})


def test_where_somebody_or_something_is_stands_with_its_scene_once_the_story_went_on() -> None:
    """No scene ended it, but it may be over: the newest of what is told tells what is of now."""
    names = {"C0": "Ada", "C1": "Ben", "C2": "Cid", "L0": "the mill", "I0": "the key", "I1": "the lamp"}
    seen = {"location_id": "L0", "chapter_index": 1, "scene_index": 2}
    told = [
        placed("C0", 1, location_id="L0", holds=["I0", "I1"]),
        placed("C1", 9, location_id="L0"),
        snapshot("C2", presence=seen),
        placed("I0", 3, holder="C0"),
        placed("I1", 9, holder="C0"),
    ]
    rendered = render_states(told, names, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert list(rendered.lines.values()) == [
        "- Ada: where [1:1]: the mill; holds: the key [1:3], the lamp",
        "- Ben: where: the mill",
        "- Cid: last seen at [1:2]: the mill",
    ]


def test_who_holds_a_thing_is_told_once() -> None:
    """In the line of the thing, where it has one; a thing of whose state nothing is told is held by nobody."""
    names = {"C0": "Ada", "I0": "the key", "I1": "the lamp"}
    keeper = placed("C0", 9, status="alive", holds=["I0", "I1"])
    key = placed("I0", 2, holder="C0", condition="bent")
    rendered = render_states([keeper, key], names, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert list(rendered.lines.values()) == ["- Ada: status: alive", "- the key: held by [1:2]: Ada; condition: bent"]


def test_a_field_has_the_word_of_its_kind_of_card() -> None:
    """A thing has 外观 where a person has 外貌; fields that all kinds call the same keep their word."""
    labels = labels_for("zh")
    assert [labels.attribute("appearance", kind) for kind in ("item", "character", "")] == ["外观", "外貌", "外貌"]
    assert labels.attribute("holder", "item") == labels.attribute("holder")
    assert labels_for("en").attribute("goals", "character") == labels_for("en").attribute("goals")


def test_nobody_dead_was_last_seen_anywhere() -> None:
    """Neither in a prompt nor in the facts of a state; nor does a scene without a place say where, in the facts."""
    seen = {"location_id": "L0", "chapter_index": 2, "scene_index": 1}
    dead, alive = snapshot("C0", status="dead", presence=seen), snapshot("C1", status="tired", presence=seen)
    names = {"C0": "Ada", "C1": "Ben", "L0": "the mill"}
    rendered = render_states([dead, alive], names, labels=ENGLISH, budget_tokens=99, count_tokens=estimate_tokens)
    assert rendered.lines == {"C0": "- Ada: status: dead", "C1": "- Ben: status: tired; last seen at: the mill"}
    assert "presence" not in shown_state(dead)
    assert "presence" in shown_state(alive)
    assert "presence" not in shown_state(snapshot("C1", presence={**seen, "location_id": None}))
