"""Checking of drafts against the story before them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict

from novelgen.chains.continuity_chain import ContinuityChain, ContinuityRequest, ModelCheck
from novelgen.chains.stepwise_chain import issue_of
from novelgen.checking.avoided import avoided_words
from novelgen.checking.evidence import gather_evidence
from novelgen.checking.findings import conclude, evidence_before
from novelgen.checking.story import Draft, StoryBefore, read_draft
from novelgen.checking.touched import find_touched
from novelgen.deadlines import CallOutcome, Deadline, run_concurrently
from novelgen.errors import (
    ConfigurationError,
    ForeignDatabaseError,
    InvalidFileError,
    UnknownProjectError,
    UserInputError,
)
from novelgen.language.chronology import scene_times
from novelgen.language.language import stated_language
from novelgen.language.normalise import require_size, scrub_text
from novelgen.language.sentences import split_sentences
from novelgen.memory.query_scores import unit_rows
from novelgen.memory.search import Candidate, SearchQuery, SearchRequest, Vector
from novelgen.models.context import ReportIssue
from novelgen.models.continuity import CheckedDraft, ContinuityEvidence, ContinuityReport, DraftCheck, TouchedMatter
from novelgen.models.memory import DISTILLED_TYPES, StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.position import StoryPosition
from novelgen.models.state import LoopStatus
from runtime.files.file_reading import read_text_file
from runtime.files.project_files import own_scene_plan
from runtime.model_providers.token_counters import build_token_counter
from runtime.search.kept_readings import knowledge_rules
from runtime.search.search import search_memories
from runtime.settings import NovelgenSettings
from runtime.storage.database import UnitOfWork
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores
from runtime.story.base import Progress
from runtime.story.extraction import build_extraction_model
from runtime.story.projects import StoryProjects

CHECKED_AT_ONCE = 2
"""So many drafts are read and searched for at once, however many wait for a model."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """How drafts are checked."""

    model: BaseChatModel | str | None = None
    uses_model: bool = True
    workers: int | None = None


class DraftScene(BaseModel):
    """A draft and the scene that it is to become."""

    model_config = ConfigDict(strict=True)

    chapter_index: int
    scene_index: int
    text: str
    scene_plan: ScenePlan | None = None
    pov: str = ""


class DraftChecker:
    """Checks drafts of one project, safe between threads."""

    def __init__(self, stores: MemoryStores, project_id: str, options: CheckOptions | None = None) -> None:
        StoryProjects(stores, project_id).require_project_files()
        chosen_check_options = options or CheckOptions()
        self._stores = stores
        self._project_id = project_id
        self._settings = stores.settings.memory.continuity
        self._model_timeout_s = self._settings.model_timeout_s or stores.settings.memory.summarization.timeout_s
        self._workers = chosen_check_options.workers or self._settings.workers
        counting = build_token_counter(stores.settings.memory.token_counter)
        self._count_tokens = counting.count_tokens
        model, issue = _judging_model(stores.settings, chosen_check_options)
        self._chain = (
            ContinuityChain(model, timeout_s=self._model_timeout_s, count_tokens=counting.count_tokens)
            if model is not None
            else None
        )
        self.has_model = self._chain is not None
        self._turn = threading.BoundedSemaphore(CHECKED_AT_ONCE)
        self._avoided = _words_to_avoid(stores.paths(project_id).avoided_file)
        self._known_issues = [other_issue for other_issue in (counting.issue, issue) if other_issue is not None]

    def check(self, scene: DraftScene) -> DraftCheck:
        """Check a draft, with failures in its report."""
        as_of = StoryPosition(scene.chapter_index, scene.scene_index)
        text = scrub_text(scene.text)
        if not text.strip():
            raise UserInputError(f"the draft of scene {scene.chapter_index}:{scene.scene_index} is empty")
        require_size(text, f"the draft of scene {scene.chapter_index}:{scene.scene_index}")
        report = _Reporting(issues=list(self._known_issues))
        place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
        check = DraftCheck(project_id=self._project_id, **place, avoided=avoided_words(text, self._avoided))
        # Workers wait side by side for the model alone: all else is work of this process, and more of it at once would
        # only be slower, which costs each of them its deadline.
        with self._turn:
            deadline = Deadline.after(self._settings.timeout_s, stage="check")
            read_story, hits = self._read(scene, text, as_of, report, deadline=deadline)
            if read_story is None:
                check.report = report.report()
                return check
            story, draft = read_story.story, read_story.draft
            gather = partial(self._gather, story, report)
            evidence = report.run("evidence", partial(gather, draft, hits=hits), deadline) or []
        checked = CheckedDraft(
            sentences=len(draft.sentences),
            entities=list(dict.fromkeys(mention.entity_id for mention in draft.mentions)),
            scenes_before=len(story.scenes),
            memories_before=len(story.memories),
            facts_before=len(story.memories)
            + len(story.threads)
            + len(story.relationships)
            + sum(change.kind == "explicit" for change in story.changes),
        )
        judged = self._judged(ContinuityRequest(draft, story, gather, evidence), report)
        if judged is not None:
            checked = judged.told_in(checked)
            # The best evidence within the bounds of what a check tells; a model may have seen more.
            retained_evidence: list[ContinuityEvidence] = []
            remaining_tokens = self._settings.evidence_tokens
            for evidence_item in judged.evidence[: self._settings.max_evidence]:
                remaining_tokens -= self._count_tokens(evidence_item.text)
                if remaining_tokens < 0:
                    break
                retained_evidence.append(evidence_item)
            evidence = retained_evidence or evidence
        touched_matters = None
        if not checked.is_judged:
            touched_matters = report.run("touched", partial(find_touched, draft, story, evidence), deadline)
        concluded = conclude(judged.findings if judged else (), as_of=as_of, waivers=read_story.waived)
        return check.model_copy(
            update={
                "language": story.language,
                "point_of_view": story.name(story.pov) if story.pov else "",
                "plan_file": read_story.plan_file,
                "findings": concluded.findings,
                "waived": concluded.waived,
                "touched": _before(touched_matters or (), as_of),
                "evidence": evidence_before(evidence, as_of),
                "checked": checked,
                "report": report.report(),
            }
        )

    def _gather(
        self, story: StoryBefore, report: _Reporting, draft: Draft, *, hits: SentenceHits | None = None
    ) -> list[ContinuityEvidence]:
        """Gather evidence for a draft or a part, searching its sentences first."""
        if hits is None:
            hits = self._search(draft.text, draft.sentences, story.as_of, self._stores.settings.memory.tool_timeout_s)
            report.issues += hits.issues
        return gather_evidence(
            draft,
            story,
            similar=hits.similar,
            limit=self._settings.max_evidence,
            max_tokens=self._settings.evidence_tokens,
            count_tokens=self._count_tokens,
        )

    def _judged(self, request: ContinuityRequest, report: _Reporting) -> ModelCheck | None:
        """Let a configured model judge, within its own time."""
        if self._chain is None:
            return None
        timeout_s = self._model_timeout_s + self._stores.settings.memory.tool_timeout_s
        judged = report.run("model", partial(self._chain.invoke, request), timeout_s)
        if judged is not None:
            report.issues += judged.issues
            report.timings_s |= {f"model_{stage}": spent_s for stage, spent_s in judged.timings_s.items()}
        return judged

    def in_order(
        self, call: Callable[[Item], Result], items: Sequence[Item], *, progress: Progress | None = None
    ) -> Iterator[Result]:
        """Map a call over items in parallel, in their order."""
        for done_count, result in enumerate(self._map_items(call, items), start=1):
            yield result
            if progress is not None:
                progress(done_count, len(items))

    def _map_items(self, call: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        if self._workers == 1:
            # In the caller's thread, which an interrupt reaches at once.
            yield from map(call, items)
            return
        pool = ThreadPoolExecutor(max_workers=self._workers, thread_name_prefix="novelgen-check")
        try:
            yield from pool.map(call, items)
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(
        self, scene: DraftScene, text: str, as_of: StoryPosition, report: _Reporting, *, deadline: Deadline
    ) -> tuple[_ReadStory | None, SentenceHits]:
        """Read the story before the draft while the draft's sentences are searched for."""
        plan, plan_file = (scene.scene_plan, "") if scene.scene_plan else self._own_plan(scene, report)
        within_s, search_s = (deadline.share(stage).remaining_s for stage in ("story", "meaning"))
        outcomes = run_concurrently(
            {
                "story": partial(self._read_story, text, as_of, plan, scene.pov),
                "meaning": partial(self._search, text, split_sentences(text), as_of, search_s),
            },
            timeouts_s={"story": within_s, "meaning": within_s},
        )
        for outcome in outcomes.values():
            if isinstance(outcome.error, ForeignDatabaseError):
                raise outcome.error
            if isinstance(outcome.error, UnknownProjectError):
                raise UnknownProjectError(
                    f"nothing of project {self._project_id!r} is stored yet; run `novelgen ingest {self._project_id}`"
                ) from outcome.error
        read_story: _ReadStory | None = report.take("story", outcomes["story"])
        read_story = read_story and read_story._replace(plan_file=plan_file)
        hits: SentenceHits = report.take("meaning", outcomes["meaning"]) or SentenceHits()
        report.issues += [*(read_story.issues if read_story else ()), *hits.issues]
        return read_story, hits

    def _search(
        self, text: str, sentences: Iterable[tuple[int, int]], as_of: StoryPosition, timeout_s: float
    ) -> SentenceHits:
        queries = [text[start:end] for start, end in sentences]
        return find_by_sentences(self._stores, self._project_id, sentences=queries, as_of=as_of, timeout_s=timeout_s)

    def _own_plan(self, scene: DraftScene, report: _Reporting) -> tuple[ScenePlan | None, str]:
        """Return the project's plan of a scene, and its file within the project."""
        paths = self._stores.paths(self._project_id)
        place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
        try:
            plan, chapter_plan = own_scene_plan(paths, **place)
        except InvalidFileError as error:
            message = f"checked without a plan: {error}"
            report.issues.append(ReportIssue(stage="plan", kind="malformed", message=message))
            return None, ""
        is_of_chapter = chapter_plan is not None and chapter_plan.scene(scene.scene_index) is not None
        file = paths.chapter_plan_file(scene.chapter_index) if is_of_chapter else paths.context_file(*place.values())
        return plan, file.relative_to(paths.folder).as_posix() if plan is not None else ""

    def _read_story(self, text: str, as_of: StoryPosition, plan: ScenePlan | None, pov: str) -> _ReadStory:
        story = story_before(self._stores, self._project_id, as_of=as_of, plan=plan)
        with self._stores.database(self._project_id).read() as unit:
            waivers = unit.projects.waived("findings")
        issues: list[ReportIssue] = []
        name = (pov or (plan.pov if plan else "")).strip()
        if name:
            pov_id = story.resolver.resolve(name).entity_id
            story = replace(story, pov=pov_id)
            if pov_id is None:
                message = f"nobody is known as {name!r} at this position, so no point of view was checked"
                issues.append(ReportIssue(stage="plan", kind="unresolved", message=message))
        return _ReadStory(story, read_draft(text, story), waivers, tuple(issues))


