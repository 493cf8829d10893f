"""The path of one context: functions between `Story.context` and the block it renders, and SQL statements.

    python -m tests.benchmarks.path [--scene CHAPTER:SCENE] [--statements]

Contexts of the demo project are built: one in a program that has everything loaded but has not read this story since it
was written to, whose statements are counted, another right after it, likewise, and one to follow its calls.
A hop is a call of a function of novelgen or runtime on the stack, over threads and the process of the index, where a
landmark is reached deepest: what a reader meets on the way to the vector store, to the memories and back.
It forwards where its body is one call, or where it only carries a call over to a thread or a process.
"""

import argparse
import ast
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import sqlalchemy as sa

import runtime
from runtime.index import worker
from runtime.index.process import IndexProcess, IndexProcessRegistry
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.support.demo_project import copy_shipped_demos, ingest_demo, settings_for

_ROOT = Path(runtime.__file__).parents[1]
_ROOMS = (str(_ROOT / "novelgen") + os.sep, str(_ROOT / "runtime") + os.sep)

LANDMARKS = {
    "vector store": ("runtime/index/langchain_index.py", "LangChainIndex.query"),
    "hits of a retriever": ("runtime/search/search.py", "ranked_answer"),
    "hits of all retrievers": ("runtime/search/search.py", "merged"),
    "memories": ("runtime/storage/memories.py", "MemoryRepository.by_ids"),
    "vectors of memories": ("runtime/storage/search_indexes.py", "EmbeddingRepository.matrix"),
    "scores": ("novelgen/memory/select.py", "score_candidates"),
    "form of a memory": ("novelgen/memory/budget.py", "choose_form"),
    "budget": ("novelgen/memory/budget.py", "fill"),
    "block": ("novelgen/context/prompt_block.py", "render_context"),
}
"""Module and function of what a context must come by, whatever stands between."""

_CARRIERS = ("novelgen/deadlines.py", "runtime/index/process.py", "runtime/index/worker.py")
"""Modules whose functions carry a call over to a thread or a process."""

Stack = tuple[CodeType, ...]


class Hop(NamedTuple):
    """A function on the path."""

    module: str
    name: str
    forwards: bool


class Trace(NamedTuple):
    """What one context took."""

    hops: list[Hop]
    first: list[tuple[str, str]]
    again: list[tuple[str, str]]
    threads: int


@contextmanager
def counted_statements() -> Iterator[list[tuple[str, str]]]:
    """Collect every SQL statement with the functions that sent it."""
    statements: list[tuple[str, str]] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("BEGIN"):
            # SQLite's own beginning of a transaction; PostgreSQL's driver sends its one unseen.
            return
        senders = [f"{_module_of(code)}:{code.co_qualname}" for code in reversed(_own_frames())]
        below = ("runtime/storage/session.py", "runtime/storage/connection.py")
        statements.append((statement, " < ".join([name for name in senders if not name.startswith(below)][1:5])))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


class _ThreadAsProcess:
    """The process of an index as a thread of this one, so that its calls can be followed."""

    pid = 0
    returncode: int | None = None

    def __init__(self, channel: int) -> None:
        self._thread = threading.Thread(target=worker._serve, args=(Connection(os.dup(channel)),), daemon=True)
        self._thread.start()

    def poll(self) -> int | None:
        return None if self._thread.is_alive() else 0

    def wait(self, timeout: float, /) -> int:
        self._thread.join(timeout)
        return 0

    def kill(self) -> None:
        """Do nothing: the thread ends with its channel."""


class _TracedIndex(IndexProcess):
    @staticmethod
    def launch(arguments: Sequence[str], channel: int, log: int) -> _ThreadAsProcess:
        return _ThreadAsProcess(channel)


