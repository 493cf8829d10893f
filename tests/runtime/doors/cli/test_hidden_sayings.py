"""What a draft touches and its point of view does not know, in Python, over HTTP, in commands and on the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import novelgen
from runtime.story.story import Story
from tests.runtime.doors.cli.conftest import Run
from tests.runtime.doors.http.serving import client_of
from tests.runtime.page.reading import read

pytestmark = pytest.mark.slow

STORIES: dict[str, dict[str, Any]] = {
    "en": {
        "cards": ("Clara", "Abe", "the brass key", "the green lantern"),
        "alone": "Abe counted the coins alone.",
        "together": "Clara and Abe sat down to supper.",
        "unsaid": "The rain fell on the yard all night.",
        "hidden": "The brass key is in Abe's hands.",
        "guess": "Abe painted the green lantern red.",
        "known": "The brass key opens Clara's chest.",
        "draft": "Clara turned the brass key, and the green lantern shone.",
        "thread": "Abe has sworn to keep the secret of the brass key",
        "other_thread": "Abe wants to sell the green lantern",
        "remembered": "Clara counted the coins alone while the rain fell on the yard all night.",
        "mark": " (Clara does not know this)",
        "guess_mark": " (guess)",
    },
    "zh": {
        "cards": ("林渡", "老秦", "铜钥匙", "绿灯笼"),
        "alone": "老秦独自数着铜钱。",
        "together": "林渡和老秦坐下吃晚饭。",
        "unsaid": "雨在院子里下了一夜。",
        "hidden": "铜钥匙在老秦手里。",
        "guess": "老秦把绿灯笼漆成了红色。",
        "known": "铜钥匙能打开林渡的箱子。",
        "draft": "林渡转动铜钥匙，绿灯笼亮了起来。",
        "thread": "老秦发誓保守铜钥匙的秘密",
        "other_thread": "老秦想卖掉绿灯笼",
        "remembered": "林渡独自数着铜钱，雨在院子里下了一夜。",
        "mark": "（林渡不知道）",
        "guess_mark": "（推测）",
    },
}


@pytest.fixture(params=STORIES)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"language": request.param, **STORIES[request.param]}


@pytest.fixture
def story(told: dict[str, Any], projects_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    """A scene with both, one without the point of view, and one of which nobody says who was there."""
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:64")
    heroine, other, *things = told["cards"]
    with novelgen.open(projects_dir, embeddings="fake:64") as memory:
        story = memory.create("yard", language=told["language"])
        for name in (heroine, other):
            story.entities.add(name, start="1:1")
        for name in things:
            story.entities.add(name, kind="item", start="1:1")
        for number, text in enumerate((told["together"], told["alone"], told["unsaid"]), 1):
            story.ingest(text=text, chapter_index=1, scene_index=number)
        story.scenes.set_staging("1:1", cast=[heroine, other])
        story.scenes.set_staging("1:2", cast=[other])
        story.memories.add(told["known"], start="1:1")
        story.memories.add(told["hidden"], start="1:2")
        story.memories.add(told["guess"], start="1:3")
        yield story


def _place() -> dict[str, int]:
    return {"chapter_index": 2, "scene_index": 1}


def _marks(touched: list[dict[str, Any]]) -> dict[str, tuple[str, bool] | None]:
    """Return by each text who does not know it, and whether by a guess."""
    return {
        saying["text"]: (unknown["name"], unknown.get("is_guess", False))
        if (unknown := saying.get("unknown_to"))
        else None
        for matter in touched
        for saying in matter["sayings"]
    }


def test_what_the_point_of_view_does_not_know_is_marked(story: Story, told: dict[str, Any]) -> None:
    """A hidden note, the state that it sets, and with the mark of a guess what a guessed cast hides."""
    heroine, other, thing, _ = told["cards"]
    check = story.check(told["draft"], **_place(), pov=heroine, use_model=False)
    marks = _marks(check.model_dump()["touched"])
    assert (marks[told["hidden"]], marks[told["guess"]]) == ((heroine, False), (heroine, True))
    assert marks[told["known"]] is None
    [state] = [text for text in marks if text.startswith(thing) and text.endswith(other)]
    assert marks[state] == (heroine, False)


def test_who_knows_or_no_point_of_view_has_no_mark(story: Story, told: dict[str, Any]) -> None:
    """The one who was there knows it; without a point of view nobody is asked; said to be known, the mark goes."""
    heroine, other, *_ = told["cards"]
    for pov in (None, other):
        check = story.check(told["draft"], **_place(), pov=pov, use_model=False)
        assert told["hidden"] in (marks := _marks(check.model_dump()["touched"]))
        assert marks[told["hidden"]] is None
    story.knowledge.set(heroine, "note-N1", "knows", start="1:3")
    check = story.check(told["draft"], **_place(), pov=heroine, use_model=False)
    marks = _marks(check.model_dump()["touched"])
    assert [text for text, mark in marks.items() if mark is not None] == [told["guess"]]


def test_a_thread_that_the_context_hides_is_marked(story: Story, told: dict[str, Any]) -> None:
    """By a stated cast surely, by a guessed one with the mark of a guess; who was there has no mark."""
    heroine, other, thing, lantern = told["cards"]
    story.threads.add(told["thread"], characters=[other], items=[thing], start="1:2")
    story.threads.add(told["other_thread"], characters=[other], items=[lantern], start="1:3")
    for pov, expected in ((heroine, [(heroine, False), (heroine, True)]), (other, [None])):
        marks = _marks(story.check(told["draft"], **_place(), pov=pov, use_model=False).model_dump()["touched"])
        threads = [
            next(mark for text, mark in marks.items() if told[key] in text) for key in ("thread", "other_thread")
        ]
        assert threads[: len(expected)] == expected


def test_a_passage_of_a_scene_without_the_point_of_view_is_marked(story: Story, told: dict[str, Any]) -> None:
    """As a thread is; a passage of a scene with it is not."""
    heroine, other, *_ = told["cards"]
    check = story.check(told["remembered"], **_place(), pov=heroine, use_model=False)
    marks = _marks(check.model_dump()["touched"])
    assert (marks[told["alone"]], marks[told["unsaid"]]) == ((heroine, False), (heroine, True))
    assert marks[told["together"]] is None
    check = story.check(told["remembered"], **_place(), pov=other, use_model=False)
    assert _marks(check.model_dump()["touched"])[told["alone"]] is None


def test_every_surface_says_so(
    story: Story, told: dict[str, Any], projects_dir: Path, tmp_path: Path, run: Run
) -> None:
    """The command, HTTP and the page mark the same sentences, in the story's language and the reader's."""
    heroine = told["cards"][0]
    file = tmp_path / "draft.txt"
    file.write_text(told["draft"], encoding="utf-8")
    place = ("--chapter", "2", "--scene", "1")
    result = run("check", "yard", *place, "--text", str(file), "--pov", heroine, "--no-model")
    assert f"{told['hidden']}{told['mark']}\n" in result.stdout
    assert f"{told['guess']}{told['mark']}{told['guess_mark']}\n" in result.stdout
    assert f"{told['known']}\n" in result.stdout
    with client_of(projects_dir) as client:
        asked = {**_place(), "text": told["draft"], "pov": heroine, "use_model": False}
        marks = _marks(client.post("/v1/projects/yard/check", json=asked).json()["touched"])
        assert (marks[told["hidden"]], marks[told["guess"]]) == ((heroine, False), (heroine, True))
        client.headers["Accept-Language"] = told["language"]
        form = {"chapter": "2", "scene": "1", "text": told["draft"], "pov": heroine}
        seen = " ".join(read(client.post("/page/projects/yard/check", data=form)).text.split())
        assert f"{told['hidden']} {told['mark'].strip()}" in seen
        assert f"{told['guess']} {told['mark'].strip()} {told['guess_mark'].strip()}" in seen


def test_what_a_context_hides_of_cards_and_states_is_marked(story: Story, told: dict[str, Any]) -> None:
    """A disguise, a state of a scene without her, and the age of somebody whom she has not met."""
    heroine, other, thing, lantern = told["cards"]
    stranger = {"en": "Silas", "zh": "顾三篙"}[told["language"]]
    draft = {"en": "Clara thought of Abe, Silas and the green lantern.", "zh": "林渡想起老秦、顾三篙和绿灯笼。"}
    story.entities.add(stranger, {"age": 50}, start="1:1")
    story.entities.edit(other, {"disguise": stranger, "age": 40, "goals": "silver"}, start="1:1")
    story.entities.edit(lantern, {"where": thing}, start="1:2")
    story.entities.edit(heroine, {"disguise": "Ben"}, start="1:2")

    def unknown(pov: str) -> set[str]:
        check = story.check(draft[told["language"]], **_place(), pov=pov, use_model=False)
        sayings = [saying for matter in check.touched for saying in matter.sayings if saying.source == "state"]
        return {saying.source_id for saying in sayings if saying.unknown_to is not None}

    ids = {name: story.entities.get(name).entity.entity_id for name in (heroine, other, stranger, thing, lantern)}
    hidden = {f"{ids[other]}.disguise", f"{ids[other]}.goals", f"{ids[stranger]}.age", f"{ids[lantern]}.location_id"}
    assert unknown(heroine) == {*hidden, f"{ids[thing]}.holder"}
    assert unknown(other) == {f"{ids[heroine]}.disguise", f"{ids[stranger]}.age"}


def test_a_check_says_whose_knowledge_and_which_file_of_a_plan_it_takes(
    story: Story, told: dict[str, Any], tmp_path: Path, run: Run
) -> None:
    """Of the last context where nothing is typed."""
    heroine, other, *_ = told["cards"]
    file = tmp_path / "draft.txt"
    file.write_text(told["draft"], encoding="utf-8")
    check = ("check", "yard", "--chapter", "2", "--scene", "1", "--text", str(file), "--no-model")
    assert heroine not in run(*check).stdout.strip().splitlines()[0]
    place = ("--chapter", "2", "--scene", "1")
    run("context", "yard", *place, "--purpose", told["draft"], "--with", heroine, "--pov", heroine)
    heading = {
        "en": "Continuity of scene 2:1 of yard (what {} knows, plan: scene_2_1_memory.json)",
        "zh": "2:1 场与前文是否相合（yard）（按{}所知，计划：scene_2_1_memory.json）",
    }[told["language"]]
    assert run(*check).stdout.strip().splitlines()[0] == heading.format(heroine)
    assert run(*check, "--pov", other).stdout.strip().splitlines()[0] == heading.format(other)


def test_an_empty_list_takes_back_what_a_note_ends(story: Story, run: Run) -> None:
    """An empty text says so in a shell."""
    run("memory", "edit", "yard", "note-N2", "--ends", "note-N0")
    assert story.memories.get("note-N2").chunk.also_supersedes == ["note-N0"]
    run("memory", "edit", "yard", "note-N2", "--ends", "")
    assert story.memories.get("note-N2").chunk.also_supersedes == []
