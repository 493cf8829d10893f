"""Which fields the cards of a story have: its template, chosen among those that come along and the author's own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field

from novelgen.card_templates import KINDS, CardTemplate, read_card_template, shipped_templates, template_of
from novelgen.context.labels import labels_for
from novelgen.language.language import StoryLanguage, story_language
from novelgen.models.entity import EntityType
from runtime.files.file_reading import read_text_file
from runtime.files.paths import ProjectPaths
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores
from runtime.story.base import Name, StoryBase, async_twin

FOLDER = "card-templates"
"""Beside the projects, and in a project: a file there adds a template, or fields to the one of its name."""

TEMPLATE_SETTING = "card_template"
"""Key of the project's stored settings: the template that its author chose."""


class OfferedField(BaseModel):
    """A field that a card may have."""

    kind: EntityType
    name: str = Field(description="In the story's language; the other language's name is understood, too.")
    kept_as: str = Field(description="How it stands on the card.")
    changes: bool = Field(description="Whether it is an attribute of the state, which may change with the story.")
    card: EntityType | None = Field(description="Its value is the name of a card of this kind.")
    many: bool


class OfferedTemplate(BaseModel):
    """A template that may be chosen."""

    name: str
    title: str
    is_chosen: bool
    fields: list[OfferedField] = Field(description="Those that it has itself; `plain` holds for every card.")


class CardTemplates(BaseModel):
    """The templates that a project may choose from, and the fields that its cards have with the chosen one."""

    chosen: str = Field(description="Name of the template; plain where none was chosen.")
    templates: list[OfferedTemplate]
    fields: list[OfferedField]
    folders: list[str] = Field(description="Where own templates are put, as TOML files.")


class StoryCardTemplates(StoryBase):
    """Which fields the cards of a story have."""

    def card_templates(self) -> CardTemplates:
        """Tell which fields the cards of this story have, and which templates there are to choose from."""
        paths = self._stores.paths(self.project_id)
        offered = templates_of(paths)
        with self._stores.database(self.project_id).read() as unit:
            language, chosen = card_language(unit), chosen_name(self._stores, unit=unit)
        return CardTemplates(
            chosen=chosen,
            templates=[
                OfferedTemplate(
                    name=name,
                    title=each.called(language),
                    is_chosen=name == chosen,
                    fields=_offered_fields(each, language),
                )
                for name, each in offered.items()
            ],
            fields=_offered_fields(template_of(chosen, offered), language),
            folders=[str(each) for each in template_folders(paths)],
        )

    def use_card_template(self, name: Name) -> CardTemplates:
        """Choose the template that says which fields the cards of this story have; what cards hold already stays.

        Args:
            name: xianxia, mystery, romance, plain, or one of your own; its title is understood, too.

        Raises:
            UserInputError: When there is none of that name.
        """
        offered = templates_of(self._stores.paths(self.project_id))
        template_of(name, offered)
        chosen = name if name in offered else next(key for key, each in offered.items() if name in each.titles())
        with self._stores.database(self.project_id).write() as unit:
            unit.projects.update(settings={**unit.projects.require().settings, TEMPLATE_SETTING: chosen})
        return self.card_templates()

    acard_templates = async_twin(card_templates)
    ause_card_template = async_twin(use_card_template)


def chosen_template(
    stores: MemoryStores, project_id: str, *, unit: UnitOfWork, name: str | None = None
) -> CardTemplate:
    """Return the template of a project, or the one that is named, with the fields of every card."""
    return template_of(name or chosen_name(stores, unit=unit), templates_of(stores.paths(project_id)))


def chosen_name(stores: MemoryStores, *, unit: UnitOfWork) -> str:
    """Return the name of a project's template: as its author chose it, else as the settings have it."""
    told = unit.projects.require().settings.get(TEMPLATE_SETTING) or stores.settings.card_template
    return str(told)


def card_language(unit: UnitOfWork) -> StoryLanguage:
    """Return the language in which a story's fields are named."""
    project = unit.projects.require()
    if not project.language:
        return story_language(project.name)
    return "zh" if labels_for(project.language).language == "zh" else "en"


def _offered_fields(template: CardTemplate, language: str) -> list[OfferedField]:
    return [
        OfferedField(
            kind=kind,
            name=field.called(language),
            kept_as=field.kept_as(language),
            changes=field.changes,
            card=field.card,
            many=field.many,
        )
        for kind in KINDS
        for field in template.fields(kind)
    ]


def templates_of(paths: ProjectPaths) -> dict[str, CardTemplate]:
    """Return all templates by name: the shipped ones, with those of the projects' folder and of the project over them."""
    found = dict(shipped_templates())
    for folder in template_folders(paths):
        for file in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            own = read_card_template(read_text_file(file), where=repr(str(file)))
            name = file.stem
            found[name] = found[name].with_fields_of(own) if name in found else own
    return found


def template_folders(paths: ProjectPaths) -> tuple[Path, Path]:
    """Return where an author's templates lie: of all projects, and of this one."""
    return paths.projects_dir / FOLDER, paths.folder / FOLDER
