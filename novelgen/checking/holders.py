"""A rule of a draft's continuity: nobody has about them what the story left with another."""

import re
from collections.abc import Iterator, Sequence

from novelgen.checking.absent import death_of
from novelgen.checking.acting import is_elsewhen
from novelgen.checking.findings import finding, is_planned, of_change, of_memory, place_of, tight
from novelgen.checking.notes import Keeping, held_in_notes
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import has_cjk, word_pattern, wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention, entity_gender
from novelgen.language.sentences import Span
from novelgen.memory.attributes import split_slot
from novelgen.models.continuity import ContinuityIssue
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE

INVENTORY_ATTRIBUTE = "inventory"

SENTENCES_AFTER = 3
"""So many sentences after it may tell how a thing came to whoever has it."""


def keeping_of(item: Entity, story: StoryBefore) -> Keeping | None:
    """Return where a thing was left, or None where the story does not say it for certain.

    The last of its holder and an inventory that lists it. A later memory of the same slot, which says in words what
    nobody read out of it, makes the last state uncertain.
    """
    last: Keeping | None = None
    for change in story.changes:
        if change.kind != "explicit":
            continue
        if change.entity_id == item.entity_id and change.attribute == HOLDER_ATTRIBUTE:
            holder = story.resolver.resolve(str(change.value)).entity_id if change.value else None
            last = None if holder is None else Keeping(holder, place_of(change), (of_change(change, story),))
        elif change.attribute == INVENTORY_ATTRIBUTE and _lists(change.value, item):
            last = Keeping(change.entity_id, place_of(change), (of_change(change, story),))
    if last is None:
        return None
    told = [
        each
        for each in story.memories
        if (slot := split_slot(each.slot_type or "")) is not None
        and slot[0] == item.entity_id
        and slot[1] == HOLDER_ATTRIBUTE
    ]
    if any(place_of(each) > last.since for each in told):
        return None
    beside = [of_memory(each, story) for each in told if each.superseded_by is None]
    return Keeping(last.holder_id, last.since, (*last.evidence, *beside[-2:]))


def _lists(value: object, item: Entity) -> bool:
    things = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    names = {_bare(name) for name in item.names()}
    return any(_bare(re.sub(r"[(（].*", "", str(each))) in names for each in things)


def _bare(name: str) -> str:
    return re.sub(r"^(?:the|a|an|his|her|my|their) ", "", name.strip().casefold())


# --- Who has what about them in a draft ---

_CONTAINER = wording("holders_container")
_DETERMINED = r"(?:(?:the|his|her|my|their|own|a|an|that|this|old|little|great|long|precious|same) )*"
_HAS_BEFORE = re.compile(
    rf"\b(?:(?:drew|pulled|took|produced|brought|fished|whipped) (?:out )?(?:[^.;,!?“”]{{0,30}}(?:from"
    rf"|out of) (?:his|her|my|their) (?:own )?"
    rf"(?:[\w-]+ ){{0,2}}{_CONTAINER} )?{_DETERMINED}"
    rf"|(?:wore|wears|wearing|brandished|unsheathed|drew on|fired|buckled on|shouldered|wielded|unrolled|unfolded"
    r"|pocketed|patted|polished|polishing|strapped on|slung on|put on"
    r"|(?:toy|play|fiddl)(?:s|ed|ing|es)? with"
    r"|finger(?:s|ed|ing)|strok(?:es|ed|ing)|clutch(?:es|ed|ing)|grip(?:s|ped|ping)|grasp(?:s|ed|ing)"
    r"|held(?: up| out)?|holds(?: up| out)?|holding(?: up| out)?|show(?:s|ed|ing)|turn(?:s|ed|ing)(?: over)?"
    rf"|twirl(?:s|ed|ing)|twist(?:s|ed|ing)) {_DETERMINED})$"
)
_DRAWN = re.compile(r"\b(?:drew|pulled|took|produced|brought|fished|whipped)\b")
_OUT_OF = re.compile(
    rf"[^.;!?“”]{{0,24}}?\b(?:from|out of|in|at|on|into|round|around|about) (?:his|her|my"
    rf"|their) (?:own )?(?:[\w-]+ ){{0,2}}"
    rf"(?:{_CONTAINER}|hand|hands|side|neck|finger|shoulder|wrist|back|head)\b"
)
_WITH_BEFORE = re.compile(rf"(?:\b(?:with|had|has|having)|[,—]) {_DETERMINED}$")
_IN_HAND = re.compile(
    r"(?: (?:still|tight|fast|clenched|gripped|held))*"
    rf" (?:in|at|on|round|around|about) (?P<whose>his|her|my) (?:own )?(?:[\w-]+ )?"
    rf"(?:{_CONTAINER}|hands?|fists?|fingers?|palm|neck|wrist|side|shoulder)\b"
)
"""After the thing: with it about them, who is told by the pronoun."""

