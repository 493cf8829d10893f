"""Secrets of a character: conditions of telling and detection of leaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, model_validator

from novelgen.characters.dispositions import Disposition
from novelgen.characters.memory import CharacterMemory
from novelgen.characters.mind import Mind
from novelgen.errors import UnknownIdError
from novelgen.language.language import CJK_RANGES, FUNCTION_WORDS, has_cjk, word_list
from novelgen.language.normalise import fold_width, name_key
from novelgen.language.sentences import Span, split_sentences
from novelgen.models.state import DIMENSION_RANGES
from novelgen.nearest import did_you_mean

MAX_SECRET_CHARACTERS = 2_000

SecretStanding = Literal["locked", "hinted", "unlocked", "known"]
"""What a listener may hear: nothing, a hint, the secret; or it has been told to them already."""


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


class UnlockConditions(BaseModel):
    """Conditions that must all hold before something may be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trust: int | None = Field(default=None, description="At least so much.")
    respect: int | None = None
    affection: int | None = None
    fear: int | None = Field(default=None, description="At least so much: what only threats bring out.")
    familiarity: int | None = None
    flags: dict[str, Any] = Field(default_factory=dict, description="Flags of the story and the values they must have.")
    items: list[str] = Field(default_factory=list, description="Things that the listener must have shown.")

    @model_validator(mode="before")
    @classmethod
    def _in_short_forms(cls, value: Any) -> Any:
        """Accept one flag or item in place of many, and names of flags that must be true."""
        if not isinstance(value, Mapping):
            return value
        fields = dict(value)
        flags: dict[Any, Any] = {}
        for part in (fields.pop("flag", []), fields.pop("flags", [])):
            if not isinstance(part, Mapping) and not all(isinstance(item, str) for item in _as_list(part)):
                return {**fields, "flags": part}
            flags |= part if isinstance(part, Mapping) else dict.fromkeys(_as_list(part), True)
        items = [*_as_list(fields.pop("item", [])), *_as_list(fields.pop("items", []))]
        return {**fields, **({"flags": flags} if flags else {}), **({"items": items} if items else {})}

    def hold(self, disposition: Disposition, *, flags: Mapping[str, Any], items: Iterable[str]) -> bool:
        """Tell whether all of them hold."""
        shown_keys = {_item_key(item_id) for item_id in items}
        for dimension in DIMENSION_RANGES:
            least = getattr(self, dimension)
            if least is not None and getattr(disposition, dimension) < least:
                return False
        return all(name in flags and flags[name] == value for name, value in self.flags.items()) and all(
            _item_key(item) in shown_keys for item in self.items
        )


class SecretHint(BaseModel):
    """A hint that may come before a secret may be told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_SECRET_CHARACTERS)
    unlock: UnlockConditions = UnlockConditions()

    @model_validator(mode="before")
    @classmethod
    def _in_short_forms(cls, value: Any) -> Any:
        return _with_conditions(value, text_names=("text", "hint"))


class Secret(BaseModel):
    """A fact that a character tells only under conditions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    secret_id: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=MAX_SECRET_CHARACTERS)
    unlock: UnlockConditions = UnlockConditions()
    never: bool = Field(default=False, description="No condition ever unlocks it.")
    hints: list[SecretHint] = Field(default_factory=list, description="The vaguest first.")
    key_words: list[str] = Field(
        default_factory=list, description="Words of which a single one gives it away, such as a password."
    )

    @model_validator(mode="before")
    @classmethod
    def _in_short_forms(cls, value: Any) -> Any:
        """Accept the seed's keys: `secret`, `unlock_trust`, `unlock_affection`, …"""
        fields = _with_conditions(value, text_names=("text", "secret"))
        if isinstance(fields, dict) and "hint" in fields:
            fields["hints"] = [fields.pop("hint"), *fields.get("hints", [])]
        if isinstance(fields, dict) and isinstance(fields.get("text"), str):
            # The seed's entries have no id: the same words are the same secret, and an id tells nothing of them, for
            # it is shown where the text must not be.
            fields.setdefault(
                "secret_id", f"secret-{sha256(fields['text'].encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
            )
        return fields

    def standing(
        self, disposition: Disposition, *, flags: Mapping[str, Any], items: Iterable[str] = (), is_known: bool = False
    ) -> SecretStanding:
        """Return the parts of the secret open to a listener."""
        if is_known:
            return "known"
        shown_texts = list(items)
        if not self.never and self.unlock.hold(disposition, flags=flags, items=shown_texts):
            return "unlocked"
        return "hinted" if self.hint(disposition, flags=flags, items=shown_texts) else "locked"

    def hint(self, disposition: Disposition, *, flags: Mapping[str, Any], items: Iterable[str] = ()) -> str | None:
        """Return the plainest permitted hint, or None."""
        shown_texts = list(items)
        held_texts = [
            secret_hint.text
            for secret_hint in self.hints
            if secret_hint.unlock.hold(disposition, flags=flags, items=shown_texts)
        ]
        return held_texts[-1] if held_texts else None


