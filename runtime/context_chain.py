"""The memory context chain over runtime's stores, as the settings say, and the files that it writes."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic_core import to_json

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import ConfigurationError, StoreError, UnknownProjectError
from novelgen.models.context import SceneMemoryContext, context_document
from runtime.files.paths import ProjectPaths, write_text_atomically
from runtime.index.chat_models import UnavailableChatModel, build_chat_model
from runtime.index.token_counters import build_token_counter
from runtime.search.story_memory import StoryMemoryTools
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores

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
        entries = [f"{_compact(name)}: {_in_lines(each, depth=depth + 1)}" for name, each in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        entries = [_compact(each) for each in value]
        opening, closing = "[", "]"
    else:
        return _compact(value)
    if not entries:
        return opening + closing
    return opening + "\n" + ",\n".join(margin + each for each in entries) + "\n" + margin[2:] + closing


def _compact(value: Any) -> str:
    return to_json(value).decode()


def build_context_chain(
    stores: MemoryStores,
    *,
    model: BaseChatModel | None = None,
    write_files: bool = True,
    top_k: int | None = None,
    bounds: Mapping[str, Any] | None = None,
) -> MemoryContextChain:
    """Build the chain that turns scene plans into contexts.

    Args:
        stores: Open stores; the chain does not close them.
        model: Chat model for planning; None takes that of the settings, and rules where they name none. One that
            the settings name and that cannot be built costs its part: rules plan, and each report says why.
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
