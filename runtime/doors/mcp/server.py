"""The MCP server: tools, resources and prompts over the stories of a shelf, by standard streams or HTTP.

Resources are contexts of scenes, cards, threads and the scenes, by address and never by a file's path. Prompts, to
write the next scene and to check a draft, are in the story's language.
"""

import functools
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from mcp import types
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import Field

from novelgen import __version__
from novelgen.errors import NovelgenError, UserInputError
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import load_chat_prompt
from runtime.doors.mcp.tools import Shelf, build_tools, text_of
from runtime.doors.tools import MCP_TOOLS, MCPOffer, tool_of
from runtime.story.projects import ProjectStores
from runtime.story.story import Story

ROOT = "novelgen://projects"

MAX_COMPLETIONS = 100

JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class _Resource:
    """Something that can be read below the root: what the tool of an operation answers, with what its path names."""

    name: str
    path: str
    operation: str
    title: str
    description: str
    most: int | None = None
    """So many are listed."""


_RESOURCES = (
    _Resource(
        name="context",
        path="{project}/scenes/{chapter_index}/{scene_index}/context",
        operation="build_context",
        title="Context of a scene",
        description="What the scene at that place must not contradict and should pick up, by the project's own plan of"
        " it; without one call build_scene_context.",
    ),
    _Resource(
        name="card",
        path="{project}/entities/{entity}",
        operation="get_entity",
        title="Card",
        description="Who a character or what a place or thing is, and how it stands; by id, name or alias.",
    ),
    _Resource(
        name="threads",
        path="{project}/threads",
        operation="get_thread_ledger",
        title="Open threads",
        description="The questions, promises and threats that the story has opened and not ended.",
        most=50,
    ),
    _Resource(
        name="scenes",
        path="{project}/scenes",
        operation="list_scenes",
        title="Stored scenes",
        description="The stored scenes with who was on stage and their summaries.",
        most=500,
    ),
)


def add_resources(server: MCPServer[Any], shelf: Shelf) -> None:
    """Let a server offer the resources of a shelf's stories, and complete what their addresses take."""
    for each in _RESOURCES:
        taken = re.findall(r"{(\w+)}", each.path)
        path = each.path
        if shelf.project_id is not None and taken == ["project"]:
            path, taken = path.replace("{project}", quote(shelf.project_id, safe="")), []
        kind = "text/plain" if tool_of(MCP_TOOLS, each.operation).block else JSON
        offer = server.resource(
            f"{ROOT}/{path}", name=each.name, title=each.title, description=each.description, mime_type=kind
        )
        offer(_reader(shelf, each, taken))
    if shelf.project_id is None:

        @server.resource(ROOT, name="projects", title="Projects", description="The stories.", mime_type=JSON)
        async def projects() -> str:
            return await _told(shelf, lambda: json.dumps(shelf.projects(), ensure_ascii=False))

    @server.completion()
    async def complete(
        reference: types.PromptReference | types.ResourceTemplateReference,
        argument: types.CompletionArgument,
        context: types.CompletionContext | None,
    ) -> types.Completion:
        given = (context.arguments if context else None) or {}
        found = await shelf.run(functools.partial(_completions, shelf, argument.name, given.get("project")))
        wanted = argument.value.casefold()
        fitting = [each for each in found if wanted in each.casefold()]
        return types.Completion(
            values=fitting[:MAX_COMPLETIONS], total=len(fitting), has_more=len(fitting) > MAX_COMPLETIONS
        )


def text_for(shelf: Shelf, operation: str, project: str | None, **given: Any) -> str:
    """Return what a tool's call tells as text."""
    tool = tool_of(MCP_TOOLS, operation)
    values = tool.read(tool.arguments({}), given)
    return text_of(tool, tool.answer(shelf.story(project), values, folders=shelf.folders))


def with_signature(call: Callable[..., Any], name: str, parameters: Sequence[inspect.Parameter]) -> Callable[..., Any]:
    """Return a function of keywords with the name and the signature that the SDK shall see."""
    call.__name__ = name
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    call.__annotations__ = {**{each.name: each.annotation for each in parameters}, "return": str}
    return call


