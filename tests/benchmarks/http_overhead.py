"""What the HTTP door costs over the call in process, and recall while characters speak.

`python -m tests.benchmarks.http_overhead` starts a real `novelgen serve` over the demo and holds the same story open
in this process; the two are asked in turn, so that a loaded machine is equally hard on both. Beside the time that
passes stands the CPU time of whoever answers. Then eight characters speak at once, streamed from a scripted model,
while recall is asked again and again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from pydantic import BaseModel

from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import copy_shipped_demos, ingest_demo
from tests.support.openai_stub import StubCall, openai_stub
from tests.support.served_process import FAKE_EMBEDDINGS, ServedProcess

PROJECT = "demo"
WHO = "Ines"
SAID = "Where is the heron key?"
PLAN = {"location": "the lock shop", "characters": [WHO, "Sparrow"], "purpose": "the heron key"}
MEMORIES = 60
WARM_UP = 5
SPEAKERS = 8
WORDS = re.findall(r"\S+\s*", "The kettle is on, sit down and tell me of the weir. " * 4)
ANALYSIS = '\n```json\n{"interaction_type": "conversation"}\n```'
PAUSE_S = 0.03
"""Between two words of a character."""


class Times(BaseModel):
    """How long something took."""

    p50_ms: float
    p95_ms: float
    count: int

    @classmethod
    def of(cls, times_s: Sequence[float]) -> Times:
        """Sum times up."""
        p50, p95 = np.percentile(np.array(times_s) * 1000, [50, 95])
        return cls(p50_ms=p50, p95_ms=p95, count=len(times_s))


class OverheadReport(BaseModel):
    """What the door costs."""

    load: float
    in_process: dict[str, Times]
    through_http: dict[str, Times]
    cpu_in_process_ms: dict[str, float]
    cpu_of_server_ms: dict[str, float]
    recall_while_quiet: Times
    recall_while_speaking: Times
    replies: int


def measure(folder: Path, *, calls: int) -> OverheadReport:
    """Measure in an empty folder.

    Args:
        folder: Takes two copies of the demo, one for each door.
        calls: Of each kind, through each door.
    """
    for name in ("here", "served"):
        _prepare(folder / name)
    served = folder / "served"
    with _stores(folder / "here") as stores, _asked(served, FAKE_EMBEDDINGS) as (client, pid):
        in_turn = _both_doors(Story(stores, PROJECT), client, pid, calls=calls)
        load = _load()
    with openai_stub(_speaking) as stub:
        model = {"NOVELGEN_MODEL": "openai:stub", "NOVELGEN_MODEL_BASE_URL": stub.base_url}
        with _asked(served, {**FAKE_EMBEDDINGS, **model}) as (client, _):
            quiet, speaking, replies = _while_speaking(client, calls=calls)
    return OverheadReport(
        load=load,
        in_process={name: Times.of(each.here_s) for name, each in in_turn.items()},
        through_http={name: Times.of(each.there_s) for name, each in in_turn.items()},
        cpu_in_process_ms={name: each.cpu_here_s / calls * 1000 for name, each in in_turn.items()},
        cpu_of_server_ms={name: each.cpu_there_s / calls * 1000 for name, each in in_turn.items()},
        recall_while_quiet=Times.of(quiet),
        recall_while_speaking=Times.of(speaking),
        replies=replies,
    )


@contextlib.contextmanager
def _asked(folder: Path, environment: dict[str, str]) -> Iterator[tuple[httpx.Client, int]]:
    server = ServedProcess(folder, environment)
    try:
        with httpx.Client(base_url=server.url, timeout=120) as client:
            yield client, server.pid
    finally:
        server.end()


def _both_doors(story: Story, client: httpx.Client, pid: int, *, calls: int) -> dict[str, _InTurn]:
    character = story.character(WHO)
    recall = _recalling(client)
    context = {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN}
    doors: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "recall": (lambda: character.recall(SAID), recall),
        "find the character and recall": (lambda: story.character(WHO).recall(SAID), recall),
        "context": (lambda: story.context(3, 1, PLAN), _asking(client, "context", context)),
        "health": (lambda: None, lambda: client.get("/health").raise_for_status()),
    }
    return {name: _in_turn(*pair, pid=pid, calls=calls) for name, pair in doors.items()}


@dataclass(frozen=True, slots=True)
class _InTurn:
    here_s: list[float]
    there_s: list[float]
    cpu_here_s: float
    cpu_there_s: float


def _in_turn(here: Callable[[], Any], there: Callable[[], Any], *, pid: int, calls: int) -> _InTurn:
    for _ in range(WARM_UP):
        here()
        there()
    here_s: list[float] = []
    there_s: list[float] = []
    cpu_here_s, served_s = 0.0, _cpu_s(pid)
    for _ in range(calls):
        began_s = time.process_time()
        here_s.append(_timed(here))
        cpu_here_s += time.process_time() - began_s
        there_s.append(_timed(there))
    return _InTurn(here_s, there_s, cpu_here_s, _cpu_s(pid) - served_s)


def _while_speaking(client: httpx.Client, *, calls: int) -> tuple[list[float], list[float], int]:
    """Ask for recall in a quiet server and in one where characters speak, by turns."""
    recall = _recalling(client)
    for _ in range(WARM_UP):
        recall()
    quiet: list[float] = []
    speaking: list[float] = []
    replies = 0
    for _ in range(3):
        quiet += [_timed(recall) for _ in range(calls // 3)]
        stop = threading.Event()
        speakers = [_Speaker(str(client.base_url), stop) for _ in range(SPEAKERS)]
        for each in speakers:
            each.start()
        for each in speakers:
            assert each.has_begun.wait(60), "a character does not begin to speak"
        speaking += [_timed(recall) for _ in range(calls // 3)]
        stop.set()
        for each in speakers:
            each.join()
            replies += each.replies
    return quiet, speaking, replies


class _Speaker(threading.Thread):
    """Lets a character answer again and again."""

    def __init__(self, url: str, stop: threading.Event) -> None:
        super().__init__()
        self._url = url
        self._stopped = stop
        self.has_begun = threading.Event()
        self.replies = 0

    def run(self) -> None:
        """Speak until stopped."""
        asked = {"said": SAID, "keep": "never"}
        path = f"/v1/projects/{PROJECT}/characters/{WHO}/reply"
        with httpx.Client(base_url=self._url, timeout=120) as client:
            while not self._stopped.is_set():
                with client.stream("POST", path, json=asked) as answer:
                    answer.raise_for_status()
                    for line in answer.iter_lines():
                        self.has_begun.set()
                        self.replies += line == "event: reply"


def _speaking(call: StubCall) -> None:
    if call.payload.get("stream"):
        call.speak([*WORDS, ANALYSIS], pause_s=PAUSE_S)
    else:
        call.say("{}")


def _recalling(client: httpx.Client) -> Callable[[], Any]:
    return _asking(client, f"characters/{WHO}/recall", {"said": SAID})


def _asking(client: httpx.Client, path: str, body: dict[str, Any]) -> Callable[[], Any]:
    return lambda: client.post(f"/v1/projects/{PROJECT}/{path}", json=body).raise_for_status()


def _timed(call: Callable[[], Any]) -> float:
    started_s = time.perf_counter()
    call()
    return time.perf_counter() - started_s


def _prepare(folder: Path) -> None:
    folder.mkdir()
    copy_shipped_demos(folder)
    with _stores(folder) as stores:
        ingest_demo(stores, PROJECT)
        character = Story(stores, PROJECT).character(WHO)
        for number in range(MEMORIES):
            character.remember(f"Customer {number} asked me for a key to door {number}.")


def _stores(folder: Path) -> MemoryStores:
    memory = {"embedding_model": FAKE_EMBEDDINGS["NOVELGEN_MEMORY__EMBEDDING_MODEL"]}
    return MemoryStores(load_settings(projects_dir=folder, memory=memory))


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a process, in user and system, of all its threads."""
    told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def _load() -> float:
    return float(Path("/proc/loadavg").read_text(encoding="ascii").split()[0])


