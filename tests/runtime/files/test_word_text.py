"""What Word shows is read; what it does not show is left out and counted."""

from pathlib import Path

import pytest

from runtime.files.book_formats import BookText, read_word
from tests.support.hostile_files import write_docx

pytest.importorskip("docx")

_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)


def run(text: str, properties: str = "") -> str:
    """Return a run of text."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*content: str, properties: str = "") -> str:
    """Return a paragraph."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(content)}</w:p>"


def field(code: str, result: str) -> str:
    """Return a field with its result."""
    marks = {kind: f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")}
    code_run = f"<w:r><w:instrText>{code}</w:instrText></w:r>"
    return marks["begin"] + code_run + marks["separate"] + result + marks["end"]


def read(tmp_path: Path, *content: str) -> BookText:
    """Return what is read of a document with this body."""
    document = f"<w:document {_NAMESPACES}><w:body>{''.join(content)}</w:body></w:document>"
    return read_word(write_docx(tmp_path / "draft.docx", document))


def left_out(book: BookText) -> dict[str, tuple[int, list[str]]]:
    """Return the parts that were left out, by kind."""
    return {part.kind: (part.count, part.texts) for part in book.left_out}


_BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent>{0}</w:txbxContent></w:drawing></mc:Choice>"
    "<mc:Fallback><w:pict><v:textbox><w:txbxContent>{0}</w:txbxContent></v:textbox></w:pict></mc:Fallback>"
    "</mc:AlternateContent></w:r>"
)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (paragraph(run("Held by "), f"<w:ins>{run('Sparrow')}</w:ins>", run(".")), "Held by Sparrow."),
        (paragraph(f"<w:moveTo>{run('Nell left.')}</w:moveTo>"), "Nell left."),
        (paragraph(f"<w:smartTag>{run('Ada Penrose')}</w:smartTag>", run(" met Roe.")), "Ada Penrose met Roe."),
        (paragraph(run("It was "), f"<w:sdt><w:sdtContent>{run('林海')}</w:sdtContent></w:sdt>"), "It was 林海"),
        (f"<w:sdt><w:sdtContent>{paragraph(run('雪落。'))}</w:sdtContent></w:sdt>", "雪落。"),
        (f"<w:tbl><w:tr><w:tc>{paragraph(run('The debt is paid.'))}</w:tc></w:tr></w:tbl>", "The debt is paid."),
        (
            paragraph(_BOX.format(paragraph(run("To be sent."))), run("A letter lay there.")),
            "A letter lay there.\n\nTo be sent.",
        ),
        (
            paragraph(
                f"<w:r><w:ruby><w:rt>{run('lín')}</w:rt><w:rubyBase>{run('林')}</w:rubyBase></w:ruby></w:r>", run("海")
            ),
            "林海",
        ),
        (paragraph(field("AUTHOR", run("Ada"))), "Ada"),
        (paragraph(f'<w:fldSimple w:instr="AUTHOR">{run("Ada")}</w:fldSimple>'), "Ada"),
        (paragraph(f"<w:hyperlink>{run('Ada')}</w:hyperlink>"), "Ada"),
        (paragraph(run("Jack"), "<w:r><w:noBreakHyphen/></w:r>", run("o"), "<w:r><w:softHyphen/></w:r>"), "Jack-o"),
        (paragraph(run("One."), '<w:r><w:br w:type="page"/></w:r>'), "One."),
        (paragraph(run("One,"), "<w:r><w:br/></w:r>", run("two.")), "One,\ntwo."),
        (paragraph(run("She "), properties="<w:rPr><w:del/></w:rPr>") + paragraph(run("came.")), "She came."),
        (paragraph(run("The Lamp"), properties='<w:outlineLvl w:val="1"/>'), "## The Lamp"),
        (paragraph(run("She left."), properties='<w:pBdr><w:bottom w:val="single"/></w:pBdr>'), "She left.\n\n***"),
        (paragraph('<w:r><w:pict><v:rect o:hr="t"/></w:pict></w:r>'), "***"),
    ],
)
def test_what_word_shows_is_read(tmp_path: Path, content: str, shown: str) -> None:
    """Insertions, moves, smart tags, content controls, tables, text boxes, ruby's base, results of fields, rules."""
    assert read(tmp_path, content).text.strip() == shown


@pytest.mark.parametrize(
    ("content", "kind", "texts"),
    [
        ("<w:del><w:r><w:delText>Finch</w:delText></w:r></w:del>", "deleted_text", ["Finch"]),
        (f"<w:moveFrom>{run('Nell left.')}</w:moveFrom>", "moved_text", ["Nell left."]),
        (run("Roe is the killer", "<w:vanish/>"), "hidden_text", ["Roe is the killer"]),
        ("<w:r><w:commentReference/></w:r>", "comments", []),
        ("<w:r><w:footnoteReference/></w:r>", "notes", []),
        (
            f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click')}</w:sdtContent></w:sdt>",
            "placeholders",
            ["Click"],
        ),
        (field("TOC \\o", run("One 1")), "table_of_contents", ["One 1"]),
        (f"<w:r><w:ruby><w:rt>{run('lín')}</w:rt><w:rubyBase/></w:ruby></w:r>", "readings", ["lín"]),
    ],
)
def test_what_word_does_not_show_is_counted(tmp_path: Path, content: str, kind: str, texts: list[str]) -> None:
    """Deleted, moved, hidden and commented text is no text of the story, and is told."""
    book = read(tmp_path, paragraph(run("She came."), content))
    assert book.text.strip() == "She came."
    assert left_out(book) == {kind: (1, texts)}


def test_text_that_is_shown_in_spite_of_its_style_is_read(tmp_path: Path) -> None:
    """A run may switch hiding off."""
    assert read(tmp_path, paragraph(run("Seen.", '<w:vanish w:val="0"/>'))).text == "Seen."
