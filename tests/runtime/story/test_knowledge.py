"""Who knows what, as users ask for it: characters, memories, pairs, and the author's word."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from novelgen.errors import UnknownEntityError, UnknownMemoryError, UserInputError
from novelgen.memory.consolidation import ConsolidatedText, consolidated_memory
from novelgen.models.position import END_OF_STORY, StoryPosition, utc_now
from runtime.care.checks import check_minds
from runtime.ingest.ingest import IngestResult, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.knowledge import author_words
from runtime.story.memories import StoryMemories
from runtime.story.story import Story
from tests.runtime.story.key_story import PEOPLE, fact, heard, scene, stored_story

_numbers = itertools.count(1)

PLACES = ((1, 1), (1, 2), (2, 1), (2, 2))


def at(chapter: int, scene: int) -> StoryPosition:
    return StoryPosition(chapter, scene)


HIDES = scene((1, 1), "Ada hid the heron key.", "C0", memories=[fact("M1", "Ada hid the heron key.", "C0")])
TELLS = scene(
    (1, 2),
    "Ada told Ben where she had hidden the heron key. Cornelius slept.",
    "C0 C1 C2",
    memories=[fact("M2", "Ben swore silence.", "C1", known_by=["C1", "C0"], hidden_from=["C2"])],
    learned=[heard("C1", "M1", "C0", evidence="told Ben where she had hidden the heron key")],
)
MEETS = scene((2, 1), "Ben met Cornelius on the pier.", "C1 C2")
ALONE = scene((2, 2), "Ada and Ben sat by the lamp.", "C0 C1")


def _told(stores: MemoryStores, *scenes: SceneInput, language: str = "en") -> tuple[Story, IngestResult]:
    return stored_story(stores, f"knowing-{next(_numbers)}", scenes, language=language, index=False)


@pytest.fixture
def story(stores: MemoryStores) -> Story:
    """Ada hides a key and tells Ben of it, while Cornelius sleeps beside them."""
    return _told(stores, HIDES, TELLS, MEETS, ALONE)[0]


def _known(story: Story, who: str, as_of: StoryPosition = END_OF_STORY) -> list[str]:
    found = story.knowledge.list(character_id=who, as_of=as_of)
    return sorted(each.source_id for each in found.known)


def test_a_memory_stands_in_exactly_one_list(story: Story) -> None:
    """Seed 002.2, 002.3: who was told knows since then and from whom; who slept does not, nobody before it."""
    ben = story.knowledge.list(character_id="Ben", as_of=at(2, 1))
    told = {each.source_id: each for each in ben.known}
    assert sorted(told) == ["M1", "M2"]
    assert (told["M1"].how, told["M1"].learned_from) == ("told", "C0")
    assert (told["M1"].since_chapter, told["M1"].since_scene) == (1, 2)
    assert told["M1"].quote == "told Ben where she had hidden the heron key"
    cornelius = story.knowledge.list(character_id="C2", as_of=at(2, 1))
    assert ([each.source_id for each in cornelius.not_known], cornelius.known) == (["M1", "M2"], [])
    assert {each.source_id: each.kind for each in cornelius.not_known} == {"M1": "unknown", "M2": "hidden"}
    assert _known(story, "Ben", at(1, 2)) == []
    assert _known(story, "Reader", at(2, 1)) == ["M1", "M2"]


def test_why_is_told_in_the_storys_language(stores: MemoryStores) -> None:
    """In Chinese; a quote that the scene lacks is stored as unverified, and proves nothing."""
    project, _ = _told(stores, HIDES, language="zh")
    (unknown,) = project.knowledge.list(character_id="C1").not_known
    assert unknown.why == "不在场，此后也没有谁告诉过"
    learned = [{"character_id": "C1", "memory_ids": ["M1"], "evidence": "He swore by the drowned bell."}]
    project, _ = _told(stores, HIDES, scene((1, 2), "Ada spoke low.", "C0 C1", learned=learned))
    with stores.database(project.project_id).read() as unit:
        (said,) = unit.knowledge.said()
    assert (said.verified, said.source_span) == (False, None)
    (known,) = project.knowledge.list(character_id="Ben").known
    assert known.quote == ""


def test_it_is_filtered_by_entity_or_words(story: Story) -> None:
    """A name means what is about its bearer; other words, what holds them; nothing found is no error."""
    cases: list[tuple[str, list[str]]] = [("Ben", ["M2"]), ("heron", ["M1"]), ("the whale", [])]
    for about, found in cases:
        asked = story.knowledge.list(character_id="Ada", about=about)
        assert [each.source_id for each in [*asked.known, *asked.not_known]] == found


def test_a_passage_is_no_fact_and_a_whole_tale_may_be_the_authors_word(stores: MemoryStores, story: Story) -> None:
    """Another kind is named; all that Ada lived through is told on, but not without a teller."""
    with stores.database(story.project_id).read() as unit:
        passage = next(each.chunk for each in unit.memories.list_matching() if each.chunk.content_type == "scene")
    with pytest.raises(UserInputError, match="is a scene; only memories and notes"):
        story.knowledge.who_knows(memory_id=passage.chunk_id)
    story.knowledge.set(character_id="Dora", memory_id="*", how="told", learned_from="Ada")
    assert _known(story, "Dora") == ["M1", "M2"]
    with pytest.raises(UserInputError, match="say who tells it"):
        story.knowledge.set(character_id="Dora", memory_id="*")


@pytest.mark.slow
@pytest.mark.parametrize("take", [StoryMemories.ban, StoryMemories.delete])
def test_a_memory_that_is_taken_out_is_known_to_nobody_until_it_is_back(
    story: Story, take: Callable[..., object]
) -> None:
    """It stands in no list, the reader's neither; the author's word on it waits, and can be taken back meanwhile."""
    story.knowledge.set(character_id="Dora", memory_id="M1", how="overheard")
    story.knowledge.set(character_id="Ada", memory_id="M1", kind="hidden")
    take(story.memories, memory_id="M1")
    for who in ("Ada", "Ben", "Dora", "reader"):
        found = story.knowledge.list(character_id=who)
        assert "M1" not in [each.source_id for each in [*found.known, *found.not_known]]
    with pytest.raises(UnknownMemoryError, match="'M1' is there by then"):
        story.knowledge.who_knows(memory_id="M1")
    assert len(story.knowledge.forget(character_id="Ada", memory_id="M1")) == 1
    story.memories.unban(memory_id="M1")
    assert "M1" in _known(story, "Dora")
    assert "M1" in _known(story, "Ada")


def test_a_memory_that_a_new_reading_lacks_is_known_to_nobody(stores: MemoryStores, story: Story) -> None:
    """What was said of it counts for no other memory; the doctor names it, it can be taken back, or counts again."""
    story.knowledge.set(character_id="Dora", memory_id="M1", how="overheard")
    story.knowledge.set(character_id="Ada", memory_id="M1", kind="hidden")
    assert check_minds(stores, story.project_id) == []
    other = scene((1, 1), HIDES.text, "C0", memories=[fact("N1", "Ada hid the heron key.", "C0")])
    ingest_scenes(stores, story.project_id, [other], index=False)
    assert _known(story, "Dora", at(2, 1)) == []
    assert "M1" not in _known(story, "Ben", at(2, 1))
    (finding,) = check_minds(stores, story.project_id)
    assert (finding.level, finding.what) == ("hint", "who knows what")
    assert "M1" in finding.message
    assert len(story.knowledge.forget(character_id="Ada", memory_id="M1")) == 1
    with pytest.raises(UnknownMemoryError):
        story.knowledge.forget(character_id="Ada", memory_id="M1")
    ingest_scenes(stores, story.project_id, [HIDES], index=False)
    assert _known(story, "Dora", at(2, 1)) == ["M1"]
    assert "M1" in _known(story, "Ada", at(2, 1))
    assert check_minds(stores, story.project_id) == []


def test_without_a_place_it_holds_since_the_memorys_scene(story: Story) -> None:
    """The author may say that somebody saw it happen, or that a note of the author is a secret."""
    story.knowledge.set(character_id="Dora", memory_id="M1", how="overheard", certainty=0.4)
    dora = story.knowledge.list(character_id="Dora", as_of=at(1, 2))
    assert [(each.source_id, each.how, each.certainty) for each in dora.known] == [("M1", "overheard", 0.4)]
    note = story.memories.add(content="The lamp is cursed.", attached_to=["book"]).note.chunk_id
    assert note in _known(story, "Dora")
    story.knowledge.set(character_id="Dora", memory_id=note, kind="deceived")
    assert note not in _known(story, "Dora")


def test_what_cannot_be_said_is_refused(stores: MemoryStores, story: Story) -> None:
    """The wrong name or value is named, with what is near it; nothing is stored."""
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"character_id": "Benn"}, UnknownEntityError, "near it: Ben"),
        ({"memory_id": "M9"}, UnknownMemoryError, "'M9'"),
        ({"start": at(1, 1)}, UnknownMemoryError, "by then"),
        ({"kind": "guesses"}, UserInputError, "kind cannot be 'guesses'"),
        ({"how": "dreamt"}, UserInputError, "how cannot be 'dreamt'"),
        ({"learned_from": "Nobody"}, UnknownEntityError, "'Nobody'"),
    ]
    for asked, error, told in cases:
        with pytest.raises(error, match=told):
            story.knowledge.set(**({"character_id": "Ben", "memory_id": "M1"} | asked))
        with stores.database(story.project_id).read() as unit:
            assert [each for each in unit.knowledge.said() if each.origin == "author"] == []


def test_a_record_round_trips_and_names_who_is_unknown(stores: MemoryStores) -> None:
    """What a record says of knowledge is stored with it; ids that nobody has are told and count for nobody."""
    stray = scene(
        (1, 1),
        "Ada hid the heron key.",
        "C0",
        memories=[fact("M1", "Ada hid it.", "C0", known_by=["C0", "C77"])],
        learned=[{"character_id": "C0", "memory_ids": ["M99"], "from_id": "C88"}],
    )
    project, result = _told(stores, stray)
    messages = [each.message for each in result.issues]
    assert ["C77" in each and "C88" in each for each in messages] == [True, False]
    assert "M99" in messages[1]
    with stores.database(project.project_id).read() as unit:
        stored = unit.scenes.require(at(1, 1)).record
    assert stored == stray.record
    assert _known(project, "Ada") == ["M1"]
    with pytest.raises(UnknownEntityError, match=f'card add {project.project_id} "C77"'):
        project.knowledge.list(character_id="C77")


def test_what_stands_for_others_is_known_to_who_knows_them_all(stores: MemoryStores, story: Story) -> None:
    """The single memories stay in the lists; the author says something of each of them, not of what stands for them."""
    with stores.database(story.project_id).write() as unit:
        sources = [each.chunk for each in unit.memories.list_matching() if each.chunk.content_type == "memory"]
        standing = consolidated_memory(ConsolidatedText(content="The key and the oath."), sources, created_at=utc_now())
        assert unit.consolidations.add(standing, sources)
    found = story.knowledge.who_knows(memory_id=standing.chunk_id)
    assert {each.character_id for each in found.known_by} == {"reader", "C0", "C1"}
    (ben,) = [each for each in found.known_by if each.character_id == "C1"]
    assert (ben.source_id, ben.content) == (standing.chunk_id, "The key and the oath.")
    assert _known(story, "Ben") == ["M1", "M2"]
    with pytest.raises(UserInputError, match="stands for other memories"):
        story.knowledge.set(character_id="Ben", memory_id=standing.chunk_id)


def test_who_was_masked_is_one_person_once_the_story_shows_it(stores: MemoryStores, story: Story) -> None:
    """Before that they know two things; after it, what the mask knew is theirs, and the mask's id means them."""
    with stores.database(story.project_id).write() as unit:
        unit.merges.unmask("C3", "C0", at=at(2, 1))
    assert _known(story, "C3", at(2, 1)) == []
    assert _known(story, "C0", at(2, 1)) == ["M1", "M2"]
    assert _known(story, "C3", at(2, 2)) == ["M1", "M2"]
    assert story.knowledge.list(character_id="C0", as_of=at(2, 2)).character_id == "C3"
    assert len(story.knowledge.list_shared_scenes(character_a="Dora", character_b="Ben").scenes) == 2


