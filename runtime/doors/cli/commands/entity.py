"""`novelgen entity`, `character` and `location`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.commands.candidates import candidates, confirm, drop, print_merged_candidate
from runtime.doors.cli.commands.deleted import print_deletion
from runtime.doors.cli.labels import place_text, view_labels_for
from runtime.doors.cli.opening import opened_project, story_labels, story_language
from runtime.doors.cli.output import (
    print_heading,
    print_json,
    print_pairs,
    print_result,
    print_table,
    print_text,
    report_indexing,
)
from runtime.doors.cli.parameters import (
    COUNT,
    POSITION,
    CliSession,
    CommandGroup,
    as_of_option,
    can_ask,
    from_option,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from novelgen.models.entity import EntityType
    from novelgen.models.position import StoryPosition
    from runtime.stores import MemoryStores
    from runtime.story.entities import AddedEntity


@click.group(cls=CommandGroup)
def entity() -> None:
    """Show, edit, merge, split and delete who and what is known.

    Entities are characters, locations, items, factions and terms.
    """


@click.group(cls=CommandGroup)
def character() -> None:
    """Look at characters; add, edit and delete them."""


@click.group(cls=CommandGroup)
def location() -> None:
    """Look at locations; add, edit and delete them."""


def _add_list(group: click.Group, entity_type: EntityType | None) -> None:
    @group.command("list", epilog=f"\b\nExample:\n  novelgen {group.name} list my-novel --as-of 4:1")
    @project_argument
    @as_of_option
    @json_option
    @click.pass_obj
    def list_command(session: CliSession, project: str, as_of: StoryPosition | None, as_json: bool) -> None:
        """List them with their names, as the story has shown them by then."""
        from runtime.story.entities import StoryEntities

        with opened_project(session, project) as stores:
            found = StoryEntities(stores, project).entities(entity_type=entity_type, as_of=as_of)
            labels = story_labels(stores, project)
        if as_json:
            print_json(found)
            return
        rows = [
            (
                each.entity_id,
                ", ".join(each.names()),
                each.role if entity_type else labels.value(each.entity_type),
                place_text(each.first_chapter, each.first_scene, labels),
                each.description,
            )
            for each in found
        ]
        what = "role" if entity_type else labels.kind
        print_table((labels.entity_id, labels.names, what, labels.place, labels.text), rows, wide=4)


def _add_show(group: click.Group, entity_type: EntityType | None, example: str) -> None:
    @group.command(
        "show",
        epilog=f"\b\nExamples:\n  novelgen {group.name} show my-novel {example}\n"
        f"  novelgen {group.name} show my-novel {example} --as-of 4:1",
    )
    @project_argument
    @click.argument("name", metavar="ID_OR_NAME")
    @as_of_option
    @click.option(
        "--memories",
        type=click.IntRange(min=0, max=200),
        default=10,
        show_default=True,
        help="At most so many of the memories about it.",
    )
    @json_option
    @click.pass_obj
    def show(
        session: CliSession, project: str, name: str, as_of: StoryPosition | None, memories: int, as_json: bool
    ) -> None:
        """Show card, profile and state at a point of the story, and what is remembered of it."""
        from novelgen.context.labels import labels_for
        from novelgen.context.lines import render_value
        from novelgen.models.appearances import METADATA
        from runtime.doors.cli.views import print_memories, print_states
        from runtime.story.attachments import StoryAttachments
        from runtime.story.entities import StoryEntities

        with opened_project(session, project) as stores:
            card = StoryEntities(stores, project).entity(name=name, entity_type=entity_type, as_of=as_of)
            names = StoryEntities(stores, project).entity_names(as_of=as_of)
            about = StoryAttachments(stores, project).memories_about(
                entity=card.entity.entity_id, limit=memories, as_of=as_of
            )
            language = story_language(stores, project)
        if as_json:
            print_json({**card.model_dump(mode="json"), "memories": about.memories, "more_memories": about.more})
            return
        found, labels, words = card.entity, view_labels_for(language), labels_for(language)
        print_pairs(
            {
                labels.entity_id: found.entity_id,
                labels.kind: "" if entity_type else labels.value(found.entity_type),
                labels.names: ", ".join(found.names()),
                labels.place: place_text(found.first_chapter, found.first_scene, labels),
                "role": found.role,
                labels.text: found.description,
                **{
                    words.attribute(field): render_value(value, names, words)
                    for field, value in found.profile.items()
                    if field != METADATA or not isinstance(value, dict)
                },
                **{words.attribute(field): value for field, value in card.metadata.items()},
            }
        )
        if card.state is not None:
            print_states([card.state], names, language=language)
        if about.memories:
            print_heading(words.memories)
            print_memories(about.memories, labels)
        if about.memories and about.more:
            print_text(f"… {about.more} more: novelgen memory list {project} --attached-to {found.entity_id}")


def _add_edit(group: click.Group, entity_type: EntityType | None, example: str) -> None:
    @group.command(
        "edit",
        epilog=f"\b\nExamples:\n  novelgen {group.name} edit my-novel {example} description='…' translation='…'\n"
        f"  novelgen {group.name} edit my-novel {example} mood=restless --from 4:1",
    )
    @project_argument
    @click.argument("name", metavar="ID_OR_NAME")
    @click.argument("changes", metavar="[FIELD=VALUE]...", nargs=-1)
    @click.option(
        "--state",
        "attributes",
        metavar="NAME=VALUE",
        multiple=True,
        help="An attribute of the state, whatever its name looks like; may be given repeatedly.",
    )
    @from_option
    @json_option
    @click.pass_obj
    def edit(
        session: CliSession,
        project: str,
        name: str,
        changes: tuple[str, ...],
        attributes: tuple[str, ...],
        start: StoryPosition | None,
        as_json: bool,
    ) -> None:
        """Change fields of the card and the profile, and attributes of the state.

        A VALUE is JSON where it can be read as JSON, else a text. `alias` adds a name and may be given repeatedly,
        `aliases` replaces all; a new `name` keeps the old one as an alias. `first_chapter` and `first_scene` say where
        the story first shows it. Other names, and those within `current_state={…}`, are attributes of the state, which
        hold from --from on; one that looks like a misspelt field is said with --state.
        """
        from runtime.story.entities import StoryEntities

        with opened_project(session, project) as stores:
            edited = StoryEntities(stores, project).edit_entity(
                name=name,
                changes=_fields_and_values(changes),
                state=_fields_and_values(attributes),
                entity_type=entity_type,
                start=start,
            )
        lines = [f"changed {edited.entity.entity_id}: {', '.join(edited.updated_fields)}"]
        if edited.holds_after is not None:
            lines.append(f"{', '.join(edited.attributes)} from after scene {edited.holds_after} on")
        print_result(edited, *lines, as_json=as_json)


def _add_delete(group: click.Group, entity_type: EntityType | None, example: str) -> None:
    @group.command("delete", epilog=f"\b\nExample:\n  novelgen {group.name} delete my-novel {example} --yes")
    @project_argument
    @click.argument("name", metavar="ID_OR_NAME")
    @yes_option
    @json_option
    @click.pass_obj
    def delete(session: CliSession, project: str, name: str, is_confirmed: bool, as_json: bool) -> None:
        """Delete it with names, states and relationships; memories stay. `entity undo` takes it back.

        A characters.json that still has it brings it back with the next ingest.
        """
        from runtime.story.deletion import StoryDeletion
        from runtime.story.entities import StoryEntities

        with opened_project(session, project) as stores:
            found = StoryEntities(stores, project).entity(name=name, entity_type=entity_type).entity
            own = ", and all that it remembers itself" if found.entity_type == "character" else ""
            require_confirmation(
                f"delete {found.entity_id} ({found.name}) with its states and relationships{own}",
                is_confirmed=is_confirmed,
            )
            deletion = StoryDeletion(stores, project).delete_entity(name=found.entity_id)
        print_deletion(deletion, project, as_json=as_json)


for _group, _type, _example in ((entity, None, "I0"), (character, "character", "C0"), (location, "location", "L0")):
    _add_list(_group, _type)  # type: ignore[arg-type]
    _add_show(_group, _type, _example)  # type: ignore[arg-type]
    _add_edit(_group, _type, _example)  # type: ignore[arg-type]
    _add_delete(_group, _type, _example)  # type: ignore[arg-type]


@character.command(
    "add",
    epilog='\b\nExamples:\n  novelgen character add my-novel "Ada" --role minor --description "A keeper"\n'
    '  novelgen character add my-novel "Ben" --from 1:1',
)
@project_argument
@click.argument("name")
@click.option("--role", default="", help="protagonist, antagonist, supporting or minor.  [default: none]")
@click.option("--description", default="", help="Who it is, in a sentence or two.  [default: none]")
@click.option("--trait", "traits", multiple=True, help="A core trait; may be given repeatedly.")
@click.option("--goal", "goals", multiple=True, help="What it wants at first; may be given repeatedly.")
@from_option
@json_option
@click.pass_obj
def add_character(
    session: CliSession, project: str, name: str, start: StoryPosition | None, as_json: bool, **fields: Any
) -> None:
    """Add a character; --from 1:1 makes it known from the start."""
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        start = start or _asked_start(stores, project, name)
        added = StoryEntities(stores, project).add_character(name=name, start=start, **fields)
    _print_added(added, start, as_json=as_json)


@location.command(
    "add",
    epilog='\b\nExamples:\n  novelgen location add my-novel "the Light" --atmosphere lonely\n'
    '  novelgen location add my-novel "the cove" --from 1:1',
)
@project_argument
@click.argument("name")
@click.option("--description", default="", help="What it is, in a sentence or two.  [default: none]")
@click.option("--atmosphere", help="Its mood.  [default: none]")
@click.option("--feature", "features", multiple=True, help="What is notable there; may be given repeatedly.")
@from_option
@json_option
@click.pass_obj
def add_location(
    session: CliSession, project: str, name: str, start: StoryPosition | None, as_json: bool, **fields: Any
) -> None:
    """Add a location; --from 1:1 makes it known from the start."""
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        start = start or _asked_start(stores, project, name)
        added = StoryEntities(stores, project).add_location(name=name, start=start, **fields)
    _print_added(added, start, as_json=as_json)


@entity.command(epilog='\b\nExample:\n  novelgen entity merge my-novel "Mary Grey" "the stranger"')
@project_argument
@click.argument("keep", metavar="KEEP")
@click.argument("gone", metavar="OTHER")
@yes_option
@json_option
@click.pass_obj
def merge(session: CliSession, project: str, keep: str, gone: str, is_confirmed: bool, as_json: bool) -> None:
    """Make OTHER part of KEEP: they are one. Everything is re-linked, and it can be undone.

    OTHER may be a candidate: its names become names of KEEP, an entity or a candidate.
    """
    from runtime.story.entities import StoryEntities
    from runtime.story.name_candidates import StoryNameCandidates

    with opened_project(session, project) as stores:
        if StoryNameCandidates(stores, project).is_candidate(name=gone):
            require_confirmation(f"make the candidate {gone!r} part of {keep!r}", is_confirmed=is_confirmed)
            decided = StoryNameCandidates(stores, project).merge_candidate(keep=keep, other=gone)
            print_merged_candidate(decided, project, as_json=as_json)
            return
        kept, other = (StoryEntities(stores, project).entity(name=name).entity for name in (keep, gone))
        require_confirmation(
            f"make {other.entity_id} ({other.name}) part of {kept.entity_id} ({kept.name})", is_confirmed=is_confirmed
        )
        merged = StoryEntities(stores, project).merge_entities(keep=kept.entity_id, gone=other.entity_id)
    report_indexing(merged.indexing, project)
    print_result(
        merged,
        f"{other.entity_id} ({other.name}) is now part of {kept.entity_id} ({kept.name})",
        f"undo: novelgen entity undo {project} {merged.change.change_id}",
        as_json=as_json,
    )


@entity.command(epilog='\b\nExample:\n  novelgen entity split my-novel C1 --name "the veiled lady" --scene 2:1')
@project_argument
@click.argument("name", metavar="ID_OR_NAME")
@click.option("--name", "new_name", required=True, help="Display name of the new entity: an alias, or a new name.")
@click.option("--alias", "aliases", multiple=True, help="One more name of it; may be given repeatedly.")
@click.option("--scene", "scenes", type=POSITION, multiple=True, help="A scene that is only about the new one.")
@json_option
@click.pass_obj
def split(
    session: CliSession,
    project: str,
    name: str,
    new_name: str,
    aliases: tuple[str, ...],
    scenes: tuple[StoryPosition, ...],
    as_json: bool,
) -> None:
    """Take a new entity out of one: they are two. Its names and scenes move, and it can be undone."""
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        done = StoryEntities(stores, project).split_entity(name=name, new_name=new_name, aliases=aliases, scenes=scenes)
    report_indexing(done.indexing, project)
    old = f"{done.change.entity_id} ({done.entity.name})" if done.entity else done.change.entity_id
    print_result(
        done,
        f"{done.change.other_id} ({new_name}) came out of {old}",
        f"undo: novelgen entity undo {project} {done.change.change_id}",
        as_json=as_json,
    )


@entity.command(epilog="\b\nExamples:\n  novelgen entity undo my-novel\n  novelgen entity undo my-novel 3")
@project_argument
@click.argument("number", type=COUNT, required=False)
@json_option
@click.pass_obj
def undo(session: CliSession, project: str, number: int | None, as_json: bool) -> None:
    """Undo a change of any kind: a merge, split or deletion, an edit, a decision, an ending.

    NUMBER is as `entity changes` and `memory changes` list it; without it the last change that was not undone yet.
    """
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        undone = StoryEntities(stores, project).undo(change_id=number)
    report_indexing(undone.indexing, project)
    change = undone.change
    both = " and ".join(filter(None, (change.entity_id, change.other_id)))
    told = f"undone: {change.kind} of {both}"
    print_result(undone, told, as_json=as_json)


@entity.command(epilog="\b\nExample:\n  novelgen entity changes my-novel")
@project_argument
@json_option
@click.pass_obj
def changes(session: CliSession, project: str, as_json: bool) -> None:
    """List the merges, splits and deletions, and the decisions on candidates."""
    from runtime.story.entities import StoryEntities

    with opened_project(session, project) as stores:
        listed = StoryEntities(stores, project).list_entity_changes()
    if as_json:
        print_json(listed)
        return
    rows = [
        (each.change_id, each.kind, each.entity_id, each.other_id, "yes" if each.undone_at else "") for each in listed
    ]
    print_table(("number", "what", "entity", "other", "undone"), rows, wide=3)


for _command in (candidates, confirm, drop):
    entity.add_command(_command)


def _asked_start(stores: MemoryStores, project: str, name: str) -> StoryPosition | None:
    """Ask on a terminal from where on somebody new is known, where the story has scenes already."""
    from runtime.story.entities import StoryEntities

    if not can_ask() or not StoryEntities(stores, project).has_scenes():
        return None
    question = f"On entering which scene is {name} known? (1:1: from the start; empty: after the last one)"
    answer = click.prompt(question, default="", show_default=False, err=True).strip()
    return POSITION.convert(answer, None, None) if answer else None


def _print_added(added: AddedEntity, start: StoryPosition | None, *, as_json: bool) -> None:
    if as_json:
        print_json(added)
        return
    print_text(f"added {added.entity.entity_id}  {added.entity.name}")
    if added.holds_after is not None:
        advice = "" if start else ", the last one stored; --from 1:1 makes it known from the start"
        print_text(f"known after scene {added.holds_after}{advice}")
    elif start is not None:
        print_text("known from the start")


def _fields_and_values(changes: Sequence[str]) -> dict[str, Any]:
    """Return changes by field; `alias` may be given many times, and another field twice is a slip."""
    told: dict[str, Any] = {}
    for field, value in map(_field_and_value, changes):
        if field == "alias":
            told[field] = [*told.get(field, []), *(value if isinstance(value, list) else [value])]
        elif field in told:
            raise click.UsageError(f"{field!r} is given twice: {told[field]!r} and {value!r}; give one value")
        else:
            told[field] = value
    return told


def _field_and_value(change: str) -> tuple[str, Any]:
    field, sign, text = change.partition("=")
    if not sign or not field.strip():
        raise click.UsageError(f"{change!r} is no change; write FIELD=VALUE such as role=minor")
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    return field.strip(), value
