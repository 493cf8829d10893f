"""Paths of a project's files, and atomic writes."""

import contextlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from novelgen.errors import ContextWriteError
from novelgen.models.position import require_project_id


class ProjectPaths:
    """Paths of one project below the projects folder."""

    def __init__(self, projects_dir: Path, project_id: str) -> None:
        self.project_id = require_project_id(project_id)
        self.projects_dir = projects_dir
        self.folder = projects_dir / self.project_id
        self.data = self.folder / "data"
        """Folder of the stores."""
        self.database = self.data / "novel.db"
        """The SQLite file."""
        self.vectors = self.data / "vectors"
        """Folder of the embedded Chroma index."""
        self.chapters = self.folder / "chapters"
        """Folder of chapters and chapter plans."""
        self.records = self.folder / "records"
        """Folder of supplied scene records."""
        self.characters_file = self.folder / "characters.json"
        """The author's characters."""
        self.entities_file = self.folder / "entities.json"
        """Entities with ids and aliases, as supplied."""
        self.chapter_memory_file = self.folder / "chapter_memory.json"
        """What novel-gen remembered of each chapter."""
        self.settings_file = self.folder / "settings.json"
        """What the story says of itself."""
        self.avoided_file = self.folder / "avoid.txt"
        """Words that the author wants to avoid, one a line; what begins with # is a remark."""
        self.config_file = self.folder / "config.yaml"
        """Program settings of this project."""

    @property
    def hold_a_project(self) -> bool:
        """Whether the folder looks like a project, stored or not."""
        signs = (self.settings_file, self.config_file, self.characters_file, self.chapters, self.data)
        return any(sign.exists() for sign in signs)

    def chapter_plan_file(self, chapter_index: int) -> Path:
        """The plan of a chapter: `chapters/chapter_NNN_plan.json`."""
        return self.chapters / f"chapter_{chapter_index:03d}_plan.json"

    def context_file(self, chapter_index: int, scene_index: int) -> Path:
        """The context of a scene, numbers unpadded: `scene_<chapter>_<scene>_memory.json`."""
        return self.folder / f"scene_{chapter_index}_{scene_index}_memory.json"


DEMOS = ("demo", "demo-zh")
"""Stories that come with the program."""


def demo_folder(project_id: str) -> Path | None:
    """Return the folder of a bundled story, or None."""
    runtime = Path(__file__).parents[1]
    folders = (runtime / "_demos" / project_id, runtime.parent / "projects" / project_id)
    return next((path for path in folders if project_id in DEMOS and path.is_dir()), None)


def bring_demo(paths: ProjectPaths) -> bool:
    """Create a bundled story's folder, and return whether it is one."""
    demo = demo_folder(paths.project_id)
    if demo is not None:
        shutil.copytree(demo, paths.folder, ignore=shutil.ignore_patterns("data", "scene_*", "README.md"))
    return demo is not None


def write_text_atomically(path: Path, text: str, *, root: Path) -> None:
    """Write a file by temporary file, fsync, rename and fsync of the folder.

    Readers see the old file or the new one, never a part. A link that leads out of `root` is refused.
    """
    try:
        resolved_root = root.resolve()
        parent = path.parent.resolve()
        if parent != resolved_root and resolved_root not in parent.parents:
            raise ContextWriteError(f"{str(path)!r} lies outside {str(root)!r}; remove the link that leads there")
        if path.is_symlink():
            raise ContextWriteError(f"{str(path)!r} is a link; remove it, so that a file can be written in its place")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise ContextWriteError(
            f"cannot write {str(path)!r}: {error.strerror or error}; check space and rights"
        ) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, by temporary file, fsync and rename.

    Raises:
        OSError: When it cannot be written.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    """Return the process's umask, which only setting it reveals."""
    with _umask_lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


_umask_lock = threading.Lock()

_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])(?:/[^\s/'\"`:;,]+){2,}/?|(?<!\w)[A-Za-z]:\\[^\s'\"`:;,]+")


def without_paths(message: str, *, folders: Sequence[Path] = ()) -> str:
    """Return a message without paths of this machine: of each its last part stays."""
    for folder in folders:
        for path in {str(folder.absolute()), str(folder.resolve())}:
            if len(path) > 1:
                message = message.replace(path, "the projects folder")
    return _ABSOLUTE_PATH.sub(lambda match: "…/" + re.split(r"[/\\]", match[0].rstrip("/\\"))[-1], message)