_CLAIMS_BEFORE = re.compile(rf"\bI (?:have|have got|still have|’ve got|carry|keep|wear|hold) {_DETERMINED}$")
_SUBJECT = re.compile(
    r"(?:^|[.;:,—] |\b(?i:and|but|then|while|there|here) )(?:(?:and|but|then|while) )?(?P<who>I|[Hh]e|[Ss]he)\b"
)

_CHINESE_OWN = wording("holders_chinese_own")
_CHINESE_HAS_BEFORE = re.compile(
    rf"(?:(?:披|穿|戴|佩|挂|执|持|握|提|舞|抡|掣|绰|挺|挥|扛|背|捧|揣|插|挎|拄|握紧|举"
    rf"|摩挲|抚摸|抚弄|把玩|把弄|摆弄|攥|捏|转动|掂|取出|掏出|摸出|拿出|亮出|祭出)(?:着|起|了|上|定)?"
    rf"|[袖腰怀耳囊箱包背兜](?:中|里|间|内|后|底)?[^，。；！？“”]{{0,4}}(?:取|摸|掏|拿|抽|拔"
    rf"|扯)(?:将)?出(?:来)?(?:了)?){_CHINESE_OWN}$"
)
_CHINESE_TAKING = re.compile(r"(?:把|将)[^，。；！？“”]{0,8}$")
_CHINESE_PUT_ON = re.compile(wording("holders_chinese_put_on"))
_CHINESE_CLAIMS = re.compile(wording("holders_chinese_claims"))
_HANDED = word_pattern("holders_handed")


def wrong_hands(draft: Draft, story: StoryBefore) -> Iterator[ContinuityIssue]:
    """Find who has a thing about them that the story left with somebody else."""
    noted = held_in_notes(story)
    kept: dict[str, Keeping | None] = {}
    seen: set[str] = set()
    for mention in _things(draft, story, noted):
        name = story.name(mention.entity_id) if mention.entity_id else mention.name
        if name in seen or not _is_certain_thing(mention, draft):
            continue
        if name not in kept:
            kept[name] = _keeping(mention, noted, story)
        keeping = kept[name]
        sentence = draft.sentence_at(mention.start)
        if keeping is None or sentence is None or _is_meant(mention, story):
            continue
        has = _has_it(draft, mention, sentence)
        if not has or is_elsewhen(draft, sentence) or _changed_hands(draft, mention, sentence, keeping.holder_id):
            continue
        actor = _actor(draft, story, mention, sentence, keeping)
        if actor is None or not _is_theirs(draft, story, mention, sentence, actor, keeping.holder_id):
            continue
        # What the dead had is with whoever took it up, told or not.
        if not death_of(keeping.holder_id, story):
            seen.add(name)
            yield _issue(draft, story, mention, sentence, keeping, name)


def _things(draft: Draft, story: StoryBefore, noted: Sequence[Keeping]) -> list[Mention]:
    """Where the draft names things, and by its word one that only a note speaks of."""
    named = [each for each in draft.mentions if story.entity[each.entity_id].entity_type == "item"]
    for held in noted:
        if held.thing_id is None:
            pattern = re.escape(held.thing) if has_cjk(held.thing) else rf"\b{re.escape(held.thing)}\b"
            named += [
                Mention(
                    entity_id="", name=draft.text[found.start() : found.end()], start=found.start(), end=found.end()
                )
                for found in re.finditer(pattern, draft.plain)
            ]
    return sorted(named, key=lambda each: each.start)


