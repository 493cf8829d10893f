"""The contexts of scenes and of pieces of text over runtime's stores, as the settings say, and the files written."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic_core import to_json

from novelgen.chains.chunk_context_chain import ChunkContextChain
from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.context.model_selector import MemorySelector, memory_selector
from novelgen.errors import ConfigurationError, StoreError, UnknownProjectError
from novelgen.models.chunk_context import ChunkContext, ChunkContextRequest, MemoryPriority
from novelgen.models.context import SceneMemoryContext, context_document
from novelgen.models.position import StoryPosition, require_project_id
from runtime.files.paths import ProjectPaths, write_text_atomically
from runtime.memory_tools import StoryMemoryTools
from runtime.model_providers.chat_models import UnavailableChatModel, build_chat_model
from runtime.model_providers.token_counters import build_token_counter
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores, stores_or_default

logger = logging.getLogger(__name__)

_DEPTH_OF_LINES = 2
"""The context and its report have a line per field."""


class JsonContextWriter:
    """A `ContextWriter` for `projects/<id>/scene_<chapter>_<scene>_memory.json`."""

    def __init__(
        self, projects_dir: Path, *, require_project: Callable[[str], object] | None = None, is_full: bool = False
    ) -> None:
        self._projects_dir = projects_dir
        self._is_full = is_full
        self._require_project = require_project

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Write the context's file, whole or not at all."""
        paths = ProjectPaths(self._projects_dir, context.project_id)
        if not paths.folder.is_dir() and self._is_unknown(context.project_id):
            return None
        target = paths.context_file(context.chapter_index, context.scene_index)
        text = context_json(context, is_full=self._is_full)
        write_text_atomically(target, text, root=paths.folder)
        return target

    def _is_unknown(self, project_id: str) -> bool:
        if self._require_project is None:
            return False
        try:
            self._require_project(project_id)
        except UnknownProjectError:
            return True
        except StoreError as error:
            logger.info("whether project %r is stored could not be read: %s", project_id, error)
        return False


def context_json(context: SceneMemoryContext, *, is_full: bool = False) -> str:
    """Return the context as readable JSON, ending in a line break."""
    if is_full:
        return context.model_dump_json(indent=2) + "\n"
    return _in_lines(context_document(context), depth=1) + "\n"


