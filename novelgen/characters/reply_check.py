"""Checks of a character's reply: leaked secrets, unknown people, reversed facts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from novelgen.characters.secrets import Secret, find_secret
from novelgen.language.candidates import find_name_candidates
from novelgen.language.language import (
    CJK_RANGES,
    StoryLanguage,
    has_cjk,
    story_language,
    word_list,
    word_pattern,
    wording,
)
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import name_key
from novelgen.language.sentences import split_sentences
from novelgen.nearest import nearest_name
from novelgen.words import words

PLAYER_NAME_SLOT = "player_name"

DEATH_SLOT = "npc_death_status"
"""Followed by who is dead: `npc_death_status:Mira`."""

FindingKind = Literal["leaked_secret", "unknown_name", "contradicted_slot"]


class ReplyFinding(BaseModel):
    """Something in a reply that must not be said."""

    kind: FindingKind
    quote: str
    start: int = Field(description="First character of the quote within the reply.")
    end: int
    message: str = Field(description="What is wrong, in the language of the story.")
    evidence: str = Field(
        default="", description="What it goes against: a slot's value, the id of a secret, a name that is meant."
    )


class KnownSlot(NamedTuple):
    """A character's value in a slot."""

    slot: str
    value: str
    content: str = ""
    earlier: tuple[str, ...] = ()


class ReplyGround(NamedTuple):
    """The knowledge against which a reply is checked."""

    closed_secrets: Sequence[Secret] = ()
    known_names: Sequence[str] = ()
    known_text: str = ""
    slots: Sequence[KnownSlot] = ()
    own_names: Sequence[str] = ()
    listener_names: Sequence[str] = ()
    language: StoryLanguage = "en"


def check_reply(text: str, ground: ReplyGround) -> list[ReplyFinding]:
    """Find problems in a reply before it is stored."""
    against = list(_contradictions(text, ground))
    ranges = [range(finding.start, finding.end) for finding in against]
    # Of a name and a part of it, such as Matthias Wren and Wren, the whole one is told.
    whole = [
        finding
        for finding in against
        if not any(
            finding.start in span and finding.end <= span.stop and len(finding.quote) < len(span) for span in ranges
        )
    ]
    findings = [*_leaks(text, ground), *whole]
    findings += [
        finding for finding in _unknown_names(text, ground) if not any(finding.start in span for span in ranges)
    ]
    return sorted(findings, key=lambda finding: (finding.start, finding.end, finding.kind))


def _finding(kind: FindingKind, text: str, start: int, end: int, *, message: str, evidence: str) -> ReplyFinding:
    return ReplyFinding(kind=kind, quote=text[start:end], start=start, end=end, message=message, evidence=evidence)


# --- Secrets ---


def _leaks(text: str, ground: ReplyGround) -> Iterator[ReplyFinding]:
    for secret in ground.closed_secrets:
        trace = find_secret(text, secret, own_names=ground.own_names, said_names=ground.listener_names)
        if trace is None:
            continue
        kind = "leaked_for_ever" if secret.never else "leaked"
        message = words("characters", ground.language).text(f"reply.{kind}", secret=secret.secret_id)
        yield _finding("leaked_secret", text, trace.start, trace.end, message=message, evidence=secret.secret_id)


# --- People that nobody knows ---

_ADDRESSES = frozenset(word_list("reply_check_addresses"))
"""Capitalised by some writers although they name nobody."""

_OPENING_SUBJECT = re.compile(
    r"(?P<name>[A-Z][a-zà-öø-ÿ]{2,}) (?:said|says|told|tells|swears|swore|thinks|knows|knew|saw|heard|came|went|asked|"
    r"wants|wanted|lives|lived|died|is dead|gave|took|sold|brought|never|owes|owed|promised|warned|found)\b"
)
_NOT_SUBJECTS = frozenset(word_list("reply_check_not_subjects"))

