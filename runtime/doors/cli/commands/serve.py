"""`novelgen serve`."""

from __future__ import annotations

import click

from novelgen.errors import ConfigurationError
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
    from runtime.doors.cli.browser import has_browser_at_hand, show_page
    from runtime.doors.cli.opening import settle_imports
    from runtime.doors.http.settings import ServerSettings
    from runtime.story.project_stores import ProjectStores

    settle_imports()
    stores = ProjectStores({"projects_dir": session.projects_dir})
    settings = ServerSettings(
        host=host,
        port=port,
        token=stores.settings.server_token,
        read_token=stores.settings.server_read_token,
        allowed_hosts=frozenset(name.casefold() for name in allowed_hosts),
    )

    def tell(url: str) -> None:
        click.echo(f"{url}/v1 is open; /openapi.json tells what it offers, and {url}/ is the page in the browser")
        if is_opened or (is_opened is None and has_browser_at_hand()):
            show_page(url)

    serve_projects(stores, settings, on_listening=tell)
