"""The clients of the soak: what they do, what was acknowledged to them, and whether it is all there at the end."""

import logging
import random
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from novelgen.errors import NovelgenError
from runtime.care.checks import repair_index
from runtime.ingest.indexing import verify_index
from runtime.storage.database import UnitOfWork
from runtime.stores import MemoryStores
from tests.benchmarks.marked_scenes import marked_contents, marked_scene, misplaced_marks, plan_for, position_of
from tests.benchmarks.soak_faults import Refused
from tests.benchmarks.soak_subjects import Door

logger = logging.getLogger(__name__)

Version = int | None
"""Which version of a scene stands at a place; None: no scene."""

ACTS = {"store": 4, "delete": 0.4, "context": 5}


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


class Client(threading.Thread):
    """Stores, edits and deletes scenes at places of its own, and asks for contexts anywhere.

    Args:
        number: Of this client, from 0; it owns every place whose number leaves it as remainder.
        clients: How many there are.
        door: How it reaches the memory.
        project_ids: The projects; all clients work on all of them.
        places: Scenes per project.
        stop: Ends it.
        seed: Of what it does.
        ledger: What stands where before; None is nothing.
    """

    def __init__(
        self,
        number: int,
        clients: int,
        *,
        door: Door,
        project_ids: Sequence[str],
        places: int,
        stop: threading.Event,
        seed: int | str,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__(name=f"soak-client-{number}")
        self.ledger = Ledger() if ledger is None else ledger
        self.times_s: dict[str, array[float]] = {name: array("f") for name in ("ingest", "edit", "delete", "context")}
        self.counts: Counter[str] = Counter()
        self.issues: Counter[str] = Counter()
        self.errors: list[str] = []
        self._door = door
        self._project_ids = project_ids
        self._own_places = range(number, places, clients)
        self._places = places
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
        started_s = time.monotonic()
        try:
            write()
        except Refused as refusal:
            self.ledger.uncertain(*at, version, may_come_late=refusal.may_come_late)
            self._take_refusal(kind, refusal)
        else:
            self.ledger.acknowledged(*at, version)
            self.times_s[kind].append(time.monotonic() - started_s)

    def _take_refusal(self, kind: str, refusal: Refused) -> None:
        self.counts[f"{kind} refused: {refusal}"] += 1
        self._stopped.wait(refusal.retry_after_s)

    def _build_context(self, project: int) -> None:
        place = self._dice.randrange(self._places)
        at = position_of(place)
        started_s = time.monotonic()
        try:
            context = self._door.context(self._project_ids[project], at, plan_for(place, self._dice))
        except Refused as refusal:
            self._take_refusal("context", refusal)
            return
        self.times_s["context"].append(time.monotonic() - started_s)
        foreign, late = misplaced_marks(context.model_dump_json(), project=project, before=place)
        self.counts["foreign rows"] += foreign
        self.counts["rows of later scenes"] += late
        self.counts["memories returned"] += len(context.relevant_memories)
        self.counts["entity states returned"] += len(context.entity_states)
        for issue in context.report.issues if context.report else []:
            self.issues[f"{issue.stage}: {issue.kind}"] += 1


def check_project(
    stores: MemoryStores, project_id: str, project: int, allowed: dict[int, set[Version]]
) -> Counter[str]:
    """Read a project back, SQL and index, and compare it with the ledgers.

    Args:
        stores: The stores, with nobody else at work.
        project_id: The project.
        project: Its number in the marks.
        allowed: Per place which versions may stand there; at other places nothing may.

    Returns:
        Counts of `checked`, `lost`, `half applied`, `foreign rows`, `index not repaired`; 0 is good but for the first.
    """
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
    found["indexed"] = verification.rows
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
