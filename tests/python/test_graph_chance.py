"""What Python runs by chance while a graph's block is open: it runs at once, or is refused by name."""

import asyncio
import contextlib
import functools
import gc
import itertools
import signal
import sys
import threading
import time
import types
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from types import FrameType, ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import tensor
from loader import Loader
from refusals import refusal

FLOAT = np.dtype(np.float32)


class Watched:
    """What weak references are made to."""


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


def zeros() -> kf.Tensor:
    return tensor(np.zeros(4, FLOAT))


def total(x: kf.Tensor) -> float:
    return float(x.to_numpy().sum())


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of the exceptions that callbacks end with."""
    texts: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda given: texts.append(str(given.exc_value)))
    return texts


def test_references_whose_last_use_is_plain(calls: ModuleType) -> None:
    """No instruction but one that calls nothing drops the object: whatever the callback's parameters are."""
    x, recorded = zeros(), zeros()
    seen: list[object] = []

    def forgets(reference: object) -> None:
        del reference
        calls.advance(x, 1)

    def deeper(*rest: object) -> None:
        seen.extend(rest)

        def inner() -> None:
            calls.advance(x, 1)
            x[0] = 7

        inner()

    with kf.Graph() as g:
        for callback in (forgets, lambda _: calls.advance(x, 1), deeper):
            one = Watched()
            reference = weakref.ref(one, callback)
            del one
            two: Watched | None = Watched()
            again = weakref.ref(two, callback)
            two = None
            calls.advance(recorded, 1)
            assert (reference(), again()) == (None, None)
    assert len(g) == 3
    assert total(x) == 6 * 4 + 1  # the last callback sets an element of 6 to 7
    assert total(recorded) == 0
    assert len(seen) == 2


def test_references_at_a_modules_level(calls: ModuleType) -> None:
    x = zeros()
    code = """
with kf.Graph() as g:
    one = Watched()
    reference = weakref.ref(one, lambda _: calls.advance(x, 1))
    del one
    one = Watched()
    again = weakref.ref(one, lambda _: calls.advance(x, 1))
    one = None
    calls.advance(x, 1)
"""
    names: dict[str, Any] = {"kf": kf, "Watched": Watched, "weakref": weakref, "calls": calls, "x": x}
    exec(code, names)
    assert len(names["g"]) == 1
    assert total(x) == 8


def test_references_that_a_call_may_have_dropped(calls: ModuleType, unraisable: list[str]) -> None:
    """Nothing tells these from a call of the function with the same reference."""
    x = zeros()

    def advance(reference: object) -> None:
        calls.advance(x, 1)

    class Holder:
        def __init__(self) -> None:
            self.count = 0

        def went(self, *_: object) -> None:
            self.count += 1
            x.fill(2)

    holder = Holder()
    with kf.Graph() as g:
        for callback in (advance, holder.went, functools.partial(lambda _, _x: x.fill(3), 1)):
            held = [Watched()]
            reference = weakref.ref(held[0], callback)
            held.clear()
            assert reference() is None
        refused = refusal(kf.ArgumentError, lambda: advance(reference))
        # One that is alive says nothing.
        advance(weakref.ref(holder))
    assert holder.count == 1
    assert len(g) == 1
    assert total(x) == 0
    assert len(unraisable) == 3
    for text in (*unraisable, refused):
        assert "Graph: a function that was given a weak reference to an object that is gone" in text


def test_references_in_cycles(calls: ModuleType, unraisable: list[str]) -> None:
    x = zeros()
    cycle: Any = Watched()
    cycle.itself = cycle
    reference = weakref.ref(cycle, lambda _: calls.advance(x, 1))
    with kf.Graph() as g:
        del cycle
        gc.collect()
    assert reference() is None
    assert len(g) == 0
    assert total(x) == 0
    assert "weak reference" in unraisable[0]


def test_ends_of_generators_are_the_blocks(calls: ModuleType) -> None:
    """However the block ends them: what they do is recorded, as it is said there."""
    x = zeros()

    def each() -> Iterator[int]:
        try:
            yield 1
        finally:
            calls.advance(x, 1)

    with kf.Graph() as g:
        one = each()
        next(one)
        del one
        two = each()
        next(two)
        two.close()  # type: ignore[attr-defined]
        for _ in each():
            break
        three = each()
        next(three)
        three = iter(())
        next(each())
    assert len(g) == 5
    assert total(x) == 0
    g.replay()
    assert total(x) == 5 * 4


def test_frames_as_arguments(calls: ModuleType) -> None:
    """A function that looks at its caller's frame is called like any other."""
    x = zeros()

    def log(frame: FrameType | None, text: str = "") -> None:
        calls.advance(x, 1)

    with kf.Graph() as g:
        log(sys._getframe())
        log(frame=sys._getframe())
        log(sys._getframe(), "here")
    assert len(g) == 3
    assert total(x) == 0


