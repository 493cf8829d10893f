"""Projects: making, listing and deleting them, their settings, and the open stores of many."""

from __future__ import annotations

import json
import logging
import re
import shutil
import threading
import unicodedata
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from novelgen import errors
from novelgen.language.language import story_language
from novelgen.models.base import Model
from novelgen.models.position import require_project_id
from novelgen.models.user_file import CharactersConfig, Settings
from novelgen.words import words
from runtime.files.paths import ProjectPaths, write_text_atomically
from runtime.files.project_trust import Addresses, ProjectTrust, distrust, foreign_addresses, guarded, is_trusted, trust
from runtime.index.vector_index import IndexAccess
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores
from runtime.story.base import StoryBase

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor
    from langchain_core.embeddings import Embeddings

    from runtime.index.langchain_index import VectorStoreFactory

logger = logging.getLogger(__name__)


class MadeFiles(Model):
    """The files of a new project."""

    project_id: str
    language: str = Field(description="Empty: the first text tells.")
    chapters: Path = Field(description="Where finished chapters go.")
    made: list[Path] = Field(default_factory=list)
    kept: list[Path] = Field(default_factory=list, description="They were there and are left as they are.")


class ProjectOverview(Model):
    """A project's contents.

    `problem` is the reason of an unreadable one.
    """

    project_id: str
    name: str = ""
    language: str = ""
    scenes: int = 0
    memories: int = 0
    entities: int = 0
    problem: str = ""


def project_settings(projects_dir: Path, project_id: str, **overrides: Any) -> NovelgenSettings:
    """Return a project's settings from config.yaml, environment and caller.

    Addresses that config.yaml names get no key from elsewhere until the user trusts the project's folder.
    """
    paths = ProjectPaths(projects_dir, project_id)
    settings, own, addresses = _settings_and_addresses(paths, **overrides)
    if not addresses or is_trusted(paths.folder, addresses):
        return settings
    return guarded(settings, own, addresses, project_id=project_id)


def look_at_trust(projects_dir: Path, project_id: str, *, is_confirmed: bool | None = None) -> ProjectTrust:
    """Tell which addresses a project's config.yaml names, and confirm them or take that back.

    Args:
        projects_dir: Where the projects lie.
        project_id: The project.
        is_confirmed: Confirm them, or with False take that back; None only looks.
    """
    paths = ProjectPaths(projects_dir, project_id)
    if not paths.folder.is_dir():
        raise errors.UnknownProjectError(f"there is no project folder {str(paths.folder)!r}; see `novelgen projects`")
    _, _, addresses = _settings_and_addresses(paths)
    if is_confirmed:
        trust(paths.folder, addresses)
    elif is_confirmed is not None:
        distrust(paths.folder)
    return ProjectTrust(
        project_id=project_id,
        folder=paths.folder.resolve(),
        addresses=addresses,
        is_trusted=not addresses or is_trusted(paths.folder, addresses),
    )


def _settings_and_addresses(
    paths: ProjectPaths, **overrides: Any
) -> tuple[NovelgenSettings, NovelgenSettings, Addresses]:
    settings = load_settings(paths.config_file, projects_dir=paths.projects_dir, **overrides)
    own = load_settings(projects_dir=paths.projects_dir, **overrides) if paths.config_file.is_file() else settings
    return settings, own, foreign_addresses(settings, own, paths.folder)


