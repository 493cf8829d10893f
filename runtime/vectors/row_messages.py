"""Index rows and hits on the channel between the program and the process of its index."""

from __future__ import annotations

from runtime.vectors.frames import Head
from runtime.vectors.row_metadata import decode_position, encode_metadata
from runtime.vectors.rows import IndexHit, IndexRow


def row_to_wire(row: IndexRow) -> Head:
    """Write a row but for its vector, which travels as raw bytes."""
    return {
        "chunk_id": row.chunk_id,
        # Chroma cannot take half characters; the index is derived, so they may be replaced here.
        "content": row.content.encode("utf-8", "replace").decode("utf-8"),
        "metadata": encode_metadata(
            project_id=row.project_id,
            chapter_index=row.chapter_index,
            scene_index=row.scene_index,
            source_id=row.source_id,
            content_type=row.content_type,
        ),
    }


def hit_from_wire(hit: Head) -> IndexHit:
    """Read back a row that was found."""
    metadata = hit["metadata"]
    chapter_index, scene_index = decode_position(metadata)
    return IndexHit(
        chunk_id=hit["chunk_id"],
        project_id=metadata["project_id"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        source_id=metadata["source_id"] or None,
        content=hit["content"],
        content_type=metadata["content_type"],
        similarity=hit["similarity"],
    )
