"""What an extraction will take, before it starts: scenes, calls of the model, tokens and their price."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from pydantic import BaseModel, Field

from novelgen.chains.chapter_pass_chain import ChapterPassChain
from novelgen.chains.scene_knowledge_chain import SceneKnowledgeChain
from novelgen.chains.scene_record_chain import SceneRecordChain, SceneRecordSettings
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.usage import TokenPrices
from novelgen.reading.chapter_reading import ChapterRequest, ChapterScene
from novelgen.reading.request import SceneRecordRequest
from runtime.index.chat_models import UnavailableChatModel
from runtime.ingest.extraction import ExtractionChoice, scene_requests
from runtime.ingest.knowledge_pass import KnowledgeChoice, chosen_for_knowledge, knowledge_request
from runtime.stores import MemoryStores

SAMPLED_SCENES = 12
"""So many prompts are made in full, to see how long the lists of the story so far are by now."""

ANSWER_TOKENS = 1000
ANSWER_TOKENS_PER_TEXT_TOKEN = 0.5
"""An answer's length, as two whole books gave it: 1,300 tokens for scenes of 1,200, 1,600 for scenes of 960."""

CHAPTER_TOKENS_PER_SCENE = 600
CHAPTER_ANSWER_TOKENS = 500
"""What a chapter's end shows of each of its scenes, and how long the answer to it is: a guess, not measured."""

KNOWLEDGE_TOKENS_PER_MEMORY = 60
KNOWLEDGE_ANSWER_TOKENS = 150
"""How long an answer about who knows what is: for each memory of the scene, and for what is learnt in it."""

NOTHING_ASKED = "nothing is asked for an estimate"


class ExtractionEstimate(BaseModel):
    """What an extraction will take, about; answers that must be repaired or asked about once more come on top."""

    scenes: int = 0
    calls: int = Field(
        default=0, description="Of the model: one for each window of a scene, and one at the end of a chapter."
    )
    input_tokens: int = 0
    output_tokens: int = 0
    price: float | None = Field(default=None, description="Where prices are known; without any discount.")


def estimate_extraction(
    stores: MemoryStores,
    project_id: str,
    *,
    choice: ExtractionChoice | None = None,
    settings: SceneRecordSettings | None = None,
    reconcile: bool = False,
    prices: TokenPrices | None = None,
) -> ExtractionEstimate:
    """Estimate what extracting the records of scenes will take; no model is asked.

    The prompts are really made, without the story's lists; those count as long as they are now, and while the
    story is read for the first time as half of what they may be, for they grow with it.
    """
    settings = settings or SceneRecordSettings()
    chain = SceneRecordChain(UnavailableChatModel(reason=NOTHING_ASKED), settings=settings)
    requests = scene_requests(stores, project_id, choice or ExtractionChoice())
    prompts = [tokens for request in requests for tokens in chain.prompt_tokens(_without_story(request))]
    lists = max(_lists_now(chain, requests), settings.prompt_list_tokens // 2)
    input_tokens = sum(tokens.all for tokens in prompts) + lists * len(prompts)
    text_tokens = sum(tokens.text for tokens in prompts)
    output_tokens = round(ANSWER_TOKENS * len(prompts) + ANSWER_TOKENS_PER_TEXT_TOKEN * text_tokens)
    chapters = len({request.chapter_index for request in requests}) if reconcile else 0
    if chapters:
        input_tokens += chapters * _chapter_frame(requests[0].language or "en")
        input_tokens += len(requests) * CHAPTER_TOKENS_PER_SCENE
        output_tokens += chapters * CHAPTER_ANSWER_TOKENS
    return ExtractionEstimate(
        scenes=len(requests),
        calls=len(prompts) + chapters,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        price=(prices or TokenPrices()).price_of(input_tokens=input_tokens, output_tokens=output_tokens),
    )


def _chapter_frame(language: StoryLanguage) -> int:
    """Tokens of the prompt at the end of a chapter, without the chapter."""
    chain = ChapterPassChain(UnavailableChatModel(reason=NOTHING_ASKED))
    empty = ChapterScene(chapter_index=1, scene_index=1, text="")
    return chain.prompt_tokens(ChapterRequest(chapter_index=1, language=language, scenes=[empty]))


def _without_story(request: SceneRecordRequest) -> SceneRecordRequest:
    return SceneRecordRequest(
        project_id=request.project_id,
        chapter_index=request.chapter_index,
        scene_index=request.scene_index,
        text=request.text,
        language=request.language,
    )


def _lists_now(chain: SceneRecordChain, requests: Sequence[SceneRecordRequest]) -> int:
    """Mean tokens of the lists of a prompt, by what is stored now, in scenes spread over those that are to be read."""
    step = max(1, len(requests) // SAMPLED_SCENES)
    lists = [tokens.lists for request in requests[::step] for tokens in chain.prompt_tokens(request)]
    return round(fmean(lists)) if lists else 0


def estimate_knowledge(
    stores: MemoryStores,
    project_id: str,
    chain: SceneKnowledgeChain,
    *,
    choice: KnowledgeChoice | None = None,
    prices: TokenPrices | None = None,
) -> ExtractionEstimate:
    """Estimate what reading scenes for who knows what will take; no model is asked.

    The prompts of scenes spread over those that are to be read are really made; the others count as long as those.
    """
    with stores.database(project_id).read() as unit:
        positions = chosen_for_knowledge(unit, choice or KnowledgeChoice())
        step = max(1, len(positions) // SAMPLED_SCENES)
        sampled = [knowledge_request(unit, unit.scenes.require(each)) for each in positions[::step]]
    prompts = [chain.prompt_tokens(request) for request in sampled]
    share = len(positions) / len(sampled) if sampled else 0.0
    calls = round(share * sum(len(each) for each in prompts))
    input_tokens = round(share * sum(sum(each) for each in prompts))
    memories = sum(len(request.memories) for request in sampled)
    output_tokens = round(share * KNOWLEDGE_TOKENS_PER_MEMORY * memories) + KNOWLEDGE_ANSWER_TOKENS * calls
    return ExtractionEstimate(
        scenes=len(positions),
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        price=(prices or TokenPrices()).price_of(input_tokens=input_tokens, output_tokens=output_tokens),
    )
