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
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import load_chat_prompt
from runtime.doors.mcp.resources import text_for, with_signature
from runtime.doors.mcp.tools import Shelf
from runtime.doors.offers import MCP_TOOLS
from runtime.doors.tools import tool_of
from runtime.story.story import Story

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
        prompt = _prompt(shelf, body)
        server.add_prompt(Prompt.from_function(prompt, name=body.__name__, title=title, description=description))


def write_next_scene(
    shelf: Shelf,
    story: Story,
    *,
    chapter: _Chapter,
    scene: _Scene,
    purpose: Annotated[str, Field(description="What the scene is for. Default: the project's own plan.")] = "",
    location: Annotated[str, Field(description="Where it plays.")] = "",
    characters: Annotated[str, Field(description="Who appears, with commas between.")] = "",
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a planned scene."""
    people = [each.strip() for each in characters.replace("，", ",").replace("、", ",").split(",")]
    plan: dict[str, Any] = {
        "location": location.strip(),
        "characters": [each for each in people if each],
        "purpose": purpose.strip(),
    }
    said = {name: value for name, value in plan.items() if value}
    place = {"chapter_index": chapter.strip(), "scene_index": scene.strip()}
    context = text_for(shelf, "build_context", story.project_id, **place, scene_plan=said or None, pov=pov.strip())
    language = shelf.language(story)
    return _filled(
        "write_next_scene",
        language,
        project=story.project_id,
        chapter=place["chapter_index"],
        scene=place["scene_index"],
        plan=_plan_in_words(said | ({"pov": pov.strip()} if pov.strip() else {}), language),
        context=context,
    )


def check_this_draft(
    shelf: Shelf,
    story: Story,
    *,
    draft: Annotated[str, Field(description="The whole draft.")],
    chapter: _Chapter,
    scene: _Scene,
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a draft, with what the check of it found."""
    tool = tool_of(MCP_TOOLS, "check_draft")
    place = {"chapter_index": chapter.strip(), "scene_index": scene.strip()}
    values = tool.read(tool.arguments({}), {"text": draft, **place, "pov": pov.strip() or None})
    check = tool.answer(story, values, folders=shelf.folders)
    lines = [
        json.dumps({name: value for name, value in each.items() if name not in ("issue_id", "by")}, ensure_ascii=False)
        for each in check["issues"]
    ]
    lines += [f"{each['stage']}: {each['message']}" for each in check["report"].get("issues", ())]
    language = shelf.language(story)
    return _filled(
        "check_this_draft",
        language,
        project=story.project_id,
        chapter=place["chapter_index"],
        scene=place["scene_index"],
        draft=draft,
        findings="\n".join(lines) or _NO_FINDINGS[language],
    )


def _prompt(shelf: Shelf, body: Callable[..., str]) -> Callable[..., str]:
    """Return a prompt's function, whose errors say what to do."""

    async def told(**given: Any) -> str:
        project = given.pop("project", None)
        try:
            return await shelf.run(lambda: body(shelf, shelf.story(project), **given))
        except NovelgenError as error:
            raise MCPError(code=INVALID_PARAMS, message=shelf.told(error)) from error

    parameters = list(inspect.signature(body, eval_str=True).parameters.values())[2:]
    if shelf.project_id is None:
        parameters.insert(0, inspect.Parameter("project", inspect.Parameter.KEYWORD_ONLY, annotation=_Project))
    return with_signature(told, body.__name__, parameters)


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
