"""Where a project's files live."""

from __future__ import annotations

from pathlib import Path

from novelgen.models.position import require_project_id


class ProjectPaths:
    """Paths of one project below the projects folder."""

    def __init__(self, projects_dir: Path, project_id: str) -> None:
        self.project_id = require_project_id(project_id)
        self.projects_dir = projects_dir
        self.folder = projects_dir / self.project_id

    @property
    def data(self) -> Path:
        """Folder of the stores."""
        return self.folder / "data"

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.data / "novel.db"

    @property
    def vectors(self) -> Path:
        """Folder of the embedded Chroma index."""
        return self.data / "vectors"

    @property
    def chapters(self) -> Path:
        """Folder of chapters and chapter plans."""
        return self.folder / "chapters"

    @property
    def records(self) -> Path:
        """Folder of supplied scene records."""
        return self.folder / "records"

    @property
    def characters_file(self) -> Path:
        """The author's characters."""
        return self.folder / "characters.json"

    @property
    def entities_file(self) -> Path:
        """Entities with ids and aliases, as supplied."""
        return self.folder / "entities.json"

    @property
    def chapter_memory_file(self) -> Path:
        """What novel-gen remembered of each chapter."""
        return self.folder / "chapter_memory.json"

    @property
    def settings_file(self) -> Path:
        """What the story says of itself."""
        return self.folder / "settings.json"

    @property
    def config_file(self) -> Path:
        """Program settings of this project."""
        return self.folder / "config.yaml"

    def chapter_plan_file(self, chapter_index: int) -> Path:
        """The plan of a chapter: `chapters/chapter_NNN_plan.json`."""
        return self.chapters / f"chapter_{chapter_index:03d}_plan.json"

    def context_file(self, chapter_index: int, scene_index: int) -> Path:
        """The context of a scene, numbers unpadded: `scene_<chapter>_<scene>_memory.json`."""
        return self.folder / f"scene_{chapter_index}_{scene_index}_memory.json"
