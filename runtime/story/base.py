"""Base of story parts: references, positions and async twins."""

from __future__ import annotations

import asyncio
import collections.abc
import contextlib
import inspect
import re
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial, reduce, wraps
from operator import or_
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Concatenate,
    Literal,
    NoReturn,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from novelgen.deadlines import run_concurrently
from novelgen.errors import (
    DatabaseError,
    InvalidPositionError,
    UnknownEntityError,
    UnknownProjectError,
    UnknownSceneError,
    UserInputError,
)
from novelgen.language.name_lists import holds_several, split_names
from novelgen.language.normalise import name_key, title_free_key
from novelgen.language.resolver import NAME_INSIDE, NameResolver
from novelgen.models.chunk_context import MAX_CHUNK_CHARACTERS
from novelgen.models.dated_values import entity_at
from novelgen.models.entity import ID_PREFIXES, Entity, EntityAlias, EntityType
from novelgen.models.memory import Target, target_text
from novelgen.models.position import CHAPTER_NAME, END_OF_STORY, SCENE_LABEL, StoryPosition
from novelgen.nearest import did_you_mean, listed_entities, near_names
from runtime.files.chapter_names import ChapterNames, TitledScene
from runtime.storage.change import ChangeNumber as ChangeNumber
from runtime.storage.database import UnitOfWork
from runtime.storage.models import IndexingResult
from runtime.stores import MemoryStores

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from runtime.memory_tools import StoryMemoryTools


Method = TypeVar("Method", bound=Callable[..., Any])

Reader = Callable[[Any, str, Any], Any]
"""Takes the part of a story that is called, an argument's name and value; returns what its method works with."""


