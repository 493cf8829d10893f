"""What the source must never do, and which versions it needs."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = sorted(file for room in ("novelgen", "runtime") for file in (REPOSITORY / room).rglob("*.py"))
FORBIDDEN_MODULES = (
    "jinja2",
    "pickle",
    "marshal",
    "shelve",
    "langchain_core.load",
    "langchain_core.prompts.loading",
    "langchain.load",
    "langchain_community.document_loaders",
    "langchain_community.tools",
)
TEMPLATES_OF_THE_PAGE = REPOSITORY / "runtime/page/templates"
JINJA_STANDS_IN = REPOSITORY / "runtime/page/frame.py"
"""HTML of packaged files, into which texts are put escaped; no text is ever a template."""
FORBIDDEN_CALLS = {"eval", "load_prompt", "__import__", "system", "popen"}
FORBIDDEN_BUILTINS = {"exec"}
"""Forbidden as a function; `Session.exec` of SQLModel runs a statement."""
MIN_SAFE_VERSIONS = {"langchain-core": "1.3.3"}


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield name, node


@pytest.mark.slow
@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(REPOSITORY)))
def test_no_source_evaluates_or_deserialises_what_it_reads(file: Path) -> None:
    """No jinja2 but for the page, no pickle, no prompt files by path, no LangChain `load`, no eval, no shell."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = [
        name
        for name in _imports(tree)
        if name.startswith(FORBIDDEN_MODULES) and not (file == JINJA_STANDS_IN and name.startswith("jinja2"))
    ]
    called = [
        name
        for name, call in _calls(tree)
        if name in FORBIDDEN_CALLS or (name in FORBIDDEN_BUILTINS and isinstance(call.func, ast.Name))
    ]
    shells = [name for name, call in _calls(tree) for keyword in call.keywords if keyword.arg == "shell"]
    formats = [
        keyword.value.value
        for _, call in _calls(tree)
        for keyword in call.keywords
        if keyword.arg == "template_format" and isinstance(keyword.value, ast.Constant)
    ]
    assert (imported, called, shells) == ([], [], [])
    assert set(formats) <= {"f-string"}


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


@pytest.mark.slow
def test_prompt_templates_are_made_in_one_place_from_packaged_files() -> None:
    """No template is ever made of story text."""
    makers = {
        file.relative_to(REPOSITORY).as_posix()
        for file in SOURCES
        for name, _ in _calls(ast.parse(file.read_text(encoding="utf-8")))
        if name in ("from_template", "from_messages", "PromptTemplate", "ChatPromptTemplate")
    }
    assert makers == {"novelgen/model_calls/prompting.py"}


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
