"""The front door: `novelgen.open`, memories and stories, over real stores."""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import JsonOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

import novelgen
from novelgen import Memory, Story
from novelgen.errors import ConfigurationError, UnknownSceneError, UserInputError
from novelgen.models import MemoryContextRequest, SceneMemoryContext
from tests.support.demo_project import SHIPPED_PROJECTS
from tests.support.scripted_chat_model import ScriptedChatModel
from tests.support.story_parts import PARTS, methods_of

PLAN: dict[str, Any] = {"location": "the Salt House", "characters": ["Ines"], "purpose": "Open the iron door."}
PATIENT: dict[str, Any] = {
    "embedding_model": "fake:64",
    "tool_timeout_s": 60,
    "chain_timeout_s": 120,
    "vector_store": {"write_timeout_s": 60},
}


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of the machine out."""
    for name in ("NOVELGEN_MODEL", "NOVELGEN_DATABASE_URL", "NOVELGEN_PROJECTS_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def memory(ingested_demos: Path) -> Iterator[Memory]:
    """A memory of the ingested demo projects, which are only read."""
    with novelgen.open(ingested_demos, **PATIENT) as opened:
        yield opened


@pytest.fixture(scope="module")
def demo(memory: Memory) -> Story:
    """The English demo."""
    return memory.story("demo")


@pytest.fixture
def own_memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory in an empty folder of the test's own."""
    with novelgen.open(tmp_path / "projects", **PATIENT) as opened:
        yield opened


def steady(context: SceneMemoryContext) -> dict[str, Any]:
    """Return a context without its moment and its timings, which differ from run to run."""
    return context.model_dump(exclude={"retrieval_timestamp": True, "report": {"timings_s"}})


class TestImport:
    """What `import novelgen` costs and offers."""

    def test_no_library_is_loaded(self) -> None:
        """The package, its errors and one light name come without pydantic, LangChain, SQLAlchemy or Chroma."""
        script = (
            "import sys, novelgen, novelgen.models; novelgen.__version__; dir(novelgen); novelgen.NovelgenError;"
            "heavy = {'pydantic', 'langchain_core', 'sqlalchemy', 'chromadb', 'numpy', 'runtime', 'asyncio', 'yaml'};"
            "print(sorted(heavy & set(sys.modules)))"
        )
        assert printed_by(script) == "[]"

    def test_models_load_nothing_but_pydantic(self) -> None:
        """Who only holds contexts and plans does not load the engine."""
        script = (
            "import sys; from novelgen.models import SceneMemoryContext, ScenePlan, ChapterPlan, CharactersConfig,"
            " EntityStateSnapshot, StoryMemoryChunk, SceneRecord, Entity, StoryPosition;"
            "heavy = {'langchain_core', 'sqlalchemy', 'chromadb', 'numpy', 'runtime'};"
            "print(sorted(heavy & set(sys.modules)))"
        )
        assert printed_by(script) == "[]"

    @pytest.mark.parametrize("package", ["novelgen", "novelgen.models"])
    def test_every_exported_name_is_there(self, package: str) -> None:
        """`__all__` and `dir` name what can be imported, and nothing else can."""
        module = sys.modules[package]
        for name in module.__all__:
            assert getattr(module, name) is not None
            assert name in dir(module)
        with pytest.raises(AttributeError, match="has no attribute 'opne'"):
            module.opne  # noqa: B018


def printed_by(script: str) -> str:
    """Return what a new interpreter prints."""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


