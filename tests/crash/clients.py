"""Clients of a server that is killed: what they do, what was acknowledged to them, and whether it is all there."""

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import httpx

from novelgen.errors import NovelgenError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from runtime.care.checks import repair_index
from runtime.doors.http.problems import Problem
from runtime.ingest.indexing import verify_index
from runtime.ingest.scene_input import SceneInput
from runtime.storage.database import UnitOfWork
from runtime.stores import MemoryStores
from tests.support.marked_scenes import marked_contents, marked_scene, misplaced_marks, plan_for, position_of

logger = logging.getLogger(__name__)

Version = int | None
"""Which version of a scene stands at a place; None: no scene."""

ACTS = {"store": 4, "delete": 0.4, "context": 5}

LONGEST_ANSWER_S = 100.0
"""A server answers within 60 s and lets nobody wait longer than 10 s for a turn."""


class Refused(Exception):
    """A call was refused, as it may be; its message is the kind."""

    def __init__(self, kind: str, *, may_come_late: bool = False, retry_after_s: float = 0.0) -> None:
        super().__init__(kind)
        self.may_come_late = may_come_late
        self.retry_after_s = retry_after_s


class Ledger:
    """What stands where as far as was acknowledged; after an error either of two versions may."""

    def __init__(self) -> None:
        self.allowed: dict[tuple[int, int], set[Version]] = {}
        self._may_come_late: dict[tuple[int, int], set[Version]] = {}

    def settled(self) -> None:
        """Nothing can come late any more, as what was at it is gone."""
        self._may_come_late.clear()

    def version(self, project: int, place: int) -> Version:
        """Return the newest version that may stand there."""
        return max((each for each in self.allowed.get((project, place), ()) if each is not None), default=None)

    def newest(self) -> int:
        """Return the number of the newest version anywhere; 0 for none."""
        return max((each for known in self.allowed.values() for each in known if each is not None), default=0)

    def acknowledged(self, project: int, place: int, version: Version) -> None:
        """Only this version may stand there, or one that may still come."""
        self.allowed[project, place] = {version} | self._may_come_late.get((project, place), set())

    def uncertain(self, project: int, place: int, version: Version, *, may_come_late: bool = False) -> None:
        """This version may stand there as well: the call failed, which may mean done, or done later."""
        self.allowed.setdefault((project, place), {None}).add(version)
        if may_come_late:
            self._may_come_late.setdefault((project, place), set()).add(version)


