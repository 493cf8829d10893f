"""Cards of every kind, whose fields a template tells."""

from collections.abc import Callable
from pathlib import Path

import pytest

from novelgen.card_templates import KINDS, shipped_templates
from novelgen.errors import InvalidFileError, UnknownEntityError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from runtime.story.story import Story


@pytest.fixture
def chinese(stores: MemoryStores, request: pytest.FixtureRequest) -> Story:
    """An empty Chinese story with the fields of xianxia."""
    project = f"qing-{abs(hash(request.node.name))}"
    stores.create_project(project, language="zh")
    story = Story(stores, project)
    story.use_card_template("仙侠")
    return story


def test_shipped_templates_name_their_fields_in_both_languages() -> None:
    """No genre has a field that only one language can call, nor the same one twice."""
    for template in shipped_templates().values():
        assert template.en
        assert template.zh
        for kind in KINDS:
            fields = template.fields(kind)
            assert all(each.en and each.zh for each in fields)
            assert len({each.zh for each in fields}) == len({each.en for each in fields}) == len(fields)


def test_a_card_of_every_kind_is_made_found_and_taken_back(stores: MemoryStores, project: str) -> None:
    """One operation makes all five; undo leaves nothing of any."""
    story = Story(stores, project)
    before = story.entities()
    for kind in KINDS:
        made = story.add_card(f"the {kind} of the tale", kind=kind, aliases=["It"], start=StoryPosition(1, 2))
        assert story.entity("It", as_of=StoryPosition(1, 2)).entity.entity_id == made.entity.entity_id
        assert made.entity.entity_type == kind
        assert made.entity.name not in [each.name for each in story.entities(as_of=StoryPosition(1, 1))]
        story.undo(made.change.change_id)
        assert story.entities() == before


def test_fields_in_either_language_are_kept_in_the_storys(chinese: Story) -> None:
    """What may change is of the state, a list may be written in one text, and a name means its card."""
    sect = chinese.add_card("青云宗", kind="faction").entity
    lin = chinese.add_card("林凡", {"realm": "练气", "灵根": "火", "功法": "青冥诀、龟息术", "sect": "青云宗"}).entity
    assert lin.profile["灵根"] == "火"
    state = chinese.entity("林凡").state
    assert state is not None
    assert (state.state_data["境界"], state.state_data["宗门"]) == ("练气", sect.entity_id)
    assert state.state_data["功法"] == ["青冥诀", "龟息术"]
    ring = chinese.add_card("青铜戒指", {"品阶": "未知"}, kind="item", holder="林凡").entity
    held = chinese.entity("青铜戒指").state
    assert held is not None
    assert held.state_data["holder"] == lin.entity_id
    edited = chinese.edit_entity("青铜戒指", {"持有者": "青云宗", "grade": "仙器"})
    assert edited.entity.profile["品阶"] == "仙器"
    assert edited.updated_fields == ["holder", "品阶"]
    assert edited.change is not None
    chinese.undo(edited.change.change_id)
    assert chinese.entity("青铜戒指").entity == ring


def test_part_of_a_name_is_no_holder(chinese: Story) -> None:
    """A holder who has no card stays a text, aloud, where a longer name holds the name: 林凡 is not 林凡尘."""
    chinese.add_card("林凡尘")
    added = chinese.add_card("青霜剑", kind="item", holder="林凡")
    assert (
        "holder='林凡' is kept as text: no character of that name is known; near it: C0 (林凡尘)"
        in added.issues[0].message
    )
    held = chinese.entity("青霜剑").state
    assert held is not None
    assert held.state_data["holder"] == "林凡"
    assert chinese.edit_entity("青霜剑", {"holder": "林凡尘"}).issues == []
    assert "near it" in chinese.edit_entity("青霜剑", {"holder": "林凡"}).issues[0].message


def test_part_of_a_name_takes_no_others_card(chinese: Story) -> None:
    """A card is shown, edited, merged and deleted by a whole name or its id; a refusal offers the near one."""
    chinese.add_card("林凡尘")
    calls: tuple[Callable[[], object], ...] = (
        lambda: chinese.entity("林凡"),
        lambda: chinese.edit_entity("林凡", {"role": "minor"}),
        lambda: chinese.delete_entity("林凡"),
        lambda: chinese.split_entity(entity="林凡", new_name="凡"),
    )
    for call in calls:
        with pytest.raises(UnknownEntityError, match=r"'林凡' is known by then; near it: C0 \(林凡尘\)"):
            call()
    assert chinese.entity("林凡尘").entity == chinese.entity("c0").entity


