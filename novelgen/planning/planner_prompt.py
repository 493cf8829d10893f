"""The texts that go into the planner's prompt: background, known entities, scene plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.request import MemoryContextRequest
from novelgen.text.cjk import StoryLanguage
from novelgen.text.scrub import scrub_text
from novelgen.text.tokens import estimate_tokens

MAX_LISTED_ENTITIES = 80
MAX_LISTING_TOKENS = 1500
MAX_NAMES_PER_ENTITY = 6
MAX_PLAN_CHARACTERS = 6000
MAX_BACKGROUND_CHARACTERS = 1500

_LABELS: dict[StoryLanguage, dict[str, str]] = {
    "en": {
        "location": "Place",
        "characters": "Characters",
        "purpose": "Purpose",
        "action": "Action",
        "title": "Story",
        "genre": "Genre",
        "world": "World",
        "chapter": "Chapter",
        "earlier": "Earlier in the chapter",
        "hint": "Remark",
        "none": "(none)",
    },
    "zh": {
        "location": "地点",
        "characters": "人物",
        "purpose": "目的",
        "action": "动作",
        "title": "故事",
        "genre": "类型",
        "world": "世界",
        "chapter": "章",
        "earlier": "本章之前各场",
        "hint": "提示",
        "none": "（无）",
    },
}
_FENCE = re.compile(r"={4,}")
_CHAT_MARKER = re.compile(r"<(?=\|)|(?<=\|)>")


def scene_plan_text(plan: ScenePlan, language: StoryLanguage) -> str:
    """Return the plan as labelled lines, at most MAX_PLAN_CHARACTERS long, in the story's language."""
    labels = _LABELS[language]
    lines = [
        (labels["location"], plan.location),
        (labels["characters"], _joined(plan.characters, language)),
        (labels["purpose"], plan.purpose),
        *((labels["action"], action) for action in plan.key_actions),
    ]
    return _labelled(lines, language, MAX_PLAN_CHARACTERS)


def background_text(request: MemoryContextRequest, language: StoryLanguage) -> str:
    """Return what the request tells beside the plan: settings, chapter up to the scene, hints."""
    labels = _LABELS[language]
    lines = [(labels["hint"], hint) for hint in request.hints]
    if request.chapter_plan is not None:
        number = request.scene_plan.scene_number
        earlier = [scene.purpose for scene in request.chapter_plan.scenes if scene.scene_number < number]
        lines.append((labels["chapter"], request.chapter_plan.chapter_title))
        lines += [(labels["earlier"], purpose) for purpose in earlier]
    if request.settings is not None:
        lines.append((labels["title"], request.settings.project_name))
        lines.append((labels["genre"], request.settings.genre))
        lines.append((labels["world"], request.settings.world_description))
    return _labelled(lines, language, MAX_BACKGROUND_CHARACTERS)


def known_entities_text(
    entities: Sequence[Entity],
    language: StoryLanguage,
    *,
    first_ids: Sequence[str] = (),
    max_entities: int = MAX_LISTED_ENTITIES,
    max_tokens: int = MAX_LISTING_TOKENS,
) -> str:
    """List the known entities by id, kind and names; roles and descriptions would give the story away.

    Args:
        entities: The entities as of the position, their names already cut to it.
        language: Language of the story.
        first_ids: Entities that are listed before all others, in this order.
        max_entities: Longest listing, in lines.
        max_tokens: Longest listing, in estimated tokens.

    Returns:
        One line per entity, `id | kind | name; alias; …`; a mark for "none" when nothing is known.
    """
    by_id = {entity.entity_id: entity for entity in entities}
    ordered = dict.fromkeys([*(each for each in first_ids if each in by_id), *by_id])
    lines: list[str] = []
    spent = 0
    for entity_id in list(ordered)[:max_entities]:
        line = _entity_line(by_id[entity_id])
        spent += estimate_tokens(line) + 1
        if spent > max_tokens:
            break
        lines.append(line)
    return "\n".join(lines) or _LABELS[language]["none"]


def as_data(text: str) -> str:
    """Return a text on one line that cannot forge the prompt's dividing lines or a model's chat markers."""
    one_line = " ".join(scrub_text(text).split())
    return _CHAT_MARKER.sub(" ", _FENCE.sub("===", one_line))


def _entity_line(entity: Entity) -> str:
    names = [as_data(name)[:60] for name in entity.names()[:MAX_NAMES_PER_ENTITY]]
    return f"{as_data(entity.entity_id)} | {entity.entity_type} | {'; '.join(names)}"


def _labelled(lines: Iterable[tuple[str, str]], language: StoryLanguage, max_characters: int) -> str:
    separator = "：" if language == "zh" else ": "
    said = [f"{label}{separator}{as_data(text)}" for label, text in lines if text.strip()]
    return "\n".join(said)[:max_characters] or _LABELS[language]["none"]


def _joined(names: Iterable[str], language: StoryLanguage) -> str:
    return ("、" if language == "zh" else ", ").join(names)
