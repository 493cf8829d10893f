"""Which paths, methods and parameters the OpenAPI document names: a client notices whatever changes in them."""

import json
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

PATHS = Path(__file__).with_name("openapi_paths.json")


def told_by(document: dict[str, Any]) -> dict[str, str]:
    """Method and path to operation id, parameters and fields of the body, as the file has them."""
    schemas = document["components"]["schemas"]
    told = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            fields: set[str] = set()
            for content in operation.get("requestBody", {}).get("content", {}).values():
                shapes = [content["schema"], *content["schema"].get("anyOf", ())]
                named = [schemas[each["$ref"].rsplit("/", 1)[1]] if "$ref" in each else each for each in shapes]
                fields.update(*(each.get("properties", ()) for each in named))
            parameters = sorted(each["name"] for each in operation.get("parameters", ()))
            told[f"{method.upper()} {path}"] = " ".join([operation["operationId"], *parameters, *sorted(fields)])
    return told


def test_paths_methods_and_parameters_are_those_of_the_file(empty: TestClient) -> None:
    """What is added, renamed or gone stands in the file, so that a change of it is a decision."""
    document = empty.get("/openapi.json").json()
    assert told_by(document) == json.loads(PATHS.read_text(encoding="utf-8"))
