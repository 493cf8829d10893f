"""The closed list of event types of a memory."""

from __future__ import annotations

EVENT_TYPES: frozenset[str] = frozenset(
    """
    event conversation discovery secret_learned secret_kept secret_revealed promise_made promise_kept
    promise_broken gift transfer injury death fight journey arrival departure decision plan deception
    disguise identity_revealed relationship_change alliance_formed alliance_broken trust_gained trust_lost
    obligation debt goal_change rule_or_canon place_change theft threat rescue betrayal confession other
    """.split()
)
OTHER_EVENT = "other"