class TestOpen:
    """Settings, projects and what is wrong with them."""

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"embedings": "local"}, "no setting 'embedings'; did you mean 'embeddings'"),
            ({"chatmodel": "gpt-4o"}, "no setting 'chatmodel'; did you mean 'chat_model'"),
            ({"memory_budget": -1}, "memory_budget' cannot be -1"),
            ({"chat_model": 7}, "chat_model cannot be int; pass a LangChain chat model"),
        ],
    )
    def test_a_wrong_setting_is_told_at_once(self, tmp_path: Path, given: dict[str, Any], told: str) -> None:
        """A misspelt keyword names the nearest right one."""
        with pytest.raises(ConfigurationError, match=told):
            novelgen.open(tmp_path, **given)

    @pytest.mark.slow
    def test_keywords_win_over_a_projects_own_settings(self, demo_folder: Path) -> None:
        """config.yaml holds for its project alone, and what the caller says holds everywhere."""
        (demo_folder / "demo" / "config.yaml").write_text("memory:\n  memory_budget: 300\n  state_budget: 50\n")
        with novelgen.open(demo_folder, **PATIENT, state_budget=600) as memory:
            small = memory.story("demo").context(5, 4, PLAN).report
            large = memory.story("demo-zh").context(5, 4, PLAN).report
        assert small is not None
        assert large is not None
        assert 0 < small.tokens["memories"] <= 300 < large.tokens["memories"]
        assert small.tokens["states"] > 50

    def test_a_created_project_is_a_story(self, own_memory: Memory) -> None:
        """Its folder is ready, its language is left to its text, and it cannot be made twice."""
        story = own_memory.create("lamp", name="The Old Lamp")
        settings = json.loads((own_memory.settings.projects_dir / "lamp" / "settings.json").read_text())
        assert (settings["project_name"], settings["language"]) == ("The Old Lamp", "")
        assert story.memories.list().total == 0
        with pytest.raises(UserInputError, match="exists already"):
            own_memory.create("lamp")

    def test_a_closed_memory_is_closed(self, demo_folder: Path) -> None:
        """Whatever is asked of it, or of a story of it, is refused with the way to open it again."""
        memory = novelgen.open(demo_folder, **PATIENT)
        story = memory.story("demo")
        assert story.memories.list().total > 0
        memory.close()
        memory.close()
        for ask in (story.memories.list, memory.projects, lambda: story.search("key"), lambda: memory.create("new")):
            with pytest.raises(UserInputError, match=r"closed; open it again with novelgen\.open"):
                ask()

    def test_a_file_is_no_folder_of_projects(self, tmp_path: Path) -> None:
        """Whoever names a file is told so at once."""
        (tmp_path / "story.txt").write_text("Once.")
        with pytest.raises(ConfigurationError, match=r"story\.txt' is a file"):
            novelgen.open(tmp_path / "story.txt")


class TestContext:
    """The memory of a planned scene."""

    def test_a_misspelt_field_names_the_right_one(self, demo: Story) -> None:
        """In the plan and in the chapter's plan, as an error of the caller's."""
        with pytest.raises(UserInputError, match="did you mean 'chapter_title'"):
            demo.context(5, 4, PLAN, chapter_plan={"chapter_titel": "x"})
        with pytest.raises(UserInputError, match=r"scene_plan\.characters cannot be 'Ines'"):
            demo.context(5, 4, {"characters": "Ines"})

    @pytest.mark.parametrize(
        ("misspelt", "meant"),
        [("scene_plann", "scene_plan"), ("sceneplan", "scene_plan"), ("chapterplan", "chapter_plan")],
    )
    def test_a_step_names_the_key_that_was_meant(self, demo: Story, misspelt: str, meant: str) -> None:
        """Other keys of a chain pass by, but one that is nearly the plan's would leave the plan out unseen."""
        place = {"chapter_index": 7, "scene_index": 1}
        with pytest.raises(UserInputError, match=f"no key '{misspelt}'; did you mean '{meant}'"):
            demo.as_runnable().invoke({**place, misspelt: PLAN})
        assert demo.as_runnable().invoke(
            {**place, "scene_plan": PLAN, "chapter_plan": None, misspelt: "x", "style": "y"}
        )

    def test_a_projects_own_plan_is_taken(self, demo: Story) -> None:
        """Without a plan, the scene of the chapter's plan in the project's folder."""
        context = demo.context(7, 1)
        plan = json.loads((SHIPPED_PROJECTS / "demo" / "chapters" / "chapter_007_plan.json").read_text())
        assert context.report.scene_plan is not None
        assert context.report.scene_plan.purpose == plan["scenes"][0]["purpose"]
        with pytest.raises(UserInputError, match="no plan of scene '7:99'; pass scene_plan"):
            demo.context(7, 99)

    @pytest.mark.slow
    def test_several_at_once(self, demo: Story) -> None:
        """Contexts come in the order of their plans, each cut at its own position."""
        early, late = demo.contexts(
            [
                {"chapter_index": 2, "scene_index": 1, "scene_plan": PLAN},
                {"chapter_index": 5, "scene_index": 4, "scene_plan": PLAN},
            ]
        )
        assert all((chunk.chapter_index or 0) < 2 for chunk in early.relevant_memories)
        assert steady(late) == steady(demo.context(5, 4, PLAN))

    def test_a_context_needs_its_place(self, demo: Story) -> None:
        """A plan in a batch must tell where it is."""
        with pytest.raises(UserInputError, match="pass chapter_index and scene_index"):
            demo.contexts([{"scene_plan": PLAN}])

    @pytest.mark.slow
    def test_the_file_is_written_when_it_is_asked_for(self, demo_folder: Path) -> None:
        """Where the command writes it."""
        with novelgen.open(demo_folder, **PATIENT) as memory:
            context = memory.story("demo").context(5, 4, PLAN, write_file=True)
        written = (demo_folder / "demo" / "scene_5_4_memory.json").read_text(encoding="utf-8")
        assert SceneMemoryContext.model_validate_json(written) == context

    def test_the_callers_chat_model_plans(self, ingested_demos: Path) -> None:
        """A LangChain object is asked in place of the setting's; what it answers badly degrades."""
        model = ScriptedChatModel(answer=lambda _: "no plan at all")
        with novelgen.open(ingested_demos, chat_model=model, **PATIENT) as memory:
            report = memory.story("demo").context(5, 4, PLAN).report
        assert model.prompts
        assert report.planner.used == "rules"
        assert report.issues


