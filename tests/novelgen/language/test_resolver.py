"""Tests of resolving names to entities."""

import pytest

from novelgen.language.resolver import NameResolver
from novelgen.models.entity import Entity
from tests.novelgen.language.story_entities import entity, journey, london


@pytest.mark.parametrize(
    ("name", "entity_id"),
    [
        ("C1", "C1"),
        ("c1", "C1"),
        ("sherlock holmes", "C0"),
        ("Holmes", "C0"),
        ("Holmes (departing)", "C0"),
        ("Dr. Watson", "C1"),
        ("John Watson", "C1"),
        ("Sherlock", "C0"),
        ("Mr. Athelney Jones’s", "C4"),
        ("Inspector Jones", "C4"),
        ("the porter", "C5"),
        ("Mr. Sherlock Holmes of Baker Street", None),
        ("the great Sherlock Holmes himself", "C0"),
    ],
)
def test_english_names_resolve(name: str, entity_id: str | None) -> None:
    """Ids, names, aliases, remarks, titles, parts of names and phrases resolve; several in one do not."""
    assert NameResolver(london()).resolve(name).entity_id == entity_id


@pytest.mark.parametrize(
    ("name", "entity_id"),
    [
        ("唐三藏", "C0"),
        ("三藏", "C0"),
        ("孙行者", "C1"),
        ("悟空", "C1"),
        ("八戒（受伤）", "C2"),
        ("镇元子先生", "C3"),
        ("老王", "C5"),
        ("王大人", "C5"),
        ("老庙祝", "C8"),
        ("元子", "C3"),
    ],
)
def test_chinese_names_resolve(name: str, entity_id: str) -> None:
    """Names, aliases, endings of names, surnames with titles and names inside phrases resolve."""
    assert NameResolver(journey()).resolve(name).entity_id == entity_id


@pytest.mark.parametrize("name", ["㐀", "", " ", "众僧", "a boy sentry", "little Jack", "X9"])
def test_an_unknown_name_has_no_candidates(name: str) -> None:
    """Who is not known is said to be unknown."""
    for story in (london(), journey()):
        resolution = NameResolver(story).resolve(name)
        assert (resolution.entity_id, resolution.candidate_ids, resolution.reason) == (None, [], "unknown")


@pytest.mark.parametrize(
    ("story", "name", "candidates"),
    [
        (london(), "the stranger", ["C4", "C5"]),
        (london(), "Morstan", ["C2", "C3"]),
        (london(), "the two Smiths", ["C6", "C7"]),
        (journey(), "师父", ["C0", "C3"]),
        (journey(), "老儿", ["C5", "C8"]),
    ],
)
def test_an_ambiguous_name_lists_its_candidates(story: list[Entity], name: str, candidates: list[str]) -> None:
    """Without anyone present, a name of several stays open and says whom it may mean."""
    resolution = NameResolver(story).resolve(name)
    assert (resolution.entity_id, resolution.candidate_ids) == (None, candidates)
    assert "several" in resolution.reason


def test_presence_decides_an_ambiguous_name() -> None:
    """Who was on stage last is meant, or who is named nearby; the others stay listed behind."""
    resolution = NameResolver(journey(), present_ids=["C1", "C3", "C0"]).resolve("师父")
    assert (resolution.entity_id, resolution.candidate_ids) == ("C3", ["C3", "C0"])
    assert resolution.reason == "alias of several; last on stage"
    resolver = NameResolver(journey())
    assert [each.entity_id for each in resolver.find_mentions("师父骑马。三藏下马。")] == ["C0", "C0"]
    both = "三藏拜镇元子，叫声师父。"
    assert [each.entity_id for each in resolver.find_mentions(both)] == ["C0", "C3"]
    assert resolver.find_mentions("师父！") == []


def test_a_title_of_the_other_gender_is_somebody_else() -> None:
    """Miss Holmes is not Mr. Holmes, and a stated gender counts as a title does."""
    resolver = NameResolver([*london(), entity("C9", "Anna Karenina", gender="female")])
    assert resolver.resolve("Miss Holmes").entity_id is None
    assert resolver.resolve("Mr. Karenina").entity_id is None
    assert resolver.resolve("Mrs. Karenina").entity_id == "C9"
    assert resolver.find_mentions("He met Miss Holmes.") == []


@pytest.mark.parametrize(
    ("story", "text", "entity_ids"),
    [
        (london(), "Baker Street; Pinchin Lane; Camberwell", ["L0", "L3", "L1"]),
        (london(), "Holmes and Watson, then Holmes again", ["C0", "C1"]),
        (journey(), "黄风岭外", ["L0"]),
        (journey(), "行者、八戒", ["C1", "C2"]),
    ],
)
def test_composite_strings_name_several(story: list[Entity], text: str, entity_ids: list[str]) -> None:
    """Every known name in a phrase is found, each entity once, in order."""
    assert NameResolver(story).entity_ids_in(text) == entity_ids


@pytest.mark.parametrize(
    ("story", "place", "entity_id"),
    [
        (london(), "Thaddeus Sholto's sanctum, South London", "L4"),
        (london(), "Told of the south-west door, Agra, by night", "L2"),
        (london(), "Holmes in Baker Street", "L0"),
        (journey(), "云栈洞外", "L1"),
        (journey(), "行者在黄风洞口", "L0"),
    ],
)
def test_places_resolve_by_what_is_proper_to_their_name(story: list[Entity], place: str, entity_id: str) -> None:
    """Where a location is wanted, a phrase finds it by part of its name."""
    assert NameResolver(story).resolve(place, entity_types=("location",)).entity_id == entity_id


def test_mentions_carry_their_place_in_the_text() -> None:
    """As the name stands there; a story without entities knows nobody."""
    text = "“Come,” said Holmes."
    (mention,) = NameResolver(london()).find_mentions(text)
    assert (mention.entity_id, text[mention.start : mention.end]) == ("C0", "Holmes")
    resolver = NameResolver([])
    assert resolver.resolve("Holmes").reason == "unknown"
    assert resolver.find_mentions("Holmes") == []


def test_a_description_counts_only_where_its_bearer_is_about() -> None:
    """ "The porter" means McMurdo when McMurdo is named, was on stage, or is said to be present."""
    resolver = NameResolver(london())
    assert resolver.entity_ids_in("The porter came.") == []
    assert resolver.entity_ids_in("The porter came. It was McMurdo.") == ["C5"]
    assert resolver.entity_ids_in("The porter came.", also_present=["C5"]) == ["C5"]
    assert NameResolver(london(), present_ids=["C5"]).entity_ids_in("The porter came.") == ["C5"]
