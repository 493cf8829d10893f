"""Search by words over stored memories."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from runtime.storage.database import DatabaseManager
from runtime.storage.models import LexicalHit, MemoryEdit, MemoryFilter
from runtime.storage.search_indexes import LexicalMatches, score_matches
from runtime.storage.terms import index_tokens, lexical_terms, term_tokens
from tests.runtime.storage.stories import at, memory, scene, store
from tests.support.databases import on_both_databases


def _found(database: DatabaseManager, query: str, **filters: object) -> list[str]:
    with database.project("demo").read() as unit:
        hits = unit.lexical.search(query, memory_filter=MemoryFilter.model_validate(filters))
    return [hit.chunk_id for hit in hits]


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """A database with memories in both languages."""
    store(
        database,
        scene(
            1,
            1,
            memory("E1", "Emma hid the brass key beneath the chapel stairs.", entities_mentioned=["C0"], tags=["key"]),
            memory("E2", "The captain promised never to sail north again.", tags=["promise"]),
        ),
        scene(2, 1, memory("Z1", "林黛玉走进怡红院，把玉佩交给宝玉。", entities_mentioned=["C1"])),
        scene(2, 2, memory("Z2", "宝玉摔了通灵玉。", entities_mentioned=["C2"])),
        scene(3, 1, memory("E3", "Emma lost the brass key.", short="key lost", content_type="summary")),
    )
    return database


@on_both_databases
def test_english_words_are_found_whatever_their_form(told: DatabaseManager) -> None:
    """The rarer counts more; cut by position, narrowed by filters, and queries are answered in their order."""
    assert _found(told, "Where is EMMA'S key?")[:2] == ["E3", "E1"]
    assert _found(told, "the CAPTAIN") == ["E2"]
    assert _found(told, "scope1x") == []
    assert _found(told, "brass key", as_of=at(3, 1)) == ["E1"]
    assert _found(told, "宝玉", as_of=at(2, 1)) == []
    assert _found(told, "brass key", entities=["C0"]) == ["E1"]
    assert _found(told, "brass key captain", tags=["promise"]) == ["E2"]
    assert _found(told, "brass key", content_types=["summary"]) == ["E3"]
    with told.project("demo").read() as unit:
        matches = unit.lexical.match(["宝玉", "…", "brass key", ["Captain"]], MemoryFilter())
        answers = unit.lexical.best(matches, MemoryFilter(), limit=1)

    assert [[hit.chunk_id for hit in hits] for hits in answers][1:] == [[], ["E3"], ["E2"]]
    assert len(answers[0]) == 1


@on_both_databases
def test_chinese_words_of_one_to_three_characters_are_found(told: DatabaseManager) -> None:
    """Inside longer words too, but only as a direct succession of characters."""
    cases: list[tuple[str, list[str]]] = [
        ("黛玉", ["Z1"]),
        ("玉", ["Z1", "Z2"]),
        ("通灵玉", ["Z2"]),
        ("宝玉", ["Z1", "Z2"]),
        ("玉林", []),
    ]
    for query, expected in cases:
        assert sorted(_found(told, query)) == expected


@on_both_databases
def test_hostile_query_text_is_only_words(told: DatabaseManager) -> None:
    """No mark reaches the query language: what is found is found by words, and nothing raises."""
    cases: list[str] = [
        '"',
        '"brass',
        "-emma",
        "NEAR(brass key)",
        "brass*",
        "terms : brass",
        "brass AND OR NOT",
        "' OR 1=1 --",
        "a:b & !c | (d",
        "brass\x00key",
        "(((",
        "{brass}",
        "^emma",
    ]
    for query in cases:
        found = set(_found(told, query))

        assert found <= {"E1", "E3"}
        assert bool(found) == any(word in query for word in ("brass", "emma"))


def test_what_comes_later_changes_no_score(told: DatabaseManager) -> None:
    """Rarity and length are those of the memories before the position."""
    with told.project("demo").read() as unit:
        before = unit.lexical.search("brass key", memory_filter=MemoryFilter(as_of=at(2)))
    store(told, scene(9, 1, *(memory(f"L{n}", "A brass key and another brass key.") for n in range(20))))
    with told.project("demo").read() as unit:
        after = unit.lexical.search("brass key", memory_filter=MemoryFilter(as_of=at(2)))

    assert after == before != []


@on_both_databases
def test_edited_banned_and_withdrawn_memories_leave_the_index(told: DatabaseManager) -> None:
    """An edit is found by its new words alone, a ban hides, a re-ingest takes its words along."""
    with told.project("demo").write() as unit:
        unit.memories.edit("E2", MemoryEdit(content="The admiral vowed it."))
        unit.memories.decide("E1", "ban")
    store(told, scene(2, 2, memory("Z3", "紫鹃试玉。")))

    assert _found(told, "captain sail") == []
    assert _found(told, "admiral") == ["E2"]
    assert _found(told, "chapel") == []
    assert _found(told, "通灵") == []
    assert _found(told, "紫鹃") == ["Z3"]


def test_a_short_form_is_found_too(told: DatabaseManager) -> None:
    """Words that it alone has count; the limit cuts after chunk ids have decided among equals."""
    store(told, scene(4, 1, memory("E4", "He went away.", short="departure of Weston")))

    assert _found(told, "Weston") == ["E4"]
    store(told, scene(5, 1, *(memory(name, "A quiet harbour.") for name in ("H3", "H1", "H2"))))
    with told.project("demo").read() as unit:
        best = unit.lexical.search("harbour", limit=2)

    assert [hit.chunk_id for hit in best] == ["H1", "H2"]


def test_kinds_are_narrowed_with_the_scores_of_all(told: DatabaseManager) -> None:
    """The memories of two kinds together are those of both, each with its score among all."""
    with told.project("demo").read() as unit:
        matches = unit.lexical.match(["brass key captain"], MemoryFilter())
        whole, *kinds = (
            unit.lexical.best(matches, MemoryFilter.model_validate({"content_types": types}))[0]
            for types in ([], ["memory"], ["summary"], ["scene"])
        )

    assert [hit.chunk_id for hit in kinds[1]] == ["E3"]
    assert kinds[2] == []
    assert {hit.chunk_id: hit.score for hits in kinds for hit in hits} == {hit.chunk_id: hit.score for hit in whole}


def test_a_project_alone_in_its_database_finds_what_it_finds_beside_others(database_url: str) -> None:
    """Whether the index is asked for the project's rows or for all, nothing of another is found or weighed."""
    opened = DatabaseManager.open(database_url)
    with opened.project("demo").write() as unit:
        unit.projects.create()
    store(
        opened,
        scene(1, 1, memory("K1", "The brass key."), memory("K2", "宝玉的钥匙 and a brass lamp.")),
        scene(2, 1, memory("K3", "A later brass key.")),
    )

    def found() -> list[list[LexicalHit]]:
        with opened.project("demo").read() as unit:
            wanted = MemoryFilter(as_of=at(2, 1))
            return unit.lexical.best(unit.lexical.match(["brass key", "宝玉"], wanted), wanted)

    alone = found()
    with opened.project("demo2").write() as unit:
        unit.projects.create()
    store(opened, scene(1, 1, memory("X1", "brass key 宝玉", "demo2"), project_id="demo2"))
    beside = found()
    opened.close()

    assert [[hit.chunk_id for hit in hits] for hits in alone] == [["K1", "K2"], ["K2"]]
    assert beside == alone


