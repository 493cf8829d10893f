"""The context of a piece of text becomes a block of a translator's prompt."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.models.chunk_context import ChunkMemory, GlossaryEntry, GlossaryName
from novelgen.rendering.fence import fence_mark, fenced
from novelgen.rendering.labels import labels_for
from novelgen.rendering.timeline import place_of
from novelgen.text.cjk import StoryLanguage

_HEADINGS = {
    "en": ("Names and terms in this text", "What the story has established about them"),
    "zh": ("本段出现的人物与术语", "相关记忆"),
}
_MORE = {"en": "… and {0} more", "zh": "……另有 {0} 条"}
_TYPES = {
    "en": {},
    "zh": {"character": "人物", "location": "地点", "item": "物品", "faction": "势力", "term": "术语"},
}
_ALSO = {"en": "also {0}", "zh": "又名{0}"}


def render_chunk_context(
    glossary: Sequence[GlossaryEntry], memories: Sequence[ChunkMemory], *, more: int, language: str
) -> str:
    """Render names and memories for a prompt: the glossary first, then the memories under their heading.

    Args:
        glossary: Whom and what the text names.
        memories: In the order to show.
        more: How many further ones there are; named after the last one.
        language: Language of the headings, `zh…` or `en`.

    Returns:
        The block, ending in a line break; empty when there is nothing to say.
    """
    labels = labels_for(language)
    code: StoryLanguage = "zh" if labels.language == "zh" else "en"
    names = [_entry_line(entry, code) for entry in glossary]
    told = [f"- [{place_of(each.chunk.model_dump(), labels)}] {each.chunk.content}" for each in memories]
    mark = fence_mark([*names, *told])
    blocks = []
    for heading, lines, rest in zip(_HEADINGS[code], (names, told), (0, more), strict=True):
        if lines:
            counted = [_MORE[code].format(rest)] if rest else []
            blocks.append("\n".join([f"## {heading}", *fenced(lines, mark), *counted]))
    return "\n\n".join([labels.note, *blocks]) + "\n" if blocks else ""


def _entry_line(entry: GlossaryEntry, language: StoryLanguage) -> str:
    chinese = language == "zh"
    kind = _TYPES[language].get(entry.entity_type, entry.entity_type)
    parts = [f"{_name(entry.name, entry.translation)}{f'（{kind}）' if chinese else f' ({kind})'}"]
    if entry.aliases:
        listed = ("、" if chinese else ", ").join(_alias(alias) for alias in entry.aliases)
        parts.append(_ALSO[language].format(listed))
    if entry.description:
        parts.append(entry.description)
    return "- " + ("；" if chinese else "; ").join(parts)


def _alias(alias: GlossaryName) -> str:
    return _name(alias.name, alias.translation)


def _name(name: str, translation: str) -> str:
    return f"{name} → {translation}" if translation else name