class ReadsArguments:
    """Base class with parsed method arguments.

    See `with_read_arguments`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_") and not inspect.iscoroutinefunction(method):
                setattr(cls, name, with_read_arguments(method))


def with_read_arguments(method: Method) -> Method:
    """Return a method that takes a point of the story in any spelling, and refuses plain values that are none.

    What is refused is an error of our tree that names the argument, whoever calls: doors have read theirs already.
    The bounds stay in `__annotations__`, for `typing.get_type_hints`; signatures show plain types.
    """
    bounded_hints: dict[str, Any] = vars(method).setdefault("bounded_hints", method.__annotations__)
    method.__annotations__ = {name: _plain_hint(hint, method.__globals__) for name, hint in bounded_hints.items()}

    @wraps(method)
    def called(*args: Any, **arguments: Any) -> Any:
        readers, names = _readers(called), _names(method)
        if not readers and not _has_place(method):
            return method(*args, **arguments)
        part = args[0]
        readings = [readers[name](part, name, value) if name in readers else value for name, value in zip(names, args)]  # noqa: B905
        arguments_by_name = {
            name: readers[name](part, name, value) if name in readers else value for name, value in arguments.items()
        }
        place_arguments = {name: value for name, value in zip(names, readings, strict=False) if name in PLACE_NUMBERS}
        place_arguments |= {name: value for name, value in arguments_by_name.items() if name in PLACE_NUMBERS}
        if any(isinstance(value, str) for value in place_arguments.values()):
            resolved_numbers = named_place(
                part, place_arguments, of_scene="scene_index" in inspect.signature(method).parameters
            )
            readings = [resolved_numbers.pop(name, value) for name, value in zip(names, readings, strict=False)]
            arguments_by_name |= resolved_numbers
        return method(*readings, *args[len(names) :], **arguments_by_name)

    called.__annotations__ = bounded_hints
    return called  # type: ignore[return-value]


_NAME = re.compile(r"\b(?:base\.)?([A-Za-z]\w*)")

_BOUNDED = re.compile(r"Annotated\[([^,\[\]]+), Field\([^()]*\)\]")


def _plain_hint(hint: Any, names: Mapping[str, Any]) -> Any:
    """Return a type hint without bounds; a text of one stays a text."""
    if isinstance(hint, str):
        return _NAME.sub(lambda match: _plain_name(match, names), _BOUNDED.sub(r"\1", hint))
    origin, members = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _plain_hint(members[0], names)
    if origin in (None, Literal) or not members:
        return hint
    if origin is collections.abc.Callable:
        return hint
    plain_members = tuple(_plain_hint(member, names) for member in members)
    if plain_members == members:
        return hint
    return reduce(or_, plain_members) if origin in (Union, types.UnionType) else origin[plain_members]


def _plain_name(match: re.Match[str], names: Mapping[str, Any]) -> str:
    alias = names.get(match[1], globals().get(match[1]))
    return get_args(alias)[0].__name__ if get_origin(alias) is Annotated else match[1]


def story_position(place: object, *, name: str = "as_of") -> StoryPosition:
    """Return the point of the story that is meant: `(5, 4)`, `[5, 4]`, `"5:4"`, `5` or a StoryPosition."""
    parts: object = place
    if isinstance(place, str):
        parts = [int(text) if text.isascii() and text.isdecimal() else text for text in place.split(":")]
    if isinstance(place, StoryPosition):
        return place
    if isinstance(parts, list | tuple) and 1 <= len(parts) <= 2:
        parts = [*parts, None][:2]
    elif type(parts) is int:
        parts = [parts, None]
    else:
        raise InvalidPositionError(f"{name}={place!r} is no point of the story; {_SPELLINGS}")
    if type(parts[0]) is not int or type(parts[1]) not in (int, types.NoneType):
        raise InvalidPositionError(f"{name}={place!r} is no point of the story; {_SPELLINGS}")
    return StoryPosition(*parts)


_SPELLINGS = "write (5, 4) or '5:4' for entering scene 4 of chapter 5, 5 for entering chapter 5, 'S001' for that scene"


def stored_position(part: StoryBase, place: object, *, name: str = "as_of") -> StoryPosition:
    """Return the stored position of a scene id, heading or place."""
    if not isinstance(place, str) or _NUMBERED_PLACE.fullmatch(place):
        return story_position(place, name=name)
    if not SCENE_LABEL.fullmatch(place):
        if not re.fullmatch(CHAPTER_NAME, place):
            return story_position(place, name=name)
        return chapter_names_of(part._stores, part.project_id).position_of(place)
    with part._stores.database(part.project_id).read() as unit:
        position = unit.scenes.position_of_label(place)
    if position is None:
        raise UnknownSceneError(f"no scene {place!r} is stored; write a place such as '3:2'")
    return position


def chapter_names_of(stores: MemoryStores, project_id: str) -> ChapterNames:
    """Return the author's chapter names of a project."""
    try:
        with stores.database(project_id).read() as unit:
            return ChapterNames.of(TitledScene(*row) for row in unit.scenes.titles())
    except UnknownProjectError:
        return ChapterNames()


_NUMBERED_PLACE = re.compile(r"[0-9]+(?::[0-9]+)?")


PLACE_NUMBERS = ("chapter_index", "scene_index")
"""Arguments that are the two numbers of a place; a chapter may be said by its heading, a scene by its whole place.

StoryPosition itself says what is wrong with numbers.
"""


@cache
def _has_place(method: Callable[..., Any]) -> bool:
    return not set(PLACE_NUMBERS).isdisjoint(inspect.signature(method).parameters)


def named_place(part: StoryBase, placed: Mapping[str, Any], *, of_scene: bool = True) -> dict[str, int | None]:
    """Return a place's numbers from a heading or a whole text.

    Args:
        part: The part of the story whose chapters have the headings.
        placed: `chapter_index` and `scene_index`, each where it is said.
        of_scene: Whether a scene is wanted beside the chapter.

    Raises:
        InvalidPositionError: When it is no place, or two different ones.
        UnknownSceneError: When no chapter is called so.
    """
    chapter, scene = (
        int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value
        for value in map(placed.get, PLACE_NUMBERS)
    )
    if isinstance(scene, str):
        place = stored_position(part, scene, name="scene_index")
        if (
            chapter is not None
            and named_place(part, {"chapter_index": chapter})["chapter_index"] != place.chapter_index
        ):
            raise InvalidPositionError(f"scene {scene!r} is not in chapter {chapter!r}; leave one of them out")
    elif isinstance(chapter, str):
        place = stored_position(part, chapter if scene is None else f"{chapter}:{scene}", name="chapter_index")
    else:
        place = StoryPosition(chapter, scene)
    numbers = {"chapter_index": place.chapter_index, "scene_index": place.scene_index}
    return numbers if of_scene else {"chapter_index": place.chapter_index}


