"""Which open threads a planned scene could pay off."""

from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.memory.pay_off import MANY_THREADS, SceneAhead, threads_by_pay_off
from novelgen.models.entity import Entity
from novelgen.models.state import OpenLoop

SCENES = [OutlineScene(1, number, participants=("C0", *(["C1"] if number == 2 else []))) for number in range(1, 9)]


def thread(number: int, description: str = "who knows", *, last: int = 1, **fields: object) -> OpenLoop:
    """Return a thread that was planted in the first scene and last moved in that one."""
    return OpenLoop.model_validate(
        {
            "loop_id": f"OL{number}",
            "description": description,
            "chapter_index": 1,
            "scene_index": 1,
            "last_chapter_index": 1,
            "last_scene_index": last,
            **fields,
        }
    )


def first_of(*threads: OpenLoop, ahead: SceneAhead, names: tuple[str, ...] = ()) -> str:
    """Return the id of the thread that the scene could most likely pay off."""
    entities = [Entity(entity_id=f"C{number}", entity_type="character", name=name) for number, name in enumerate(names)]
    outline = StoryOutline(project_id="p", scenes=SCENES, open_loops=list(threads), entities=entities)
    return threads_by_pay_off(outline, ahead)[0].loop_id


def test_what_a_model_expects_comes_first_then_what_moved_last() -> None:
    """Stronger than silence and words; of a thread that is not open it says nothing, and one alone needs no order."""
    old, new = thread(1), thread(2, last=8)
    assert first_of(old, new, ahead=SceneAhead(expected_ids=frozenset({"OL1", "OL7"}))) == "OL1"
    assert first_of(thread(1), thread(2, last=8), ahead=SceneAhead()) == "OL2"
    assert threads_by_pay_off(StoryOutline(project_id="p"), SceneAhead()) == []
    assert first_of(thread(1), ahead=SceneAhead()) == "OL1"


def test_words_of_the_plan_count_in_any_form_and_names_do_not() -> None:
    """The thread of one who comes back after long is meant, not any of those of the one who is always there."""
    for told, other, plan in (
        ("who sends the pearl?", "Bertram keeps the ledger", "Bertram shows the pearls"),
        ("谁把珍珠寄来", "王二丢了账本", "王二拿出珍珠来"),
    ):
        ahead = SceneAhead(texts=[plan], known_texts=[told, other])
        assert first_of(thread(1, other), thread(2, told), ahead=ahead, names=("Bertram", "王二")) == "OL2"
    hero, guest = thread(1, related_entities=["C0"]), thread(2, related_entities=["C1"])
    assert first_of(hero, guest, ahead=SceneAhead(entity_ids=frozenset({"C0", "C1"}))) == "OL2"


def test_what_was_found_for_the_scene_tells_which_thread_is_near() -> None:
    """Memories say the words that the plan hints at; among many threads they weigh more than having just moved."""
    told = "The launch lies hidden in the yard"
    ahead = SceneAhead(texts=["the search ends"], chosen=[((1, 2), told)], known_texts=[told])
    assert first_of(thread(1, "who stole the ruby?"), thread(2, "where is the launch?"), ahead=ahead) == "OL2"
    ahead = SceneAhead(chosen=[((1, 1), told)], known_texts=[told])
    near, moved = thread(0, "where is the launch?"), thread(1, "who stole the ruby?", last=8)
    others = [thread(number, "who knows", last=1 + number % 7) for number in range(2, MANY_THREADS)]
    assert first_of(near, moved, *others, ahead=ahead) == "OL0"
    assert first_of(near, moved, *others[:6], ahead=SceneAhead(known_texts=[told])) == "OL1"
