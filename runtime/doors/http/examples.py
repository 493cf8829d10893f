"""Examples of every route for the OpenAPI document, taken from a real run over a made-up story.

`python -m tests.runtime.doors.http.write_examples` writes them.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES_FILE = Path(__file__).with_name("examples.json")


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return operation id to what was asked (`request`, `parameters`) and answered (`response`)."""
    told: dict[str, dict[str, Any]] = json.loads(EXAMPLES_FILE.read_text(encoding="utf-8"))
    return told


def with_examples(document: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document with an example of each operation's request and answer."""
    known = examples() if EXAMPLES_FILE.exists() else {}
    for operations in document["paths"].values():
        for operation in operations.values():
            example = known.get(operation["operationId"])
            if example is None:
                continue
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in example.get("parameters", {}):
                    parameter["example"] = example["parameters"][parameter["name"]]
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if "request" in example and kind in ("application/json", "text/plain"):
                    content["example"] = example["request"]
            for status, answer in operation["responses"].items():
                for kind, content in answer.get("content", {}).items():
                    if status.startswith("2") and kind in example.get("response", {}):
                        content["example"] = example["response"][kind]
    return document
