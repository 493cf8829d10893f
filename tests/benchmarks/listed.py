"""What a scene touches, and how much of it the prompts of reading and of planning list.

    python -m tests.benchmarks.listed DIR [--list-tokens N]

DIR is a book with an answer key and records. A scene touches the known entities that its record speaks of or its text
names, and the threads that its record moves or ends. The extraction is given the text, the planner its plan alone.
"cached" is the share of the lists that begins as the lists of the scene before did.
"""

import argparse
import logging
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from langchain_core.messages import BaseMessage

from novelgen.language.language import estimate_tokens
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import is_description
from novelgen.language.sentences import WINDOW_CHARACTERS
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS, chosen_lists
from novelgen.reading.request import SceneRecordRequest
from runtime.ingest.story_before import record_request
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.contexts import build_context_chain
from tests.benchmarks.retrieval.bench_stores import bench_settings, imported
from tests.benchmarks.retrieval.book import BenchBook, load_bench_book
from tests.benchmarks.retrieval.quality import plan_request
from tests.support.scripted_chat_model import ScriptedChatModel

MAX_BULLETS = 5


@dataclass
class Shares:
    """How many of the touched were listed, and what the lists cost."""

    hits: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)
    missing: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, place: str, touched: Mapping[str, set[str]], listed: set[str], *, text: str) -> None:
        """Count one scene."""
        for kind, wanted in touched.items():
            self.hits[kind] += len(wanted & listed)
            self.wanted[kind] += len(wanted)
        self.texts.append(text)
        if lacking := sorted(set().union(*touched.values()) - listed):
            self.missing.append((place, lacking))

    def line(self, name: str) -> str:
        """Return the shares as a line."""
        shares = "  ".join(f"{kind} {_share(self.hits[kind], wanted)}" for kind, wanted in self.wanted.items())
        tokens = [estimate_tokens(text) for text in self.texts]
        again = [_common_start(*pair) / max(1, len(pair[1])) for pair in pairwise(self.texts)]
        return f"{name:9} {shares}  tokens {fmean(tokens):.0f} (at most {max(tokens)})  cached {fmean(again):.3f}"


def _share(hits: int, wanted: int) -> str:
    return f"{hits / wanted:.3f}" if wanted else "–"


def _common_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def touched_by(record: SceneRecord, known: Iterable[str], threads: Iterable[str]) -> dict[str, set[str]]:
    """Return which known entities and open threads a record speaks of."""
    spoken = {record.pov_character_id or "", record.location_id or "", *record.characters_present}
    spoken |= {change.entity_id for change in record.state_changes}
    spoken |= {side for pair in record.relationship_changes for side in (pair.character_a, pair.character_b)}
    spoken |= {entity_id for memory in record.memories for entity_id in memory.entities}
    moved = {loop.id for loop in record.open_loops_advanced} | {loop.id for loop in record.open_loops_resolved}
    return {"entities": spoken & set(known), "threads": moved & set(threads)}


def named_in(text: str, entities: Iterable[Entity]) -> set[str]:
    """Return the entities of which a whole proper name stands in a text."""
    bearers: dict[str, list[str]] = {}
    for entity in entities:
        for name in entity.names():
            if not is_description(name):
                bearers.setdefault(name, []).append(entity.entity_id)
    return {entity_id for match in NameFinder(bearers).find(text) for entity_id in bearers[match.name]}


def known_before(request: SceneRecordRequest) -> set[str]:
    """Return the entities that an earlier scene showed."""
    here = (request.chapter_index, request.scene_index)
    return {
        each.entity_id
        for each in request.entities
        if each.first_chapter is not None and (each.first_chapter, each.first_scene or 0) < here
    }


def as_read(request: SceneRecordRequest, descriptions: dict[str, str]) -> SceneRecordRequest:
    """Return a request as the reading of an unread scene has it: nobody of later, everybody described."""
    known = known_before(request)
    entities: list[Entity] = [
        each.model_copy(update={"description": descriptions.get(each.entity_id, "")})
        for each in request.entities
        if each.entity_id in known
    ]
    return request.model_copy(update={"entities": entities})