@cache
def _names(method: Callable[..., Any]) -> tuple[str, ...]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(method).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind in positional)


@cache
def _readers(method: Callable[..., Any]) -> dict[str, Reader]:
    try:
        hints = get_type_hints(method, include_extras=True)
    except NameError:
        # Its types are imported for type checkers alone; such methods are not for programs.
        return {}
    readers = {name: _reader(hint) for name, hint in hints.items() if name not in ("return", *PLACE_NUMBERS)}
    return {name: reader for name, reader in readers.items() if reader is not None}


def _reader(hint: Any) -> Reader | None:
    lines = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    members = tuple(item for item in lines if item is not types.NoneType)
    is_optional = len(members) < len(lines)
    if StoryPosition in members:
        return lambda part, name, value: None if value is None else stored_position(part, value, name=name)
    if get_origin(hint) is Sequence and StoryPosition in get_args(get_args(hint)[0]):
        return lambda part, name, value: [stored_position(part, item, name=name) for item in value]
    if len(members) != 1:
        return None
    [member] = members
    plain = get_args(member)[0] if get_origin(member) is Annotated else member
    is_bounded = any(isinstance(item, FieldInfo) for item in getattr(member, "__metadata__", ()))
    if plain is not str and get_origin(plain) is not Literal and not (plain in (int, float) and is_bounded):
        return None
    adapter: TypeAdapter[Any] = TypeAdapter(member)

    def value_of(_part: Any, name: str, value: Any) -> Any:
        if (value is None and is_optional) or (plain is str and isinstance(value, str)):
            return value
        if plain is str:
            raise UserInputError(f"{name} must be a text, not {value!r}")
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            if get_origin(plain) is Literal:
                why += did_you_mean(str(value), get_args(plain))
            raise UserInputError(f"{name} cannot be {value!r}: {why}") from error

    return value_of


At = StoryPosition | tuple[int, int] | list[int] | int | str
"""A point of the story: `(5, 4)` or `"5:4"` on entering scene 4 of chapter 5, `5` on entering chapter 5, `"S001"` on
entering the stored scene of that id, `"第8章:1"` or `"Chapter 8"` where the author calls it so. A list is what JSON,
and the checkpoint of a graph, make of a pair.
"""

Place = At | None
"""The same; None after the end."""

Name = Annotated[str, Field(min_length=1, max_length=400)]
"""Of an entity, a kind or a number that is called by a word."""

Text = Annotated[str, Field(min_length=1, max_length=20_000)]

SceneText = Annotated[str, Field(min_length=1, max_length=2_000_000)]
"""The whole text of a scene, or a draft of one."""

DRAFT_CHARACTERS = 100_000
"""So long may a scene be that is checked before it is stored: a check takes seconds, and longer for more."""

Draft = Annotated[str, Field(min_length=1, max_length=DRAFT_CHARACTERS)]

Language = Annotated[str, Field(max_length=20)]
"""Of a translation or of headings, such as en."""

Passage = Annotated[str, Field(min_length=1, max_length=MAX_CHUNK_CHARACTERS)]
"""A paragraph to a few pages."""

CallerObject = Mapping[str, Any] | Any
"""A mapping, or a model or dataclass of the caller's own that has its fields."""

Count = Annotated[int, Field(ge=1, le=20_000)]
"""At most so many are listed."""

Number = Annotated[int, Field(ge=0, le=1_000_000)]
"""Of a chapter, a scene or a change."""

Weight = Annotated[int, Field(ge=1, le=10)]

Intensity = Annotated[int, Field(ge=0, le=10)]

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]

Progress = Callable[[int, int], Any]
"""Called with how much is done and how much there is in all."""