def _with_conditions(secret: Any, *, text_names: tuple[str, str]) -> Any:
    """Put the conditions that stand flat among the fields (`unlock_trust`) where they belong."""
    if isinstance(secret, str):
        return {"text": secret}
    if not isinstance(secret, Mapping):
        return secret
    fields = dict(secret)
    name, other_name = text_names
    if other_name in fields and name not in fields:
        fields[name] = fields.pop(other_name)
    flat = {key: fields.pop(key) for key in list(fields) if str(key).startswith("unlock_")}
    if flat:
        inner = fields.get("unlock") or {}
        inner = inner.model_dump(exclude_unset=True) if isinstance(inner, BaseModel) else dict(inner)
        fields["unlock"] = {**inner, **{key.removeprefix("unlock_"): value for key, value in flat.items()}}
    return fields


_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)


def _item_key(name: str) -> str:
    """The comparison key of an item: "the brass key" equals "Brass Key"."""
    bare = name.strip()
    article = _ARTICLE.match(bare)
    return name_key(bare[article.end() :] if article else bare)


def require_secret(secrets: Sequence[Secret], secret_id: str) -> Secret:
    """Return the secret of that id."""
    secret = next((secret for secret in secrets if secret.secret_id == secret_id), None)
    if secret is None:
        known_ids = [secret.secret_id for secret in secrets]
        raise UnknownIdError(
            f"there is no secret {secret_id!r}{did_you_mean(secret_id, known_ids)}; keep it first with keep_secret"
        )
    return secret


# --- Texts that give a secret away ---


class SecretTrace(NamedTuple):
    """A piece of a text that gives a secret away, at the characters [start, end)."""

    start: int
    end: int
    how: Literal["verbatim", "near_verbatim", "key_word", "key_facts"]


NEAR_VERBATIM_SHARE = 0.6
"""Sentences in a row that hold so much of a secret's words tell it in nearly its own."""

MAX_SENTENCES = 3
"""So many sentences in a row are looked at together."""

CLAUSE_SHARE = 0.7
"""Of one clause of a secret that says several things: who tells one of them tells enough."""

LEAST_CLAUSE_TERMS = 5

LEAST_CLAUSE_PAIRS = 7
"""Pairs of Chinese characters overlap, so that few of them are soon together by chance."""

LEAST_TERMS = 3
"""A secret of fewer telling words is looked for as it stands: two words meet by chance."""

LEAST_TERMS_AT_NUMBER = 6

KEY_FACTS = 2
"""Names and numbers of a secret that give it away when they stand in one sentence with a further word of it.

A number of several digits counts as two: nobody says 300 by chance where he speaks of the mill and of gold.
"""

_WORD = re.compile(rf"[^\W_{CJK_RANGES}]+(?:['’][^\W_]+)*")
_CJK_RUN = re.compile(f"[{CJK_RANGES}]+")
_CLAUSE_END = re.compile(
    r"[,;:.!?—，；：。！？]|\b(?:and|but|so that|because|when|while|who|which|where)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")
_NUMBER_WORDS = frozenset(word_list("secrets_number_words"))
_CHINESE_NUMBER = re.compile("[一二三四五六七八九十百千万两]{2,}")
_LOOSE = re.compile(r"[\W_]+")
_CHINESE_FUNCTION = frozenset(
    "的了着是在把被将和与及就都也还又而但或者吗呢吧啊这那个们我你他她它您之其不有为到去来给让对从向"
)


class _Terms(NamedTuple):
    """The terms of a text: significant words, Chinese bigrams, names and numbers."""

    words: frozenset[str]
    facts: frozenset[frozenset[str]]


