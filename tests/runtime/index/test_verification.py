"""Verification finds what is silently lost, and what is left of an index is removed with it."""

from runtime.index.project_index import IndexVerification, ProjectIndex
from tests.runtime.index.conftest import OpenIndex, embedded
from tests.runtime.index.story_rows import expected, make_row, make_rows, random_vectors


def vector_folders(project_index: ProjectIndex) -> int:
    return sum(entry.is_dir() for entry in embedded(project_index).path.iterdir())


def test_verification_names_missing_unexpected_and_lost_rows(shared: OpenIndex) -> None:
    """Many of one vector are sound, ids are compared as sets, and who is not found by its own vector is lost."""
    rows = make_rows(80, project_id="sound")
    rows += [make_row(f"same{index}", [1.0] * 16, project_id="sound") for index in range(30)]
    sound = shared("sound")
    sound.add(rows)
    found = sound.verify(*expected(rows))
    assert found.is_sound
    assert (found.rows, found.canaries) == (110, 110)
    silent = shared("silent")
    rows = make_rows(41, project_id="silent")
    silent.add(rows)
    ids, sample = expected(rows[:40])
    found = silent.verify(ids | {"gone"}, sample | {name: random_vectors(1, seed=99)[0] for name in ("c0005", "gone")})
    assert (found.missing_ids, found.lost_ids) == (("gone",), ("c0005",))
    assert len(found.unexpected_ids) == 1
    assert str(found) == "41 rows expected: 1 missing, 1 unexpected, 1 of 40 sampled vectors not found"
    assert not found.is_sound
    assert IndexVerification((), (), (), rows=1, canaries=0).is_sound


def test_a_dropped_index_leaves_no_folder_behind(shared: OpenIndex) -> None:
    """Neither its own, nor that of another model in its place, nor one of an earlier naming."""
    index = shared("dropped whole")
    before = vector_folders(index)
    for other in (index, shared("dropped whole", embedding_model="another")):
        other.add(make_rows(3, project_id="dropped whole"))
    assert vector_folders(index) == before + 2
    beside = shared("dropped whole", index_id="live-b")
    beside.add(make_rows(2, project_id="dropped whole"))
    index.drop()
    assert vector_folders(index) == before + 1
    assert len(beside.list_ids()) == 2