def position_of(place: Place) -> StoryPosition | None:
    """Return the requested position, or None."""
    return None if place is None else story_position(place)


Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Twin = TypeVar("Twin", bound=Callable[..., Any])


def async_twin(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
    """Return a coroutine version of a method.

    It has the method's arguments, result and errors, for type checkers and `help` too. What callbacks and
    tracing keep in context variables goes with it.
    """

    reading = with_read_arguments(method)

    @wraps(method)
    async def twin(self: Owner, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await asyncio.to_thread(reading, self, *args, **kwargs)

    return _named_as_twin(twin, method)


def async_stream(
    method: Callable[Concatenate[Owner, Arguments], Iterator[Result]],
) -> Callable[Concatenate[Owner, Arguments], AsyncIterator[Result]]:
    """Return an async generator version of a method.

    See `async_twin`.
    """
    reading = with_read_arguments(method)

    @wraps(method)
    async def twin(self: Owner, *args: Arguments.args, **kwargs: Arguments.kwargs) -> AsyncIterator[Result]:
        stream = await asyncio.to_thread(reading, self, *args, **kwargs)
        while (part := await asyncio.to_thread(next, stream, None)) is not None:
            yield part

    return _named_as_twin(twin, method)


def _named_as_twin(twin: Twin, method: Callable[..., Any]) -> Twin:
    owner, _, name = method.__qualname__.rpartition(".")
    twin.__name__, twin.__qualname__ = f"a{name}", f"{owner}.a{name}"
    twin.__annotations__ = vars(method).get("bounded_hints", method.__annotations__)
    twin.__doc__ = f"Do the same as `{name}` without blocking the event loop: the same arguments and results."
    return twin


ENTRIES_OF_AN_EDIT = 256
"""More than an edit brings. Where more waits, the index was left for later (`--no-index`), or has failed for long."""


def follow_edit(stores: MemoryStores, project_id: str) -> IndexingResult:
    """Index an edit, unless a whole book is pending."""
    with stores.database(project_id).read() as unit:
        waiting_count = unit.outbox.count_waiting()
    if not 0 < waiting_count <= ENTRIES_OF_AN_EDIT:
        return IndexingResult(waiting=waiting_count)
    from runtime.ingest.indexing import drain_outbox

    return drain_outbox(stores, project_id)


class StoryBase(ReadsArguments):
    """Base of the parts of a `Story`, usable alone.

    Args:
        stores: Open stores; they are not closed here.
        project_id: The project.
        chat_model: Chat model in place of the setting's.
    """

    def __init__(self, stores: MemoryStores, project_id: str, *, chat_model: BaseChatModel | None = None) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._is_awake = False
        self.project_id = project_id

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} holds open stores and cannot be pickled; open the memory in each process, and ask it for a story"
        )

    @cached_property
    def _tools(self) -> StoryMemoryTools:
        """The memory tools, imported lazily."""
        from runtime.memory_tools import StoryMemoryTools

        return StoryMemoryTools(self._stores)

    def _follow_edit(self) -> IndexingResult:
        """Index an edit, importing lazily."""
        return follow_edit(self._stores, self.project_id)

    def _awaken(self) -> None:
        """Start the vector index before the first search's deadline."""
        self._stores.require_open()
        if not self._is_awake:
            await_index(self._stores, self.project_id)
            self._is_awake = True


def entity_names(stores: MemoryStores, project_id: str, *, as_of: Place = None) -> dict[str, str]:
    """Return display names of entities by id.

    See `StoryEntities.list`.
    """
    with stores.database(project_id).read() as unit:
        entities = known_entities(unit, position_of(as_of))
    # Scenes from before an identity came out name its earlier card.
    earlier = {entity_id: entity.name for entity in entities for entity_id in entity.earlier_ids}
    return earlier | {entity.entity_id: entity.name for entity in entities}


