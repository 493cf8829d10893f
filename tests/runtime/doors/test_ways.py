"""A message tells the way out of the door that it comes out of."""

from novelgen.errors import UnknownIdError
from runtime.doors.answers import refusal
from runtime.doors.http.problems import problem_of
from runtime.doors.tools import LANGCHAIN_NAMES, MCP_NAMES

ERROR = UnknownIdError("no thread 'T9'; list them with `novelgen thread list demo`, or run `novelgen embedding NAME`")


def test_a_command_is_told_as_who_asks_can_do_it() -> None:
    """HTTP tells a route, an agent a tool; what they lack stays a command."""
    told = "list them with `GET /v1/projects/{project_id}/threads`, or run `novelgen embedding NAME`"
    assert problem_of(ERROR).detail == f"no thread 'T9'; {told}"
    nearly = UnknownIdError(
        "`novelgen extract demo 1:1`, `novelgen record edit demo`, `novelgen memory consolidated demo`"
    )
    routes = ("POST /v1/projects/{project_id}/extract", "PUT /v1/projects/{project_id}/scenes", "/memories")
    assert all(each in problem_of(nearly).detail for each in routes)
    error = UnknownIdError("run `novelgen threads demo`")
    assert refusal(error, names=LANGCHAIN_NAMES)["error"]["message"] == "run `open_loop_list`"
    assert refusal(error, names=MCP_NAMES)["error"]["message"] == "run `list_threads`"
