"""Cards of every kind and their fields."""

from collections.abc import Callable
from typing import Any

import pytest

from novelgen.card_fields import KINDS, fields_by_kind
from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from runtime.story.story import Story


@pytest.fixture
def chinese(stores: MemoryStores, request: pytest.FixtureRequest) -> Story:
    """An empty Chinese story."""
    project = f"qing-{abs(hash(request.node.name))}"
    stores.create_project(project, language="zh")
    return Story(stores, project)


def test_no_two_fields_of_a_kind_share_a_name() -> None:
    """Each kind has fields, and either language tells them apart."""
    for kind in KINDS:
        fields = fields_by_kind()[kind]
        assert len({each.zh for each in fields}) == len({each.en for each in fields}) == len(fields) > 0


@pytest.mark.slow
def test_a_card_of_every_kind_is_made_found_and_taken_back(stores: MemoryStores, project: str) -> None:
    """One operation makes all five; undo leaves nothing of any."""
    story = Story(stores, project)
    before = story.entities.list()
    for kind in KINDS:
        made = story.entities.add(f"the {kind} of the tale", kind=kind, aliases=["It"], start=StoryPosition(1, 2))
        assert story.entities.get("It", as_of=StoryPosition(1, 2)).entity.entity_id == made.entity.entity_id
        assert made.entity.entity_type == kind
        assert made.entity.name not in [each.name for each in story.entities.list(as_of=StoryPosition(1, 1))]
        story.undo(made.change.change_id)
        assert story.entities.list() == before


def test_fields_in_either_language_are_kept_under_one_key(chinese: Story) -> None:
    """What may change is of the state, a list may be written in one text, and a name means its card."""
    lin = chinese.entities.add("林凡", {"性格": "沉静", "目标": "结丹、复仇", "carries": "青冥诀", "灵根": "火"}).entity
    assert (lin.profile["personality"], lin.profile["灵根"]) == ("沉静", "火")
    state = chinese.entities.get("林凡").state
    assert state is not None
    assert (state.state_data["goals"], state.state_data["inventory"]) == (["结丹", "复仇"], ["青冥诀"])
    ring = chinese.entities.add("青铜戒指", {"来历": "母亲所留"}, kind="item", holder="林凡").entity
    held = chinese.entities.get("青铜戒指").state
    assert held is not None
    assert held.state_data["holder"] == lin.entity_id
    edited = chinese.entities.edit("青铜戒指", {"持有者": "无名氏", "origin": "古墓"})
    assert edited.entity.profile["origin"] == "古墓"
    assert edited.updated_fields == ["holder", "origin"]
    assert edited.change is not None
    chinese.undo(edited.change.change_id)
    assert chinese.entities.get("青铜戒指").entity == ring


def test_part_of_a_name_is_no_holder(chinese: Story) -> None:
    """A holder who has no card stays a text, aloud, where a longer name holds the name: 林凡 is not 林凡尘."""
    chinese.entities.add("林凡尘")
    added = chinese.entities.add("青霜剑", kind="item", holder="林凡")
    assert (
        "holder='林凡' is kept as text: no character of that name is known; near it: 林凡尘" in added.issues[0].message
    )
    held = chinese.entities.get("青霜剑").state
    assert held is not None
    assert held.state_data["holder"] == "林凡"
    assert chinese.entities.edit("青霜剑", {"holder": "林凡尘"}).issues == []
    assert "near it" in chinese.entities.edit("青霜剑", {"holder": "林凡"}).issues[0].message


def test_part_of_a_name_takes_no_others_card(chinese: Story) -> None:
    """A card is shown, edited, merged and deleted by a whole name or its id; a refusal offers the near one."""
    chinese.entities.add("林凡尘")
    calls: tuple[Callable[[], object], ...] = (
        lambda: chinese.entities.get("林凡"),
        lambda: chinese.entities.edit("林凡", {"role": "minor"}),
        lambda: chinese.entities.delete("林凡"),
        lambda: chinese.entities.split(entity_id="林凡", new_name="凡"),
    )
    for call in calls:
        with pytest.raises(UnknownEntityError, match=r"'林凡' is known by then; near it: 林凡尘"):
            call()
    assert chinese.entities.get("林凡尘").entity == chinese.entities.get("c0").entity


