"""`novelgen knows`, and of `novelgen memory` what tells and sets who knows a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.labels import ViewLabels, place_text
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import print_heading, print_json, print_result, print_table, print_text
from runtime.doors.cli.parameters import POSITION, CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from novelgen.models.knowledge import CharacterKnowledge, KnowledgeKind, KnowledgeSource, KnownMemory
    from novelgen.models.position import StoryPosition
    from runtime.story.knowledge import SharedLife

KINDS = ("knows", "hidden", "deceived", "doubts")
_SAID: Mapping[KnowledgeKind, str] = {
    "knows": "{} knows {}",
    "hidden": "{} does not know {}",
    "deceived": "{} believes the contrary of {}",
    "doubts": "{} has heard {} and doubts it",
}

SOURCES = ("own_doing", "witnessed", "told", "overheard", "read", "deduced", "author")


@click.command(
    epilog="\b\nExamples:\n  novelgen knows my-novel Ines --as-of 6:2\n"
    '  novelgen knows my-novel Ines --about "the brass key"\n'
    "  novelgen knows my-novel Ines --with Ben\n"
    "  novelgen knows my-novel reader --as-of 6:2 --json"
)
@project_argument
@click.argument("character")
@as_of_option
@click.option("--about", help="Only memories about this: an entity's id or name, else words that they hold.")
@click.option("--with", "other", help="Show the scenes that both have lived through instead.")
@json_option
@click.pass_obj
def knows(
    session: CliSession,
    project: str,
    character: str,
    as_of: StoryPosition | None,
    about: str | None,
    other: str | None,
    as_json: bool,
) -> None:
    """Tell what a character knows, and what not and why.

    CHARACTER is an id, name or alias, or `reader` for whoever reads the book. Who knows what follows from the story
    before the position; put it right with `novelgen memory knowledge`.
    """
    from runtime.story.entities import StoryEntities
    from runtime.story.knowledge import StoryKnowledge

    if about is not None and other is not None:
        raise UserInputError("--about and --with cannot go together; leave one of them out")
    with opened_project(session, project) as stores:
        labels = story_labels(stores, project)
        names = StoryEntities(stores, project).entity_names(as_of=as_of)
        if other is not None:
            shared = StoryKnowledge(stores, project).lived_together(first=character, second=other, as_of=as_of)
            _print_shared(shared, names, labels, as_json=as_json)
            return
        found = StoryKnowledge(stores, project).knowledge(character=character, as_of=as_of, about=about)
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        _print_knowledge(found, names, labels)


@click.command(epilog="\b\nExample:\n  novelgen memory knowers my-novel M012 --as-of 6:2")
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@as_of_option
@json_option
@click.pass_obj
def knowers(session: CliSession, project: str, memory_id: str, as_of: StoryPosition | None, as_json: bool) -> None:
    """Show who knows a memory, who does not, and who might have been told."""
    from runtime.story.entities import StoryEntities
    from runtime.story.knowledge import StoryKnowledge

    with opened_project(session, project) as stores:
        found = StoryKnowledge(stores, project).who_knows(memory_id=memory_id, as_of=as_of)
        labels = story_labels(stores, project)
        names = StoryEntities(stores, project).entity_names(as_of=as_of)
    if as_json:
        print_json(found.model_dump(mode="json", by_alias=True))
        return
    print_text(found.content)
    print_heading(labels.value("Known to"))
    headings = [labels.value(each) for each in ("since", "how", "learned from", "sure")]
    rows = [(labels.value(each.name), *_told(each, names, labels)) for each in found.known_by]
    print_table((labels.entity, *headings), rows, wide=0)
    print_heading(labels.value("Not known to"))
    print_table(
        (labels.entity, labels.why, labels.value("might know from")),
        [(labels.value(each.name), each.why, _name(each.might_know_from, names)) for each in found.not_known_by],
        wide=1,
    )


@click.command(
    epilog="\b\nExamples:\n  novelgen memory knowledge my-novel M012 Ines hidden\n"
    "  novelgen memory knowledge my-novel M012 Ines knows --how told --learned-from Ben --from 6:2\n"
    "  novelgen memory knowledge my-novel M012 Ines --undo"
)
@project_argument
@click.argument("memory_id", metavar="MEMORY")
@click.argument("character")
@click.argument("kind", metavar="[knows|hidden|deceived|doubts]", required=False, type=click.Choice(KINDS))
@click.option(
    "--how",
    type=click.Choice(SOURCES),
    default="author",
    show_default=True,
    help="How they know it; author: because you say so.",
)
@click.option("--learned-from", help="Whom they know it from: id, name or alias.")
@click.option(
    "--certainty", type=click.FloatRange(0, 1), default=1.0, show_default=True, help="1 is sure; less is a rumour."
)
@click.option(
    "--from", "start", type=POSITION, help="Holds on entering that scene.  [default: since the memory's scene]"
)
@click.option("--undo", is_flag=True, help="Take back all that you said of this character and memory.")
@json_option
@click.pass_obj
def knowledge(
    session: CliSession,
    project: str,
    memory_id: str,
    character: str,
    kind: KnowledgeKind | None,
    how: KnowledgeSource,
    learned_from: str | None,
    certainty: float,
    start: StoryPosition | None,
    undo: bool,
    as_json: bool,
) -> None:
    """Say whether a character knows a memory; your word outranks all else.

    knows: it is known; hidden: it is not; deceived: the contrary is believed; doubts: heard of, not believed.
    MEMORY is its id, or * for all that --learned-from has lived through. CHARACTER may be `reader`.
    """
    from novelgen.models.knowledge import ALL_LIVED
    from runtime.story.entities import StoryEntities
    from runtime.story.knowledge import StoryKnowledge

    if undo == (kind is not None):
        raise UserInputError("say one of knows, hidden, deceived, doubts, or --undo alone")
    with opened_project(session, project) as stores:
        labels = story_labels(stores, project)
        if kind is None:
            taken_back = StoryKnowledge(stores, project).forget_knowledge(character=character, memory_id=memory_id)
            told = labels.value("taken back: {}").format(len(taken_back))
            print_result(taken_back, told, as_json=as_json)
            return
        said = StoryKnowledge(stores, project).set_knowledge(
            character=character,
            memory_id=memory_id,
            kind=kind,
            how=how,
            learned_from=learned_from,
            certainty=certainty,
            start=start,
        )
        names = StoryEntities(stores, project).entity_names()
    text = labels.value(_SAID[kind]).format(
        labels.value(_name(said.character_id, names)),
        labels.value("everything that {} has lived through").format(_name(said.learned_from, names))
        if said.source_id == ALL_LIVED
        else said.source_id,
    )
    if said.chapter_index is None:
        since = labels.value("always")
    elif start is None:
        since = labels.value("from its own scene on, {}").format(
            place_text(said.chapter_index, said.scene_index, labels)
        )
    else:
        since = labels.value("on entering {}").format(place_text(start.chapter_index, start.scene_index, labels))
    print_result(said, f"{text}{labels.value(', ')}{since}", as_json=as_json)


def _print_knowledge(found: CharacterKnowledge, names: Mapping[str, str], labels: ViewLabels) -> None:
    print_heading(f"{labels.value('Knows')} ({len(found.known)})")
    headings = [labels.value(each) for each in ("since", "how", "learned from", "sure")]
    rows = [(each.source_id, *_told(each, names, labels), each.content) for each in found.known]
    print_table((labels.entity_id, *headings, labels.text), rows, wide=5)
    print_heading(f"{labels.value('Does not know')} ({len(found.not_known)})")
    print_table(
        (labels.entity_id, labels.why, labels.value("might know from"), labels.text),
        [(each.source_id, each.why, _name(each.might_know_from, names), each.content) for each in found.not_known],
        wide=3,
    )


def _print_shared(shared: SharedLife, names: Mapping[str, str], labels: ViewLabels, *, as_json: bool) -> None:
    if as_json:
        print_json(shared)
        return
    people = [_name(each, names) for each in (shared.character_id, shared.other_id)]
    told = "{} and {}: scenes together {}, never alone"
    if shared.alone:
        told = "{} and {}: scenes together {}, alone {}"
    print_text(labels.value(told).format(*people, len(shared.scenes), len(shared.alone)))
    for each in shared.scenes:
        place = place_text(each.chapter_index, each.scene_index, labels)
        print_text(f"  {place} ({labels.value('alone')})" if each.is_alone else f"  {place}")


def _told(known: KnownMemory, names: Mapping[str, str], labels: ViewLabels) -> Sequence[object]:
    how = labels.value("as said" if known.how == "author" else known.how).replace("_", " ")
    since = place_text(known.since_chapter, known.since_scene, labels)
    return (since, how, _name(known.learned_from, names), "" if known.certainty == 1 else known.certainty)


def _name(entity_id: str | None, names: Mapping[str, str]) -> str:
    return "" if entity_id is None else names.get(entity_id, entity_id)