def test_an_edit_gives_nobody_anothers_name(chinese: Story) -> None:
    """Two of a kind are not made to bear one name by an edit, as by a rename; an own alias may become the name."""
    chinese.add_card("林凡", aliases=["小凡"])
    chinese.add_card("林雪儿")
    with pytest.raises(UserInputError, match="character C1 bears the name '林雪儿' already"):
        chinese.edit_entity("林凡", {"name": "林雪儿"})
    assert chinese.edit_entity("林凡", {"name": "小凡"}).entity.name == "小凡"


def test_a_field_of_a_new_card_that_is_none_is_refused(chinese: Story) -> None:
    """Who misspells one is told which there are, and how to say it nevertheless; nothing is made."""
    with pytest.raises(UserInputError, match=r"'镜界' is no field of a character.*境界.*state: 镜界=VALUE"):
        chinese.add_card("林凡", {"镜界": "练气"})
    with pytest.raises(UserInputError, match="a character has no holder"):
        chinese.add_card("林凡", holder="谁")
    assert chinese.entities() == []
    assert chinese.add_card("林凡", state={"镜界": "练气"}).entity.name == "林凡"


def test_an_edit_of_names_is_taken_back_with_the_scenes_that_held_them(stores: MemoryStores, project: str) -> None:
    """A scene that an alias brought somebody into loses them again."""
    story = Story(stores, project)
    before = story.read_scene(position=StoryPosition(1, 1)).scene
    edited = story.edit_entity("C2", {"alias": "hall"})
    assert edited.change is not None
    story.undo()
    assert story.read_scene(position=StoryPosition(1, 1)).scene.participants == before.participants
    assert "hall" not in story.entity("C2").entity.names()


def test_a_rename_and_an_order_of_names_are_taken_back(stores: MemoryStores, project: str) -> None:
    """The name before becomes an alias among others, which keep their order when that is undone."""
    story = Story(stores, project)
    for aliases in (["Inny", "the keeper"], ["the keeper", "Inny"]):
        story.edit_entity("C0", {"aliases": aliases})
        before = story.entity("C0").entity
        story.edit_entity("C0", {"name": "Inessa"})
        assert story.entity("C0").entity.name == "Inessa"
        story.undo()
        assert story.entity("C0").entity.names() == before.names()
    story.undo()
    assert story.entity("C0").entity.names()[1:] == ["Inny", "the keeper"]


def test_own_templates_add_to_the_shipped_ones(stores: MemoryStores) -> None:
    """A file beside the projects counts for all, one in a project for it alone; a wrong one is named."""
    for project in ("heist", "other"):
        stores.create_project(project, language="en")
    story = Story(stores, "heist")
    shared, own = (Path(each) for each in story.card_templates().folders)
    for folder, name in ((shared, "mystery.toml"), (own, "heist.toml")):
        folder.mkdir(parents=True)
        (folder / name).write_text('title = "Ours"\n[[item]]\nname = "guarded by"\ncard = "faction"\n', "utf-8")
    try:
        assert {"mystery", "heist"} <= {each.name for each in story.card_templates().templates}
        offered = {each.name: each for each in Story(stores, "other").card_templates().templates}
        assert "heist" not in offered
        assert [each.name for each in offered["mystery"].fields if each.kind == "item"][-1] == "guarded by"
        guards = story.add_card("the Watch", kind="faction").entity.entity_id
        safe = story.add_card("the safe", {"guarded by": "the Watch"}, kind="item", template="heist").entity
        assert safe.profile["guarded by"] == guards
        with pytest.raises(UserInputError, match="no card template 'hiest'; did you mean 'heist'"):
            story.use_card_template("hiest")
        (own / "bad.toml").write_text("[[item]]\nname = 3\n", "utf-8")
        with pytest.raises(InvalidFileError, match=r"bad\.toml.*item\.0\.name cannot be 3"):
            story.card_templates()
    finally:
        for file in (shared / "mystery.toml", own / "heist.toml", own / "bad.toml"):
            file.unlink(missing_ok=True)
