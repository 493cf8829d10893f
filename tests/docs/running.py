"""Running one block as its reader would, in a folder that holds copies of the demo projects."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from runtime.doors.cli.main import novelgen
from runtime.settings import load_settings
from tests.docs.exceptions import SERVED_HERE
from tests.docs.pages import Block
from tests.regenerate import HOW

_LINE = re.compile(r"(novelgen|export) [^|<>$`;&]*|novelgen [^|<>$`;&]* > [\w.-]+|#.*|")


def run_block(block: Block, folder: Path, *, patch: pytest.MonkeyPatch, service_url: str) -> None:
    """Run, save or check a block; a failure names its page and line.

    Args:
        block: The block.
        folder: The reader's working folder.
        patch: Keeps what the block exports until the end of the page.
        service_url: Of the stub that stands for every service.
    """
    text = block.text
    for address in SERVED_HERE:
        text = text.replace(address, service_url)
    if block.file is not None:
        _save(folder / block.file, text)
    if block.language == "python":
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile("\n" * block.line + text, block.page, "exec", dont_inherit=True), names)
        # The tests of a block run as pytest would run them.
        for test in [value for name, value in names.items() if name.startswith("test_")]:
            test()
    elif block.language == "bash":
        _run_shell(block, text, folder, patch)
    elif block.language == "console":
        _compare_listing(block)
    elif block.language == "json":
        json.loads(text)
    elif block.language == "yaml":
        _save(folder / "config.yaml", text)
        load_settings(folder / "config.yaml")
    else:
        assert block.language == "text", f"{block.page}:{block.line}: a block must name its language"


def listing_of(command: str) -> str:
    """Return what `novelgen …` prints on a terminal of 80 columns."""
    result = CliRunner().invoke(novelgen, shlex.split(command)[1:], prog_name="novelgen")
    assert result.exit_code == 0, result.output
    return result.stdout


def _save(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _run_shell(block: Block, text: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Run each line in this process, which spares seconds each; what it prints goes where `>` says."""
    for line in text.splitlines():
        assert _LINE.fullmatch(line), f"{block.page}:{block.line}: {line!r} is no line of novelgen or export alone"
        command, _, file = line.partition(" > ")
        words = shlex.split(command, comments=True)
        if words[:1] == ["export"]:
            name, _, value = words[1].partition("=")
            patch.setenv(name, value)
        elif words:
            result = CliRunner().invoke(novelgen, words[1:])
            told = f"{block.page}:{block.line}: {line}\n{result.output}"
            assert result.exit_code == 0, told
            if file:
                _save(folder / file, result.stdout)


def _compare_listing(block: Block) -> None:
    first, _, listed = block.text.partition("\n")
    assert first.startswith("$ novelgen "), f"{block.page}:{block.line}: a listing begins with its command"
    assert listed == listing_of(first.removeprefix("$ ")), (
        f"{block.page}:{block.line} is not what the program prints; {HOW}"
    )
