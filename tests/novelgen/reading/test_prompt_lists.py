"""What a prompt lists of a long story: chosen by touch, in whole lines, within a budget, newest kept."""

import pytest

from novelgen.language.language import estimate_tokens
from novelgen.model_calls.prompt_data import telling_names
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.prompt_lists import MEMORIES_IN_FULL, PromptLists, chosen_lists, few_words
from novelgen.reading.request import EntitySighting, PromptMemory, SceneBefore
from tests.novelgen.reading.keeper_scene import request
from tests.support.stories import NOW, PROJECT

SCENES = [(chapter, number) for chapter in range(1, 51) for number in range(1, 5)]
HERE = (51, 1)
TEXT = (
    "The Professor shut the door of the customs house behind him. “You have the ledger, Captain Orme?” he said. "
    "Nobody answered; the stove ticked. A cloak hung on the nail, wet to the collar."
)


def place_of(number: int) -> tuple[int, int]:
    """Spread 300 things over the scenes of the story, the last in its last scene."""
    return SCENES[min(len(SCENES) - 1, number * len(SCENES) // 300)]


def long_story() -> SceneSoFar:
    """300 entities, 120 open threads, 80 states, 60 relationships, 200 memories in 200 scenes."""
    people = [
        Entity(
            entity_id=f"C{number}",
            entity_type="character",
            name=f"Walker{number} Stone{number}",
            description=f"Porter number {number} of the northern station, seen once.",
        )
        for number in range(296)
    ]
    orme = Entity(entity_id="C900", entity_type="character", name="Captain Orme", description="Keeps the port.")
    worms = Entity(
        entity_id="C901", entity_type="character", name="Professor de Worms", description="Aged member of the council."
    )
    ledger = Entity(entity_id="I902", entity_type="item", name="the grey ledger")
    cloak = Entity(entity_id="I903", entity_type="item", name="cloak", description="Left on a bench long ago.")
    entities = [*people, orme, worms, ledger, cloak]
    seen = {entity.entity_id: place_of(number) for number, entity in enumerate(people)}
    seen |= {"C900": (50, 1), "C901": (20, 1), "I902": (49, 2), "I903": (2, 1)}
    loops = [
        OpenLoop(
            loop_id=f"OL{number}",
            category="question",
            description=f"Will Stone{number} ever say where lantern {number} went?",
            related_entities=[f"C{number}"],
            chapter_index=SCENES[number][0],
            scene_index=SCENES[number][1],
            age_scenes=200 - number,
        )
        for number in range(119)
    ]
    newest = OpenLoop(
        loop_id="OL900",
        category="pursuit",
        description="Somebody follows Orme.",
        importance="low",
        related_entities=["C900"],
        chapter_index=50,
        scene_index=4,
        age_scenes=0,
    )
    states = [
        EntityStateSnapshot(
            project_id=PROJECT,
            entity_type="character",
            entity_id=f"C{number}",
            timestamp=NOW,
            state_data={"goals": [f"reach station {number}", "sleep"], "physical_state": "limping " * 5},
        )
        for number in range(220, 300)
    ]
    pairs = [
        Relationship(relationship_id=f"R{number}", character_a=f"C{number}", character_b=f"C{number + 1}")
        for number in range(60)
    ]
    pairs.append(
        Relationship(relationship_id="R900", character_a="C900", character_b="C901", relationship_type="old enemies")
    )
    memories = [
        PromptMemory(
            memory_id=f"m{number}",
            says=f"Stone{number} carried lantern {number}.",
            chapter_index=place_of(number)[0],
            scene_index=place_of(number)[1],
            entities=[f"C{number}"],
        )
        for number in range(199)
    ]
    memories.append(
        PromptMemory(
            memory_id="m900",
            says="Orme hides the grey ledger.",
            chapter_index=9,
            scene_index=1,
            entities=["C900", "I902"],
        )
    )
    return SceneSoFar.on_entering(
        request(
            TEXT,
            entities=entities,
            open_loops=[*loops, newest],
            states=states,
            relationships=pairs,
            memories=memories,
            present_ids=["C900"],
            scenes_before=[
                SceneBefore(
                    chapter_index=50,
                    scene_index=number,
                    story_time=f"night {number}",
                    characters_present=["C900"],
                    summary=["Orme waits.", "The stove is lit."],
                )
                for number in (2, 3, 4)
            ],
            story_places=SCENES,
            sightings={
                entity_id: EntitySighting(chapter_index=place[0], scene_index=place[1])
                for entity_id, place in seen.items()
            },
        )
    )


@pytest.fixture(scope="module")
def lists() -> PromptLists:
    """The lists of a scene late in a long story."""
    return chosen_lists(TEXT, long_story(), language="en", max_tokens=2000)


def ids_in(text: str) -> list[str]:
    """Return the first column of a list."""
    return [line.split(" | ")[0] for line in text.splitlines()]


def test_room_goes_first_to_who_is_named_or_seen_lately(lists: PromptLists) -> None:
    """Named, titled or touched in part, then the newest; a common word or one long gone pulls nobody up."""
    scarce = chosen_lists(TEXT, long_story(), language="en", max_tokens=300)
    assert {"C900", "C901", "I902"} <= set(scarce.shown_ids)
    assert set(lists.shown_ids[:3]) == {"C900", "C901", "I902"}
    assert ids_in(lists.texts["threads"])[0] == "OL900"
    assert "OL900 | pursuit | low | 50:4 | C900 | Somebody follows Orme." in lists.texts["threads"]
    listed = list(lists.shown_ids)
    assert "C295" in listed
    assert "I903" not in listed or listed.index("I903") > listed.index("C295")
    walkers = [int(each[1:]) for each in listed if each[1:] < "900" and each[0] == "C"]
    assert walkers
    assert min(walkers) > 250
    places = [place_of(number) for number in walkers]
    assert places == sorted(places, reverse=True)


def test_lines_are_whole_the_budget_is_kept_and_no_list_starves(lists: PromptLists) -> None:
    """All lists together cost no more, each line ends as it should, and every kind has its share."""
    texts = lists.texts
    assert sum(estimate_tokens(line) + 1 for text in texts.values() for line in text.splitlines()) <= 2100
    assert all(line.endswith("went?") or line.startswith("OL900") for line in texts["threads"].splitlines())
    assert all("@" in line.split(" | ")[1] for line in texts["states"].splitlines())
    assert all(text != "(none)" for text in lists.texts.values())
    assert "C900 C901 | old enemies" in lists.texts["relationships"]
    assert ids_in(lists.texts["relationships"]) == ["C900 C901"]


def test_what_found_no_room_is_counted(lists: PromptLists) -> None:
    """The report says how much that the text touches was left out, and where to give more; the rest is no want."""
    assert len(ids_in(lists.texts["threads"])) < 120
    assert lists.shortage() is None
    scarce = chosen_lists(TEXT, long_story(), language="en", max_tokens=100)
    shortage = scarce.shortage()
    assert shortage is not None
    assert f"entities: {scarce.left_out['entities']}" in shortage
    assert "memory.summarization.prompt_list_tokens" in shortage


def test_memories_and_scenes_are_told_as_they_can_be_followed(lists: PromptLists) -> None:
    """Memories of the same things have a number for an id; the last scenes say when, with whom and how they ended."""
    [line] = [line for line in lists.texts["memories"].splitlines() if "grey ledger" in line]
    number = line.split(" | ")[0]
    assert lists.memory_ids[number] == "m900"
    assert "9:1 | 5 | Orme hides the grey ledger." in line
    assert lists.texts["scenes"].splitlines() == [
        f"50:{number} | night {number} | C900 | Orme waits. The stove is lit." for number in (2, 3, 4)
    ]


def test_the_dead_of_long_ago_are_listed_last_unless_spoken_of() -> None:
    """Where room is scarce others have it; a name brings them back, and a memory that may be told again."""
    dead = Entity(entity_id="C1", entity_type="character", name="Isidore Vane")
    state = EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id="C1", timestamp=NOW, state_data={"status": "dead"}
    )
    told = PromptMemory(
        memory_id="m1", says="Isidore Vane hid the grey ledger behind the stove.", entities=["C1"], chapter_index=2
    )

    others = [Entity(entity_id=f"C{number}", entity_type="character", name=f"Walker{number}") for number in range(2, 9)]

    def listed(text: str, **known: list[PromptMemory]) -> PromptLists:
        seen = {each.entity_id: EntitySighting(chapter_index=45, scene_index=1, scenes=3) for each in others}
        seen["C1"] = EntitySighting(chapter_index=40, scene_index=1, scenes=30)
        given = request(text, entities=[dead, *others], states=[state], story_places=SCENES, sightings=seen, **known)
        return chosen_lists(text, SceneSoFar.on_entering(given), language="en")

    assert listed(TEXT).shown_ids[-1] == "C1"
    named = listed(f"{TEXT} Vane!")
    assert named.shown_ids[0] == "C1"
    assert "C1 | character | Isidore Vane" in named.texts["entities"].splitlines()
    assert "C1 | @40:1 | status: dead" in named.texts["states"].splitlines()
    assert listed("She found the grey ledger behind the stove.", memories=[told]).shown_ids[0] == "C1"


@pytest.mark.slow
def test_the_list_of_entities_stays_the_same_from_scene_to_scene() -> None:
    """It is in the order of appearance and tells nothing of places, so that a provider's prompt cache knows it."""
    story = long_story()
    moved = [
        EntityStateSnapshot(
            project_id=PROJECT, entity_type="character", entity_id="C3", timestamp=NOW, state_data={"place": "a cab"}
        )
    ]
    seen = {**story.request.sightings, "C3": EntitySighting(chapter_index=51, scene_index=1)}
    later = SceneSoFar.on_entering(story.request.model_copy(update={"states": moved, "sightings": seen}))
    texts = [
        chosen_lists(text, one, language="en", max_tokens=60_000).texts["entities"]
        for text, one in ((TEXT, story), ("Stone7 sang. The cloak was dry.", later))
    ]
    assert texts[0] == texts[1]


def test_a_description_that_is_no_longer_true_gives_way_to_what_was_said_since() -> None:
    """The line tells who somebody is by now, and the states do not say it twice."""
    widow = Entity(entity_id="C1", entity_type="character", name="Ada", description="A widow.")
    state = EntityStateSnapshot(
        project_id=PROJECT,
        entity_type="character",
        entity_id="C1",
        timestamp=NOW,
        state_data={"description": "Wife of the miller."},
    )
    given = request("Ada sang.", entities=[widow], states=[state], relationships=[], open_loops=[])
    texts = chosen_lists("Ada sang.", SceneSoFar.on_entering(given), language="en").texts
    assert texts["entities"] == "C1 | character | Ada | Wife of the miller."
    assert texts["states"] == "(none)"


def test_whole_attributes_are_shown_and_the_others_named() -> None:
    """A long state is not cut: what the scene touches is shown, of the rest the names stand at the end."""
    data = {
        "goals": [f"goal number {number} of a long list" for number in range(12)],
        "knowledge": [f"thing number {number} that is known" for number in range(12)],
        "secret": "keeps the ledger behind the stove of the customs house",
    }
    state = EntityStateSnapshot(
        project_id=PROJECT, entity_type="character", entity_id="C1", timestamp=NOW, state_data=data
    )
    ada = Entity(entity_id="C1", entity_type="character", name="Orme")
    story = SceneSoFar.on_entering(request(TEXT, entities=[ada], states=[state], relationships=[], open_loops=[]))
    [line] = chosen_lists(TEXT, story, language="en").texts["states"].splitlines()
    assert line.startswith("C1 | secret: keeps the ledger behind the stove of the customs house; goals: [goal number 0")
    assert line.endswith("goal number 11 of a long list]; … (knowledge)")


def test_those_who_are_not_listed_are_spoken_of_by_name() -> None:
    """A thread tells an id only where it stands in the list, for an id that was not shown says nothing."""
    story = long_story()
    lists = chosen_lists(TEXT, story, language="en", max_tokens=2000)
    unlisted = [line for line in lists.texts["threads"].splitlines() if "| Walker" in line]
    assert unlisted
    shown = {each for line in lists.texts["threads"].splitlines() for each in line.split(" | ")[4].split(", ")}
    assert all(each in lists.shown_ids or each.startswith("Walker") for each in shown)


@pytest.mark.parametrize(
    ("description", "kept"),
    [
        ("Keeps the port.", "Keeps the port."),
        ("", ""),
        (f"Keeps the port, {'and much besides ' * 9}", "Keeps the port"),
        (f"守港的人，{'兼管诸事' * 9}", "守港的人"),
        (
            f"Keeps {'everything ' * 20}",
            "Keeps everything everything everything everything everything everything everything everything",
        ),
    ],
)
def test_a_description_is_given_in_a_few_words(description: str, kept: str) -> None:
    """First clauses that fit; words of a clause that does not."""
    assert few_words(description) == kept


def test_a_line_shows_the_names_that_the_text_uses() -> None:
    """Of many names those of the text come first after the display name, then proper ones before descriptions."""
    aliases = ["the fellow", "the old man", "the lodger", "the stranger", "the clerk", "the guest", "Osric", "Maud"]
    entity = Entity(
        entity_id="C9",
        entity_type="character",
        name="the voice",
        aliases=[EntityAlias(alias=alias) for alias in aliases],
    )
    assert telling_names(entity, "Then Maud sat beside the guest.") == [
        *("the voice", "Maud", "the guest"),
        *("Osric", "the fellow", "the old man"),
    ]


def test_what_may_be_told_again_stands_whole() -> None:
    """The memories that are likest to the text are shown whole, those behind them in their short forms."""
    known = [
        PromptMemory(
            memory_id=f"m{number}",
            says=f"Captain Orme hid the grey ledger behind stove number {number}.",
            short=f"Orme hid ledger {number}",
            entities=["C900"],
            chapter_index=1,
            scene_index=number,
        )
        for number in range(1, MEMORIES_IN_FULL + 3)
    ]
    story = SceneSoFar.on_entering(request(TEXT, entities=long_story().entities, memories=known))
    shown = chosen_lists(TEXT, story, language="en").texts["memories"].splitlines()
    assert sum("behind stove" in line for line in shown) == MEMORIES_IN_FULL
    assert sum("Orme hid ledger" in line for line in shown) == 2


def test_a_scene_that_nobody_has_read_is_shown_by_its_last_words() -> None:
    """Its line says that it is unread, whom it names and how it ends, in place of what it established."""
    unread = SceneBefore(chapter_index=50, scene_index=4, names=["Sexton Pike"], last_words="Pike ran for the boat.")
    story = SceneSoFar.on_entering(request(TEXT, scenes_before=[unread]))
    assert chosen_lists(TEXT, story, language="en").texts["scenes"] == (
        "50:4 | not read yet | Sexton Pike | … Pike ran for the boat."
    )
