"""Made-up scenes that carry marks: every text says of which project, place and version it is."""

import random
import re

from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.scene_input import SceneInput

SCENES_PER_CHAPTER = 10
MEMORIES_PER_SCENE = 5
MARK = re.compile(r"zq(\d+)x(\d+)x(\d+)q")

_PEOPLE = ("Anna", "Bertram", "Clotilde", "Dorian", "Esther", "Florian", "Greta", "Henrik")
_PLACES = ("the mill", "the ferry house", "the glass works", "the chapel", "the salt stairs", "the upper quay")
_THINGS = ("the silver ring", "the ledger", "the oak chest", "the brass lamp", "the sealed letter", "the blue coat")
_DEEDS = ("hid", "promised to return", "quarrelled about", "found", "sold", "buried", "asked for", "lied about")
_WORDS = (
    "morning rain river stone window candle silence bread stranger road winter answer shoulder kitchen boat market "
    "evening wind harbour garden key voice letter door fire shadow hand bridge field snow"
).split()

ENTITIES = [
    Entity(entity_id=f"C{number}", entity_type="character", name=name) for number, name in enumerate(_PEOPLE)
] + [Entity(entity_id=f"L{number}", entity_type="location", name=name) for number, name in enumerate(_PLACES)]


def position_of(place: int) -> StoryPosition:
    """Return where in the story a place stands; places count from 0."""
    return StoryPosition(place // SCENES_PER_CHAPTER + 1, place % SCENES_PER_CHAPTER + 1)


def mark_of(project: int, place: int, version: int) -> str:
    """Return the mark of a version of a scene, which `MARK` reads back."""
    return f"zq{project}x{place}x{version}q"


def marked_contents(project: int, place: int, version: int) -> list[str]:
    """Return the memories that a version of a scene brings: all of them or none may be found."""
    dice = random.Random(f"{project}/{place}/{version}")
    mark = mark_of(project, place, version)
    return [
        f"{dice.choice(_PEOPLE)} {dice.choice(_DEEDS)} {dice.choice(_THINGS)} at {dice.choice(_PLACES)}, "
        f"{mark} {number}: {' '.join(dice.choices(_WORDS, k=6))}."
        for number in range(MEMORIES_PER_SCENE)
    ]


def marked_scene(project: int, place: int, version: int) -> SceneInput:
    """Return a version of a scene of about 700 characters with its record."""
    dice = random.Random(f"{project}:{place}:{version}")
    mark, at = mark_of(project, place, version), position_of(place)
    cast = dice.sample(range(len(_PEOPLE)), 3)
    contents = marked_contents(project, place, version)
    sentences = [f"{' '.join(dice.choices(_WORDS, k=9)).capitalize()}." for _ in range(6)]
    record = SceneRecord.model_validate(
        {
            "chapter_index": at.chapter_index,
            "scene_index": at.scene_index,
            "location_id": f"L{dice.randrange(len(_PLACES))}",
            "characters_present": [f"C{number}" for number in cast],
            "summary": [f"{_PEOPLE[cast[0]]} and {_PEOPLE[cast[1]]} met, {mark}."],
            "state_changes": [{"entity_id": f"C{cast[0]}", "changes": {"status": f"weary {mark}"}}],
            "memories": [
                {
                    "memory_id": f"{mark}-{number}",
                    "content": content,
                    "short": content.partition(":")[0],
                    "importance": dice.randint(2, 9),
                    "entities": [f"C{each}" for each in cast[:2]],
                }
                for number, content in enumerate(contents)
            ],
        }
    )
    text = f"{_PEOPLE[cast[0]]} came in, {mark}. {' '.join(sentences)} {' '.join(contents[:2])}"
    return SceneInput(chapter_index=at.chapter_index, scene_index=at.scene_index, text=text, record=record)


def plan_for(place: int, dice: random.Random) -> ScenePlan:
    """Return the plan of a scene to be written at a place; it carries no mark."""
    cast = dice.sample(_PEOPLE, 2)
    return ScenePlan(
        scene_number=position_of(place).scene_index,
        location=dice.choice(_PLACES),
        characters=cast,
        purpose=f"{cast[0]} wants to know who {dice.choice(_DEEDS)} {dice.choice(_THINGS)}",
        key_actions=[f"{cast[1]} speaks of {dice.choice(_THINGS)}", f"{cast[0]} leaves {dice.choice(_PLACES)}"],
    )


def misplaced_marks(text: str, *, project: int, before: int | None) -> tuple[int, int]:
    """Count the marks in a text that are of another project, and those of this one that are not before a place."""
    found = [(int(owner), int(place)) for owner, place, _ in MARK.findall(text)]
    foreign = sum(owner != project for owner, _ in found)
    late = sum(owner == project and before is not None and place >= before for owner, place in found)
    return foreign, late