def test_a_block_whose_opener_has_returned(calls: ModuleType) -> None:
    """Another frame may lie where the opener's did: what runs above it isn't taken for the block's."""
    x = zeros()

    def work(g: kf.Graph | None) -> None:
        if g is not None:
            g.__enter__()
        else:
            calls.advance(x, 1)

    class Finalized:
        def __del__(self) -> None:
            work(None)

    g = kf.Graph()
    work(g)
    one = Finalized()
    del one
    assert total(x) == 4
    work(None)
    g.__exit__(None, None, None)
    assert len(g) == 1
    assert total(x) == 4


def test_variables_of_callers_go_when_they_end(calls: ModuleType) -> None:
    x = zeros()
    seen: list[str] = []

    def helper(x: kf.Tensor) -> None:
        one = Watched()
        reference = weakref.ref(one, lambda _: seen.append("gone"))
        calls.advance(x, 1)
        del one
        seen.append("after")
        assert reference() is None

    with kf.Graph():
        helper(x)
    assert seen == ["gone", "after"]


def test_code_that_handlers_share(calls: ModuleType, handle: Callable[[Any], object]) -> None:
    """One decorator's functions have one code: those that no signal calls are recorded."""
    x = zeros()

    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*given: Any) -> Any:
            return function(*given)

        return wrapper

    handle(logged(lambda number, frame: None))
    step = logged(lambda x: calls.advance(x, 1))
    with kf.Graph() as g:
        step(x)
    assert len(g) == 1
    assert total(x) == 0


def wait_for_signal(seconds: float = 0.01) -> None:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    time.sleep(20 * seconds)


@pytest.fixture
def handle() -> Iterator[Callable[[Any], object]]:
    before = signal.getsignal(signal.SIGALRM)
    yield lambda handler: signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_signals_run(calls: ModuleType, handle: Callable[[Any], object]) -> None:
    x, recorded = zeros(), zeros()

    def handler(number: int, frame: FrameType | None) -> None:
        calls.advance(x, 1)
        with kf.Graph() as own:
            calls.advance(x, 1)
        own.replay()

    class Handler:
        def __call__(self, *_: object) -> None:
            self.helper()

        def helper(self) -> None:
            calls.advance(x, 1)

        def method(self, number: int, frame: object) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            self.helper()

    one = Handler()
    with kf.Graph() as g:
        for given in (handler, one, one.method, functools.partial(one.method)):
            handle(given)
            wait_for_signal()
            calls.advance(recorded, 1)
    assert len(g) == 4
    assert total(x) == 4 * 5
    assert total(recorded) == 0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="signals come at other instructions there")
def test_signals_between_instructions(calls: ModuleType, handle: Callable[[Any], object]) -> None:
    x = zeros()
    came = []

    def handler(number: int, frame: object) -> None:
        del number, frame
        came.append(1)
        calls.advance(x, 1)

    handle(handler)
    with kf.Graph() as g:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        for _ in itertools.count():
            if came:
                break
    assert len(g) == 0
    assert total(x) == 4


def test_a_handler_that_forgets_its_frame(calls: ModuleType, handle: Callable[[Any], object]) -> None:
    x = zeros()
    texts = []

    def handler(number: int, frame: object) -> None:
        del number, frame
        texts.append(refusal(kf.ArgumentError, lambda: calls.advance(x, 1)))

    handle(handler)
    with kf.Graph() as g:
        wait_for_signal()
        handler(14, None)
    assert len(g) == 0
    assert total(x) == 0
    assert len(texts) == 2
    for text in texts:
        assert "Graph: a function that handles a signal" in text
    # It is handled in the main thread only.
    thread = threading.Thread(target=in_a_thread, args=(handler, calls, x))
    thread.start()
    thread.join()


def in_a_thread(handler: Callable[[int, object], None], calls: ModuleType, x: kf.Tensor) -> None:
    with kf.Graph() as g, pytest.raises(pytest.fail.Exception):
        handler(14, None)
    assert len(g) == 1


def test_debuggers_run(calls: ModuleType) -> None:
    x, recorded = zeros(), zeros()

    def trace(frame: FrameType, event: str, arg: object) -> None:
        if event == "call" and frame.f_code.co_name == "helper":
            calls.advance(x, 1)

    def helper() -> None:
        calls.advance(recorded, 1)

    before = sys.getprofile()
    with kf.Graph() as g:
        sys.setprofile(trace)
        helper()
        sys.setprofile(before)
    assert len(g) == 1
    assert total(x) == 4
    assert total(recorded) == 0