class _ReadStory(NamedTuple):
    """The story before a draft, the parsed draft and waivers."""

    story: StoryBefore
    draft: Draft
    waived: dict[str, str]
    issues: tuple[ReportIssue, ...]
    plan_file: str = ""


@dataclass
class _Reporting:
    """Issues and stage durations of a check."""

    issues: list[ReportIssue] = field(default_factory=list)
    timings_s: dict[str, float] = field(default_factory=dict)

    def run(self, stage: str, call: Callable[[], Result], within: Deadline | float) -> Result | None:
        """Run a stage within a time limit, or return None."""
        timeout_s = within.share(stage).remaining_s if isinstance(within, Deadline) else within
        return self.take(stage, run_concurrently({stage: call}, timeouts_s={stage: timeout_s})[stage])

    def take(self, stage: str, outcome: CallOutcome[Any]) -> Any:
        """Return a stage's result, or None with an issue."""
        self.timings_s[stage] = outcome.elapsed_s
        issue = issue_of(stage, outcome, propagate_bugs=False)
        if issue is not None:
            self.issues.append(issue)
        return outcome.value

    def report(self) -> ContinuityReport:
        """Return the report, with distinct issues."""
        issues_by_key = {(issue.stage, issue.kind, issue.message): issue for issue in self.issues}
        return ContinuityReport(issues=list(issues_by_key.values()), timings_s=self.timings_s)


