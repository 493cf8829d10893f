"""Write the list of HTTP paths: `python -m tests.runtime.doors.http.write_openapi_paths`."""

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.runtime.doors.http.serving import client_of

PATHS_FILE = Path(__file__).with_name("openapi_paths.json")


def described_paths(document: dict[str, Any]) -> dict[str, str]:
    """Return the operation id, parameters and body fields of each method and path."""
    schemas = document["components"]["schemas"]
    described = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            fields: set[str] = set()
            for content in operation.get("requestBody", {}).get("content", {}).values():
                shapes = [content["schema"], *content["schema"].get("anyOf", ())]
                named = [schemas[shape["$ref"].rsplit("/", 1)[1]] if "$ref" in shape else shape for shape in shapes]
                fields.update(*(shape.get("properties", ()) for shape in named))
            parameters = sorted(parameter["name"] for parameter in operation.get("parameters", ()))
            described[f"{method.upper()} {path}"] = " ".join([operation["operationId"], *parameters, *sorted(fields)])
    return described


def main() -> None:
    """Write the file from the document of a server without projects."""
    with tempfile.TemporaryDirectory() as folder, client_of(Path(folder)) as client:
        described = described_paths(client.get("/openapi.json").json())
    text = json.dumps(described, indent=1, ensure_ascii=False, sort_keys=True)
    PATHS_FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
