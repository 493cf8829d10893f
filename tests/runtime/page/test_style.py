"""What the page is made of: its words in both languages, and colours that can be read in the light and the dark."""

import re
from itertools import product

import pytest

from novelgen.context.prompt_block import NEEDS
from novelgen.language.language import has_cjk
from novelgen.models.state import DIMENSION_RANGES
from runtime.page.frame import CHINESE, ENGLISH
from runtime.page.routes import STATIC

TEMPLATES = STATIC.parent / "templates"
PLACES = re.compile(r"\{(\w+)(?::[^{}]*)?\}")

CSS = "\n".join(each.read_text(encoding="utf-8") for each in sorted(STATIC.glob("*.css")))
PAIRS = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
COLOURS = {name: (light, dark) for name, light, dark in PAIRS.findall(CSS)}

READABLE = [
    *product(("ink", "quiet", "link", "warn"), ("paper", "sheet")),
    *product(("ink", "quiet", "link"), ("mark", "soft", "tint")),
    *product(("ink", "warn"), ("alarm",)),
    *product(("good",), ("paper", "sheet", "soft", "tint")),
    ("ink", "lit"),
    ("ink", "added"),
    ("onlink", "link"),
]


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("is_dark", [False, True])
def test_words_and_edges_stand_out_from_their_ground(is_dark: bool) -> None:
    """The contrast is that which WCAG 2.2 asks: of text 4.5 to 1, of where one may write or press 3 to 1."""
    asked = [*((*pair, 4.5) for pair in READABLE), ("edge", "paper", 3), ("edge", "sheet", 3)]
    for words, ground, contrast in asked:
        darker, lighter = sorted(_luminance(COLOURS[each][is_dark]) for each in (words, ground))
        assert (lighter + 0.05) / (darker + 0.05) >= contrast, (words, ground)


def test_every_colour_is_said_once_for_both_languages() -> None:
    """For the whole page, by what it is for, so that both looks have all of them."""
    rules = re.sub(r":root \{.*?\n\}", "", CSS, flags=re.S)
    assert PAIRS.findall(rules) == []
    rules = PAIRS.sub("", CSS)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(", rules) == []
    assert set(re.findall(r"var\(--([\w-]+)\)", rules)) <= {*COLOURS, "serif", "sans", "mono"}


@pytest.mark.slow
def test_every_class_of_the_style_is_somewhere_on_the_page() -> None:
    """A rule whose class no template and no script names is gone; of classes made of two halves the first is named."""
    rules = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"/\*.*?\*/", "", CSS, flags=re.S))
    files = [*STATIC.glob("*.js"), *TEMPLATES.iterdir(), *STATIC.parent.glob("*.py")]
    named = "\n".join([*DIMENSION_RANGES, *(each.read_text(encoding="utf-8") for each in files)])
    classes = sorted(set(re.findall(r"\.([a-z][\w-]*)", rules)))
    assert len(classes) > 100
    for name in classes:
        half = name.partition("-")[0] + "-{{"
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", named) or half in named, name


def test_no_name_of_a_script_is_given_twice() -> None:
    """A view loads one beside that of every page; a name that is given twice keeps the whole of it from running."""
    for script in {each.name for each in STATIC.glob("*.js")} - {"page.js"}:
        both = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in ("page.js", script))
        names = re.findall(r"^(?:const|let|class|(?:async )?function) (\w+)", both, re.MULTILINE)
        assert len(names) == len(set(names)), script


def test_every_need_of_a_context_has_its_colour() -> None:
    """What a part of the picture of tokens stands for is told by its colour."""
    for need in NEEDS:
        assert f"share-{need}" in COLOURS
        assert f".share-{need} {{ fill: var(--share-{need}); }}" in CSS


def test_both_languages_say_everything() -> None:
    """Every key is in both catalogues, with the same places to fill in, and with words."""
    assert ENGLISH.keys() == CHINESE.keys()
    for key, words in ENGLISH.items():
        assert set(PLACES.findall(words)) == set(PLACES.findall(CHINESE[key])), key
        assert words.strip(), key
        assert CHINESE[key].strip(), key
        is_mark = not any(map(str.isalpha, PLACES.sub("", CHINESE[key])))
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


def test_marks_of_punctuation_are_words_of_the_catalogue() -> None:
    """No template sets a comma, colon or bracket of its own between words: Chinese has others."""
    for template in TEMPLATES.glob("*.html"):
        source = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", template.read_text(encoding="utf-8"), flags=re.S)
        source = re.sub(r"\{\{.*?\}\}", "@", source, flags=re.S)
        named = re.findall(r'(?:aria-label|title|placeholder)="([^"]*)"', source)
        shown = [*named, *re.sub(r"<[^>]*>", "", source).splitlines()]
        assert [each for each in shown if re.search(r"[,:;()]", each)] == [], template.name


def test_style_and_script_need_nothing_from_elsewhere() -> None:
    """Neither names another address, and the script never writes HTML."""
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), file.name