def _before(matters: Iterable[TouchedMatter], as_of: StoryPosition) -> list[TouchedMatter]:
    """Return statements on each matter strictly before a position."""
    visible_matters = (
        matter.model_copy(update={"sayings": evidence_before(matter.sayings, as_of)}) for matter in matters
    )
    return [matter for matter in visible_matters if matter.sayings]


def _judging_model(
    settings: NovelgenSettings, options: CheckOptions
) -> tuple[BaseChatModel | None, ReportIssue | None]:
    """Return the judging model, or None with the reason."""
    if not options.uses_model:
        return None, None
    if options.model is not None:
        return build_extraction_model(settings, options.model), None
    if not (settings.memory.summarization.model or settings.model):
        # Nobody wanted one: `checked` says that no model was asked, and that is no failure.
        return None, None
    try:
        return build_extraction_model(settings), None
    except ConfigurationError as error:
        message = f"nobody judged the draft: {error}"
        return None, ReportIssue(stage="model", kind="unavailable", message=message)


def _words_to_avoid(file: Path) -> list[str]:
    """Return a file's words, one per line, without # comments."""
    lines = map(str.strip, read_text_file(file, within=file.parent).split("\n")) if file.is_file() else ()
    return [line for line in lines if line and not line.startswith("#")]


HITS_PER_SENTENCE = 50
"""So many memories are found by meaning, and as many by words, for each sentence of a draft."""