class StoryProjects(StoryBase):
    """Projects: making, listing and deleting them, their settings, and whether one is known."""

    def make_project_files(self, *, name: str | None = None, language: str | None = None) -> MadeFiles:
        """Create missing project files, without storing."""
        paths = self._stores.paths(self.project_id)
        title = name or self.project_id
        # A Latin name says nothing: what language the story has is seen once text comes in.
        spoken_text = language or ("zh" if story_language(title) == "zh" else "")
        settings = Settings(project_name=title, language=spoken_text)
        contents = {
            paths.settings_file: _json(settings.model_dump(exclude={"extra"})),
            paths.characters_file: _json(CharactersConfig().model_dump(exclude={"extra"})),
            paths.config_file: config_template(spoken_text),
        }
        paths.chapters.mkdir(parents=True, exist_ok=True)
        files = MadeFiles(project_id=self.project_id, language=spoken_text, chapters=paths.chapters)
        for file, content in contents.items():
            (files.made if _was_made(file, content) else files.kept).append(file)
        return files

    def create_project(self, *, name: str | None = None, language: str | None = None) -> MadeFiles:
        """Make a project's folder and an empty memory."""
        self.require_new_project()
        files = self.make_project_files(name=name, language=language)
        self._stores.create_project(self.project_id, name=name or "", language=files.language)
        return files

    def init_project(self, *, language: str | None = None) -> MadeFiles:
        """Create a project's missing files and empty memory, changing nothing else."""
        files = self.make_project_files(language=language)
        if not self._stores.is_stored(self.project_id):
            self._stores.create_project(self.project_id, language=files.language)
        return files

    def require_new_project(self) -> None:
        """Refuse an id under which a project is stored already."""
        if self._stores.is_stored(self.project_id):
            raise errors.ProjectExistsError(f"project {self.project_id!r} exists already; choose another name")

    def describe_project(self) -> ProjectOverview:
        """Return a project's contents."""
        with self._stores.database(self.project_id).read() as unit:
            project = unit.projects.require()
            return ProjectOverview(
                project_id=self.project_id,
                name=project.name,
                language=project.language,
                scenes=len(unit.scenes.list_as_of()),
                memories=unit.memories.count(),
                entities=len(unit.entities.list_all()),
            )

    def require_stored(self) -> None:
        """Refuse a project of which nothing is stored."""
        self._stores.database(self.project_id)

    def require_project_files(self) -> None:
        """Reject an unknown project, accepting folders with failing stores."""
        if not self._stores.paths(self.project_id).hold_a_project:
            self._stores.database(self.project_id)

    def title_of_project(self) -> str:
        """Return a project's title, or its id without one."""
        with suppress(errors.UnknownProjectError), self._stores.database(self.project_id).read() as unit:
            return unit.projects.require().name or self.project_id
        return self.project_id

    def language_of_project(self) -> str:
        """Return a project's language by database or settings.json, or an empty text."""
        with self._stores.database(self.project_id).read() as unit:
            stored_text = unit.projects.require().language
        if stored_text:
            return stored_text
        from runtime.files.project_files import load_settings_file

        settings = load_settings_file(self._stores.paths(self.project_id).settings_file)
        return settings.language if settings is not None else ""

    def delete_project(self, *, confirm: str) -> DeletedProject:
        """Delete a project for good: its rows, its vector index and its folder with the author's files in it.

        Nothing of any other project is touched, be it in the same database. A deletion cut short is finished by
        another one. Whoever runs jobs on the project ends them first.
        """
        paths = self._stores.paths(self.project_id)
        if unicodedata.normalize("NFC", confirm) != paths.project_id:
            raise errors.UserInputError(
                f"{confirm[:100]!r} is not {paths.project_id!r}; write the project's id to confirm that it is deleted"
            )
        deleted = _what_goes(self._stores, paths)
        self._stores.delete_project(paths.project_id)
        try:
            _remove_folder(paths)
        except OSError as error:
            raise errors.ContextWriteError(
                f"the folder of project {paths.project_id!r} cannot be removed: {error.strerror or error}; "
                "delete it again"
            ) from error
        return deleted


def proposed_project_id(stores: MemoryStores, *, title: str) -> str:
    """Return an id for a new project, made of its title, that no project has."""
    taken_ids = {entity_id.casefold() for entity_id in list_project_ids(stores)}
    plain = " ".join(_NOT_IN_AN_ID.sub(" ", title).split())[:_LONGEST_PROPOSAL].strip(" .-")
    try:
        target = require_project_id(plain)
    except errors.InvalidProjectIdError:
        target = "story"
    numbered_names = (f"{target}-{number}" for number in count(2))
    return next(
        word for word in (target, *islice(numbered_names, len(taken_ids) + 1)) if word.casefold() not in taken_ids
    )


_NOT_IN_AN_ID = re.compile(r"[^\w\-. ]")
_LONGEST_PROPOSAL = 60


