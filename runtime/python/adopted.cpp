// Memory of other libraries as tensors of ours, and ours for them.
#include <vector>

#include "core/describe.h"
#include "core/recording.h"
#include "core/tensor_state.h"
#include "python/errors.h"
#include "python/foreign_parts.h"
#include "python/gil.h"
#include "python/scalars.h"

namespace kf::python {

using detail::Reach;

std::optional<Reach> reach_of(const ForeignTensor& tensor) {
    const auto size = static_cast<std::int64_t>(size_of(tensor.scalar));
    const std::optional<Reach> reach = detail::reach_of(tensor.shape, tensor.strides, size, size);
    return reach && reach->before <= tensor.address ? reach : std::nullopt;
}

namespace {

/// All of a tensor over another library's memory but that memory.
detail::TensorState state_over(const ForeignTensor& tensor, const ContextPtr& context, const Where& where) {
    detail::TensorState state;
    state.device = context->device().state();
    state.element = {tensor.scalar, 0};
    state.shape = tensor.shape;
    state.strides = tensor.strides;
    state.size = detail::checked_product(tensor.shape, "a tensor of another library");
    if (state.size != 0 && tensor.address % size_of(tensor.scalar) != 0) {
        refuse(ErrorCode::layout_mismatch, where,
               describe(tensor) + " whose first element isn't aligned to its size");
    }
    return state;
}

/// The bytes that it lies in.
Reach checked_reach(const ForeignTensor& tensor, const Where& where) {
    if (const std::optional<Reach> reach = reach_of(tensor)) return *reach;
    refuse(ErrorCode::layout_mismatch, where,
           describe(tensor) + " whose strides, " + to_string(tensor.strides) + ", lead out of memory");
}

AnyTensor made_of(detail::TensorState&& state) {
    return AnyTensor(std::make_shared<const detail::TensorState>(std::move(state)));
}

}  // namespace

AnyTensor adopt(const ForeignTensor& tensor, const ContextPtr& context, const Where& where) {
    const Device& device = context->device();
    const DeviceInfo& info = device.info();
    const bool is_elsewhere =
        tensor.ordinal != ForeignTensor::unknown_ordinal && tensor.ordinal != info.index;
    if (tensor.kind != ForeignMemoryKind::cuda || info.backend != "cuda" || is_elsewhere) {
        refuse(ErrorCode::device_mismatch, where,
               describe(tensor) + " can't be used where it lies by device " + info.id);
    }
    detail::TensorState state = state_over(tensor, context, where);
    if (state.size == 0) return made_of(std::move(state));
    const Reach reach = checked_reach(tensor, where);
    state.offset = reach.before;
    const driver::ForeignMemory memory{tensor.address - reach.before, 0, reach.size, tensor.owner,
                                       tensor.is_in_order};
    const GilRelease release;
    const Device on = tensor.stream ? device.with_stream(*tensor.stream) : device;
    state.allocation = on.state()->driver().wrap(memory);
    return made_of(std::move(state));
}

AnyTensor adopt_host(const ForeignTensor& tensor, const ContextPtr& context, const Where& where) {
    detail::TensorState state = state_over(tensor, context, where);
    if (state.size == 0) return made_of(std::move(state));
    const Reach reach = checked_reach(tensor, where);
    state.offset = reach.before;
    auto* const first = reinterpret_cast<std::byte*>(tensor.address);
    const GilRelease release;
    state.allocation = state.device->driver().import_host({first - reach.before, reach.size, tensor.owner});
    return state.allocation != nullptr ? made_of(std::move(state)) : AnyTensor();
}

void lend(const AnyTensor& tensor, std::optional<void*> stream) {
    const detail::TensorState& state = *tensor.state();
    if (state.allocation == nullptr) return;
    const Device device(state.device);
    const Device on = stream ? device.with_stream(*stream) : device;
    on.state()->driver().lend(state.allocation);
}

AnyTensor copy_on_device(const AnyTensor& tensor) {
    const detail::TensorState& state = *tensor.state();
    const Device device(state.device);
    const std::size_t size = static_cast<std::size_t>(state.size) * state.element.size();
    if (!tensor.is_contiguous() || device.info().backend != "cuda") {
        std::vector<std::byte> bytes(size);
        tensor.read(bytes);
        return AnyTensor::from_host(device, state.element, state.shape, bytes);
    }
    if (state.allocation != nullptr) detail::check_read("copy", *state.allocation);
    AnyTensor copy = AnyTensor::empty(device, state.element, state.shape);
    if (size != 0)
        device.state()->driver().copy(copy.state()->allocation, 0, state.allocation, state.offset, size);
    return copy;
}

}  // namespace kf::python