MAX_SENTENCE_QUERIES = 200
"""A longer draft is searched for by several sentences at once, so that all of it has its turn."""


class SentenceHits(NamedTuple):
    """Semantic nearness of draft sentences to evidence, by source_id."""

    similar: Sequence[Mapping[str, float]] = ()
    issues: Sequence[ReportIssue] = ()


def find_by_sentences(
    stores: MemoryStores, project_id: str, *, sentences: Sequence[str], as_of: StoryPosition, timeout_s: float
) -> SentenceHits:
    """Search everything strictly before a position by each sentence of a draft, by meaning and by words.

    All sentences are embedded in one batch and searched for at once. What one of them finds is compared with all.
    A story of text alone has nothing to compare with: what tells of its passages is words.
    """
    texts = [" ".join(sentence.split()) for sentence in sentences]
    told_numbers = [number for number, text in enumerate(texts) if text]
    with stores.database(project_id).read() as unit:
        has_memories = bool(unit.memories.filtered_ids(_told_before(as_of), limit=1))
    if not (told_numbers and has_memories):
        return SentenceHits([{}] * len(texts))
    together = -(-len(told_numbers) // MAX_SENTENCE_QUERIES)
    groups = [told_numbers[start : start + together] for start in range(0, len(told_numbers), together)]
    result = search_memories(
        stores,
        SearchRequest(
            project_id=project_id,
            queries=[SearchQuery(text=" ".join(texts[number] for number in group)) for group in groups],
            as_of=as_of,
            candidates_per_query=HITS_PER_SENTENCE,
            timeout_s=timeout_s,
        ),
        deadline=Deadline.after(timeout_s, stage="search"),
    )
    similar: list[Mapping[str, float]] = [{}] * len(texts)
    for asked_number, nearness in _similarities(result.query_vectors, result.candidates).items():
        for number in groups[asked_number]:
            similar[number] = nearness
    return SentenceHits(similar, result.issues)


def _similarities(queries: Sequence[Vector | None], candidates: Sequence[Candidate]) -> dict[int, dict[str, float]]:
    """Return the greatest cosine of each query's vector with each source's, by query number."""
    query_vectors = [(number, vector) for number, vector in enumerate(queries) if vector is not None]
    stored_vectors = [
        (candidate.chunk.memory_id, candidate.vector) for candidate in candidates if candidate.vector is not None
    ]
    if not query_vectors or not stored_vectors:
        return {}
    first, second = (
        unit_rows([vector for _, vector in query_vectors]),
        unit_rows([vector for _, vector in stored_vectors]),
    )
    results: dict[int, dict[str, float]] = {}
    for (number, _), row in zip(query_vectors, (first @ second.T).tolist(), strict=True):
        nearness = results[number] = {}
        for (source_id, _), cosine in zip(stored_vectors, row, strict=True):
            nearness[source_id] = max(cosine, nearness.get(source_id, -1.0))
    return results


def _standing_memories(unit: UnitOfWork, as_of: StoryPosition) -> list[StoryMemoryChunk]:
    """Return the memories before a position that are not over."""
    memories = [
        memory.chunk
        for memory in unit.memories.list_matching(_told_before(as_of))
        if memory.over_at is None or not as_of.admits(*memory.over_at)
    ]
    notes = unit.memories.by_ids([memory.chunk_id for memory in memories if memory.content_type == "note"], as_of=as_of)
    over_ids = {note.chunk_id for note in notes if note.superseded_by is not None}
    return [memory for memory in memories if memory.chunk_id not in over_ids]


def _told_before(as_of: StoryPosition) -> MemoryFilter:
    return MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES), unconsolidated=True)


