"""Plans of scenes and chapters, and the adapters of callers' objects."""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, field_validator

from novelgen.models.character_forms import read_characters, require_characters
from novelgen.models.record import (
    RecordedEntity,
    RecordedLoop,
    RecordedLoopAdvance,
    RecordedLoopResolution,
    RecordedMemory,
    RecordedRelationshipChange,
    RecordedStateChange,
    SceneRecord,
    is_unsaid,
)
from novelgen.models.user_file import Character, CharactersConfig, Settings, UserFileModel
from novelgen.nearest import nearest_name

logger = logging.getLogger(__name__)

SCENE_TYPES = frozenset(
    {"日常", "对话", "战斗", "发展", "高潮", "结局"}
    | {"daily", "dialogue", "battle", "development", "climax", "ending"}
)
INTENSITIES = frozenset({"低", "中", "高", "low", "medium", "high"})


class ScenePlan(UserFileModel):
    """The plan of the next scene."""

    scene_number: int | None = Field(
        default=None, ge=0, description="Number of the scene within its chapter, from 1; None: whichever is planned."
    )
    location: str = Field(default="", description="Where the scene plays, in the author's words.")
    characters: list[str] = Field(default_factory=list, description="Who appears: names, aliases or ids.")
    purpose: str = Field(default="", description="What the scene is for.")
    key_actions: list[str] = Field(default_factory=list, description="What happens, in order.")
    estimated_words: int | None = Field(default=None, ge=0, description="Planned length in words.")
    scene_type: str = Field(default="", description="One of SCENE_TYPES; others are accepted with a warning.")
    intensity: str = Field(default="", description="One of INTENSITIES; others are accepted with a warning.")
    pov: str = Field(
        default="", exclude_if=is_unsaid, description="From whose point of view: a name, an alias or an id."
    )

    @field_validator("pov", mode="before")
    @classmethod
    def _nobody_in_particular(cls, value: Any) -> Any:
        return "" if value is None else value

    @field_validator("scene_type")
    @classmethod
    def _warn_unknown_scene_type(cls, value: str) -> str:
        if value and value not in SCENE_TYPES:
            logger.warning("scene_type %r is not one of %s; kept as it is", value, sorted(SCENE_TYPES))
        return value

    @field_validator("intensity")
    @classmethod
    def _warn_unknown_intensity(cls, value: str) -> str:
        if value and value not in INTENSITIES:
            logger.warning("intensity %r is not one of %s; kept as it is", value, sorted(INTENSITIES))
        return value


class ChapterPlan(UserFileModel):
    """The plans of a chapter's scenes, in order."""

    chapter_number: int = Field(ge=0)
    chapter_title: str = ""
    scenes: list[ScenePlan] = Field(default_factory=list)

    @field_validator("scenes", mode="before")
    @classmethod
    def _require_numbers(cls, scenes: Any) -> Any:
        for index, scene in enumerate(scenes if isinstance(scenes, list) else []):
            if isinstance(scene, dict) and scene.get("scene_number") is None:
                raise ValueError(f"scenes[{index}].scene_number is missing in {scene!r:.200}")
        return scenes

    def scene(self, scene_number: int) -> ScenePlan | None:
        """Return the plan of that scene, or None when the chapter plan has none."""
        return next((scene for scene in self.scenes if scene.scene_number == scene_number), None)


class GeneratedScene(UserFileModel):
    """A finished scene."""

    scene_number: int = Field(ge=0)
    content: str
    word_count: int = Field(default=0, ge=0, description="Words (English) or characters (Chinese).")


class GeneratedChapter(UserFileModel):
    """The finished scenes of a chapter, in order."""

    chapter_number: int = Field(ge=0)
    chapter_title: str = ""
    scenes: list[GeneratedScene] = Field(default_factory=list)
    total_words: int = Field(default=0, ge=0)


MISSPELT = 0.8
"""Plans may hold fields of their own, so that only a near miss counts as a mistake."""

