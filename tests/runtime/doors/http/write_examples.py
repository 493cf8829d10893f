"""Write the examples of the OpenAPI document from a walk over the demo story: `python -m …write_examples`."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from runtime.doors.http.app import EXAMPLES_FILE
from runtime.stores import MemoryStores
from tests.runtime.doors.http.serving import Exchange, client_of, village_model, walk
from tests.support.demo_project import copy_shipped_demos, ingest_demo, settings_for

MAX_ENTRIES = 2
MAX_FILES = 3
LONGEST_TEXT = 240
LONGEST_STREAM = 400

EACH_RUN_ITS_OWN = (
    (re.compile(r"20\d\d-\d\d-\d\dT[\d:.]+(Z|\+00:00)"), "2026-11-27T12:00:00Z"),
    (re.compile(r"\b\d\.\d{7,}(e-\d+)?"), "0.01"),
    (re.compile(r'(job_id\\?": ?\\?")[0-9a-f]{16}'), r"\g<1>06af5a0e429a473d"),
    (re.compile(r'(?<=")/[^"]*?/projects/'), "/srv/projects/"),
)
"""What differs from run to run, and what stands in its place, so that a new file differs where an answer does."""


def shortened(value: Any, depth: int = 0) -> Any:
    """Return a value of which lists and texts are cut, so that the document stays readable."""
    if isinstance(value, dict):
        entries = list(value.items())
        if depth and len(entries) > 30:
            entries = entries[:MAX_FILES]
        return {name: shortened(each, depth + 1) for name, each in entries}
    if isinstance(value, list):
        return [shortened(each, depth + 1) for each in value[:MAX_ENTRIES]]
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return value[:LONGEST_TEXT] + "…"
    return value


def example_of(exchange: Exchange) -> dict[str, Any]:
    """Return what the document shows of a call."""
    kind = exchange.response.headers["content-type"].partition(";")[0]
    is_json = kind == "application/json"
    answer = shortened(exchange.response.json()) if is_json else exchange.response.text[:LONGEST_STREAM]
    example: dict[str, Any] = {"response": {kind: answer}}
    if exchange.parameters:
        example["parameters"] = exchange.parameters
    if exchange.request is not None:
        example["request"] = exchange.request
    return example


def in_lines(examples: dict[str, dict[str, Any]]) -> str:
    """Return the document with a line for each part of an example, so that a change shows where it is."""
    entries = []
    for name, example in examples.items():
        parts = (f" {json.dumps(part)}: {json.dumps(told, ensure_ascii=False)}" for part, told in example.items())
        entries.append(f"{json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        projects = Path(folder) / "projects"
        projects.mkdir()
        copy_shipped_demos(projects)
        with MemoryStores(settings_for(projects)) as stores:
            ingest_demo(stores, "demo")
        with client_of(projects, chat_model=village_model()) as client:
            exchanges = walk(client)
    examples = {name: example_of(each) for name, each in sorted(exchanges.items())}
    document = in_lines(examples)
    for pattern, same in EACH_RUN_ITS_OWN:
        document = pattern.sub(same, document)
    EXAMPLES_FILE.write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main()