class _Tracer:
    """Notes the deepest stack at which each landmark is reached."""

    def __init__(self) -> None:
        self.stacks: dict[tuple[str, str], Stack] = {}
        self.threads = 0
        self.is_on = False
        self._asking: Stack = ()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Follow the threads that are started in the block."""
        start = threading.Thread.start

        def start_traced(thread: threading.Thread) -> None:
            self.threads += self.is_on
            thread.stack_before = self._stack()  # type: ignore[attr-defined]
            start(thread)

        threading.Thread.start = start_traced  # type: ignore[method-assign]
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
            threading.Thread.start = start  # type: ignore[method-assign]

    def _stack(self) -> Stack:
        own = _own_frames()
        if any(code.co_name == "_serve" for code in own):
            return (*self._asking, *own)
        return (*getattr(threading.current_thread(), "stack_before", ()), *own)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not self.is_on or (module := _module_of(frame.f_code)) is None:
            return
        function = (module, frame.f_code.co_qualname)
        if function == ("runtime/index/process.py", "IndexProcess.call"):
            self._asking = self._stack()
        if function in LANDMARKS.values() and len(stack := self._stack()) > len(self.stacks.get(function, ())):
            self.stacks[function] = stack


def context_statements(stores: MemoryStores, chapter_index: int, scene_index: int) -> list[tuple[str, str]]:
    """Return the statements of a context of the demo project, each with its senders."""
    # Migrations are no part of it.
    stores.database("demo")
    with counted_statements() as statements:
        context = Story(stores, "demo").context(chapter_index, scene_index)
    assert not context.report.issues, context.report.issues
    return statements


def trace_context(projects_dir: Path, chapter_index: int, scene_index: int) -> Trace:
    """Trace a context of the demo project, which is ingested in the folder."""
    tracer = _Tracer()
    with (
        tracer.installed(),
        MemoryStores(settings_for(projects_dir), indexes=IndexProcessRegistry(_TracedIndex)) as stores,
    ):
        context_statements(stores, chapter_index, scene_index)
        with stores.database("demo").write() as unit:
            unit.projects.update()
        first, again = (context_statements(stores, chapter_index, scene_index) for _ in range(2))
        story = Story(stores, "demo")
        tracer.is_on = True
        story.context(chapter_index, scene_index).as_prompt()
        tracer.is_on = False
    missing = [name for name, function in LANDMARKS.items() if function not in tracer.stacks]
    assert not missing, f"no context came by {missing}; correct LANDMARKS"
    stacks = [tracer.stacks[function] for function in LANDMARKS.values()]
    # What two landmarks have in common is met once, a function that is called at two places twice.
    calls = dict.fromkeys(stack[: depth + 1] for stack in stacks for depth in range(len(stack)))
    return Trace([_hop(call[-1]) for call in calls], first, again, tracer.threads)


def _own_frames() -> list[CodeType]:
    """Return the functions of ours on the stack of this thread, the outermost first."""
    frame: FrameType | None = sys._getframe()
    codes: list[CodeType] = []
    while frame is not None:
        if _module_of(frame.f_code) is not None and not frame.f_code.co_name.startswith("<"):
            codes.append(frame.f_code)
        frame = frame.f_back
    return codes[::-1]


@cache
def _module_of(code: CodeType) -> str | None:
    return str(Path(code.co_filename).relative_to(_ROOT)) if code.co_filename.startswith(_ROOMS) else None


def _hop(code: CodeType) -> Hop:
    module = _module_of(code) or ""
    return Hop(module, code.co_qualname, module in _CARRIERS or _is_one_call(code))


def _is_one_call(code: CodeType) -> bool:
    """Whether the body of a function, but for its docstring, is one statement."""
    for node in ast.walk(_tree(code.co_filename)):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) if isinstance(node, ast.FunctionDef) else 0
        if isinstance(node, ast.FunctionDef) and first == code.co_firstlineno and node.name == code.co_name:
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            while len(body) == 1 and isinstance(body[0], ast.With):
                body = body[0].body
            return len(body) == 1 and isinstance(body[0], ast.Return | ast.Expr)
    return False


@cache
def _tree(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Trace and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.path", description=__doc__.splitlines()[0])
    parser.add_argument("--scene", default="7:1", metavar="CHAPTER:SCENE")
    parser.add_argument("--statements", action="store_true", help="list the statements with their senders")
    options = parser.parse_args(arguments)
    chapter_index, scene_index = map(int, options.scene.split(":"))
    with tempfile.TemporaryDirectory(prefix="novelgen-path-") as folder:
        copy_shipped_demos(Path(folder))
        with MemoryStores(settings_for(Path(folder))) as stores:
            ingest_demo(stores, "demo")
        trace = trace_context(Path(folder), chapter_index, scene_index)
    for number, hop in enumerate(trace.hops, start=1):
        print(f"{number:3} {'F' if hop.forwards else ' '} {hop.module}:{hop.name}")
    if options.statements:
        for number, (statement, senders) in enumerate(trace.first, start=1):
            print(f"{number:3} {senders}\n      {' '.join(statement.split())[:160]}")
    summary = {
        "hops": len(trace.hops),
        "forwarding": sum(hop.forwards for hop in trace.hops),
        "statements": len(trace.first),
        "statements_again": len(trace.again),
        "threads": trace.threads,
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
