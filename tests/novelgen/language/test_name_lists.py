"""Names that people write in one text are taken one by one."""

import pytest

from novelgen.language.name_lists import split_names
from novelgen.models.entity import Entity

KNOWN = (
    Entity(entity_id="C0", entity_type="character", name="Ada, Countess of Marsh"),
    Entity(entity_id="C1", entity_type="character", name="Ben"),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ines, Ben", ["Ines", "Ben"]),
        ("沈青、柳三娘，石敢；宁怀素", ["沈青", "柳三娘", "石敢", "宁怀素"]),
        ("Ines; Ben\nKit", ["Ines", "Ben", "Kit"]),
        (" Ines ,, ", ["Ines"]),
        ("", []),
        ("Ada, Countess of Marsh", ["Ada, Countess of Marsh"]),
        ("Ben, ada, countess of marsh, Kit", ["Ben", "ada, countess of marsh", "Kit"]),
        ("Ines (old, tired), Ben", ["Ines (old, tired)", "Ben"]),
    ],
)
def test_names_part_at_commas_of_any_script(text: str, names: list[str]) -> None:
    """A name with a comma in it that a card bears is one, and so is a remark in brackets."""
    assert split_names([text], KNOWN) == names