class TestFilling:
    """Taking scenes, notes and exports in."""

    @pytest.mark.slow
    def test_texts_files_and_folders_are_taken_in(self, own_memory: Memory, tmp_path: Path) -> None:
        """A scene's text at its place, a chapter's file, and a folder of them."""
        story = own_memory.create("lamp")
        chapters = tmp_path / "chapters"
        chapters.mkdir()
        (chapters / "chapter_002.txt").write_text("Ada lit the lamp and waited for Ben all night.")
        (chapters / "chapter_003.txt").write_text("Ben came back with the brass key at dawn.")
        text = story.ingest(text="Ada hid the brass key under the stair.", chapter_index=1, scene_index=1)
        assert (text.count("added"), text.memories > 0) == (1, True)
        assert story.ingest(chapters / "chapter_002.txt").count("added") == 1
        both = story.ingest(str(chapters))
        assert (both.count("added"), both.count("unchanged")) == (1, 1)
        assert "brass key" in story.search("where is the brass key?")[0].content

    @pytest.mark.parametrize(
        ("given", "error", "told"),
        [
            ({"text": "x"}, UserInputError, "pass chapter_index and scene_index"),
            ({"text": " ", "chapter_index": 1, "scene_index": 1}, UserInputError, "there is no text"),
            ({"record": {}, "chapter_index": 1, "scene_index": 1}, UnknownSceneError, "1:1"),
            (
                {"text": "x", "record": {"memorys": []}, "chapter_index": 1, "scene_index": 1},
                UserInputError,
                "record has no field 'memorys'; did you mean 'memories'",
            ),
            (
                {
                    "text": "x",
                    "record": {"memories": [{"memory_id": "M1", "contents": "x"}]},
                    "chapter_index": 1,
                    "scene_index": 1,
                },
                UserInputError,
                r"record\.memories\[0\] has no field 'contents'; did you mean 'content'",
            ),
            ({"files": ["a.txt"], "text": "x"}, UserInputError, "either files, or one scene's text"),
        ],
    )
    def test_what_cannot_be_taken_in_is_refused(
        self, own_memory: Memory, given: dict[str, Any], error: type[Exception], told: str
    ) -> None:
        """Nothing is stored then."""
        story = own_memory.create("lamp")
        with pytest.raises(error, match=told):
            story.ingest(**given)
        assert story.memories.list().total == 0


