"""Making the folder of a new project."""

from __future__ import annotations

import json
from pathlib import Path

from novelgen.models.user_file import CharactersConfig, Settings
from runtime.cli.config_template import config_template
from runtime.cli.output import print_text
from runtime.cli.session import CliSession
from runtime.projects.paths import ProjectPaths


def init_project(session: CliSession, project_id: str, *, language: str) -> None:
    """Make what a project's folder lacks and say what was made; what is there is left as it is."""
    paths = ProjectPaths(session.projects_dir, project_id)
    settings = Settings(project_name=project_id, language=language)
    paths.chapters.mkdir(parents=True, exist_ok=True)
    contents = {
        paths.settings_file: _json(settings.model_dump(exclude={"extra"})),
        paths.characters_file: _json(CharactersConfig().model_dump(exclude={"extra"})),
        paths.config_file: config_template(),
    }
    for file, content in contents.items():
        print_text(f"{'made' if _made(file, content) else 'kept'}  {file}")
    print_text(f"\nPut finished chapters into {paths.chapters} as chapter_001.json, .txt or .md, then run:")
    print_text(f"  novelgen ingest {project_id}")


def _made(file: Path, content: str) -> bool:
    """Write a file that is not there yet; tell whether it was written."""
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(content)
    except FileExistsError:
        return False
    return True


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
