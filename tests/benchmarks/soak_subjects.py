"""What the soak works on: the stores of this program, or a real server that is asked over HTTP."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx

from novelgen.errors import NovelgenError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from runtime.care.checks import repair_index
from runtime.context_chain import build_context_chain
from runtime.doors.http.problems import Problem
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.settings import NovelgenSettings
from runtime.story.scenes import StoryScenes
from tests.benchmarks.soak_faults import FlakyChatModel, FlakyStores, Harmed, Outages, Refused
from tests.support.served_process import ServedProcess

Result = TypeVar("Result")

LONGEST_ANSWER_S = 100.0
"""A server answers within 60 s and lets nobody wait longer than 10 s for a turn."""


class Door(Protocol):
    """How one client reaches the memory; errors other than Refused break a promise."""

    def store(self, project_id: str, scene: SceneInput) -> None:
        """Store a scene, or replace it."""

    def delete(self, project_id: str, at: StoryPosition) -> None:
        """Delete a scene."""

    def context(self, project_id: str, at: StoryPosition, plan: ScenePlan) -> SceneMemoryContext:
        """Build the context of a planned scene."""


class Subject(Harmed, Protocol):
    """What is soaked, and where it can be harmed."""

    def door(self) -> Door:
        """Return a door for one client."""

    def close(self) -> list[str]:
        """End it; return what should not have happened."""


class StoresSubject:
    """The stores of this program, shared by all clients.

    Args:
        settings: Of the stores.
        outages: Switches of the providers.
    """

    def __init__(self, settings: NovelgenSettings, outages: Outages) -> None:
        self.pid = os.getpid()
        self.stores = FlakyStores(settings, outages)
        self._chain = build_context_chain(self.stores, model=FlakyChatModel(outages=outages))

    def door(self) -> Door:
        """Return a door for one client."""
        return self

    def store(self, project_id: str, scene: SceneInput) -> None:
        """Store a scene, or replace it."""
        _refusing(lambda: ingest_scene(self.stores, project_id, scene))

    def delete(self, project_id: str, at: StoryPosition) -> None:
        """Delete a scene."""
        _refusing(lambda: StoryScenes(self.stores, project_id).delete_scene(at))

    def context(self, project_id: str, at: StoryPosition, plan: ScenePlan) -> SceneMemoryContext:
        """Build the context of a planned scene; it may degrade, and never raise."""
        return self._chain.invoke({**_context_request(at, plan), "project_id": project_id})

    def repair(self, project_id: str) -> bool:
        """Repair a project's index; whether it was rebuilt."""
        findings = _refusing(lambda: repair_index(self.stores, project_id))
        return any("rebuilt" in finding.message for finding in findings)

    def close(self) -> list[str]:
        """Close the stores."""
        self.stores.close()
        return []


class ServerSubject:
    """A server process.

    Args:
        settings: Of its stores; the folder holds the projects already.
        model_url: Of an OpenAI-compatible chat model.
        log: Takes what the server logs.
    """

    def __init__(self, settings: NovelgenSettings, *, model_url: str, log: Path) -> None:
        self._server = ServedProcess(settings.projects_dir, _environment(settings, model_url), log=log)
        self.pid = self._server.pid

    def door(self) -> Door:
        """Return a door for one client."""
        return HttpDoor(self._server.url)

    def repair(self, project_id: str) -> bool:
        """Let the server repair a project's index; whether it was rebuilt."""
        diagnosis = HttpDoor(self._server.url).ask("POST", f"/v1/projects/{project_id}/doctor").json()
        return any("rebuilt" in each["message"] for each in diagnosis["repairs"])

    def close(self) -> list[str]:
        """End the server as its owner would."""
        if not self._server.is_alive:
            return ["the server ended by itself"]
        code, taken_s = self._server.end()
        return [] if code == 0 else [f"the server ended with {code} after {taken_s:.1f} s"]


class HttpDoor:
    """Calls a server, and looks at every answer: it is what the documentation says, or a clear refusal.

    Args:
        url: Of the server.
    """

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=LONGEST_ANSWER_S)

    def store(self, project_id: str, scene: SceneInput) -> None:
        """Store a scene, or replace it."""
        assert scene.record is not None
        body = {"text": scene.text, "record": scene.record.model_dump(mode="json", exclude_unset=True)}
        self.ask("PUT", _scene_path(project_id, StoryPosition(scene.chapter_index, scene.scene_index)), body)

    def delete(self, project_id: str, at: StoryPosition) -> None:
        """Delete a scene."""
        self.ask("DELETE", _scene_path(project_id, at))

    def context(self, project_id: str, at: StoryPosition, plan: ScenePlan) -> SceneMemoryContext:
        """Build the context of a planned scene."""
        answer = self.ask("POST", f"/v1/projects/{project_id}/context", _context_request(at, plan))
        return SceneMemoryContext.model_validate_json(answer.content)

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request.

        Raises:
            Refused: When the server says no, clearly, or gives no answer.
            AssertionError: When it says no in another way, or has a bug.
        """
        try:
            answer = self._client.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise Refused(f"no answer: {type(error).__name__}", may_come_late=True) from error
        if answer.is_success:
            return answer
        told = answer.text[:300]
        assert answer.status_code != 500, told
        assert answer.headers["content-type"] == "application/problem+json", told
        problem = Problem.model_validate_json(answer.content)
        assert problem.status == answer.status_code, told
        assert problem.detail, told
        retry_after = answer.headers.get("retry-after", "0")
        assert answer.status_code not in (429, 503) or int(retry_after) > 0, told
        raise Refused(
            f"{answer.status_code} {problem.type.rpartition(':')[2]}",
            may_come_late=answer.status_code == 504,
            retry_after_s=float(retry_after),
        )


def _refusing(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except NovelgenError as error:
        raise Refused(type(error).__name__) from error


def _context_request(at: StoryPosition, plan: ScenePlan) -> dict[str, Any]:
    told = plan.model_dump(mode="json", exclude_unset=True)
    return {"chapter_index": at.chapter_index, "scene_index": at.scene_index, "scene_plan": told}


def _scene_path(project_id: str, at: StoryPosition) -> str:
    return f"/v1/projects/{project_id}/scenes/{at.chapter_index}/{at.scene_index}"


def _environment(settings: NovelgenSettings, model_url: str) -> dict[str, str]:
    told = {
        "NOVELGEN_MODEL": "openai:stub",
        "NOVELGEN_MODEL_BASE_URL": model_url,
        "NOVELGEN_MEMORY__EMBEDDING_MODEL": settings.memory.embedding_model,
        "NOVELGEN_MEMORY__EMBEDDING_BASE_URL": settings.memory.embedding_base_url or "",
        # As the documentation of a program that runs for long says.
        "MALLOC_ARENA_MAX": os.environ.get("MALLOC_ARENA_MAX", "2"),
    }
    if settings.memory.vector_store.url is not None:
        told["NOVELGEN_MEMORY__VECTOR_STORE__URL"] = settings.memory.vector_store.url
    if settings.database_url is not None:
        told["NOVELGEN_DATABASE_URL"] = settings.database_url
    return told
