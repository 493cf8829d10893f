"""Waiting for the process of the index before the first question."""

from pathlib import Path

import pytest

from novelgen.errors import DeadlineExceededError, VectorIndexOwnedError
from runtime.index.locations import EmbeddedIndex, IndexOwnership
from tests.runtime.index.conftest import OpenManager


def test_waiting_leaves_a_process_that_runs_and_an_index_untouched(open_manager: OpenManager, tmp_path: Path) -> None:
    """After the wait the process is there; nothing of the index was opened or made."""
    manager = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    manager.wait_started(timeout_s=60)
    assert manager.process.pid is not None
    assert not (tmp_path / "vectors").exists()
    assert manager.count("nobody") == 0


def test_waiting_ends_in_its_time_and_the_start_goes_on(open_manager: OpenManager, tmp_path: Path) -> None:
    """A wait that is too short is told as such and harms nothing."""
    manager = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    with pytest.raises(DeadlineExceededError, match="still starting"):
        manager.wait_started(timeout_s=0.001)
    manager.wait_started(timeout_s=60)
    assert not manager.is_refusing


def test_waiting_for_an_index_of_another_owner_is_refused(open_manager: OpenManager, tmp_path: Path) -> None:
    """An index that somebody else has open is not waited for."""
    location = EmbeddedIndex(tmp_path / "vectors")
    ownership = IndexOwnership(location)
    ownership.acquire()
    try:
        with pytest.raises(VectorIndexOwnedError, match="owned by process"):
            open_manager(location).wait_started(timeout_s=60)
    finally:
        ownership.release()
