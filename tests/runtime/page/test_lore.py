"""The lorebook on the page: entries are added, taken in and out, and taken back."""

import json

from fastapi.testclient import TestClient

from runtime.page.frame import ENGLISH
from tests.runtime.page.reading import read

HERE = "/page/projects/demo"
BOOK = {"entries": {"0": {"key": ["tide"], "content": "The causeway is under water.", "constant": False}}}


def test_a_lorebook_is_taken_in_told_out_and_back(client: TestClient) -> None:
    """An entry has its words, its place and its text; what goes out comes in again, and undo takes it back."""
    form = {"text": "Salt pays the toll.", "keys": "salt, toll", "start": "3:1", "back": f"{HERE}/lore"}
    assert client.post(f"{HERE}/lore/add", data=form).status_code == 200
    seen = read(client.post(f"{HERE}/lore/import", data={"text": json.dumps(BOOK), "back": f"{HERE}/lore"}))
    assert ENGLISH["did_lore"].format(name="1") in seen.text
    for told in ("Salt pays the toll.", "toll", "since 3:1", "tide", "since always", "causeway is under water"):
        assert told in seen.text
    assert "Salt pays" not in read(client.get(f"{HERE}/lore?as_of=2:1")).text
    out = {kind: client.get(f"{HERE}/lore/{kind}") for kind in ("sillytavern", "novelai")}
    keys = sorted(each["key"] for each in out["sillytavern"].json()["entries"].values())
    assert keys == [["salt", "toll"], ["tide"]]
    assert out["novelai"].headers["content-disposition"].endswith("demo.lorebook")
    undo = {each["name"]: each["value"] or "" for each in seen.all("input") if each.get("name") in ("undo", "back")}
    assert "causeway" not in read(client.post(f"{HERE}/undo", data=undo)).text


def test_what_is_no_lorebook_is_refused(client: TestClient) -> None:
    """The page says so, and nothing is stored."""
    answer = client.post(f"{HERE}/lore/import", data={"text": "{", "back": f"{HERE}/lore"})
    assert answer.status_code == 400
    assert client.get("/v1/projects/demo/lore").json()["entries"] == []
