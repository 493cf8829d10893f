"""How a scene gives a name."""

from __future__ import annotations

import pytest

from novelgen.reading.scene_touch import name_evidence


@pytest.mark.parametrize(
    ("name", "text", "quote", "evidence"),
    [
        ("Tom Hale", "Tom Hale came.", "", "verbatim"),
        ("Tom Hale", "'My name is Tom,' he said. 'Hale, as my father was.'", "", "parts"),
        ("Mr. Tom Hale", "Tom spoke. Hale is his other name.", "", "parts"),
        ("金翠莲", "奴家姓金，名翠莲。", "", "parts"),
        ("史进", "小人姓史名进，人唤九纹龙。", "", "parts"),
        ("史进", "史家庄上，众人走进去。", "", "garbled"),
        ("The Chief", "He who had engaged them sat there.", "He who had engaged them", "quote"),
        ("the narrator", "“Who is there?” said I.", "said I", "quote"),
        ("the narrator", "“Who is there?” said I.", "I", "none"),
        ("说书人", "我道：“是谁？”", "我道", "quote"),
        ("说书人", "我道：“是谁？”", "我", "none"),
        ("Tom Hale", "Tom came alone.", "", "garbled"),
        ("Napoleon", "Tom came alone.", "", "none"),
        ("Napoleon", "Tom came alone.", "words that stand nowhere", "none"),
        ("孙悟空", "高太公出来迎接。", "", "none"),
    ],
)
def test_a_name_stands_whole_in_parts_or_in_a_quote(name: str, text: str, quote: str, evidence: str) -> None:
    """What proves a name is told from what merely resembles it, and from nothing."""
    assert name_evidence(name, text, quote=quote) == evidence


def test_parts_far_apart_are_no_name() -> None:
    """Words of a name that stand pages apart do not make it."""
    text = "Tom came. " + "The rain fell on. " * 30 + "Hale was a village."
    assert name_evidence("Tom Hale", text) == "garbled"