_TRANSLITERATED = wording("reply_check_transliterated")
_TRANSLITERATION = re.compile(f"[{_TRANSLITERATED}]{{3,7}}(?:·[{_TRANSLITERATED}]{{1,7}})*")
_SURNAMES = wording("reply_check_surnames")
_SURNAME_TITLE = re.compile(
    rf"(?P<name>(?:老|小)?[{_SURNAMES}](?:掌柜|老板|大叔|大婶|大娘|大爷|婆婆|师傅|铁匠|木匠|屠户|先生|夫人|小姐|姑娘|公子|员外"
    r"|队长|将军|县令|长老|嫂子|嫂|婶|老头|老汉|头儿|捕头|头(?=说|告诉|来过)))"
)
_NICKNAMED = re.compile(
    rf"(?:^|[，。！？；、\s])(?P<name>[小阿老](?![人孩板天子姐妹哥弟兄乡爷头伙的是时心]|[{_SURNAMES}]头)[{CJK_RANGES}])"
    r"(?=说[他她你我]|告诉|也说|昨|来过)"
)
_LIKE_A_NAME = 0.7


def _unknown_names(text: str, ground: ReplyGround) -> Iterator[ReplyFinding]:
    known_names = [*ground.known_names, *ground.own_names, *ground.listener_names, *(s.value for s in ground.slots)]
    finder = NameFinder(known_names)
    ranges = [range(match.start, match.end) for match in finder.find(text)]
    # Whom a secret names is somebody of the story, too: that the secret slips is told already.
    statement = "\n".join([ground.known_text, *(secret.text for secret in ground.closed_secrets)]).casefold()
    # A name that several words make up is known by each of them.
    keys = {name_key(part) for name in known_names for part in (name, *name.replace("·", " ").split())}
    seen_names: set[str] = set()
    proposed = _chinese_people(text) if has_cjk(text) else ()
    for name, start in [*proposed, *_english_people(text)]:
        span = range(start, start + len(name))
        if name in seen_names or any(
            span.start < other_range.stop and other_range.start < span.stop for other_range in ranges
        ):
            continue
        # "Uncle Corwin" is Corwin.
        parts = [item for item in name.split() if item[0].isupper() and item.casefold() not in _ADDRESSES]
        parts = parts or [name]
        if has_cjk(name) and _is_surname_of(name, known_names):
            continue
        if name_key(name) in keys or all(name_key(part) in keys for part in parts):
            continue
        if name.casefold() in statement or all(
            re.search(rf"\b{re.escape(part.casefold())}\b", statement) for part in parts
        ):
            continue
        seen_names.add(name)
        suggestion = _meant_name(name, known_names)
        kind = "misspelt_name" if suggestion else "unknown_name"
        message = words("characters", ground.language).text(f"reply.{kind}", name=name, meant=suggestion)
        yield _finding("unknown_name", text, span.start, span.stop, message=message, evidence=suggestion or "")


def _is_surname_of(name: str, known_names: Sequence[str]) -> bool:
    """Return whether a surname and title mean a known person: 苏姑娘 for 苏晚棠."""
    if not _SURNAME_TITLE.fullmatch(name):
        return False
    surname = name[1] if name[0] in "老小" and len(name) > 2 and name[1] in _SURNAMES else name[0]
    return any(text[0] == surname and 2 <= len(text) <= 4 for text in known_names if text)


def _meant_name(name: str, known_names: Sequence[str]) -> str | None:
    """The known name of which it is a near misspelling: in Chinese, one of as many characters but for one."""
    if has_cjk(name):
        alike = (text for text in known_names if len(text) > 1 and abs(len(text) - len(name)) <= 1)
        near = (text for text in alike if len(set(text) & set(name)) >= max(len(text), len(name)) - 1)
        return next(near, None) or nearest_name(name, known_names, likeness=_LIKE_A_NAME)
    parts = [part for text in known_names for part in (text, *text.split()) if part[:1].isupper()]
    bare = [name, *(other_name for other_name in name.split() if len(other_name) > 2)]
    return next((result for text in bare if (result := nearest_name(text, parts, likeness=_LIKE_A_NAME))), None)