def find_secret(
    text: str, secret: Secret, *, own_names: Sequence[str] = (), said_names: Sequence[str] = ()
) -> SecretTrace | None:
    """Return the first piece of a text that gives a secret away, or None.

    It is found as it stands, told in nearly its own words, by a word that gives it away alone, or by its names and
    numbers together. What is told in wholly other words is not found: no rule of letters can.
    """
    whole = _whole(secret.text)
    for key_word in secret.key_words:
        at = fold_width(text).casefold().find(fold_width(key_word).casefold())
        if key_word.strip() and at >= 0:
            return SecretTrace(at, at + len(key_word), "key_word")
    ignored = _ignored((*own_names, *said_names))
    terms = _terms(secret.text, ignored)
    # Stems are beginnings of words: what does not even hold them as letters need not be read word by word.
    letters = text.casefold() if text.isascii() else fold_width(text).casefold()
    if len(terms.words) >= LEAST_TERMS and sum(word in letters for word in terms.words) < LEAST_TERMS:
        return None
    is_verbatim = bool(whole) and whole in _loose(text)
    if not is_verbatim and len(terms.words & _read_terms(text, ignored).words) < LEAST_TERMS:
        return None
    clauses = _clauses(secret.text, ignored)
    sentences = split_sentences(text)
    for width in range(1, MAX_SENTENCES + 1):
        for first in range(len(sentences) - width + 1):
            span = Span(sentences[first].start, sentences[first + width - 1].end)
            how = _gives_away(text[span.start : span.end], whole, terms, clauses, ignored, is_one=width == 1)
            if how is not None:
                return SecretTrace(span.start, span.end, how)
    return SecretTrace(0, len(text), "verbatim") if is_verbatim else None


def _gives_away(
    piece: str, whole: str, terms: _Terms, clauses: Sequence[_Terms], ignored: frozenset[str], *, is_one: bool
) -> Literal["verbatim", "near_verbatim", "key_facts"] | None:
    if whole and whole in _loose(piece):
        return "verbatim"
    matching_terms = _read_terms(piece, ignored)
    shared = terms.words & matching_terms.words
    if len(terms.words) >= LEAST_TERMS and len(shared) >= max(LEAST_TERMS, NEAR_VERBATIM_SHARE * len(terms.words)):
        return "near_verbatim"
    if any(len(terms.words & matching_terms.words) >= CLAUSE_SHARE * len(terms.words) for terms in clauses):
        return "near_verbatim"
    facts = [fact for fact in terms.facts if fact <= matching_terms.words]
    weight = sum(2 if any(map(_is_long_number, fact)) else 1 for fact in facts)
    if is_one and weight >= KEY_FACTS and len(shared) > sum(map(len, facts)):
        # A Chinese number and what it counts overlap in pairs: 四十两银子 alone is four of them.
        has_number = any(_CHINESE_NUMBER.fullmatch(word) for fact in facts for word in fact)
        least = LEAST_TERMS_AT_NUMBER if has_number else LEAST_TERMS
        return "key_facts" if len(shared) >= least else None
    return None


@lru_cache(maxsize=1024)
def _ignored(names: tuple[str, ...]) -> frozenset[str]:
    """The words of names, which say nothing."""
    return frozenset(word for name in names for word in _read_terms(name, frozenset()).words)


@lru_cache(maxsize=1024)
def _clauses(text: str, ignored: frozenset[str]) -> tuple[_Terms, ...]:
    """The significant clauses of a secret, none for a single statement."""
    parts = [_read_terms(part, ignored) for part in _CLAUSE_END.split(text) if part.strip()]
    least = LEAST_CLAUSE_PAIRS if has_cjk(text) else LEAST_CLAUSE_TERMS
    return tuple(part for part in parts if len(part.words) >= least) if len(parts) > 1 else ()


