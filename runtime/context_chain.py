"""The memory context chain over runtime's stores, as the settings say."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from novelgen.settings import ContextSettings

from novelgen.chains.memory_context_chain import MemoryContextChain
from runtime.memory_tools import StoryMemoryTools
from runtime.providers.chat_models import build_chat_model
from runtime.providers.token_counters import build_token_counter
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.writer import JsonContextWriter


def build_context_chain(
    stores: MemoryStores, *, model: BaseChatModel | None = None, write_files: bool = True
) -> MemoryContextChain:
    """Build the chain that turns scene plans into contexts.

    Args:
        stores: Open stores; the chain does not close them.
        model: Chat model for planning; None takes that of the settings, and rules where they name none.
        write_files: Whether each context is written to the project's folder.

    Raises:
        ConfigurationError: When the settings name a model that cannot be built.
    """
    settings = stores.settings
    counting = build_token_counter(settings.memory.token_counter)
    return MemoryContextChain(
        StoryMemoryTools(stores),
        model=model or configured_chat_model(settings),
        writer=JsonContextWriter(settings.projects_dir) if write_files else None,
        settings=context_settings(settings),
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


def context_settings(settings: NovelgenSettings) -> ContextSettings:
    """Return the budgets and deadlines of the chain that the program's settings ask for."""
    memory = settings.memory
    return ContextSettings(
        memory_budget=memory.memory_budget,
        state_budget=memory.state_budget,
        timeline_budget=memory.timeline_budget,
        max_states=memory.max_states,
        quotas=memory.quotas,
        weights=memory.weights,
        context_window=memory.context_window,
        tool_timeout_s=memory.tool_timeout_s,
        chain_timeout_s=memory.chain_timeout_s,
        model_timeout_s=settings.model_timeout_s,
    )