def _english_people(text: str) -> Iterator[tuple[str, int]]:
    """Yield capitalised names with their places, without mere sentence openings."""
    # Stage remarks in square brackets and asterisks are blanked out, every character stays in its place.
    bare = re.sub(r"\[[^\]]*\]|\*[^*]*\*", lambda match: " " * len(match.group()), text)
    lower = set(re.findall(r"\b[a-z]+\b", bare))
    openings = [match.start() for span in split_sentences(bare) if (match := _LETTER.search(bare, span.start))]
    for candidate in find_name_candidates([(1, 1, bare)], min_count=1):
        name = candidate.name
        is_thing = candidate.kind in ("item", "faction") or (
            candidate.kind == "location" and _is_place_only(bare, name)
        )
        # "of Tides" is the rest of a title: "the Book of Tides".
        if is_thing or has_cjk(name) or name.casefold() in _ADDRESSES or name.startswith("of "):
            continue
        at = bare.find(name)
        # A single word that merely begins a sentence is capitalised for that; whoever acts there is looked at below.
        begins = at in openings and " " not in name
        # "the Crown", "the Lanterns": no person.
        is_group = bare[max(0, at - 4) : at].casefold() == "the "
        if at >= 0 and not begins and not is_group and name.casefold() not in lower:
            yield name, at
    for opening in filter(None, (_OPENING_SUBJECT.match(bare, at) for at in openings)):
        if opening["name"].casefold() not in {*_NOT_SUBJECTS, *_ADDRESSES, *_COMMON, *lower}:
            yield opening["name"], opening.start("name")


_PLACE_BEFORE = r"(?:in|at|to|into|near|from|beyond|outside|towards?|through|reach|of|leave|via)"


def _is_place_only(text: str, name: str) -> bool:
    """Whether every mention stands where a place does, "the road to Ravenmoor", and not as "from Grigor, the …"."""
    escaped = re.escape(name)
    of_place = len(re.findall(rf"\b{_PLACE_BEFORE} (?:the )?{escaped}\b(?!, (?:the|my|our|a) )(?!'s)", text))
    heard_match = re.search(
        rf"\b(?:hear|heard|had it|bought|learnt|learned|word|letter)\b[^.!?]*\bfrom {escaped}\b", text
    )
    return heard_match is None and of_place == len(re.findall(rf"\b{escaped}\b", text))


_COMMON = frozenset("well now then there here yes no aye nay what why how who perhaps maybe never always".split())

_LETTER = re.compile(r"[^\W_]")


def _chinese_people(text: str) -> Iterator[tuple[str, int]]:
    """Yield Chinese names of people by surname, title, sound and context."""
    # Its dictionary takes a tenth of a second, which English never needs.
    import rjieba  # noqa: PLC0415

    for match in _SURNAME_TITLE.finditer(text):
        yield match["name"], match.start("name")
    for match in _NICKNAMED.finditer(text):
        yield match["name"], match.start("name")
    words: list[tuple[str, str, int]] = []
    at = 0
    for word, tag in rjieba.tag(text):
        start = text.find(word, at)
        at = start + len(word)
        words.append((word, tag, start))
    for index, (word, tag, start) in enumerate(words):
        if not tag.startswith("nr"):
            continue
        name, end = word, index + 1
        if len(word) == 1 and word in _SURNAMES and end < len(words) and len(words[end][0]) <= 2:
            name, end = word + words[end][0], index + 2
        is_like_one = name[0] in _SURNAMES and 2 <= len(name) <= 3 and name[-1] not in _PLACE_ENDS
        is_foreign = len(name) in (2, 3) and all(other_name in _TRANSLITERATED for other_name in name)
        acts = words[end][0].startswith(_DOES) if end < len(words) else False
        is_met = index > 0 and words[index - 1][0] in _MEETING_VERBS
        # Three characters that the dictionary takes for a name together are one wherever they stand.
        is_whole = len(word) == 3 and is_like_one and not _GRAMMAR.intersection(word)
        if is_whole or ((is_like_one or is_foreign) and (acts or is_met)):
            yield name, start
    ordinary = [
        range(start, start + len(word)) for word, tag, start in words if len(word) > 1 and tag not in _NAME_TAGS
    ]
    for match in _TRANSLITERATION.finditer(text):
        if not any(span.start < match.end() and match.start() < span.stop for span in ordinary):
            yield match.group(), match.start()