MOST_PEOPLE = 200
"""In a scene's plan: each name is looked for in the whole story."""

_FOREIGN_FIELDS: dict[str, str] = {
    **dict.fromkeys(("cast", "chars", "people", "actors", "who", "人物", "角色", "出场人物", "登场人物"), "characters"),
    **dict.fromkeys(("place", "setting", "scene_location", "where", "地点", "场景", "场所"), "location"),
    **dict.fromkeys(("goal", "goals", "summary", "objective", "synopsis", "description", "intent"), "purpose"),
    **dict.fromkeys(("beat", "outline", "目的", "目标", "梗概", "概要", "内容"), "purpose"),
    **dict.fromkeys(("beats", "events", "actions", "steps", "plot_points", "情节", "事件", "要点"), "key_actions"),
    **dict.fromkeys(("viewpoint", "perspective", "point_of_view", "narrator", "视角"), "pov"),
    **dict.fromkeys(("word_count", "words", "length", "字数"), "estimated_words"),
}
"""Words of other planners for the fields of a scene plan."""


def foreign_field_names(plan: ScenePlan) -> list[str]:
    """Return the fields of a plan that are not read, each with the field that it may mean."""
    return [
        _with_likely_field(name, [field for field in plan.model_fields_set if getattr(plan, field)])
        for name in plan.extra
    ]


def _with_likely_field(name: str, filled_names: Sequence[str]) -> str:
    likely = _FOREIGN_FIELDS.get(name.strip().casefold())
    return repr(name) if likely is None or likely in filled_names else f"{name!r} (did you mean {likely!r}?)"


def _require_known_field(fields: object) -> None:
    """Refuse a plan that says nothing in the fields of a plan."""
    extra = fields.extra if isinstance(fields, ScenePlan) else fields.get("extra") if isinstance(fields, dict) else None
    names = fields.model_fields_set if isinstance(fields, ScenePlan) else fields if isinstance(fields, dict) else ()
    if extra and not set(names) - {"extra", "scene_number"}:
        foreign = ", ".join(_with_likely_field(str(name), ()) for name in extra)
        known_name = ", ".join(name for name in ScenePlan.model_fields if name not in ("extra", "scene_number"))
        raise ValueError(f"scene_plan has no field of a plan, only {foreign}; a plan has {known_name}")


_NESTED: dict[type[UserFileModel], dict[str, type[UserFileModel]]] = {
    ChapterPlan: {"scenes": ScenePlan},
    CharactersConfig: {"protagonist": Character, "antagonist": Character, "supporting_characters": Character},
    SceneRecord: {
        "new_entities": RecordedEntity,
        "state_changes": RecordedStateChange,
        "relationship_changes": RecordedRelationshipChange,
        "open_loops_created": RecordedLoop,
        "open_loops_advanced": RecordedLoopAdvance,
        "open_loops_resolved": RecordedLoopResolution,
        "memories": RecordedMemory,
    },
}


def given_scene_plan(value: object, *, scene_index: object) -> object:
    """Return scene plan data for `ScenePlan`, with a default number."""
    fields = given_fields(value, ScenePlan, where="scene_plan")
    _require_known_field(fields)
    people = fields.characters if isinstance(fields, ScenePlan) else None
    people = fields.get("characters") if isinstance(fields, dict) else people
    if isinstance(people, list | tuple) and len(people) > MOST_PEOPLE:
        raise ValueError(f"scene_plan.characters holds {len(people):,} names; a scene has at most {MOST_PEOPLE}")
    return _with_default(fields, "scene_number", scene_index)


def given_chapter_plan(value: object, *, chapter_index: object) -> object:
    """Return chapter plan data for `ChapterPlan`, numbering unnumbered scenes."""
    fields = given_fields(value, ChapterPlan, where="chapter_plan")
    scenes = fields.get("scenes") if isinstance(fields, dict) else None
    if isinstance(fields, dict) and isinstance(scenes, list) and all(map(_lacks_number, scenes)):
        numbered_scenes = [_with_default(scene, "scene_number", number) for number, scene in enumerate(scenes, 1)]
        fields = {**fields, "scenes": numbered_scenes}
    return _with_default(fields, "chapter_number", chapter_index)


