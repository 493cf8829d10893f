"""Project files, settings and manuscripts with anything in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from novelgen.errors import ConfigurationError, InvalidFileError, UserInputError
from runtime.files.chapter_text import chapter_from_text
from runtime.files.manuscripts import read_manuscript, split_manuscript
from runtime.files.project_files import (
    load_book,
    load_chapter,
    load_chapter_plan,
    load_characters,
    load_entities,
    load_records,
    load_settings_file,
)
from runtime.ingest.scene_input import scenes_of_chapter
from runtime.settings import load_settings
from tests.fuzz.strategies import JSON_VALUES, TEXTS, broken_texts, changed_documents, documented, fuzzed
from tests.support.demo_project import SHIPPED_PROJECTS


def _shipped(name: str) -> Any:
    return json.loads((SHIPPED_PROJECTS / "demo" / name).read_text(encoding="utf-8"))


PLAN = _shipped("chapters/chapter_005_plan.json")
READERS: dict[str, tuple[Callable[[Path], Any], Any]] = {
    "settings": (load_settings_file, _shipped("settings.json")),
    "characters": (load_characters, _shipped("characters.json")),
    "entities": (load_entities, {"entities": _shipped("entities.json")["entities"][:3]}),
    "chapter plan": (load_chapter_plan, PLAN),
    "records": (load_records, {"records": _shipped("records/chapter_002_records.json")["records"][:2]}),
    "chapter": (
        load_chapter,
        {"chapter_number": 1, "scenes": [{"scene_number": 1, "content": "Ines came.", "word_count": 2}]},
    ),
}
ANYTHING = st.binary(max_size=300) | TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))


def _name_of(kind: str) -> str:
    return "chapter_002_records.json" if kind == "records" else "chapter_001.json"


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
@fuzzed
def test_any_project_file_is_read_or_refused(tmp_path: Path, kind: str, data: st.DataObject) -> None:
    """Bytes, JSON of another shape, and a good file with something replaced: only InvalidFileError comes out."""
    read, good = READERS[kind]
    documents = (JSON_VALUES | changed_documents(good)).map(lambda value: json.dumps(value).encode())
    file = tmp_path / _name_of(kind)
    file.write_bytes(data.draw(ANYTHING | documents))
    with documented(InvalidFileError):
        read(file)


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("depth", [90, 400, 900, 100_000])
def test_deep_files_are_read_or_refused(tmp_path: Path, kind: str, depth: int) -> None:
    """A nesting that parses must not break what comes after either."""
    read, good = READERS[kind]
    document = json.dumps(good)
    file = tmp_path / _name_of(kind)
    file.write_text(document[:-1] + ', "more": ' + "[" * depth + "]" * depth + "}", encoding="utf-8")
    if depth <= 90:
        read(file)
        return
    with pytest.raises(InvalidFileError, match="not usable JSON"):
        read(file)


@pytest.mark.slow
@given(
    text=broken_texts(
        "memory:\n", "  memory_budget: 7\n", "database_url: x\n", "- ", ": ", "&a ", "*a", "!!python/name:os.system "
    )
)
@example(text="~:\n")
@example(text="? [a]\n: 1\n")
@fuzzed
def test_any_configuration_is_read_or_refused(tmp_path: Path, text: str) -> None:
    """YAML or not: settings, or a ConfigurationError."""
    file = tmp_path / "config.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with documented(ConfigurationError):
        load_settings(file)


@given(memory=st.dictionaries(st.sampled_from(["memory_budget", "vector_store", "embedding_model", "x"]), JSON_VALUES))
@fuzzed
def test_any_setting_is_taken_or_refused(tmp_path: Path, memory: dict[str, Any]) -> None:
    """Values of any type under known and unknown names."""
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps({"memory": memory}), encoding="utf-8")
    with documented(ConfigurationError):
        load_settings(file)


MANUSCRIPT = ("# Chapter 1\n", "Chapter IX.\n", "第三章 盐\n", "***\n", "Ines came.\n\n", "\n", "1.\n", "\x0c")


@given(text=broken_texts(*MANUSCRIPT))
@fuzzed
def test_any_text_is_a_chapter_and_a_manuscript(text: str) -> None:
    """Text is never refused for what it holds, and its scenes can be taken in."""
    chapter = chapter_from_text(text, chapter_number=1)
    for scene in scenes_of_chapter(chapter):
        scene.scrubbed().text.encode("utf-8")
    with documented(UserInputError):
        split_manuscript(text, title="x")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".txt", ".md", ".docx", ".epub"])
@given(content=ANYTHING | st.binary(max_size=200).map(lambda tail: b"PK\x03\x04" + tail))
@fuzzed
def test_any_manuscript_file_is_read_or_refused(tmp_path: Path, suffix: str, content: bytes) -> None:
    """Whatever the bytes behind the name are."""
    file = tmp_path / f"book{suffix}"
    file.write_bytes(content)
    with documented(UserInputError):
        read_manuscript(file)


@given(lines=st.lists(JSON_VALUES.map(json.dumps) | TEXTS, max_size=4))
@fuzzed
def test_any_book_folder_is_read_or_refused(tmp_path: Path, lines: list[str]) -> None:
    """JSON Lines with anything on each line."""
    (tmp_path / "scenes.jsonl").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    with documented(UserInputError):
        load_book(tmp_path)
