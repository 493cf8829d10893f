"""`novelgen search`, `timeline`, `chunk-context` and `summarize`: what the story, or a text, holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO, cast

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.opening import opened_project, opened_stores, story_labels, story_language
from runtime.doors.cli.output import print_json, print_text, report_warning
from runtime.doors.cli.parameters import CHAPTER, COUNT, CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.chunk_context import MemoryPriority
    from novelgen.models.memory import ContentType
    from novelgen.models.position import StoryPosition

CONTENT_TYPES = ("scene", "dialogue", "description", "summary", "memory", "note")


@click.command(
    epilog='\b\nExamples:\n  novelgen search my-novel "the brass key"\n'
    '  novelgen search my-novel "a promise" --entity Ada --type memory --as-of 4:1 --json'
)
@project_argument
@click.argument("query")
@click.option(
    "--entity",
    "--attached-to",
    "entities",
    multiple=True,
    help="Only of this entity: id, name or alias; of this chapter: chapter:3; or of the book: book; repeatable.",
)
@click.option("--type", "content_type", type=click.Choice(CONTENT_TYPES), help="Only this kind.  [default: all]")
@click.option("--tag", "tags", multiple=True, help="Only memories with this tag; repeatable.")
@click.option("--top-k", type=COUNT, default=10, show_default=True, help="At most so many.")
@click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Only what fits at least so well; with the built-in embedding model .84 (English) or .87 (Chinese) keeps out "
    "what has nothing to do with the story.  [default: all]",
)
@as_of_option
@json_option
@click.pass_obj
def search(
    session: CliSession,
    project: str,
    query: str,
    entities: tuple[str, ...],
    content_type: str | None,
    tags: tuple[str, ...],
    top_k: int,
    min_relevance: float,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Search the memory by meaning and by words, best first."""
    from runtime.doors.cli.views import print_memories
    from runtime.story.search import StorySearch

    with opened_project(session, project) as stores:
        found = StorySearch(stores, project).search(
            query=query,
            entities=entities,
            content_type=cast("ContentType | None", content_type),
            tags=tags,
            top_k=top_k,
            as_of=as_of,
            min_relevance=min_relevance,
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
    else:
        print_memories(found, labels)


@click.command(
    epilog="\b\nExamples:\n  novelgen timeline my-novel\n  novelgen timeline my-novel --lived --as-of 4:1\n"
    "  novelgen timeline my-novel --character Ada --json\n  novelgen timeline my-novel --chapter 4 --window 1"
)
@project_argument
@click.option(
    "--chapter", type=CHAPTER, help="How entities stood around this chapter.  [default: when the scenes play]"
)
@click.option(
    "--window", type=click.IntRange(min=0, max=100), default=2, show_default=True, help="Chapters before and after it."
)
@click.option("--lived", "is_lived", is_flag=True, help="Scenes in the order lived, not the order told.")
@click.option("--character", help="Only scenes with this character: id, name or alias.  [default: all]")
@as_of_option
@json_option
@click.pass_obj
def timeline(
    session: CliSession,
    project: str,
    chapter: int | None,
    window: int,
    is_lived: bool,
    character: str | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show when the scenes play, or how entities stood.

    One row per scene, by what its record and its first words say: the running day (~ follows from the hours, ≥ is the
    earliest that it can be, ? is unknown), the time since the scene before, and its place in the order lived. With
    --chapter one row per entity and chapter in which it changed, as it stood at the end of that chapter.
    """
    if chapter is None:
        _show_story_times(session, project, is_lived=is_lived, character=character, as_of=as_of, as_json=as_json)
        return
    if is_lived or character is not None:
        raise click.UsageError("--lived and --character are of scenes; leave out --chapter")
    from runtime.doors.cli.views import print_states
    from runtime.story.states import StoryStates

    with opened_project(session, project) as stores:
        view = StoryStates(stores, project).get_timeline(chapter_index=chapter, context_window=window, as_of=as_of)
        language = story_language(stores, project)
    if as_json:
        print_json(view.snapshots)
    elif view.snapshots:
        print_states(view.snapshots, view.names, language=language)
    else:
        print_text(view_labels_for(language).nothing)


def _show_story_times(
    session: CliSession,
    project: str,
    *,
    is_lived: bool,
    character: str | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    from runtime.doors.cli.time_views import print_story_times
    from runtime.story.story_time import StoryTimes

    with opened_project(session, project) as stores:
        found = StoryTimes(stores, project).story_times(as_of=as_of, character=character)
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
    else:
        print_story_times(found, labels, is_lived=is_lived)


@click.command(
    "chunk-context",
    epilog="\b\nExamples:\n  novelgen chunk-context my-novel --text page.txt --chapter 12\n"
    "  novelgen chunk-context my-novel --text - --limit 5 --json < page.txt",
)
@project_argument
@click.option("--text", "text_file", type=click.File(encoding="utf-8"), required=True, help="The text; - is stdin.")
@click.option(
    "--chapter",
    type=click.IntRange(min=0, max=1_000_000),
    help="Chapter it stands in: only what lies before.  [default: the whole book]",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0, max=200),
    help="At most so many memories.  [default: memory.chunk_context.limit of config.yaml, 10]",
)
@click.option(
    "--priority",
    type=click.Choice(["score", "least_recently_read"]),
    help="Which of the memories that fit come first; least_recently_read: what was not shown for longest.  "
    "[default: that of config.yaml, score]",
)
@click.option(
    "--touch/--no-touch",
    default=None,
    help="Note on the memories shown that they were read now.  [default: that of config.yaml, no]",
)
@json_option
@click.pass_obj
def chunk_context(
    session: CliSession,
    project: str,
    text_file: TextIO,
    chapter: int | None,
    limit: int | None,
    priority: str | None,
    touch: bool | None,
    as_json: bool,
) -> None:
    """Show what the translator of a text must know.

    The glossary of the names and terms in it, and the memories about them, its chapter and the book.
    """
    from runtime.chunk_context import build_chunk_context
    from runtime.story.search import StorySearch

    text = _read(text_file, "--text")
    with opened_project(session, project) as stores:
        StorySearch(stores, project).await_index()
        context = build_chunk_context(
            project, text, chapter, limit, stores=stores, priority=cast("MemoryPriority | None", priority), touch=touch
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(context)
        return
    print_text(context.text.rstrip("\n") or labels.nothing)
    for issue in context.issues:
        report_warning(f"{issue.stage} {issue.kind}: {issue.message}")


@click.command(
    epilog="\b\nExamples:\n  novelgen summarize scene.txt\n"
    "  novelgen summarize - --model openai:gpt-4.1-mini < scene.txt"
)
@click.argument("text_file", metavar="FILE", type=click.File(encoding="utf-8"))
@click.option(
    "--model",
    metavar="PROVIDER:MODEL",
    help="Chat model.  [default: memory.summarization.model, else model, else the scene's own sentences]",
)
@click.option("--max-bullets", type=COUNT, help="Most bullets.  [default: memory.summarization.max_bullets]")
@json_option
@click.pass_obj
def summarize(
    session: CliSession, text_file: TextIO, model: str | None, max_bullets: int | None, as_json: bool
) -> None:
    """Sum a scene up in three to five bullets; - is stdin.

    Nothing is stored. Without a model, or where it fails, the scene's own weightiest sentences are told.
    """
    from runtime.story.scene_summary import summarize_scene

    text = _read(text_file, "FILE")
    with opened_stores(session) as stores:
        summary = summarize_scene(text, chat_model=model, max_bullets=max_bullets, settings=stores.settings)
    if as_json:
        print_json(summary)
    else:
        print_text("\n".join(f"- {each}" for each in summary.bullets))
    for issue in summary.issues:
        report_warning(f"{issue.stage} {issue.kind}: {issue.message}")


def _read(source: TextIO, said_as: str) -> str:
    from novelgen.language.scrub import require_size, scrub_text
    from novelgen.models.chunk_context import MAX_CHUNK_CHARACTERS

    try:
        text = scrub_text(source.read())
    except UnicodeDecodeError as error:
        raise UserInputError(f"{said_as} is not UTF-8: {error}; convert it first") from error
    require_size(text, "the text", limit_characters=MAX_CHUNK_CHARACTERS)
    return text
