// Arrays in the host's memory that kernels use where they lie.
#include "core/host_array.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/overlap.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

/// The strides in elements; nothing where kernels couldn't go by them.
std::optional<Dims> strides_of(const HostArray& array) {
    const auto element = static_cast<std::int64_t>(array.element.size());
    const std::size_t outer = array.shape.size() - std::min(array.inner, array.shape.size());
    Dims strides(array.shape.size(), 1);
    std::int64_t packed = element;
    for (std::size_t i = array.shape.size(); i-- > 0;) {
        // Extents of 1 may have any stride.
        if (array.shape[i] != 1) {
            const std::int64_t stride = array.strides[i];
            if (stride % element != 0 || (i < outer ? stride % array.alignment != 0 : stride != packed))
                return std::nullopt;
            strides[i] = stride / element;
        }
        packed *= array.shape[i];
    }
    return strides;
}

}  // namespace

AnyTensor import_host(const Device& device, HostArray array, HostUse use) {
    driver::Device& driver = device.state()->driver();
    const driver::Info& info = driver.info();
    if (info.least_import == ~std::uint64_t{0} || is_empty(array.shape) || array.shape.size() > max_rank ||
        reinterpret_cast<std::uintptr_t>(array.first) % static_cast<std::uintptr_t>(array.alignment) != 0) {
        return {};
    }
    const std::optional<Dims> strides = strides_of(array);
    if (!strides) return {};
    const Reach reach =
        *reach_of(array.shape, array.strides, 1, static_cast<std::int64_t>(array.element.size()));
    // Across a bus elements apart cost as much as all between them, and what is read again is sent again.
    const bool is_local = info.is_cpu;
    if (reach.size < info.least_import ||
        (!is_local && (use == HostUse::often || !is_dense(array.shape, *strides)))) {
        return {};
    }
    driver.admit();
    TensorState state;
    state.allocation = driver.import_host({array.first - reach.before, reach.size, std::move(array.owner)});
    if (state.allocation == nullptr) return {};
    state.device = device.state();
    state.offset = reach.before;
    state.element = array.element;
    state.shape = array.shape;
    state.strides = *strides;
    state.size = checked_product(array.shape, "tensor");
    return AnyTensor(std::make_shared<const TensorState>(std::move(state)));
}

void wait_until_idle(const AnyTensor& tensor) {
    const TensorState& state = state_of(tensor);
    if (state.allocation == nullptr) return;
    state.device->driver().wait_until_idle(state.allocation);
    state.device->take_reports();
}

}  // namespace kf::detail
