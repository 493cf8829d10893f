"""The MCP server: tools, resources and prompts over the stories of a shelf, by standard streams or HTTP.

Resources are contexts of scenes, cards, threads and the scenes, by address and never by a file's path. Prompts, to
write the next scene and to check a draft, are in the story's language.
"""

import functools
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from langchain_core.language_models import BaseChatModel
from mcp import types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import Field, PrivateAttr

from novelgen import __version__
from novelgen.errors import NovelgenError, UnknownProjectError, UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.words import words
from runtime.doors.answers import refusal, told
from runtime.doors.arguments import Arguments, read_arguments
from runtime.doors.tools import BLOCK, MCP_NAMES, MCP_TOOLS, SERVER, Tool, ToolSet, tool_of
from runtime.story.projects import ProjectStores, StoryProjects
from runtime.story.story import Story

Result = TypeVar("Result")

CALLS_AT_ONCE = 16


class Shelf:
    """The stories of a tool server, safe between threads."""

    def __init__(
        self, stores: ProjectStores, *, project_id: str | None = None, chat_model: BaseChatModel | None = None
    ) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._threads: CapacityLimiter | None = None
        self.project_id = project_id
        self.folders = (stores.settings.projects_dir,)
        """Folders of this machine of which nobody is told even the name."""

    def story(self, project_id: str | None = None) -> Story:
        """Return a story."""
        name = self.project_id if project_id is None else project_id
        if name is None:
            raise UserInputError("no project is named; pass the id of one")
        if self.project_id not in (None, name):
            raise UnknownProjectError(f"this server has project {self.project_id!r} alone, not {name!r}")
        stores = self._stores.of(name)
        StoryProjects(stores, name).require_project_files()
        return Story(stores, name, chat_model=self._chat_model)

    def language(self, story: Story) -> StoryLanguage:
        """Return the language in which an author of the story is spoken to."""
        language = StoryProjects(self._stores.of(story.project_id), story.project_id).language_of_project()
        return stated_language(language) or story_language(story.project_id)

    async def run(self, body: Callable[[], Result]) -> Result:
        """Run a blocking function in one of a bounded number of threads."""
        if self._threads is None:
            self._threads = CapacityLimiter(CALLS_AT_ONCE)
        return await to_thread.run_sync(body, limiter=self._threads)

    def projects(self) -> dict[str, Any]:
        """Return the contents of reachable projects as JSON."""
        listed_project_overviews = [
            project_overview
            for project_overview in self._stores.overviews()
            if self.project_id in (None, project_overview.project_id)
        ]
        return {
            "projects": [
                project_overview.model_dump(mode="json", exclude_none=True)
                for project_overview in told(listed_project_overviews, folders=self.folders)
            ]
        }

    def refusal(self, error: Exception) -> dict[str, Any]:
        """Return an error for models, without local paths."""
        return refusal(error, names=MCP_NAMES, folders=self.folders)

    def told(self, error: Exception) -> str:
        """Return the same in words."""
        refused = self.refusal(error)["error"]
        return f"{refused['message']}. {refused['fix']}"


PROJECT = {"project_id": None}
"""What every tool takes where there are several stories; a description would be paid for at each."""

_EFFECTS = {"PUT": "replaces", "PATCH": "replaces", "DELETE": "replaces"}


def build_tools(shelf: Shelf, *, tool_set: ToolSet, is_read_only: bool) -> list[SdkTool]:
    """Return the tools over the stories of a shelf that belong to a set."""
    chosen_tools = [tool for tool in MCP_TOOLS if tool_set in tool.tool_sets and (tool.reads or not is_read_only)]
    offered: list[SdkTool] = [
        _story_tool(shelf, tool, bound=tool.operation.for_readers if is_read_only else {}) for tool in chosen_tools
    ]
    return [_listing(shelf), *offered] if shelf.project_id is None else offered