def await_index(stores: MemoryStores, project_id: str) -> None:
    """Let the vector index load its libraries before a search with a short deadline asks it.

    Waits for as long as one retrieval tool may take. What fails here is left to the search to report, and an index
    of which nothing was ever asked is none to wait for.
    """
    index_id = None
    with contextlib.suppress(DatabaseError, UnknownProjectError), stores.database(project_id).read() as unit:
        project = unit.projects.require()
        index_id = project.index_id
        if project.embedding_model is None:
            return
    timeout_s = stores.settings.memory.tool_timeout_s

    def start() -> None:
        stores.vectors(project_id, index_id=index_id).wait_started(timeout_s)

    run_concurrently({"start": start}, timeouts_s={"start": timeout_s})


Part = TypeVar("Part", bound=StoryBase)


def as_part(story: StoryBase, part: type[Part]) -> Part:
    """Return a part of the same story."""
    return story if isinstance(story, part) else part(story._stores, story.project_id, chat_model=story._chat_model)


def known_entities(unit: UnitOfWork, as_of: StoryPosition | None) -> list[Entity]:
    """Return the entities as shown before a position, all for None."""
    if as_of is not None:
        return unit.entities.list_as_of(as_of=as_of)
    return [entity_at(stored_entity.entity, END_OF_STORY) for stored_entity in unit.entities.list_all()]


def shown_entities(unit: UnitOfWork, as_of: StoryPosition | None) -> list[Entity]:
    """Return the entities for a read, at the end for None.

    Who turned out to be somebody else by then is that one alone, under the ids and names of both.
    """
    entities = known_entities(unit, as_of)
    if as_of is not None:
        return entities
    persons = unit.entities.identities_as_of(END_OF_STORY).persons
    by_id = {entity.entity_id: entity for entity in entities}
    for mask, person in persons.items():
        if person in by_id and mask in by_id:
            one, names = by_id[person], by_id.pop(mask).names()
            aliases = [*one.aliases, *(EntityAlias(alias=name) for name in names if name not in one.names())]
            by_id[person] = one.model_copy(update={"aliases": aliases, "earlier_ids": [*one.earlier_ids, mask]})
    return list(by_id.values())


def card_of_name(unit: UnitOfWork, name: str, entity_type: EntityType | None = None) -> Entity:
    """Return the card of an id, or of a name at the end.

    By its id an earlier card of somebody is read and deleted by itself.
    """
    entities = known_entities(unit, None)
    if any(entity.entity_id.casefold() == name.strip().casefold() for entity in entities):
        return entity_of_exact_name(name, entities, entity_type)
    person_id = entity_of_exact_name(name, shown_entities(unit, None), entity_type).entity_id
    return next(entity for entity in entities if entity.entity_id == person_id)


def card_to_change(
    unit: UnitOfWork,
    name: str,
    entities: Sequence[Entity],
    entity_type: EntityType | None = None,
    *,
    as_of: StoryPosition | None = None,
) -> Entity:
    """Return the card of an id, name or alias.

    A name that two share because they turned out to be one means that one from there on.
    """
    try:
        return entity_of_exact_name(name, entities, entity_type)
    except UnknownEntityError as error:
        try:
            one = entity_of_exact_name(name, shown_entities(unit, as_of), entity_type)
        except UnknownEntityError:
            raise error from None
    return next(entity for entity in entities if entity.entity_id == one.entity_id)


def entities_by_end_of(unit: UnitOfWork, start: StoryPosition) -> list[Entity]:
    """Return the entities as shown at the end of the scene at a position."""
    if start.chapter_index is None:
        return known_entities(unit, start)
    return known_entities(unit, StoryPosition(start.chapter_index, (start.scene_index or 1) + 1))


def entity_of_name(name: str, known_entities: Sequence[Entity], entity_type: EntityType | None = None) -> Entity:
    """Return the entity that an id, a name or an alias means.

    It also takes a part of a name, and a longer text with one known name inside.
    """
    entities = [entity for entity in known_entities if entity_type is None or entity.entity_type == entity_type]
    by_id = {entity.entity_id: entity for entity in entities}
    resolution = NameResolver(entities).resolve(name)
    if resolution.entity_id is not None:
        return by_id[resolution.entity_id]
    if resolution.candidate_ids:
        several = listed_entities([by_id[candidate_id] for candidate_id in resolution.candidate_ids])
        raise UnknownEntityError(f"{name!r} may be {several}; say which by its id")
    kind = entity_type or "entity"
    raise UnknownEntityError(f"no {kind} {name!r} is known by then; {near_names(name, entities)}")


