"""How many words scenes have, counted once for each text as long as the program runs."""

from sqlmodel import col

from novelgen.language.language import count_words
from runtime.storage.columns import ScenePlace
from runtime.storage.records import Scene
from runtime.storage.session import StorageSession, batches

MOST_KEPT = 200_000
TEXTS_AT_ONCE = 200

_words: dict[str, int] = {}
"""Hash of a text to its words."""


def words_of_scenes(session: StorageSession) -> dict[ScenePlace, int]:
    """Return the words of every scene by its place; only texts that were not counted before are read."""
    rows = session.select([col(Scene.chapter_index), col(Scene.scene_index), col(Scene.text_hash)])
    hashes = {row[2] for row in rows}
    if len(_words) + len(hashes) > MOST_KEPT:
        _words.clear()
    for some in batches(sorted(hashes.difference(_words)), TEXTS_AT_ONCE):
        texts = session.select([col(Scene.text_hash), col(Scene.text)], session.among(Scene.text_hash, some))
        _words.update({row[0]: count_words(row[1] or "") for row in texts})
    # A writer may have changed a text between the two statements of a reader that sees each commit.
    return {(row[0], row[1]): _words.get(row[2], 0) for row in rows}
