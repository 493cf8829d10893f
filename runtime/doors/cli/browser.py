"""Showing the page of a server in the browser of whoever started it."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Mapping
from urllib.parse import urlsplit

import click

_ELSEWHERE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "CI")
"""Variables of a program whose user sits at another machine, or nowhere."""

_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY")

_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def has_browser_at_hand(
    *, is_terminal: bool | None = None, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> bool:
    """Tell whether somebody sits at this machine who would see a browser open."""
    if not (sys.stdout.isatty() if is_terminal is None else is_terminal):
        return False
    if any(environment.get(name) for name in _ELSEWHERE):
        return False
    # Without a desktop Python would start a browser of text in the terminal, which belongs to the server.
    has_own_desktop = platform in ("darwin", "win32")
    return has_own_desktop or any(environment.get(name) for name in _DESKTOPS)


def show_page(url: str) -> threading.Thread:
    """Open the page of a server in the browser, beside the server's own work; say so where there is none."""
    address = f"{_reached_from_here(url)}/"

    def show() -> None:
        if not webbrowser.open(address):
            click.echo(f"no browser was found; open {address} yourself", err=True)

    thread = threading.Thread(target=show, name="browser", daemon=True)
    thread.start()
    return thread


def _reached_from_here(url: str) -> str:
    """Return the URL with an address that this machine can call, where the server listens at every one."""
    parts = urlsplit(url)
    host = _EVERY_ADDRESS.get(parts.hostname or "")
    return url if host is None else f"{parts.scheme}://{host}:{parts.port}"