def test_words_are_folded_and_chinese_runs_become_pairs() -> None:
    """Case, width, accents and possessives do not count; stored text has a token per Chinese character."""
    assert lexical_terms("The Captain’s Élan: ＢＯＡＴＳ and stories!") == ["captain", "elan", "boats", "stories"]
    assert lexical_terms("林黛玉") == ["林黛玉", "林黛", "黛玉"]
    assert lexical_terms("剑") == ["剑"]
    assert lexical_terms("宝玉摔了通灵玉") == ["宝玉", "玉摔", "摔了", "了通", "通灵", "灵玉"]
    assert index_tokens("林冲 left, 夜奔") == ["林", "冲", "left", "夜", "奔"]


@pytest.mark.parametrize("text", ["", "…", "the of and", '"-*()', "的"])
def test_texts_without_content_have_no_terms(text: str) -> None:
    """Marks and function words search for nothing."""
    assert lexical_terms(text) == []


@given(st.text(max_size=80))
def test_the_tokens_of_every_term_stand_in_the_text_in_direct_succession(text: str) -> None:
    """Whatever a query text yields is found in a stored text that is the same."""
    stored = index_tokens(text)
    for term in lexical_terms(text):
        wanted = term_tokens(term)
        windows = [stored[start : start + len(wanted)] for start in range(len(stored))]
        assert wanted in windows


def _rows(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


def _matches(*, found: dict[str, list[int]], queries: list[list[str]]) -> LexicalMatches:
    return score_matches(
        queries,
        {term: _rows(*matched) for term, matched in found.items()},
        row_ids=_rows(30, 10, 20),
        kinds=_rows(3, 1, 2),
        lengths=_rows(4, 4, 4),
    )


def test_a_score_is_the_formula() -> None:
    """Equals at the last place are all told, what is not asked for changes no score, and nothing stored has none."""
    matches = _matches(found={"key": [10, 20], "brass": [20]}, queries=[["key", "brass"]])

    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    assert dict(matches.best(5)[0]) == pytest.approx({20: rare + common, 10: common})
    with_later = _matches(found={"key": [10, 40, 5]}, queries=[["key"]])
    without = _matches(found={"key": [10]}, queries=[["key"]])

    assert with_later.best(5) == without.best(5) != [[]]
    matches = _matches(found={"key": [30, 20, 10], "brass": [20]}, queries=[["key", "brass"]])

    assert [row_id for row_id, _ in matches.best(1)[0]] == [20]
    assert sorted(row_id for row_id, _ in matches.best(2)[0]) == [10, 20, 30]
    matches = _matches(found={"key": [10, 20]}, queries=[["key"], ["absent"]])
    scores = dict(matches.best(5)[0])

    assert matches.among(_rows(20, 99)).best(5) == [[(20, scores[20])], []]
    assert matches.of_kinds([1, 3]).best(5) == [[(10, scores[10])], []]
    assert matches.among(_rows()).best(5) == matches.of_kinds([]).best(5) == [[], []]
    matches = score_matches([["key"]], {}, row_ids=_rows(), kinds=_rows(), lengths=_rows())

    assert not matches.has_any
    assert matches.best(5) == [[]]