def place_of_name(name: str, known_entities: Sequence[Entity]) -> Entity:
    """Return the location that an id, a name or an alias means, or the thing of exactly this name: a ship, a carriage.

    A location of this name goes before a thing.
    """
    return entity_of_name(name, known_entities, _kind_of_place(name, known_entities))


def _kind_of_place(name: str, known_entities: Sequence[Entity]) -> EntityType:
    """Return "item" of a name that a thing bears and no location does."""
    kinds = {entity.entity_type for entity in known_entities if bears_name(entity, name)}
    return "item" if "item" in kinds and "location" not in kinds else "location"


def means_nobody(name: str, known_entities: Sequence[Entity], entity_type: EntityType) -> bool:
    """Return whether no entity of a kind has an id, name or alias like this; as a location a thing counts, too."""
    kind = _kind_of_place(name, known_entities) if entity_type == "location" else entity_type
    resolution = NameResolver([entity for entity in known_entities if entity.entity_type == kind]).resolve(name)
    return resolution.entity_id is None and not resolution.candidate_ids


def entity_of_exact_name(name: str, known_entities: Sequence[Entity], entity_type: EntityType | None = None) -> Entity:
    """Return the entity with exactly this id, name or alias.

    It takes a name without its title or in other case, but no part of a name.
    """
    entities = [entity for entity in known_entities if entity_type is None or entity.entity_type == entity_type]
    entity = entity_of_name(name, entities, entity_type)
    if not bears_name(entity, name):
        raise UnknownEntityError(
            f"no {entity_type or 'entity'} {name!r} is known by then; {near_names(name, entities)}"
        )
    return entity


def bears_name(entity: Entity, name: str) -> bool:
    """Return whether an entity has this id or name, ignoring case and titles."""
    own = (entity.entity_id, *entity.earlier_ids, *entity.names())
    return name_key(name) in map(name_key, own) or title_free_key(name) in map(title_free_key, own)


def entity_of_name_or_part(
    name: str, known_entities: Sequence[Entity], entity_type: EntityType | None = None
) -> Entity:
    """Return the entity of an id, a name, an alias or a part of a name.

    It refuses a longer text with a known name inside.
    """
    entities = [entity for entity in known_entities if entity_type is None or entity.entity_type == entity_type]
    resolution = NameResolver(entities).resolve(name)
    if resolution.reason.startswith(NAME_INSIDE):
        inside = [entity for entity in entities if entity.entity_id in resolution.candidate_ids]
        near = f"near it: {listed_entities(inside)}"
        raise UnknownEntityError(f"no {entity_type or 'entity'} {name!r} is known by then; {near}")
    return entity_of_name(name, entities, entity_type)


def resolved_ids(names: Sequence[str], entities: Sequence[Entity], entity_type: EntityType | None = None) -> list[str]:
    """Return the distinct entity ids of names, of which a text may hold several between commas.

    See `entity_of_name_or_part`.
    """
    single_names = split_names(names, entities)
    return list(dict.fromkeys(entity_of_name_or_part(name, entities, entity_type).entity_id for name in single_names))


def resolved_targets(
    unit: UnitOfWork, targets: Target | Sequence[Target], as_of: StoryPosition | None, *, by_exact_name: bool = False
) -> list[str]:
    """Return the distinct targets of names at a position.

    Names are taken as `entity_of_name_or_part` takes them, or as `entity_of_exact_name` does.
    """
    texts = _target_texts(targets)
    entities = known_entities(unit, as_of) if any(map(holds_several, texts)) else []
    names = split_names(texts, entities)
    beyond = {name: target for name in names if (target := unit.attachments.beyond_entities(name)) is not None}
    entities = entities or (known_entities(unit, as_of) if len(beyond) < len(set(names)) else [])
    meant_function = partial(card_to_change, unit, as_of=as_of) if by_exact_name else entity_of_name_or_part
    try:
        return list(
            dict.fromkeys(beyond.get(name) or _typed_entity(name, entities, meant_function).entity_id for name in names)
        )
    except UnknownEntityError as error:
        raise UnknownEntityError(f"{error}; a chapter is written chapter:3, the whole book: book") from error


