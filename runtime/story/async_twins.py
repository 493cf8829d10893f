"""An async twin for a method that blocks: the same body, in a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def async_twin(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
    """Return a coroutine method that does what a method does, without blocking the event loop.

    It has the method's arguments, result and errors, for type checkers and `help` too. What callbacks and
    tracing keep in context variables goes with it.
    """

    @wraps(method)
    async def twin(self: Owner, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await asyncio.to_thread(method, self, *args, **kwargs)

    owner, _, name = method.__qualname__.rpartition(".")
    twin.__name__, twin.__qualname__ = f"a{name}", f"{owner}.a{name}"
    twin.__doc__ = f"Do the same as `{name}` without blocking the event loop: the same arguments and results."
    return twin