def test_an_edit_gives_nobody_anothers_name(chinese: Story) -> None:
    """Two of a kind are not made to bear one name by an edit, as by a rename; an own alias may become the name."""
    chinese.entities.add("林凡", aliases=["小凡"])
    chinese.entities.add("林雪儿")
    with pytest.raises(UserInputError, match="character C1 bears the name '林雪儿' already"):
        chinese.entities.edit("林凡", {"name": "林雪儿"})
    assert chinese.entities.edit("林凡", {"name": "小凡"}).entity.name == "小凡"


def test_other_fields_of_a_new_card_are_the_authors_own(chinese: Story) -> None:
    """They are kept on the card as typed and can be changed there; what is nearly a field is refused as a slip."""
    made = chinese.entities.add("林凡", {"境界": "练气", "口头禅": "凡事有我"})
    assert made.entity.profile["口头禅"] == "凡事有我"
    edited = chinese.entities.edit("林凡", {"口头禅": "小凡"})
    assert edited.entity.profile["口头禅"] == "小凡"
    with pytest.raises(UserInputError, match=r"'personalty' is no field of a character; did you mean 'personality'"):
        chinese.entities.add("苏晚", {"personalty": "calm"})
    with pytest.raises(UserInputError, match="a character has no holder"):
        chinese.entities.add("苏晚", holder="谁")
    assert [each.name for each in chinese.entities.list()] == ["林凡"]
    state = chinese.entities.add("苏晚", state={"personalty": "calm"}).entity
    assert "personalty" not in state.profile


def test_an_edit_of_names_is_taken_back_with_the_scenes_that_held_them(stores: MemoryStores, project: str) -> None:
    """A scene that an alias brought somebody into loses them again."""
    story = Story(stores, project)
    before = story.scenes.read(position=StoryPosition(1, 1)).scene
    edited = story.entities.edit("C2", {"alias": "hall"})
    assert edited.change is not None
    story.undo()
    assert story.scenes.read(position=StoryPosition(1, 1)).scene.participants == before.participants
    assert "hall" not in story.entities.get("C2").entity.names()


@pytest.mark.slow
def test_a_rename_and_an_order_of_names_are_taken_back(stores: MemoryStores, project: str) -> None:
    """The name before becomes an alias among others, which keep their order when that is undone."""
    story = Story(stores, project)
    for aliases in (["Inny", "the keeper"], ["the keeper", "Inny"]):
        story.entities.edit("C0", {"aliases": aliases})
        before = story.entities.get("C0").entity
        story.entities.edit("C0", {"name": "Inessa"})
        assert story.entities.get("C0").entity.name == "Inessa"
        story.undo()
        assert story.entities.get("C0").entity.names() == before.names()
    story.undo()
    assert story.entities.get("C0").entity.names()[1:] == ["Inny", "the keeper"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ({"identity": "a spy", "Looks": "tall", "job": "smith", "age": 40}, "catchphrase"),
        ({"身份": "密探", "长相": "高", "职务": "铁匠", "年龄": 40}, "口头禅"),
    ],
)
def test_what_people_type_are_fields(chinese: Story, typed: dict[str, Any], own: str) -> None:
    """Identity, looks, occupation and age under their keys, on a new card and a stored one; the rest is their own."""
    story = chinese
    for name, fields in (("Ada", {**typed, own: "x"}), ("Ben", {})):
        story.entities.add(name, fields)
    story.entities.edit("Ben", {**typed, own: "x"})
    for name in ("Ada", "Ben"):
        card = story.entities.get(name)
        assert {"public_identity", "appearance", "occupation", "age", own} <= set(card.entity.profile)
        assert card.state is None
