"""What belongs to a graph's block, and what ends while it is used: against NumPy."""

import asyncio
import contextlib
import gc
import itertools
import sys
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from arrays import tensor
from loader import Loader
from refusals import refusal

FLOAT = np.dtype(np.float32)
INT = np.dtype(np.int32)


@pytest.fixture(scope="module")
def calls(generated: Loader) -> ModuleType:
    return generated("calls")


@pytest.fixture(scope="module")
def structs(generated: Loader) -> ModuleType:
    return generated("structs")


def zeros() -> kf.Tensor:
    return tensor(np.zeros(4, FLOAT))


def total(x: kf.Tensor) -> float:
    return float(x.to_numpy().sum())


def scene(run: Callable[[], Any]) -> Any:
    class Scene:
        @property
        def scale(self) -> float:
            run()
            return 0.5

        lights = ({"color": (1, 2, 3), "power": 2.0}, {"color": (0, 1, 0), "power": 1.0})
        basis = np.eye(3, dtype=FLOAT)
        count = 2
        on = True
        tint = (1.0, 2.0, 3.0)

    return Scene()


def rays(structs: ModuleType) -> kf.Tensor:
    return kf.Tensor.from_numpy(np.array([((1, 2, 3), (1, 0, 0)), ((0, 1, 1), (2, 1, 0))], structs.Ray.dtype))


@pytest.mark.parametrize("drops", [False, True])
def test_a_block_that_ends_while_arguments_are_converted(structs: ModuleType, drops: bool) -> None:
    given = rays(structs)
    blocks = [kf.Graph()]
    known = weakref.ref(blocks[0])

    def end() -> None:
        graph = blocks.pop()
        graph.__exit__(None, None, None)
        if not drops:
            blocks.append(graph)
        del graph
        gc.collect()
        assert drops == (known() is None)

    blocks[0].__enter__()
    text = refusal(kf.ArgumentError, lambda: structs.shade(scene(end), given))
    assert "block has ended while a call was being made" in text
    if not drops:
        assert len(blocks[0]) == 0
        blocks[0].replay()
    # Nothing is recorded any more.
    assert structs.shade(scene(lambda: None), given).to_numpy().shape[0] == 2


def test_a_block_that_ends_in_a_hook(calls: ModuleType) -> None:
    x = zeros()
    for keeps in [False, True]:
        blocks = [kf.Graph()]

        def hook(_context: kf.HookContext, keeps: bool = keeps, blocks: list[kf.Graph] = blocks) -> None:
            graph = blocks.pop()
            graph.__exit__(None, None, None)
            if keeps:
                blocks.append(graph)

        hooked = calls.advance.hook(hook)
        blocks[0].__enter__()
        assert "block has ended" in refusal(kf.ArgumentError, lambda hooked=hooked: hooked(x, 1))
    assert total(x) == 0


def test_an_encoder_that_ends_while_arguments_are_converted(structs: ModuleType, device: kf.Device) -> None:
    encoder = device.encoder()
    text = refusal(
        kf.ArgumentError,
        lambda: structs.shade.append_to(encoder, scene(encoder.submit), rays(structs)),
    )
    assert "already submitted" in text


def test_hook_contexts_in_other_threads(calls: ModuleType) -> None:
    x = zeros()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    errors: list[str] = []
    try:
        for _ in range(40):
            threads: list[threading.Thread] = []

            def use(context: kf.HookContext, begin: threading.Barrier) -> None:
                begin.wait()
                for _ in range(200):
                    try:
                        _ = context.encoder
                        context.set({})
                        calls.advance.append_to(context.encoder, kf.Tensor.zeros((1,)), 1)
                    except kf.ArgumentError as error:
                        errors.append(error.code)
                        if error.code != "encoder-submitted":
                            return

            def hook(
                context: kf.HookContext, threads: list[threading.Thread] = threads, use: Any = use
            ) -> None:
                begin = threading.Barrier(3)
                threads += [threading.Thread(target=use, args=(context, begin)) for _ in range(2)]
                for thread in threads:
                    thread.start()
                begin.wait()

            # Refused where a thread is recording just then.
            with contextlib.suppress(kf.ArgumentError):
                calls.advance.hook(hook)(x, 1)
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert set(errors) <= {"hook-context", "encoder-submitted"}
    assert "hook-context" in errors