class StoryTool(SdkTool):
    """A tool with model-readable errors and text."""

    _shelf: Shelf = PrivateAttr()
    _call: Callable[[dict[str, Any]], tuple[dict[str, Any], str]] = PrivateAttr()

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run it."""
        try:
            answer, text = await self._shelf.run(lambda: self._call(arguments))
        except Exception as error:  # noqa: BLE001 - whatever happens in a tool, its client is told what to do
            refused = json.dumps(self._shelf.refusal(error), ensure_ascii=False)
            return types.CallToolResult(content=[types.TextContent(type="text", text=refused)], is_error=True)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=answer)


def text_of(tool: Tool, answer: Mapping[str, Any]) -> str:
    """Return a result as a prompt block with issues, or as JSON."""
    if not tool.reads or BLOCK not in answer:
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    issues = answer.get("issues") or answer.get("report", {}).get("issues", ())
    missing = [f"(missing: {issue['stage']}: {issue['message']})" for issue in issues]
    return "\n".join([answer[BLOCK].rstrip() or "(nothing is known by then)", *missing])


def _story_tool(shelf: Shelf, tool: Tool, *, bound: Mapping[str, Any]) -> StoryTool:
    arguments = tool.arguments(PROJECT if shelf.project_id is None else {}, bound=bound)

    def call(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
        values = {**tool.read(arguments, given), **bound}
        answer = tool.answer(shelf.story(values.pop("project_id", None)), values, folders=shelf.folders)
        return answer, text_of(tool, answer)

    verb = tool.operation.http.partition(" ")[0]
    effect = "reads" if tool.reads else tool.effect or _EFFECTS.get(verb, "adds")
    hints = types.ToolAnnotations(
        read_only_hint=effect == "reads",
        destructive_hint=effect in ("replaces", "changes"),
        idempotent_hint=effect in ("reads", "adds-once", "replaces"),
        open_world_hint=tool.asks_model,
    )
    hint = tool.hint.format_map(MCP_NAMES)
    return _sdk_tool(shelf, tool.mcp, hint, call, hints, tool.schema(arguments), tool.answer_schema())


def _listing(shelf: Shelf) -> StoryTool:
    def call(arguments: dict[str, Any]) -> tuple[dict[str, Any], str]:
        read_arguments(Arguments, arguments)
        answer = shelf.projects()
        return answer, json.dumps(answer, ensure_ascii=False)

    hints = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    answer = {"type": "object", "properties": {"projects": {"type": "array", "items": {"type": "object"}}}}
    return _sdk_tool(shelf, "list_projects", SERVER["listing"], call, hints, schema, answer)


def _sdk_tool(
    shelf: Shelf,
    name: str,
    hint: str,
    call: Callable[[dict[str, Any]], tuple[dict[str, Any], str]],
    hints: types.ToolAnnotations,
    schema: dict[str, Any],
    answer: dict[str, Any],
) -> StoryTool:
    tool = StoryTool(
        fn=call,
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=hint,
        parameters=schema,
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=answer),
        is_async=True,
        annotations=hints,
    )
    tool._shelf, tool._call = shelf, call
    return tool


ROOT = "novelgen://projects"

MAX_COMPLETIONS = 100

JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class _Resource:
    """A readable resource: an operation's result, with arguments from its path."""

    name: str
    path: str
    operation: str
    title: str
    description: str
    most: int | None = None
    """So many are listed."""


_RESOURCES = tuple(_Resource(name=name, **text) for name, text in SERVER["resources"].items())


def add_resources(server: MCPServer[Any], shelf: Shelf) -> None:
    """Add the stories' resources to a server, with completions."""
    for resource in _RESOURCES:
        path_names = re.findall(r"{(\w+)}", resource.path)
        path = resource.path
        if shelf.project_id is not None and path_names == ["project_id"]:
            path, path_names = path.replace("{project_id}", quote(shelf.project_id, safe="")), []
        kind = "text/plain" if tool_of(MCP_TOOLS, resource.operation).block else JSON
        offer = server.resource(
            f"{ROOT}/{path}", name=resource.name, title=resource.title, description=resource.description, mime_type=kind
        )
        offer(_reader(shelf, resource, path_names))
    if shelf.project_id is None:

        @server.resource(ROOT, name="projects", title="Projects", description="The stories.", mime_type=JSON)
        async def projects() -> str:
            return await _text_or_error(shelf, lambda: json.dumps(shelf.projects(), ensure_ascii=False))

    @server.completion()
    async def complete(
        reference: types.PromptReference | types.ResourceTemplateReference,
        argument: types.CompletionArgument,
        context: types.CompletionContext | None,
    ) -> types.Completion:
        values = (context.arguments if context else None) or {}
        matches = await shelf.run(functools.partial(_completions, shelf, argument.name, values.get("project_id")))
        target = argument.value.casefold()
        fitting = [word for word in matches if target in word.casefold()]
        return types.Completion(
            values=fitting[:MAX_COMPLETIONS], total=len(fitting), has_more=len(fitting) > MAX_COMPLETIONS
        )


