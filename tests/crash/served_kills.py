"""Kills a real server under load, again and again, and compares what it stored with what it answered.

`python -m tests.crash.served_kills --kills 100` prints what it came to, and ends with 1 when a promise is broken. Every
second end is a SIGTERM, the others are SIGKILL.
"""

import argparse
import random
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.crash.clients import Client, HttpDoor, Ledger, Version, check_project
from tests.support.marked_scenes import position_of
from tests.support.served_process import FAKE_EMBEDDINGS, ServedProcess

PROJECTS = ("killed-a", "killed-b")
PLACES = 30
CLIENTS = 5
MOST_WRITES = 25
"""Writes that a server answers before it is killed, at most."""
GUARD_S = 120.0


@dataclass
class ServedKillReport:
    """What a run of kills came to."""

    kills: int
    writes: int = 0
    ends_s: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)

    @property
    def holds(self) -> bool:
        """Whether no promise was broken."""
        wrong = ("lost", "half applied", "foreign rows", "index not repaired")
        return not self.broken and not any(self.found[each] for each in wrong)


def kill_servers(folder: Path, *, seed: int, kills: int) -> ServedKillReport:
    """Start a server so often, let clients write and read, and kill it in the middle."""
    chance = random.Random(seed)
    report = ServedKillReport(kills)
    ledgers = [Ledger() for _ in range(CLIENTS)]
    for life in range(kills):
        server = ServedProcess(folder)
        _require_listed(server.url, ledgers, report, is_new=life == 0)
        answered, stop = threading.Semaphore(0), threading.Event()
        clients = [
            Client(
                number,
                CLIENTS,
                door=HttpDoor(server.url),
                answered=answered,
                project_ids=PROJECTS,
                places=PLACES,
                stop=stop,
                seed=f"{seed}/{life}",
                ledger=ledger,
            )
            for number, ledger in enumerate(ledgers)
        ]
        for client in clients:
            client.start()
        for _ in range(chance.randint(1, MOST_WRITES)):
            if not answered.acquire(timeout=GUARD_S):
                report.broken.append(f"life {life}: no write was answered for {GUARD_S:g} s")
                break
        _end(server, life, report)
        stop.set()
        for client in clients:
            client.join(GUARD_S)
            client.ledger.settled()
            report.writes += client.writes
            report.refusals += client.counts
            report.broken += client.errors
    report.found = _checked(folder, ledgers)
    return report


def _end(server: ServedProcess, life: int, report: ServedKillReport) -> None:
    if life % 2:
        server.end(signal.SIGKILL)
        return
    code, taken_s = server.end(signal.SIGTERM)
    report.ends_s.append(taken_s)
    if code != 0:
        report.broken.append(f"life {life}: ended with {code}")


def _require_listed(url: str, ledgers: Sequence[Ledger], report: ServedKillReport, *, is_new: bool) -> None:
    """Look at once whether the next server tells of every scene that the last one answered for."""
    door = HttpDoor(url)
    for number, project_id in enumerate(PROJECTS):
        if is_new:
            door.ask("POST", "/v1/projects", {"project_id": project_id, "language": "en"})
        listed = door.ask("GET", f"/v1/projects/{project_id}/scenes").json()["scenes"]
        places = {(each["scene"]["chapter_index"], each["scene"]["scene_index"]) for each in listed}
        for place, versions in _allowed(ledgers, number).items():
            at = position_of(place)
            if None not in versions and (at.chapter_index, at.scene_index) not in places:
                report.broken.append(f"scene {at} of {project_id} was answered for and is not there")


def _allowed(ledgers: Sequence[Ledger], project: int) -> dict[int, set[Version]]:
    nothing: dict[int, set[Version]] = {place: {None} for place in range(PLACES)}
    return nothing | {
        place: versions for ledger in ledgers for (owner, place), versions in ledger.allowed.items() if owner == project
    }


def _checked(folder: Path, ledgers: Sequence[Ledger]) -> Counter[str]:
    found: Counter[str] = Counter()
    memory = {"embedding_model": FAKE_EMBEDDINGS["NOVELGEN_MEMORY__EMBEDDING_MODEL"]}
    with MemoryStores(load_settings(projects_dir=folder, memory=memory)) as stores:
        for number, project_id in enumerate(PROJECTS):
            found += check_project(stores, project_id, number, _allowed(ledgers, number))
    return found


def render(report: ServedKillReport) -> str:
    """Return the report as text."""
    ends_s = sorted(report.ends_s)
    lines = [
        f"{report.kills} ends under load, {len(ends_s)} of them SIGTERM; {report.writes} writes answered",
        f"SIGTERM to the end: median {median(ends_s):.1f} s, longest {ends_s[-1]:.1f} s" if ends_s else "",
        "found: " + ", ".join(f"{name} {count}" for name, count in sorted(report.found.items())),
        "counts: " + ", ".join(f"{name} {count}" for name, count in sorted(report.refusals.items())),
        *report.broken[:20],
        "holds" if report.holds else "BROKEN",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 when a promise is broken."""
    parser = argparse.ArgumentParser(prog="tests.crash.served_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="novelgen-kills-") as folder:
        report = kill_servers(Path(folder), seed=given.seed, kills=given.kills)
    print(render(report))
    return 0 if report.holds else 1


if __name__ == "__main__":
    sys.exit(main())
