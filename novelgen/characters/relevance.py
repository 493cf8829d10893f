"""From a cosine to a relevance between 0 and 1, by what the embedding model itself makes of pairs that are known.

Cosines have no zero that all models share: with one model strangers stand at .1, with another at .8, and a memory of
.85 is then the answer or chance. A design that multiplies by relevance, and tells a memory in full from .85 on, needs
a scale. So the model is asked once about remarks and memories of which it is known which belongs to which: 0 is how
near a remark is to memories of something else, 1 how near it is to its own, both on the average, in each language.
The scale does not depend on what a character remembers: a memory counts the same whatever else is remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from novelgen.language.language import StoryLanguage

Vectors = NDArray[np.float32]

LEAST_SPREAD = 0.02
"""Cosines nearer together than this tell nothing apart."""

KNOWN_PAIRS: dict[StoryLanguage, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Who broke the window of the bakery?", "I saw the smith's boy throw a stone through the baker's window."),
        ("What is your sister's name?", "The traveller learnt that my sister is called Ottilie."),
        ("Do you still have the map I gave you?", "The player handed me an old map of the caves to keep."),
        ("You promised to mend my boots.", "I gave my word that the boots would be mended by market day."),
        (
            "Why are you afraid of the dark?",
            "As a child I was locked in a cellar for a night, and fear the dark since.",
        ),
        ("How did the old king die?", "A pedlar says that poison in the wine killed the old king."),
        ("Where did the soldiers go?", "The soldiers marched north over the pass at dawn."),
        ("I am sorry that I shouted at you.", "The player yelled at me in front of the guests, and it hurt."),
        ("Can I borrow some money?", "I lent the player twelve coins, and they have not been paid back."),
        ("Do you like music?", "We sang together by the fire until the lamps went out."),
        ("Is the harvest bad this year?", "Hail has flattened the barley, and winter will be hungry."),
        ("Who taught you to fight?", "A deserter from the coast showed me how to hold a sword."),
    ),
    "zh": (
        ("面包房的窗户是谁打破的？", "我看见铁匠的儿子朝面包房的窗户扔石头。"),
        ("你妹妹叫什么名字？", "那位旅人知道了我妹妹名叫阿蘅。"),
        ("我给你的地图还在吗？", "玩家把一张旧的山洞地图交给我保管。"),
        ("你答应过替我补靴子。", "我许诺在赶集那天之前把靴子补好。"),
        ("你为什么怕黑？", "小时候我被关在地窖里一整夜，从此怕黑。"),
        ("老国王是怎么死的？", "货郎说老国王是喝了毒酒死的。"),
        ("士兵们去哪里了？", "士兵们天一亮就翻过山口往北去了。"),
        ("对不起，我不该冲你喊。", "玩家当着客人的面对我大吼，我很难过。"),
        ("能借我一点钱吗？", "我借给玩家十二枚铜钱，至今没有还。"),
        ("你喜欢音乐吗？", "我们在火边一起唱歌，直到灯都灭了。"),
        ("今年收成不好吗？", "冰雹打倒了大麦，这个冬天要挨饿。"),
        ("谁教你打架的？", "一个从海边来的逃兵教我怎么握剑。"),
    ),
}
"""Remarks of a player, and the memory that each of them asks for."""


class RelevanceScale(NamedTuple):
    """What cosines of one embedding model amount to."""

    unrelated: float
    related: float

    def of(self, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the relevance of each cosine, 0 to 1."""
        spread = max(self.related - self.unrelated, LEAST_SPREAD)
        return np.clip((np.asarray(cosines, dtype=np.float64) - self.unrelated) / spread, 0.0, 1.0)


def scale_of(remarks: Sequence[Sequence[float]], memories: Sequence[Sequence[float]]) -> RelevanceScale:
    """Return the scale of a model by what it makes of pairs that are known."""
    cosines = unit_rows(remarks) @ unit_rows(memories).T
    own = np.eye(len(cosines), dtype=bool)
    return RelevanceScale(unrelated=float(cosines[~own].mean()), related=float(cosines[own].mean()))


def unit_rows(vectors: Sequence[Sequence[float]] | Sequence[float] | Vectors) -> Vectors:
    """Return vectors at length one as rows, a zero vector as it is; a single one is one row."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