def text_for(shelf: Shelf, operation: str, project_id: str | None, **arguments: Any) -> str:
    """Return a tool call's result as text."""
    tool = tool_of(MCP_TOOLS, operation)
    values = tool.read(tool.arguments({}), arguments)
    return text_of(tool, tool.answer(shelf.story(project_id), values, folders=shelf.folders))


def with_signature(call: Callable[..., Any], name: str, parameters: Sequence[inspect.Parameter]) -> Callable[..., Any]:
    """Return a function of keywords with the name and the signature that the SDK shall see."""
    call.__name__ = name
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    call.__annotations__ = {**{parameter.name: parameter.annotation for parameter in parameters}, "return": str}
    return call


def _reader(shelf: Shelf, resource: _Resource, taken_names: Sequence[str]) -> Callable[..., Awaitable[str]]:
    async def read(**arguments: str) -> str:
        project_id = arguments.pop("project_id", None)
        most = {} if resource.most is None else {"limit": resource.most}
        return await _text_or_error(shelf, lambda: text_for(shelf, resource.operation, project_id, **arguments, **most))

    parameters = [inspect.Parameter(text, inspect.Parameter.KEYWORD_ONLY, annotation=str) for text in taken_names]
    return with_signature(read, resource.name, parameters)


async def _text_or_error(shelf: Shelf, read_function: Callable[[], str]) -> str:
    try:
        return await shelf.run(read_function)
    except UserInputError as error:
        raise ResourceNotFoundError(shelf.told(error)) from error
    except NovelgenError as error:
        raise ResourceError(shelf.told(error)) from error


def _completions(shelf: Shelf, argument: str, project_id: str | None) -> list[str]:
    """Return an argument's completions, empty for unknown stories."""
    try:
        if argument == "project_id":
            return [item["project_id"] for item in shelf.projects()["projects"]]
        if argument in ("entity_id", "pov"):
            entities = shelf.story(project_id).entities.list("character" if argument == "pov" else None)
            return [entity.name for entity in entities]
    except NovelgenError:
        return []
    return []


_Chapter = Annotated[str, Field(description="Chapter of the scene, such as 3.")]
_Scene = Annotated[str, Field(description="Number of the scene within its chapter, such as 2.")]
_Project = Annotated[str, Field(description="Id of the project.")]


def add_prompts(server: MCPServer[Any], shelf: Shelf) -> None:
    """Let a server offer the prompts over a shelf's stories."""
    for body in (write_next_scene, check_this_draft):
        prompt = _prompt(shelf, body)
        server.add_prompt(Prompt.from_function(prompt, name=body.__name__, **SERVER["prompts"][body.__name__]))