def _keeping(mention: Mention, noted: Sequence[Keeping], story: StoryBefore) -> Keeping | None:
    """Where states, memories and the author's notes left a thing; where they differ, what was told last.

    A note that stands at no place does not say whether it is later: then nothing is certain.
    """
    if not mention.entity_id:
        return next(each for each in noted if each.thing == simplified(mention.name))
    keeping = keeping_of(story.entity[mention.entity_id], story)
    note = next((each for each in noted if each.thing_id == mention.entity_id), None)
    if note is None or keeping is None or keeping.holder_id == note.holder_id:
        return note or keeping
    if note.evidence[0].chapter_index is None:
        return None
    return note if note.since >= keeping.since else keeping


def _is_meant(mention: Mention, story: StoryBefore) -> bool:
    if mention.entity_id:
        return is_planned(mention.entity_id, story)
    plan = story.plan
    return plan is not None and mention.name in "\n".join((plan.purpose, *plan.key_actions))


def _is_certain_thing(mention: Mention, draft: Draft) -> bool:
    """Whether a thing's name is more than a word for its kind: in capitals, several words, or told as the known one.

    Of two Chinese characters (长枪, 袍子) it needs a pronoun before it, unless somebody claims it aloud.
    """
    name = mention.name
    before = draft.plain[max(0, mention.start - 4) : mention.start].casefold()
    if has_cjk(name):
        return len(name) > 2 or draft.speech_at(mention.start) is not None or before[-2:][:1] in "那这该"
    words = re.sub(r"^(?:the|a|an|his|her|my|their) ", "", name, flags=re.IGNORECASE)
    is_known = any(each.isupper() for each in words) or " " in words or name.startswith(("the ", "The "))
    return (is_known or before.endswith("the ")) and not before.endswith((" a ", " an "))


def _has_it(draft: Draft, mention: Mention, sentence: Span) -> bool:
    text = draft.plain
    before, after = text[sentence.start : mention.start], text[mention.end : sentence.end]
    spoken = draft.speech_at(mention.start)
    if has_cjk(mention.name):
        if spoken is not None:
            return spoken.speaker_id is not None and _CHINESE_CLAIMS.match(after) is not None
        return bool(
            _CHINESE_HAS_BEFORE.search(before) or (_CHINESE_TAKING.search(before) and _CHINESE_PUT_ON.match(after))
        )
    before = re.sub(r"\b(?:the|a|an) $", "", before) if mention.name[:4].casefold() != "the " else before
    if spoken is not None:
        return spoken.speaker_id is not None and _CLAIMS_BEFORE.search(before) is not None
    has = _HAS_BEFORE.search(before)
    if has is None:
        return bool(_WITH_BEFORE.search(before) and _IN_HAND.match(after))
    # To draw or take a thing says that one had it only where it says out of what of one's own.
    return not _DRAWN.search(has.group()) or bool(re.search(_CONTAINER, has.group()) or _OUT_OF.match(after))


def _changed_hands(draft: Draft, mention: Mention, sentence: Span, holder_id: str) -> bool:
    """Whether what the draft says of the thing before, beside it or soon after tells that it went from hand to hand."""
    first = min((each.start for each in draft.mentions if each.entity_id == mention.entity_id), default=mention.start)
    opening = draft.sentence_at(first)
    start = opening.start if opening is not None else sentence.start
    told = draft.plain[start : sentence.start]
    if draft.speech_at(mention.start) is None:
        told += draft.plain[sentence.start : mention.start]
    at = (draft.sentence_index_at(sentence.start) or 0) + 1
    for after in draft.sentences[at : at + SENTENCES_AFTER]:
        named = {each.entity_id for each in draft.mentions if after.start <= each.start < after.end}
        if named & {holder_id, mention.entity_id} or mention.name in draft.text[after.start : after.end]:
            told += draft.plain[after.start : after.end]
    return _HANDED.search(told) is not None


