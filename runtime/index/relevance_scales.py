"""What cosines of the embedding model amount to, asked of the model once per language."""

from __future__ import annotations

import threading

from novelgen.characters.relevance import KNOWN_PAIRS, RelevanceScale, scale_of
from novelgen.language.language import StoryLanguage
from runtime.index.embeddings import CheckedEmbeddings


class RelevanceScales:
    """Keeps the scale of each language; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._scales: dict[tuple[str, StoryLanguage], RelevanceScale] = {}

    def scale(self, embeddings: CheckedEmbeddings, language: StoryLanguage) -> RelevanceScale:
        """Return the scale of a model for remarks in a language; the first call embeds the known pairs."""
        key = (embeddings.model_name, language)
        with self._lock:
            if key not in self._scales:
                pairs = KNOWN_PAIRS[language]
                remarks = embeddings.embed_queries([remark for remark, _ in pairs])
                self._scales[key] = scale_of(remarks, embeddings.embed_documents([memory for _, memory in pairs]))
            return self._scales[key]