def test_a_hooks_context_ends_with_its_hooks(calls: ModuleType) -> None:
    """While the call is being made, too."""
    kept: list[Any] = []
    x = zeros()

    class Number:
        def __float__(self) -> float:
            text = refusal(kf.ArgumentError, lambda: kept[0].encoder)
            assert "good until the hook returns" in text
            refused = refusal(kf.ArgumentError, lambda: calls.advance.append_to(kept[1], x, 1))
            assert "its call is over" in refused
            return 1.0

        __index__ = None

    def hook(context: kf.HookContext) -> None:
        kept.extend([context, context.encoder])
        calls.advance.append_to(context.encoder, x, 10)

    with contextlib.suppress(kf.ArgumentTypeError):
        calls.advance.hook(hook)(x, Number())
    kept.clear()
    calls.advance.hook(hook)(x, 1)
    assert total(x) % 44 == 0
    assert "its call is over" in refusal(kf.ArgumentError, lambda: calls.advance.append_to(kept[1], x, 1))


def test_encoders_in_two_threads(calls: ModuleType, device: kf.Device) -> None:
    x = zeros()
    encoder = device.encoder()
    count = [0, 0]

    def record(i: int) -> None:
        for _ in range(300):
            try:
                calls.advance.append_to(encoder, x, 1)
                count[i] += 1
            except kf.ArgumentError as error:
                assert "is recording into it" in str(error)

    threads = [threading.Thread(target=record, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    encoder.submit()
    assert total(x) == 4 * sum(count)


def test_classes_stay(device: kf.Device) -> None:
    """Every pair of the classes, and of classes that are derived from them."""
    with kf.Graph() as graph:
        pass
    texture = kf.Texture.from_numpy(np.zeros((3, 4, 1), np.uint8), "r8", kind="2d")
    objects: list[Any] = [
        zeros(),
        texture,
        kf.Sampler(),
        device,
        device.info,
        device.encoder(),
        graph,
        kf.grid((2,)),
        kf.range(4),
        kf.rand_float(),
        kf.wang_hash(),
        kf.differentiable(np.zeros(3, FLOAT)),
    ]
    classes = [one for name in kf.__all__ if isinstance(one := getattr(kf, name), type)]
    derived = []
    for one in {type(value) for value in objects}:
        with contextlib.suppress(TypeError):
            derived.append(type("Derived", (one,), {}))
    for value, other in itertools.product(objects, [*classes, *derived, int, object]):
        kind = type(value)
        if other is kind:
            continue
        with pytest.raises(TypeError):
            value.__class__ = other
        with pytest.raises(TypeError):
            object.__setattr__(value, "__class__", other)
        assert type(value) is kind
        assert value.__class__ is kind
    for one in derived:
        if one.__base__ is kf.Tensor:
            mine = one([1.0, 2.0])
            assert mine.__class__ is one
            assert "stay of the class" in refusal(
                kf.ArgumentTypeError, lambda mine=mine: setattr(mine, "__class__", kf.Sampler)
            )
    assert total(objects[0]) == 0


def test_other_tasks_run(calls: ModuleType) -> None:
    recorded, ran, child = zeros(), zeros(), zeros()

    async def record(opened: asyncio.Event, done: asyncio.Event) -> kf.Graph:
        with kf.Graph() as g:
            opened.set()
            await done.wait()
            calls.advance(recorded, 1)
            # A task of the block has a copy of its context.
            await asyncio.create_task(asyncio.to_thread(int))
            await asyncio.gather(advance(child, 3))
        return g

    async def advance(x: kf.Tensor, dt: float) -> None:
        await asyncio.sleep(0)
        calls.advance(x, dt)

    async def other(opened: asyncio.Event, done: asyncio.Event) -> None:
        await opened.wait()
        calls.advance(ran, 2)
        ran[0] = 5
        ran.copy_from_numpy(ran.to_numpy() * 2)
        assert total(ran) == 22
        with kf.Graph() as mine:
            calls.advance(ran, 1)
        mine.replay()
        done.set()

    async def main() -> kf.Graph:
        opened, done = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(other(opened, done))
        g = await record(opened, done)
        await task
        return g

    g = asyncio.run(main())
    assert total(ran) == 26
    assert len(g) == 2
    assert total(recorded) == total(child) == 0
    g.replay()
    assert total(recorded) == 4
    assert total(child) == 12


def test_tasks_that_outlive_the_block_run(calls: ModuleType) -> None:
    x = zeros()

    async def late() -> None:
        await asyncio.sleep(0)
        calls.advance(x, 1)

    async def main() -> None:
        with kf.Graph() as g:
            task = asyncio.create_task(late())
        await task
        assert len(g) == 0

    asyncio.run(main())
    assert total(x) == 4


def test_threads_with_the_blocks_context_run(calls: ModuleType) -> None:
    """As all other threads do."""
    x = zeros()

    async def main() -> kf.Graph:
        with kf.Graph() as g:
            await asyncio.to_thread(calls.advance, x, 1)
            await asyncio.to_thread(x.__setitem__, 0, 9)
        return g

    g = asyncio.run(main())
    assert len(g) == 0
    assert total(x) == 12
    with ThreadPoolExecutor(1) as pool, kf.Graph() as g:
        pool.submit(calls.advance, x, 1).result()
    assert len(g) == 0


def test_a_suspended_generators_caller(calls: ModuleType) -> None:
    inside, outside = zeros(), zeros()
    graphs: list[kf.Graph] = []

    def record() -> Generator[None]:
        with kf.Graph() as g:
            graphs.append(g)
            calls.advance(inside, 1)
            yield
            helper(inside)
            yield

    def helper(x: kf.Tensor) -> None:
        calls.advance(x, 1)

    prepared = calls.advance.prepare(outside, 1)
    generator = record()
    next(generator)
    for change in (
        lambda: calls.advance(outside, 1),
        prepared,
        lambda: outside.fill(1),
        lambda: outside.__setitem__(0, 1),
        lambda: outside.copy_from_numpy(np.ones(4, FLOAT)),
        lambda: calls.advance.node()(outside, 1),
        kf.Graph().__enter__,
    ):
        assert "or coroutine that is suspended has an open block" in refusal(kf.ArgumentError, change)
    assert total(outside) == 0
    assert total(inside) == 0  # whose caller may read
    next(generator)
    generator.close()
    assert "ended with an exception" in refusal(kf.ArgumentError, graphs[0].replay)
    calls.advance(outside, 1)
    assert total(outside) == 4
    generator = record()
    assert list(generator) == [None, None]
    graphs[1].replay()
    assert total(inside) == 8


def test_context_managers_take_their_body_in(calls: ModuleType) -> None:
    x = zeros()

    @contextlib.contextmanager
    def recording() -> Iterator[kf.Graph]:
        with kf.Graph() as g:
            yield g

    @contextlib.asynccontextmanager
    async def recording_later() -> AsyncIterator[kf.Graph]:
        await asyncio.sleep(0)
        with kf.Graph() as g:
            yield g

    with recording() as g:
        calls.advance(x, 1)
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(recording())
        calls.advance(x, 1)
        third = stack.enter_context(contextlib.nullcontext())
        assert third is None
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(kf.Graph())
        calls.advance(x, 1)

    async def main() -> kf.Graph:
        async with recording_later() as found:
            await asyncio.sleep(0)
            calls.advance(x, 1)
        return found

    graphs = [g, other, plain, asyncio.run(main())]
    assert total(x) == 0
    for graph in graphs:
        assert len(graph) == 1
        graph.replay()
    assert total(x) == 16


def test_generators_around_the_block(calls: ModuleType) -> None:
    """Whatever opens it for them; one that has ended is suspended no more."""
    x, inside = zeros(), zeros()

    @contextlib.contextmanager
    def recording() -> Iterator[kf.Graph]:
        with kf.Graph() as g:
            yield g

    class Derived(kf.Graph):
        def __enter__(self) -> "Derived":
            super().__enter__()
            return self

    def by_stack() -> Generator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(kf.Graph())
            yield

    def by_manager() -> Generator[None]:
        with recording():
            calls.advance(inside, 1)
            yield

    def by_derived() -> Generator[None]:
        with Derived():
            yield

    def by_another() -> Generator[None]:
        yield from by_derived()

    for make in (by_stack, by_manager, by_derived, by_another):
        generator = make()
        next(generator)
        for change in (lambda: calls.advance(x, 1), lambda: x.fill(1)):
            assert "a generator or coroutine that is suspended" in refusal(kf.ArgumentError, change)
        generator.close()
        calls.advance(x, 1)

    async def each() -> AsyncIterator[None]:
        with kf.Graph():
            yield

    async def main() -> None:
        generator = each()
        await anext(generator)
        assert "or coroutine that is suspended" in refusal(kf.ArgumentError, lambda: calls.advance(x, 1))
        await generator.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert total(x) == 16
    with contextlib.ExitStack() as stack:
        graphs = list(stack.enter_context(one) for one in [kf.Graph()])  # noqa: C400
        calls.advance(x, 1)
    assert len(graphs[0]) == 1
    assert total(x) == 16


def test_finalizers_run(calls: ModuleType) -> None:
    x, y, z = zeros(), zeros(), zeros()

    class Finalized:
        def __del__(self) -> None:
            calls.advance(x, 1)
            x[0] = 7
            with kf.Graph() as own:
                calls.advance(x, 1)
            own.replay()

    class Watched:
        pass

    cycle = Finalized()
    cycle.itself = cycle  # type: ignore[attr-defined]
    watched = Watched()
    weakref.finalize(watched, calls.advance, y, 1)
    with kf.Graph() as g:
        Finalized()
        del cycle, watched
        gc.collect()
        calls.advance(z, 1)
    assert len(g) == 1
    assert total(x) == (8 + 3 * 4) or total(x) == 8 + 3 * 2 + 6
    assert total(y) == 4
    assert total(z) == 0


def test_a_block_within_a_finalizer(calls: ModuleType) -> None:
    x = zeros()
    graphs: list[kf.Graph] = []

    class Finalized:
        def __del__(self) -> None:
            with kf.Graph() as g:
                calls.advance(x, 1)
            graphs.append(g)

    Finalized()
    assert len(graphs[0]) == 1
    assert total(x) == 0


def test_an_argument_that_calls_the_node(structs: ModuleType) -> None:
    given = rays(structs)
    node = structs.shade.node()
    inner = scene(lambda: None)
    with kf.Graph() as g:
        text = refusal(kf.ArgumentError, lambda: node(scene(lambda: node(inner, given)), given))
        assert "calls the node" in text
        # Refused as a whole: the node may be called.
        node(scene(lambda: structs.shade(inner, given)), given)
    assert len(g) == 2
    node.set(scene={"scale": 2})
    g.replay()


def reads_of(y: kf.Tensor) -> list[Callable[[], Any]]:
    return [y.to_numpy, y.tolist, lambda: np.asarray(y), y[0].item, y[1:].to_numpy]


def test_reads_of_what_never_ran(calls: ModuleType, device: kf.Device) -> None:
    """What only a recorded call writes, of a graph, a prepared call or an encoder."""
    other = tensor(np.arange(4, dtype=FLOAT))

    def graph() -> tuple[kf.Tensor, Callable[[], Any]]:
        with kf.Graph() as g:
            y, _ = calls.split(other)
        return y, g.replay

    def prepared() -> tuple[kf.Tensor, Callable[[], Any]]:
        p = calls.split.prepare(other)
        return p.result[0], p

    def encoder() -> tuple[kf.Tensor, Callable[[], Any]]:
        e = device.encoder()
        return calls.split.append_to(e, other)[0], e.submit

    def prepared_in_an_encoder() -> tuple[kf.Tensor, Callable[[], Any]]:
        p = calls.split.prepare(other)
        e = device.encoder()
        return p.append_to(e)[0], e.submit

    for make in (graph, prepared, encoder):
        y, run = make()
        for read in reads_of(y):
            assert "only a recorded call writes to it" in refusal(kf.ArgumentError, read)
        text = refusal(kf.ArgumentError, lambda y=y: calls.split(y))
        assert "argument 'x': only a recorded call writes to it" in text, text
        assert "..." in repr(y)
        run()
        for read in reads_of(y):
            read()
        assert y.to_numpy().tolist() == [0, 1, 2, 3]
        calls.split(y)
        # What something else writes can be read.
        writes: list[Callable[[kf.Tensor], Any]] = [
            lambda y: y.fill(0),
            lambda y: y.copy_from_numpy(np.zeros(4, FLOAT)),
            lambda y: calls.split(zeros(), whole=y),
        ]
        for write in writes:
            y, _ = make()
            write(y)
            assert total(y) == 0
    y, run = prepared_in_an_encoder()
    run()
    assert y.to_numpy().tolist() == [0, 1, 2, 3]


def test_watched_calls_that_never_ran(calls: ModuleType, device: kf.Device) -> None:
    other = tensor(np.arange(4, dtype=FLOAT))
    device.check = "nan"
    try:
        with kf.Graph() as g:
            y, _ = calls.split(other)
        assert "only a recorded call" in refusal(kf.ArgumentError, y.to_numpy)
        g.replay()
        assert total(y) == 6
        encoder = device.encoder()
        y, _ = calls.split.append_to(encoder, other)
        assert "only a recorded call" in refusal(kf.ArgumentError, y.to_numpy)
        encoder.submit()
        assert total(y) == 6
    finally:
        device.check = None


def test_what_a_hook_makes_is_the_calls(calls: ModuleType) -> None:
    """It runs right before the call, which may read it."""
    x = tensor(np.arange(4, dtype=FLOAT))
    kept: list[kf.Tensor] = []

    def hook(context: kf.HookContext) -> None:
        y, _ = calls.split.append_to(context.encoder, x)
        kept.append(y)

    calls.advance.hook(hook)(zeros(), 1)
    assert kept[0].to_numpy().tolist() == [0, 1, 2, 3]


def test_textures_that_no_call_has_made(generated: Loader) -> None:
    paint = generated("texture_calls").paint
    canvas = kf.Texture.from_numpy(np.zeros((5, 7, 4), FLOAT), "rgba32f", writable=True)
    with kf.Graph() as g:
        paint.set(canvas=canvas)((5, 7), (1, 2, 3, 4))
    # It had texels before.
    assert canvas.to_numpy().sum() == 0
    g.replay()
    assert canvas.to_numpy().sum() == 5 * 7 * 10
