"""A memory for tests of programs that use novelgen: real stores, gone when closed, and the index in memory."""

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.vectorstores import InMemoryVectorStore

from runtime.front_door import Memory


def open_ephemeral(
    *, embeddings: Embeddings | str = "fake:64", chat_model: BaseChatModel | None = None, **settings: Any
) -> Memory:
    """Return a memory of stories for a test: nothing is loaded, no process starts, and nothing of it stays.

    Stories are stored and searched as always, in SQLite, in a folder of its own that goes when it is closed. Neither a
    model nor a project of the environment is used.

    Args:
        embeddings: LangChain embeddings, or a name; those by default are made of the letters and mean nothing.
        chat_model: A scripted model of LangChain, such as `FakeListChatModel`; None lets rules do.
        **settings: As for `novelgen.open`.

    Returns:
        The memory; close it, or use it in a `with` block.
    """
    folder = tempfile.mkdtemp(prefix="novelgen-")
    own: dict[str, Any] = {"projects_dir": Path(folder), "database_url": f"sqlite:///{folder}/stories.db", "model": ""}
    if isinstance(embeddings, str):
        own["embedding_model"] = embeddings
    return _EphemeralMemory(
        own | settings, embeddings=None if isinstance(embeddings, str) else embeddings, chat_model=chat_model
    )


class _EphemeralMemory(Memory):
    """A memory whose folder is deleted when it closes."""

    def __init__(
        self, settings: dict[str, Any], *, embeddings: Embeddings | None, chat_model: BaseChatModel | None
    ) -> None:
        super().__init__(settings, embeddings=embeddings, chat_model=chat_model, vector_store=_in_memory)
        self._remove = weakref.finalize(self, shutil.rmtree, self.settings.projects_dir, ignore_errors=True)

    def close(self) -> None:
        """Close it, and leave nothing."""
        super().close()
        self._remove()


def _in_memory(name: str, embeddings: Embeddings) -> InMemoryVectorStore:
    """Open an empty collection."""
    return InMemoryVectorStore(embeddings)
