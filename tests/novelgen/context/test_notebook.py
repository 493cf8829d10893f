"""What a notebook shows: small tables in the story's language, in which no story text is ever HTML."""

from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from novelgen.characters.recall import Recall
from novelgen.context.notebook import shown_html, shown_text
from novelgen.memory.ledger import LedgerEntry, ThreadLedger
from novelgen.memory.search import RankedMemories, RankedMemory
from novelgen.models.context import ContextItem, ContextReport, ReportIssue, SceneMemoryContext
from novelgen.models.continuity import ContinuityEvidence, ContinuityFinding, DraftCheck
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.shown import Shown, ShownList
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.models.story_difference import StoryDifference
from novelgen.models.story_time import SceneTime, SceneTimes

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOSTILE = '<img src=x onerror="alert(1)"></td></table><script>alert(2)</script>&amp; $x$ \u202e\x07'
PLAIN_TAGS = set("div p strong small table caption thead tbody tr th td details summary pre".split())


class Reader(HTMLParser):
    """Collects the tags, the attributes and the text of HTML, and whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"


def chunk(text: str, **given: Any) -> StoryMemoryChunk:
    """Return a memory of scene 1:2."""
    place = {"chapter_index": 1, "scene_index": 2}
    return StoryMemoryChunk(chunk_id="k", project_id="p", content=text, created_at=NOW, **{**place, **given})


def state(value: str) -> EntityStateSnapshot:
    """Return a state of C0."""
    data = {"status": value, "holder": "C1"}
    return EntityStateSnapshot(project_id="p", entity_type="character", entity_id="C0", timestamp=NOW, state_data=data)


def context(text: str, *, language: str = "en") -> SceneMemoryContext:
    """Return a context in which everything says one thing."""
    item = ContextItem(
        chunk_id="k", text=text, tokens=3, prompt_index=0, chapter_index=1, scene_index=2, reasons=["open_loops"]
    )
    report = ContextReport(
        items=[item],
        names={"C0": text, "C1": "Ben"},
        tokens={"memories": 3},
        issues=[ReportIssue(stage="search", kind="degraded", message=text)],
        language=language,
    )
    return SceneMemoryContext(
        project_id="p",
        chapter_index=2,
        scene_index=1,
        entity_states=[state(text)],
        relevant_memories=[chunk(text)],
        timeline_context={"open_loops": [{"chapter_index": 1, "scene_index": 2, "description": text}]},
        retrieval_timestamp=NOW,
        report=report,
    )


def issue(text: str) -> ContinuityFinding:
    """Return a finding."""
    evidence = [ContinuityEvidence(chapter_index=1, scene_index=2, text=text, quote=text)]
    return ContinuityFinding(kind="canon_rule", draft_quote=text, draft_span=(0, 1), message=text, evidence=evidence)


def kinds(text: str) -> list[Shown]:
    """Return one of everything that shows itself."""
    loop = LedgerEntry(loop_id="OL0", description=text, stage="overdue")
    pair = Relationship(
        relationship_id="R0", character_a="C0", character_b="C1", relationship_type=text, perspective_a=text
    )
    entity = Entity(
        entity_id="C0", entity_type="character", name=text, aliases=[EntityAlias(alias=text)], description=text
    )
    ranked = RankedMemory(chunk=chunk(text, superseded_by="M2"), score=0.5)
    return [
        context(text),
        state(text),
        chunk(text),
        OpenLoop(loop_id="OL0", description=text),
        pair,
        entity,
        issue(text),
        DraftCheck(project_id="p", chapter_index=2, scene_index=1, findings=[issue(text)]),
        RankedMemories(memories=[ranked]),
        ThreadLedger(project_id="p", entries=[loop]),
        ShownList([chunk(text), entity, state(text)], names={"C0": text}),
        ShownList([text]),
    ]


@pytest.mark.parametrize("number", range(len(kinds("x"))))
def test_story_text_is_never_html(number: int) -> None:
    """Whatever a story says, what comes out has plain tags alone, closed, and the text in full as text."""
    shown = kinds(HOSTILE)[number]._repr_html_()
    read = Reader(shown)
    assert read.tags <= PLAIN_TAGS
    assert read.attributes <= {"class", "lang", "dir", "style", "scope"}
    assert '<img src=x onerror="alert(1)"></td></table><script>alert(2)</script>&amp; $x$' in read.text
    assert "color" not in shown
    shown.encode("utf-8")
    assert 'class="tex2jax_ignore mathjax_ignore"' in shown


def test_a_context_is_told_in_the_language_of_its_story() -> None:
    """Headings, reasons and what is missing; the whole block is folded away below."""
    english, chinese = (
        Reader(context("Ada hid it.")._repr_html_()),
        Reader(context("她藏了起来。", language="zh")._repr_html_()),
    )
    assert "Scene 2:1 of p: 1 memory, 3 tokens" in english.text
    assert "open threads" in english.text
    assert "Missing: search: Ada hid it." in english.text
    assert "What the story has established before this scene" in english.text
    assert "2:1 场（p）：1 条记忆，3 个 token" in chinese.text
    assert "未了的线索" in chinese.text
    assert "缺失：search: 她藏了起来。" in chinese.text


def test_a_shown_list_is_a_list_that_knows_names() -> None:
    """It equals a plain one, and names stand for ids where its reader gave them."""
    assert "Ada" in shown_html(ShownList([state("well")], names={"C0": "Ada"}))
    assert "C0" in shown_html(ShownList([state("well")]))
    assert ShownList(["a"], names={"C0": "Ada"}) == ["a"]
    assert isinstance(ShownList(), list)


def test_what_puts_itself_in_simpler_terms_is_shown_so() -> None:
    """A ledger is its threads, a difference its lines, a recall its block, a timeline its scenes."""
    ledger = ThreadLedger(
        project_id="p", entries=[LedgerEntry(loop_id="OL0", description="谁拿了灯？", stage="overdue")]
    )
    assert "逾期" in ledger._repr_html_()
    nothing = StoryDifference(project_id="p", language="en")
    assert "no scene is stored there" in nothing._repr_html_()
    recall = Recall(
        character_id="C0", character_name="Ada", said="", by="standing", budget_tokens=9, tokens=0, memories=0
    )
    assert "Nothing is known here yet." in recall._repr_html_()
    scene = SceneTime(chapter_index=1, scene_index=2, told_order=1, participants=["C0"])
    times = SceneTimes(project_id="p", language="en", scenes=[scene], names={"C0": "Ada"})
    assert "Ada" in times._repr_html_()


def test_a_terminal_shows_plain_lines() -> None:
    """IPython without a browser prints the same as text; `repr` stays whole."""

    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    printer = Printer()
    context("Ada hid it.")._repr_pretty_(printer, False)
    assert printer.said.splitlines()[0] == "Scene 2:1 of p: 1 memory, 3 tokens"
    assert "Ada hid it." in printer.said
    assert shown_text(ShownList()) == "Nothing is known here yet."
    assert repr(chunk("Ada hid it.")).startswith("StoryMemoryChunk(")
    clean = DraftCheck(project_id="p", chapter_index=2, scene_index=1, language="en")
    assert "nobody judged it" in shown_text(clean)
    clean.checked.is_judged = True
    assert shown_text(clean) == "Draft of scene 2:1: 0 findings"
