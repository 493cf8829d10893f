"""`novelgen mcp`."""

from __future__ import annotations

import click

from novelgen.errors import ConfigurationError
from runtime.doors.cli.parameters import CliSession

_PACKAGES = frozenset({"mcp", "mcp_types"})


@click.command(
    epilog="\b\nExamples:\n  novelgen mcp my-novel\n  novelgen mcp --read-only\n"
    '  {"command": "novelgen", "args": ["--projects-dir", "/stories", "mcp", "my-novel"]}'
)
@click.argument("project", required=False)
@click.option("--read-only", "is_read_only", is_flag=True, help="Offer nothing that changes a story.")
@click.pass_obj
def mcp(session: CliSession, project: str | None, is_read_only: bool) -> None:
    """Serve stories to agents in editors and desktops over MCP.

    Needs `pip install 'novelgen[mcp]'`. The client starts it and talks to it over the standard streams. With PROJECT it
    reaches that story alone; without, the agent chooses from the list of projects. `novelgen serve` offers the same at
    /mcp.
    """
    try:
        from runtime.doors.mcp.server import serve_stdio
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _PACKAGES:
            raise
        raise ConfigurationError(
            f"mcp needs {package!r}, which is not installed; run pip install 'novelgen[mcp]'"
        ) from error
    from runtime.doors.cli.opening import settle_imports, warn_of_server
    from runtime.story.project_stores import ProjectStores

    settle_imports()
    warn_of_server(session)
    serve_stdio(ProjectStores({"projects_dir": session.projects_dir}), project_id=project, is_read_only=is_read_only)
