"""The front door for Python programs: `novelgen.open` gives a memory, a memory gives stories.

Whatever a user can do is a function of `runtime.story`; this gives it the shape of objects. Every method that
reads or writes has an async twin: `await story.acontext(…)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.errors import ConfigurationError
from novelgen.language.extractive import MAX_BULLETS
from runtime.context_chain import build_context_chain
from runtime.settings import NovelgenSettings, grouped_settings
from runtime.story import summaries as summary_services
from runtime.story.base import Progress, async_twin, await_index
from runtime.story.projects import ProjectOverview, ProjectStores, StoryProjects
from runtime.story.story import Story
from runtime.story.transfer import ProjectImport, StoryTransfer

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore


def open(
    projects_dir: str | Path | None = None,
    *,
    embeddings: Embeddings | str | None = None,
    chat_model: BaseChatModel | str | None = None,
    vector_store: Callable[[str, Embeddings], VectorStore] | Mapping[str, Any] | str | None = None,
    reranker: BaseDocumentCompressor | None = None,
    **settings: Any,
) -> Memory:
    """Open the memory of all stories in a folder. Nothing is loaded or written before it is asked for.

    Args:
        projects_dir: Folder that holds the projects; None takes NOVELGEN_PROJECTS_DIR, else `projects`.
        embeddings: LangChain embeddings, or a name as the setting `embedding_model` has it; None takes the setting's.
        chat_model: LangChain chat model, or a name such as `openai:gpt-4.1-mini`; it plans what to look up and reads
            scenes for `extract`. None takes the setting's, and rules where that names none.
        vector_store: Factory of another LangChain vector store than Chroma: a function of a collection's name and
            of embeddings that the store must use, which returns the store. A text names it by its import path,
            `package.module:factory`; it then runs in a process of its own, as Chroma does. A mapping is the setting.
        reranker: Reranker of LangChain, a cross-encoder or a provider's, that chooses the memories of a scene from the
            list of all before it, in the place of the chat model.
        **settings: Any setting by its name in config.yaml, those under `memory:` too: `memory_budget=3000`,
            `database_url="postgresql+psycopg://…"`. They win over the environment and over config.yaml.

    Returns:
        The memory; close it, or use it in a `with` block.

    Raises:
        ConfigurationError: When a setting is misspelt or wrong; names the nearest right one.
    """
    if isinstance(vector_store, str | Mapping):
        settings["vector_store"] = {"provider": vector_store} if isinstance(vector_store, str) else vector_store
    elif vector_store is not None and not callable(vector_store):
        raise ConfigurationError(
            f"vector_store cannot be {type(vector_store).__name__}; pass a function of a collection's name and "
            "embeddings that returns a LangChain vector store, such as "
            "`lambda name, embeddings: Chroma(name, embeddings)`"
        )
    grouped_settings(settings, other_keywords=("projects_dir", "embeddings", "chat_model", "vector_store", "reranker"))
    if isinstance(chat_model, str):
        settings = {"model": chat_model, **settings}
    if isinstance(embeddings, str):
        settings = {"embedding_model": embeddings, **settings}
    return Memory(
        {"projects_dir": projects_dir, **settings},
        embeddings=None if isinstance(embeddings, str) else embeddings,
        chat_model=None if isinstance(chat_model, str) else chat_model,
        vector_store=None if isinstance(vector_store, str | Mapping) else vector_store,
        reranker=reranker,
    )


def summarize_scene(
    text: str, *, chat_model: BaseChatModel | str | None = None, max_bullets: int = MAX_BULLETS
) -> list[str]:
    """Sum a scene up in three to five bullets, without any project.

    Args:
        text: The scene.
        chat_model: LangChain chat model, or a name such as `openai:gpt-4.1-mini`; None takes the setting's, and the
            scene's own weightiest sentences where that names none, or where the model fails.
        max_bullets: Most bullets.

    Returns:
        The bullets, in the order of the scene.

    Raises:
        UserInputError: When the text is empty or too long.
        ConfigurationError: When the model cannot be built.
    """
    return summary_services.summarize_scene(text, chat_model=chat_model, max_bullets=max_bullets).bullets


class Memory:
    """The memory of all stories in a folder, safe between threads.

    `novelgen.open` makes it.

    Args:
        settings: Settings by name, which win over the environment and over a project's config.yaml.
        embeddings: LangChain embeddings in place of the setting's.
        chat_model: LangChain chat model in place of the setting's.
        vector_store: Factory of a LangChain vector store in place of the setting's.
        reranker: Chooses the memories of a scene in the place of the chat model.

    Raises:
        ConfigurationError: When a setting is misspelt or wrong, or the folder is none.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        embeddings: Embeddings | None = None,
        chat_model: BaseChatModel | None = None,
        vector_store: Callable[[str, Embeddings], VectorStore] | None = None,
        reranker: BaseDocumentCompressor | None = None,
    ) -> None:
        if chat_model is not None and not isinstance(chat_model, BaseChatModel):
            raise ConfigurationError(
                f"chat_model cannot be {type(chat_model).__name__}; pass a LangChain chat model, or a name such as "
                "'openai:gpt-4.1-mini'"
            )
        if reranker is not None and not isinstance(reranker, BaseDocumentCompressor):
            raise ConfigurationError(
                f"reranker cannot be {type(reranker).__name__}; pass a LangChain document compressor, such as "
                "CrossEncoderReranker or FlashrankRerank"
            )
        self._chat_model = chat_model
        self._opened = ProjectStores(settings, embeddings=embeddings, vector_store=vector_store, reranker=reranker)
        folder = self.settings.projects_dir
        if folder.exists() and not folder.is_dir():
            raise ConfigurationError(f"projects_dir {str(folder)!r} is a file; name the folder that holds the projects")

    @property
    def settings(self) -> NovelgenSettings:
        """The settings that hold where no project's config.yaml says otherwise."""
        return self._opened.settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Close everything.

        The memory and its stories cannot be used afterwards.
        """
        self._opened.close(for_good=True)

    def projects(self) -> list[ProjectOverview]:
        """Return every project with its contents, or the `problem` of an unreadable one."""
        self._opened.common.require_open()
        return self._opened.overviews()

    def story(self, project_id: str) -> Story:
        """Return a project's story.

        A folder without stored data can be ingested.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            UnknownProjectError: When there is no such project; names the nearest one.
            ConfigurationError: When its config.yaml is wrong.
        """
        stores = self._opened.of(project_id)
        StoryProjects(stores, project_id).require_project_files()
        return Story(stores, project_id, chat_model=self._chat_model)

    def context_chain(self, project_id: str, *, write_files: bool = True) -> MemoryContextChain:
        """Return the memory context chain over the stores of a project, for `invoke`, `batch` and `|`.

        A project that is not stored is an issue of each context, not an error.

        Args:
            project_id: The project of the requests.
            write_files: Whether each context is written to the project's folder.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            ConfigurationError: When its config.yaml is wrong.
        """
        stores = self._opened.of(project_id)
        await_index(stores, project_id)
        return build_context_chain(stores, model=self._chat_model, write_files=write_files)

    def create(self, project_id: str, *, name: str | None = None, language: str | None = None) -> Story:
        """Make a new project with an empty memory, and the folder for its files.

        Args:
            project_id: A plain, path-free id.
            name: Title; None takes the id.
            language: `zh` or `en`; None tells it from the name.

        Raises:
            InvalidProjectIdError: When the id is not a plain, path-free string.
            UserInputError: When the project exists already.
        """
        stores = self._opened.of(project_id)
        StoryProjects(stores, project_id).create_project(name=name, language=language)
        return self.story(project_id)

    def import_from(
        self,
        path: str | Path,
        *,
        project_id: str,
        dry_run: bool = False,
        update: bool = False,
        replace: bool = False,
        overwrite: bool = False,
        keep_remarks: bool = False,
        headings: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> ProjectImport:
        """Import whatever a path is into a project, which is created when there is none.

        Args:
            path: An exported memory, a project folder of novel-gen, a manuscript (.txt, .md, .epub, .docx), or a
                folder with a file for each chapter.
            project_id: The project.
            dry_run: Only tell what would happen.
            update: Take chapters of a manuscript in again whose text changed; without it nothing stored is changed.
            replace: With `update` let a chapter take the place of one with another heading, too; without it such a
                chapter waits, and `changes.other_chapters` lists it.
            overwrite: With `update` let the file's text take the place of what was edited in the project, where the
                file changed, too; without it such scenes stay, and `changes.conflicting_scenes` lists them.
            keep_remarks: Whether what an author says to readers stays in the text of a manuscript.
            headings: Headings of a manuscript as an example each, where they are not recognised without.
            progress: Called after each scene with the scenes done and the scenes in all.

        Raises:
            InvalidFileError: When the path is none of these, or a file is wrong.
            UserInputError: When ids mean somebody else in the project.
        """
        return StoryTransfer(self._opened.of(project_id), project_id).import_source(
            source=Path(path),
            dry_run=dry_run,
            update=update,
            replace=replace,
            overwrite=overwrite,
            keep_remarks=keep_remarks,
            headings=headings,
            progress=progress,
        )

    aclose = async_twin(close)
    aprojects = async_twin(projects)
    astory = async_twin(story)
    acontext_chain = async_twin(context_chain)
    acreate = async_twin(create)
    aimport_from = async_twin(import_from)