def list_project_ids(stores: MemoryStores) -> list[str]:
    """Return the ids of the stored projects, and of folders that wait for their first ingest, sorted."""
    projects_dir = stores.settings.projects_dir
    folders = projects_dir.iterdir() if projects_dir.is_dir() else ()
    waiting_ids = {path.name for path in folders if _is_project_folder(projects_dir, path.name)}
    return sorted(waiting_ids.union(stores.project_ids()))


_NOT_IN_THE_FILE = frozenset(
    {
        "projects_dir",
        "model_api_key",
        "embedding_api_key",
        "chroma_token",
        "chroma_headers",
        "server_token",
        "server_read_token",
        "server_at_once",
    }
)
"""The folder is known before the file is read, a server has many projects, and keys do not belong into one's files."""

_CONFIG_HEADER = """\
# Settings of this project. Every line is a default: take the "# " away to change it.
# The environment wins over this file: NOVELGEN_MODEL, NOVELGEN_MEMORY__MEMORY_BUDGET and so on.
# The key of a model belongs into the environment: NOVELGEN_MODEL_API_KEY, or the provider's own variable.
# So do those of a Chroma server: NOVELGEN_CHROMA_TOKEN, or NOVELGEN_CHROMA_HEADERS='{"X-Chroma-Token": "…"}'.
"""


def config_template(language: str) -> str:
    """Return the text of a config.yaml that holds every setting with its default, commented out and told in words."""
    statement = words("settings", "zh") if language == "zh" else {"": _CONFIG_HEADER}
    return statement[""] + "\n" + "\n".join(_config_lines(NovelgenSettings, statement, "")) + "\n"


def follow_language(paths: ProjectPaths, language: str) -> None:
    """Let the remarks of config.yaml be in the language that the first text told, while nobody has changed the file."""
    file = paths.config_file
    if language == "zh" and file.is_file() and file.read_bytes() == config_template("").encode():
        write_text_atomically(file, config_template(language), root=paths.folder)


def _config_lines(model: type[BaseModel], statements: Mapping[str, str], within: str) -> Iterator[str]:
    indent = "  " * within.count(".")
    for name, field in model.model_fields.items():
        if name in _NOT_IN_THE_FILE:
            continue
        if isinstance(field.default, BaseModel):
            yield f"# {indent}{name}:"
            yield from _config_lines(type(field.default), statements, f"{within}{name}.")
        else:
            remark = statements.get(within + name) or field.description
            default = sorted(field.default) if isinstance(field.default, frozenset) else field.default
            # JSON is YAML.
            yield f"# {indent}{name}: {json.dumps(default)}" + (f"  # {remark}" if remark else "")


def _was_made(file: Path, content: str) -> bool:
    """Write a missing file, and return whether it was written."""
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(content)
    except FileExistsError:
        return False
    return True


def _is_project_folder(projects_dir: Path, name: str) -> bool:
    try:
        return ProjectPaths(projects_dir, name).hold_a_project
    except errors.UserInputError:
        return False


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


TRASH_FOLDER = ".deleted"
"""Below the folder of the projects, where no project can be: a folder moves there at once and is removed after that."""


class DeletedProject(Model):
    """A project that is no more."""

    project_id: str
    scenes: int = Field(default=0, description="That it had.")
    memories: int = 0
    files: int = Field(default=0, description="That lay in its folder.")


def _what_goes(stores: MemoryStores, paths: ProjectPaths) -> DeletedProject:
    """Count the contents of a possibly half-deleted project."""
    files = sum(path.is_file() for path in paths.folder.rglob("*")) if paths.folder.is_dir() else 0
    deleted = DeletedProject(project_id=paths.project_id, files=files)
    try:
        with stores.database(paths.project_id).read() as unit:
            scenes, memories = unit.scenes.census().scenes, unit.memories.count()
    except errors.UnknownProjectError:
        if not paths.hold_a_project:
            raise
        return deleted
    except errors.DatabaseError:
        if stores.settings.database_url is not None:
            raise
        # A damaged file of its own cannot say what it holds; it goes with the others.
        return deleted
    return deleted.model_copy(update={"scenes": scenes, "memories": memories})