class HttpDoor:
    """Calls a server, and looks at every answer: it is what the documentation says, or a clear refusal."""

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
        told = plan.model_dump(mode="json", exclude_unset=True)
        asked = {"chapter_index": at.chapter_index, "scene_index": at.scene_index, "scene_plan": told}
        answer = self.ask("POST", f"/v1/projects/{project_id}/context", asked)
        return SceneMemoryContext.model_validate_json(answer.content)

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request."""
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


def _scene_path(project_id: str, at: StoryPosition) -> str:
    return f"/v1/projects/{project_id}/scenes/{at.chapter_index}/{at.scene_index}"


class Client(threading.Thread):
    """Stores, edits and deletes scenes at places of its own, and asks for contexts anywhere."""

    def __init__(
        self,
        number: int,
        clients: int,
        *,
        door: HttpDoor,
        project_ids: Sequence[str],
        places: int,
        answered: threading.Semaphore,
        stop: threading.Event,
        seed: int | str,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__(name=f"client-{number}")
        self.ledger = Ledger() if ledger is None else ledger
        self.writes = 0
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._door = door
        self._project_ids = project_ids
        self._own_places = range(number, places, clients)
        self._places = places
        self._answered = answered
        self._stopped = stop
        self._dice = random.Random(f"{seed}/client/{number}")
        self._versions = self.ledger.newest()
        self._acts = {"store": self._store_scene, "delete": self._delete_scene, "context": self._build_context}

    def run(self) -> None:
        """Fill the own places, then act until stopped."""
        for turn in range(len(self._project_ids)):
            project = (turn + self._own_places.start) % len(self._project_ids)
            for place in self._own_places:
                self._attempt("fill", partial(self._store_at, project, place))
        while not self._stopped.is_set():
            act = self._dice.choices(list(ACTS), weights=list(ACTS.values()))[0]
            self._attempt(act, partial(self._acts[act], self._dice.randrange(len(self._project_ids))))

    def _attempt(self, name: str, act: Callable[[], None]) -> None:
        """Act unless stopped; an error that no caller should see is kept as a broken promise."""
        if self._stopped.is_set():
            return
        try:
            act()
        except Exception as error:
            logger.exception("%s raised", name)
            self.errors.append(f"{name}: {type(error).__name__}: {error}"[:500])

    def _store_scene(self, project: int) -> None:
        self._store_at(project, self._dice.choice(self._own_places))

    def _store_at(self, project: int, place: int) -> None:
        self._versions += 1
        version = self._versions
        is_new = self.ledger.version(project, place) is None
        scene = marked_scene(project, place, version)
        self._write(
            "ingest" if is_new else "edit",
            lambda: self._door.store(self._project_ids[project], scene),
            at=(project, place),
            version=version,
        )

    def _delete_scene(self, project: int) -> None:
        place = self._dice.choice(self._own_places)
        if self.ledger.allowed.get((project, place), {None}) & {None}:
            return
        self._write(
            "delete",
            lambda: self._door.delete(self._project_ids[project], position_of(place)),
            at=(project, place),
            version=None,
        )

    def _write(self, kind: str, write: Callable[[], object], *, at: tuple[int, int], version: Version) -> None:
        try:
            write()
        except Refused as refusal:
            self.ledger.uncertain(*at, version, may_come_late=refusal.may_come_late)
            self._take_refusal(kind, refusal)
        else:
            self.ledger.acknowledged(*at, version)
            self.writes += 1
            self._answered.release()

    def _take_refusal(self, kind: str, refusal: Refused) -> None:
        self.counts[f"{kind} refused: {refusal}"] += 1
        if refusal.may_come_late:
            # Nobody answers any more.
            self._stopped.set()
        self._stopped.wait(refusal.retry_after_s)

    def _build_context(self, project: int) -> None:
        place = self._dice.randrange(self._places)
        at = position_of(place)
        try:
            context = self._door.context(self._project_ids[project], at, plan_for(place, self._dice))
        except Refused as refusal:
            self._take_refusal("context", refusal)
            return
        foreign, late = misplaced_marks(context.model_dump_json(), project=project, before=place)
        if foreign or late:
            self.errors.append(f"the context of {at} held {foreign} memories of other projects, {late} of later scenes")


def check_project(
    stores: MemoryStores, project_id: str, project: int, allowed: dict[int, set[Version]]
) -> Counter[str]:
    """Read a project back, SQL and index, and compare it with the ledgers."""
    found: Counter[str] = Counter()
    with stores.database(project_id).read() as unit:
        for place, versions in allowed.items():
            _check_place(unit, project_id, project, place, versions, found)
        found["foreign rows"] += sum(
            misplaced_marks(chunk.content, project=project, before=None)[0]
            for chunk in unit.memories.by_ids(sorted(unit.memories.index_ids()))
        )
    try:
        repair_index(stores, project_id)
        verification = verify_index(stores, project_id)
    except NovelgenError:
        logger.exception("the index of %r cannot be repaired", project_id)
        found["index not repaired"] += 1
        return found
    found["index not repaired"] += not verification.is_sound
    return found


def _check_place(
    unit: UnitOfWork, project_id: str, project: int, place: int, versions: set[Version], found: Counter[str]
) -> None:
    at = position_of(place)
    stored = unit.scenes.get(at)
    chunks = unit.memories.of_scenes([(at.chapter_index, at.scene_index)])
    contents = sorted(chunk.content for chunk in chunks if chunk.content_type == "memory")
    found["checked"] += 1
    if stored is None:
        found["lost"] += None not in versions
        found["half applied"] += bool(contents)
        return
    standing = [
        version
        for version in versions
        if version is not None and stored.text == marked_scene(project, place, version).text
    ]
    found["lost"] += not standing
    found["half applied"] += bool(standing) and contents != sorted(marked_contents(project, place, standing[0]))
