"""Building contexts for the command line: the chain over a project's stores, files and models."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from novelgen.chains.memory_context_chain import MemoryContextChain
from novelgen.deadlines import run_concurrently
from novelgen.errors import ConfigurationError, InvalidFileError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from novelgen.models.entity import Entity
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.user_file import Character, CharactersConfig
from novelgen.planning.scene_planning import known_story, language_of
from runtime.cli.opening import await_index, opened_stores, require_project_files
from runtime.cli.session import CliSession
from runtime.context_chain import build_context_chain
from runtime.memory_tools import StoryMemoryTools
from runtime.projects.files import load_characters, load_settings_file
from runtime.providers.unavailable_chat_model import UnavailableChatModel
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How contexts are built, as the command line says.

    Args:
        characters_file: The characters; None takes the project's own, else the stored entities.
        budgets: Names of settings to tokens; None leaves what is set.
        model: Chat model that plans, which must be had then; None takes that of the settings.
    """

    characters_file: Path | None = None
    budgets: Mapping[str, int | None] = field(default_factory=dict)
    model: str | None = None

    def given_budgets(self) -> dict[str, int] | None:
        """Return the budgets that the command line sets, or None when it sets none."""
        return {name: tokens for name, tokens in self.budgets.items() if tokens is not None} or None


class ContextBuilder:
    """Builds the contexts of one project.

    Args:
        stores: The project's stores.
        project_id: The project.
        options: Characters and model.
        write_files: Whether each context is written to its canonical file.

    Raises:
        InvalidFileError: When settings.json or the characters cannot be read.
        ConfigurationError: When the chat model cannot be built and must be had.
    """

    def __init__(
        self,
        stores: MemoryStores,
        project_id: str,
        options: BuildOptions,
        *,
        write_files: bool = True,
    ) -> None:
        self.stores = stores
        self.paths = paths = stores.paths(project_id)
        self._project_id = project_id
        self._timeout_s = stores.settings.memory.tool_timeout_s
        self._story_settings = load_settings_file(paths.settings_file)
        self._characters = _characters_of_files(options.characters_file, paths.characters_file)
        self._tools = StoryMemoryTools(stores)
        self._chain = _chain(stores, must_have_model=options.model is not None, write_files=write_files)

    def await_index(self) -> None:
        """Let the vector index start before the first context is built."""
        await_index(self.stores, self._project_id)

    def build(
        self,
        plan: ScenePlan,
        *,
        chapter_index: int,
        scene_index: int,
        chapter_plan: ChapterPlan | None = None,
    ) -> SceneMemoryContext:
        """Build the context of a planned scene; what fails inside stands in its report."""
        return self._chain.invoke(self.request(plan, chapter_index, scene_index, chapter_plan))

    def request(
        self, plan: ScenePlan, chapter_index: int, scene_index: int, chapter_plan: ChapterPlan | None = None
    ) -> MemoryContextRequest:
        """Return what the chain is asked for a planned scene."""
        characters = self._characters
        if characters is None:
            characters = self._stored_characters(StoryPosition(chapter_index, scene_index))
        return MemoryContextRequest(
            project_id=self._project_id,
            chapter_index=chapter_index,
            scene_index=scene_index,
            scene_plan=plan,
            characters=characters,
            settings=self._story_settings,
            chapter_plan=chapter_plan,
        )

    def language(self, plan: ScenePlan, chapter_index: int, scene_index: int) -> str:
        """Return the language of the story: as settings.json says, else as the plan is written."""
        request = self.request(plan, chapter_index, scene_index)
        return language_of(request, known_story(request, None))

    def _stored_characters(self, as_of: StoryPosition) -> CharactersConfig:
        """Return the characters that the story has shown; none where it cannot be read, as the chain reports."""

        def read() -> list[Entity]:
            return self._tools.outline(self._project_id, as_of=as_of).entities

        outcome = run_concurrently({"characters": read}, timeouts_s={"characters": self._timeout_s})[
            "characters"
        ]
        if outcome.error is not None:
            logger.info("the stored characters could not be read: %s", outcome.error)
        return characters_of_entities(outcome.value or [])


@contextmanager
def opened_builder(
    session: CliSession, project_id: str, options: BuildOptions, *, write_files: bool = True
) -> Iterator[ContextBuilder]:
    """Give the builder of a project's contexts, over its stores, which are closed at the end.

    Raises:
        UnknownProjectError: When there is no such project; nothing is created.
        InvalidFileError: When settings.json or the characters cannot be read.
        ConfigurationError: When a setting is wrong, or the model that was asked for cannot be built.
    """
    overrides = {"model": options.model, "memory": options.given_budgets()}
    with opened_stores(session, project_id, **overrides) as stores:
        require_project_files(stores, project_id)
        yield ContextBuilder(stores, project_id, options, write_files=write_files)


def characters_of_entities(entities: list[Entity]) -> CharactersConfig:
    """Return the characters among entities, as the story has shown them, in their order.

    The first whose role says so is the protagonist, likewise the antagonist.
    """
    people = [
        Character(
            name=entity.name,
            role=entity.role,
            background=entity.description,
            aliases=[alias.alias for alias in entity.aliases],
        )
        for entity in entities
        if entity.entity_type == "character"
    ]
    leads = {role: _first_with(people, words) for role, words in _LEADS.items()}
    others = [each for each in people if all(each is not lead for lead in leads.values())]
    return CharactersConfig(
        protagonist=leads["protagonist"], antagonist=leads["antagonist"], supporting_characters=others
    )


_LEADS = {"protagonist": ("protagonist", "主角", "主人公"), "antagonist": ("antagonist", "反派", "对手")}


def _first_with(people: list[Character], words: tuple[str, ...]) -> Character | None:
    return next((each for each in people if each.role.strip().lower() in words), None)


def _chain(stores: MemoryStores, *, must_have_model: bool, write_files: bool) -> MemoryContextChain:
    try:
        return build_context_chain(stores, write_files=write_files)
    except ConfigurationError as error:
        if must_have_model:
            raise
        model = UnavailableChatModel(reason=str(error))
        return build_context_chain(stores, model=model, write_files=write_files)


def _characters_of_files(given: Path | None, own: Path) -> CharactersConfig | None:
    if given is None:
        return load_characters(own)
    characters = load_characters(given)
    if characters is None:
        raise InvalidFileError(f"there is no file {str(given)!r} with characters; correct --characters")
    return characters
