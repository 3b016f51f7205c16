"""Calls recorded into an application's own Vulkan command buffers, on its own device."""

import gc
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import kernelfunctions as kf
import numpy as np
import pytest
from loader import Loader
from vulkan_application import VulkanApplication

FLOAT = np.dtype(np.float32)
POISON = 77.0


@pytest.fixture(scope="module")
def scene(generated: Loader) -> ModuleType:
    return generated("globals")


@pytest.fixture
def application() -> Iterator[VulkanApplication]:
    if not any(one.backend == "vulkan" for one in kf.devices()):
        pytest.skip("needs a GPU with Vulkan")
    with VulkanApplication() as made:
        yield made
        gc.collect()


@pytest.mark.parametrize("size", [1, 33, 4097])
def test_calls_run_where_they_are_submitted(
    application: VulkanApplication, scene: ModuleType, size: int
) -> None:
    device = kf.Device.adopt(**application.handles())
    whole = kf.Tensor.from_numpy(np.full(size + 4, POISON, FLOAT), device=device)
    steps = kf.Tensor.from_numpy(np.full(size, 2, FLOAT), device=device)
    fill = scene.tabulate.set(table=whole[2:-2], steps=steps).threads(size)
    commands = application.begin()
    with device.encoder(command_buffer=commands) as encoder:
        fill.append_to(encoder, 3.0)
        y = scene.plain.append_to(encoder, whole[2:-2])
        recorded = encoder.finish()
    application.end(commands)
    np.testing.assert_array_equal(whole.to_numpy(), np.full(size + 4, POISON, FLOAT))
    for step in (2, 5):
        steps.copy_from_numpy(np.full(size, step, FLOAT))
        device.flush()
        application.submit(commands)
        expected = np.full(size + 4, POISON, FLOAT)
        expected[2:-2] = 3 * step
        np.testing.assert_array_equal(y.to_numpy(), expected[2:-2])
        np.testing.assert_array_equal(whole.to_numpy(), expected)
        application.wait()
    recorded.release()


def test_hooks_record_into_it_too(application: VulkanApplication, scene: ModuleType) -> None:
    device = kf.Device.adopt(**application.handles())
    x = kf.Tensor.zeros(5, device=device)
    ones = kf.Tensor.from_numpy(np.ones(5, FLOAT), device=device)
    fill = scene.tabulate.set(table=x, steps=ones).threads(5)
    hooked = scene.gained.hook(lambda context: context.set({"look.gain": 2}))
    hooked = hooked.hook(lambda context: fill.append_to(context.encoder, 3.0))
    commands = application.begin()
    encoder = device.encoder(command_buffer=commands)
    y = hooked.append_to(encoder, x)
    recorded = encoder.finish()
    application.end(commands)
    application.submit(commands)
    np.testing.assert_array_equal(y.to_numpy(), np.full(5, 7, FLOAT))
    application.wait()
    recorded.release()
    recorded.release()


def test_an_owner_is_kept_with_the_device(application: VulkanApplication) -> None:
    class Owner:
        pass

    owner = Owner()
    kept = weakref.ref(owner)
    device = kf.Device.adopt(**application.handles(), owner=owner)
    tensor = kf.Tensor.zeros(3, device=device)
    del owner, device
    gc.collect()
    assert kept() is not None
    del tensor
    gc.collect()
    assert kept() is None


def test_a_hooks_encoder_is_of_the_globals_device(application: VulkanApplication, scene: ModuleType) -> None:
    device = kf.Device.adopt(**application.handles())
    ones = kf.Tensor.from_numpy(np.ones(4, FLOAT), device=device)
    steps, table = kf.Tensor.zeros(4, device=device), kf.Tensor.zeros(4, device=device)
    fill = scene.tabulate.set(table=steps, steps=ones).threads(4)
    hooked = scene.tabulate.set(table=table, steps=steps).threads(4)
    hooked = hooked.hook(lambda context: fill.append_to(context.encoder, 3.0))
    hooked(2.0)
    np.testing.assert_array_equal(table.to_numpy(), np.full(4, 6, FLOAT))


REFUSALS: list[tuple[Callable[[Any, Any, Any], Any], str, str]] = [
    (lambda d, _e, m: type(d).adopt(instance=None, **m), "type-mismatch", "a Vulkan handle is needed"),
    (lambda d, _e, _m: d.encoder(command_buffer=0), "type-mismatch", "'command_buffer': a Vulkan handle"),
    (lambda d, _e, _m: d.encoder(command_buffer="x"), "type-mismatch", "an int, not 'x'"),
    (lambda d, _e, _m: d.encoder(stream=1, command_buffer=1), "type-mismatch", "give one of them"),
    (lambda d, _e, _m: d.encoder(stream=1), "device-mismatch", "takes no stream; CUDA devices do"),
    (lambda d, _e, _m: d.encoder().finish(), "type-mismatch", r"this encoder is ended with submit\(\)"),
    (lambda _d, e, _m: e.submit(), "encoder-submitted", r"command buffer of yours: call finish\(\)"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_refusals(application: VulkanApplication, number: int) -> None:
    call, code, message = REFUSALS[number]
    device = kf.Device.adopt(**application.handles())
    encoder = device.encoder(command_buffer=application.begin())
    rest = {name: handle for name, handle in application.handles().items() if name != "instance"}
    with pytest.raises(kf.ArgumentError, match=message) as caught:
        call(device, encoder, rest)
    assert caught.value.code == code


def test_a_finished_encoder(application: VulkanApplication, scene: ModuleType) -> None:
    device = kf.Device.adopt(**application.handles())
    encoder = device.encoder(command_buffer=application.begin())
    encoder.finish().release()
    x = kf.Tensor.zeros(3, device=device)
    for use in (encoder.finish, encoder.submit, lambda: scene.plain.append_to(encoder, x)):
        with pytest.raises(kf.ArgumentError, match="the encoder was finished") as caught:
            use()
        assert caught.value.code == "encoder-submitted"


def test_queue_families_are_checked(application: VulkanApplication) -> None:
    with pytest.raises(kf.ArgumentError, match=r"queue family 99 of .* can't compute"):
        kf.Device.adopt(**application.handles(), queue_family=99)