def _of_persons(memories: list[StoryMemoryChunk], persons: Mapping[str, str]) -> list[StoryMemoryChunk]:
    """Return memories under whom their cards have turned out to be."""
    if not persons:
        return memories
    return [
        memory.model_copy(
            update={
                "entities_mentioned": list(dict.fromkeys(persons.get(one, one) for one in memory.entities_mentioned))
            }
        )
        for memory in memories
    ]


def story_before(
    stores: MemoryStores, project_id: str, *, as_of: StoryPosition, plan: ScenePlan | None = None
) -> StoryBefore:
    """Return the story strictly before a position as a check of a draft sees it."""
    with stores.database(project_id).read() as unit:
        entities = unit.entities.list_as_of(as_of=as_of)
        language = unit.projects.require().language
        entity_ids = [entity.entity_id for entity in entities]
        changes = unit.states.changes_before(as_of, entity_ids=entity_ids)
        of_cards = unit.card_changes(entity_ids, as_of=as_of)
        memories = _of_persons(_standing_memories(unit, as_of), of_cards.identities.persons)
        relationships = unit.relationships.list_as_of(as_of=as_of)
        threads = unit.threads.list_as_of(as_of=as_of, statuses=get_args(LoopStatus))
        times = scene_times(unit.scenes.tellings(as_of=as_of))
    return StoryBefore(
        as_of=as_of,
        language=stated_language(language) or "en",
        entities=entities,
        changes=changes,
        memories=memories,
        relationships=relationships,
        threads=threads,
        knowledge=knowledge_rules(stores, project_id, as_of=as_of),
        plan=plan,
        story_times=times,
        of_cards=of_cards,
    )
