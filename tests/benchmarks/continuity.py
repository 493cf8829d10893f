"""How many planted contradictions the rules of the continuity check find, and how many alarms are false.

    python -m tests.benchmarks.continuity ../shared/bench/xiyouji [--stored] [--list] [--evidence]

Each line of a book's `drafts.jsonl` is a draft of a planned scene, with one contradiction planted or none. `found`
counts the planted ones whose words a finding hits, `proven` those of them with a right memory or scene as evidence,
`false` the findings in drafts without any, `beside` those that hit something else than what was planted. With --stored
the book's own scenes are drafts as well, each against the story before it: a book seldom contradicts itself. With
--evidence (local embeddings, minutes) `decides` is the share of the planted ones of which the deciding memory or words
stand in the first twelve lines that a model is shown, and in all of them. No model is asked.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from novelgen.checking.evidence import gather_evidence
from novelgen.checking.prompt_lists import evidence_by_subject
from novelgen.checking.rules import find_by_rules
from novelgen.checking.story import read_draft
from novelgen.language.language import has_cjk
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue
from novelgen.models.position import StoryPosition
from runtime.ingest.ingest import import_book
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.draft_checker import find_by_sentences, story_before

PROJECT = "measured"

FIRST_LINES = 12

SHARE_OF_A_QUOTE = 0.6
"""Of a quote's n-grams, from which on a piece holds its words."""


class Finding(BaseModel):
    """One finding: where it was made, by which rule, on which words, and how it counts."""

    draft: str
    counts: str
    kind: str
    rule: str
    quote: str
    message: str


class ContinuityScore(BaseModel):
    """What the rules found in a book's drafts, and in its own scenes where those were asked for.

    `by_kind` holds found and planted contradictions of each kind; `false` is per clean draft, `beside` per draft
    with a contradiction, `stored` per scene of the book.
    """

    planted: int
    found: float
    proven: float
    false: float
    beside: float
    by_kind: dict[str, tuple[int, int]]
    stored: float | None = None
    decides: tuple[float, float] | None = None
    findings: list[Finding]


def score(stores: MemoryStores, folder: Path, project_id: str, *, stored: bool = False) -> ContinuityScore:
    """Apply the rules to a book's drafts, and to its own scenes when asked to.

    Args:
        stores: Stores that hold the book.
        folder: The book; its `drafts.jsonl` says what was planted.
        project_id: The project that holds the book.
        stored: Whether the book's own scenes are drafts as well.
    """
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    proven = clean = false = beside = 0
    findings: list[Finding] = []
    for line in _lines(folder / "drafts.jsonl"):
        issues = found_in(stores, project_id, line)
        about = line["contradiction"]
        if about is None:
            clean += 1
            false += len(issues)
            findings += [_finding(line["id"], "false", each) for each in issues]
            continue
        hits = [each for each in issues if is_hit(each.draft_quote, about["quote"])]
        planted[about["kind"]] += 1
        found[about["kind"]] += bool(hits)
        proven += any(is_right(each, about) for each in hits)
        beside += len(issues) - len(hits)
        findings += [_finding(line["id"], "found" if each in hits else "beside", each) for each in issues]
    total = planted.total()
    alarms: list[Finding] = []
    scenes = list(_lines(folder / "scenes.jsonl")) if stored else []
    for scene in scenes:
        where = f"{scene['chapter_index']}:{scene['scene_index']}"
        alarms += [_finding(where, "stored", each) for each in found_in(stores, project_id, scene)]
    return ContinuityScore(
        planted=total,
        found=_share(found.total(), total),
        proven=_share(proven, total),
        false=_share(false, clean),
        beside=_share(beside, total),
        by_kind={kind: (found[kind], planted[kind]) for kind in sorted(planted)},
        stored=_share(len(alarms), len(scenes)) if stored else None,
        findings=findings + alarms,
    )


