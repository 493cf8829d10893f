"""Resources and prompts: what an author's client can attach and pick."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from tests.runtime.doors.mcp.agents import asked, names_of

ROOT = "novelgen://projects"
CONTEXT = ROOT + "/{project_id}/scenes/{chapter_index}/{scene_index}/context"
CARD = ROOT + "/{project_id}/entities/{entity_id}"
PLANNED = {"chapter_index": "3", "scene_index": "1", "purpose": "Ines hides the key", "characters": "Ines, Sparrow"}


def read(projects_dir: Path, address: str, **options: Any) -> str:
    """Return the text of a resource."""

    async def ask(client: Client) -> str:
        [content] = (await client.read_resource(address)).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    return asked(projects_dir, ask, **options)


def prompt(projects_dir: Path, name: str, arguments: dict[str, str], **options: Any) -> str:
    """Return the one message of a prompt."""

    async def ask(client: Client) -> str:
        [message] = (await client.get_prompt(name, arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    return asked(projects_dir, ask, **options)


@pytest.mark.slow
def test_what_is_offered(demo_folder: Path) -> None:
    """One story offers its threads and scenes by address; several offer the list and templates."""

    async def ask(client: Client) -> tuple[set[str], set[str], set[str]]:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        return {each.uri for each in listed}, {each.uri_template for each in templates}, names_of(prompts)

    one = asked(demo_folder, ask)
    many = asked(demo_folder, ask, project_id=None)
    assert one[0] == {f"{ROOT}/demo/threads", f"{ROOT}/demo/scenes"}
    assert one[1] == {CONTEXT, CARD}
    assert many[0] == {ROOT}
    assert many[1] == {CONTEXT, CARD, ROOT + "/{project_id}/threads", ROOT + "/{project_id}/scenes"}
    assert one[2] == many[2] == {"write_next_scene", "check_this_draft"}


@pytest.mark.slow
@pytest.mark.parametrize("project_id", ["demo", None])
def test_resources_tell_the_story(demo_folder: Path, project_id: str | None) -> None:
    """A card, the threads and the scenes are JSON; the name of a card may be any name."""
    card = json.loads(read(demo_folder, f"{ROOT}/demo/entities/Ines%20Marrow", project_id=project_id))
    assert card["entity"]["entity_id"] == "C0"
    threads = json.loads(read(demo_folder, f"{ROOT}/demo/threads", project_id=project_id))
    assert threads["entries"]
    scenes = json.loads(read(demo_folder, f"{ROOT}/demo/scenes", project_id=project_id))
    assert len(scenes["scenes"]) == 23


@pytest.mark.slow
def test_a_context_is_read_by_the_projects_own_plan(demo_folder: Path) -> None:
    """The context of a scene that the project has a plan of is the block for a prompt."""
    plans = demo_folder / "demo" / "chapters"
    plans.mkdir(exist_ok=True)
    plan = {
        "chapter_number": 9,
        "scenes": [{"scene_number": 1, "characters": ["Ines"], "purpose": "She counts the leaves again."}],
    }
    (plans / "chapter_009_plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert "Ines" in read(demo_folder, f"{ROOT}/demo/scenes/9/1/context")


@pytest.mark.slow
def test_what_is_not_there_is_refused(demo_folder: Path) -> None:
    """An address of nothing, of another story or of a file is an error that tells no folder of the machine."""

    async def ask(client: Client) -> None:
        for address in (
            f"{ROOT}/nobody/threads",
            f"{ROOT}/demo-zh/threads",
            f"{ROOT}/demo/entities/Nobody",
            f"{ROOT}/demo/scenes/99/1/context",
            f"{ROOT}/demo/scenes/x/1/context",
            f"{ROOT}/..%2F..%2Fetc/threads",
            f"{ROOT}/demo/entities/..%2F..%2Fpasswd",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(address)
            assert str(demo_folder) not in str(refused.value)
            assert "Traceback" not in str(refused.value)

    asked(demo_folder, ask)


@pytest.mark.slow
def test_addresses_and_prompts_are_completed(demo_folder: Path) -> None:
    """What an argument could be is offered: ids of projects, and names of the story that was chosen."""

    async def ask(client: Client) -> list[list[str]]:
        card = ResourceTemplateReference(uri=CARD)
        of_prompt = PromptReference(name="write_next_scene")
        answers = [
            await client.complete(card, {"name": "project_id", "value": "demo-"}),
            await client.complete(
                card, {"name": "entity_id", "value": "spar"}, context_arguments={"project_id": "demo"}
            ),
            await client.complete(card, {"name": "entity_id", "value": "spar"}),
            await client.complete(
                of_prompt, {"name": "pov", "value": "ines"}, context_arguments={"project_id": "demo"}
            ),
            await client.complete(of_prompt, {"name": "purpose", "value": "x"}),
        ]
        return [each.completion.values for each in answers]

    found = asked(demo_folder, ask, project_id=None)
    assert found == [["demo-zh"], ["Sparrow"], [], ["Ines Marrow"], []]


@pytest.mark.slow
def test_the_next_scene_is_written_in_the_storys_language(demo_folder: Path) -> None:
    """The prompt to write holds the plan and the context, in English or Chinese as the story is."""
    english = prompt(demo_folder, "write_next_scene", PLANNED)
    assert "Who: Ines, Sparrow" in english
    assert "Ines Marrow" in english.split("===== what the story has established =====")[1]
    assert "check_draft" in english
    chinese = prompt(
        demo_folder,
        "write_next_scene",
        {"project_id": "demo-zh", "chapter_index": "3", "scene_index": "1", "purpose": "藏好钥匙"},
        project_id=None,
    )
    assert "目的：藏好钥匙" in chinese
    assert "check_draft" in chinese


@pytest.mark.slow
def test_a_draft_comes_with_what_was_found(demo_folder: Path) -> None:
    """The prompt to check holds the draft as it is, braces included, and what the story says of what it touches."""
    draft = "Ines walked in. Elias Marrow greeted her with {a bow}."
    text = prompt(demo_folder, "check_this_draft", {"draft": draft, "chapter_index": "3", "scene_index": "1"})
    assert draft in text
    assert '"sayings"' in text
    assert "Elias Marrow" in text.split(draft)[1]
    assert "as_of 3:1" in text


def test_a_prompt_that_cannot_be_is_refused(demo_folder: Path) -> None:
    """A place that is none, a scene without a plan and an empty draft are errors of the protocol."""
    wrong: list[tuple[str, dict[str, str]]] = [
        ("write_next_scene", {"chapter_index": "three", "scene_index": "1"}),
        ("write_next_scene", {"chapter_index": "99", "scene_index": "1"}),
        ("write_next_scene", {"chapter_index": "1"}),
        ("check_this_draft", {"draft": "", "chapter_index": "3", "scene_index": "1"}),
        ("no_such_prompt", {}),
    ]

    async def ask(client: Client) -> None:
        for name, arguments in wrong:
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    asked(demo_folder, ask)