_GRAMMAR = frozenset("的了着过是在把被将和与及就都也还又而但或吗呢吧啊这那个们我你他她它去来说问给让骗要想会能")
_PLACE_ENDS = frozenset("子边里上下头面口旁外内前后")
_NAME_TAGS = frozenset(("nr", "nrt", "nrfg", "nz", "x", "ns", "n"))
_DOES = tuple(word_list("reply_check_does"))
_MEETING_VERBS = frozenset("听 问 找 问问 看见 见 见过 听见 跟 认识 惊动 是 叫 告诉 去找".split())


# --- Slots turned round ---

_GREETED = re.compile(
    r"\b(?i:welcome(?: back| again| home)?|hello|hail|greetings|good (?:morning|evening|day|night|afternoon)|farewell|"
    r"goodbye|thank you|thanks|well met|come in|sit down|safe travels|see you again|see you|listen|forgive me)"
    r"(?:, (?:my )?(?:dear|old) friend)?,? (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"
)
_NAME_PATTERN = re.compile(
    r"\b(?i:your name(?: is|'s|’s)|you are called|you're called|they call you|call you|you told me you (?:are|were)|"
    r"you go by)\s+(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"
)
_ADDRESSED = re.compile(
    r"\b(?i:you are|you're|you’re) (?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?!['’\w])(?! (?:and|or)\b)"
)
_NAMED_ZH = re.compile(rf"(?:你叫|你的名字是|你的名字叫|大家叫你|人们叫你|你就是)(?P<name>[{CJK_RANGES}·]{{2,8}})")
_GREETED_ZH = re.compile(
    rf"(?:欢迎回来|欢迎|你好|早上好|早安|晚安|晚上好|再见|谢谢你|多谢|保重|好久不见|又见面了)"
    rf"[，,、 ]\s*(?P<name>[{CJK_RANGES}·]{{2,6}})(?=[，。！？!,.…])"
)
_PAST = word_pattern("reply_check_past")
_CLAUSE = re.compile(r"[^.!?;:,。！？；：，—\n]+")
_YOU = re.compile(r"\b(?:you|your|you're|you've)\b|你|您", re.IGNORECASE)
_ALIVE = (
    r"(?: is| are)(?: still)? (?:alive|well|waiting|here|coming|home|in good health)|"
    r" (?:lives|will come|waits|sends|says hello|greets)|'s (?:alive|well|waiting|coming)"
)
_ALIVE_ZH = "(?:还|仍|正|现在)?(?:活着|在世|好好的|在等|等着|会来|要来|就来|让我告诉)"


def _contradictions(text: str, ground: ReplyGround) -> Iterator[ReplyFinding]:
    for slot in ground.slots:
        kind, _, whose = slot.slot.partition(":")
        if kind == PLAYER_NAME_SLOT:
            yield from _other_names(text, slot, ground)
        elif kind == DEATH_SLOT:
            for match in re.finditer(rf"{re.escape(whose or slot.value)}(?:{_ALIVE}|{_ALIVE_ZH})", text):
                yield _contradicted(text, match.start(), match.end(), slot, ground.language)
        else:
            yield from _earlier_values(text, slot, ground.language)


def _other_names(text: str, slot: KnownSlot, ground: ReplyGround) -> Iterator[ReplyFinding]:
    own = {name_key(part) for name in (slot.value, *ground.listener_names) for part in (name, *name.split())}
    people = {name_key(part) for name in ground.known_names for part in (name, *name.split())}
    others = people | {name_key(value) for value in slot.earlier}
    for pattern in (_NAME_PATTERN, _NAMED_ZH, _ADDRESSED, _GREETED, _GREETED_ZH):
        for match in pattern.finditer(text):
            name = match["name"].removesuffix("'s").removesuffix("’s")
            keys = {name_key(part) for part in (name, *name.split())}
            first = name.split()[0]
            if keys & own or not (first[0].isupper() or has_cjk(first)) or name.casefold() in _ADDRESSES:
                continue
            is_told = pattern in (_NAME_PATTERN, _NAMED_ZH)
            if has_cjk(name) and slot.value and name.startswith(slot.value):
                continue
            # A greeting may be for somebody else; only a name that somebody else bears, or that was theirs, counts.
            if is_told or keys & others:
                yield _contradicted(text, match.start("name"), match.start("name") + len(name), slot, ground.language)


