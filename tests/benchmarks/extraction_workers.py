"""How much sooner several workers have read a story, with a model that takes the same time for every answer.

python -m tests.benchmarks.extraction_workers --scenes 40 --delay 2 --workers 4
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from langchain_core.messages import BaseMessage

from runtime.ingest.extraction import extract_scenes
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for
from tests.support.scripted_chat_model import ScriptedChatModel

SCENES_PER_CHAPTER = 5
SENTENCES = 25


def text_of(number: int) -> str:
    """Return a scene of some 2,500 characters in which the same two people and one of its own speak."""
    sentence = f"Mara Venn counted {number} lamps while Tobias Reed and Guest {number} of Hythe waited at the gate. "
    return sentence * SENTENCES


def answer(messages: list[BaseMessage]) -> str:
    """Answer by names alone, as a model does that cannot see the scenes that are read beside."""
    number = int(messages[1].text.rpartition("counted ")[2].split()[0])
    names = ["Mara Venn", "Tobias Reed", f"Guest {number} of Hythe"]
    quote = f"Mara Venn counted {number} lamps"
    return json.dumps(
        {
            "characters_present": names,
            "new_entities": [{"name": name, "entity_type": "character"} for name in names],
            "summary": [f"Mara counts {number} lamps."],
            "state_changes": [{"entity": "Mara Venn", "attribute": "lamps", "value": str(number), "evidence": quote}],
            "open_loops_created": [{"description": f"Why does guest {number} wait?", "entities": [names[2]]}],
            "memories": [
                {"content": f"Mara Venn counted lamp {number * 10 + each}.", "entities": names, "evidence": quote}
                for each in range(6)
            ],
        }
    )


def measured(folder: Path, *, scenes: int, delay_s: float, workers: int) -> tuple[float, str]:
    """Return the seconds that an extraction takes, and what it leaves, as text."""

    def slow(messages: list[BaseMessage]) -> str:
        time.sleep(delay_s)
        return answer(messages)

    with MemoryStores(settings_for(folder)) as stores:
        stores.create_project("story", language="en")
        inputs = [
            SceneInput(
                chapter_index=1 + number // SCENES_PER_CHAPTER,
                scene_index=1 + number % SCENES_PER_CHAPTER,
                text=text_of(number),
            )
            for number in range(scenes)
        ]
        ingest_scenes(stores, "story", inputs)
        started_s = time.perf_counter()
        report = extract_scenes(stores, "story", ScriptedChatModel(answer=slow), workers=workers)
        elapsed_s = time.perf_counter() - started_s
        if report.count("done") != scenes:
            raise SystemExit(f"only {report.count('done')} of {scenes} scenes were read")
        with stores.database("story").read() as unit:
            left = [each.record and each.record.model_dump(mode="json") for each in unit.scenes.list_as_of()]
            entities = [each.entity.model_dump(mode="json") for each in unit.entities.list_all()]
    return elapsed_s, json.dumps([left, entities], sort_keys=True)


def main() -> None:
    """Measure one worker and several on the same story, and print the share of the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--delay", type=float, default=2.0, help="seconds that the model takes for an answer")
    parser.add_argument("--workers", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as several:
        alone_s, left_alone = measured(Path(one), scenes=given.scenes, delay_s=given.delay, workers=1)
        together_s, left_together = measured(
            Path(several), scenes=given.scenes, delay_s=given.delay, workers=given.workers
        )
    print(f"1 worker {alone_s:.1f} s, {given.workers} workers {together_s:.1f} s: {together_s / alone_s:.3f}")
    print("equal result" if left_alone == left_together else "DIFFERENT result")


if __name__ == "__main__":
    main()
