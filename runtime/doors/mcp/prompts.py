"""Prompts that an author picks in a client: write the next scene, check a draft; in the story's language."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from pydantic import Field

from novelgen.errors import NovelgenError
from novelgen.language.language import StoryLanguage, story_language
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.position import StoryPosition
from runtime.doors.mcp.answers import CheckAnswer, SceneContextAnswer
from runtime.doors.mcp.arguments import position
from runtime.doors.mcp.shelf import OpenStory, Shelf
from runtime.doors.mcp.tools import of_project, with_signature
from runtime.story.projects import StoryProjects

_Chapter = Annotated[str, Field(description="Chapter of the scene, such as 3.")]
_Scene = Annotated[str, Field(description="Number of the scene within its chapter, such as 2.")]
_Project = Annotated[str, Field(description="Id of the project.")]

_PLAN_WORDS: dict[StoryLanguage, dict[str, str]] = {
    "en": {"location": "Where", "characters": "Who", "purpose": "What it is for", "pov": "Point of view"},
    "zh": {"location": "地点", "characters": "人物", "purpose": "目的", "pov": "视角"},
}
_OWN_PLAN: dict[StoryLanguage, str] = {"en": "(the project's own plan of this scene)", "zh": "（项目中这一场的计划）"}
_NO_FINDINGS: dict[StoryLanguage, str] = {
    "en": "(nothing; that proves nothing, so read for yourself)",
    "zh": "（未发现问题；这并不说明没有问题，请自行细读）",
}


def add_prompts(server: MCPServer[Any], shelf: Shelf) -> None:
    """Let a server offer the prompts over a shelf's stories."""
    offers: tuple[tuple[Callable[..., str], str, str], ...] = (
        (
            write_next_scene,
            "Write the next scene",
            "Write a planned scene from what the memory says of it, check it, and store it when it is approved.",
        ),
        (
            check_this_draft,
            "Check this draft",
            "Judge a draft against what the story established before it, with quotes of both sides.",
        ),
    )
    for body, title, description in offers:
        server.add_prompt(
            Prompt.from_function(_told(shelf, body), name=body.__name__, title=title, description=description)
        )


def write_next_scene(
    here: OpenStory,
    *,
    chapter: _Chapter,
    scene: _Scene,
    purpose: Annotated[str, Field(description="What the scene is for. Default: the project's own plan.")] = "",
    location: Annotated[str, Field(description="Where it plays.")] = "",
    characters: Annotated[str, Field(description="Who appears, with commas between.")] = "",
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a planned scene."""
    place = _place(chapter, scene)
    people = [each.strip() for each in characters.replace("，", ",").replace("、", ",").split(",")]
    plan: dict[str, Any] = {
        "location": location.strip(),
        "characters": [each for each in people if each],
        "purpose": purpose.strip(),
    }
    said = {name: value for name, value in plan.items() if value}
    context = here.story.context(*place, said or None, pov=pov.strip())
    language = _language(here)
    return _filled(
        "write_next_scene",
        language,
        project=here.project_id,
        chapter=str(place[0]),
        scene=str(place[1]),
        plan=_plan_in_words(said | ({"pov": pov.strip()} if pov.strip() else {}), language),
        context=SceneContextAnswer.of(context).as_text(),
    )


def check_this_draft(
    here: OpenStory,
    *,
    draft: Annotated[str, Field(description="The whole draft.")],
    chapter: _Chapter,
    scene: _Scene,
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a draft, with what the check of it found."""
    place = _place(chapter, scene)
    check = here.story.check(draft, chapter_index=place[0], scene_index=place[1], pov=pov.strip() or None)
    told = CheckAnswer.of(check)
    findings = [each.model_dump(exclude={"finding_id", "by"}, exclude_defaults=True) for each in told.findings]
    lines = [json.dumps(each, ensure_ascii=False) for each in findings]
    language = _language(here)
    return _filled(
        "check_this_draft",
        language,
        project=here.project_id,
        chapter=str(place[0]),
        scene=str(place[1]),
        draft=draft,
        findings="\n".join([*lines, *told.problems]) or _NO_FINDINGS[language],
    )


def _told(shelf: Shelf, body: Callable[..., str]) -> Callable[..., str]:
    """Return a prompt's function, whose errors say what to do."""
    call = of_project(shelf, body, project=_Project)

    async def told(**given: Any) -> str:
        try:
            text: str = await call(**given)
        except NovelgenError as error:
            raise MCPError(code=INVALID_PARAMS, message=shelf.told(error)) from error
        return text

    return with_signature(told, body.__name__, inspect.signature(call))


def _place(chapter: str, scene: str) -> tuple[int, int]:
    place = position(f"{chapter.strip()}:{scene.strip()}") or StoryPosition()
    return place.chapter_index or 0, place.scene_index or 0


def _language(here: OpenStory) -> StoryLanguage:
    language = StoryProjects(*here.place).language_of_project()
    if not language:
        return story_language(here.project_id)
    return "zh" if language.lower().startswith("zh") else "en"


def _plan_in_words(plan: dict[str, Any], language: StoryLanguage) -> str:
    words = _PLAN_WORDS[language]
    colon, comma = ("：", "、") if language == "zh" else (": ", ", ")
    lines = [
        f"{words[name]}{colon}{comma.join(value) if isinstance(value, list) else value}" for name, value in plan.items()
    ]
    return "\n".join(lines) or _OWN_PLAN[language]


def _filled(name: str, language: StoryLanguage, **values: str) -> str:
    [message] = load_chat_prompt(name, language, variables=values).format_messages(**values)
    return message.text