def render(report: OverheadReport) -> str:
    """Return the report as text."""
    lines = [
        f"load of the machine {report.load:.1f}",
        f"{'ms':32}{'in process':>20}{'through HTTP':>20}{'more':>8}{'ratio':>7}{'CPU time':>18}",
        f"{'':32}{'p50':>10}{'p95':>10}{'p50':>10}{'p95':>10}{'p50':>8}{'p50':>7}{'here':>9}{'server':>9}",
    ]
    for name, here in report.in_process.items():
        there = report.through_http[name]
        more = there.p50_ms - here.p50_ms
        ratio = f"{there.p50_ms / here.p50_ms:7.2f}" if here.p50_ms > 0.01 else f"{'':>7}"
        cpu = f"{report.cpu_in_process_ms[name]:9.1f}{report.cpu_of_server_ms[name]:9.1f}"
        times = f"{here.p50_ms:10.1f}{here.p95_ms:10.1f}{there.p50_ms:10.1f}{there.p95_ms:10.1f}"
        lines.append(f"{name:32}{times}{more:8.1f}{ratio}{cpu}")
    quiet, speaking = report.recall_while_quiet, report.recall_while_speaking
    lines += [
        "",
        f"recall, nobody speaks: p50 {quiet.p50_ms:.1f}, p95 {quiet.p95_ms:.1f} ms",
        f"recall, {SPEAKERS} characters speak: p50 {speaking.p50_ms:.1f}, p95 {speaking.p95_ms:.1f} ms",
        f"p95 {speaking.p95_ms / quiet.p95_ms:.1f} x; {report.replies} replies were given",
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.http_overhead", description=__doc__)
    parser.add_argument("--calls", type=int, default=120, help="of each kind through each door")
    parser.add_argument("--out", type=Path, help="file for the report as JSON")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="novelgen-overhead-") as folder:
        report = measure(Path(folder), calls=given.calls)
    if given.out is not None:
        given.out.write_text(report.model_dump_json(indent=1), encoding="utf-8")
    print(render(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