_person = st.sampled_from(list(PEOPLE))
_said = st.fixed_dictionaries(
    {
        "present": st.sets(_person, max_size=3),
        "about": st.lists(_person, max_size=2, unique=True),
        "known_by": st.sets(_person, max_size=1),
        "text": st.sampled_from(["the heron key lay under the stair", "bread was dear", "the lamp burned"]),
        "learned": st.lists(st.tuples(_person, st.integers(0, 3), _person), max_size=1),
        "word": st.one_of(st.none(), st.tuples(_person, st.sampled_from(["knows", "hidden"]))),
    }
)


def _generated(number: int, told: dict[str, Any]) -> SceneInput:
    learned = [
        {"character_id": who, "memory_ids": [f"M{what}"] if what < number else [], "from_id": teller}
        for who, what, teller in told["learned"]
    ]
    about = [PEOPLE[each] for each in told["about"]]
    content = f"{' and '.join(about) or 'Somebody'} knew that {told['text']}."
    established = fact(f"M{number}", content, *told["about"], known_by=sorted(told["known_by"]))
    return scene(
        PLACES[number],
        f"{told['text'].capitalize()}. Scene {number}.",
        " ".join(sorted(told["present"])),
        memories=[established],
        learned=learned,
    )


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(told=st.lists(_said, min_size=4, max_size=4))
def test_nothing_later_bears_on_what_is_known(stores: MemoryStores, told: list[dict[str, Any]]) -> None:
    """A read at a position answers as a story would that ends there: scenes, words of the author, all of it."""
    scenes = [_generated(number, each) for number, each in enumerate(told)]

    def stored(count: int) -> Story:
        project, _ = _told(stores, *scenes[:count])
        for number, each in enumerate(told[:count]):
            if each["word"] is not None:
                who, kind = each["word"]
                project.knowledge.set(character_id=who, memory_id=f"M{number}", kind=kind)
        return project

    whole = stored(len(scenes))
    for count in (1, 2, 3):
        cut = stored(count)
        for who in (*PEOPLE, "reader"):
            told_whole = whole.knowledge.list(character_id=who, as_of=at(*PLACES[count]))
            assert told_whole == cut.knowledge.list(character_id=who)
            assert len(told_whole.known) + len(told_whole.not_known) == count


@pytest.mark.slow
@pytest.mark.parametrize(("memory_id", "of"), [("M2", "Ben swore silence."), ("*", "")])
def test_the_authors_word_is_undone(story: Story, memory_id: str, of: str) -> None:
    """The last change is taken back by `undo`, a new word and one that was withdrawn; and it says of what it was."""
    before = _known(story, "Dora")
    first = story.knowledge.set("Dora", memory_id, how="told", learned_from="Ada")
    story.knowledge.set("Dora", memory_id, how="overheard", learned_from="Ada")
    known = _known(story, "Dora")
    assert known != before
    story.knowledge.forget("Dora", memory_id)
    assert _known(story, "Dora") == before
    if memory_id != "*":
        assert author_words(story._stores, story.project_id, character_id="Dora", memory_id=memory_id) == []
    story.undo()
    assert _known(story, "Dora") == known
    story.undo()
    undone = story.undo(first.change_id)
    assert _known(story, "Dora") == before
    assert undone.what.endswith(of)
    with pytest.raises(UserInputError, match="undone already"):
        story.undo(first.change_id)
