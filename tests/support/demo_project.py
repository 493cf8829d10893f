"""The demo projects, ingested once for a test session with embeddings that hash characters."""

import json
import shutil
from pathlib import Path
from typing import Any

from novelgen.models.context import MemoryContextRequest
from novelgen.models.plan import ChapterPlan, ScenePlan
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import (
    chapter_files,
    load_chapter,
    load_characters,
    load_entities,
    load_records,
    record_files,
)
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput, scenes_of_chapter
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores

SHIPPED_PROJECTS = Path(__file__).parents[2] / "projects"
DEMOS = ("demo", "demo-zh")
FAKE_MEMORY = {"embedding_model": "fake:64"}


def settings_for(projects_dir: Path, **memory: Any) -> NovelgenSettings:
    """Return settings with fake embeddings over a projects folder, and time enough for a loaded machine."""
    patient = {"tool_timeout_s": 60.0, "chain_timeout_s": 120.0, "vector_store": {"write_timeout_s": 60.0}}
    return load_settings(projects_dir=projects_dir, memory={**FAKE_MEMORY, **patient, **memory})


def copy_shipped_demos(projects_dir: Path) -> None:
    """Copy the shipped demo projects without any data that a run may have left in them."""
    ignored = shutil.ignore_patterns("data", "scene_*_memory.json")
    for name in DEMOS:
        shutil.copytree(SHIPPED_PROJECTS / name, projects_dir / name, ignore=ignored)


def ingest_demo(stores: MemoryStores, project_id: str, *, records: bool = True) -> None:
    """Take a copied demo project in, with its entities and records or by its text alone."""
    paths = stores.paths(project_id)
    language = json.loads(paths.settings_file.read_text(encoding="utf-8"))["language"]
    stores.ensure_project(project_id, name=project_id, language=language)
    if records:
        entities = load_entities(paths.entities_file)
        store_entities(stores, project_id, entities, characters=load_characters(paths.characters_file))
    ingest_scenes(stores, project_id, demo_scenes(paths, records=records))


def demo_scenes(paths: ProjectPaths, *, records: bool = True) -> list[SceneInput]:
    """Return the scenes of a copied demo project in story order, with their records or by their text alone."""
    supplied = record_files(paths.records) if records else {}
    return [
        scene
        for number, file in chapter_files(paths.chapters).items()
        for scene in scenes_of_chapter(load_chapter(file), load_records(supplied[number]) if number in supplied else [])
    ]


def demo_request(project_id: str, chapter_index: int, scene_index: int) -> MemoryContextRequest:
    """Return the shipped plan of a demo scene as a request."""
    file = SHIPPED_PROJECTS / project_id / "chapters" / f"chapter_{chapter_index:03d}_plan.json"
    plan = ChapterPlan.model_validate_json(file.read_text(encoding="utf-8"))
    scene_plan = plan.scene(scene_index)
    assert isinstance(scene_plan, ScenePlan)
    return MemoryContextRequest(
        project_id=project_id, chapter_index=chapter_index, scene_index=scene_index, scene_plan=scene_plan
    )
