"""Running a notebook of the docs cell by cell, as its reader would; `python -m tests.docs.notebooks` keeps the outputs.

The cells run in this process: nbclient with ipykernel is two dozen packages, three of them compiled, and a process that
loads everything anew, to run twenty cells that need no magic. What is shown is what Jupyter shows: the value of a
cell's last line as `_repr_html_` has it.
"""

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run_notebook(notebook: dict[str, Any], name: str) -> list[list[dict[str, Any]]]:
    """Return the outputs of a notebook's code cells, as the format of notebooks has them.

    Args:
        notebook: The notebook.
        name: Names it in a traceback.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    return [
        _run("".join(cell["source"]), f"{name}, cell {cell['id']}", names)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def _run(source: str, name: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, shown = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec", dont_inherit=True), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
        )
    if shown is not None:
        data = {"text/plain": repr(shown).splitlines(keepends=True)}
        if hasattr(shown, "_repr_html_"):
            data = {"text/html": shown._repr_html_().splitlines(keepends=True), "text/plain": [_plain(shown)]}
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return outputs


class _Printer:
    """What `_repr_pretty_` prints to."""

    said = ""

    def text(self, text: str) -> None:
        self.said += text


def _plain(shown: Any) -> str:
    printer = _Printer()
    shown._repr_pretty_(printer, False)
    return printer.said


def main() -> None:
    """Run every notebook and keep what it shows in it."""
    for path in NOTEBOOKS:
        notebook = read_notebook(path)
        outputs = iter(run_notebook(notebook, path.name))
        for number, cell in enumerate(each for each in notebook["cells"] if each["cell_type"] == "code"):
            cell["outputs"] = next(outputs)
            cell["execution_count"] = number + 1
            for each in cell["outputs"]:
                if "execution_count" in each:
                    each["execution_count"] = number + 1
        path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["NOVELGEN_MODEL"] = ""
    main()
