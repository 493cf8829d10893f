"""Files of a project folder that travel beside the exported memory: settings, characters, word lists and plans."""

from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

from runtime.files.paths import ProjectPaths

_PLANS = "chapters/*_plan.json"


class CompanionCopy(NamedTuple):
    """The companion files that an import took, and those that it left for the project's own."""

    taken: list[str]
    kept: list[str]


def companion_files(folder: Path, paths: ProjectPaths) -> list[str]:
    """Return the companion files in a folder, as paths below it.

    Args:
        folder: A project folder, or a folder that an export wrote.
        paths: The project, for the names of its files.
    """
    names = [file.name for file in (paths.settings_file, paths.characters_file, paths.avoided_file)]
    plans = sorted(file.relative_to(folder).as_posix() for file in folder.glob(_PLANS))
    return [name for name in (*names, *plans) if (folder / name).is_file() and not (folder / name).is_symlink()]


def take_companions(source: Path, paths: ProjectPaths) -> CompanionCopy:
    """Copy companion files into a project, keeping different existing ones."""
    copy = CompanionCopy([], [])
    for name in companion_files(source, paths):
        target = paths.folder / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(source / name, target)
            copy.taken.append(name)
        elif target.read_bytes() != (source / name).read_bytes():
            copy.kept.append(name)
    return copy
