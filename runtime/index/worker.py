"""The program of the process that holds an index, started by `IndexProcess`.

Its standard input is the private channel to the program that started it, over which objects of `multiprocessing`
travel: first the location of the index, then one operation after another. It ends when that program does, and no
request outlives its time: a watchdog of the interpreter ends the process even where native code holds its lock.
"""

import contextlib
import faulthandler
import importlib
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from novelgen.errors import VectorIndexError
from runtime.index.langchain_index import Collections, VectorStoreFactory
from runtime.index.locations import ChromaServer, IndexLocation, NamedStore

_WATCHDOG_MARGIN_S = 2.0
_PARENT_CHECK_S = 1.0


def main(arguments: Sequence[str]) -> int:
    """Serve the program with the given process id until it closes the channel."""
    parent_pid = int(arguments[0])
    # The channel is moved off standard input, so that nothing else can read from it.
    channel = Connection(os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGXFSZ"):
        # A write beyond the limit of a file's length then fails, where it would end the process.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent_pid,), daemon=True).start()
    # The failures of the index itself are answers, so that this is the program that went away.
    with contextlib.suppress(ConnectionError):
        _serve(channel)
    return 0


def _serve(channel: Connection) -> None:
    location: IndexLocation = channel.recv()
    secrets = location.secrets if isinstance(location, ChromaServer) else ()
    collections = _collections_at(location)
    channel.send(os.getpid())
    # The end of the channel is that of the program.
    with contextlib.suppress(EOFError):
        while True:
            operation, arguments, timeout_s = channel.recv()
            faulthandler.dump_traceback_later(max(0.0, timeout_s) + _WATCHDOG_MARGIN_S, exit=True)
            try:
                answer = collections.do(operation, **arguments)
            except VectorIndexError as error:
                answer = _without(error, secrets)
            except Exception as error:  # noqa: BLE001 - a vector store may fail in any way
                answer = _without(collections.index_error(error), secrets)
            finally:
                faulthandler.cancel_dump_traceback_later()
            channel.send(answer)


def _collections_at(location: IndexLocation) -> Collections:
    if not isinstance(location, NamedStore):
        from runtime.index.chroma_index import ChromaCollections  # noqa: PLC0415 - a store of another kind needs none

        return ChromaCollections(location)
    module, _, name = location.import_path.partition(":")

    def open_store(*arguments: Any) -> Any:
        factory: VectorStoreFactory = getattr(importlib.import_module(module), name)
        return factory(*arguments)

    return Collections(open_store)


def _without(error: VectorIndexError, secrets: Sequence[str]) -> VectorIndexError:
    """Return the same error without the secrets that a server may quote."""
    text = str(error)
    for secret in secrets:
        text = text.replace(secret, "…")
    return type(error)(text)


def _end_with_parent(parent_pid: int) -> None:
    """End the process when its parent is gone, even if a fork of the parent keeps the channel open."""
    while os.getppid() == parent_pid:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except BaseException:  # noqa: BLE001 - a bug of ours or a panic of Chroma: its last line is what the program tells
        traceback.print_exc()
        # An interpreter with Chroma's threads may take seconds to end, in which it would be killed for it.
        os._exit(1)
    sys.exit(code)
