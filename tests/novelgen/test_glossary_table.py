"""Glossaries as tables of terms: what other tools write is read, and written as they read it."""

import json

import pytest

from novelgen.errors import UserInputError
from novelgen.glossary_table import GlossaryForm, GlossaryTerm, form_of, is_glossary, read_glossary, written_glossary

ROWS = [("灵石", "spirit stone", "currency"), ("归墟", "the Ruins of Return", "")]
FORMS = {
    "csv with headings": ("csv", "src,dst,info\n灵石,spirit stone,currency\n归墟,the Ruins of Return,\n"),
    "csv of a spreadsheet": (
        "csv",
        "\ufeff原文,译文,备注\r\n灵石,spirit stone,currency\r\n\r\n归墟,the Ruins of Return,\r\n",
    ),
    "csv with other columns": (
        "csv",
        'note,number,term,translation\ncurrency,1,灵石,"spirit stone"\n,2,归墟,the Ruins of Return\n',
    ),
    "csv without headings": ("csv", "灵石,spirit stone,currency\n归墟,the Ruins of Return\n"),
    "GalTransl, OmegaT": ("tsv", "// 原文\t译文\t解释\n灵石\tspirit stone\tcurrency\n归墟\tthe Ruins of Return\n"),
    "LinguaGacha, AiNiee": (
        "json",
        json.dumps([{"src": src, "dst": dst, "info": info, "regex": False} for src, dst, info in ROWS]),
    ),
    "JSON of terms": (
        "json",
        '{"灵石": {"translation": "spirit stone", "note": "currency"}, "归墟": "the Ruins of Return"}',
    ),
    "SakuraLLM": ("text", "灵石->spirit stone #currency\n归墟->the Ruins of Return\n"),
    "arrows": ("text", "# a remark\n灵石 → spirit stone ＃currency\n\n归墟 => the Ruins of Return"),
}


@pytest.mark.parametrize("name", FORMS)
def test_tables_of_other_tools_are_read(name: str) -> None:
    """By what they look like; headings may be Chinese, in any order, or missing."""
    form, text = FORMS[name]
    assert form_of(text) == form
    table = read_glossary(text)
    assert [(each.src, each.dst, each.info) for each in table.terms] == ROWS
    assert table.unread == []


@pytest.mark.parametrize("form", ["csv", "json"])
def test_whole_rows_come_back(form: GlossaryForm) -> None:
    """With type, card and speaker, and whatever a cell holds."""
    terms = [
        GlossaryTerm(src="林晚", dst='Lin "Wan", elder', info="两行\n说明", type="character"),
        GlossaryTerm(src="大师姐", dst="Senior Sister", type="character", of="林晚", speaker="沈砚秋"),
    ]
    assert read_glossary(written_glossary(terms, form)).terms == terms


@pytest.mark.parametrize("form", ["tsv", "text"])
def test_plain_tables_have_a_line_for_each_term(form: GlossaryForm) -> None:
    """Term, translation and note, as other tools read them."""
    text = written_glossary(
        [GlossaryTerm(src="灵石", dst="spirit stone", info="两行\n说明"), GlossaryTerm(src="剑", dst="sword")], form
    )
    assert text.count("\n") == 2
    assert [(each.src, each.dst, each.info) for each in read_glossary(text).terms] == [
        ("灵石", "spirit stone", "两行 说明"),
        ("剑", "sword", ""),
    ]


def test_what_cannot_be_read_is_told() -> None:
    """A row without a translation, one that is too long, a term with two translations: the last counts."""
    text = "灵石,spirit stone\n剑,\n灵石,spirit gem\n" + "长" * 401 + ",long\n"
    table = read_glossary(text)
    assert [(each.src, each.dst) for each in table.terms] == [("灵石", "spirit gem")]
    assert [each.partition(":")[0] for each in table.unread] == [
        "row 2 has no translation",
        "'灵石' is translated twice, as 'spirit stone' and 'spirit gem'",
        "row 4 is too long",
    ]


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "A rainy day.\nNobody came.\n", '{"entries": {}}'])
def test_what_is_no_glossary_is_refused(text: str) -> None:
    """With what one looks like."""
    with pytest.raises(UserInputError, match="glossary"):
        read_glossary(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (FORMS["SakuraLLM"][1], True),
        (FORMS["GalTransl, OmegaT"][1], True),
        ("第一章\n\n林晚抬头。\n他说：“走。”\n", False),
        ("Chapter 1\n\nShe ran.\tHe did not.\nIt rained.\n", False),
        ("灵石->spirit stone\n", False),
        ("", False),
    ],
)
def test_prose_is_no_glossary(text: str, is_one: bool) -> None:
    """A file of entries is told from a chapter: nearly every line is one, and there is more than one."""
    assert is_glossary(text) is is_one