def reading_shares(stores: MemoryStores, book: BenchBook, project_id: str, *, list_tokens: int) -> Shares:
    """Measure the lists of an extraction prompt, over all scenes."""
    descriptions = {each.entity_id: each.description for each in book.book.entities}
    shares = Shares()
    for scene in book.book.scenes:
        place = (scene.chapter_index, scene.scene_index)
        record = book.book.records.get(place)
        if record is None:
            continue
        with stores.database(project_id).read() as unit:
            stored = unit.scenes.require(StoryPosition(*place))
            request = as_read(record_request(unit, stored, max_bullets=MAX_BULLETS), descriptions)
        so_far = SceneSoFar.on_entering(request)
        listed: set[str] = set()
        texts: list[str] = []
        for part in request.cut(window_characters=WINDOW_CHARACTERS):
            lists = chosen_lists(part.text, so_far, language=request.told_in, max_tokens=list_tokens)
            listed |= {*lists.shown_ids, *(line.split(" | ")[0] for line in lists.texts["threads"].splitlines())}
            texts.append("\n".join(lists.texts.values()))
        touched = touched_by(record, known_before(request), (each.loop_id for each in request.open_loops))
        touched["named"] = named_in(request.text, request.entities)
        shares.add(f"{place[0]}:{place[1]}", touched, listed, text=max(texts, key=len))
    return shares


def planning_shares(stores: MemoryStores, book: BenchBook, project_id: str) -> Shares:
    """Measure the lists of a planner's prompt, over all plans."""
    model = ScriptedChatModel(answer=lambda messages: "{}")
    chain = build_context_chain(stores, model=model, write_files=False)
    shares = Shares()
    for plan in book.plans:
        model.prompts.clear()
        chain.invoke(plan_request(project_id, plan))
        prompt = _text(model.prompts[0])
        with stores.database(project_id).read() as unit:
            stored = unit.scenes.require(StoryPosition(*plan.place))
            request = record_request(unit, stored, max_bullets=MAX_BULLETS)
        loops = {each.loop_id for each in request.open_loops}
        listed = {
            *re.findall(r"^(\w+) \| ", prompt, re.MULTILINE),
            *(each for each in re.findall(r"^- ([\w-]+) \[", prompt, re.MULTILINE) if each in loops),
        }
        touched = touched_by(book.book.records[plan.place], known_before(request), loops)
        shares.add(plan.plan_id, touched, listed, text=prompt)
    return shares


def _text(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(message.content) for message in messages[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one book."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=Path)
    parser.add_argument("--list-tokens", type=int, default=PROMPT_LIST_TOKENS)
    parser.add_argument("--missing", action="store_true", help="also print what each prompt lacks")
    parser.add_argument("--reading-alone", action="store_true", help="leave the planner out")
    parser.add_argument("--work-dir", type=Path, help="keep the imported project here")
    chosen = parser.parse_args(arguments)
    book = load_bench_book(chosen.book)
    with tempfile.TemporaryDirectory() as temporary:
        settings = bench_settings(
            load_settings(None, projects_dir=(chosen.work_dir or Path(temporary)) / "projects"), memory_budget=1000
        )
        memory = settings.memory.model_copy(update={"embedding_model": "fake:8"})
        with MemoryStores(settings.model_copy(update={"memory": memory})) as stores:
            project_id = imported(stores, book, records=True)
            found = {"reading": reading_shares(stores, book, project_id, list_tokens=chosen.list_tokens)}
            if not chosen.reading_alone:
                found["planning"] = planning_shares(stores, book, project_id)
    for name, shares in found.items():
        print(shares.line(name))
        for place, lacking in shares.missing if chosen.missing else ():
            print(f"  {place}: {', '.join(lacking)}")
    return 0


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(main())
