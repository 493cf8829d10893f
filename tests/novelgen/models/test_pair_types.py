"""Types of pairs tell which role is whose, whichever of the two is named first."""

import pytest

from novelgen.models.pair_types import turned_type
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import Relationship

TURNED = {
    "killer and victim": "victim and killer",
    "俘虏与捕者": "捕者与俘虏",
    "客与主、被救者与恩人": "主与客、恩人与被救者",
    "mother/daughter": "daughter/mother",
    "widow who thanks and trusts him / rescuer": "rescuer / widow who thanks and trusts him",
    "mother-daughter": "daughter-mother",
    "Father-daughter": "Daughter-father",
    "master–servant": "servant–master",
    "mentor - student": "student - mentor",
    "mother-in-law – daughter-in-law": "daughter-in-law – mother-in-law",
    "employer-employee relationship": "employee-employer relationship",
    "husband and wife": "wife and husband",
    "师父和徒弟": "徒弟和师父",
    "主人/仆人": "仆人/主人",
}
ALIKE = (
    *("friends", "half-brothers", "old enemies", "family friends", "married", "family", "childhood sweethearts", ""),
    *("夫妻", "多年好友", "朋友", "结义兄弟", "敌对关系", "同窗、好友"),
)
KEPT = (
    *("师徒", "母女", "父子", "主仆", "君臣", "杀父仇人", "兄弟和睦", "师父", "朋友、师徒", "青梅竹马的师妹"),
    *("mentor", "daughter of", "secretly loves", "love-hate", "ex-husband", "brother-in-law", "son of king and queen"),
    *("master-servants", "ghost-medium", "in love with", "old friends and sworn enemies of the whole harbour"),
)


def test_roles_are_turned_where_words_say_how() -> None:
    """Both roles change places and back again; what is said of both alike stays; anything else cannot be turned."""
    assert {text: turned_type(text) for text in TURNED} == TURNED
    assert [turned_type(str(turned_type(text))) for text in TURNED] == list(TURNED)
    assert [turned_type(text) for text in ALIKE] == list(ALIKE)
    assert [text for text in KEPT if turned_type(text) is not None] == []


@pytest.mark.parametrize("text", [*TURNED, *ALIKE, *KEPT])
@pytest.mark.parametrize("is_in_order", [True, False])
def test_a_role_stays_with_its_person(text: str, *, is_in_order: bool) -> None:
    """Whatever is named first in a record, in storage, from either side and in a line of a context."""
    first, second = ("C0", "C1") if is_in_order else ("C1", "C0")
    stored = RecordedRelationshipChange(character_a=first, character_b=second, relationship_type=text).in_order()
    assert (stored.character_a, stored.character_b) == ("C0", "C1")
    fields = stored.model_dump(include={"character_a", "character_b", "relationship_type", "type_reads_back"})
    pair = Relationship(relationship_id="R0", **fields)
    turned = TURNED.get(text, text)
    read_from = {who: pair.read_from(who) for who in ("C0", "C1")}
    for who, (sides, told) in read_from.items():
        shown_first = pair.character_a if sides[0] == "a" else pair.character_b
        assert told == (text if shown_first == first else turned)
        assert shown_first == (first if text in KEPT else who)
        view = pair.seen_by(who)
        assert view.type_reads_back == (text in KEPT and who != first)
        assert view.relationship_type == (text if who == first or text in KEPT else turned)
    assert stored.turned().in_order() == stored
    if text in KEPT:
        assert pair.in_reading_order() == (first, second)
