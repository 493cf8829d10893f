"""`memory_context_chain`, the plain function: over a memory of one's own and over the default stores; as a program."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from novelgen.chains.memory_context_chain import MemoryContextChain, memory_context_chain
from novelgen.errors import UserInputError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.plan import ScenePlan
from novelgen.models.user_file import Character, CharactersConfig
from novelgen.settings import ContextSettings
from tests.support.demo_project import FAKE_MEMORY
from tests.support.stored_story import patient
from tests.support.stories import PROJECT, lighthouse_memory, lighthouse_request
from tests.support.variants import variants

ENVIRONMENT = {"NOVELGEN_MEMORY__EMBEDDING_MODEL": FAKE_MEMORY["embedding_model"]}
CAST = CharactersConfig(protagonist=Character(name="Ada"), supporting_characters=[Character(name="Ben")])
PLAN = ScenePlan(characters=["Ada"], purpose="Ada looks for the brass key")


def call(**arguments: Any) -> SceneMemoryContext:
    """Call the function over the lighthouse story."""
    place = {"project_id": PROJECT, "chapter_index": 2, "scene_index": 2}
    given: dict[str, Any] = {"memory": lighthouse_memory(), "settings": patient(), **place, **arguments}
    return memory_context_chain(given.pop("scene_plan", PLAN), given.pop("characters_config", CAST), **given)


def test_the_function_does_what_the_chain_does() -> None:
    """Plan, cast and place are enough; every further field of a request is taken."""
    request = lighthouse_request()
    of_chain = MemoryContextChain(lighthouse_memory(), settings=patient()).invoke(request)
    context = call(scene_plan=request.scene_plan, characters_config=request.characters, top_k=2)
    assert [each.chunk_id for each in context.relevant_memories] == [
        each.chunk_id for each in of_chain.relevant_memories
    ][:2]
    assert context.entity_states == of_chain.entity_states
    assert call(scene_plan=PLAN.model_dump(), characters_config=None, story_settings={"language": "en"}).entity_states


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hint": ["x"]}, r"^a context takes no key 'hint'; did you mean 'hints'\?$"),
        ({"characters_confg": {}}, "did you mean 'characters_config'"),
        ({"characters": {}, "characters_config": CAST}, "characters and characters_config are one field"),
        ({"scene_plan": {"purpos": "x"}}, "did you mean 'purpose'"),
        ({"chapter_index": -1}, "chapter_index cannot be -1"),
        ({"chapter_index": "x"}, "chapter_index cannot be 'x'"),
        ({"memory": object()}, "has none of the tools of a memory"),
        ({"memory": None}, "writer and settings go with a memory"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], message: str) -> None:
    """The error has the value and the fix; a misspelt key of the top level, too."""
    if "characters_confg" in wrong:
        wrong = {**wrong, "characters_config": None}
    with pytest.raises(UserInputError, match=message):
        call(**wrong)


def test_characters_config_is_characters_in_the_input_of_the_chain() -> None:
    """Both words give the cast; other keys of a chain's mapping pass by."""
    chain = MemoryContextChain(lighthouse_memory(), settings=ContextSettings(tool_timeout_s=60, chain_timeout_s=120))
    place = {"project_id": PROJECT, "chapter_index": 2, "scene_index": 2, "scene_plan": PLAN, "style": "dry"}
    contexts = [chain.invoke({**place, name: CAST}) for name in ("characters", "characters_config")]
    assert contexts[0].report.queries == contexts[1].report.queries


@pytest.mark.slow
def test_a_plain_call_opens_the_default_stores_and_writes_the_file(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a memory the settings say where the stores are; an unknown project is an issue, not an error."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(demo_folder))
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    plan = {"characters": ["Ines"], "purpose": "Open the iron door."}
    context = memory_context_chain(plan, None, project_id="demo", chapter_index=5, scene_index=4)
    assert context.relevant_memories
    written = json.loads((demo_folder / "demo" / "scene_5_4_memory.json").read_text(encoding="utf-8"))
    assert SceneMemoryContext.model_validate(written) == context
    unknown = memory_context_chain(plan, None, project_id="nowhere", chapter_index=1, scene_index=1)
    assert [issue.kind for issue in unknown.report.issues] == ["unresolved"]
    assert not (demo_folder / "nowhere").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    variants(
        [
            (["novelgen.chains.memory_context_chain"], 2, "Missing argument 'PROJECT'"),
            (["runtime.memory_tools", "search", "demo", "key", "--before", "x"], 2, "invalid position value: 'x'"),
            (["runtime.orchestrator"], 2, "novelgen context PROJECT PLAN.json"),
            (["runtime.memory_tools"], 2, "usage: python -m runtime.memory_tools"),
            (["runtime.memory_tools", "state", "nowhere", "Ada"], 1, "no project 'nowhere'"),
        ],
        3,
    ),
)
def test_a_module_run_without_its_arguments_says_what_to_run(
    words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    """The exit code is 2, and usage stands on stderr."""
    ended = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert said in ended.stderr


@pytest.mark.slow
def test_modules_of_the_card_are_programs(demo_folder: Path, tmp_path: Path) -> None:
    """One context per scene from a plan's file, and each of the three tools as JSON."""
    plan, cast = tmp_path / "plan.json", tmp_path / "cast.json"
    plan.write_text(json.dumps({"characters": ["Ines"], "purpose": "Open the iron door."}), encoding="utf-8")
    cast.write_text(CharactersConfig(protagonist=Character(name="Ines")).model_dump_json(), encoding="utf-8")
    file = demo_folder / "demo" / "scene_5_4_memory.json"
    file.unlink(missing_ok=True)

    def run(*words: str) -> str:
        environment = {**os.environ, **ENVIRONMENT, "NOVELGEN_PROJECTS_DIR": str(demo_folder)}
        ended = subprocess.run(
            [sys.executable, "-m", *words], env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    place = ("--chapter", "5", "--scene", "4")
    run("novelgen.chains.memory_context_chain", "demo", str(plan), *place, "--characters", str(cast))
    assert SceneMemoryContext.model_validate_json(file.read_text(encoding="utf-8")).relevant_memories
    tools = "runtime.memory_tools"
    found = json.loads(run(tools, "search", "demo", "heron key", "--top-k", "2", "--before", "3:1"))
    assert len(found) == 2
    assert all(each["chapter_index"] < 3 for each in found)
    assert json.loads(run(tools, "state", "demo", "Ines", "5", "4"))["entity_id"] == "C0"
    around = json.loads(run(tools, "timeline", "demo", "3", "--context-window", "0"))
    assert {each["chapter_index"] for each in around} == {3}
