"""The memory context chain over runtime's stores, as the settings say."""

from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import ConfigurationError
from runtime.index.chat_models import UnavailableChatModel, build_chat_model
from runtime.index.token_counters import build_token_counter
from runtime.search.story_memory import StoryMemoryTools
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.writer import JsonContextWriter


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
