"""Agent tools generated from the operations, with shortened answers.

MCP and LangChain offer the same: what stands here is all that they share, each tool once with its name at both and what
an answer tells of it; what each adds is how it calls.
"""

import copy
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, TypeAdapter, create_model
from pydantic_core import PydanticUndefined

from novelgen.context.difference_block import difference_lines
from novelgen.errors import UnknownEntityError
from novelgen.models.position import GREATEST_INDEX, StoryPosition
from runtime.doors.answers import told
from runtime.doors.arguments import (
    Arguments,
    Chapter,
    Method,
    Schema,
    arguments_of,
    forms_of,
    place_from,
    read_arguments,
)
from runtime.doors.operations import BY_NAME, Operation
from runtime.story.base import PLACE_NUMBERS, StoryBase, as_part, named_place, stored_position
from runtime.story.entities import StoryEntities

BLOCK = "block"
"""Under which the text stands that an agent reads in place of a result."""

KEPT_WHOLE = frozenset({"state_data", "profile"})
"""What these hold is said of the story: an empty list there says something."""

USUAL = {"verified": True, "certainty": 1.0}
"""What is left out where it is so: nearly everything is proven and sure."""

CUTS = ("as_of", "until", "start")
"""Arguments that name a position up to which is read, or from which on holds what is said."""

_PLACE: dict[str, Any] = {
    "chapter_index": (Chapter, Field(description="Chapter of the scene, by number or heading; next: after the last.")),
    "scene_index": (int, Field(ge=0, le=GREATEST_INDEX, description="Number of the scene within its chapter.")),
}
"""Arguments of an agent in place of a scene's position."""

ToolSet = Literal["story", "game"]
"""The tools of a server over MCP: two sets, since a model pays for all of one at every turn."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """An operation as agents are offered it.

    Args:
        operation: What it does.
        hint: What a model is told of when to use it; in braces the tool of an operation.
        mcp: Its name over MCP; empty where it is not offered there.
        tool_sets: The sets over MCP that it is in: for a story that is written, for a game that is played.
        langchain: Its name as a LangChain tool; empty where there is none.
        given_to: Whose LangChain tool it is: planner, editor, attachments or character.
        effect: What a call does to the story where its HTTP method does not say it: `adds`, `adds-once`, `replaces` or
            `changes`.
        asks_model: Whether a call asks a language model.
        without: Arguments that agents are not offered: they would pay for them at every turn.
        needs: Arguments without a default, for agents alone.
        defaults: Defaults in place of the method's: what is listed whole elsewhere is not read whole by a model.
        include: The part of the answer's JSON that an agent is given; None gives it whole.
        block: Makes of a result the text that stands for it.
        with_names: Whether the names of the ids in the answer are told.
    """

    operation: Operation
    hint: str
    mcp: str = ""
    tool_sets: tuple[ToolSet, ...] = ("story",)
    langchain: str = ""
    given_to: str = "planner"
    effect: str = ""
    asks_model: bool = False
    without: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    include: Any = None
    block: Callable[[Any], str] | None = None
    with_names: bool = False

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.operation.is_read or self.operation.http.startswith("GET ")

    def arguments(self, project: Mapping[str, str | None], *, bound: Collection[str] = ()) -> type[Arguments]:
        """Return the arguments of a call."""
        whole = arguments_of(self.operation.function, self.operation.without + self.without)
        names_by_argument: dict[str, str | None] = dict(project)
        if self.operation.is_of_character:
            names_by_argument["character_id"] = "Who, by id, name or alias."
        fields: dict[str, Any] = {
            name: (str, Field(min_length=1, max_length=400, description=statement))
            for name, statement in names_by_argument.items()
            if name not in bound
        }
        for name, info in whole.model_fields.items():
            info = copy.copy(info)
            if name in self.needs or name in self.defaults:
                info.default = self.defaults.get(name, PydanticUndefined)
            if name == self.operation.position:
                fields |= _PLACE
            elif name not in bound:
                fields[name] = (info.annotation, info)
        return create_model(f"{self.operation.name}_tool", __base__=Arguments, **fields)

    def schema(self, arguments: type[Arguments]) -> Schema:
        """Return the schema of arguments as agents pay for it: without titles, and null where a default stands."""
        return {**_slim(arguments.model_json_schema()), "additionalProperties": False}

    def answer_schema(self) -> Schema:
        """Return the schema of the answer."""
        whole = TypeAdapter(self.operation.result).json_schema(mode="serialization")
        parts = _told_part(whole, self.include, whole.get("$defs", {}))
        parts.pop("description", None)
        key = self.operation.key
        if key and {"type": "null"} in whole["properties"][key].get("anyOf", ()):
            parts["properties"][key] = {"anyOf": [parts["properties"][key], {"type": "null"}]}
        if self.block is not None:
            parts.setdefault("properties", {})[BLOCK] = {"type": "string"}
        if self.with_names:
            parts["properties"]["names"] = {"type": "object"}
        return {**parts, "type": "object"}

    def read(self, arguments: type[Arguments], payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return parsed arguments with defaults, accepting JSON in texts."""
        forms = forms_of(arguments)
        parsed_fields = {
            name: _parsed(value) if _is_nested(forms.get(name, ())) else value for name, value in payload.items()
        }
        return {**self.defaults, **read_arguments(arguments, parsed_fields)}

    def answer(
        self,
        story: StoryBase,
        values: Mapping[str, Any],
        *,
        limit: StoryPosition | None = None,
        folders: Sequence[Path] = (),
    ) -> dict[str, Any]:
        """Do it, and return the answer as JSON."""
        payload = dict(values) if limit is None else _cut(story, values, self.operation.function, limit)
        of: Any = story
        if self.operation.position:
            payload[self.operation.position] = place_from(payload.pop("chapter_index"), payload.pop("scene_index"))
        if self.operation.is_of_character:
            who = payload.pop("character_id")
            of = _character_of(story, who, payload.get("story_as_of")) if isinstance(who, str) else who
        result = self.operation.run(of, payload)
        answer = told(self.operation.answer(result), folders=folders)
        adapter: TypeAdapter[Any] = TypeAdapter(self.operation.result)
        parts = adapter.dump_python(answer, mode="json", by_alias=True, include=self.include)
        lean = {name: _lean(value) for name, value in parts.items() if value is not None or name == self.operation.key}
        if self.block is not None:
            lean[BLOCK] = self.block(result)
        if self.with_names:
            text = json.dumps(lean)
            known_entities = as_part(story, StoryEntities).list(as_of=payload.get("as_of"))
            lean["names"] = {
                entity.entity_id: entity.name for entity in known_entities if f'"{entity.entity_id}"' in text
            }
        return lean


