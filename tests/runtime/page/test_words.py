"""The catalogues of the page's words hold the same."""

import re
from pathlib import Path

import runtime.page.frame as frame
from novelgen.language.language import has_cjk
from runtime.page.frame import CHINESE, ENGLISH

TEMPLATES = Path(frame.__file__).parent / "templates"
PLACES = re.compile(r"\{(\w+)(?::[^{}]*)?\}")


def test_both_languages_say_everything() -> None:
    """Every key is in both catalogues, with the same places to fill in, and with words."""
    assert ENGLISH.keys() == CHINESE.keys()
    for key, words in ENGLISH.items():
        assert set(PLACES.findall(words)) == set(PLACES.findall(CHINESE[key])), key
        assert words.strip(), key
        assert CHINESE[key].strip(), key
        is_mark = not any(map(str.isalpha, CHINESE[key]))
        assert has_cjk(CHINESE[key]) or is_mark or key == "other_language", key
        assert not has_cjk(words) or key == "other_language", key


def test_templates_have_no_words_of_their_own() -> None:
    """Between tags stand only marks, and every key that a template names is in the catalogue."""
    for template in TEMPLATES.glob("*.html"):
        bare = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", template.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"<[^>]*>", " ", bare)
        assert re.findall(r"[^\W\d_]{2,}", text.replace("novelgen", "")) == [], template.name
    asked = {
        key
        for template in TEMPLATES.glob("*.html")
        for key in re.findall(r"\bt\('(\w+)'[,)]", template.read_text(encoding="utf-8"))
    }
    assert asked
    assert asked <= ENGLISH.keys()


def test_style_and_script_need_nothing_from_elsewhere() -> None:
    """Neither names another address, and the script never writes HTML."""
    for file in (TEMPLATES.parent / "static").iterdir():
        text = file.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file.name
