"""Real stores in a temporary folder, with embeddings that count characters."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from runtime.settings import load_settings
from runtime.stores import MemoryStores

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, module_database_url: str | None) -> Iterator[MemoryStores]:
    """Stores without any project, on either database."""
    folder = tmp_path_factory.mktemp("projects")
    settings = load_settings(
        projects_dir=folder, memory={"embedding_model": "fake:32"}, database_url=module_database_url
    )
    with MemoryStores(settings) as opened:
        yield opened


@pytest.fixture
def new_project(stores: MemoryStores) -> Callable[[], str]:
    """Make an empty project of its own and return its id; all of a module share one index process."""

    def create() -> str:
        project_id = f"story-{next(_numbers)}"
        stores.create_project(project_id)
        shared_index = stores.settings.projects_dir / "shared_index"
        shared_index.mkdir(exist_ok=True)
        vectors = stores.paths(project_id).vectors
        vectors.parent.mkdir(parents=True, exist_ok=True)
        vectors.symlink_to(shared_index)
        return project_id

    return create


@pytest.fixture
def project(new_project: Callable[[], str]) -> str:
    """An empty project."""
    return new_project()