def _target_texts(targets: Target | Sequence[Target]) -> list[str]:
    """Return targets as texts; one alone is a list of it."""
    listing = [targets] if isinstance(targets, str | Mapping) else targets
    try:
        texts = [target_text(item) for item in listing]
    except ValueError as error:
        raise UserInputError(str(error)) from error
    wrong = next((text for text in texts if not isinstance(text, str)), None)
    if wrong is not None:
        raise UserInputError(f"{wrong!r} names no target; write an id, a name, chapter:3 or book")
    return [str(text) for text in texts]


def _typed_entity(name: str, entities: Sequence[Entity], meant_function: Callable[..., Entity]) -> Entity:
    """Return the entity that a name means; `character:Ada` means a character alone."""
    prefix, _, own_name = name.partition(":")
    kind = next((id_prefix for id_prefix in ID_PREFIXES if id_prefix == prefix), None)
    if kind is None or not own_name.strip() or any(bears_name(entity, name) for entity in entities):
        return meant_function(name, entities)
    own_name = own_name.strip()
    other = next((entity for entity in entities if bears_name(entity, own_name)), None)
    if other is not None and not any(
        entity.entity_type == kind and bears_name(entity, own_name) for entity in entities
    ):
        raise UnknownEntityError(f"{own_name!r} is no {kind} but a {other.entity_type}: {other.entity_id}")
    return meant_function(own_name, entities, kind)


def place_of_statement(unit: UnitOfWork, as_of: StoryPosition, *, scene_id: str | None = None) -> StoryPosition:
    """Return the place at which a statement must stand to be read at a position, and nowhere earlier.

    That is the last scene before the position, where the position follows it. At the beginning of the story there is
    no scene; then the statement has no place and holds from the start.
    """
    if scene_id is None:
        last = next(iter(unit.scenes.list_as_of(as_of=as_of, last=1)), None)
        if last is None:
            return END_OF_STORY if as_of <= StoryPosition(1, 1) else place_before(as_of)
        is_next = as_of.chapter_index in (None, last.chapter_index + 1) and not (as_of.scene_index or 0) > 1
        if is_next or (as_of.chapter_index, as_of.scene_index) == (last.chapter_index, last.scene_index + 1):
            return last.position
        return place_before(as_of)
    for scene in unit.scenes.list_as_of(as_of=as_of):
        if scene_id in (scene.label, str(scene.position)):
            return scene.position
    raise UnknownSceneError(f"no scene {scene_id!r} is stored before {as_of}; use an id such as S001")


def is_of_chapter(place: StoryPosition, start: StoryPosition | None) -> bool:
    """Tell whether a statement at a place begins in the chapter of that place."""
    return start is not None and start.chapter_index is not None and start.chapter_index == place.chapter_index


def is_told_before_the_next(unit: UnitOfWork, place: StoryPosition, start: StoryPosition | None) -> bool:
    """Tell whether a statement is of the last scene, because the scene from which it holds is not stored yet.

    It stays of that scene when the next one comes.
    """
    if start is None or place.scene_index is None or unit.scenes.get(start) is not None:
        return False
    return unit.scenes.get(place) is not None


def place_before(start: StoryPosition | None) -> StoryPosition:
    """Return the place at which a note must stand to be read from a position on, and not before.

    What stands at a place is read strictly after it, and at the end of a chapter from the next one on.
    """
    if start is None or start.chapter_index is None:
        return END_OF_STORY
    if start.scene_index:
        return StoryPosition(start.chapter_index, start.scene_index - 1)
    return StoryPosition(start.chapter_index - 1) if start.chapter_index else END_OF_STORY


def place_name(place: StoryPosition) -> str | None:
    """Return a place as `3:2`, or None when it is the whole story."""
    return None if place.chapter_index is None else str(place)