def tool_of(tools: tuple[Tool, ...], name: str) -> Tool:
    """Return the tool of an operation."""
    return next(tool for tool in tools if tool.operation.name == name)


def _character_of(story: Any, name: str, as_of: StoryPosition | None) -> Any:
    try:
        return story.character(name, as_of=as_of)
    except UnknownEntityError as error:
        # The story's error names a fix for programs, which no agent can do.
        raise UnknownEntityError(
            f"{error.__cause__ or error}; make a character of that name first with the tool "
            "character_generate, or name one that is known"
        ) from error


def _is_nested(forms: Sequence[Schema]) -> bool:
    """Whether an argument is a list or an object, and nothing else."""
    return [form.get("type") for form in forms] in (["array"], ["object"])


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _cut(story: StoryBase, values: Mapping[str, Any], method: Method, limit: StoryPosition) -> dict[str, Any]:
    """Return arguments with positions capped at the planned scene."""
    fields, visible_values = inspect.signature(method).parameters, dict(values)
    for name in CUTS:
        if name in fields:
            request = visible_values.get(name)
            visible_values[name] = limit if request is None else min(stored_position(story, request, name=name), limit)
    within = [name for name in PLACE_NUMBERS if name in fields]
    if not within or not (fields.keys().isdisjoint(CUTS) or "scene_index" in fields):
        return visible_values
    visible_values |= named_place(
        story,
        {name: visible_values[name] for name in within if name in visible_values},
        of_scene="scene_index" in within,
    )
    if StoryPosition(visible_values.get("chapter_index"), visible_values.get("scene_index")) > limit:
        at = {"chapter_index": limit.chapter_index, "scene_index": limit.scene_index or 0}
        visible_values |= {name: at[name] for name in within}
    return visible_values


def _lean(value: Any) -> Any:
    """Return JSON without empty values and needless digits."""
    if isinstance(value, dict):
        lean_fields = {
            name: item if name in KEPT_WHOLE else _lean(item)
            for name, item in value.items()
            if item not in (None, "", [], {}) and (name not in USUAL or item != USUAL[name])
        }
        if "source_id" in lean_fields:
            lean_fields.pop("chunk_id", None)
        return lean_fields
    if isinstance(value, list):
        return [_lean(item) for item in value]
    return round(value, 3) if isinstance(value, float) else value


_SCHEMA_NOISE = frozenset({"title", "maxLength", "minLength", "maxItems", "pattern", "additionalProperties"})
"""Of a schema what a model need not pay for: what is too long is refused with the bound."""


