"""Options for a block of calls."""

from collections.abc import Iterator
from contextlib import contextmanager

from kernelfunctions._kf import _enter_options, _leave_options


@contextmanager
def options(*, deterministic: bool | None = None) -> Iterator[None]:
    """Options of all functions called inside: `with kf.options(deterministic=True): ...`.

    They hold for the thread or asyncio task that enters the block, go before those of set_options() and of
    blocks around, and behind a function's own options(). Also a decorator of plain functions: one of
    coroutines and generators would be left before they run.
    """
    token = _enter_options(deterministic=deterministic)
    try:
        yield
    finally:
        _leave_options(token)