def found_in(stores: MemoryStores, project_id: str, line: dict[str, Any]) -> list[ContinuityIssue]:
    """Return what the rules find in a draft or a scene, told as it stands in its file."""
    story = story_before(stores, project_id, as_of=StoryPosition(line["chapter_index"], line["scene_index"]))
    return find_by_rules(read_draft(line["text"], story), story)


def decides(stores: MemoryStores, folder: Path, project_id: str) -> tuple[float, float]:
    """Return of how many planted contradictions the deciding piece stands in the first lines, and in any."""
    places: list[int | None] = []
    for line in _lines(folder / "drafts.jsonl"):
        about = line["contradiction"]
        if about is None:
            continue
        as_of = StoryPosition(line["chapter_index"], line["scene_index"])
        story = story_before(stores, project_id, as_of=as_of)
        draft = read_draft(line["text"], story)
        sentences = [draft.text[start:end] for start, end in draft.sentences]
        hits = find_by_sentences(stores, project_id, sentences=sentences, as_of=as_of, timeout_s=60)
        lines = evidence_by_subject(gather_evidence(draft, story, similar=hits.similar), draft, story)
        places.append(
            next((at for at, one in enumerate(lines) if any(_decides(each, about) for each in one.pieces)), None)
        )
    first = sum(each is not None and each < FIRST_LINES for each in places)
    return _share(first, len(places)), _share(sum(each is not None for each in places), len(places))


def _decides(piece: ContinuityEvidence, about: dict[str, Any]) -> bool:
    quotes = [each["quote"] for each in about["evidence"] if each.get("quote")]
    return piece.source_id in about["memory_ids"] or any(_holds(piece.text, each) for each in quotes)


def _holds(text: str, quote: str) -> bool:
    size = 2 if has_cjk(quote) else 5
    wanted = _grams(quote, size)
    return bool(wanted) and len(wanted & _grams(text, size)) >= SHARE_OF_A_QUOTE * len(wanted)


def is_hit(quote: str, planted: str) -> bool:
    """Tell whether a finding's words are the planted ones: they share half of the shorter one's n-grams."""
    size = 2 if has_cjk(planted) else 5
    one, other = _grams(quote, size), _grams(planted, size)
    return len(one & other) >= 0.5 * min(len(one), len(other))


def is_right(issue: ContinuityIssue, about: dict[str, Any]) -> bool:
    """Tell whether one piece of a finding's evidence is a memory or a scene that the planted one contradicts."""
    scenes = {(each["chapter_index"], each["scene_index"]) for each in about["evidence"]}
    return any(
        each.source_id in about["memory_ids"] or (each.chapter_index, each.scene_index) in scenes
        for each in issue.evidence
    )


def _grams(text: str, size: int) -> set[str]:
    letters = "".join(filter(str.isalnum, text.lower()))
    return {letters[at : at + size] for at in range(len(letters) - size + 1)}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def _finding(draft: str, counts: str, issue: ContinuityIssue) -> Finding:
    return Finding(
        draft=draft, counts=counts, kind=issue.kind, rule=issue.rule, quote=issue.draft_quote, message=issue.message
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def main(arguments: list[str] | None = None) -> None:
    """Print the score of a book."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a book with records and drafts.jsonl")
    parser.add_argument("--stored", action="store_true", help="also the findings in the book's own scenes")
    parser.add_argument("--list", action="store_true", help="also every finding")
    parser.add_argument("--evidence", action="store_true", help="also where the evidence stands that decides")
    options = parser.parse_args(arguments)
    embeddings = "local" if options.evidence else "fake:64"
    with tempfile.TemporaryDirectory() as projects:
        settings = load_settings(projects_dir=Path(projects), memory={"embedding_model": embeddings})
        with MemoryStores(settings) as stores:
            import_book(stores, options.folder, project_id=PROJECT, records=True)
            result = score(stores, options.folder, PROJECT, stored=options.stored)
            if options.evidence:
                result.decides = decides(stores, options.folder, PROJECT)
    print(result.model_dump_json(exclude={"findings"}))
    for each in result.findings if options.list else []:
        print(each.model_dump_json())


if __name__ == "__main__":
    main()
