"""A message tells the way out of the door that it comes out of."""

import pytest

from novelgen import errors
from runtime.doors.answers import refusal
from runtime.doors.http.problems import problem_of
from runtime.doors.tools import LANGCHAIN_NAMES, MCP_NAMES

ERROR = errors.UnknownIdError(
    "no thread 'T9'; list them with `novelgen thread list demo`, or run `novelgen embedding NAME`"
)


def test_a_command_is_told_as_who_asks_can_do_it() -> None:
    """HTTP tells a route, an agent a tool; what they lack stays a command."""
    told = "list them with `GET /v1/projects/{project_id}/threads`, or run `novelgen embedding NAME`"
    assert problem_of(ERROR).detail == f"no thread 'T9'; {told}"
    nearly = errors.UnknownIdError(
        "`novelgen extract demo 1:1`, `novelgen record edit demo`, `novelgen memory consolidated demo`"
    )
    routes = ("POST /v1/projects/{project_id}/extract", "PUT /v1/projects/{project_id}/scenes", "/memories")
    assert all(each in problem_of(nearly).detail for each in routes)
    error = errors.UnknownIdError("run `novelgen threads demo`")
    assert refusal(error, names=LANGCHAIN_NAMES)["error"]["message"] == "run `list_open_loops`"
    assert refusal(error, names=MCP_NAMES)["error"]["message"] == "run `list_open_loops`"


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (errors.UnknownMemoryError, "search_story_memory"),
        (errors.UnknownEntityError, "list_entities"),
        (errors.UnknownSceneError, "list_scenes"),
        (errors.UnknownProjectError, "list_projects"),
        (errors.ConfigurationError, "Tell the user"),
        (errors.InvalidRequestError, "Correct the argument"),
    ],
)
def test_an_agent_is_told_what_to_do(error: type[errors.NovelgenError], fix: str) -> None:
    """A refusal names the tool that helps, or says that no call does."""
    assert fix in refusal(error("no such thing"), names=MCP_NAMES)["error"]["fix"]