def write_next_scene(
    shelf: Shelf,
    story: Story,
    *,
    chapter_index: _Chapter,
    scene_index: _Scene,
    purpose: Annotated[str, Field(description="What the scene is for. Default: the project's own plan.")] = "",
    location: Annotated[str, Field(description="Where it plays.")] = "",
    characters: Annotated[str, Field(description="Who appears, with commas between.")] = "",
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a planned scene."""
    people = [entity_id.strip() for entity_id in characters.replace("，", ",").replace("、", ",").split(",")]
    plan: dict[str, Any] = {
        "location": location.strip(),
        "characters": [person_id for person_id in people if person_id],
        "purpose": purpose.strip(),
    }
    stated_fields = {name: value for name, value in plan.items() if value}
    place = {"chapter_index": chapter_index.strip(), "scene_index": scene_index.strip()}
    context = text_for(
        shelf, "build_context", story.project_id, **place, scene_plan=stated_fields or None, pov=pov.strip()
    )
    language = shelf.language(story)
    return _fill_text(
        "write_next_scene",
        language,
        project=story.project_id,
        chapter=place["chapter_index"],
        scene=place["scene_index"],
        plan=_plan_in_words(stated_fields | ({"pov": pov.strip()} if pov.strip() else {}), language),
        context=context,
    )


def check_this_draft(
    shelf: Shelf,
    story: Story,
    *,
    draft: Annotated[str, Field(description="The whole draft.")],
    chapter_index: _Chapter,
    scene_index: _Scene,
    pov: Annotated[str, Field(description="From whose point of view it is told.")] = "",
) -> str:
    """Return the prompt for a draft, with its check."""
    tool = tool_of(MCP_TOOLS, "check_draft")
    place = {"chapter_index": chapter_index.strip(), "scene_index": scene_index.strip()}
    values = tool.read(tool.arguments({}), {"text": draft, **place, "pov": pov.strip() or None})
    check = tool.answer(story, values, folders=shelf.folders)
    lines = [
        json.dumps({name: value for name, value in item.items() if name != "finding_id"}, ensure_ascii=False)
        for item in (*check["findings"], *check.get("touched", ()))
    ]
    lines += [f"{item['stage']}: {item['message']}" for item in check["report"].get("issues", ())]
    language = shelf.language(story)
    return _fill_text(
        "check_this_draft",
        language,
        project=story.project_id,
        chapter=place["chapter_index"],
        scene=place["scene_index"],
        draft=draft,
        findings="\n".join(lines) or words("story", language)["prompt.no_findings"],
    )


def _prompt(shelf: Shelf, body: Callable[..., str]) -> Callable[..., str]:
    """Return a prompt function with helpful errors."""

    async def told(**arguments: Any) -> str:
        project_id = arguments.pop("project_id", None)
        try:
            return await shelf.run(lambda: body(shelf, shelf.story(project_id), **arguments))
        except NovelgenError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=shelf.told(error)) from error

    parameters = list(inspect.signature(body, eval_str=True).parameters.values())[2:]
    if shelf.project_id is None:
        parameters.insert(0, inspect.Parameter("project_id", inspect.Parameter.KEYWORD_ONLY, annotation=_Project))
    return with_signature(told, body.__name__, parameters)


def _plan_in_words(plan: dict[str, Any], language: StoryLanguage) -> str:
    stated_fields = words("story", language).table("prompt")
    lines = [
        stated_fields[name].format(stated_fields["comma"].join(value) if isinstance(value, list) else value)
        for name, value in plan.items()
    ]
    return "\n".join(lines) or stated_fields["own_plan"]


def _fill_text(name: str, language: StoryLanguage, **values: str) -> str:
    [message] = load_chat_prompt(name, language, variables=values).format_messages(**values)
    return message.text


def build_mcp_server(shelf: Shelf, *, tool_set: ToolSet = "story", is_read_only: bool = False) -> MCPServer[Any]:
    """Build the MCP server, without scene prompts for character players."""
    statements = ["game"] if tool_set == "game" else ["story"] if is_read_only else ["story", "storing"]
    statements += ["reading"] if is_read_only else []
    statements += ["many" if shelf.project_id is None else "one"]
    server: MCPServer[Any] = MCPServer(
        "novelgen",
        title="novelgen",
        description="A story memory for long fiction.",
        instructions="".join(SERVER[entity_id] for entity_id in statements).format(story=shelf.project_id),
        version=__version__,
        tools=build_tools(shelf, tool_set=tool_set, is_read_only=is_read_only),
        log_level="WARNING",
    )
    add_resources(server, shelf)
    if tool_set == "story":
        add_prompts(server, shelf)
    return server


def serve_stdio(
    stores: ProjectStores, *, project_id: str | None = None, tool_set: ToolSet = "story", is_read_only: bool = False
) -> None:
    """Serve on standard input and output until the client closes it."""
    try:
        shelf = Shelf(stores, project_id=project_id)
        if project_id is not None:
            shelf.story()
        build_mcp_server(shelf, tool_set=tool_set, is_read_only=is_read_only).run("stdio")
    finally:
        stores.close()


def build_session_manager(server: MCPServer[Any], *, body_bytes: int) -> StreamableHTTPSessionManager:
    """Build the handler of requests within `run()`.

    It checks neither hosts nor tokens.
    """
    server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