class LengthEmbeddings(Embeddings):
    """Embeddings of a caller."""

    def __init__(self, model: str) -> None:
        self.model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), float(text.count("e")), 1.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class TestLangChain:
    """The story as retriever, tools, step, and with the caller's own embeddings."""

    @pytest.mark.slow
    def test_own_embeddings_are_told_apart(self, tmp_path: Path) -> None:
        """An index of other embeddings is not mixed with them; `reindex` builds it anew."""
        with novelgen.open(tmp_path, embeddings=LengthEmbeddings("one")) as memory:
            story = memory.create("lamp")
            story.memories.add("Nobody in this story can swim.")
            assert story.search("who can swim?")
        with novelgen.open(tmp_path, embeddings=LengthEmbeddings("two")) as memory:
            story = memory.story("lamp")
            note = story.memories.add("The lamp never goes out.")
            assert "LengthEmbeddings:one" in note.indexing.issues[0].message
            assert story.project.reindex().is_sound
            assert story.memories.add("Ada is left-handed.").indexing.issues == []

    def test_the_tools_reach_this_story_alone(self, demo: Story) -> None:
        """No tool has a project as its argument, and none reads beyond the position."""
        tools = {tool.name: tool for tool in demo.as_tools(as_of=(3, 1))}
        assert {"search_story_memory_tool", "get_entity_state_tool", "memory_search"} <= tools.keys()
        assert all("project_id" not in tool.args for tool in tools.values())
        found = tools["search_story_memory_tool"].invoke({"query": "the heron key", "as_of": "9"})
        assert found["memories"]
        assert all(each["chapter_index"] < 3 for each in found["memories"])
        late = demo.entities.state("Ines", as_of=(3, 1))
        state = tools["get_entity_state_tool"].invoke({"entity_id": "Ines"})["state"]
        assert late is not None
        assert state["state_data"] == json.loads(late.model_dump_json())["state_data"]
        assert tools["get_recent_timeline_tool"].invoke({"chapter_index": 9})["snapshots"] == []
        refused = tools["search_story_memory_tool"].invoke({"query": "x", "project_id": "demo-zh"})
        assert refused["error"]["kind"] == "invalid-request"

    @pytest.mark.slow
    def test_a_step_of_a_writing_chain(self, demo: Story) -> None:
        """It takes the plan as a mapping with other keys beside it, and gives the context or its text."""
        asked = {"chapter_index": 5, "scene_index": 4, "scene_plan": PLAN, "style": "plain"}
        prompt = ChatPromptTemplate.from_template("{memory}")
        model = FakeListChatModel(responses=["The door swung open."])
        chain = demo.as_runnable(as_prompt=True) | (lambda text: {"memory": text}) | prompt | model
        assert chain.invoke(asked).content == "The door swung open."
        context = demo.as_runnable().invoke(asked)
        request = MemoryContextRequest.model_validate({"project_id": "demo", **asked})
        assert steady(demo.as_runnable().invoke(request)) == steady(context)
        assert len(demo.as_runnable().batch([asked, asked])) == 2
        assert steady(asyncio.run(demo.as_runnable().ainvoke(asked))) == steady(context)

    @pytest.mark.slow
    def test_a_step_writes_the_file_of_its_scene(self, demo: Story, tmp_path: Path) -> None:
        """Seed 001: the JSON file by default, and none with `write_file=False`."""
        file = demo._stores.paths("demo").context_file(5, 4)
        file.unlink(missing_ok=True)
        asked = {"chapter_index": 5, "scene_index": 4, "scene_plan": PLAN}
        demo.as_runnable(write_file=False).invoke(asked)
        assert not file.exists()
        context = demo.as_runnable().invoke(asked)
        assert SceneMemoryContext.model_validate_json(file.read_text(encoding="utf-8")) == context
        file.unlink()

    def test_the_cast_has_two_names(self, demo: Story) -> None:
        """`characters_config` is `characters`; a key that is nearly one of a context's fields is named."""
        cast = {"protagonist": {"name": "Ines Marrow", "aliases": ["the locksmith"]}}
        plan = {"characters": ["the locksmith"], "purpose": "Open the iron door."}
        one, other = demo.context(5, 4, plan, characters=cast), demo.context(5, 4, plan, characters_config=cast)
        assert steady(one) == steady(other)
        place = {"chapter_index": 5, "scene_index": 4, "scene_plan": plan}
        for misspelt, meant in (("charcters", "characters"), ("characters_confg", "characters_config")):
            with pytest.raises(UserInputError, match=f"no key '{misspelt}'; did you mean '{meant}'"):
                demo.as_runnable().invoke({**place, misspelt: cast})

    @pytest.mark.slow
    def test_a_planner_may_stream_into_a_step(self, demo: Story) -> None:
        """A model's plan that grows piece by piece beside the place gives the context that it gives whole."""
        planner = FakeListChatModel(responses=[json.dumps(PLAN)]) | JsonOutputParser()
        chain = (
            RunnablePassthrough.assign(scene_plan=RunnableLambda(lambda _: "Plan the scene.") | planner)
            | demo.as_runnable()
        )
        place = {"chapter_index": 5, "scene_index": 4}
        [streamed] = list(chain.stream(place))

        async def last() -> SceneMemoryContext:
            return [each async for each in chain.astream(place)][-1]

        whole = steady(demo.context(5, 4, PLAN))
        assert steady(streamed) == steady(asyncio.run(last())) == whole

    def test_a_step_refuses_another_project(self, demo: Story) -> None:
        """What was asked of another story is not answered from this one."""
        with pytest.raises(UserInputError, match="project 'demo-zh' was asked of Story"):
            demo.as_runnable().invoke(
                {"project_id": "demo-zh", "chapter_index": 5, "scene_index": 4, "scene_plan": PLAN}
            )