def _earlier_values(text: str, slot: KnownSlot, language: StoryLanguage) -> Iterator[ReplyFinding]:
    """Find earlier values told as present ones about the listener."""
    for clause in _CLAUSE.finditer(text):
        piece = clause.group()
        addressed = _YOU.search(piece)
        if addressed is None or _PAST.search(piece) or _stands_in(slot.value, piece) is not None:
            continue
        for value in slot.earlier:
            at = _stands_in(value, piece)
            if value != slot.value and at is not None and at > addressed.start():
                start = clause.start() + at
                yield _contradicted(text, start, start + len(value), slot, language)


def _stands_in(value: str, piece: str) -> int | None:
    name_matches = NameFinder([value]).find(piece)
    if name_matches:
        return name_matches[0].start
    at = piece.casefold().find(value.casefold()) if len(value) > 2 else -1
    return at if at >= 0 else None


def _contradicted(text: str, start: int, end: int, slot: KnownSlot, language: StoryLanguage) -> ReplyFinding:
    catalogue = words("characters", language)
    kind, _, whose = slot.slot.partition(":")
    name = catalogue.get(f"slot.{kind}", kind)
    name = catalogue.text("reply.slot_about", slot=name, whose=whose) if whose else name
    message = catalogue.text("reply.contradicted", quote=text[start:end], slot=name, value=slot.value)
    evidence = slot.content or f"{slot.slot}={slot.value}"
    return _finding("contradicted_slot", text, start, end, message=message, evidence=evidence)


# --- Values of slots ---

_SAID_VALUE: Mapping[StoryLanguage, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:name is|name's|called|named|goes by|known as|serves|loyal to|sided with|allied with|believe[s]? that|"
        r"is now with|rides with|works for|is dead|died|call(?:s|ed)? (?:her|him|them|me|my)(?:self|selves)?)[ :]+"
        r"(?:really |actually )?(?P<value>[^.,;!?]+)"
    ),
    "zh": re.compile(
        rf"(?:名字是|真名其实叫|真名叫?|名叫|叫做|叫作|名为|姓名[是：:]|效忠于?|投靠了?|站在|自称|叫)[“「]?(?P<value>[{CJK_RANGES}·A-Za-z]{{1,20}})"
    ),
}


def slot_value(slot: str, content: str) -> str:
    """Return the slot's value from its remembered sentence."""
    match = _SAID_VALUE[story_language(content)].search(content)
    value = match["value"] if match else content
    if slot.partition(":")[0] == PLAYER_NAME_SLOT and not has_cjk(value):
        capitals = [capital for capital in _CAPITALS.finditer(value.strip()) if (capital.start() == 0) == bool(match)]
        # In a sentence that says none of the words by which names are told, the only name; its first word is none.
        names = [capital.group() for capital in capitals if match or capital.group() != "I"]
        value = names[0] if len(names) == 1 else value
    return value.strip(" .。！!“”「」\"'")


_CAPITALS = re.compile(r"[A-Z][\w'’-]*(?: (?:of |the |von |de )?[A-Z][\w'’-]*)*")


def known_slots(active: Iterable[tuple[str, str]], earlier: Mapping[str, Sequence[str]]) -> list[KnownSlot]:
    """Return slots with their values, from the sentences that are remembered of them."""
    return [
        KnownSlot(
            slot, slot_value(slot, content), content, tuple(slot_value(slot, text) for text in earlier.get(slot, ()))
        )
        for slot, content in active
    ]