def _slim(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    slim_fields = {
        name: _slim(value) for name, value in schema.items() if name not in _SCHEMA_NOISE or isinstance(value, dict)
    }
    if abs(slim_fields.get("maximum", 0)) >= GREATEST_INDEX:
        del slim_fields["maximum"]
    if slim_fields.get("minimum", 0) <= -GREATEST_INDEX:
        del slim_fields["minimum"]
    if slim_fields.get("default", 0) in (None, "", []):
        del slim_fields["default"]
        kinds = [item for item in slim_fields.get("anyOf", ()) if item != {"type": "null"}]
        if len(kinds) == 1:
            del slim_fields["anyOf"]
            slim_fields = {**kinds[0], **slim_fields}
    return slim_fields


def _told_part(
    schema: Schema, include: Any, definitions: Mapping[str, Schema], *, within: tuple[str, ...] = ()
) -> Schema:
    """Return the schema of the returned part, recursive parts as anything."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in within:
            return {}
        # What a class says of itself is for programmers; what a field says stands beside the reference.
        whole = {other_name: value for other_name, value in definitions[name].items() if other_name != "description"}
        stated_fields = {"description": schema["description"]} if "description" in schema else {}
        return {**_told_part(whole, include, definitions, within=(*within, name)), **stated_fields}
    render_part = partial(_told_part, definitions=definitions, within=within)
    schema_fields = {name: value for name, value in schema.items() if name in _TOLD_OF_SCHEMA}
    if "anyOf" in schema:
        kinds = [render_part(item, include) for item in schema["anyOf"] if item != {"type": "null"}]
        schema_fields |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if "items" in schema:
        schema_fields["items"] = render_part(schema["items"], _included(include, "__all__"))
    if "properties" in schema:
        schema_fields["properties"] = {
            name: render_part(value, _included(include, name))
            for name, value in schema["properties"].items()
            if include is None or name in include
        }
    return schema_fields


_TOLD_OF_SCHEMA = frozenset({"type", "description", "enum", "const"})


def _included(include: Any, name: str) -> Any:
    if not isinstance(include, dict):
        return None
    part = include.get(name, include.get(0) if name == "__all__" else None)
    return None if part is True else part


_BLOCKS: dict[str, Callable[[Any], str]] = {
    "build_context": lambda context: context.as_prompt(),
    "build_chunk_context": lambda context: context.as_prompt(),
    "list_changes": lambda difference: "\n".join(difference_lines(difference)),
    "extract_scenes": lambda report: "" if report.changes is None else "\n".join(difference_lines(report.changes)),
    "recall_memories": lambda recall: recall.as_prompt(),
}
"""What makes of a result the text that stands for it."""


def _tool(name: str, fields: dict[str, Any], parts: Mapping[str, str]) -> Tool:
    whole = {
        kind: re.sub(r"\$(\w+)", lambda match: parts[match[1]], fields.get(kind, "")) for kind in ("hint", "include")
    }
    fields["hint"] = " ".join(whole["hint"].split())
    if "include" in fields:
        fields["include"] = _include_of(iter(re.findall(r"[\w*]+|\[\d\]|[()]", whole["include"])))
    for entity_id in fields.keys() & {"without", "needs", "tool_sets"}:
        fields[entity_id] = tuple(fields[entity_id])
    return Tool(operation=BY_NAME[name], block=_BLOCKS.get(name), **fields)


def _include_of(words: Iterator[str]) -> dict[Any, Any]:
    """Return pydantic's include mapping: `a*(b)` takes each `b` of list `a`."""
    included: dict[Any, Any] = {}
    name, first = "", 0
    for word in words:
        if word == ")":
            break
        if word == "(":
            part = _include_of(words)
            within = dict.fromkeys(range(first), part) if first else {"__all__": part}
            included[name.removesuffix("*")] = within if first or name.endswith("*") else part
            first = 0
        elif word.startswith("["):
            first = int(word.strip("[]"))
        else:
            name = word
            included[name.removesuffix("*")] = True
    return included


_ENTRIES = tomllib.loads(Path(__file__).with_name("agent_tools.toml").read_text(encoding="utf-8"))
_PARTS: dict[str, str] = _ENTRIES.pop("parts")

SERVER: dict[str, Any] = _ENTRIES.pop("server")
"""What the server over MCP says of itself, and which resources and prompts it has."""

TOOLS = tuple(_tool(name, text, _PARTS) for name, text in _ENTRIES.items())
"""In the order in which they are listed."""

MCP_TOOLS = tuple(tool for tool in TOOLS if tool.mcp)

MCP_NAMES = {tool.operation.name: tool.mcp for tool in MCP_TOOLS} | {"list_projects": "list_projects"}

LANGCHAIN_NAMES = {
    "list_entities": "memory_search",
    "list_scenes": "memory_search",
    "list_projects": "the program",
    "ingest_scene": "it is finished",
    "extract_scenes": "ingest",
    "get_entity": "memory_search",
} | {tool.operation.name: tool.langchain for tool in TOOLS if tool.langchain}
"""What a LangChain tool calls another; what has none there is called by what does its work."""
