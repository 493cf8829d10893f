"""Two memories of different scenes that tell the same: one stands for both from the later scene on."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.models.record import RecordedMemory, RecordedRepetition, SceneRecord


def with_joined_memory(records: Sequence[SceneRecord], gone_id: str, stays_id: str) -> list[SceneRecord] | None:
    """Return records in which one memory stands for another, or None where they cannot become one.

    The later of the two is what changes, so that whoever reads only up to the earlier scene finds what it had. Where
    the later one stays, it supersedes the other; where it goes, its scene keeps a repetition of the one that stays,
    and whatever spoke of it speaks of that one.
    """
    order = {memory.memory_id: (at, memory) for at, record in enumerate(records) for memory in record.memories}
    if gone_id not in order or stays_id not in order:
        return None
    (gone_at, gone), (stays_at, stays) = order[gone_id], order[stays_id]
    if stays_at > gone_at:
        if stays.supersedes not in (None, gone_id):
            return None
        ended = stays.model_copy(update={"supersedes": gone_id})
        return [_with_memory(record, ended) if at == stays_at else record for at, record in enumerate(records)]
    if gone.supersedes is not None:
        # What it ended would hold again.
        return None
    return [_without(record, gone, stays_id) for record in records]


def _with_memory(record: SceneRecord, memory: RecordedMemory) -> SceneRecord:
    memories = [memory if each.memory_id == memory.memory_id else each for each in record.memories]
    return record.model_copy(update={"memories": memories})


def _without(record: SceneRecord, gone: RecordedMemory, stays_id: str) -> SceneRecord:
    memories = []
    for each in record.memories:
        if each.memory_id != gone.memory_id:
            named = {name: stays_id for name in ("supersedes", "contradicts") if getattr(each, name) == gone.memory_id}
            memories.append(each.model_copy(update=named))
    repeated = list(record.memories_repeated)
    if len(memories) < len(record.memories):
        repeated.append(RecordedRepetition(memory_id=gone.memory_id, evidence=gone.evidence))
    now = {gone.memory_id: stays_id}
    return record.model_copy(
        update={
            "memories": memories,
            "memories_repeated": [
                each.model_copy(update={"memory_id": now.get(each.memory_id, each.memory_id)}) for each in repeated
            ],
            "learned": [
                each.model_copy(
                    update={"memory_ids": list(dict.fromkeys(now.get(one, one) for one in each.memory_ids))}
                )
                for each in record.learned
            ],
        }
    )
