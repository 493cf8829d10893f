"""Three designs of the vector index, measured side by side: `python -m tests.benchmarks.index_designs`.

- process: what novelgen ships, Chroma in a child process on a private channel.
- server: a `chroma run` on loopback, asked by Chroma's `HttpClient` (a prototype).
- exact: all vectors read from SQL into one matrix, searched exactly (a prototype).

Every figure is taken in an interpreter of its own. The index of `process` is built once per size; `server` opens a
copy of it, so that both read the same files. Vectors are random unit vectors from one seed: no design is favoured by
what they mean. A question is what a context asks: six vectors, twenty rows each, content included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from runtime.index.exact import exact_search
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import VectorStoreManager
from runtime.index.rows import IndexRow

DIMENSION = 384
SIZES = (2_000, 20_000, 100_000)
QUESTIONS = 6
TOP_K = 20
ROUNDS = 30
PROJECT = "designs"
MODEL = "random"
CALL_TIMEOUT_S = 5.0
BUILD_STEP = 10_000
ORPHAN_GRACE_S = 4.0

Ask = Callable[[NDArray[np.float32]], object]


def main() -> int:
    """Measure, and print the tables in Markdown."""
    parser = argparse.ArgumentParser(prog="tests.benchmarks.index_designs")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/index_designs"))
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--probe", choices=sorted(DESIGNS))
    parser.add_argument("--faults", choices=sorted(DESIGNS))
    parser.add_argument("--hold", choices=sorted(DESIGNS))
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(_probe(options.probe, options.folder, options.sizes[0])))
        return 0
    if options.hold:
        with DESIGNS[options.hold](options.folder / options.hold) as ask:
            ask(questions())
            print(json.dumps(_children()), flush=True)
            time.sleep(600)
    if options.faults:
        print(json.dumps(_faults_of(options.faults, options.folder)))
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| Design | Vectors | Build s | Cold start to first answer s | Question p50 ms | Memory MB | Disk MB |")
    print("|---|---|---|---|---|---|---|")
    for size in options.sizes:
        folder = options.folder / str(size)
        built_s = _build(folder, size)
        for design in DESIGNS:
            found = _in_new_interpreter("--probe", design, "--folder", folder, "--sizes", size)
            disk_mb = _size_mb(folder / design)
            print(
                f"| {design} | {size:,} | {built_s[design]:.1f} | {found['start_s']:.2f} | {found['p50_ms']:.1f} "
                f"| {found['memory_mb']:.0f} | {disk_mb:.0f} |",
                flush=True,
            )
    print("\n| Fault | " + " | ".join(DESIGNS) + " |\n|---|" + "---|" * len(DESIGNS))
    outcomes = {
        design: _in_new_interpreter("--faults", design, "--folder", options.folder / str(min(options.sizes)))
        for design in DESIGNS
    }
    for fault in outcomes["process"]:
        print(f"| {fault} | " + " | ".join(outcomes[design].get(fault, "") for design in DESIGNS) + " |")
    return 0


def vectors(count: int, *, start: int = 0) -> NDArray[np.float32]:
    """Return unit vectors that depend on nothing but their number."""
    made = np.random.default_rng(start + 1).standard_normal((count, DIMENSION)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def questions() -> NDArray[np.float32]:
    return vectors(QUESTIONS, start=10**9)


def content(number: int) -> str:
    return f"Memory {number}: Ines finds the heron key in the salt below the lighthouse. " * 4


# Building


def _build(folder: Path, size: int) -> dict[str, float]:
    """Build what each design searches; seconds by design (those of a copy are those of the original)."""
    process, exact = folder / "process" / "vectors", folder / "exact" / "vectors.db"
    took_s = {"process": 0.0, "server": 0.0, "exact": 0.0}
    if not process.exists():
        started_s = time.perf_counter()
        manager = VectorStoreManager(EmbeddedIndex(process), embedding_model=MODEL, dimension=DIMENSION)
        manager.upsert(_rows(size), timeout_s=300)
        manager.close()
        took_s["process"] = took_s["server"] = time.perf_counter() - started_s
    shutil.rmtree(folder / "server", ignore_errors=True)
    shutil.copytree(process, folder / "server" / "vectors")
    if not exact.exists():
        exact.parent.mkdir(parents=True)
        started_s = time.perf_counter()
        with closing(sqlite3.connect(exact)) as database, database:
            database.execute("CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, vector BLOB)")
            for row in _rows(size):
                database.execute(
                    "INSERT INTO memories VALUES (?, ?, ?)",
                    (row.chunk_id, row.content, np.asarray(row.vector).tobytes()),
                )
        took_s["exact"] = time.perf_counter() - started_s
    return took_s


def _rows(size: int) -> Iterator[IndexRow]:
    for start in range(0, size, BUILD_STEP):
        for number, vector in enumerate(vectors(min(BUILD_STEP, size - start), start=start), start):
            yield IndexRow(
                chunk_id=f"c{number:06d}",
                project_id=PROJECT,
                chapter_index=number // 50,
                scene_index=number % 50 // 10,
                source_id=None,
                content=content(number),
                content_type="memory",
                vector=vector,
            )


# Designs: each opens what was built, and gives a function that answers


@contextmanager
def _process(folder: Path) -> Iterator[Ask]:
    manager = VectorStoreManager(EmbeddedIndex(folder / "vectors"), embedding_model=MODEL, dimension=DIMENSION)
    manager.wait_started(timeout_s=60)
    try:
        yield lambda asked: manager.query(PROJECT, asked, top_k=TOP_K, deadline=Deadline.after(CALL_TIMEOUT_S))
    finally:
        manager.close()


@contextmanager
def _server(folder: Path) -> Iterator[Ask]:
    import chromadb
    from chromadb.config import Settings

    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = str(Path(sys.executable).with_name("chroma"))
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [program, "run", "--path", str(folder / "vectors"), "--host", "127.0.0.1", "--port", str(port)],
            stdout=log,
            stderr=log,
        )
    try:
        _wait_for_port(port, server)
        settings = Settings(anonymized_telemetry=False, _env_file=None)  # type: ignore[call-arg]
        client: Any = chromadb.HttpClient(host="127.0.0.1", port=port, settings=settings)
        # Chroma offers no time-out: this is the private attribute behind which it keeps its HTTP client.
        client._server._session.timeout = CALL_TIMEOUT_S
        (collection,) = client.list_collections()
        yield lambda asked: collection.query(query_embeddings=asked, n_results=TOP_K)
    finally:
        server.kill()
        server.wait()


@contextmanager
def _exact(folder: Path) -> Iterator[Ask]:
    with closing(sqlite3.connect(folder / "vectors.db")) as database:
        ids: list[str] = []
        raw: list[bytes] = []
        for chunk_id, vector in database.execute("SELECT id, vector FROM memories ORDER BY id"):
            ids.append(chunk_id)
            raw.append(vector)
        matrix = np.frombuffer(b"".join(raw), dtype=np.float32).reshape(-1, DIMENSION)
        del raw

        def ask(asked: NDArray[np.float32]) -> object:
            found = exact_search(matrix, ids, query_vectors=asked, top_k=TOP_K)
            named = sorted({chunk_id for hits in found for chunk_id, _ in hits})
            places = ",".join("?" * len(named))
            return found, database.execute(f"SELECT id, content FROM memories WHERE id IN ({places})", named).fetchall()

        yield ask


DESIGNS = {"process": _process, "server": _server, "exact": _exact}


def _wait_for_port(port: int, server: subprocess.Popen[bytes]) -> None:
    end_s = time.monotonic() + 20
    while time.monotonic() < end_s and server.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise TimeoutError(f"chroma run did not open port {port} (exit code {server.poll()})")


# Measuring


def _probe(design: str, folder: Path, size: int) -> dict[str, float]:
    asked = questions()
    started_s = time.perf_counter()
    with DESIGNS[design](folder / design) as ask:
        ask(asked)
        start_s = time.perf_counter() - started_s
        taken_s = []
        for _ in range(ROUNDS):
            begun_s = time.perf_counter()
            ask(asked)
            taken_s.append(time.perf_counter() - begun_s)
        memory_mb = _family_memory_mb()
    return {"start_s": start_s, "p50_ms": statistics.median(taken_s) * 1_000, "memory_mb": memory_mb}


def _family_memory_mb() -> float:
    """Sum the proportional memory of this process and its children, less an interpreter with numpy alone (Linux)."""
    pids = [os.getpid(), *_children()]
    total_kb = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total_kb += int(line.split()[1])
    return total_kb / 1024


def _children() -> list[int]:
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


def _in_new_interpreter(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.index_designs", *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if finished.returncode:
        raise RuntimeError(finished.stderr[-2_000:])
    return json.loads(finished.stdout.splitlines()[-1])


def _size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


# Faults, each on a copy of the smallest index


def _faults_of(design: str, folder: Path) -> dict[str, str]:
    outcomes = {name: _outcome(design, folder, fault) for name, fault in FAULTS.items()}
    return outcomes | {"program killed": _after_the_program(design, folder)}


def _after_the_program(design: str, folder: Path) -> str:
    """Kill a program that has the index open, and tell what of it still runs some seconds later."""
    command = [sys.executable, "-m", "tests.benchmarks.index_designs", "--hold", design, "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        children = json.loads(program.stdout.readline())
        program.kill()
    time.sleep(ORPHAN_GRACE_S)
    orphans = [pid for pid in children if Path(f"/proc/{pid}").exists()]
    for pid in orphans:
        os.kill(pid, signal.SIGKILL)
    return f"{len(orphans)} process lives on and holds the index" if orphans else "nothing lives on"


def _outcome(design: str, folder: Path, fault: Callable[[str, Path, Ask | None], None]) -> str:
    """Do a fault and ask; say what came back, and after how long."""
    copy = folder / f"{design}-broken"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder / design, copy)
    started_s = time.perf_counter()
    try:
        if fault in WHILE_OPEN:
            with DESIGNS[design](copy) as ask:
                ask(questions())
                started_s = time.perf_counter()
                fault(design, copy, ask)
                ask(questions())
        else:
            fault(design, copy, None)
            with DESIGNS[design](copy) as ask:
                ask(questions())
        said = "answers"
    except Exception as error:  # noqa: BLE001 - a prototype fails in any way, which is what is measured
        said = f"{type(error).__name__}: {str(error)[:60]}"
    for child in _children():
        os.kill(child, signal.SIGKILL)
    shutil.rmtree(copy, ignore_errors=True)
    return f"{said.replace('|', '/')} ({time.perf_counter() - started_s:.1f} s)".replace("\n", " ")


def _killed(design: str, folder: Path, ask: Ask | None) -> None:
    for child in _children():
        os.kill(child, signal.SIGKILL)


def _frozen(design: str, folder: Path, ask: Ask | None) -> None:
    for child in _children():
        os.kill(child, signal.SIGSTOP)


def _database_garbage(design: str, folder: Path, ask: Ask | None) -> None:
    for name in ("vectors/chroma.sqlite3", "vectors.db"):
        if (folder / name).exists():
            with (folder / name).open("r+b") as stream:
                stream.write(os.urandom(100))


def _database_gone(design: str, folder: Path, ask: Ask | None) -> None:
    (folder / "vectors/chroma.sqlite3").unlink(missing_ok=True)


def _vectors_random(design: str, folder: Path, ask: Ask | None) -> None:
    for file in folder.rglob("data_level0.bin"):
        file.write_bytes(os.urandom(file.stat().st_size))


FAULTS: dict[str, Callable[[str, Path, Ask | None], None]] = {
    "index process killed, then asked": _killed,
    "index process frozen, then asked": _frozen,
    "database header is garbage": _database_garbage,
    "database gone": _database_gone,
    "vectors random": _vectors_random,
}
WHILE_OPEN = (_killed, _frozen)


if __name__ == "__main__":
    sys.exit(main())
