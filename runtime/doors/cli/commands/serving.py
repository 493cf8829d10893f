"""`novelgen serve` and `mcp`, and showing the page of a server in the browser of whoever started it."""

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

import click

from novelgen.errors import ConfigurationError
from runtime.doors.cli.labels import in_words
from runtime.doors.cli.output import report_line
from runtime.doors.cli.parameters import CliSession, opened_shelf

_PACKAGES = {"server": {"fastapi", "jinja2", "starlette", "uvicorn"}, "mcp": {"mcp", "mcp_types"}}
"""What an extra of the package installs, which a door needs."""


@contextmanager
def _needing(command: str, extra: str) -> Iterator[None]:
    """Name the package to install for a door with a missing import."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES[extra]:
            raise
        raise ConfigurationError(
            f"{command} needs {package!r}, which is not installed; run pip install 'novelgen[{extra}]'"
        ) from error


def serve(session: CliSession, host: str, port: int, allowed_hosts: tuple[str, ...], is_opened: bool | None) -> None:
    """Do `novelgen serve`."""
    with _needing("serve", "server"):
        from runtime.doors.http.serving import serve as serve_projects
        from runtime.doors.http.settings import Limits, ServerSettings
    stores = opened_shelf(session)
    at_once = stores.settings.server_at_once
    settings = ServerSettings(
        host=host,
        port=port,
        token=stores.settings.server_token,
        read_token=stores.settings.server_read_token,
        allowed_hosts=frozenset(name.casefold() for name in allowed_hosts),
        limits=Limits(at_once=at_once, waiting=at_once),
    )

    def tell(url: str) -> None:
        text = f"{url}/v1 is open; /openapi.json tells what it offers, and {url}/ is the page in the browser"
        click.echo(in_words(text))
        if is_opened or (is_opened is None and has_browser_at_hand()):
            show_page(url)

    serve_projects(stores, settings, on_listening=tell)


def mcp(session: CliSession, project: str | None, is_read_only: bool, is_game: bool) -> None:
    """Do `novelgen mcp`."""
    with _needing("mcp", "mcp"):
        from runtime.doors.mcp.server import serve_stdio
    serve_stdio(
        opened_shelf(session), project_id=project, tool_set="game" if is_game else "story", is_read_only=is_read_only
    )


_ELSEWHERE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "CI")
"""Variables of a program whose user sits at another machine, or nowhere."""

_DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY")

_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


def has_browser_at_hand(
    *, is_terminal: bool | None = None, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> bool:
    """Return whether a local user would see a browser open."""
    if not (sys.stdout.isatty() if is_terminal is None else is_terminal):
        return False
    if any(environment.get(name) for name in _ELSEWHERE):
        return False
    # Without a desktop Python would start a browser of text in the terminal, which belongs to the server.
    has_own_desktop = platform in ("darwin", "win32")
    return has_own_desktop or any(environment.get(name) for name in _DESKTOPS)


def show_page(url: str) -> threading.Thread:
    """Open a server's page in the browser, or report that there is none."""
    # Where the server listens at every address, the page is called by one of this machine.
    parts = urlsplit(url)
    host = _EVERY_ADDRESS.get(parts.hostname or "")
    address = f"{url if host is None else f'{parts.scheme}://{host}:{parts.port}'}/"

    def show() -> None:
        if not webbrowser.open(address):
            report_line(f"no browser was found; open {address} yourself")

    thread = threading.Thread(target=show, name="browser", daemon=True)
    thread.start()
    return thread