def _remove_folder(paths: ProjectPaths) -> None:
    """Remove a project's folder, and leftovers of earlier removals."""
    trash = paths.projects_dir / TRASH_FOLDER
    if paths.folder.is_symlink():
        # It leads to a folder that somebody put elsewhere; that one is not the project's to remove.
        paths.folder.unlink()
    elif paths.folder.is_dir():
        trash.mkdir(exist_ok=True)
        # In one step, so that a removal that is cut short leaves no half project behind.
        paths.folder.rename(trash / uuid.uuid4().hex)
    if not trash.is_dir():
        return
    try:
        shutil.rmtree(trash)
    except OSError as error:
        logger.warning(
            "files of deleted projects are still in %r, the next deletion removes them: %s", str(trash), error
        )


_FileMark = tuple[int, int] | None
"""When a file was written and how long it is; None where there is none."""


class ProjectStores:
    """Stores of projects, opened on demand, safe between threads."""

    def __init__(
        self,
        options: Mapping[str, Any],
        *,
        embeddings: Embeddings | None = None,
        vector_store: VectorStoreFactory | None = None,
        reranker: BaseDocumentCompressor | None = None,
    ) -> None:
        self._vector_store: IndexAccess | None = None
        if vector_store is not None:
            from runtime.index.same_process import SameProcessIndex

            self._vector_store = SameProcessIndex(vector_store)
        self._given = {name: value for name, value in options.items() if value is not None}
        self._embeddings = embeddings
        self._reranker = reranker
        self._lock = threading.Lock()
        own = load_settings(**self._given)
        # A project's config.yaml may say otherwise; projects whose settings are the same share what is open.
        self._opened: list[tuple[NovelgenSettings, MemoryStores]] = [(own, self._stores(own))]
        self._read: dict[str, tuple[_FileMark, MemoryStores]] = {}

    @property
    def settings(self) -> NovelgenSettings:
        """The settings that hold where no project's config.yaml says otherwise."""
        return self._opened[0][0]

    @property
    def common(self) -> MemoryStores:
        """The stores with those settings."""
        return self._opened[0][1]

    def of(self, project_id: str) -> MemoryStores:
        """Return the stores with a project's settings."""
        projects_dir = self.settings.projects_dir
        mark = _mark_of(ProjectPaths(projects_dir, project_id).config_file)
        project_stores = self._read.get(project_id)
        if project_stores is not None and project_stores[0] == mark:
            return project_stores[1]
        payload = {name: value for name, value in self._given.items() if name != "projects_dir"}
        stores = self._sharing(project_settings(projects_dir, project_id, **payload))
        self._read[project_id] = mark, stores
        return stores

    def overviews(self) -> list[ProjectOverview]:
        """Return the overview of each project, or the `problem` of an unreadable one."""
        return [self._overview(entity_id) for entity_id in list_project_ids(self.common)]

    def close(self, *, for_good: bool = False) -> None:
        """Close everything.

        See `MemoryStores.close`.
        """
        with self._lock:
            opened_stores = [stores for _, stores in self._opened]
        for stores in opened_stores:
            stores.close(for_good=for_good)

    def _overview(self, project_id: str) -> ProjectOverview:
        try:
            return StoryProjects(self.of(project_id), project_id).describe_project()
        except errors.ForeignDatabaseError as error:
            return ProjectOverview(project_id=project_id, problem=str(error))
        except errors.UnknownProjectError:
            return ProjectOverview(project_id=project_id, problem="nothing stored yet; ingest it")
        except errors.NovelgenError as error:
            return ProjectOverview(project_id=project_id, problem=f"cannot be read: {error}")

    def _sharing(self, settings: NovelgenSettings) -> MemoryStores:
        with self._lock:
            for known_novelgen_settings, stores in self._opened:
                if known_novelgen_settings == settings:
                    return stores
            opened_stores = self._stores(settings)
            self._opened.append((settings, opened_stores))
            return opened_stores

    def _stores(self, settings: NovelgenSettings) -> MemoryStores:
        return MemoryStores(
            settings, embeddings=self._embeddings, vector_store=self._vector_store, reranker=self._reranker
        )


def _mark_of(file: Path) -> _FileMark:
    try:
        stat_result = file.stat()
    except OSError:
        return None
    return stat_result.st_mtime_ns, stat_result.st_size