def given_settings(value: object) -> object:
    """Return settings data for `Settings`."""
    return given_fields(value, Settings, where="settings")


def given_characters(value: object) -> object:
    """Return characters in the fields of `CharactersConfig`, from any form of `read_characters`."""
    fields = given_fields(read_characters(value), CharactersConfig, where="characters")
    if isinstance(fields, dict):
        require_characters([name for name in fields if name != "extra"] or list(fields.get("extra", ())))
    return fields


def given_record(value: object, *, chapter_index: int, scene_index: int) -> object:
    """Return record data for `SceneRecord`, placed at its scene."""
    fields = given_fields(value, SceneRecord, where="record")
    place = {"chapter_index": chapter_index, "scene_index": scene_index}
    stated_fields = dict(fields) if isinstance(fields, dict | SceneRecord) else {}
    if any(stated_fields.get(name) not in (None, number) for name, number in place.items()):
        of = f"{stated_fields.get('chapter_index')}:{stated_fields.get('scene_index')}"
        raise ValueError(f"record is of scene {of}, not of {chapter_index}:{scene_index}; pass that of this scene")
    if isinstance(fields, SceneRecord):
        return fields
    return {**fields, **place} if isinstance(fields, dict) else fields


def given_fields(given: object, model: type[UserFileModel], *, where: str) -> object:
    """Return a caller's object as a mapping of model fields, recursively."""
    if isinstance(given, model):
        _require_spelt(given.extra, [name for name in model.model_fields if name not in given.model_fields_set], where)
        for name, inner in _NESTED.get(model, {}).items():
            _nested(getattr(given, name), inner, where=f"{where}.{name}")
        return given
    fields = _fields_of(given)
    if fields is None:
        return given
    model_fields = {name: fields[name] for name in fields if name in model.model_fields}
    extra = {name: value for name, value in fields.items() if name not in model.model_fields}
    _require_spelt(extra, [name for name in model.model_fields if name not in model_fields], where)
    for name, inner in _NESTED.get(model, {}).items():
        if name in model_fields:
            model_fields[name] = _nested(model_fields[name], inner, where=f"{where}.{name}")
    if extra:
        model_fields["extra"] = {**(model_fields.get("extra") or {}), **extra}
    return model_fields


def _require_spelt(extra: Mapping[str, Any], absent: Sequence[str], where: str) -> None:
    for name in extra:
        right = nearest_name(name, absent, likeness=MISSPELT)
        if right is not None:
            raise ValueError(f"{where} has no field {name!r}; did you mean {right!r}?")


def _nested(value: object, model: type[UserFileModel], *, where: str) -> object:
    if isinstance(value, list | tuple):
        return [given_fields(item, model, where=f"{where}[{index}]") for index, item in enumerate(value)]
    return given_fields(value, model, where=where)


def _fields_of(given_value: object) -> dict[str, Any] | None:
    """Return one level of fields.

    Nested values are read with their own model.
    """
    if isinstance(given_value, Mapping):
        return {str(name): value for name, value in given_value.items()}
    if isinstance(given_value, BaseModel):
        return dict(given_value)
    if dataclasses.is_dataclass(given_value) and not isinstance(given_value, type):
        return {field.name: getattr(given_value, field.name) for field in dataclasses.fields(given_value)}
    return None


def _with_default(fields: object, name: str, value: object) -> object:
    if isinstance(fields, dict) and fields.get(name) is None:
        return {**fields, name: value}
    if isinstance(fields, ScenePlan) and getattr(fields, name) is None:
        return fields.model_copy(update={name: value})
    return fields


def _lacks_number(scene: object) -> bool:
    number = scene.get("scene_number") if isinstance(scene, dict) else getattr(scene, "scene_number", None)
    return number is None
