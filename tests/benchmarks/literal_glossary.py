"""The glossary of a chunk against literal longest match, and what 2,000 entries cost.

    python -m tests.benchmarks.literal_glossary /work/shared/bench/people

Every name of the lists of people gets a made-up translation. Each text is cut into chunks of 5,000 characters. What is
listed, as pairs of an entity and a name, is compared with what a regular expression of all names finds, the longest
first: of Latin names whole words, those of several words in any case. Line breaks, and which of two scripts writes a
name, do not count.
"""

import argparse
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from novelgen.context.text_glossary import mentioned_in
from novelgen.language.language import has_cjk
from novelgen.language.normalise import same_characters
from novelgen.models.entity import Entity, EntityAlias

CHUNK_CHARACTERS = 5_000
ENTRIES = 2_000

Pair = tuple[str, str]


def people(folder: Path) -> list[Entity]:
    """Return the listed people of a book with a made-up translation of every name."""
    listed = json.loads((folder / "people.json").read_text(encoding="utf-8"))
    entities = []
    for number, person in enumerate(listed):
        names = list(dict.fromkeys([person["name"], *person["aliases"]]))
        translated = {name: f"translation {number} {rank}" for rank, name in enumerate(names)}
        entities.append(
            Entity(
                entity_id=f"C{number}",
                entity_type="character",
                name=names[0],
                aliases=[EntityAlias(alias=name) for name in names[1:]],
                profile={"translation": translated[names[0]], "alias_translations": translated},
            )
        )
    return entities


def literal_pairs(text: str, entities: list[Entity]) -> set[Pair]:
    """Return who is named and how, by literal longest match."""
    bearers = defaultdict(list)
    for entity in entities:
        for name in entity.names():
            bearers[name].append(entity.entity_id)
    by_length = sorted(bearers, key=len, reverse=True)
    by_group = {f"n{number}": name for number, name in enumerate(by_length)}
    pattern = "|".join(f"(?P<{group}>{_form(name)})" for group, name in by_group.items())
    found = {by_group[match.lastgroup or ""] for match in re.finditer(pattern, text)}
    return {(entity_id, same_characters(name)) for name in found for entity_id in bearers[name]}


def _form(name: str) -> str:
    if has_cjk(name):
        return re.escape(name)
    words = re.escape(name) if " " not in name else f"(?i:{re.escape(name)})"
    return rf"(?<!\w)(?:{words}|{re.escape(name.upper())})(?!\w)"


def listed_pairs(text: str, entities: list[Entity]) -> set[Pair]:
    """Return who is named and how, by the glossary; names that a card has and the text does not are not counted."""
    pairs = set()
    for mention in mentioned_in(text, [], newly_shown=entities):
        entry = mention.entry
        pairs |= {(entry.entity_id, same_characters(one.name)) for one in (entry, *entry.aliases)}
    return pairs


def chunks(text: str) -> Iterator[str]:
    """Yield a text in pieces of the size of a chapter."""
    for start in range(0, len(text), CHUNK_CHARACTERS):
        yield text[start : start + CHUNK_CHARACTERS]


def compared(folder: Path) -> tuple[int, int, int, list[str]]:
    """Return how many pairs both, the glossary alone and the literal match alone find, and some that differ."""
    entities = people(folder)
    both, alone, missing, examples = 0, 0, 0, []
    # Lines are broken within names.
    text = re.sub(r"\s+", " ", (folder / "text.txt").read_text(encoding="utf-8"))
    for chunk in chunks(text):
        listed, literal = listed_pairs(chunk, entities), literal_pairs(chunk, entities)
        both, alone, missing = (
            both + len(listed & literal),
            alone + len(listed - literal),
            missing + len(literal - listed),
        )
        examples += [f"+{name}" for _, name in listed - literal] + [f"-{name}" for _, name in literal - listed]
    return both, alone, missing, examples


def cost(folders: list[Path]) -> float:
    """Return the processor seconds of a glossary of 2,000 entries over 5,000 characters, nothing being known yet."""
    names = dict.fromkeys(name for folder in folders for entity in people(folder) for name in entity.names())
    text = next(path for path in folders if path.name == "sanguo").joinpath("text.txt").read_text(encoding="utf-8")
    chunk = text[20_000 : 20_000 + CHUNK_CHARACTERS]
    # Names that no list has are taken from elsewhere in the text, as terms of two to four characters.
    pieces = (text[start : start + 2 + start % 3] for start in range(100_000, len(text), 37))
    names |= dict.fromkeys(piece for piece in pieces if piece.isalpha())
    entities = [
        Entity(entity_id=f"T{number}", entity_type="term", name=name, profile={"translation": f"term {number}"})
        for number, name in enumerate(list(names)[:ENTRIES])
    ]
    start = time.process_time()
    mentions = mentioned_in(chunk, entities)
    spent = time.process_time() - start
    print(f"{len(entities)} entries, {len(chunk)} characters, {len(mentions)} listed: {spent:.3f} CPU s")
    return spent


def main() -> None:
    """Print precision and recall per book and together, and the cost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("people", type=Path, help="a folder of books with people.json and text.txt")
    folders = sorted(path.parent for path in parser.parse_args().people.glob("*/people.json"))
    cost(folders)
    total = [0, 0, 0]
    for folder in folders:
        both, alone, missing, examples = compared(folder)
        total = [one + other for one, other in zip(total, (both, alone, missing), strict=True)]
        shown = ", ".join(dict.fromkeys(examples[:12]))
        print(f"{folder.name}: precision {both / (both + alone):.4f} recall {both / (both + missing):.4f} {shown}")
    both, alone, missing = total
    print(f"all: precision {both / (both + alone):.4f} recall {both / (both + missing):.4f}")


if __name__ == "__main__":
    main()
