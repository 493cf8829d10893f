"""A vector store that this process opens itself, called with a deadline."""

import threading
from functools import partial
from typing import Any

from novelgen import errors
from novelgen.deadlines import Deadline, call_with_deadline
from runtime.index.langchain_index import Collections, VectorStoreFactory
from runtime.index.vector_index import Collection, IndexAccess


class SameProcessIndex(IndexAccess):
    """Collections of a vector store that runs in this process, unlike those of `IndexProcess`."""

    def __init__(self, factory: VectorStoreFactory) -> None:
        super().__init__(None)
        self._collections = Collections(factory)
        self._turn = threading.Lock()

    def call(self, operation: str, deadline: Deadline, *, collection: Collection, **arguments: Any) -> Any:
        """Run one operation.

        See `IndexAccess`.
        """
        self.breaker.refuse_if_open()
        work = partial(self._do, operation, collection, arguments)
        try:
            answer = call_with_deadline(work, timeout_s=deadline.remaining_s, stage=f"index-{operation}")
        except errors.DeadlineExceededError as error:
            self.breaker.failed(f"{operation} did not return in time")
            raise errors.DeadlineExceededError(f"{operation} on the vector store did not return in time") from error
        self.breaker.succeeded()
        return answer

    def _do(self, operation: str, collection: Collection, arguments: dict[str, Any]) -> Any:
        with self._turn:
            try:
                return self._collections.do(operation, collection, **arguments)
            except errors.NovelgenError:
                raise
            except Exception as error:
                raise self._collections.index_error(error) from error
