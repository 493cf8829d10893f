"""Logs of a command go to stderr, never to stdout."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

LOG_LEVELS = ("debug", "info", "warning", "error")
_OWN_LOGGERS = ("novelgen", "runtime")


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to whatever stderr is at the time, and a warning that repeats once in a run of the program."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        if record.levelno == logging.WARNING:
            message = self.format(record)
            if message in self.said:
                return
            self.said.add(message)
        super().emit(record)


def configure_logging(level_name: str) -> None:
    """Send logs to stderr.

    Args:
        level_name: One of LOG_LEVELS, for novelgen's own logs. Other libraries stay at warning, since what
            HTTP clients tell at debug can hold keys and story text.
    """
    level = logging.getLevelName(level_name.upper())
    root = logging.getLogger()
    handler = next((each for each in root.handlers if isinstance(each, _StderrHandler)), None)
    if handler is None:
        handler = _StderrHandler()
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        root.addHandler(handler)
    handler.said.clear()
    root.setLevel(max(level, logging.WARNING))
    for name in _OWN_LOGGERS:
        logging.getLogger(name).setLevel(level)
