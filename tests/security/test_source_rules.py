"""What the source must never do, and which versions it needs."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parents[2]
TEMPLATES_OF_THE_PAGE = REPOSITORY / "runtime/page/templates"
JINJA_STANDS_IN = REPOSITORY / "runtime/page/frame.py"
"""HTML of packaged files, into which texts are put escaped; no text is ever a template."""
MAKER_OF_PROMPTS = REPOSITORY / "novelgen/model_calls/prompting.py"
FORBIDDEN = {
    "import jinja2": "TID251",
    "import pickle": "TID251",
    "import marshal": "TID251",
    "import shelve": "TID251",
    "from langchain_core.load import loads": "TID251",
    "from langchain_core.prompts.loading import load_prompt": "TID251",
    "from langchain_core.prompts import PromptTemplate": "TID251",
    "from langchain.load import loads": "TID251",
    "from langchain_community.document_loaders import TextLoader": "TID251",
    "from langchain_community.tools import ShellTool": "TID251",
    "eval(text)": "S307",
    "exec(text)": "S102",
    "import os; os.system(text)": "S605",
    "import os; os.popen(text)": "S605",
    "import subprocess; subprocess.run(text, shell=True)": "S602",
}
"""What no module of the program may hold, with the rule of ruff that refuses it; `.ci/run` checks all of them."""
MIN_SAFE_VERSIONS = {"langchain-core": "1.3.3"}


def _calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


@pytest.mark.parametrize(("source", "rule"), FORBIDDEN.items())
@pytest.mark.parametrize("file", ["novelgen/chains/made_up.py", "runtime/story/made_up.py"])
def test_nothing_that_is_read_becomes_code(source: str, rule: str, file: str) -> None:
    """The linter refuses templates and deserialisation outside their modules, and evaluation and shells anywhere."""
    command = ["ruff", "check", "--output-format", "json", "--stdin-filename", file, "-"]
    refusal = subprocess.run(
        [sys.executable, "-m", *command], input=source, capture_output=True, text=True, cwd=REPOSITORY, check=False
    )
    assert rule in {violation["code"] for violation in json.loads(refusal.stdout)}


def test_templates_of_the_page_are_files_that_escape() -> None:
    """No text becomes a template, and no template lets a text through unescaped."""
    source = JINJA_STANDS_IN.read_text(encoding="utf-8")
    assert "autoescape=True" in source
    calls = list(_calls(ast.parse(source)))
    assert {name for name, _ in calls}.isdisjoint({"from_string", "Template"})
    # What is no template's text is markup only as a constant, whose fields escape what comes into them.
    marked = [call for name, call in calls if name == "Markup"]
    assert all(len(call.args) == 1 and isinstance(call.args[0], ast.Constant) for call in marked)
    for template in TEMPLATES_OF_THE_PAGE.iterdir():
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*(safe|forceescape|xmlattr|tojson|urlize)\b|autoescape|Markup", text), template.name


def test_prompts_are_templates_without_code() -> None:
    """A template of LangChain may be jinja2, which runs what it is told."""
    calls = _calls(ast.parse(MAKER_OF_PROMPTS.read_text(encoding="utf-8")))
    formats = [keyword.value for _, call in calls for keyword in call.keywords if keyword.arg == "template_format"]
    assert [ast.literal_eval(value) for value in formats] == ["f-string"]


def _installed(package: str) -> Version | None:
    """Return the version of a package; what is not there has no holes."""
    try:
        return Version(version(package))
    except PackageNotFoundError:
        return None


@pytest.mark.parametrize("package", MIN_SAFE_VERSIONS)
def test_dependencies_have_their_least_safe_version(package: str) -> None:
    """Both what is installed and what pyproject.toml allows."""
    least = Version(MIN_SAFE_VERSIONS[package])
    assert _installed(package) >= least
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = (each for each in map(Requirement, project["dependencies"]) if each.name == package)
    floors = [Version(bound.version) for bound in requirement.specifier if bound.operator == ">="]
    assert max(floors) >= least