def _reader(shelf: Shelf, resource: _Resource, taken: Sequence[str]) -> Callable[..., Awaitable[str]]:
    async def read(**given: str) -> str:
        project = given.pop("project", None)
        most = {} if resource.most is None else {"limit": resource.most}
        return await _told(shelf, lambda: text_for(shelf, resource.operation, project, **given, **most))

    parameters = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=str) for each in taken]
    return with_signature(read, resource.name, parameters)


async def _told(shelf: Shelf, read: Callable[[], str]) -> str:
    try:
        return await shelf.run(read)
    except UserInputError as error:
        raise ResourceNotFoundError(shelf.told(error)) from error
    except NovelgenError as error:
        raise ResourceError(shelf.told(error)) from error


def _completions(shelf: Shelf, argument: str, project: str | None) -> list[str]:
    """Return what an argument could be; nothing where the story that it depends on is not known."""
    try:
        if argument == "project":
            return [each["project_id"] for each in shelf.projects()["projects"]]
        if argument in ("entity", "pov"):
            found = shelf.story(project).entities("character" if argument == "pov" else None)
            return [each.name for each in found]
    except NovelgenError:
        return []
    return []


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
            raise MCPError(code=types.INVALID_PARAMS, message=shelf.told(error)) from error

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


_INSTRUCTIONS = (
    "The memory of long fiction: what a story has established, as of any scene. Places are written chapter:scene, such"
    " as 3:2; what is read as_of a place lies strictly before it. Ask in the story's language.\n"
    "Before you write a scene: build_scene_context with its plan; look up with search_story_memory, get_entity_state or"
    " get_character_knowledge what it does not say. After you wrote it: check_draft.\n"
)
_STORING = (
    "When the author has approved a scene: ingest_scene, then extract_scene. add_note keeps what the author decided and"
    " no scene tells.\n"
)
_PLAYING = (
    "The memory of a game's characters: what each remembers, feels, keeps secret and heard, and what the world did.\n"
    "Before a character speaks: character_recall with what was said to it, which tells all that it knows. Before the"
    " player reads the answer: check_reply. After it: character_remember. The player is `player`.\n"
)
_READING = "You may read alone: nothing can be stored here.\n"
_MANY = "There are several stories: list_projects tells their ids, and every tool takes one as `project`.\n"


def build_mcp_server(shelf: Shelf, *, offer: MCPOffer = "story", is_read_only: bool = False) -> MCPServer[Any]:
    """Build the server; to who plays characters it offers no prompts for scenes."""
    task = _PLAYING if offer == "game" else _INSTRUCTIONS + ("" if is_read_only else _STORING)
    which = _MANY if shelf.project_id is None else f"The story is {shelf.project_id!r}.\n"
    server: MCPServer[Any] = MCPServer(
        "novelgen",
        title="novelgen",
        description="A story memory for long fiction.",
        instructions=task + (_READING if is_read_only else "") + which,
        version=__version__,
        tools=build_tools(shelf, offer=offer, is_read_only=is_read_only),
        log_level="WARNING",
    )
    add_resources(server, shelf)
    if offer == "story":
        add_prompts(server, shelf)
    return server


def serve_stdio(
    stores: ProjectStores, *, project_id: str | None = None, offer: MCPOffer = "story", is_read_only: bool = False
) -> None:
    """Serve until the client closes the standard input; nothing but messages goes to the standard output."""
    try:
        shelf = Shelf(stores, project_id=project_id)
        if project_id is not None:
            shelf.story()
        build_mcp_server(shelf, offer=offer, is_read_only=is_read_only).run("stdio")
    finally:
        stores.close()


def build_session_manager(server: MCPServer[Any], *, body_bytes: int) -> StreamableHTTPSessionManager:
    """Build what answers one request while its `run()` is entered; it checks neither hosts nor tokens."""
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