def test_exceptions_thrown_into_delegating_generators(calls: ModuleType) -> None:
    """The frames between are at instructions that call nothing by themselves."""
    x = zeros()

    def inner() -> Generator[int]:
        try:
            yield 1
        except KeyError:
            calls.advance(x, 1)
            yield 2

    def outer() -> Generator[int]:
        yield from inner()

    async def waits() -> None:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            calls.advance(x, 1)

    async def middle() -> None:
        await waits()

    async def main() -> kf.Graph:
        with kf.Graph() as g:
            task = asyncio.create_task(middle())
            await asyncio.sleep(0)
            task.cancel()
            await task
        return g

    with kf.Graph() as g:
        generator = outer()
        next(generator)
        assert generator.throw(KeyError()) == 2
    assert len(g) == 1
    assert len(asyncio.run(main())) == 1
    assert total(x) == 0


def test_coroutines_that_are_driven_by_hand(calls: ModuleType) -> None:
    x, inside = zeros(), zeros()

    @types.coroutine
    def pause() -> Generator[None]:
        yield

    async def record() -> kf.Graph:
        with kf.Graph() as g:
            calls.advance(inside, 1)
            await pause()
            calls.advance(inside, 1)
        return g

    async def outer() -> kf.Graph:
        return await record()

    coroutine = outer()
    coroutine.send(None)
    text = refusal(kf.ArgumentError, lambda: calls.advance(x, 1))
    assert "a generator or coroutine that is suspended has an open block" in text
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    assert len(end.value.value) == 2
    calls.advance(x, 1)
    assert (total(x), total(inside)) == (4, 0)


def test_context_managers_that_delegate(calls: ModuleType) -> None:
    x = zeros()

    def block() -> Generator[kf.Graph]:
        with kf.Graph() as g:
            yield g

    @contextlib.contextmanager
    def delegating() -> Iterator[kf.Graph]:
        yield from block()

    @contextlib.contextmanager
    def nested() -> Iterator[kf.Graph]:
        with delegating() as g:
            yield g

    def chained() -> Iterator[kf.Graph]:
        # While the first one is suspended, the second one runs, and both in the same `yield from`.
        yield from (one for one, _ in zip(block(), other(), strict=True))

    def other() -> Iterator[None]:
        calls.advance(x, 1)
        yield

    graphs = []
    for make in (delegating, nested):
        with make() as g:
            calls.advance(x, 1)
        graphs.append(g)
    assert [len(g) for g in graphs] == [1, 1]
    assert "that is suspended has an open block" in refusal(kf.ArgumentError, lambda: next(iter(chained())))
    gc.collect()  # the exception has kept the generator
    assert total(x) == 0


def test_stacks_of_asyncio(calls: ModuleType) -> None:
    x, ran = zeros(), zeros()

    @contextlib.asynccontextmanager
    async def recording() -> AsyncIterator[kf.Graph]:
        with kf.Graph() as g:
            await asyncio.sleep(0)
            yield g

    async def main() -> list[kf.Graph]:
        graphs = []
        async with contextlib.AsyncExitStack() as stack:
            graphs.append(await stack.enter_async_context(recording()))
            await asyncio.sleep(0)
            calls.advance(x, 1)
            await asyncio.create_task(child())
        async with contextlib.AsyncExitStack() as stack:
            graphs.append(stack.enter_context(kf.Graph()))
            await asyncio.sleep(0)
            calls.advance(x, 1)
            await asyncio.create_task(child())
        return graphs

    async def child() -> None:
        await asyncio.sleep(0)
        calls.advance(x, 1)

    async def other() -> None:
        for _ in range(5):
            calls.advance(ran, 1)
            await asyncio.sleep(0)

    async def both() -> list[kf.Graph]:
        graphs, _ = await asyncio.gather(main(), other())
        return graphs

    assert [len(g) for g in asyncio.run(both())] == [2, 2]
    assert (total(x), total(ran)) == (0, 20)


def test_fixtures_that_yield(calls: ModuleType) -> None:
    """As pytest runs them: the test isn't said to be in the block."""
    x = zeros()

    def fixture() -> Iterator[kf.Graph]:
        with kf.Graph() as g:
            yield g

    def run(test: Callable[[kf.Graph], None]) -> None:
        generator = fixture()
        test(next(generator))
        assert next(generator, None) is None

    run(lambda g: None)
    text = refusal(kf.ArgumentError, lambda: run(lambda g: calls.advance(x, 1)))
    assert "make the generator a @contextlib.contextmanager" in text
    gc.collect()
    run(lambda g: None)
    calls.advance(x, 1)
    assert total(x) == 4