def _actor(draft: Draft, story: StoryBefore, mention: Mention, sentence: Span, keeping: Keeping) -> str | None:
    """Who has the thing, or "" where only that it is not the holder is certain; None where it may be the holder."""
    holder = keeping.holder_id
    spoken = draft.speech_at(mention.start)
    if spoken is not None:
        return spoken.speaker_id if spoken.speaker_id != holder else None
    if _is_on_stage(draft, holder) and not _OWN.search(draft.plain, sentence.start, mention.end):
        # Who stands beside may have lent it without a word.
        return None
    subject = _named_subject(draft, story, Span(sentence.start, mention.start))
    if subject is not None:
        return subject if subject != holder else None
    before = draft.plain[sentence.start : mention.start]
    pronouns = [each["who"].casefold() for each in _SUBJECT.finditer(before)]
    if pronouns and pronouns[-1] == "i":
        return draft.narrator_id if draft.narrator_id not in (None, holder) else None
    said = pronouns[-1] if pronouns else None
    his = _PRONOUNS.get(_gender(story.entity.get(holder)))
    if said and his and said != his:
        return ""
    subject = _alone_before(draft, story, mention, sentence)
    is_said_of_them = subject is not None and said == _PRONOUNS.get(_gender(story.entity[subject]))
    return subject if is_said_of_them and said and subject != holder else None


def _is_theirs(draft: Draft, story: StoryBefore, mention: Mention, sentence: Span, actor: str, holder_id: str) -> bool:
    """Whether "in his hand" may be said of who has the thing: "her" in a clause that begins with a man is another's."""
    found = _IN_HAND.match(draft.plain, mention.end, sentence.end)
    if found is None:
        return True
    if found["whose"] == "my":
        return actor == draft.narrator_id
    whose = "male" if found["whose"] == "his" else "female"
    others = {"male": "female", "female": "male"}[whose]
    return whose == _gender(story.entity.get(actor)) or others == _gender(story.entity.get(holder_id))


_OWN = re.compile(r"\b(?:own|still)\b|自家|自己|还|仍|依旧|依然")


def _is_on_stage(draft: Draft, entity_id: str) -> bool:
    return entity_id == draft.narrator_id or any(
        each.entity_id == entity_id and draft.speech_at(each.start) is None for each in draft.mentions
    )


def _named_subject(draft: Draft, story: StoryBefore, part: Span) -> str | None:
    """The last character whom a part of a sentence names at the beginning of a clause, where no pronoun follows."""
    named = [
        each
        for each in _people(draft, story, part)
        if _begins_clause(draft.plain[part.start : each.start], draft.plain[each.end : each.end + 2])
    ]
    if not named or _SUBJECT.search(draft.plain, named[-1].end, part.end):
        return None
    return named[-1].entity_id


def _alone_before(draft: Draft, story: StoryBefore, mention: Mention, sentence: Span) -> str | None:
    """The subject of the sentence before, in the same paragraph, where none but them is named up to the thing."""
    at = draft.sentence_index_at(sentence.start) or 0
    previous = draft.sentences[at - 1] if at else None
    if previous is None or "\n" in draft.plain[previous.start : sentence.start]:
        return None
    subject = _named_subject(draft, story, previous)
    named = {each.entity_id for each in _people(draft, story, Span(previous.start, mention.start))}
    return subject if named == {subject} else None


def _people(draft: Draft, story: StoryBefore, part: Span) -> list[Mention]:
    return [
        each
        for each in draft.mentions
        if part.start <= each.start < part.end
        and story.entity[each.entity_id].entity_type == "character"
        and draft.speech_at(each.start) is None
    ]


_PRONOUNS: dict[str | None, str] = {"male": "he", "female": "she"}

_WHERE = re.compile(wording("holders_where"))
"""A place or time with which a sentence begins, before whom it tells of."""


def _begins_clause(before: str, after: str) -> bool:
    if after[:1] in "的之被与同和及、’'" and after:
        return False
    return (
        re.search(r"(?:^|[，；：。！？”」\n][那这却只见忽]{0,2}|[,;:—] |, and |; and )$|^[那这却只见忽]{1,2}$", before)
        is not None
        or _WHERE.search(before) is not None
    )


def _gender(entity: Entity | None) -> str | None:
    return None if entity is None else entity_gender(entity)


def _issue(
    draft: Draft, story: StoryBefore, mention: Mention, sentence: Span, keeping: Keeping, name: str
) -> ContinuityIssue:
    return finding(
        "kept", draft, story, tight(draft.text, sentence), keeping.evidence,
        kind="object_holder", rule="wrong_hands", confidence=0.7,
        entity_ids=[each for each in (mention.entity_id, keeping.holder_id) if each],
        thing=name, holder=story.name(keeping.holder_id),
    )  # fmt: skip
