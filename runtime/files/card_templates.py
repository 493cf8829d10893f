"""The card templates that a project may use: those that come with novelgen, and its author's own files."""

from __future__ import annotations

from pathlib import Path

from novelgen.card_templates import CardTemplate, read_card_template, shipped_templates
from runtime.files.file_reading import read_text_file
from runtime.files.paths import ProjectPaths

FOLDER = "card-templates"
"""Beside the projects, and in a project: a file there adds a template, or fields to the one of its name."""


def card_templates(paths: ProjectPaths) -> dict[str, CardTemplate]:
    """Return all templates by name: the shipped ones, with those of the projects' folder and of the project over them.

    Raises:
        InvalidFileError: When a file is no template; says which and why.
    """
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