def _in_lines(value: Any, *, depth: int) -> str:
    """Return mappings and lists of mappings with a line per entry, everything below in one line."""
    margin = "  " * depth
    if isinstance(value, dict) and depth <= _DEPTH_OF_LINES:
        entries = [f"{_compact(name)}: {_in_lines(item, depth=depth + 1)}" for name, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        entries = [_compact(item) for item in value]
        opening, closing = "[", "]"
    else:
        return _compact(value)
    if not entries:
        return opening + closing
    return opening + "\n" + ",\n".join(margin + entry for entry in entries) + "\n" + margin[2:] + closing


def _compact(value: Any) -> str:
    return to_json(value).decode()


def build_context_chain(
    stores: MemoryStores,
    *,
    model: BaseChatModel | None = None,
    selector_model: BaseChatModel | None = None,
    write_files: bool = True,
    top_k: int | None = None,
    bounds: Mapping[str, Any] | None = None,
) -> MemoryContextChain:
    """Build the chain that turns scene plans into contexts.

    Args:
        stores: Open stores; the chain does not close them.
        model: Chat model for planning; None takes that of the settings, and rules where they name none. One that
            the settings name and that cannot be built costs its part: rules plan, and each report says why.
        selector_model: Chat model for the selection, unless `memory.selector` is `rules`; None takes that of planning.
        write_files: Whether each context is written to the project's folder.
        top_k: At most so many memories in a context, beside their budget; None takes the setting's, which by default
            knows no such bound.
        bounds: Fields of the settings of the memory that count otherwise for this chain, already validated:
            `memory_budget`, `state_budget`, `timeline_budget`, `full_report`.

    Raises:
        ConfigurationError: When the settings name a token counter of no known form.
    """
    settings = stores.settings
    changed = {**(bounds or {}), **({} if top_k is None else {"top_k": top_k})}
    memory = settings.memory.model_copy(update=changed)
    counting = build_token_counter(settings.memory.token_counter)
    return MemoryContextChain(
        StoryMemoryTools(stores),
        model=model or _planning_model(settings),
        writer=(
            JsonContextWriter(settings.projects_dir, require_project=stores.database, is_full=memory.full_report)
            if write_files
            else None
        ),
        settings=memory,
        selector_model=selector_model,
        reranker=stores.reranker,
        model_timeout_s=settings.model_timeout_s,
        count_tokens=counting.count_tokens,
        known_issues=[counting.issue] if counting.issue else [],
    )


def configured_chat_model(settings: NovelgenSettings) -> BaseChatModel | None:
    """Build the chat model that the settings name, or return None where they name none.

    Raises:
        ConfigurationError: When it cannot be built; never holds the key.
    """
    return build_chat_model(
        settings.model,
        base_url=settings.model_base_url,
        api_key=settings.model_api_key,
        timeout_s=settings.model_timeout_s,
        max_tokens=settings.model_max_tokens,
    )


def _planning_model(settings: NovelgenSettings) -> BaseChatModel | None:
    try:
        return configured_chat_model(settings)
    except ConfigurationError as error:
        return UnavailableChatModel(reason=str(error))


def build_chunk_context(
    project_id: str,
    text: str,
    chapter_index: int | None = None,
    limit: int | None = None,
    *,
    stores: MemoryStores | None = None,
    language: str | None = None,
    to: str | None = None,
    priority: MemoryPriority | None = None,
    touch: bool | None = None,
    scene_index: int | None = None,
    with_left_out: bool = False,
    selector: Literal["rules", "model"] | None = None,
    model: BaseChatModel | None = None,
) -> ChunkContext:
    """Build the glossary and the memories that a translator or editor of a piece of text must know.

    Args:
        project_id: The project, a plain string.
        text: The piece of text, a paragraph to a few pages.
        chapter_index: The chapter in which it stands: only what lies before that chapter counts, and of
            names that the chapter first shows those in the text. None means the whole book.
        limit: At most so many memories; None, as for all that follows, takes the project's setting, by default 10.
        stores: Stores to use; None opens those of the settings.
        language: Language of the headings, `zh…` or `en`; None takes the story's.
        to: Language of the translations, such as en; None takes the first of each.
        priority: `score`, or `least_recently_read`: of what fits, what was never noted as read comes first, then what
            was not for longest.
        touch: Note on the memories shown that they were read now, as far as that can be done; by default
            nothing is written.
        scene_index: The scene of the chapter; what its earlier scenes established counts then, too.
        with_left_out: List the memories that fit beyond the limit, as far as they were retrieved.
        selector: `model` lets a chat model choose from the list of all memories before the text, in one call; by
            default `rules`.
        model: The chat model for that; None takes that of the settings.

    Returns:
        The context. What fails in the stores leaves its part empty and stands in `issues`.

    Raises:
        ValidationError: When the limit, the chapter or the length of the text is out of bounds.
        InvalidPositionError: When a scene comes without its chapter.
        InvalidProjectIdError: When the project id is not a plain, path-free string.
        UnknownProjectError: When no such project is stored.
    """
    require_project_id(project_id)
    StoryPosition(chapter_index, scene_index)
    with stores_or_default(stores) as lent_stores:
        settings = lent_stores.settings.memory.chunk_context
        request = ChunkContextRequest(
            project_id=project_id,
            text=text,
            chapter_index=chapter_index,
            scene_index=scene_index,
            with_left_out=with_left_out,
            limit=settings.limit if limit is None else limit,
            language=language,
            to=to or "",
            priority=priority or settings.priority,
            selector=selector or settings.selector,
        )
        # A project that is not stored is refused; a database that fails is left to the chain to report.
        try:
            lent_stores.database(project_id)
        except StoreError as error:
            logger.info("whether project %r is stored could not be read: %s", project_id, error)
        is_by_model = request.selector == "model"
        chain = ChunkContextChain(
            StoryMemoryTools(lent_stores),
            timeout_s=lent_stores.settings.memory.tool_timeout_s,
            selector=_text_selector(lent_stores, model) if is_by_model else None,
            settings=lent_stores.settings.memory,
        )
        context = chain.invoke(request)
        if (settings.touch if touch is None else touch) and context.memories:
            _touch(lent_stores, context)
    return context


def _text_selector(stores: MemoryStores, model: BaseChatModel | None) -> MemorySelector | None:
    settings = stores.settings
    return memory_selector(model or _planning_model(settings), stores.reranker, timeout_s=settings.model_timeout_s)


def _touch(stores: MemoryStores, context: ChunkContext) -> None:
    try:
        with stores.database(context.project_id).write() as unit:
            unit.memories.mark_read([memory.chunk.chunk_id for memory in context.memories])
    except StoreError as error:
        logger.warning("not noted as read: %s", error)
