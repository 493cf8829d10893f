"""Forks processes of the index from one that has imported everything: importing takes most of their life in a test.

Started as a program, with a socket as its standard input. Per request it forks a process that runs
`runtime.index.worker`, and lets the program that asks become that process's parent.
"""

import json
import os
import socket
import sys
import traceback

# Chroma imports the first two when it opens a folder, and the worker the third: each fork would import them anew.
import chromadb.api.rust
import chromadb.telemetry.product.posthog  # noqa: F401

import runtime.index.chroma_index  # noqa: F401
from runtime.index import worker

_REQUEST_BYTES = 1 << 20
_DESCRIPTORS = 2


def serve(requests: socket.socket) -> None:
    """Fork one process per request until the socket closes."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, _DESCRIPTORS)
        if not message:
            return
        between = os.fork()
        if between == 0:
            _fork_and_end(requests, json.loads(message), descriptors)
        os.waitpid(between, 0)
        for descriptor in descriptors:
            os.close(descriptor)
        # Only now has the new process the parent that asked for it.
        requests.send(b".")


def _fork_and_end(requests: socket.socket, request: dict[str, object], descriptors: list[int]) -> None:
    """Say the process id of a child and end, which makes the nearest subreaper the child's parent."""
    between = os.getpid()
    try:
        child = os.fork()
        if child == 0:
            requests.close()
            while os.getppid() == between:
                os.sched_yield()
            _run(request, descriptors)
        requests.send(str(child).encode())
    finally:
        # Whatever fails, no fork may go on with what the program below does.
        os._exit(0)


def _run(request: dict[str, object], descriptors: list[int]) -> None:
    channel, log = descriptors
    code = 1
    try:
        os.dup2(channel, 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.setsid()
        os.environ.clear()
        os.environ.update(request["environment"])  # type: ignore[call-overload]
        code = worker.main(request["arguments"])  # type: ignore[arg-type]
    except BaseException:  # noqa: BLE001 - Chroma's panics are told in the log, as the interpreter does
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=os.dup(0)))
