"""What `note` advises where a name is another card's and the note is hidden from somebody."""

import pytest

from tests.runtime.doors.cli.conftest import Run

pytestmark = pytest.mark.slow

NOTES = {"en": "Sparrow is really called Elias Marrow.", "zh": "周先生其实叫何书远。"}


@pytest.mark.parametrize(
    ("language", "people"), [("en", ("Sparrow", "Elias Marrow", "Ines")), ("zh", ("周先生", "何书远", "小满"))]
)
def test_a_name_hidden_from_somebody_is_no_advice_to_merge(run: Run, language: str, people: tuple[str, ...]) -> None:
    """The advice is a disguise from the place of the note on, and its command works; without secrecy it is a merge."""
    run.well("init", "tide", "--language", language)
    for name in people:
        run.well("card", "add", "tide", name, "--from", "1:1")
    revealed = run.well("note", "tide", NOTES[language], "--from", "2:1").output
    assert "entity merge tide C1 C0 --from 2:1" in " ".join(revealed.split())
    told = run.well("note", "tide", NOTES[language], "--hidden-from", people[2], "--from", "2:1").output
    assert "entity merge tide C1 C0 --from …" in " ".join(told.split())
    assert f"disguise={people[0]}" in told
    assert "--from 2:1" in told
    run.well("card", "edit", "tide", people[1], f"disguise={people[0]}", "--from", "2:1")
    merged = run.well("entity", "merge", "tide", "C1", "C0", "--from", "2:1", "--yes").output
    assert {"en": "are one from 2:1 on", "zh": "自 2:1 起"}[language] in " ".join(merged.split())
    cards = [run.well("card", "show", "tide", entity_id).output for entity_id in ("C0", "C1")]
    line = {"en": "same person as", "zh": "同一人"}[language]
    assert all(line in card for card in cards)
