"""Threads that take turns at what there is too little of."""

import threading

import pytest

from runtime.index.offline_embeddings import Turns


def test_those_who_wait_are_let_in_as_they_came() -> None:
    """Nobody is overtaken while all places are taken, and no more work at once than there are places."""
    turns = Turns(1)
    order: list[int] = []
    threads = []

    def work(number: int) -> None:
        with turns.turn():
            order.append(number)

    with turns.turn():
        for number in range(4):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
            while turns.waiting <= number:
                threads[-1].join(0)
        assert order == []
    for thread in threads:
        thread.join(10)
    assert order == [0, 1, 2, 3]
    assert turns.waiting == 0


def test_a_turn_that_fails_gives_its_place_on() -> None:
    """An error within a turn leaves no place taken."""
    turns = Turns(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"), turns.turn():
            raise ValueError("no")