def _read_terms(text: str, ignored: frozenset[str]) -> _Terms:
    folded_text = fold_width(text)
    words: set[str] = set()
    facts: list[set[str]] = []
    last_end = -1
    for match in _WORD.finditer(folded_text):
        word = match.group().removesuffix("'s").removesuffix("’s")
        key = _stem(word.casefold())
        if word.casefold() in FUNCTION_WORDS or key in ignored or len(word) < 2:
            continue
        words.add(key)
        before = folded_text[: match.start()].rstrip()
        opens = not before or before[-1] in '.!?"“'
        if _NUMBER.search(word) or word.casefold() in _NUMBER_WORDS or (word[0].isupper() and not opens):
            # Capitalised words in a row are one name.
            if facts and word[0].isupper() and folded_text[last_end : match.start()] == " ":
                facts[-1].add(key)
            else:
                facts.append({key})
            last_end = match.end()
    for run in _CJK_RUN.findall(folded_text):
        for at in range(len(run) - 1):
            pair = run[at : at + 2]
            if pair not in ignored and not _CHINESE_FUNCTION.intersection(pair):
                words.add(pair)
        for number in _CHINESE_NUMBER.findall(run):
            words.add(number)
            facts.append({number})
    return _Terms(frozenset(words), frozenset(map(frozenset, facts)))


_terms = lru_cache(maxsize=1024)(_read_terms)
"""The same of a secret, which is asked of every sentence."""


def _is_long_number(word: str) -> bool:
    return (_NUMBER.fullmatch(word) is not None and len(word) > 1) or bool(_CHINESE_NUMBER.fullmatch(word))


def _stem(word: str) -> str:
    """Take off the commonest endings, so that "hides" and "hiding" are one word."""
    for ending in ("ing", "ies", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _loose(text: str) -> str:
    """A text without marks, spaces and case, in which the same words are found however they are set."""
    return _LOOSE.sub("", fold_width(text).casefold())


_whole = lru_cache(maxsize=1024)(_loose)
"""The same of a secret."""


SECRET_DETAIL = "secret"
"""Under this name the details of a memory say which secret it tells: `details={"secret": "the-deal"}`."""


_SecretRequest = tuple[tuple[tuple[str, str, tuple[str, ...]], ...], tuple[str, ...]]
_PLACES_BY_MIND: WeakKeyDictionary[Mind, dict[_SecretRequest, list[int]]] = WeakKeyDictionary()


def withheld_places(mind: Mind, closed: Sequence[Secret], *, own_names: Sequence[str] = ()) -> list[int]:
    """Return the places of the memories that tell a secret, marked so or by their text, or stand for such.

    What such a memory put an end to is withheld, too: that it is over would tell that there is something newer.
    """
    request_key = tuple((secret.secret_id, secret.text, tuple(secret.key_words)) for secret in closed), tuple(own_names)
    places_by_request = _PLACES_BY_MIND.setdefault(mind, {})
    if request_key not in places_by_request:
        ids = {secret.secret_id for secret in closed}
        places = {
            place
            for place, memory in enumerate(mind.memories if closed else ())
            if memory.details.get(SECRET_DETAIL) in ids or any(_tells(text, request_key) for text in _texts(memory))
        }
        told_ids = {mind.memories[place].memory_id for place in places}
        places |= {
            place
            for place, memory in enumerate(mind.memories)
            if told_ids.intersection(memory.stands_for) or memory.superseded_by in told_ids
        }
        places_by_request[request_key] = sorted(places)
    return places_by_request[request_key]


@lru_cache(maxsize=50_000)
def _tells(text: str, secret_request: _SecretRequest) -> bool:
    """Return whether a text reveals one of the secrets."""
    return any(find_secret(text, secret, own_names=secret_request[1]) for secret in _secrets(secret_request))


@lru_cache(maxsize=64)
def _secrets(secret_request: _SecretRequest) -> list[Secret]:
    return [Secret(secret_id=name, text=text, key_words=list(words)) for name, text, words in secret_request[0]]


def without_secrets(text: str, closed: Sequence[Secret], *, own_names: Sequence[str] = ()) -> str:
    """Return the lines of a text that tell none of the secrets."""
    return "\n".join(
        line
        for line in text.split("\n")
        if not any(find_secret(line, secret, own_names=own_names) for secret in closed)
    )


def _texts(memory: CharacterMemory) -> list[str]:
    """Return everything of a memory that a recall gives out."""
    texts = [
        text
        for text in (memory.content, memory.short, memory.emotion, memory.location, memory.slot)
        if text is not None and len(text) > 0
    ]
    details = {name: value for name, value in memory.details.items() if name != SECRET_DETAIL}
    return [*texts, json.dumps(details, ensure_ascii=False, default=str)] if details else texts
