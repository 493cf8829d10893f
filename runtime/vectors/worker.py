"""The program of the process that owns an index, started by `WorkerHandle`.

Its standard input is the private channel to the program that started it. It ends when that program
does, and no request outlives its time: the alarm of the system ends the process even where native code
holds the interpreter.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from novelgen.errors import VectorIndexError
from runtime.vectors.chroma_index import ChromaIndex
from runtime.vectors.error_mapping import BACKEND_FAILURES, map_failure
from runtime.vectors.frames import ChannelClosedError, Head, receive_frame, send_frame
from runtime.vectors.locations import ChromaServer, EmbeddedIndex, IndexLocation
from runtime.vectors.wire_errors import error_to_wire

_ALARM_MARGIN_S = 2.0
_PARENT_CHECK_S = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one program until it closes the channel.

    Args:
        arguments: Command line without the program's name; None takes that of the process.

    Returns:
        Exit code, always 0.
    """
    location, parent_pid = _parse(arguments)
    channel = _take_channel()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A write beyond the limit of a file's length then fails, where it would end the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent_pid,), daemon=True).start()
    serve(channel, ChromaIndex(location))
    return 0


def serve(channel: socket.socket, index: ChromaIndex) -> None:
    """Answer requests one after another until the channel closes.

    Args:
        channel: Connected stream socket.
        index: What answers.
    """
    try:
        send_frame(channel, {"ready": True, "pid": os.getpid()})
        while True:
            request, body = receive_frame(channel)
            send_frame(channel, _answer(index, request, body))
    except ChannelClosedError:
        return


def _answer(index: ChromaIndex, request: Head, body: bytes) -> Head:
    signal.setitimer(signal.ITIMER_REAL, request["timeout_s"] + _ALARM_MARGIN_S)
    try:
        return {"result": index.operations[request["operation"]](request["payload"], body)}
    except VectorIndexError as error:
        return {"error": error_to_wire(error)}
    except BACKEND_FAILURES as error:
        return {"error": error_to_wire(map_failure(error))}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _parse(arguments: Sequence[str] | None) -> tuple[IndexLocation, int]:
    parser = argparse.ArgumentParser(prog="runtime.vectors.worker")
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--path", type=Path)
    place.add_argument("--url")
    parser.add_argument("--parent-pid", type=int, required=True)
    parsed = parser.parse_args(arguments)
    location = EmbeddedIndex(parsed.path) if parsed.path is not None else ChromaServer(parsed.url)
    return location, parsed.parent_pid


def _take_channel() -> socket.socket:
    """Move the channel off standard input, so that nothing else can read from it."""
    channel = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return channel


def _end_with_parent(parent_pid: int) -> None:
    """End the process when its parent is gone, even if a fork of the parent keeps the channel open."""
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
