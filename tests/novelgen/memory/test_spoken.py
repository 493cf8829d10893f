"""A state that somebody says aloud is known to those who hear it."""

import pytest

from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeMemory, KnowledgeScene, KnowledgeStory
from novelgen.models.entity import Entity
from novelgen.models.knowledge import KnowledgeEvent
from novelgen.models.position import StoryPosition

ENTITIES = [
    Entity(entity_id=entity_id, entity_type=kind, name=name)  # type: ignore[arg-type]
    for entity_id, kind, name in [
        ("C0", "character", "Nils Berg"),
        ("C1", "character", "Ben"),
        ("C2", "character", "Sara"),
        ("C3", "character", "林婶"),
        ("C4", "character", "阿宁"),
        ("C5", "character", "周岚"),
        ("I0", "item", "the silver watch"),
        ("I1", "item", "铜钥匙"),
    ]
]
NAMES = {entity.entity_id: [entity.name] for entity in ENTITIES}
PEOPLE = frozenset(name for name in NAMES if name.startswith("C"))
BURIED = "They buried Nils Berg. Sara read the lesson. "
FAR = '"Nils Berg is dead," said Ben.' + " It rained." * 300
CHINESE = "众人葬了林婶，周岚站在一旁。"


def note(content: str, place: tuple[int, int] = (1, 1), number: int = 0) -> KnowledgeMemory:
    """Return a note of the author."""
    about = [entity_id for entity_id, [name] in NAMES.items() if name in content]
    return KnowledgeMemory(f"note-N{number}", content, None, about, noted_at=StoryPosition(*place))


def heard(
    who: str,
    content: str,
    text: str,
    *,
    cast: str = "C1 C2 C4 C5",
    has_record: bool = True,
    place: tuple[int, int] = (1, 1),
    further: KnowledgeMemory | None = None,
    events: tuple[KnowledgeEvent, ...] = (),
) -> bool:
    """Return whether somebody knows a note by a scene that says it, and by nothing else."""
    scenes = [
        KnowledgeScene(StoryPosition(1, 1), frozenset({"C0", "C3"}), "It rained."),
        KnowledgeScene(StoryPosition(2, 1), frozenset(cast.split()), text, has_record=has_record),
    ]
    memories = [note(content, place), *([further] if further else [])]
    story = KnowledgeStory(StoryPosition(9, 1), scenes, memories, NAMES, PEOPLE, events, entities=ENTITIES)
    knowing = KnowledgeRules(story).knows(who, memories[0])
    assert not knowing.knows or (knowing.how, knowing.is_said) == ("told", False)
    return knowing.knows


@pytest.mark.parametrize(
    ("who", "content", "text"),
    [
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg is dead," said Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + "“Have you heard? Nils Berg is dead.”"),
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg died last night," said Ben.'),
        ("C2", "Nils Berg died.", BURIED + '"Nils Berg was drowned in the mill-race!" cried Ben.'),
        (
            "C2",
            "Nils Berg was drowned in the mill-race.",
            BURIED + '"Nils Berg was drowned in the mill-race," he said.',
        ),
        ("C2", "The silver watch is with Nils Berg.", 'Sara came. "Nils Berg has the silver watch," said Ben.'),
        ("C2", "The silver watch is with Nils Berg.", 'Sara came. "The silver watch is with Nils Berg now," he said.'),
        ("C5", "林婶死了。", CHINESE + "“林婶死了。”阿宁说。"),
        ("C5", "林婶已经死了。", CHINESE + "“周岚，你坐。林婶昨夜死了。”阿宁说。"),
        ("C5", "林婶死了。", CHINESE + "“林婶已经死了，节哀。”阿宁道。"),
        ("C5", "林婶去世了。", CHINESE + "“林婶去世了。”阿宁哭着说。"),
        ("C5", "铜钥匙在林婶手里。", "周岚来了。“铜钥匙在林婶手里。”阿宁说。"),
    ],
)
def test_whoever_hears_a_state_knows_its_note(who: str, content: str, text: str) -> None:
    """In a scene of a stated cast, from words that state the same."""
    assert heard(who, content, text)


@pytest.mark.parametrize(
    ("who", "content", "text"),
    [
        ("C2", "Nils Berg is dead.", BURIED),
        ("C2", "Nils Berg is dead.", BURIED + '"Is Nils Berg dead?" asked Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg is not dead," said Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + '"They say Nils Berg is dead," said Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + '"If Nils Berg is dead, we are lost," said Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg is dead," whispered Ben to the priest.'),
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg is dead," thought Ben.'),
        ("C2", "Nils Berg is dead.", BURIED + '"Nils Berg was a good man," said Ben.'),
        ("C2", "Nils Berg was murdered by Ben.", BURIED + '"Nils Berg is dead," said the priest.'),
        ("C2", "Nils Berg is dead; the priest poisoned him.", BURIED + '"Nils Berg is dead," said the priest.'),
        ("C2", "The silver watch is with Nils Berg.", 'Sara came. "The silver watch is with Ben," he said.'),
        ("C2", "Nils Berg is dead.", "Sara read. It was late.\n\n***\n\n" + FAR),
        ("C2", "Nils Berg is dead, and Sara does not know it.", BURIED + '"Nils Berg is dead," said Ben.'),
        ("C5", "林婶死了。", CHINESE + "“林婶死了吗？”阿宁问。"),
        ("C5", "林婶死了。", CHINESE + "“林婶没死。”阿宁说。"),
        ("C5", "林婶死了。", CHINESE + "“听说林婶死了。”阿宁说。"),
        ("C5", "林婶死了。", CHINESE + "“林婶死了。”阿宁低声对师父说。"),
        ("C5", "林婶被阿宁毒死了。", CHINESE + "“林婶死了。”师父说。"),
        ("C5", "林婶死了，是阿宁下的毒。", CHINESE + "“林婶死了。”师父说。"),
    ],
)
def test_other_words_tell_nobody_a_note(who: str, content: str, text: str) -> None:
    """Questions, denials, hearsay, whispers, another place, and less than the note tells."""
    assert not heard(who, content, text)


def test_only_who_is_in_a_stated_cast_hears_what_holds_and_is_kept_from_nobody() -> None:
    """A guessed cast, another scene, an ended state and a list of knowers teach nothing."""
    text = BURIED + '"Nils Berg is dead," said Ben.'
    assert not heard("C2", "Nils Berg is dead.", text, cast="C1")
    assert not heard("C2", "Nils Berg is dead.", text, has_record=False)
    listed = KnowledgeEvent(
        character_id="C1", source_id="note-N0", how="author", by_author=True, chapter_index=1, scene_index=1
    )
    assert not heard("C2", "Nils Berg is dead.", text, events=(listed,))
    watch, told = "The silver watch is with Nils Berg.", 'Sara came. "The silver watch is with Nils Berg," he said.'
    assert not heard("C2", watch, told, further=note("The silver watch is with 林婶.", (1, 2), 1))
    assert heard("C2", watch, told, further=note("The silver watch is with 林婶.", (3, 1), 1))
