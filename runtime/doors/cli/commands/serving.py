"""`novelgen serve` and `mcp`, and showing the page of a server in the browser of whoever started it."""

import os
import sys
import threading
import webbrowser
from collections.abc import Mapping
from urllib.parse import urlsplit

import click

from novelgen.errors import ConfigurationError
from runtime.doors.cli.labels import in_words
from runtime.doors.cli.output import report_line
from runtime.doors.cli.parameters import CliSession

_PACKAGES = frozenset({"fastapi", "jinja2", "starlette", "uvicorn"})


@click.command(
    epilog="\b\nExamples:\n  novelgen serve\n  novelgen serve --no-open --port 9000\n"
    "  NOVELGEN_SERVER_TOKEN=… novelgen serve --host 0.0.0.0"
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at; any but this machine's own needs NOVELGEN_SERVER_TOKEN.",
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A further name under which the server may be called, such as that of a proxy; several with one each.",
)
@click.option(
    "--open/--no-open",
    "is_opened",
    default=None,
    help="Show the page in the browser. Without either: at a terminal of this machine that has a desktop, and not over "
    "SSH or in CI.",
)
@click.pass_obj
def serve(session: CliSession, host: str, port: int, allowed_hosts: tuple[str, ...], is_opened: bool | None) -> None:
    """Serve all projects: a page for you, HTTP for programs.

    Needs `pip install 'novelgen[server]'`. The page at / shows and corrects what the memory believes; what there is to
    call stands in /openapi.json. Commands work on the same folder meanwhile. SIGTERM and Ctrl+C end the server within
    seconds.
    """
    try:
        from runtime.doors.http.serving import serve as serve_projects
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise ConfigurationError(
            f"serve needs {error.name!r}, which is not installed; run pip install 'novelgen[server]'"
        ) from error
    from runtime.doors.cli.opening import settle_imports
    from runtime.doors.http.settings import Limits, ServerSettings
    from runtime.story.projects import ProjectStores

    settle_imports()
    stores = ProjectStores({"projects_dir": session.projects_dir})
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
        told = f"{url}/v1 is open; /openapi.json tells what it offers, and {url}/ is the page in the browser"
        click.echo(in_words(told))
        if is_opened or (is_opened is None and has_browser_at_hand()):
            show_page(url)

    serve_projects(stores, settings, on_listening=tell)


_MCP_PACKAGES = frozenset({"mcp", "mcp_types"})


@click.command(
    epilog="\b\nExamples:\n  novelgen mcp my-novel\n  novelgen mcp --read-only\n  novelgen mcp my-game --game\n"
    '  {"command": "novelgen", "args": ["--projects-dir", "/stories", "mcp", "my-novel"]}'
)
@click.argument("project", required=False)
@click.option("--read-only", "is_read_only", is_flag=True, help="Offer nothing that changes a story.")
@click.option("--game", "is_game", is_flag=True, help="Offer what characters of a game need, not what scenes need.")
@click.pass_obj
def mcp(session: CliSession, project: str | None, is_read_only: bool, is_game: bool) -> None:
    """Serve stories to agents in editors and desktops over MCP.

    Needs `pip install 'novelgen[mcp]'`. The client starts it and talks to it over the standard streams. With PROJECT it
    reaches that story alone; without, the agent chooses from the list of projects. `novelgen serve` offers the same at
    /mcp.
    """
    try:
        from runtime.doors.mcp.server import serve_stdio
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _MCP_PACKAGES:
            raise
        raise ConfigurationError(
            f"mcp needs {package!r}, which is not installed; run pip install 'novelgen[mcp]'"
        ) from error
    from runtime.doors.cli.opening import settle_imports
    from runtime.story.projects import ProjectStores

    settle_imports()
    serve_stdio(
        ProjectStores({"projects_dir": session.projects_dir}),
        project_id=project,
        offer="game" if is_game else "story",
        is_read_only=is_read_only,
    )


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
            report_line(f"no browser was found; open {address} yourself")

    thread = threading.Thread(target=show, name="browser", daemon=True)
    thread.start()
    return thread


def _reached_from_here(url: str) -> str:
    """Return the URL with an address that this machine can call, where the server listens at every one."""
    parts = urlsplit(url)
    host = _EVERY_ADDRESS.get(parts.hostname or "")
    return url if host is None else f"{parts.scheme}://{host}:{parts.port}"
