"""Which scene tells a memory again."""

import random
import sys

import pytest

from novelgen.memory.knowledge_story import KnowledgeScene
from novelgen.memory.retelling import Retellings
from novelgen.models.position import StoryPosition

WORDS = [start + end for start in ("bar", "mor", "tel", "vin", "sor", "hal") for end in ("den", "ling", "wick", "ton")]


def test_with_numpy_and_without_the_same_scene_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short story loads no numpy for it; where it is loaded anyway it is used, and finds the same as plainly."""
    dice = random.Random(7)
    texts = [". ".join(" ".join(dice.choices(WORDS, k=5)) for _ in range(4)) for _ in range(30)]
    found = Retellings([KnowledgeScene(StoryPosition(1, 1 + i), frozenset(), text) for i, text in enumerate(texts)])
    asked = [(" ".join(dice.choices(WORDS, k=8)), dice.getrandbits(30)) for _ in range(40)]
    with_numpy = [found.best(content, wanted) for content, wanted in asked]
    monkeypatch.delitem(sys.modules, "numpy")
    assert [found.best(content, wanted) for content, wanted in asked] == with_numpy
    assert len({best for best in with_numpy if best}) > 10
