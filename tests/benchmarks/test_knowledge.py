"""The score of who knows what, on the small hand-made book."""

import json
import shutil
from pathlib import Path

from tests.benchmarks.knowledge import score

BOOK_FOLDER = Path(__file__).parents[1] / "data" / "bench_book"


def judged(**fields: object) -> str:
    """A judged line on entering the second scene."""
    return json.dumps({"chapter_index": 1, "scene_index": 2, "memory_id": "M001", **fields})


def test_right_and_wrong_lines_are_told_apart(tmp_path: Path) -> None:
    """Who hid the key knows it, somebody else does not, and a line that says otherwise counts as told wrongly."""
    folder = tmp_path / "book"
    shutil.copytree(BOOK_FOLDER, folder)
    lines = [
        judged(id="K1", character_id="C0", knows=True, since=[1, 1]),
        judged(id="K2", character_id="C1", knows=False, trap=True),
        judged(id="K3", character_id="C1", knows=True, trap=True),
    ]
    (folder / "knowledge.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = score(folder)
    assert result.wrong == ["K3"]
    assert (result.accuracy, result.traps, result.since, result.presence) == (0.667, 0.5, 1.0, 0.333)