STORY_PARTS = [Story, *PARTS.values()]

MAX_NAMES_ON_STORY, MAX_NAMES_PER_PART = 30, 25
"""Of async twins, none counts."""


def test_a_story_has_few_names() -> None:
    """Completion of `story.` and of each part shows what fits on one screen."""
    on_story = {*methods_of(Story), "project_id"}
    assert len(on_story) <= MAX_NAMES_ON_STORY, sorted(on_story)
    assert {"context", "search", "ingest", "extract", "check", "memories", "threads"} <= on_story
    counts = {name: len(methods_of(part)) for name, part in PARTS.items()}
    assert max(counts.values()) <= MAX_NAMES_PER_PART, counts


def test_parts_reach_the_same_story(demo: Story) -> None:
    """Each is made once, and typed as what it is."""
    for name, part in PARTS.items():
        assert type(getattr(demo, name)) is part
        assert getattr(demo, name) is getattr(demo, name)
        assert getattr(demo, name).project_id == demo.project_id


class TestAsync:
    """Twins that do not block the event loop."""

    def test_every_twin_is_a_coroutine_of_the_same_signature(self) -> None:
        """Each has the arguments of its method, and says so."""
        for owner in (Memory, *STORY_PARTS):
            for name in [name for name in dir(owner) if name.startswith("a") and hasattr(owner, name[1:])]:
                twin, method = getattr(owner, name), getattr(owner, name[1:])
                assert inspect.iscoroutinefunction(twin)
                assert inspect.signature(twin) == inspect.signature(method)
                assert twin.__name__ == name
                assert twin.__qualname__ == method.__qualname__.replace(f".{method.__name__}", f".{name}")
                assert f"`{name[1:]}`" in (twin.__doc__ or "")

    def test_everything_that_waits_has_a_twin(self) -> None:
        """But for what only builds objects."""
        builders = {"as_retriever", "as_tools", "as_store", "as_runnable", "as_context_node", "as_scene_node", *PARTS}
        for owner, light in ((Memory, {"settings"}), *((part, builders) for part in STORY_PARTS)):
            public = {name for name in dir(owner) if not name.startswith("_")}
            methods = methods_of(owner) - light
            assert {f"a{name}" for name in methods} <= public

    @pytest.mark.slow
    def test_twins_give_what_their_methods_give(self, ingested_demos: Path, demo: Story) -> None:
        """Opened with `async with`, side by side."""

        async def ask() -> tuple[SceneMemoryContext, list[Any]]:
            async with novelgen.open(ingested_demos, **PATIENT) as memory:
                story = await memory.astory("demo")
                return await asyncio.gather(story.acontext(5, 4, PLAN), story.asearch("the heron key"))

        context, found = asyncio.run(ask())
        assert steady(context) == steady(demo.context(5, 4, PLAN))
        assert [each.chunk_id for each in found] == [each.chunk_id for each in demo.search("the heron key")]


@pytest.mark.slow
def test_two_threads_share_a_memory(own_memory: Memory) -> None:
    """Each writes and reads its own story, and both that of the other."""
    for project_id in ("one", "two"):
        own_memory.create(project_id)

    def work(project_id: str) -> list[str]:
        story = own_memory.story(project_id)
        for number in range(1, 4):
            story.ingest(text=f"The {project_id} key was hidden {number}.", chapter_index=1, scene_index=number)
            story.context(1, number + 1, {"purpose": "Find the key."})
        return [chunk.content for chunk in own_memory.story(project_id).search("the key")]

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(work, ("one", "two"))
    assert all("one key" in content for content in one)
    assert all("two key" in content for content in two)
    assert len(one) == len(two) == 3
