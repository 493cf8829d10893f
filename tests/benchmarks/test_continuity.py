"""The score of the rules of the continuity check, on the small hand-made book."""

import json
import shutil
from pathlib import Path

import pytest

from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.benchmarks.continuity import PROJECT, ContinuityScore, decides, main

BOOK_FOLDER = Path(__file__).parents[1] / "data" / "bench_book"

WRONG_HANDS = "Ada drew the brass key from her own pocket and went up to the lamp."


def drafted(draft_id: str, text: str, contradiction: dict[str, object] | None = None) -> str:
    """A draft of the first scene of the last chapter."""
    return json.dumps(
        {"id": draft_id, "chapter_index": 4, "scene_index": 1, "text": text, "contradiction": contradiction}
    )


def planted(quote: str, kind: str) -> dict[str, object]:
    """What a draft contradicts: that the key was sold."""
    where = [{"chapter_index": 2, "scene_index": 2}]
    return {"quote": quote, "kind": kind, "memory_ids": ["M004"], "evidence": where}


def test_found_beside_and_false_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A finding on the planted words is found and proven, one elsewhere lies beside, one in a clean draft is false."""
    folder = tmp_path / "book"
    shutil.copytree(BOOK_FOLDER, folder)
    other = "By noon the wind had dropped and every gull was gone from the rocks."
    lines = [
        drafted("D1", WRONG_HANDS, planted(WRONG_HANDS, "object_holder")),
        drafted("D2", f"{WRONG_HANDS} {other}", planted(other, "promise")),
        drafted("D3", WRONG_HANDS),
        drafted("D4", other),
    ]
    (folder / "drafts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    main([str(folder), "--stored", "--list"])
    first, *findings = capsys.readouterr().out.splitlines()
    result = ContinuityScore.model_validate({**json.loads(first), "findings": list(map(json.loads, findings))})
    assert (result.planted, result.found, result.proven) == (2, 0.5, 0.5)
    assert (result.beside, result.false, result.stored) == (0.5, 0.5, 0.0)
    assert result.by_kind == {"object_holder": (1, 1), "promise": (0, 1)}
    assert [(each.draft, each.counts) for each in result.findings] == [
        ("D1", "found"),
        ("D2", "beside"),
        ("D3", "false"),
    ]


def test_where_the_deciding_evidence_stands_is_counted(tmp_path: Path) -> None:
    """A memory that is named and words that are quoted both count; what nobody gathered does not."""
    folder = tmp_path / "book"
    shutil.copytree(BOOK_FOLDER, folder)
    unknown = {**planted(WRONG_HANDS, "object_holder"), "memory_ids": ["M999"], "evidence": []}
    lines = [drafted("D1", WRONG_HANDS, planted(WRONG_HANDS, "object_holder")), drafted("D2", WRONG_HANDS, unknown)]
    (folder / "drafts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    settings = load_settings(projects_dir=tmp_path / "projects", memory={"embedding_model": "fake:8"})
    with MemoryStores(settings) as stores:
        import_book(stores, folder, project_id=PROJECT, records=True)
        assert decides(stores, folder, PROJECT) == (0.5, 0.5)
